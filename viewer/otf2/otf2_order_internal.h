/* otf2_order_internal.h - in which order receives began that ended in another
 * one.
 *
 * Who reads OTF2 takes the n-th receive of a channel and tag for the n-th
 * message. So one that ends before an earlier one is written as that of a
 * request, and requests are written in the order in which the program made
 * them: as late as possible, before the first that ends. Those that end in
 * order need none.
 *
 * Threads: one. */
#ifndef VIEWER_OTF2_ORDER_INTERNAL_H
#define VIEWER_OTF2_ORDER_INTERNAL_H

#include "scopes/reading/messages.h"

typedef struct otf2_order otf2_order;

/* `whole`: what is exported begins with the first message. NULL: no memory. */
otf2_order *viewer__otf2_order_make(bool whole);
void viewer__otf2_order_destroy(otf2_order *order);

/* What a receive that ends next wants written: `count` requests, with ids from
 * `first` on, and that it is the one with the id `own`; 0: a plain receive. */
typedef struct otf2_requests {
    uint64_t first, own;
    uint32_t count;
} otf2_requests;

/* Errors: PASTSET_ENOMEM. */
int viewer__otf2_order_next(otf2_order *order, const scopes_message_key *key,
                            otf2_requests *out);

#endif
