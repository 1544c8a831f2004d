/* event_table.c - trace tuples by collector.
 *
 * First a walk over each process of the source, which lists where the wanted
 * tuples are: those that stay in the files of the run are left there, others,
 * such as those of archives, are kept in blocks. The walks are done by all
 * processors. What they list is cut into parts. Each part counts what it has of
 * each collector; so for each part and collector it is known where in which
 * series its tuples go; and each part puts them there. Both are done by all
 * processors, and come to the same as if one had gone through the list. Whether
 * a series is in order is seen meanwhile; as a rule it is.
 *
 * Where the series lie in a file (scopes/memory), each part first puts its
 * tuples behind each other by collector, and then writes them. So everything
 * that reads a series goes forward in the file, and meets nothing else there.
 */
#include "scopes/reading/event_table.h"

#include <stdlib.h>
#include <string.h>

#include "eventspace/define/map_additions.h"
#include "pastset/array.h"
#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"
#include "scopes/parallel/memo_internal.h"
#include "scopes/parallel/parallel_internal.h"
#include "scopes/reading/reading_internal.h"
#include "scopes/reading/sort_internal.h"

/* The id of a node that is a collector; UINT64_MAX of others. */
static int map_id(const paths_map *map, uint32_t node, uint64_t *id)
{
    *id = UINT64_MAX;
    if (strcmp(map->nodes[node].type, "collector") != 0)
        return 0;
    return paths_node_number(map, &map->nodes[node], "id", UINT64_MAX, id);
}

/* The collectors of the map: where each stands; and what the processes of a run
 * have defined. */
static int series_make(scopes_event_table *event_table,
                       const eventspace_run *run)
{
    const paths_map *map = event_table->map;
    uint32_t ids = eventspace_map_ids(map);
    uint64_t id;
    int err;

    for (uint32_t i = 0; i < map->node_count; i++) {
        err = map_id(map, i, &id);
        if (err)
            return err;
        if (id < ids && id >= event_table->collectors)
            event_table->collectors = (uint32_t)id + 1;
    }
    if (run && eventspace_run_ids(run) > event_table->collectors)
        event_table->collectors = eventspace_run_ids(run);
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
    for (uint32_t i = 0; run && i < event_table->collectors; i++) {
        const eventspace_run_definition *defined =
            eventspace_run_definition_of(run, i);
        if (defined)
            event_table->series[i].process = (uint32_t)defined->process;
    }
    return 0;
}

/* Of a run that goes on some of the tuples that were read are of what was
 * defined just before them, and by a map that has grown; unless it is to be by
 * `map`. */
static int series_again(scopes_event_table *event_table, eventspace_run *run,
                        const paths_map *map)
{
    int err = eventspace_run_define(run);

    if (err)
        return err;
    free(event_table->series);
    event_table->series = NULL;
    paths_map_unref(event_table->map);
    event_table->map = paths_map_ref(map ? map : eventspace_run_map(run));
    return series_make(event_table, run);
}

static int event_table_create(scopes_event_table **out, const paths_map *map,
                              const eventspace_run *run)
{
    scopes_event_table *event_table = calloc(1, sizeof(*event_table));
    int err;

    *out = NULL;
    if (!event_table)
        return scopes__no_room("for a store");
    event_table->map = paths_map_ref(map);
    event_table->run = run;
    event_table->memo = scopes__memo_create();
    event_table->ledgers =
        calloc(map->process_count + 1u, sizeof(*event_table->ledgers));
    err = event_table->ledgers && event_table->memo
              ? series_make(event_table, run)
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
    scopes__memo_destroy(event_table->memo);
    paths_map_unref(event_table->map);
    scopes__free(event_table->tuples);
    scopes__free(event_table->at);
    free(event_table->series);
    free(event_table->ledgers);
    free(event_table->before);
    free(event_table->failed_before);
    free(event_table->from_ticks);
    free(event_table->to_ticks);
    free(event_table);
}

static int ticks_copy(uint64_t **to, const uint64_t *from, size_t count)
{
    free(*to);
    *to = NULL;
    if (!from)
        return 0;
    *to = calloc(count + 1, sizeof(**to));
    if (!*to)
        return pastset_no_memory("for %zu processes", count);
    memcpy(*to, from, count * sizeof(**to));
    return 0;
}

int scopes_event_table_set_part(scopes_event_table *event_table,
                                const uint64_t *from_ticks,
                                const uint64_t *to_ticks)
{
    size_t count = event_table->map->process_count;
    int err = ticks_copy(&event_table->from_ticks, from_ticks, count);

    return err ? err : ticks_copy(&event_table->to_ticks, to_ticks, count);
}

