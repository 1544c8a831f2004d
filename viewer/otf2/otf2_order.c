/* otf2_order.c - see otf2_order_internal.h. */
#include "viewer/otf2/otf2_order_internal.h"

#include <stdlib.h>

#include "pastset/status.h"
#include "viewer/export/export_internal.h"

#define SORTED_IN_MEMORY (1u << 18)

struct otf2_order {
    viewer__sorter *sorter;
    otf2_receipt given;
    bool has_given;
    otf2_moment posted; /* where that has begun: its request, or its end */
    otf2_moment first;  /* begin of the calls of this and all later ones */
    uint64_t request;   /* the id of the last */
    otf2_receipt hole;  /* before this one is one */
    bool has_hole;
};

/* By channel and tag, the last first. */
static int by_message(const void *left, const void *right)
{
    const otf2_receipt *a = left, *b = right;

    return scopes_message_compare(&b->key, &a->key);
}

int viewer__otf2_order_make(otf2_order **out)
{
    otf2_order *order = calloc(1, sizeof(*order));

    *out = order;
    if (!order)
        return pastset_no_memory("for an export");
    order->request = UINT64_MAX / 2;
    return viewer__sorter_create(&order->sorter, sizeof(otf2_receipt),
                                 by_message, SORTED_IN_MEMORY);
}

void viewer__otf2_order_destroy(otf2_order *order)
{
    if (!order)
        return;
    viewer__sorter_destroy(order->sorter);
    free(order);
}

int viewer__otf2_order_add(otf2_order *order, const otf2_receipt *receipt)
{
    return viewer__sorter_add(order->sorter, receipt);
}

static bool is_before(const otf2_moment *a, const otf2_moment *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->tie < b->tie;
}

static bool are_of_one(const scopes_message_key *a, const scopes_message_key *b)
{
    return a->communicator == b->communicator && a->from == b->from &&
           a->to == b->to && a->tag == b->tag;
}

/* Ids fall, so that requests of one moment are in the order of the messages. */
static void request(otf2_order *order, otf2_receipt *receipt)
{
    receipt->request = --order->request;
    receipt->requested = order->posted = order->first;
}

/* `next` is in front of what was given, if it is of the same channel and tag.
 */
static void look_for_hole(otf2_order *order, const otf2_receipt *next,
                          bool is_same)
{
    uint32_t before = is_same ? next->key.ordinal + 1 : 0;

    if (!order->has_given || order->given.key.ordinal == before)
        return;
    order->has_hole = true;
    order->hole = order->given;
}

const otf2_receipt *viewer__otf2_order_next(otf2_order *order, int *err)
{
    const otf2_receipt *next = viewer__sorter_next(order->sorter, err);
    bool is_last = !next || !order->has_given ||
                   !are_of_one(&next->key, &order->given.key);

    look_for_hole(order, next, !is_last);
    if (!next)
        return NULL;
    order->given = *next;
    order->has_given = true;
    if (is_last || is_before(&next->begin, &order->first))
        order->first = next->begin;
    order->given.request = 0;
    if (is_last || is_before(&next->end, &order->posted))
        order->posted = next->end;
    else
        request(order, &order->given);
    return &order->given;
}

bool viewer__otf2_order_hole(const otf2_order *order, otf2_receipt *before)
{
    *before = order->hole;
    return order->has_hole;
}
