/* export_events.c - all that has a time, in the order of its begin.
 *
 * The files of a run have events in the order of their ends, collector by
 * collector; what lies around another event comes behind it there. Formats that
 * nest want it before, so all of it is sorted (export_sort.c). */
#include "viewer/export/export_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

#define SORTED_IN_MEMORY (1u << 20) /* 40 MB */

typedef struct collect {
    viewer__export *e;
    viewer__sorter *sorter;
    uint16_t *ranks; /* by collector */
    int64_t first_ns, last_ns;
} collect;

/* --- the order --- */

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_begin(const void *left, const void *right)
{
    const viewer__event *a = left, *b = right;
    int order;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    order = by_number(a->rank, b->rank);
    order = order ? order : by_number(a->process, b->process);
    order = order ? order : by_number(a->collector, b->collector);
    order = order ? order : by_number(a->thread, b->thread);
    order = order ? order : by_number(a->sequence, b->sequence);
    order = order ? order : by_number(a->operation, b->operation);
    return order ? order : by_number(a->under_way, b->under_way);
}

/* How many collectors stand above each one, and one more; regions have 0. */
static int make_ranks(collect *c)
{
    const scopes_topology *topology = c->e->topology;

    c->ranks = calloc(topology->collectors + 1, sizeof(*c->ranks));
    if (!c->ranks)
        return pastset_no_memory("for an export");
    for (uint32_t id = 0; id < topology->collectors; id++) {
        uint32_t at = id, rank = 1;
        while (at != PATHS_NONE && rank < INT16_MAX) {
            if (c->ranks[at] >= rank)
                break;
            c->ranks[at] = (uint16_t)rank++;
            at = topology->hops[at].upper == PATHS_NONE
                     ? PATHS_NONE
                     : topology->hops[at].lower;
        }
    }
    return 0;
}

/* --- events --- */

static int keep(collect *c, viewer__event *event)
{
    if (event->end_ns < event->start_ns)
        event->end_ns = event->start_ns;
    if (event->start_ns < c->first_ns)
        c->first_ns = event->start_ns;
    if (event->end_ns > c->last_ns)
        c->last_ns = event->end_ns;
    return viewer__sorter_add(c->sorter, event);
}

static uint16_t known_operation(uint16_t operation)
{
    return operation < PASTSET_ALL_VERBS ||
                   operation == EVENTSPACE_TRACE_REGION ||
                   operation == EVENTSPACE_TRACE_MARK ||
                   operation == EVENTSPACE_TRACE_METRIC
               ? operation
               : 0;
}

static int keep_trace(collect *c, uint32_t process,
                      const eventspace_trace *trace)
{
    const scopes_clocks *clocks = c->e->clocks;
    viewer__event event = {
        .start_ns = scopes_clocks_ns(clocks, process, trace->start),
        .end_ns = scopes_clocks_ns(clocks, process, trace->end),
        .collector = trace->collector,
        .thread = trace->thread,
        .sequence = trace->sequence,
        .bytes = trace->bytes,
        .operation = known_operation(trace->operation),
        .status = trace->status,
        .process = (uint16_t)process};

    if (trace->collector < c->e->topology->collectors)
        event.rank = c->ranks[trace->collector] & INT16_MAX;
    return keep(c, &event);
}

static int keep_batches(collect *c)
{
    scopes_cursor *cursor;
    scopes_batch batch;
    int err = scopes_cursor_open(&cursor, c->e->source, &c->e->filter);

    if (err)
        return err;
    while (!(err = scopes_cursor_next(cursor, &batch))) {
        err = viewer__export_stopped();
        for (size_t i = 0; i < batch.count && !err; i++)
            err = keep_trace(c, (uint32_t)batch.process, &batch.events[i]);
        if (err)
            break;
    }
    scopes_cursor_ledger(cursor, &c->e->ledger);
    scopes_cursor_close(cursor);
    return err == PASTSET_EAGAIN ? 0 : err;
}

/* --- times off the processor --- */

static bool is_in_window(const viewer__export *e, int64_t start_ns,
                         int64_t end_ns)
{
    return end_ns >= e->from_ns && start_ns <= e->to_ns;
}