/* --- the list --- */

#define PART_TUPLES (256u * 1024)
#define BLOCK_TUPLES (64u * 1024) /* of those that are kept */

/* Tuples behind each other. */
typedef struct extent {
    const eventspace_trace *events;
    size_t count;
    bool is_kept;             /* else: */
    eventspace_stream stream; /* where they were borrowed */
    uint64_t index;
} extent;

typedef struct block {
    struct block *next;
    size_t count;
    eventspace_trace events[];
} block;

/* What a part has of a collector. */
typedef struct share {
    uint64_t next;  /* their number; then where in the series the next goes, */
    uint64_t end;   /* and where no more may */
    uint64_t first; /* the starts of the first and last of them */
    uint64_t last;
    uint64_t begin; /* while they are behind each other: where in the series
                       they go */
    bool disorder;
} share;

/* Some extents, of the first and last of which not all. */
typedef struct part {
    size_t extent, from; /* where it begins */
    size_t count;
} part;

/* What a walk has come to. */
typedef struct listed {
    extent *extents;
    size_t extent_count, total;
    block *blocks; /* the last one first */
} listed;

typedef struct loading {
    scopes_event_table *event_table;
    scopes_source *source;
    const scopes_filter *filter;
    bool borrows;
    listed *walks; /* one for each process */
    size_t walk_count;

    extent *extents; /* of all walks */
    size_t extent_count, total;

    part *parts;
    size_t part_count;
    share *shares;      /* [part * (collectors + 1) + collector]; a last one for
                           those that no collector has */
    uint64_t *begin;    /* by collector: the first of its series */
    uint64_t *begin_at; /* and of its numbers, where it has some */
} loading;

static void listed_free(listed *l)
{
    while (l->blocks) {
        block *next = l->blocks->next;
        scopes__free(l->blocks);
        l->blocks = next;
    }
    free(l->extents);
}

static void loading_end(loading *l)
{
    for (size_t i = 0; i < l->walk_count; i++)
        listed_free(&l->walks[i]);
    free(l->walks);
    free(l->extents);
    free(l->parts);
    scopes__free(l->shares);
    free(l->begin);
    free(l->begin_at);
}

static int extent_add(listed *l, const extent *added)
{
    extent *last = l->extent_count ? &l->extents[l->extent_count - 1] : NULL;
    extent *more;

    l->total += added->count;
    if (last && last->events + last->count == added->events &&
        last->is_kept == added->is_kept &&
        last->stream.present == added->stream.present) {
        last->count += added->count;
        return 0;
    }
    more = pastset_array_grow(l->extents, l->extent_count, sizeof(*more));
    if (!more)
        return scopes__no_room("for a list of events");
    l->extents = more;
    more[l->extent_count++] = *added;
    return 0;
}

static int block_add(listed *l)
{
    block *more =
        scopes__allocate(sizeof(*more) + BLOCK_TUPLES * sizeof(*more->events));

    if (!more)
        return scopes__no_room("for trace tuples");
    more->next = l->blocks;
    more->count = 0;
    l->blocks = more;
    return 0;
}

static int keep(listed *l, const eventspace_trace *events, size_t count)
{
    int err = 0;

    while (count > 0 && !err) {
        size_t some;
        if (!l->blocks || l->blocks->count == BLOCK_TUPLES)
            err = block_add(l);
        if (err)
            break;
        some = BLOCK_TUPLES - l->blocks->count;
        some = count < some ? count : some;
        scopes__put(l->blocks,
                    offsetof(block, events) +
                        l->blocks->count * sizeof(*events),
                    events, some * sizeof(*events));
        err = extent_add(
            l, &(extent){.events = &l->blocks->events[l->blocks->count],
                         .count = some,
                         .is_kept = true});
        l->blocks->count += some;
        events += some;
        count -= some;
    }
    return err;
}

static void ledger_add(scopes_ledger *ledger, const scopes_ledger *more)
{
    ledger->recorded += more->recorded;
    ledger->read += more->read;
    ledger->lost += more->lost;
    ledger->filtered += more->filtered;
}

static int take_batch(listed *l, const scopes_batch *batch)
{
    if (!batch->borrowed)
        return keep(l, batch->events, batch->count);
    return extent_add(l, &(extent){.events = batch->events,
                                   .count = batch->count,
                                   .stream = *batch->borrowed,
                                   .index = batch->index});
}

