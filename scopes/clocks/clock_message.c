/* clock_message.c - what one-way traffic tells of clocks.
 *
 * Where a way leads to another process without a proxy, as it does in what was
 * imported from a trace of messages, no operation has four times. But a message
 * is sent before it is received, and nobody leaves a collective (one that all
 * wait in) before everybody has come. Such bounds from both sides are as good
 * as those of probe pairs.
 *
 * Which message is which is known by order: an element that one collector
 * writes and one other takes from gives the j-th tuple written to the j-th
 * take, and the j-th events of all inputs of a collective are one round. That
 * holds only where nothing is missing: if any tuple was lost or left out, or
 * the counts differ, nothing is said. */
#include "scopes/clocks/clock_internal.h"

#include "pastset/request.h"

typedef struct walk {
    const scopes_event_table *event_table;
    const scopes_topology *topology;
    scopes__message_visit *each;
    void *context;
} walk;

/* Is every tuple of the series there, from the first of the run on? */
static bool is_whole(const walk *w, const scopes_series *series)
{
    return series->count > 0 && series->process != PATHS_NONE &&
           w->event_table->all_times &&
           w->event_table->ledgers[series->process].lost == 0;
}

static bool all_are(const scopes_series *series, uint16_t a, uint16_t b)
{
    for (size_t i = 0; i < series->count; i++) {
        if (scopes_event_at(series->events, i)->status ||
            (scopes_event_at(series->events, i)->operation != a &&
             scopes_event_at(series->events, i)->operation != b))
            return false;
    }
    return true;
}

static int before(const walk *w, const scopes_series *from, uint64_t from_ticks,
                  const scopes_series *to, uint64_t to_ticks)
{
    scopes__message message = {from->process, to->process, from_ticks,
                               to_ticks};

    return w->each(&message, w->context);
}

/* --- elements --- */

static int channel_walk(const walk *w, const scopes_series *writes,
                        const scopes_series *takes)
{
    int err = 0;

    if (writes->count != takes->count || !is_whole(w, writes) ||
        !is_whole(w, takes) || !all_are(writes, PASTSET_WRITE, PASTSET_WRITE) ||
        !all_are(takes, PASTSET_OBSERVE, PASTSET_TAKE))
        return 0;
    for (size_t i = 0; i < writes->count && !err; i++)
        err = before(w, writes, scopes_event_at(writes->events, i)->start,
                     takes, scopes_event_at(takes->events, i)->end);
    return err;
}

static uint32_t process_of(const scopes_topology *topology, uint32_t collector)
{
    return topology->map->nodes[topology->nodes[collector]].process;
}

static bool is_direct(const scopes_topology *topology, uint32_t collector)
{
    const scopes_hop *hop = &topology->hops[collector];

    return hop->lower == PATHS_NONE && hop->proxy == PATHS_NONE &&
           hop->collective == PATHS_NONE;
}

/* The element has one collector in each of two processes. */
static bool is_channel(const scopes_topology *topology, uint32_t node)
{
    const scopes_ids *lowest = &topology->lowest[node];

    return lowest->count == 2 && is_direct(topology, lowest->ids[0]) &&
           is_direct(topology, lowest->ids[1]) &&
           process_of(topology, lowest->ids[0]) !=
               process_of(topology, lowest->ids[1]);
}

static int channels_walk(const walk *w)
{
    const paths_map *map = w->topology->map;
    int err = 0;

    for (uint32_t i = 0; i < map->node_count && !err; i++) {
        const scopes_ids *lowest = &w->topology->lowest[i];
        const scopes_series *a, *b;
        if (!is_channel(w->topology, i))
            continue;
        a = scopes_event_series(w->event_table, lowest->ids[0]);
        b = scopes_event_series(w->event_table, lowest->ids[1]);
        err = channel_walk(w, a, b);
        if (!err)
            err = channel_walk(w, b, a);
    }
    return err;
}

/* --- collectives --- */

/* Its inputs come straight from several processes. */
static bool is_joined_directly(const scopes_topology *topology,
                               const scopes_site *site)
{
    bool apart = false;

    for (uint32_t i = 0; i < site->inputs.count; i++) {
        uint32_t id = site->inputs.ids[i];
        if (id == PATHS_NONE || topology->hops[id].proxy != PATHS_NONE ||
            topology->hops[id].lower != PATHS_NONE)
            return false;
        apart |= process_of(topology, id) !=
                 process_of(topology, site->inputs.ids[0]);
    }
    return apart && site->parent == PATHS_NONE;
}

static bool has_all_rounds(const walk *w, const scopes_site *site)
{
    const scopes_ids *inputs = &site->inputs;
    size_t rounds = scopes_event_series(w->event_table, inputs->ids[0])->count;

    for (uint32_t i = 0; i < inputs->count; i++) {
        const scopes_series *series =
            scopes_event_series(w->event_table, inputs->ids[i]);
        if (!is_whole(w, series) || series->count != rounds)
            return false;
    }
    return true;
}

static int round_walk(const walk *w, const scopes_series *a,
                      const scopes_series *b, size_t round)
{
    int err;

    if (scopes_event_at(a->events, round)->status ||
        scopes_event_at(b->events, round)->status)
        return 0;
    err = before(w, a, scopes_event_at(a->events, round)->start, b,
                 scopes_event_at(b->events, round)->end);
    return err ? err
               : before(w, b, scopes_event_at(b->events, round)->start, a,
                        scopes_event_at(a->events, round)->end);
}

/* Each input with the first: that is enough for a tree of clocks. */
static int sites_walk(const walk *w)
{
    int err = 0;

    for (uint32_t s = 0; s < w->topology->site_count && !err; s++) {
        const scopes_site *site = &w->topology->sites[s];
        const scopes_series *first;
        if (!is_joined_directly(w->topology, site) || !has_all_rounds(w, site))
            continue;
        first = scopes_event_series(w->event_table, site->inputs.ids[0]);
        for (uint32_t i = 1; i < site->inputs.count && !err; i++) {
            const scopes_series *other =
                scopes_event_series(w->event_table, site->inputs.ids[i]);
            if (other->process == first->process)
                continue;
            for (size_t round = 0; round < first->count && !err; round++)
                err = round_walk(w, first, other, round);
        }
    }
    return err;
}

/* --- both --- */

bool scopes__messages_choose(const scopes_topology *topology, bool *collectors)
{
    bool any = false;

    for (uint32_t i = 0; i < topology->map->node_count; i++) {
        if (!is_channel(topology, i))
            continue;
        collectors[topology->lowest[i].ids[0]] = any = true;
        collectors[topology->lowest[i].ids[1]] = true;
    }
    for (uint32_t i = 0; i < topology->site_count; i++) {
        const scopes_site *site = &topology->sites[i];
        if (!is_joined_directly(topology, site))
            continue;
        any = true;
        for (uint32_t k = 0; k < site->inputs.count; k++)
            collectors[site->inputs.ids[k]] = true;
    }
    return any;
}

int scopes__messages_each(const scopes_event_table *event_table,
                          const scopes_topology *topology,
                          scopes__message_visit *each, void *context)
{
    walk w = {event_table, topology, each, context};
    int err = channels_walk(&w);

    return err ? err : sites_walk(&w);
}

static int arrives_late(const scopes__message *message, void *context)
{
    (void)context;
    return message->to_ticks < message->from_ticks;
}

bool scopes_clocks_agree(const scopes_event_table *event_table,
                         const scopes_topology *topology)
{
    return scopes__messages_each(event_table, topology, arrives_late, NULL) ==
           0;
}
