/* link_internal.h - a thread's own connection to another process.
 *
 * Only its thread reads and writes it. Frames are not always there whole, nor
 * does the socket always take them whole: what is in the middle is kept here,
 * so that a thread can let go of it when its time is up and go on with it the
 * next time. */
#ifndef PATHS_LINK_INTERNAL_H
#define PATHS_LINK_INTERNAL_H

#include <poll.h>

#include "paths/engine/process_internal.h"
#include "paths/net/channel_internal.h"
#include "paths/net/wire_internal.h"

#define LINK_BUFFER 4096

struct thread_link {
    paths_thread *thread;
    uint32_t process; /* the far one */
    channel channel;
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

/* When an operation on a link is given up; 0: never. */
static inline int64_t link_due_of(const operation *o)
{
    return o->op.deadline_ns ? o->op.deadline_ns + PATHS__GRACE_NS : 0;
}

/* An operation of paths_start waits on a link, and may have a deadline. */
static inline void link_watch(const thread_link *link, const operation *o)
{
    paths_thread *thread = link->thread;
    int64_t due = link_due_of(o);

    if (due && (!thread->links_due_ns || due < thread->links_due_ns))
        thread->links_due_ns = due;
}

/* --- link_frames.c --- */

int paths__link_send(thread_link *link, operation *o, const paths_stage *proxy);
/* Takes an operation off its link: the rest of its reply is thrown away. */
void paths__link_drop(thread_link *link, operation *o);
/* Reads until a frame has come whole, and those that came with it; if it does
 * not `wait`, until there is nothing to read. Their operations go up. */
void paths__link_read(thread_link *link, bool wait);
/* As poll(), until a moment (0: none). That poll itself fails, for want of
 * memory say, is no reason not to wait: then all look ready a little later, and
 * who reads them must not block. */
int paths__link_poll(struct pollfd *fds, nfds_t count, int64_t deadline_ns);

/* --- link.c --- */

int paths__link_open(paths_thread *thread, uint32_t process);
void paths__link_close(thread_link *link);
/* Reads replies until `o`, which waits on a link, is done, or the mailbox has
 * something. False: the deadline that stands in it passed, and the other
 * process did not answer in its time of grace either. */
bool paths__links_wait(paths_thread *thread, const operation *o);
/* The same for any operation of paths_start; false: the deadline passed. Those
 * whose own deadline passes are ended. */
bool paths__links_wait_any(paths_thread *thread, int64_t deadline_ns);
/* Takes what has come on any link, and ends those whose deadline has passed. */
void paths__links_look(paths_thread *thread);
/* Its deadline passed: takes it off its link, and up it goes. What comes of a
 * reply is ignored. */
void paths__link_give_up(operation *o);
void paths__link_interrupt(thread_link *link);

#endif
