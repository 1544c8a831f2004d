/* clock_message.c - what one-way traffic tells of clocks.
 *
 * Where a way leads to another process without a proxy, no operation has four
 * times. But a message is sent before it is received: the call that sends it
 * has begun before the one in which its receive is completed has ended. (When
 * that one began says nothing: who receives may have waited for long, or not at
 * all.) Such bounds from both sides are as good as those of probe pairs.
 *
 * Which message is which is known without any clock. Processes that were
 * recorded by another way than paths, as those of MPI programs, say it of each
 * end (reading/message_ticks.h); what is ambiguous there is left out. In what
 * was imported from a trace it is known by order: an element that one collector
 * writes and one other takes from gives the j-th tuple written to the j-th
 * take. That holds only where nothing is missing: if any tuple was lost or left
 * out, or the counts differ, nothing is said. */
#include "scopes/clocks/clock_internal.h"

#include "pastset/request.h"
#include "scopes/reading/message_ticks.h"

typedef scopes__message_walk walk;

/* Is every tuple of the series there, from the first of the run on? */
static bool is_whole(const walk *w, const scopes_series *series)
{
    return series->count > 0 && series->process != PATHS_NONE &&
           w->event_table->all_times &&
           w->event_table->ledgers[series->process].lost == 0;
}

/* --- of both ends of which it is known what they are --- */

static uint32_t process_of_thread(const scopes_topology *topology,
                                  uint32_t thread)
{
    return topology->map->nodes[topology->threads[thread]].process;
}

static int ticks_walk(const scopes_message_ticks *message, void *context)
{
    const walk *w = context;

    return scopes__message_before(
        w, process_of_thread(w->topology, message->from), message->sent,
        process_of_thread(w->topology, message->to), message->received);
}

/* --- elements --- */

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

static int channel_walk(const walk *w, const scopes_series *writes,
                        const scopes_series *takes)
{
    int err = 0;

    if (writes->count != takes->count || !is_whole(w, writes) ||
        !is_whole(w, takes) || !all_are(writes, PASTSET_WRITE, PASTSET_WRITE) ||
        !all_are(takes, PASTSET_OBSERVE, PASTSET_TAKE))
        return 0;
    for (size_t i = 0; i < writes->count && !err; i++)
        err = scopes__message_before(
            w, writes->process, scopes_event_at(writes->events, i)->start,
            takes->process, scopes_event_at(takes->events, i)->end);
    return err;
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
           scopes__process_of(topology, lowest->ids[0]) !=
               scopes__process_of(topology, lowest->ids[1]);
}

/* Do processes say of messages which they are? */
static bool has_messages(const eventspace_run *run)
{
    for (size_t i = 0; run && i < eventspace_run_process_count(run); i++)
        for (size_t k = 0; k < eventspace_run_own_count(run, i); k++)
            if (eventspace_run_own_at(run, i, k)->kind ==
                EVENTSPACE_DEFINES_CHANNEL)
                return true;
    return false;
}

/* Where they do, messages with several tags overtake each other in the elements
 * that they have added. */
static int channels_walk(const walk *w)
{
    const paths_map *map = w->topology->map;
    bool overtakes = has_messages(w->event_table->run);
    int err = 0;

    for (uint32_t i = 0; i < map->node_count && !err; i++) {
        const scopes_ids *lowest = &w->topology->lowest[i];
        const scopes_series *a, *b;
        if (!is_channel(w->topology, i) ||
            (overtakes && scopes__is_added(w, i)))
            continue;
        a = scopes_event_series(w->event_table, lowest->ids[0]);
        b = scopes_event_series(w->event_table, lowest->ids[1]);
        err = channel_walk(w, a, b);
        if (!err)
            err = channel_walk(w, b, a);
    }
    return err;
}

/* --- all --- */

bool scopes__messages_choose(const scopes_topology *topology, bool *collectors)
{
    bool any = scopes__meetings_choose(topology, collectors);

    for (uint32_t i = 0; i < topology->map->node_count; i++) {
        if (!is_channel(topology, i))
            continue;
        collectors[topology->lowest[i].ids[0]] = any = true;
        collectors[topology->lowest[i].ids[1]] = true;
    }
    return any;
}

int scopes__messages_each(const scopes_event_table *event_table,
                          const scopes_topology *topology,
                          scopes__message_visit *each, void *context)
{
    walk w = {event_table, topology, each, context};
    int err = channels_walk(&w);

    if (!err && event_table->run)
        err = scopes_message_ticks_each(event_table->run, topology, ticks_walk,
                                        &w);
    return err ? err : scopes__meetings_each(&w);
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
