/* capture_test.c - captures of the loopback, and files as tcpdump writes them.
 * What was sent is known: this test sends it. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pcap/dlt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/measure/frames.h"
#include "tests/measure/own_network.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

static void begin(void)
{
    own_network();
    scratch_make();
}

TestSuite(capture, .timeout = 120, .init = begin, .fini = scratch_remove);

/* --- files --- */

#define MICROSECONDS 0xa1b2c3d4u
#define NANOSECONDS 0xa1b23c4du

typedef struct file_header {
    uint32_t magic;
    uint16_t major, minor;
    uint32_t zone, accuracy, snaplen, link;
} file_header;

typedef struct record_header {
    uint32_t seconds, fraction, count, length;
} record_header;

static FILE *begin_file(const char *name, uint32_t magic, uint32_t link)
{
    file_header h = {magic, 2, 4, 0, 0, 128, link};
    FILE *file = fopen(name, "wb");

    cr_assert_not_null(file);
    cr_assert_eq(fwrite(&h, sizeof(h), 1, file), 1);
    return file;
}

static void add_record(FILE *file, uint32_t seconds, uint32_t fraction,
                       uint32_t sequence, uint32_t payload)
{
    uint8_t frame[FRAME_CAPACITY];
    segment s = {.link = DLT_EN10MB,
                 .sequence = sequence,
                 .flags = PSH | ACK,
                 .scale = -1,
                 .payload = payload};
    size_t length;
    record_header r = {.seconds = seconds, .fraction = fraction};

    r.count = (uint32_t)frame_make(frame, &s, &length);
    r.length = (uint32_t)length;
    cr_assert_eq(fwrite(&r, sizeof(r), 1, file), 1);
    cr_assert_eq(fwrite(frame, r.count, 1, file), 1);
}

/* Two messages, of 100 and 7 bytes; gives the file's name. */
static const char *good_file(uint32_t magic)
{
    const char *name = scratch_file("good.pcap");
    FILE *file = begin_file(name, magic, DLT_EN10MB);

    add_record(file, 1700000000, 1, 500, 100);
    add_record(file, 1700000001, 999, 600, 7);
    cr_assert_eq(fclose(file), 0);
    return name;
}

static void check_good(uint32_t magic, int64_t unit_ns)
{
    measure_capture *capture;
    const measure_packets *found;

    check_status(measure_capture_read(&capture, good_file(magic), NULL), 0);
    cr_assert_eq(measure_capture_fd(capture), -1);
    check_status(measure_capture_step(capture), 0);
    check_status(measure_capture_end(capture, &found), 0);
    cr_assert_eq(found->packets, 2);
    cr_assert_eq(found->message_count, 2);
    cr_assert_eq(found->messages[0].bytes, 100);
    cr_assert_eq(found->messages[0].from_ns, 1700000000000000000 + unit_ns);
    cr_assert_eq(found->messages[1].bytes, 7);
    cr_assert_eq(found->messages[1].from_ns,
                 1700000001000000000 + 999 * unit_ns);
    measure_capture_close(capture);
}

Test(capture, a_file_gives_its_messages)
{
    check_good(MICROSECONDS, 1000);
    check_good(NANOSECONDS, 1);
}

Test(capture, a_filter_holds_for_files_too)
{
    measure_capture *capture;
    const measure_packets *found;

    check_status(
        measure_capture_read(&capture, good_file(NANOSECONDS), "tcp port 4711"),
        0);
    check_status(measure_capture_end(capture, &found), 0);
    cr_assert_eq(found->packets, 0);
    cr_assert_eq(found->message_count, 0);
    measure_capture_close(capture);
}

Test(capture, a_file_that_is_cut_off_says_so_and_gives_what_is_whole)
{
    measure_capture *capture;
    const measure_packets *found = NULL;
    const char *name = good_file(NANOSECONDS);

    cr_assert_eq(truncate(name, 24 + 16 + 54 + 16 + 20), 0);
    check_status(measure_capture_read(&capture, name, NULL), 0);
    check_status(measure_capture_end(capture, &found), PASTSET_EFORMAT);
    check_error("good.pcap");
    cr_assert_not_null(found);
    cr_assert_eq(found->message_count, 1);
    cr_assert_eq(found->messages[0].bytes, 100);
    measure_capture_close(capture);
}

Test(capture, what_is_no_capture_is_refused)
{
    measure_capture *capture;
    const char *name = scratch_file("slip.pcap");

    check_status(measure_capture_read(&capture, scratch_file("none"), NULL),
                 PASTSET_EIO);
    check_error("none");
    check_status(
        measure_capture_read(
            &capture, scratch_write("text", "digraph { a -> b }\n\n"), NULL),
        PASTSET_EFORMAT);
    check_error("text");
    fclose(begin_file(name, NANOSECONDS, 8)); /* SLIP */
    check_status(measure_capture_read(&capture, name, NULL), PASTSET_EFORMAT);
    check_error("SLIP");
}

Test(capture, a_wrong_filter_is_refused)
{
    measure_capture *capture;

    check_status(
        measure_capture_read(&capture, good_file(NANOSECONDS), "tcp porridge"),
        PASTSET_EINVAL);
    check_error("tcp porridge");
    check_error("pcap-filter");
}

/* --- the loopback --- */

static void open_lo(measure_capture **capture, const char *filter)
{
    int err = measure_capture_open(capture, "lo", filter);

    if (err == PASTSET_ENOTSUP)
        cr_skip_test("%s", pastset_error());
    check_status(err, 0);
}