static int list_process(size_t process, void *context)
{
    loading *l = context;
    scopes_cursor *cursor;
    scopes_batch batch;
    int ended = 0,
        err = scopes__cursor_open(&cursor, l->source, l->filter, process, 1);

    if (err)
        return err;
    if (l->borrows)
        scopes__cursor_borrow(cursor);
    while (!err && !ended) {
        ended = scopes_cursor_next(cursor, &batch);
        if (!ended)
            err = take_batch(&l->walks[process], &batch);
    }
    if (!err && ended != PASTSET_EAGAIN)
        err = ended;
    scopes_cursor_ledger(cursor, &l->event_table->ledgers[process]);
    scopes_cursor_close(cursor);
    return err;
}

static int walks_make(loading *l, size_t count)
{
    l->walks = calloc(count + 1, sizeof(*l->walks));
    l->walk_count = l->walks ? count : 0;
    return l->walks ? 0 : pastset_no_memory("for a list of events");
}

/* One list of all that the walks have come to. */
static int walks_join(loading *l)
{
    size_t count = 0;

    for (size_t i = 0; i < l->walk_count; i++) {
        count += l->walks[i].extent_count;
        l->total += l->walks[i].total;
    }
    l->extents = malloc((count + 1) * sizeof(*l->extents));
    if (!l->extents)
        return pastset_no_memory("for a list of events");
    for (size_t i = 0; i < l->walk_count; i++) {
        const listed *walk = &l->walks[i];
        if (walk->extent_count)
            memcpy(&l->extents[l->extent_count], walk->extents,
                   walk->extent_count * sizeof(*l->extents));
        l->extent_count += walk->extent_count;
    }
    return 0;
}

static int list(loading *l)
{
    scopes_event_table *event_table = l->event_table;
    int err = walks_make(l, event_table->map->process_count);

    if (!err)
        err = scopes__parallel(l->walk_count, list_process, l);
    for (size_t i = 0; i < l->walk_count; i++)
        ledger_add(&event_table->ledger, &event_table->ledgers[i]);
    return err ? err : walks_join(l);
}

/* --- counting --- */

static int parts_make(loading *l)
{
    size_t at = 0, from = 0, left = l->total;
    size_t columns = l->event_table->collectors + 1u;

    l->part_count = l->total / PART_TUPLES + 1;
    l->parts = calloc(l->part_count, sizeof(*l->parts));
    l->shares = scopes__allocate(l->part_count * columns * sizeof(*l->shares));
    l->begin = calloc(columns, sizeof(*l->begin));
    l->begin_at = calloc(columns, sizeof(*l->begin_at));
    if (!l->parts || !l->shares || !l->begin || !l->begin_at)
        return pastset_no_memory("for %zu collectors", columns);
    memset(l->shares, 0, l->part_count * columns * sizeof(*l->shares));
    for (size_t p = 0; p < l->part_count; p++) {
        size_t count = left < PART_TUPLES ? left : PART_TUPLES;
        l->parts[p] = (part){at, from, count};
        left -= count;
        while (count > 0 && count >= l->extents[at].count - from) {
            count -= l->extents[at++].count - from;
            from = 0;
        }
        from += count;
    }
    return 0;
}

/* Goes through the extents of a part. */
typedef void visiting(const loading *l, share *shares,
                      const eventspace_trace *events, size_t count,
                      eventspace_trace *to);

static inline __attribute__((always_inline)) void
part_visit(const loading *l, size_t number, visiting *visit,
           eventspace_trace *to)
{
    const part *p = &l->parts[number];
    share *shares = &l->shares[number * (l->event_table->collectors + 1u)];
    size_t from = p->from, left = p->count;

    for (const extent *e = &l->extents[p->extent]; left > 0; e++, from = 0) {
        size_t count = e->count - from < left ? e->count - from : left;
        visit(l, shares, e->events + from, count, to);
        left -= count;
    }
}

/* Its place among `shares`. */
static inline uint32_t place(const loading *l, const eventspace_trace *event)
{
    return event->collector < l->event_table->collectors
               ? event->collector
               : l->event_table->collectors;
}

static void count_extent(const loading *l, share *shares,
                         const eventspace_trace *events, size_t count,
                         eventspace_trace *to)
{
    (void)to;
    for (size_t i = 0; i < count; i++) {
        share *s = &shares[place(l, &events[i])];
        if (__builtin_expect(s->next++ == 0, 0)) {
            s->first = s->last = events[i].start;
            continue;
        }
        s->disorder |= events[i].start <= s->last;
        s->last = events[i].start;
    }
}

static int count_part(size_t number, void *context)
{
    part_visit(context, number, count_extent, NULL);
    return 0;
}

