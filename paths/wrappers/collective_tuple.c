/* collective_tuple.c - what becomes of the tuples of a round.
 *
 * Blocks stand in the order of the numbers of their threads, whatever the tree
 * looks like: a wrapper knows the threads of each of its ways in (leaves), and
 * where the block of each stands among those of all of them (places). */
#include <string.h>

#include "paths/wrappers/collective_internal.h"

/* --- taking contributions --- */

/* The bytes that come by a way. */
static size_t share_bytes(const collective *c, uint32_t input)
{
    size_t leaves = c->places_count ? c->places_count[input] : 1;

    switch (c->family) {
    case FAMILY_GATHER:
        return leaves * c->block_bytes;
    case FAMILY_ALLTOALL:
        return leaves * c->participants * c->block_bytes;
    default:
        return c->type.max_bytes;
    }
}

static bool may_be_shorter(const collective *c)
{
    return c->family == FAMILY_BARRIER ||
           (c->family == FAMILY_BROADCAST && c->type.variable);
}

int paths__collective_take(const collective *c, uint32_t input,
                           const paths_operation *op)
{
    contribution *in = &c->inputs[input];
    bool exchange = op->verb == PASTSET_EXCHANGE;

    in->brings = op->verb == PASTSET_WRITE || exchange;
    in->wants = op->verb != PASTSET_WRITE;
    in->bytes = 0;
    if (op->nowait)
        return pastset_fail(
            PASTSET_EINVAL,
            "taking part in a round is not possible without waiting");
    if (!in->brings)
        return c->family == FAMILY_BROADCAST || c->family == FAMILY_SCATTER ||
                       c->family == FAMILY_BARRIER
                   ? 0
                   : pastset_fail(
                         PASTSET_EINVAL,
                         "%s contributes nothing to it: write or exchange",
                         pastset_verb_name(op->verb));
    if (op->bytes != share_bytes(c, input) &&
        !(may_be_shorter(c) && op->bytes <= c->type.max_bytes))
        return pastset_fail(PASTSET_ETYPE,
                            "a tuple of %zu bytes, but \"%s\" has %zu",
                            op->bytes, c->type.text, share_bytes(c, input));
    in->bytes = (uint32_t)op->bytes;
    if (op->bytes <= CONTRIBUTION_BYTES)
        memcpy(in->small, op->tuple, op->bytes);
    return 0;
}

static const unsigned char *tuple_of(const contribution *in)
{
    return in->bytes <= CONTRIBUTION_BYTES ? in->small : in->op->op.tuple;
}

/* --- the round's tuple --- */

/* In the order of the ways in, whoever came last: the same bits each time. */
static void reduce(collective *c)
{
    memcpy(c->buffer, tuple_of(&c->inputs[0]), c->type.max_bytes);
    for (uint32_t i = 1; i < c->count; i++)
        c->reduction(&c->type, c->buffer, tuple_of(&c->inputs[i]));
    c->bytes = c->type.max_bytes;
}

/* Moves items between where they stand together, one way's, and their places
 * among those of all ways. */
static void spread(const collective *c, uint32_t input, size_t item_bytes,
                   unsigned char *all, const unsigned char *own)
{
    for (uint32_t i = 0; i < c->places_count[input]; i++)
        memcpy(all + c->places[input][i] * item_bytes, own + i * item_bytes,
               item_bytes);
}

static void collect(const collective *c, uint32_t input, size_t item_bytes,
                    const unsigned char *all, unsigned char *own)
{
    for (uint32_t i = 0; i < c->places_count[input]; i++)
        memcpy(own + i * item_bytes, all + c->places[input][i] * item_bytes,
               item_bytes);
}

static void gather(collective *c, size_t item_bytes)
{
    for (uint32_t i = 0; i < c->count; i++)
        spread(c, i, item_bytes, c->buffer, tuple_of(&c->inputs[i]));
    c->bytes = c->leaves.count * item_bytes;
}

/* The one tuple that was brought, if any. */
static int choose(collective *c)
{
    const contribution *found = NULL;

    for (uint32_t i = 0; i < c->count; i++) {
        char first[200], second[200];
        if (!c->inputs[i].brings)
            continue;
        if (found) {
            paths__collective_name(c->stage->process->map, c->stage->node,
                                   (uint32_t)(found - c->inputs), first,
                                   sizeof(first));
            paths__collective_name(c->stage->process->map, c->stage->node, i,
                                   second, sizeof(second));
            return pastset_fail(PASTSET_EINVAL,
                                "%s and %s have both brought a tuple: only one "
                                "may write, and the others read",
                                first, second);
        }
        found = &c->inputs[i];
    }
    c->bytes = 0;
    if (found) {
        memcpy(c->buffer, tuple_of(found), found->bytes);
        c->bytes = found->bytes;
    }
    return 0;
}

