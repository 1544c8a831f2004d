/* event_table.c - trace tuples by collector.
 *
 * Two passes: one counts what each collector has, one puts each tuple in its
 * place; all series lie behind each other in one piece of memory. The source
 * is walked twice when that gives the same both times and costs little; else
 * all that is wanted is taken into memory first. Whether a series is in order
 * is seen while it is filled in; as a rule it is. */
#include "scopes/reading/event_table.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/reading/stack_internal.h"
#include "scopes/reading/reading_internal.h"

/* The id of a node that is a collector; UINT64_MAX of others. */
static int map_id(const paths_map *map, uint32_t node, uint64_t *id)
{
    *id = UINT64_MAX;
    if (strcmp(map->nodes[node].type, "collector") != 0)
        return 0;
    return paths_node_number(map, &map->nodes[node], "id", UINT64_MAX, id);
}

/* The collectors of the map: where each stands. */
static int series_make(scopes_event_table *event_table)
{
    const paths_map *map = event_table->map;
    uint64_t id;
    int err;

    for (uint32_t i = 0; i < map->node_count; i++) {
        err = map_id(map, i, &id);
        if (err)
            return err;
        if (id < map->node_count && id >= event_table->collectors)
            event_table->collectors = (uint32_t)id + 1;
    }
    event_table->series =
        calloc(event_table->collectors + 1u, sizeof(*event_table->series));
    if (!event_table->series)
        return pastset_no_memory("for %u collectors", event_table->collectors);
    for (uint32_t i = 0; i < event_table->collectors; i++)
        event_table->series[i].node = event_table->series[i].process =
            PATHS_NONE;
    for (uint32_t i = 0; i < map->node_count; i++) {
        err = map_id(map, i, &id);
        if (!err && id < event_table->collectors) {
            event_table->series[id].node = i;
            event_table->series[id].process = map->nodes[i].process;
        }
    }
    return 0;
}

static int event_table_create(scopes_event_table **out, const paths_map *map)
{
    scopes_event_table *event_table = calloc(1, sizeof(*event_table));
    int err;

    *out = NULL;
    if (!event_table)
        return pastset_no_memory("for a store");
    event_table->map = map;
    event_table->ledgers =
        calloc(map->process_count + 1u, sizeof(*event_table->ledgers));
    err = event_table->ledgers
              ? series_make(event_table)
              : pastset_no_memory("for %u processes", map->process_count);
    if (err) {
        scopes_event_table_destroy(event_table);
        return err;
    }
    *out = event_table;
    return 0;
}

void scopes_event_table_destroy(scopes_event_table *event_table)
{
    if (!event_table)
        return;
    scopes_stack memory = {.events = event_table->memory,
                           .mapped_bytes = event_table->memory_bytes};
    scopes__stack_fini(&memory);
    free(event_table->series);
    free(event_table->ledgers);
    free(event_table->before);
    free(event_table);
}

/* --- filling --- */

/* A series while it is filled. */
typedef struct filling {
    eventspace_trace *next; /* where its next tuple goes */
    eventspace_trace *end;
    uint64_t count;
    uint64_t start; /* of its last tuple */
    bool disorder;
} filling;

typedef struct loading {
    scopes_event_table *event_table;
    filling *series; /* by collector; a last one for all strange ones */
    bool more;       /* there were more than had been counted */
    scopes_stack kept;
} loading;

/* Its place among `series`. */
static inline uint32_t place(const loading *l, const eventspace_trace *event)
{
    return event->collector < l->event_table->collectors
               ? event->collector
               : l->event_table->collectors;
}

static int loading_begin(loading *l, scopes_event_table *event_table)
{
    *l = (loading){.event_table = event_table};
    l->series = calloc(event_table->collectors + 1u, sizeof(*l->series));
    if (!l->series)
        return pastset_no_memory("for %u collectors", event_table->collectors);
    return 0;
}

static void loading_end(loading *l)
{
    scopes__stack_fini(&l->kept);
    free(l->series);
}

static int count_batch(const scopes_batch *batch, void *context)
{
    loading *l = context;

    for (size_t i = 0; i < batch->count; i++)
        l->series[place(l, &batch->events[i])].count++;
    return 0;
}