/* Joins what the parts have of a collector: where each of them puts it, and,
 * into the first one, what is so of all of them. Gives how many these are. */
static uint64_t join(loading *l, uint32_t collector, uint64_t begin)
{
    size_t columns = l->event_table->collectors + 1u;
    share all = {0};

    for (size_t p = 0; p < l->part_count; p++) {
        share *s = &l->shares[p * columns + collector];
        uint64_t count = s->next;
        s->next = begin + all.next;
        s->end = s->next + count;
        if (count == 0)
            continue;
        if (all.next > 0)
            all.disorder |= s->first <= all.last;
        all.disorder |= s->disorder;
        all.last = s->last;
        all.next += count;
    }
    l->shares[collector].disorder = all.disorder;
    return all.next;
}

/* Is it a collector of the run's map, but not yet of the one by which it is
 * read? */
static bool is_later(const loading *l, uint32_t collector)
{
    return l->source && eventspace_run_collector(scopes_source_run(l->source),
                                                 collector) != PATHS_NONE;
}

/* Gives each series its part of the memory: says how many tuples all have. */
static uint64_t divide(loading *l)
{
    scopes_event_table *event_table = l->event_table;
    size_t columns = event_table->collectors + 1u;
    uint64_t count = 0;

    for (uint32_t i = 0; i < columns; i++) {
        scopes_series *series = &event_table->series[i];
        uint64_t of_it = join(l, i, count);
        l->begin[i] = count;
        /* Numbers that no collector has are as strange as too large ones. */
        if (i < event_table->collectors &&
            (series->node != PATHS_NONE || series->process != PATHS_NONE)) {
            series->count = of_it;
            count += of_it;
            continue;
        }
        if (!is_later(l, i))
            event_table->strange += of_it;
        for (size_t p = 0; p < l->part_count; p++)
            l->shares[p * columns + i].end = 0;
    }
    return count;
}

/* --- filling --- */

/* Strange tuples have no place; and what is overwritten while it is read may
 * have more of a collector than was counted. */
static void put_extent(const loading *l, share *shares,
                       const eventspace_trace *events, size_t count,
                       eventspace_trace *to)
{
    for (size_t i = 0; i < count; i++) {
        share *s = &shares[place(l, &events[i])];
        if (__builtin_expect(s->next < s->end, 1))
            to[s->next++] = events[i];
    }
}

/* The same by way of `between`, where they are behind each other. */
static void put_filed(const loading *l, size_t number,
                      eventspace_trace *between)
{
    uint32_t columns = l->event_table->collectors + 1u;
    share *shares = &l->shares[number * columns];
    uint64_t begin = 0;

    for (share *s = shares; s < shares + columns; s++) {
        uint64_t count = s->end > s->next ? s->end - s->next : 0;
        s->begin = s->next;
        s->next = begin;
        s->end = begin += count;
    }
    part_visit(l, number, put_extent, between);
    begin = 0;
    for (share *s = shares; s < shares + columns; s++) {
        scopes__put(l->event_table->tuples, s->begin * sizeof(*between),
                    between + begin, (s->end - begin) * sizeof(*between));
        begin = s->end;
    }
}

static int put_part(size_t number, void *context)
{
    const loading *l = context;
    eventspace_trace *between;

    if (!scopes__is_filed(l->event_table->tuples)) {
        part_visit(l, number, put_extent, l->event_table->tuples);
        return 0;
    }
    between = scopes__allocate(PART_TUPLES * sizeof(*between));
    if (!between)
        return scopes__no_room("for trace tuples");
    put_filed(l, number, between);
    scopes__free(between);
    return 0;
}

/* Shows a series, in its order. Tuples in the file are not moved again. */
static int series_finish(size_t number, void *context)
{
    loading *l = context;
    scopes_event_table *event_table = l->event_table;
    scopes_series *series = &event_table->series[number];
    eventspace_trace *tuples = event_table->tuples + l->begin[number];
    uint32_t *at;

    series->events.base = tuples;
    if (series->count == 0 || !l->shares[number].disorder)
        return 0;
    if (!event_table->at)
        return scopes__sort(tuples, series->count);
    series->events.at = at = event_table->at + l->begin_at[number];
    return scopes__sort_numbers(at, series->count, tuples);
}

/* Room for the tuples, and for the numbers of those in disorder if these are in
 * the file. */