int paths__collective_combine(collective *c, uint32_t last)
{
    switch (c->family) {
    case FAMILY_REDUCE:
        reduce(c);
        return 0;
    case FAMILY_GATHER:
        gather(c, c->block_bytes);
        return 0;
    case FAMILY_ALLTOALL:
        gather(c, (size_t)c->participants * c->block_bytes);
        return 0;
    case FAMILY_BARRIER:
        c->bytes = c->inputs[last].bytes;
        memcpy(c->buffer, tuple_of(&c->inputs[last]), c->bytes);
        return 0;
    default:
        return choose(c);
    }
}

/* --- its result --- */

/* Rows by source become rows by destination, once, at the root. */
static void turn(collective *c)
{
    size_t n = c->participants, block = c->block_bytes;
    unsigned char *from = c->buffer;

    for (size_t source = 0; source < n; source++) {
        for (size_t to = 0; to < n; to++)
            memcpy(c->turned + (to * n + source) * block,
                   from + (source * n + to) * block, block);
    }
    c->buffer = c->turned;
    c->turned = from;
}

void paths__collective_came(collective *c)
{
    if (c->turned)
        turn(c);
}

void paths__collective_show(collective *c)
{
    shown *s = collective_shown(c);

    s->index = c->index;
    s->lost = c->lost;
    s->bytes = (uint32_t)c->bytes;
    if (c->is_small)
        memcpy(s->small, c->buffer, c->bytes);
}

/* The part of one way, and its bytes; collected into `own` where it does not
 * lie in one piece (NULL: only asks for the bytes). */
static size_t part(collective *c, uint32_t input, const unsigned char **lies,
                   unsigned char *own)
{
    size_t item = c->block_bytes;

    if (c->family == FAMILY_ALLTOALL)
        item *= c->participants;
    else if (c->family != FAMILY_SCATTER) {
        shown *s = collective_shown(c);
        *lies = c->is_small ? s->small : c->buffer;
        return s->bytes;
    }
    *lies = NULL;
    if (own)
        collect(c, input, item, c->buffer, own);
    return c->places_count[input] * item;
}

/* Room for it in the operation's own buffer, or in its reply. */
static int place_make(operation *o, size_t bytes)
{
    if (!o->capacity || o->capacity(o, bytes)) /* sets where it goes */
        return 0;
    return pastset_no_memory("for a result of %zu bytes", bytes);
}

/* `refer`: a reply may be sent from where the result lies. */
static int deliver(collective *c, uint32_t input, operation *o, bool refer)
{
    bool exchange = o->op.verb == PASTSET_EXCHANGE;
    size_t *capacity = exchange ? &o->op.capacity : &o->op.bytes;
    void **place = exchange ? &o->op.result : &o->op.tuple;
    const unsigned char *lies;
    size_t bytes;
    int err;

    if (o->op.verb == PASTSET_WRITE)
        return 0;
    bytes = part(c, input, &lies, NULL);
    if (bytes > *capacity)
        return pastset_fail(
            PASTSET_EROOM,
            "the result has %zu bytes, but there is room for %zu", bytes,
            *capacity);
    if (o->capacity && lies && refer) {
        o->answer = *place = (void *)(uintptr_t)lies;
    } else {
        err = place_make(o, bytes);
        if (err)
            return err;
        if (lies)
            memmove(*place, lies, bytes);
        else
            part(c, input, &lies, *place);
    }
    *capacity = bytes;
    o->op.index = collective_shown(c)->index;
    o->op.lost = collective_shown(c)->lost;
    return 0;
}

/* Is there a stage on its way up that may hold it, for any time? */
static bool may_be_held(const operation *o)
{
    for (uint32_t i = 0; i < o->depth; i++) {
        if (o->route[i].stage->holds)
            return true;
    }
    return false;
}

int paths__collective_deliver(collective *c, uint32_t input, operation *o)
{
    return deliver(c, input, o, o->capacity && !may_be_held(o));
}

int paths__collective_deliver_representative(collective *c, uint32_t input,
                                             operation *o)
{
    return deliver(c, input, o, false);
}
