/* channel_internal.h - what goes over a socket after the handshake: as it is,
 * or in sealed records (records_internal.h). Whoever reads and writes does not
 * see which.
 *
 * As a socket, a channel may take and give less than it was asked to. Unlike
 * one, it may have something that has come and cannot be polled for
 * (paths__channel_has), or have taken what the socket has not
 * (paths__channel_owes); the next send begins with that.
 *
 * Threads:   one that receives, and one at a time that sends.
 * Ownership: begin gives, close takes back, with the socket. */
#ifndef PATHS_CHANNEL_INTERNAL_H
#define PATHS_CHANNEL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "paths/net/handshake_internal.h"

typedef struct channel_seals channel_seals;

typedef struct channel {
    int fd;               /* -1: none */
    channel_seals *seals; /* NULL: nothing is sealed */
} channel;

/* From here on all that is said on it is sealed, if both have agreed on that
 * (handshake.seals). `is_dialler`: this side connected. Errors:
 * PASTSET_ENOMEM. */
int paths__channel_begin(channel *c, const handshake *h, bool is_dialler);
/* What comes from here on is as it is: somebody else's, who may seal it. */
void paths__channel_unseal(channel *c);
/* A channel without a socket is left as it is. */
void paths__channel_close(channel *c);

/* As sendmsg of these parts, and recv. Errors besides: of sending, EIO: it
 * cannot be sealed; of receiving, EBADMSG: what has come was not said like
 * this, and nothing more can be understood. Then, something that nobody has
 * said may be at `to`. */
ssize_t paths__channel_send(channel *c, const struct iovec *parts, size_t count,
                            int flags);
ssize_t paths__channel_receive(channel *c, void *to, size_t capacity,
                               int flags);
/* strerror(), which knows these. */
const char *paths__channel_error(int error);

/* Can something be received that does not have to come first? */
bool paths__channel_has(const channel *c);
/* Was something taken to be sent that the socket has not taken yet? Sending
 * nothing goes on with it. */
bool paths__channel_owes(const channel *c);

/* Is what goes over this socket to be sealed? `encrypt` is that of the process
 * in the map, or NULL. */
bool paths__channel_is_exposed(int fd, const char *encrypt);

#endif