static int room_make(loading *l, uint64_t count)
{
    scopes_event_table *event_table = l->event_table;
    uint64_t disorderly = 0;

    event_table->tuples =
        scopes__allocate(count * sizeof(*event_table->tuples));
    if (!event_table->tuples)
        return scopes__no_room("for trace tuples");
    if (!scopes__is_filed(event_table->tuples))
        return 0;
    for (uint32_t i = 0; i < event_table->collectors; i++) {
        l->begin_at[i] = disorderly;
        if (l->shares[i].disorder)
            disorderly += event_table->series[i].count;
    }
    event_table->at = scopes__allocate(disorderly * sizeof(*event_table->at));
    return event_table->at ? 0 : scopes__no_room("for the order of events");
}

/* --- loading --- */

/* Is all that was borrowed as it was? */
static bool are_there(const loading *l)
{
    for (size_t i = 0; i < l->extent_count; i++) {
        const extent *e = &l->extents[i];
        if (!e->is_kept && !eventspace_stream_is_there(&e->stream, e->index))
            return false;
    }
    return true;
}

/* From the list to the series. PASTSET_EAGAIN: somebody has overwritten what
 * was borrowed. */
static int distribute(loading *l)
{
    int err = parts_make(l);

    if (err)
        return err;
    err = scopes__parallel(l->part_count, count_part, l);
    if (err)
        return err;
    err = room_make(l, divide(l));
    if (err)
        return err;
    err = scopes__parallel(l->part_count, put_part, l);
    if (!err && !are_there(l))
        return PASTSET_EAGAIN;
    return err ? err
               : scopes__parallel(l->event_table->collectors, series_finish, l);
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

static int load(scopes_event_table **out, scopes_source *source,
                const scopes_filter *filter, const paths_map *map, bool borrows)
{
    eventspace_run *run = scopes_source_run(source);
    scopes_event_table *event_table;
    loading l = {.source = source, .filter = filter, .borrows = borrows};
    int err;

    err = event_table_create(&event_table, map ? map : eventspace_run_map(run),
                             run);
    if (err)
        return err;
    event_table->all_times = !filter || (!filter->from_ticks &&
                                         !filter->to_ticks && !filter->threads);
    l.event_table = event_table;
    if (filter)
        err = scopes_event_table_set_part(event_table, filter->from_ticks,
                                          filter->to_ticks);
    if (!err)
        err = list(&l);
    if (!err)
        err = series_again(event_table, run, map);
    if (!err)
        err = distribute(&l);
    loading_end(&l);
    return event_table_give(out, event_table, err);
}

int scopes__event_table_load_by(scopes_event_table **out, scopes_source *source,
                                const scopes_filter *filter,
                                const paths_map *map)
{
    int err;

    *out = NULL;
    err = load(out, source, filter, map, true);
    /* So somebody does write: a process of another machine, say. */
    return err == PASTSET_EAGAIN ? load(out, source, filter, map, false) : err;
}

int scopes_event_table_load(scopes_event_table **out, scopes_source *source,
                            const scopes_filter *filter)
{
    return scopes__event_table_load_by(out, source, filter, NULL);
}

int scopes_event_table_create(scopes_event_table **out, const paths_map *map,
                              const eventspace_trace *events, size_t count,
                              const scopes_ledger *ledger)
{
    scopes_event_table *event_table;
    loading l = {0};
    int err;

    *out = NULL;
    err = event_table_create(&event_table, map, NULL);
    if (err)
        return err;
    event_table->ledger =
        ledger ? *ledger : (scopes_ledger){.recorded = count, .read = count};
    l.event_table = event_table;
    err = walks_make(&l, 1);
    if (!err && count > 0)
        err = extent_add(
            l.walks,
            &(extent){.events = events, .count = count, .is_kept = true});
    if (!err)
        err = walks_join(&l);
    if (!err)
        err = distribute(&l);
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
        if (event->collector >= event_table->collectors ||
            event->end >= n->from_ticks[batch->process])
            continue;
        event_table->before[event->collector]++;
        event_table->failed_before[event->collector] |= event->status != 0;
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
    free(event_table->failed_before);
    event_table->failed_before = calloc(event_table->collectors + 1u,
                                        sizeof(*event_table->failed_before));
    if (!event_table->before || !event_table->failed_before)
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

bool scopes_event_table_first_round(uint64_t *out,
                                    const scopes_event_table *event_table,
                                    uint32_t collector)
{
    const scopes_series *series = scopes_event_series(event_table, collector);

    *out = scopes_event_table_first(event_table, collector);
    if (*out == SCOPES_NO_NUMBER ||
        (event_table->failed_before && event_table->failed_before[collector]))
        return false;
    for (size_t i = 0; i < series->count; i++)
        if (scopes_event_at(series->events, i)->status != 0)
            return false;
    return true;
}
