/* link_wire.c - frames and messages of a measured link, each bounded in time.
 *
 * Calls block in the kernel with its own limit for silence (SO_RCVTIMEO), and
 * not in poll(2) before each: a program that communicates makes one call for
 * a message, and so must what measures for it. */
#include "measure/links/links_internal.h"

#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "measure/load/load_internal.h"
#include "pastset/status.h"

static const char magic[8] = "ESLINK01";

int measure__peer_tune(measure__peer *peer, double timeout_s)
{
    int on = 1;
    struct timeval t = {
        (time_t)timeout_s,
        (suseconds_t)((timeout_s - (double)(time_t)timeout_s) * 1e6)};
    if (t.tv_sec == 0 && t.tv_usec == 0)
        t.tv_usec = 1; /* zero would be for ever */
    if (setsockopt(peer->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ||
        setsockopt(peer->fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)) ||
        setsockopt(peer->fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t)))
        return pastset_fail(PASTSET_EIO, "the connection to %s: %s", peer->name,
                            strerror(errno));
    return 0;
}

static int gone(const measure__peer *peer, ssize_t got)
{
    if (got == 0)
        return pastset_fail(PASTSET_EHOST, "%s closed the connection",
                            peer->name);
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return pastset_fail(PASTSET_EHOST, "%s does not answer", peer->name);
    return pastset_fail(PASTSET_EHOST, "%s: %s", peer->name, strerror(errno));
}

/* Somebody who sends a byte now and then is not silent, yet has an end. */
static int check_time(const measure__peer *peer)
{
    if (measure__seconds() <= peer->until_s)
        return 0;
    return pastset_fail(PASTSET_EHOST, "%s takes too long", peer->name);
}

int measure__peer_send(measure__peer *peer, const void *data, uint64_t bytes)
{
    const unsigned char *from = data;
    while (bytes) {
        ssize_t sent = send(peer->fd, from, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return gone(peer, sent);
        from += sent;
        bytes -= (uint64_t)sent;
        if (bytes && check_time(peer))
            return PASTSET_EHOST;
    }
    return 0;
}

int measure__peer_receive(measure__peer *peer, void *data, uint64_t bytes)
{
    unsigned char *to = data;
    while (bytes) {
        ssize_t got = recv(peer->fd, to, bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return gone(peer, got);
        to += got;
        bytes -= (uint64_t)got;
        if (bytes && check_time(peer))
            return PASTSET_EHOST;
    }
    return 0;
}

static void put(unsigned char *to, uint64_t number)
{
    number = htobe64(number);
    memcpy(to, &number, sizeof(number));
}

static uint64_t take(const unsigned char *from)
{
    uint64_t number;
    memcpy(&number, from, sizeof(number));
    return be64toh(number);
}

int measure__frame_send(measure__peer *peer, const measure__frame *frame)
{
    unsigned char bytes[MEASURE__FRAME_BYTES];
    memcpy(bytes, magic, sizeof(magic));
    put(bytes + 8, frame->bytes);
    put(bytes + 16, frame->rounds);
    put(bytes + 24, frame->number);
    return measure__peer_send(peer, bytes, sizeof(bytes));
}

int measure__frame_receive(measure__peer *peer, measure__frame *frame)
{
    unsigned char bytes[MEASURE__FRAME_BYTES];
    /* What begins otherwise is refused at once, however little it is. */
    int err = measure__peer_receive(peer, bytes, sizeof(magic));
    if (err)
        return err;
    if (memcmp(bytes, magic, sizeof(magic)) != 0)
        return pastset_fail(
            PASTSET_EPROTO,
            "%s does not speak the protocol of `eventspace netbench`",
            peer->name);
    err = measure__peer_receive(peer, bytes + 8, sizeof(bytes) - 8);
    if (err)
        return err;
    *frame =
        (measure__frame){take(bytes + 8), take(bytes + 16), take(bytes + 24)};
    return 0;
}
