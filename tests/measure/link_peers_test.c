/* link_peers_test.c - what is at the other end of a link is not always what it
 * should be. */
#include "tests/support/check.h"

#include <endian.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure/links/links.h"
#include "tests/measure/link_server.h"
#include "tests/measure/slow_peer.h"

/* --- unauthenticated peers that are measured --- */

/* Gives the status of a measurement at a unauthenticated peer who does this. */
static int measure_at(void (*behave)(int fd), measure_link *link,
                      measure_link_options options)
{
    peer p;
    int err;
    peer_start(&p, behave);
    err = measure_link_run(link, p.address, &options);
    peer_end(&p);
    return err;
}

static const measure_link_options short_one = {
    .seconds_s = 0.1, .processor = -1, .timeout_s = 0.3};
static const measure_link_options patient = {
    .seconds_s = 0.3, .max = 1024, .processor = -1, .timeout_s = 30};

static void wait_for_end(int fd)
{
    char byte[256];
    while (recv(fd, byte, sizeof(byte), 0) > 0) {
    }
}

static void speak_garbage(int fd)
{
    send_all(fd, "SSH-2.0-OpenSSH_9.2 and some more of this", 41);
    wait_for_end(fd);
}

static void close_at_once(int fd)
{
    (void)fd;
}

static void trickle(int fd)
{
    char frame[32];
    if (!receive_all(fd, frame, sizeof(frame)))
        return;
    for (int i = 0; i < 200; i++) {
        struct pollfd closed = {.fd = fd, .events = POLLRDHUP};

        send_all(fd, frame + i % 32, 1);
        if (poll(&closed, 1, 100) != 0)
            return;
    }
}

static void close_in_the_middle(int fd)
{
    char frame[32];
    if (receive_all(fd, frame, sizeof(frame)))
        send_all(fd, frame, sizeof(frame));
    receive_all(fd, frame, 1);
}

static void answer_something_else(int fd)
{
    unsigned char frame[32];
    if (!receive_all(fd, frame, sizeof(frame)))
        return;
    frame[15] ^= 1;
    send_all(fd, frame, sizeof(frame));
    wait_for_end(fd);
}

Test(link_client, names_who_does_not_speak_the_language, .timeout = 120)
{
    measure_link link;
    check_status(measure_at(speak_garbage, &link, patient), PASTSET_EHOST);
    check_error("does not speak");
    check_error("eventspace netbench --serve");
    check_status(measure_at(answer_something_else, &link, patient),
                 PASTSET_EHOST);
    check_error("gives an unexpected answer");
}

Test(link_client, says_when_the_other_end_hangs_up, .timeout = 120)
{
    measure_link link;
    check_status(measure_at(close_at_once, &link, patient), PASTSET_EHOST);
    check_status(measure_at(close_in_the_middle, &link, patient),
                 PASTSET_EHOST);
}

Test(link_client, waits_no_longer_for_silence_than_told, .timeout = 120)
{
    measure_link link;
    check_status(measure_at(wait_for_end, &link, short_one), PASTSET_EHOST);
    check_error("does not answer");
}

Test(link_client, has_an_end_where_a_byte_comes_now_and_then, .timeout = 120)
{
    measure_link link;
    check_status(measure_at(trickle, &link, short_one), PASTSET_EHOST);
}

Test(link_client, says_what_to_start_where_nobody_listens, .timeout = 120)
{
    char address[PATHS_ADDRESS_TEXT];
    measure_link link;
    int fd;
    check_status(paths_address_listen(&fd, "127.0.0.1", false, address), 0);
    close(fd);
    check_status(measure_link_run(&link, address, &patient), PASTSET_EHOST);
    check_error(address);
    check_error("netbench --serve");
}

/* One is let in that nobody accepts, and then there is no more room: whoever
 * else asks hears nothing, as behind a firewall. */
