/* arrived.c - see arrived.h. */
#include "scopes/causality/arrived.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/collect/trace.h"
#include "pastset/array.h"
#include "pastset/element.h"
#include "pastset/space.h"
#include "pastset/status.h"
#include "paths/engine/executor.h"
#include "scopes/causality/in_flight_internal.h"
#include "scopes/reading/reading_internal.h"

#define BLOCK 1024

/* Of one sender, receiver and tag; more than one until they are summed. */
typedef struct lot {
    uint32_t from, to; /* processes */
    int32_t tag;
    int64_t under_way;
} lot;

struct scopes_arrived {
    const eventspace_run *run;
    const scopes_topology *topology;
    lot *lots; /* once `has_lots` */
    size_t lot_count;
    bool has_lots, is_unknown;
    uint32_t **rounds; /* by process, by node; NULL: not counted yet */
    uint32_t process_count;
};

static int no_memory(void)
{
    return pastset_no_memory("for what has arrived");
}

static uint32_t process_of(const scopes_arrived *a, uint32_t thread)
{
    const scopes_topology *topology = a->topology;

    return thread < topology->thread_count &&
                   topology->threads[thread] != PATHS_NONE
               ? topology->map->nodes[topology->threads[thread]].process
               : PATHS_NONE;
}

/* --- messages --- */

static int lots_take(scopes_arrived *a, scopes_messages *messages,
                     uint32_t thread)
{
    scopes_message_end end;

    while (scopes__messages_next(messages, thread, &end)) {
        lot *more;
        if (end.kind != EVENTSPACE_MESSAGE_SENT &&
            end.kind != EVENTSPACE_MESSAGE_RECEIVED)
            continue;
        more = pastset_array_grow(a->lots, a->lot_count, sizeof(*more));
        if (!more)
            return no_memory();
        a->lots = more;
        more[a->lot_count++] =
            (lot){process_of(a, end.key.from), process_of(a, end.key.to),
                  end.key.tag, end.is_received ? -1 : 1};
    }
    return 0;
}

static int compare(const void *left, const void *right)
{
    const lot *a = left, *b = right;

    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->tag > b->tag) - (a->tag < b->tag);
}

static void lots_sum(scopes_arrived *a)
{
    size_t kept = 0;

    if (a->lot_count)
        qsort(a->lots, a->lot_count, sizeof(*a->lots), compare);
    for (size_t i = 0; i < a->lot_count; i++)
        if (kept && compare(&a->lots[kept - 1], &a->lots[i]) == 0)
            a->lots[kept - 1].under_way += a->lots[i].under_way;
        else
            a->lots[kept++] = a->lots[i];
    a->lot_count = kept;
}

static void lots_make(scopes_arrived *a)
{
    scopes_messages *messages = NULL;
    int err;

    a->has_lots = true;
    err = scopes_messages_open(&messages, a->run, a->topology);
    for (uint32_t i = 0; i < a->topology->thread_count && !err; i++)
        err = lots_take(a, messages, i);
    scopes_messages_close(messages);
    lots_sum(a);
    a->is_unknown = err != 0;
}

bool scopes_arrived_message(scopes_arrived *a, uint32_t from, uint32_t to,
                            uint64_t tag)
{
    if (!a->has_lots)
        lots_make(a);
    for (size_t i = 0; i < a->lot_count; i++)
        if (a->lots[i].from == from && a->lots[i].to == to &&
            (tag == PATHS_NOTE_ANY_TAG || tag == (uint64_t)a->lots[i].tag) &&
            a->lots[i].under_way > 0)
            return true;
    return a->is_unknown;
}

/* --- rounds --- */

static void count(const scopes_arrived *a, uint32_t *rounds,
                  const eventspace_trace *event)
{
    const scopes_topology *topology = a->topology;
    uint32_t node = event->collector < topology->collectors
                        ? topology->nodes[event->collector]
                        : PATHS_NONE;

    if (node == PATHS_NONE)
        return;
    node = scopes__next_node(topology->map, node);
    if (node != PATHS_NONE)
        rounds[node]++;
}

static void count_element(const scopes_arrived *a, uint32_t *rounds,
                          pastset_element *element, eventspace_trace *block)
{
    pastset_cursor cursor = {0};
    size_t found;

    while (pastset_read_many(element, &cursor, block, BLOCK, &found) == 0)
        for (size_t i = 0; i < found; i++)
            count(a, rounds, &block[i]);
}

static void count_process(const scopes_arrived *a, uint32_t *rounds,
                          uint32_t process, eventspace_trace *block)
{
    pastset_space *space = eventspace_run_process_at(a->run, process)->space;
    pastset_element *element;
    char name[32] = "calls";

    for (uint32_t i = 2; space; i++) {
        element = pastset_space_find(space, name);
        if (!element || strcmp(pastset_element_type(element)->text,
                               EVENTSPACE_TRACE_TYPE) != 0)
            return;
        count_element(a, rounds, element, block);
        snprintf(name, sizeof(name), "calls~%u", i);
    }
}

uint32_t scopes_arrived_rounds(scopes_arrived *a, uint32_t process,
                               uint32_t node)
{
    if (process >= a->process_count)
        return 0;
    if (!a->rounds[process]) {
        uint32_t *rounds =
            calloc(a->topology->map->node_count + 1u, sizeof(*rounds));
        eventspace_trace *block = calloc(BLOCK, sizeof(*block));
        if (rounds && block)
            count_process(a, rounds, process, block);
        free(block);
        a->rounds[process] = rounds;
    }
    return a->rounds[process] ? a->rounds[process][node] : UINT32_MAX;
}

/* --- all --- */

int scopes_arrived_create(scopes_arrived **out, const eventspace_run *run,
                          const scopes_topology *topology)
{
    scopes_arrived *a = calloc(1, sizeof(*a));

    *out = a;
    if (!a)
        return no_memory();
    a->run = run;
    a->topology = topology;
    a->process_count = topology->map->process_count;
    a->rounds = calloc(a->process_count + 1u, sizeof(*a->rounds));
    if (a->rounds)
        return 0;
    scopes_arrived_destroy(a);
    *out = NULL;
    return no_memory();
}

void scopes_arrived_destroy(scopes_arrived *a)
{
    if (!a)
        return;
    for (uint32_t i = 0; a->rounds && i < a->process_count; i++)
        free(a->rounds[i]);
    free(a->rounds);
    free(a->lots);
    free(a);
}
