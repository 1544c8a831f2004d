/* otf2_order.c - see otf2_order_internal.h. What is kept is a number for each
 * channel and tag, and the requests that have not ended. */
#include "viewer/otf2/otf2_order_internal.h"

#include <stdlib.h>

/* Out of memory is no end of the program. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(item) (*(item)->failed = true)
#include <uthash.h>

#include "pastset/status.h"

/* Requests at once: more is said by damage only. */
#define OPEN_MAX (1u << 20)

/* Of a channel and tag (`ordinal` 0): how many have begun; of a request its
 * id. */
typedef struct counted {
    scopes_message_key key;
    uint64_t value;
    bool *failed;
    UT_hash_handle hh;
} counted;

struct otf2_order {
    counted *begun, *open;
    uint64_t requests;
    bool whole;
};

otf2_order *viewer__otf2_order_make(bool whole)
{
    otf2_order *order = calloc(1, sizeof(*order));

    if (order)
        order->whole = whole;
    return order;
}

static void drop(counted **all)
{
    counted *c, *next;

    HASH_ITER(hh, *all, c, next)
    {
        HASH_DEL(*all, c);
        free(c);
    }
}

void viewer__otf2_order_destroy(otf2_order *order)
{
    if (!order)
        return;
    drop(&order->begun);
    drop(&order->open);
    free(order);
}

/* NULL: no memory. */
static counted *add(counted **all, const scopes_message_key *key,
                    uint64_t value)
{
    bool failed = false;
    counted *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->key = *key;
    c->value = value;
    c->failed = &failed;
    HASH_ADD(hh, *all, key, sizeof(c->key), c);
    if (failed) {
        free(c);
        return NULL;
    }
    c->failed = NULL;
    return c;
}

static counted *begun_of(otf2_order *order, const scopes_message_key *key)
{
    scopes_message_key plain = *key;
    counted *c;

    plain.ordinal = 0;
    HASH_FIND(hh, order->begun, &plain, sizeof(plain), c);
    return c ? c : add(&order->begun, &plain, order->whole ? 0 : key->ordinal);
}

/* Has it begun already, by a request? */
static bool take_open(otf2_order *order, const scopes_message_key *key,
                      otf2_requests *out)
{
    counted *c;

    HASH_FIND(hh, order->open, key, sizeof(*key), c);
    if (!c)
        return false;
    out->own = c->value;
    HASH_DEL(order->open, c);
    free(c);
    return true;
}

int viewer__otf2_order_next(otf2_order *order, const scopes_message_key *key,
                            otf2_requests *out)
{
    scopes_message_key each = *key;
    counted *begun;

    *out = (otf2_requests){0};
    if (key->ordinal == EVENTSPACE_MESSAGE_UNKNOWN)
        return 0;
    begun = begun_of(order, key);
    if (!begun)
        return pastset_no_memory("for an export");
    if (key->ordinal < begun->value) {
        take_open(order, key, out);
        return 0;
    }
    if (key->ordinal == begun->value ||
        key->ordinal - begun->value > OPEN_MAX) {
        begun->value = (uint64_t)key->ordinal + 1;
        return 0;
    }
    out->first = order->requests + 1;
    out->count = (uint32_t)(key->ordinal - begun->value) + 1;
    for (uint32_t i = 0; i + 1 < out->count; i++) {
        each.ordinal = (uint32_t)begun->value + i;
        if (!add(&order->open, &each, out->first + i))
            return pastset_no_memory("for an export");
    }
    order->requests += out->count;
    out->own = order->requests;
    begun->value = (uint64_t)key->ordinal + 1;
    return 0;
}