static int keep_batch(const scopes_batch *batch, void *context)
{
    loading *l = context;
    scopes_stack *kept = &l->kept;
    int err = scopes__stack_reserve(kept, kept->count + batch->count);

    if (err)
        return err;
    memcpy(kept->events + kept->count, batch->events,
           batch->count * sizeof(*batch->events));
    kept->count += batch->count;
    return count_batch(batch, l);
}

/* Gives each series its part of the memory. */
static int memory_divide(loading *l)
{
    scopes_event_table *event_table = l->event_table;
    scopes_stack memory = {0};
    size_t count = 0;
    int err;

    /* Numbers that no collector has are as strange as too large ones. */
    for (uint32_t i = 0; i < event_table->collectors; i++) {
        if (event_table->series[i].node == PATHS_NONE) {
            event_table->strange += l->series[i].count;
            l->series[i].count = 0;
        }
        count += l->series[i].count;
    }
    event_table->strange += l->series[event_table->collectors].count;
    l->series[event_table->collectors].count = 0;
    err = scopes__stack_reserve(&memory, count);
    if (err)
        return err;
    event_table->memory = memory.events;
    event_table->memory_bytes = memory.mapped_bytes;
    for (uint32_t i = 0; i <= event_table->collectors; i++) {
        l->series[i].next = memory.events;
        if (l->series[i].count)
            memory.events += l->series[i].count;
        l->series[i].end = memory.events;
    }
    return 0;
}

static void fill(loading *l, const eventspace_trace *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        filling *f = &l->series[place(l, &events[i])];
        if (__builtin_expect(f->next == f->end, 0)) {
            l->more |= f->count > 0; /* else it is a strange one */
            continue;
        }
        f->disorder |= events[i].start <= f->start;
        f->start = events[i].start;
        *f->next++ = events[i];
    }
}

static int fill_batch(const scopes_batch *batch, void *context)
{
    fill(context, batch->events, batch->count);
    return 0;
}

/* Sorts the series, and shows them. */
static int series_finish(loading *l)
{
    eventspace_trace *begin = l->event_table->memory;
    scopes_stack spare = {0};
    int err = 0;

    for (uint32_t i = 0; i < l->event_table->collectors && !err; i++) {
        scopes_series *series = &l->event_table->series[i];
        series->events = begin;
        series->count = (size_t)(l->series[i].next - begin);
        if (l->series[i].disorder)
            err = scopes__sort(begin, series->count, &spare);
        begin = l->series[i].end;
    }
    scopes__stack_fini(&spare);
    return err;
}

/* --- loading --- */

static void ledger_add(scopes_ledger *ledger, const scopes_ledger *more)
{
    ledger->recorded += more->recorded;
    ledger->read += more->read;
    ledger->lost += more->lost;
    ledger->filtered += more->filtered;
}

/* Walks all processes. `ledgers`: notes what there was. */
static int walk(loading *l, scopes_source *source, const scopes_filter *filter,
                scopes_each *each, bool ledgers)
{
    scopes_event_table *event_table = l->event_table;
    int err = 0;

    for (uint32_t i = 0; i < event_table->map->process_count && !err; i++) {
        err = scopes_source_each(source, i, filter, each, l,
                                 ledgers ? &event_table->ledgers[i] : NULL);
        if (ledgers)
            ledger_add(&event_table->ledger, &event_table->ledgers[i]);
    }
    return err;
}

/* Was there just what had been counted? */
static bool is_filled(const loading *l)
{
    for (uint32_t i = 0; i < l->event_table->collectors; i++) {
        if (l->series[i].next != l->series[i].end)
            return false;
    }
    return !l->more;
}

/* Forgets what a first attempt came to. */
static void loading_again(loading *l)
{
    scopes_event_table *event_table = l->event_table;
    scopes_stack memory = {.events = event_table->memory,
                           .mapped_bytes = event_table->memory_bytes};

    scopes__stack_fini(&memory);
    event_table->memory = NULL;
    event_table->memory_bytes = 0;
    event_table->strange = 0;
    event_table->ledger = (scopes_ledger){0};
    memset(event_table->ledgers, 0,
           event_table->map->process_count * sizeof(*event_table->ledgers));
    memset(l->series, 0, (event_table->collectors + 1u) * sizeof(*l->series));
    l->more = false;
}

