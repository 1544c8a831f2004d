/* request.h - an operation on an element as an object that can be held.
 *
 * The functions of element.h wait in the calling thread. A request does not:
 * when it cannot be completed at once it is held by the element, costs the
 * memory of its struct and nothing else, and is completed by the thread whose
 * write, read or delete made that possible.
 *
 * Threads:   submit and cancel by any thread, but one at a time for one
 *            request. `done` runs on the thread that completes it, outside of
 *            all locks; it may submit requests, also to the same element.
 * Ownership: the request, its buffers and its pattern are yours, and must
 *            stay in place while the request is held. */
#ifndef PASTSET_REQUEST_H
#define PASTSET_REQUEST_H

#include "pastset/element.h"

#define PASTSET_HELD 1 /* what submit returns for a request that is held */

typedef struct pastset_request pastset_request;

struct pastset_request {
    uint16_t verb;
    bool nowait;    /* give PASTSET_EAGAIN rather than be held */
    int status;     /* set before `done` is called */
    void *tuple;    /* WRITE: read only; else: room for the tuple */
    size_t bytes;   /* WRITE: of the tuple; else: room, then its length */
    uint64_t index; /* READ, READ_NEXT: wanted; all: of the tuple */
    const pastset_pattern *pattern; /* READ_MATCH, TAKE (NULL: any) */

    /* Called once when a held request is completed. */
    void (*done)(pastset_request *request);

    /* May be NULL. Otherwise asked for room when the length of the tuple is
     * known, in place of `tuple`; called under the element's lock, so it must
     * not call into pastset, and may be asked again. NULL as its answer ends
     * the request with PASTSET_EROOM. Reads only. */
    void *(*capacity)(pastset_request *request, size_t bytes);

    /* The element's, while the request is held. */
    pastset_element *element;
    pastset_request *next, *previous;
    uint64_t wanted; /* waits until this index is written */
    uint8_t queue;   /* which of the element's queues it is in */
};

/* Returns 0 or an error when the request is complete, and PASTSET_HELD when
 * `done` will be called (it may have been called already). */
int pastset_submit(pastset_element *element, pastset_request *request);

/* Submits a request once more that gave PASTSET_EAGAIN, now without `nowait`.
 * Another thread may cancel it from before the call; that is then false. */
int pastset_resubmit(pastset_request *request);

/* Takes a held request out of its element. True: it was held, and `done`
 * will not be called. False: it is complete, or about to be. */
bool pastset_cancel(pastset_request *request);

#endif