Test(link_client, waits_no_longer_for_a_connection_than_told, .timeout = 60)
{
    char address[PATHS_ADDRESS_TEXT];
    paths_address a;
    measure_link link;
    int listener, fd = socket(AF_INET, SOCK_STREAM, 0);
    check_status(paths_address_listen(&listener, "127.0.0.1", false, address),
                 0);
    cr_assert_eq(listen(listener, 0), 0);
    check_status(paths_address_parse(&a, address), 0);
    cr_assert_eq(connect(fd, (struct sockaddr *)&a.socket, a.bytes), 0);
    check_status(measure_link_run(&link, address, &short_one), PASTSET_EHOST);
    check_error(address);
    check_error("does not answer");
    close(fd);
    close(listener);
}

/* --- one that is slow --- */

/* Sleeping takes no less than it should, whatever else the machine does. */
Test(link_client, leaves_out_sizes_that_take_too_long, .timeout = 120)
{
    measure_link link;
    int err = measure_at(answer_slowly, &link, patient);
    cr_assert(err == 0 || err == PASTSET_EINVAL, "%s", pastset_error());
    cr_assert(link.size_count >= 2 && link.size_count < 11, "%zu sizes",
              link.size_count);
    for (size_t i = 0; i < link.size_count; i++) {
        const measure_link_size *s = &link.sizes[i];
        cr_assert_eq(s->bytes, (uint64_t)1 << i);
        cr_assert_geq(2 * s->min_s,
                      SLOW_PEER_S + SLOW_PEER_BYTE_S * (double)s->bytes);
    }
}

/* --- unauthenticated peers that measure --- */

static int connect_to(const server *s)
{
    paths_address a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    check_status(paths_address_parse(&a, s->address), 0);
    cr_assert_eq(connect(fd, (struct sockaddr *)&a.socket, a.bytes), 0);
    return fd;
}

static void send_frame(int fd, uint64_t bytes, uint64_t rounds)
{
    unsigned char frame[32] = "ESLINK01";
    bytes = htobe64(bytes);
    rounds = htobe64(rounds);
    memcpy(frame + 8, &bytes, 8);
    memcpy(frame + 16, &rounds, 8);
    send_all(fd, frame, sizeof(frame));
}

/* The server hangs up without a word; one that waits would let us wait. */
static void check_sent_away(int fd)
{
    char byte;
    cr_assert_leq(recv(fd, &byte, 1, 0), 0);
    close(fd);
}

static void check_still_serves(server *s)
{
    measure_link link;
    int err = measure_link_run(&link, s->address, &patient);
    cr_assert(err == 0 || err == PASTSET_EINVAL, "%s", pastset_error());
    cr_assert_geq(link.size_count, 2);
    pthread_join(s->thread, NULL);
    check_status(s->result, 0);
}

Test(link_server, sends_strangers_away_and_does_not_count_them, .timeout = 120)
{
    server s;
    int fd;
    server_start(&s);
    fd = connect_to(&s);
    send_all(fd, "GET / HTTP/1.1\r\n\r\n", 18);
    check_sent_away(fd);
    fd = connect_to(&s);
    send_frame(fd, (uint64_t)1 << 40, 1);
    check_sent_away(fd);
    fd = connect_to(&s);
    send_frame(fd, 0, 1);
    check_sent_away(fd);
    fd = connect_to(&s);
    send_frame(fd, 1, UINT64_MAX);
    check_sent_away(fd);
    fd = connect_to(&s);
    send_frame(fd, 100, 10); /* agreed, and then nothing of it */
    shutdown(fd, SHUT_WR);
    wait_for_end(fd);
    close(fd);
    close(connect_to(&s));
    check_still_serves(&s);
}

Test(link_server, leaves_who_is_silent_after_a_while, .timeout = 120)
{
    server s;
    int fd;
    server_start(&s);
    fd = connect_to(&s);
    check_sent_away(fd);
    check_still_serves(&s);
}
