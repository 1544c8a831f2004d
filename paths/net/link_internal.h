/* link_internal.h - a thread's own connection to another host.
 *
 * Only its thread reads and writes it. Frames are not always there whole, nor
 * does the socket always take them whole: what is in the middle is kept here,
 * so that a thread can let go of it when its time is up and go on with it the
 * next time. */
#ifndef PATHS_LINK_INTERNAL_H
#define PATHS_LINK_INTERNAL_H

#include <poll.h>

#include "paths/engine/host_internal.h"

#define LINK_BUFFER 4096

struct thread_link {
    paths_thread *thread;
    uint32_t host; /* the far one */
    int fd;
    bool broken;      /* nothing can be sent any more */
    char broke[120];  /* why this side closed it; "": it did not */
    uint32_t next_id; /* of a request */
    pending_list pending;

    /* Output: what is left of a request that was given up in the middle, and
     * has to go before the next. Owned; NULL: nothing. */
    unsigned char *rest;
    size_t rest_bytes, rest_sent;

    /* Input: `buffer` holds [begin, end). In the middle of a payload,
     * `filled` bytes of it are at `target`, or away if that is NULL. */
    size_t begin, end;
    wire_header header;
    bool in_payload;
    operation *reading; /* whose reply it is; NULL: nobody's (any more) */
    unsigned char *target;
    size_t filled;
    char text[WIRE_TEXT_BYTES + 1]; /* the payload of an error */
    unsigned char buffer[LINK_BUFFER];
};

/* Takes an operation off its link: the rest of its reply is thrown away. */
void paths__link_drop(thread_link *link, operation *o);
/* Reads until a frame has come whole, and those that came with it; if it does
 * not `wait`, until there is nothing to read. Their operations go up. */
void paths__link_read(thread_link *link, bool wait);
/* As poll(), until a moment (0: none). That poll itself fails, for want of
 * memory say, is no reason not to wait: then all look ready a little later, and
 * who reads them must not block. */
int paths__link_poll(struct pollfd *fds, nfds_t count, int64_t deadline_ns);

#endif
