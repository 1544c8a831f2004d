/* message_ticks.c - see message_ticks.h.
 *
 * Messages of a sender, receiver, communicator and tag are numbered without a
 * gap. So all ends are read twice: first it is counted how many there are of
 * each such lot, and then each tick is put where its number says. */
#include "scopes/reading/message_ticks.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"
#include "scopes/reading/reading_internal.h"

#define SLOTS_AT_FIRST 64 /* a power of two */
#define UNKNOWN UINT64_MAX

typedef struct lot {
    scopes_message_key key; /* `ordinal`: how many it has; 0: a free slot */
    uint64_t first;         /* of all messages */
} lot;

typedef struct pair {
    uint64_t sent, received; /* or UNKNOWN */
} pair;

typedef struct gathering {
    const scopes_topology *topology;
    scopes_messages *messages;
    lot *slots; /* open addressing */
    uint64_t used, mask;
    pair *pairs;
    uint64_t pair_count;
} gathering;

typedef int taking(gathering *g, const scopes_message_end *end);

static int no_room(void)
{
    return scopes__no_room("for the messages of a run");
}

/* --- lots --- */

static uint64_t hash(const scopes_message_key *key)
{
    uint64_t h =
        ((uint64_t)key->from << 32 | key->to) * UINT64_C(0x9e3779b97f4a7c15);

    h ^= ((uint64_t)key->communicator << 32 | (uint32_t)key->tag) + (h >> 29);
    h *= UINT64_C(0xbf58476d1ce4e5b9);
    return h ^ h >> 32;
}

static bool are_one(const scopes_message_key *a, const scopes_message_key *b)
{
    return a->from == b->from && a->to == b->to && a->tag == b->tag &&
           a->communicator == b->communicator;
}

/* That of the message, or the free slot for it. */
static lot *find(lot *slots, uint64_t mask, const scopes_message_key *key)
{
    uint64_t at = hash(key) & mask;

    while (slots[at].key.ordinal && !are_one(&slots[at].key, key))
        at = (at + 1) & mask;
    return &slots[at];
}

static int grow(gathering *g)
{
    uint64_t count = g->slots ? 2 * (g->mask + 1) : SLOTS_AT_FIRST;
    lot *more = scopes__allocate(count * sizeof(*more));

    if (!more)
        return no_room();
    memset(more, 0, count * sizeof(*more));
    for (uint64_t i = 0; g->slots && i <= g->mask; i++)
        if (g->slots[i].key.ordinal)
            *find(more, count - 1, &g->slots[i].key) = g->slots[i];
    scopes__free(g->slots);
    g->slots = more;
    g->mask = count - 1;
    return 0;
}

/* --- ends --- */

static int count(gathering *g, const scopes_message_end *end)
{
    lot *l;
    int err = !g->slots || g->used > g->mask / 2 ? grow(g) : 0;

    if (err)
        return err;
    l = find(g->slots, g->mask, &end->key);
    if (!l->key.ordinal) {
        l->key = end->key;
        l->key.ordinal = 0;
        g->used++;
    }
    if (l->key.ordinal <= end->key.ordinal)
        l->key.ordinal = end->key.ordinal + 1;
    return 0;
}

static int put(gathering *g, const scopes_message_end *end)
{
    const lot *l = find(g->slots, g->mask, &end->key);
    pair *p;

    if (l->key.ordinal <= end->key.ordinal)
        return 0; /* it was not there when they were counted */
    p = &g->pairs[l->first + end->key.ordinal];
    *(end->is_received ? &p->received : &p->sent) = end->tick;
    return 0;
}

/* A receive that is freed takes its message later, and nobody knows when. Of
 * one at which recording was off it is not known in which call it ended. */
static bool has_time(const scopes_message_end *end)
{
    return !end->is_received ||
           (*end->operation && strcmp(end->operation, "MPI_Request_free") != 0);
}

/* Processes write all of their ends in one way. */
static int thread_take(gathering *g, uint32_t thread, taking *take)
{
    scopes_message_end end;
    int err = 0;

    while (!err && scopes__messages_next(g->messages, thread, &end)) {
        if (end.counted_by == PATHS_NONE)
            return 0;
        if ((end.kind == EVENTSPACE_MESSAGE_SENT ||
             end.kind == EVENTSPACE_MESSAGE_RECEIVED) &&
            end.key.ordinal != EVENTSPACE_MESSAGE_UNKNOWN && !end.status &&
            has_time(&end))
            err = take(g, &end);
    }
    return err;
}

static int take_all(gathering *g, taking *take)
{
    int err = 0;

    for (uint32_t i = 0; i < g->topology->thread_count && !err; i++)
        if (g->topology->threads[i] != PATHS_NONE)
            err = thread_take(g, i, take);
    return err;
}

static int pairs_make(gathering *g)
{
    for (uint64_t i = 0; g->slots && i <= g->mask; i++) {
        g->slots[i].first = g->pair_count;
        g->pair_count += g->slots[i].key.ordinal;
    }
    g->pairs = scopes__allocate((g->pair_count + 1) * sizeof(*g->pairs));
    if (!g->pairs)
        return no_room();
    memset(g->pairs, 0xff, g->pair_count * sizeof(*g->pairs));
    return 0;
}

static int visit(const gathering *g, const lot *l,
                 scopes_message_ticks_visit *each, void *context)
{
    const pair *pairs = &g->pairs[l->first];
    int err = 0;

    for (uint32_t i = 0; i < l->key.ordinal && !err; i++) {
        scopes_message_ticks message = {l->key.from, l->key.to, pairs[i].sent,
                                        pairs[i].received};
        if (message.sent != UNKNOWN && message.received != UNKNOWN)
            err = each(&message, context);
    }
    return err;
}

int scopes_message_ticks_each(const eventspace_run *run,
                              const scopes_topology *topology,
                              scopes_message_ticks_visit *each, void *context)
{
    gathering g = {.topology = topology};
    int err = scopes_messages_open(&g.messages, run, topology);

    if (!err)
        err = take_all(&g, count);
    if (!err)
        err = pairs_make(&g);
    if (!err && g.pair_count) {
        scopes__messages_rewind(g.messages);
        err = take_all(&g, put);
    }
    for (uint64_t i = 0; g.pair_count && i <= g.mask && !err; i++)
        err = visit(&g, &g.slots[i], each, context);
    scopes__free(g.slots);
    scopes__free(g.pairs);
    scopes_messages_close(g.messages);
    return err;
}
