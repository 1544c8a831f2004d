/* event_table_test.c - series of tuples: their order, their memory, and what is
 * in none of them. */
#include "scopes/reading/event_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "scopes/memory/memory_internal.h"
#include "scopes/reading/sort_internal.h"
#include "tests/scopes/reading/stream_files.h"
#include "scopes/reading/reading_internal.h"

static paths_map *map;

static void map_make(void)
{
    check_status(
        paths_map_parse(&map, stream_map, strlen(stream_map), "sample.dot"), 0);
    streams_begin();
}

static void map_free(void)
{
    paths_map_destroy(map);
    scratch_remove();
}

TestSuite(event_table, .timeout = 120, .init = map_make, .fini = map_free);

/* --- sorting, against the plainest way there is --- */

static int by_order(const void *left, const void *right)
{
    const eventspace_trace *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->sequence != b->sequence)
        return a->sequence < b->sequence ? -1 : 1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

/* A number from `seed` that looks random, below `below`. */
static uint32_t random_below(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

/* `streams` sequences behind each other, each in order but for tuples that are
 * up to `late` places too late. */
static void check_sorts(size_t count, size_t streams, uint32_t late)
{
    eventspace_trace *events = malloc((count + 1) * sizeof(*events));
    eventspace_trace *want = malloc((count + 1) * sizeof(*want));
    uint32_t *places = malloc((count + 1) * sizeof(*places));
    uint64_t seed = count + streams * 7 + late;
    scopes_events seen = {events, places};

    for (size_t i = 0; i < count; i++) {
        size_t place = i % (count / streams + 1);
        events[i] = (eventspace_trace){
            .start = 1000 + 3 * (place - random_below(&seed, late + 1)),
            .end = i,
            .sequence = random_below(&seed, 4),
            .thread = (uint32_t)i};
        want[i] = events[i];
    }
    qsort(want, count, sizeof(*want), by_order);
    check_status(scopes__sort_numbers(places, count, events), 0);
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(memcmp(scopes_event_at(seen, i), &want[i], sizeof(*want)),
                     0, "place %zu of %zu is another one", i, count);
    check_status(scopes__sort(events, count), 0);
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(memcmp(&events[i], &want[i], sizeof(*want)), 0,
                     "%zu of %zu (%zu streams, up to %u late) is another one",
                     i, count, streams, late);
    free(events);
    free(places);
    free(want);
}

Test(event_table, sorts_series_of_every_length)
{
    for (size_t count = 1; count < 200; count++) {
        check_sorts(count, 1, 0);
        check_sorts(count, 3, 5);
        check_sorts(count, 1, 300);
    }
}

Test(event_table, sorts_lanes_that_lie_behind_each_other)
{
    check_sorts(100000, 1, 8);
    check_sorts(100000, 7, 0);
    check_sorts(100000, 8, 40);
    check_sorts(100000, 1, 100000);
    check_sorts(300000, 100000, 0); /* backwards, nearly */
}

/* --- event tables --- */

Test(event_table, puts_tuples_into_the_series_of_their_collectors)
{
    eventspace_trace events[] = {
        {.collector = 2, .start = 30, .end = 31, .sequence = 1},
        {.collector = 0, .start = 20, .end = 40, .sequence = 2},
        {.collector = 0, .start = 10, .end = 50, .sequence = 1},
        {.collector = 2, .start = 30, .end = 32, .sequence = 0},
    };
    scopes_event_table *event_table;

    check_status(scopes_event_table_create(&event_table, map, events, 4, NULL),
                 0);
    cr_assert_eq(event_table->collectors, 3);
    cr_assert_eq(scopes_event_series(event_table, 0)->count, 2);
    cr_assert_eq(
        scopes_event_at(scopes_event_series(event_table, 0)->events, 0)->start,
        10);
    cr_assert_eq(
        scopes_event_at(scopes_event_series(event_table, 0)->events, 1)->start,
        20);
    cr_assert_eq(scopes_event_series(event_table, 2)->count, 2);
    cr_assert_eq(scopes_event_at(scopes_event_series(event_table, 2)->events, 0)
                     ->sequence,
                 0);
    cr_assert_eq(event_table->ledger.recorded, 4);
    cr_assert_eq(event_table->ledger.read, 4);
    cr_assert_eq(event_table->ledger.lost, 0);
    cr_assert_eq(event_table->strange, 0);
    scopes_event_table_destroy(event_table);
}

Test(event_table, knows_where_collectors_stand)
{
    scopes_event_table *event_table;

    check_status(scopes_event_table_create(&event_table, map, NULL, 0, NULL),
                 0);
    cr_assert_str_eq(map->nodes[scopes_event_series(event_table, 2)->node].name,
                     "c2");
    cr_assert_str_eq(
        map->processes[scopes_event_series(event_table, 2)->process].name,
        "h1");
    cr_assert_str_eq(
        map->processes[scopes_event_series(event_table, 0)->process].name,
        "h0");
    cr_assert_eq(scopes_event_series(event_table, 0)->count, 0);
    cr_assert_eq(scopes_event_series(event_table, 3)->node, PATHS_NONE);
    cr_assert_eq(scopes_event_series(event_table, UINT32_MAX)->count, 0);
    cr_assert_eq(scopes_event_series(event_table, UINT32_MAX)->process,
                 PATHS_NONE);
    scopes_event_table_destroy(event_table);
    scopes_event_table_destroy(NULL);
}

Test(event_table, counts_tuples_of_collectors_that_the_map_has_not)
{
    eventspace_trace events[] = {
        {.collector = 3}, {.collector = 2}, {.collector = UINT32_MAX}};
    scopes_ledger ledger = {.recorded = 10, .read = 3, .lost = 7};
    scopes_event_table *event_table;

    check_status(
        scopes_event_table_create(&event_table, map, events, 3, &ledger), 0);
    cr_assert_eq(event_table->strange, 2);
    cr_assert_eq(scopes_event_series(event_table, 2)->count, 1);
    cr_assert_eq(event_table->ledger.lost, 7);
    scopes_event_table_destroy(event_table);
}

/* --- loading --- */

static void meta_write(eventspace_state state)
{
    eventspace_meta meta = {.eventspace = "0.1.0",
                            .process = "h0",
                            .pid = (uint32_t)getpid(),
                            .tick_source = "tsc",
                            .tick_hz = 1e9,
                            .state = state};
    meta.start_wall_ns = UINT64_C(4000000000000000000); /* not a later one */
    check_status(eventspace_meta_save(&meta, scratch_file("h0.meta")), 0);
}

static scopes_event_table *event_table_load(const scopes_filter *wanted)
{
    eventspace_run *run = stream_run();
    scopes_source *source;
    scopes_event_table *event_table;

    check_status(scopes_source_open(&source, run), 0);
    check_status(scopes_event_table_load(&event_table, source, wanted), 0);
    scopes_source_close(source);
    eventspace_run_close(run);
    return event_table;
}

/* Each series is in order, and all that was seen is in one. */
static uint64_t check_event_table(const scopes_event_table *event_table)
{
    uint64_t count = event_table->strange;

    for (uint32_t i = 0; i < event_table->collectors; i++) {
        const scopes_series *series = scopes_event_series(event_table, i);
        for (size_t k = 0; k < series->count; k++) {
            const eventspace_trace *event = scopes_event_at(series->events, k);
            eventspace_trace want = stream_tuple(event->sequence);
            cr_assert_eq(memcmp(event, &want, sizeof(want)), 0);
            cr_assert_eq(event->collector, i);
            cr_assert(k == 0 || scopes_event_at(series->events, k - 1)->start <=
                                    event->start);
        }
        count += series->count;
    }
    cr_assert_eq(count, event_table->ledger.read);
    return count;
}

static void check_loads(void)
{
    static const bool mask[] = {false, true, false};
    uint64_t from[] = {300000, 0};
    bool *first;
    scopes_filter wanted = {.collectors = mask, .collector_count = 3};
    scopes_event_table *event_table = event_table_load(NULL);
    size_t ones = scopes_event_series(event_table, 1)->count;

    cr_assert_eq(check_event_table(event_table), 65000);
    cr_assert_eq(event_table->ledgers[0].read, 65000);
    cr_assert_eq(event_table->ledger.lost, 20000);
    cr_assert_eq(event_table->ledger.recorded, 85000);
    scopes_event_table_destroy(event_table);
    event_table = event_table_load(&wanted);
    cr_assert_eq(check_event_table(event_table), ones);
    cr_assert_eq(scopes_event_series(event_table, 0)->count, 0);
    cr_assert_eq(event_table->ledger.filtered, 65000 - ones);
    scopes_event_table_destroy(event_table);
    /* Those that the list does not reach are not wanted. */
    first = calloc(1, sizeof(*first));
    *first = true;
    wanted = (scopes_filter){.collectors = first, .collector_count = 1};
    event_table = event_table_load(&wanted);
    cr_assert_eq(scopes_event_series(event_table, 1)->count, 0);
    cr_assert_gt(scopes_event_series(event_table, 0)->count, 0);
    scopes_event_table_destroy(event_table);
    free(first);
    wanted = (scopes_filter){.from_ticks = from};
    event_table = event_table_load(&wanted);
    /* All that end at 300000 or later; see stream_tuple. */
    cr_assert_eq(check_event_table(event_table), 60000 - 29000);
    scopes_event_table_destroy(event_table);
}

static void streams_fill(void)
{
    pastset_space *space = stream_space("h0.space");

    check_status(
        stream_write(stream_make(space, "trace.t0", PASTSET_GROW, 60000), 0,
                     60000),
        0);
    check_status(
        stream_write(stream_make(space, "trace.t1", PASTSET_DISCARD, 5000), 0,
                     25000),
        0);
    pastset_space_close(space);
}

Test(event_table, loads_a_run_that_is_over)
{
    streams_fill();
    meta_write(EVENTSPACE_FINISHED);
    check_loads();
}

Test(event_table, loads_a_run_that_goes_on)
{
    streams_fill();
    meta_write(EVENTSPACE_RUNNING);
    check_loads();
}

/* Also those in disorder, which are not moved there: each collector has tuples
 * of both streams. */
Test(event_table, loads_into_a_file_what_may_not_be_in_memory)
{
    scopes_event_table *event_table;

    streams_fill();
    for (int state = EVENTSPACE_RUNNING; state <= EVENTSPACE_FINISHED;
         state += EVENTSPACE_FINISHED - EVENTSPACE_RUNNING) {
        meta_write((eventspace_state)state);
        check_status(scopes__memory_limit(1, 4096), 0);
        event_table = event_table_load(NULL);
        cr_assert(scopes__is_filed(event_table->tuples));
        cr_assert(scopes_event_series(event_table, 1)->events.at);
        scopes_event_table_destroy(event_table);
        check_loads();
        check_status(scopes__memory_limit(0, 0), 0);
    }
}

typedef struct writer {
    pastset_element *streams[2];
    _Atomic bool stop;
} writer;

static void *write_on(void *argument)
{
    writer *w = argument;
    for (uint64_t i = 0; !w->stop && i < 3000000; i++) {
        check_status(stream_write(w->streams[i % 2], i / 2, i / 2 + 1), 0);
    }
    return NULL;
}

/* What the meta file says need not be so: it may be a process of another
 * machine that nobody here sees. */
Test(event_table, is_exact_when_somebody_writes_to_a_run_that_seems_to_be_over)
{
    pastset_space *space = stream_space("h0.space");
    writer w = {
        .streams = {stream_make(space, "trace.t0", PASTSET_GROW, 2000000),
                    stream_make(space, "trace.t1", PASTSET_DISCARD, 10000)}};
    pthread_t thread;

    meta_write(EVENTSPACE_FINISHED);
    cr_assert_eq(pthread_create(&thread, NULL, write_on, &w), 0);
    for (int i = 0; i < 20; i++) {
        scopes_event_table *event_table = event_table_load(NULL);
        check_event_table(event_table);
        cr_assert_eq(event_table->ledger.recorded,
                     event_table->ledger.read + event_table->ledger.lost);
        scopes_event_table_destroy(event_table);
    }
    w.stop = true;
    pthread_join(thread, NULL);
    pastset_space_close(space);
}
