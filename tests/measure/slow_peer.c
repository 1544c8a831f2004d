/* slow_peer.c - see slow_peer.h. */
#include "tests/measure/slow_peer.h"

#include <criterion/criterion.h>
#include <endian.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

void pause_for(double seconds)
{
    struct timespec t = {(time_t)seconds,
                         (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&t, NULL);
}

int receive_all(int fd, void *data, size_t bytes)
{
    return bytes == 0 || recv(fd, data, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

void send_all(int fd, const void *data, size_t bytes)
{
    ssize_t sent = send(fd, data, bytes, MSG_NOSIGNAL);
    (void)sent;
}

static uint64_t number_at(const unsigned char *frame)
{
    uint64_t number;
    memcpy(&number, frame, sizeof(number));
    return be64toh(number);
}

/* See measure/links/links_internal.h; written anew here, as a second opinion.
 */
void answer_slowly(int fd)
{
    unsigned char frame[32], data[2048];
    while (receive_all(fd, frame, sizeof(frame))) {
        uint64_t bytes = number_at(frame + 8), rounds = number_at(frame + 16);
        if (bytes > sizeof(data))
            return;
        send_all(fd, frame, sizeof(frame));
        for (uint64_t i = 0; i < rounds; i++) {
            if (!receive_all(fd, data, bytes))
                return;
            pause_for(SLOW_PEER_S + SLOW_PEER_BYTE_S * (double)bytes);
            send_all(fd, data, bytes);
        }
        if (rounds == 0)
            return;
    }
}

static void *run(void *context)
{
    peer *p = context;
    int fd = accept(p->listener, NULL, NULL);
    p->behave(fd);
    close(fd);
    return NULL;
}

void peer_start(peer *p, void (*behave)(int fd))
{
    p->behave = behave;
    cr_assert_eq(
        paths_address_listen(&p->listener, "127.0.0.1", false, p->address), 0);
    cr_assert_eq(pthread_create(&p->thread, NULL, run, p), 0);
}

void peer_end(peer *p)
{
    pthread_join(p->thread, NULL);
    close(p->listener);
}