static int load_kept(loading *l, scopes_source *source,
                     const scopes_filter *filter)
{
    int err = walk(l, source, filter, keep_batch, true);

    if (err)
        return err;
    err = memory_divide(l);
    if (err)
        return err;
    fill(l, l->kept.events, l->kept.count);
    return series_finish(l);
}

/* Without keeping anything twice: counts, and then fills in. */
static int load_counted(loading *l, scopes_source *source,
                        const scopes_filter *filter)
{
    int err = walk(l, source, filter, count_batch, true);

    if (err)
        return err;
    err = memory_divide(l);
    if (err)
        return err;
    err = walk(l, source, filter, fill_batch, false);
    if (err)
        return err;
    if (is_filled(l))
        return series_finish(l);
    /* So somebody does write: a process of another machine, say. */
    loading_again(l);
    return load_kept(l, source, filter);
}

static int event_table_give(scopes_event_table **out,
                            scopes_event_table *event_table, int err)
{
    if (err) {
        scopes_event_table_destroy(event_table);
        return err;
    }
    *out = event_table;
    return 0;
}

int scopes_event_table_load(scopes_event_table **out, scopes_source *source,
                            const scopes_filter *filter)
{
    const paths_map *map = eventspace_run_map(scopes_source_run(source));
    scopes_event_table *event_table;
    loading l;
    int err;

    *out = NULL;
    err = event_table_create(&event_table, map);
    if (err)
        return err;
    err = loading_begin(&l, event_table);
    if (!err)
        err = scopes_source_at_rest(source) ? load_counted(&l, source, filter)
                                            : load_kept(&l, source, filter);
    loading_end(&l);
    return event_table_give(out, event_table, err);
}

int scopes_event_table_create(scopes_event_table **out, const paths_map *map,
                              const eventspace_trace *events, size_t count,
                              const scopes_ledger *ledger)
{
    scopes_batch all = {.events = events, .count = count};
    scopes_event_table *event_table;
    loading l;
    int err;

    *out = NULL;
    err = event_table_create(&event_table, map);
    if (err)
        return err;
    event_table->ledger =
        ledger ? *ledger : (scopes_ledger){.recorded = count, .read = count};
    err = loading_begin(&l, event_table);
    if (err)
        goto done;
    err = count_batch(&all, &l);
    if (err)
        goto done;
    err = memory_divide(&l);
    if (err)
        goto done;
    fill(&l, events, count);
    err = series_finish(&l);
done:
    loading_end(&l);
    return event_table_give(out, event_table, err);
}

const scopes_series *scopes_event_series(const scopes_event_table *event_table,
                                         uint32_t collector)
{
    static const scopes_series none = {.node = PATHS_NONE,
                                       .process = PATHS_NONE};

    return collector < event_table->collectors ? &event_table->series[collector]
                                               : &none;
}

/* --- numbers --- */

typedef struct numbering {
    scopes_event_table *event_table;
    const uint64_t *from_ticks;
} numbering;

static int number_batch(const scopes_batch *batch, void *context)
{
    const numbering *n = context;
    const scopes_event_table *event_table = n->event_table;

    for (size_t i = 0; i < batch->count; i++) {
        const eventspace_trace *event = &batch->events[i];
        if (event->collector < event_table->collectors &&
            event->end < n->from_ticks[batch->process])
            event_table->before[event->collector]++;
    }
    return 0;
}

int scopes_event_table_number(scopes_event_table *event_table,
                              scopes_source *source, const uint64_t *from_ticks)
{
    numbering n = {.event_table = event_table, .from_ticks = from_ticks};
    /* Those that began before it: more than those that also ended by then. */
    scopes_filter filter = {.to_ticks = from_ticks};
    int err = 0;

    free(event_table->before);
    event_table->before =
        calloc(event_table->collectors + 1u, sizeof(*event_table->before));
    if (!event_table->before)
        return pastset_no_memory("for %u collectors", event_table->collectors);
    for (uint32_t i = 0; i < event_table->map->process_count && !err; i++)
        err = scopes_source_each(source, i, &filter, number_batch, &n, NULL);
    return err;
}

uint64_t scopes_event_table_first(const scopes_event_table *event_table,
                                  uint32_t collector)
{
    if (event_table->before && collector < event_table->collectors)
        return event_table->before[collector];
    return event_table->ledger.filtered ? SCOPES_NO_NUMBER : 0;
}
