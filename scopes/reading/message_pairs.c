/* message_pairs.c - see message_pairs.h. */
#include "scopes/reading/message_pairs.h"

#include <stdlib.h>

#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"
#include "scopes/reading/reading_internal.h"

typedef struct found {
    scopes_message_end end;
    int64_t at_ns;
} found;

typedef struct finding {
    const scopes_topology *topology;
    const scopes_clocks *clocks;
    scopes_messages *messages;
    found *all;
    size_t count;
} finding;

static int no_room(void)
{
    return scopes__no_room("for the messages of a run");
}

/* --- ends --- */

static int find_of(finding *f, uint32_t thread)
{
    const scopes_topology *topology = f->topology;
    uint32_t node = topology->threads[thread];
    scopes_message_end end;

    while (scopes__messages_next(f->messages, thread, &end)) {
        found *more;
        if (end.kind != EVENTSPACE_MESSAGE_SENT &&
            end.kind != EVENTSPACE_MESSAGE_RECEIVED)
            continue;
        more = scopes__array_grow(f->all, f->count, sizeof(*more));
        if (!more)
            return no_room();
        f->all = more;
        more[f->count++] = (found){
            end, scopes_clocks_ns(f->clocks, topology->map->nodes[node].process,
                                  end.tick)};
    }
    return 0;
}

/* Ends of one message lie beside each other, the sender's first. */
static int by_key(const void *left, const void *right)
{
    const found *a = left, *b = right;
    int order = scopes_message_compare(&a->end.key, &b->end.key);

    return order ? order : a->end.is_received - b->end.is_received;
}

static int find_all(finding *f)
{
    int err = 0;

    for (uint32_t i = 0; i < f->topology->thread_count && !err; i++)
        err = f->topology->threads[i] == PATHS_NONE ? 0 : find_of(f, i);
    if (f->count)
        qsort(f->all, f->count, sizeof(*f->all), by_key);
    return err;
}

/* --- pairs --- */

static bool are_one(const found *sent, const found *received)
{
    return !sent->end.is_received && received->end.is_received &&
           sent->end.key.ordinal != EVENTSPACE_MESSAGE_UNKNOWN &&
           scopes_message_compare(&sent->end.key, &received->end.key) == 0;
}

static int64_t time_of(const scopes_message_pair *pair)
{
    return pair->sent ? pair->sent_ns : pair->received_ns;
}

static int by_time(const void *left, const void *right)
{
    int64_t a = time_of(left), b = time_of(right);

    return a < b ? -1 : a > b;
}

static void take(scopes_message_pair *pair, const found *f)
{
    if (f->end.is_hidden) {
        pair->is_half = true;
    } else if (f->end.is_received) {
        pair->received = &f->end;
        pair->received_ns = f->at_ns;
    } else {
        pair->sent = &f->end;
        pair->sent_ns = f->at_ns;
    }
}

static int pair_all(scopes_message_pairs *pairs, const finding *f)
{
    pairs->items = scopes__allocate((f->count + 1) * sizeof(*pairs->items));
    if (!pairs->items)
        return no_room();
    for (size_t i = 0; i < f->count; i++) {
        scopes_message_pair *pair = &pairs->items[pairs->count];
        *pair = (scopes_message_pair){0};
        take(pair, &f->all[i]);
        if (i + 1 < f->count && are_one(&f->all[i], &f->all[i + 1]))
            take(pair, &f->all[++i]);
        pairs->count += pair->sent || pair->received;
    }
    if (pairs->count)
        qsort(pairs->items, pairs->count, sizeof(*pairs->items), by_time);
    return 0;
}

/* --- all --- */

int scopes_message_pairs_make(scopes_message_pairs **out,
                              const eventspace_run *run,
                              const scopes_topology *topology,
                              const scopes_clocks *clocks)
{
    finding f = {.topology = topology, .clocks = clocks};
    scopes_message_pairs *pairs = calloc(1, sizeof(*pairs));
    int err =
        pairs ? scopes_messages_open(&f.messages, run, topology) : no_room();

    *out = NULL;
    if (!err)
        err = find_all(&f);
    if (!err)
        err = pair_all(pairs, &f);
    if (!pairs)
        return err;
    pairs->messages = f.messages;
    pairs->ends = f.all;
    if (err) {
        scopes_message_pairs_destroy(pairs);
        return err;
    }
    pairs->damaged = scopes__messages_damaged(f.messages);
    *out = pairs;
    return 0;
}

void scopes_message_pairs_destroy(scopes_message_pairs *pairs)
{
    if (!pairs)
        return;
    scopes__free(pairs->items);
    scopes__free(pairs->ends);
    scopes_messages_close(pairs->messages);
    free(pairs);
}

const scopes_message_key *
scopes_message_pair_key(const scopes_message_pair *pair)
{
    return pair->sent ? &pair->sent->key : &pair->received->key;
}

const char *scopes_message_pair_communicator(const scopes_message_pairs *pairs,
                                             const scopes_message_pair *pair)
{
    return scopes_messages_communicator(
        pairs->messages, scopes_message_pair_key(pair)->communicator);
}

const char *scopes_message_pair_fault(const scopes_message_pair *pair)
{
    if (scopes_message_pair_key(pair)->ordinal == EVENTSPACE_MESSAGE_UNKNOWN)
        return "ambiguous";
    if (pair->is_half)
        return "other end not recorded";
    if (!pair->received)
        return "not received";
    if (!pair->sent)
        return "not sent";
    return pair->sent->bytes != pair->received->bytes ? "lengths differ" : NULL;
}
