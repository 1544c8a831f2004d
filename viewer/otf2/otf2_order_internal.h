/* otf2_order_internal.h - in which order receives began that ended in another
 * one.
 *
 * Who reads OTF2 takes the n-th receive of a channel and tag for the n-th
 * message. So one that ends after a later one has begun is written as that of a
 * request, and requests are written in the order of the messages: as late as
 * possible, when the call begins in which the first of them and of all later
 * ones ends. Those that end in order need none.
 *
 * All receives are added, in any order; of a window those that are in it. Then
 * they are given, the last of each channel and tag first, as what is written of
 * one depends on the next.
 *
 * Threads: one. */
#ifndef VIEWER_OTF2_ORDER_INTERNAL_H
#define VIEWER_OTF2_ORDER_INTERNAL_H

#include "scopes/reading/messages.h"

typedef struct otf2_order otf2_order;

/* Where a record stands among those of its location. */
typedef struct otf2_moment {
    int64_t at_ns, tie;
} otf2_moment;

typedef struct otf2_receipt {
    scopes_message_key key; /* its ordinal is known */
    otf2_moment begin, end; /* of the call in which it was received */
    uint32_t location, other;
    uint64_t bytes;
    /* That are given: its request; 0: it needs none. */
    uint64_t request;
    otf2_moment requested;
} otf2_receipt;

/* Errors: PASTSET_ENOMEM. */
int viewer__otf2_order_make(otf2_order **out);
/* NULL is allowed. */
void viewer__otf2_order_destroy(otf2_order *order);

/* Errors: PASTSET_ENOMEM, PASTSET_EIO, PASTSET_ENOSPC. */
int viewer__otf2_order_add(otf2_order *order, const otf2_receipt *receipt);
/* The next, which is the order's until the one after it; NULL: there is none,
 * or `*err`. */
const otf2_receipt *viewer__otf2_order_next(otf2_order *order, int *err);
/* Once all were given: is an earlier receive than one of them not there? */
bool viewer__otf2_order_hole(const otf2_order *order, otf2_receipt *before);

#endif
