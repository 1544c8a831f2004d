/* link_serve.c - the end of a measured link that answers. */
#include "measure/links/links_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure/load/load_internal.h"
#include "paths/net/address.h"
#include "pastset/status.h"

#define SILENCE_S 10.0  /* this long a client may say nothing */
#define FRAME_S 10.0    /* and this long it may take for a frame */
#define CLIENT_S 3600.0 /* and this long for all: others wait */

static int serve_rounds(measure__peer *peer, const measure__frame *frame)
{
    int err = 0;
    for (uint64_t i = 0; i < frame->rounds && !err; i++) {
        err = measure__peer_receive(peer, peer->data, frame->bytes);
        if (!err)
            err = measure__peer_send(peer, peer->data, frame->bytes);
    }
    return err;
}

static int receive_within(measure__peer *peer, measure__frame *frame)
{
    double until = peer->until_s, now = measure__seconds();
    int err;
    if (now + FRAME_S < until)
        peer->until_s = now + FRAME_S;
    err = measure__frame_receive(peer, frame);
    peer->until_s = until;
    return err;
}

static int serve_client(measure__peer *peer)
{
    double cpu_s = 0;
    int err = measure__peer_tune(peer, SILENCE_S);
    while (!err) {
        measure__frame frame;
        double start;
        err = receive_within(peer, &frame);
        if (err)
            break;
        frame.number = (uint64_t)(cpu_s * 1e9);
        if (frame.rounds == 0)
            return measure__frame_send(peer, &frame);
        if (frame.bytes == 0 || frame.bytes > MEASURE__LINK_LARGEST ||
            frame.rounds > MEASURE__LINK_ROUNDS)
            return pastset_fail(
                PASTSET_EPROTO,
                "%s asks for messages of an invalid size or number",
                peer->name);
        err = measure__frame_send(peer, &frame);
        start = measure__cpu_seconds();
        if (!err)
            err = serve_rounds(peer, &frame);
        cpu_s += measure__cpu_seconds() - start;
    }
    return err;
}

static int accept_client(int listener, int *fd)
{
    do
        *fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    while (*fd < 0 && (errno == EINTR || errno == ECONNABORTED));
    return *fd >= 0
               ? 0
               : pastset_fail(PASTSET_EIO, "cannot accept a connection: %s",
                              strerror(errno));
}

/* A client counts when it has measured to its end; what became of the others
 * is their business. */
static int serve_all(int listener, uint32_t clients, unsigned char *data)
{
    int err = 0;
    for (uint32_t served = 0; !err && (clients == 0 || served < clients);) {
        measure__peer peer = {.name = "the other end", .data = data};
        err = accept_client(listener, &peer.fd);
        if (err)
            break;
        peer.until_s = measure__seconds() + CLIENT_S;
        if (serve_client(&peer) == 0 && clients)
            served++;
        close(peer.fd);
    }
    return err;
}

int measure_link_serve(const char *address, uint32_t clients, int processor,
                       void (*listening)(void *context, const char *address),
                       void *context)
{
    char actual[PATHS_ADDRESS_TEXT];
    unsigned char *data = calloc(1, MEASURE__LINK_LARGEST);
    cpu_set_t before;
    int listener, err;
    if (!data)
        return pastset_no_memory("for messages");
    err = paths_address_listen(&listener, address, false, actual);
    if (!err) {
        err = measure__bind(0, processor, &before);
        if (!err) {
            if (listening)
                listening(context, actual);
            err = serve_all(listener, clients, data);
            measure__unbind(0, &before);
        }
        close(listener);
    }
    free(data);
    return err;
}
