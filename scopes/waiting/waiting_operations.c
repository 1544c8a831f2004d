/* waiting_operations.c - the operations of threads, with the gaps between: see
 * waiting_internal.h. */
#include "scopes/waiting/waiting_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"

static int no_memory(void)
{
    return scopes__no_room("for what operations waited for");
}

/* Paths are the tops that have a collector, each of it once. */
static void tops_find(scopes__waiting *w)
{
    const scopes_topology *topology = w->in.topology;
    uint32_t top = 0;

    for (size_t i = 0; i < w->times->path_count; i++) {
        const scopes_path *path = &w->times->paths[i];
        while (top < topology->top_count &&
               (topology->tops[top].thread != path->thread ||
                topology->tops[top].edge != path->edge))
            top++;
        w->tops[i] = top;
    }
}

/* A thread computes where none of its operations is under way. */
static void gaps_find(scopes__waiting *w, uint32_t number)
{
    const scopes_thread *thread = &w->times->threads[number];
    const scopes_operation *items = w->times->operations;
    uint32_t sequence = items[thread->operation].sequence;
    int64_t busy_until = thread->start_ns;

    w->dense[number] = true;
    for (size_t i = thread->operation;
         i < thread->operation + thread->operations; i++) {
        if (items[i].sequence != sequence++)
            w->dense[number] = false;
        w->flags[i] = items[i].start_ns >= busy_until ? SCOPES__BEGINS : 0;
        if (items[i].end_ns > busy_until)
            busy_until = items[i].end_ns;
    }
}

static int arrays_make(scopes__waiting *w)
{
    size_t count = (size_t)w->count + 1;
    size_t bits =
        (size_t)w->in.topology->site_count * w->in.topology->thread_count + 1;

    w->tops = calloc(w->times->path_count + 1, sizeof(*w->tops));
    w->dense = calloc(w->in.topology->thread_count + 1, sizeof(*w->dense));
    w->members = calloc(bits / 8 + 1, 1);
    w->first_waits =
        calloc(w->in.topology->thread_count + 2, sizeof(*w->first_waits));
    w->flags = scopes__allocate(count * sizeof(*w->flags));
    w->needs = scopes__allocate(count * sizeof(*w->needs));
    if (!w->tops || !w->dense || !w->members || !w->first_waits || !w->flags ||
        !w->needs)
        return no_memory();
    memset(w->needs, 0xff, count * sizeof(*w->needs));
    return 0;
}

int scopes__waiting_operations(scopes__waiting *w)
{
    int err = scopes_communication_create(&w->times, w->in.topology,
                                          w->in.event_table, w->in.clocks,
                                          w->in.scheduling, SCOPES_OPERATIONS);

    if (err)
        return err;
    w->times_kept = w->times->kept;
    if (w->times->operation_count >= SCOPES_MISSING)
        return pastset_fail(PASTSET_ELIMIT,
                            "more operations than can be numbered: ask for a "
                            "part of the run");
    w->count = (uint32_t)w->times->operation_count;
    err = arrays_make(w);
    if (err)
        return err;
    tops_find(w);
    for (uint32_t i = 0; i < w->times->thread_count; i++)
        if (w->times->threads[i].operations)
            gaps_find(w, i);
    return 0;
}

/* Numbers ascend with the starts, and are mostly all there. Then operations
 * need not be looked at. */
uint32_t scopes__waiting_find(const scopes__waiting *w, uint32_t thread,
                              uint32_t sequence)
{
    const scopes_operation *items;
    size_t low = 0, high, at;

    if (thread >= w->times->thread_count ||
        w->times->threads[thread].operations == 0)
        return SCOPES_MISSING;
    items = &w->times->operations[w->times->threads[thread].operation];
    high = w->times->threads[thread].operations;
    at = (uint32_t)(sequence - items[0].sequence);
    if (at < high && (w->dense[thread] || items[at].sequence == sequence))
        return (uint32_t)(w->times->threads[thread].operation + at);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (items[middle].sequence < sequence)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->times->threads[thread].operations &&
                   items[low].sequence == sequence
               ? (uint32_t)(w->times->threads[thread].operation + low)
               : SCOPES_MISSING;
}