/* Two connected sockets over 127.0.0.1; gives the port of the second. */
static uint16_t connect_pair(int ends[2])
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(at);
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);

    cr_assert_eq(bind(listener, (struct sockaddr *)&at, bytes), 0);
    cr_assert_eq(listen(listener, 1), 0);
    cr_assert_eq(getsockname(listener, (struct sockaddr *)&at, &bytes), 0);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(connect(ends[0], (struct sockaddr *)&at, bytes), 0);
    ends[1] = accept(listener, NULL, NULL);
    cr_assert_geq(ends[1], 0);
    close(listener);
    for (int i = 0; i < 2; i++)
        setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return ntohs(at.sin_port);
}

static const size_t lengths[] = {1,     48,    1000,   8240,   65483,
                                 65592, 65536, 200000, 130966, 300000};
#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))
#define LONGEST 300000

static void send_all(int fd, size_t bytes)
{
    static char zeros[LONGEST];

    cr_assert_eq(send(fd, zeros, bytes, MSG_NOSIGNAL), (ssize_t)bytes);
}

static void receive_all(int fd, size_t bytes)
{
    static char sink[65536];

    while (bytes) {
        ssize_t got =
            recv(fd, sink, bytes < sizeof(sink) ? bytes : sizeof(sink), 0);
        cr_assert_gt(got, 0);
        bytes -= (size_t)got;
    }
}

/* Answers each message by one of 10 bytes. */
static void *answer(void *end)
{
    for (size_t i = 0; i < LENGTHS; i++) {
        receive_all(*(int *)end, lengths[i]);
        send_all(*(int *)end, 10);
    }
    return NULL;
}

/* Is the next message of the same way and stream? */
static bool follows(const measure_packets *found,
                    const measure_packet_message *m, uint16_t port)
{
    return m + 1 < found->messages + found->message_count &&
           m[1].back == m->back && found->streams[m[1].stream].b.port == port;
}

Test(capture, messages_over_the_loopback_are_found_as_they_were_sent)
{
    measure_capture *capture;
    const measure_packets *found;
    const measure_packet_message *m;
    pthread_t other;
    int ends[2];
    uint16_t port;

    open_lo(&capture, NULL);
    port = connect_pair(ends);
    cr_assert_eq(pthread_create(&other, NULL, answer, &ends[1]), 0);
    for (size_t i = 0; i < LENGTHS; i++) {
        send_all(ends[0], lengths[i]);
        receive_all(ends[0], 10);
        check_status(measure_capture_step(capture), 0);
    }
    pthread_join(other, NULL);
    close(ends[0]);
    close(ends[1]);
    check_status(measure_capture_end(capture, &found), 0);
    cr_assert_eq(found->dropped, 0);
    m = found->messages;
    for (size_t i = 0; i < 2 * LENGTHS; i++, m++) {
        size_t want = i % 2 ? 10 : lengths[i / 2], bytes;
        while (m < found->messages + found->message_count &&
               found->streams[m->stream].b.port != port)
            m++; /* of others on this machine */
        cr_assert_lt(m - found->messages, (ptrdiff_t)found->message_count);
        cr_assert_eq(m->back, i % 2);
        cr_assert_leq(m->from_ns, m->to_ns);
        bytes = m->bytes;
        /* Who has lost his processor in between has sent it in parts. */
        while (bytes < want && follows(found, m, port)) {
            m++;
            bytes += m->bytes;
        }
        cr_assert_eq(bytes, want, "message %zu has %zu bytes, not %zu", i,
                     bytes, want);
    }
    cr_assert_str_eq(found->streams[m[-1].stream].b.address, "127.0.0.1");
    cr_assert_eq(found->streams[m[-1].stream].gaps, 0);
    measure_capture_close(capture);
}

Test(capture, each_packet_of_the_loopback_is_taken_once)
{
    measure_capture *capture;
    const measure_packets *found;
    char filter[64];
    int ends[2];

    /* Of a stream that stands already: exactly two packets with bytes. */
    snprintf(filter, sizeof(filter), "tcp port %u and greater 100",
             connect_pair(ends));
    open_lo(&capture, filter);
    send_all(ends[0], 100);
    receive_all(ends[1], 100);
    send_all(ends[1], 200);
    receive_all(ends[0], 200);
    check_status(measure_capture_end(capture, &found), 0);
    cr_assert_eq(found->packets, 2);
    cr_assert_eq(found->message_count, 2);
    measure_capture_close(capture);
    close(ends[0]);
    close(ends[1]);
}

Test(capture, an_interface_that_is_not_there_is_named)
{
    measure_capture *capture;

    open_lo(&capture, NULL);
    measure_capture_close(capture);
    check_status(measure_capture_open(&capture, "nowhere7", NULL),
                 PASTSET_ENOENT);
    check_error("nowhere7");
}

Test(capture, without_the_right_it_says_which_and_what_else_there_is)
{
    measure_capture *capture;
    pid_t child;

    if (geteuid() != 0)
        cr_skip_test("only root can give up rights");
    child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        bool said =
            setuid(65534) == 0 &&
            measure_capture_open(&capture, "lo", NULL) == PASTSET_ENOTSUP &&
            strstr(pastset_error(), "CAP_NET_RAW") &&
            strstr(pastset_error(), "without it");
        _exit(said ? 0 : 1);
    }
    cr_assert_eq(child_wait(child, 30), 0);
}