static uint32_t microseconds(int64_t ns)
{
    int64_t us = (ns + 500) / 1000;

    return us < 0 ? 0 : us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

static int keep_off(collect *c, uint32_t thread, const scopes_off *off)
{
    const scopes_topology *topology = c->e->topology;
    viewer__event event = {
        .start_ns = off->start_ns,
        .end_ns = off->end_ns,
        .collector = PATHS_NONE,
        .thread = thread,
        .sequence = microseconds(off->runnable_ns),
        .bytes = microseconds(off->sleeping_ns),
        .operation = off->unknown ? VIEWER__OFF_UNKNOWN : VIEWER__OFF,
        .process =
            (uint16_t)topology->map->nodes[topology->threads[thread]].process};

    return is_in_window(c->e, off->start_ns, off->end_ns) ? keep(c, &event) : 0;
}

static int keep_offs(collect *c)
{
    const scopes_scheduling *scheduling = c->e->aligned->scheduling;
    int err = 0;

    for (uint32_t i = 0; i < scheduling->thread_count && !err; i++) {
        const scopes_thread_life *life = &scheduling->threads[i];
        if (!life->is_known || !viewer__export_has_thread(c->e, i))
            continue;
        for (size_t k = 0; k < life->off_count && !err; k++)
            err = keep_off(c, i, &life->offs[k]);
    }
    return err;
}

/* --- operations that are under way, or were when their process ended --- */

static const scopes_top *top_of(const scopes_topology *topology,
                                const scopes_pending *pending)
{
    for (uint32_t i = 0; i < topology->top_count; i++)
        if (topology->tops[i].thread == pending->thread &&
            strcmp(topology->tops[i].name, pending->path) == 0)
            return &topology->tops[i];
    return NULL;
}

static int keep_pending(collect *c, const scopes_pending *pending)
{
    const viewer__export *e = c->e;
    const scopes_top *top;
    viewer__event event = {.thread = pending->thread,
                           .sequence = pending->sequence,
                           .operation = pending->verb,
                           .under_way = true,
                           .process = (uint16_t)pending->process,
                           .rank = 1};

    if (!pending->operates || pending->thread == PATHS_NONE ||
        pending->verb >= PASTSET_ALL_VERBS ||
        !viewer__export_has_thread(e, pending->thread))
        return 0;
    top = top_of(e->topology, pending);
    if (!top || top->collector == PATHS_NONE ||
        (e->filter.collectors && !e->filter.collectors[top->collector]))
        return 0;
    event.collector = top->collector;
    event.start_ns =
        scopes_clocks_ns(e->clocks, pending->process, pending->since_ticks);
    event.end_ns = event.start_ns +
                   (pending->lasts_ns > 0 && pending->lasts_ns < INT64_MAX / 8
                        ? pending->lasts_ns
                        : 0);
    return is_in_window(e, event.start_ns, event.end_ns) ? keep(c, &event) : 0;
}

/* Looked at after the events: what has come up meanwhile is not among them. */
static int keep_under_way(collect *c)
{
    scopes_pending_list *list;
    int err = scopes_pending_take(&list, c->e->run, c->e->topology);

    if (err)
        return err;
    for (size_t i = 0; i < list->count && !err; i++)
        err = keep_pending(c, &list->items[i]);
    scopes_pending_destroy(list);
    return err;
}

/* --- all --- */

static int keep_all(collect *c)
{
    int err = make_ranks(c);

    if (!err)
        err = keep_batches(c);
    if (!err && !c->e->filter.collectors)
        err = keep_offs(c);
    if (!err)
        err = keep_under_way(c);
    return err;
}

static int give_all(collect *c, viewer__each *each, void *context)
{
    const viewer__event *event;
    int err = viewer__export_stopped();

    while (!err && (event = viewer__sorter_next(c->sorter, &err)) != NULL) {
        err = each(event, context);
        if (!err)
            err = viewer__export_stopped();
    }
    return err;
}

int viewer__export_sorted(viewer__export *e, int64_t *first_ns,
                          int64_t *last_ns, viewer__each *each, void *context)
{
    collect c = {.e = e, .first_ns = INT64_MAX, .last_ns = INT64_MIN};
    int err = viewer__sorter_create(&c.sorter, sizeof(viewer__event), by_begin,
                                    SORTED_IN_MEMORY);

    if (!err)
        err = keep_all(&c);
    *first_ns = c.last_ns < c.first_ns ? 0 : c.first_ns;
    *last_ns = c.last_ns < c.first_ns ? 0 : c.last_ns;
    if (!err)
        err = give_all(&c, each, context);
    viewer__sorter_destroy(c.sorter);
    free(c.ranks);
    return err;
}
