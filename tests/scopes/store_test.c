/* store_test.c - series of tuples: their order, their memory, and what is in
 * none of them. */
#include "scopes/reading/event_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "scopes/reading/stack.h"
#include "tests/scopes/lane_files.h"

static paths_map *map;

static void map_make(void)
{
    check_status(
        paths_map_parse(&map, lane_map, strlen(lane_map), "sample.dot"), 0);
    lanes_begin();
}

static void map_free(void)
{
    paths_map_destroy(map);
    scratch_remove();
}

TestSuite(store, .timeout = 120, .init = map_make, .fini = map_free);

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

/* `lanes` sequences behind each other, each in order but for tuples that are
 * up to `late` places too late. */
static void check_sorts(size_t count, size_t lanes, uint32_t late)
{
    scopes_stack stack = {0}, spare = {0};
    eventspace_trace *want = malloc((count + 1) * sizeof(*want));
    uint64_t seed = count + lanes * 7 + late;

    check_status(scopes__stack_reserve(&stack, count), 0);
    for (size_t i = 0; i < count; i++) {
        size_t place = i % (count / lanes + 1);
        eventspace_trace event = {
            .start = 1000 + 3 * (place - random_below(&seed, late + 1)),
            .end = i,
            .sequence = random_below(&seed, 4),
            .thread = (uint32_t)i};
        stack.events[stack.count++] = want[i] = event;
    }
    qsort(want, count, sizeof(*want), by_order);
    check_status(scopes__sort(stack.events, count, &spare), 0);
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(memcmp(&stack.events[i], &want[i], sizeof(*want)), 0,
                     "%zu of %zu (%zu lanes, up to %u late) is another one", i,
                     count, lanes, late);
    scopes__stack_fini(&stack);
    scopes__stack_fini(&spare);
    free(want);
}

Test(store, sorts_series_of_every_length)
{
    for (size_t count = 1; count < 200; count++) {
        check_sorts(count, 1, 0);
        check_sorts(count, 3, 5);
        check_sorts(count, 1, 300);
    }
}

Test(store, sorts_lanes_that_lie_behind_each_other)
{
    check_sorts(100000, 1, 8);
    check_sorts(100000, 7, 0);
    check_sorts(100000, 8, 40);
    check_sorts(100000, 1, 100000);
    check_sorts(300000, 100000, 0); /* backwards, nearly */
}

Test(store, keeps_what_is_in_a_stack_that_grows)
{
    scopes_stack stack = {0};

    for (uint32_t i = 0; i < 700000; i++) { /* 25 MB, from the heap on */
        check_status(scopes__stack_reserve(&stack, i + 1), 0);
        stack.events[stack.count++] = (eventspace_trace){.sequence = i};
    }
    for (uint32_t i = 0; i < 700000; i++)
        cr_assert_eq(stack.events[i].sequence, i);
    cr_assert_gt(stack.mapped_bytes, 0);
    scopes__stack_fini(&stack);
    check_status(scopes__stack_reserve(&stack, SIZE_MAX / 8), PASTSET_ENOMEM);
    scopes__stack_fini(&stack);
}

/* --- stores --- */

Test(store, puts_tuples_into_the_series_of_their_collectors)
{
    eventspace_trace events[] = {
        {.collector = 2, .start = 30, .end = 31, .sequence = 1},
        {.collector = 0, .start = 20, .end = 40, .sequence = 2},
        {.collector = 0, .start = 10, .end = 50, .sequence = 1},
        {.collector = 2, .start = 30, .end = 32, .sequence = 0},
    };
    scopes_store *store;

    check_status(scopes_store_make(&store, map, events, 4, NULL), 0);
    cr_assert_eq(store->collectors, 3);
    cr_assert_eq(scopes_store_series(store, 0)->count, 2);
    cr_assert_eq(scopes_store_series(store, 0)->events[0].start, 10);
    cr_assert_eq(scopes_store_series(store, 0)->events[1].start, 20);
    cr_assert_eq(scopes_store_series(store, 2)->count, 2);
    cr_assert_eq(scopes_store_series(store, 2)->events[0].sequence, 0);
    cr_assert_eq(store->ledger.made, 4);
    cr_assert_eq(store->ledger.seen, 4);
    cr_assert_eq(store->ledger.missed, 0);
    cr_assert_eq(store->strange, 0);
    scopes_store_free(store);
}

Test(store, knows_where_collectors_stand)
{
    scopes_store *store;

    check_status(scopes_store_make(&store, map, NULL, 0, NULL), 0);
    cr_assert_str_eq(map->nodes[scopes_store_series(store, 2)->node].name,
                     "c2");
    cr_assert_str_eq(map->hosts[scopes_store_series(store, 2)->host].name,
                     "h1");
    cr_assert_str_eq(map->hosts[scopes_store_series(store, 0)->host].name,
                     "h0");
    cr_assert_eq(scopes_store_series(store, 0)->count, 0);
    cr_assert_eq(scopes_store_series(store, 3)->node, PATHS_NONE);
    cr_assert_eq(scopes_store_series(store, UINT32_MAX)->count, 0);
    cr_assert_eq(scopes_store_series(store, UINT32_MAX)->host, PATHS_NONE);
    scopes_store_free(store);
    scopes_store_free(NULL);
}

Test(store, counts_tuples_of_collectors_that_the_map_has_not)
{
    eventspace_trace events[] = {
        {.collector = 3}, {.collector = 2}, {.collector = UINT32_MAX}};
    scopes_ledger ledger = {.made = 10, .seen = 3, .missed = 7};
    scopes_store *store;

    check_status(scopes_store_make(&store, map, events, 3, &ledger), 0);
    cr_assert_eq(store->strange, 2);
    cr_assert_eq(scopes_store_series(store, 2)->count, 1);
    cr_assert_eq(store->ledger.missed, 7);
    scopes_store_free(store);
}

/* --- loading --- */

static void meta_write(eventspace_state state)
{
    eventspace_meta meta = {.eventspace = "0.1.0",
                            .host = "h0",
                            .pid = (uint32_t)getpid(),
                            .tick_source = "tsc",
                            .tick_hz = 1e9,
                            .state = state};
    meta.start_wall_ns = UINT64_C(4000000000000000000); /* not a later one */
    check_status(eventspace_meta_save(&meta, scratch_file("h0.meta")), 0);
}

static scopes_store *store_load(const scopes_wanted *wanted, bool at_rest)
{
    eventspace_run *run = lane_run();
    scopes_source *source;
    scopes_store *store;

    check_status(scopes_source_open(&source, run), 0);
    cr_assert_eq(scopes_source_at_rest(source), at_rest);
    check_status(scopes_store_load(&store, source, wanted), 0);
    /* The map is the run's. */
    store->map = map;
    scopes_source_close(source);
    eventspace_run_close(run);
    return store;
}

/* Each series is in order, and all that was seen is in one. */
static uint64_t check_store(const scopes_store *store)
{
    uint64_t count = store->strange;

    for (uint32_t i = 0; i < store->collectors; i++) {
        const scopes_series *series = scopes_store_series(store, i);
        for (size_t k = 0; k < series->count; k++) {
            const eventspace_trace *event = &series->events[k];
            eventspace_trace want = lane_tuple(event->sequence);
            cr_assert_eq(memcmp(event, &want, sizeof(want)), 0);
            cr_assert_eq(event->collector, i);
            cr_assert(k == 0 || event[-1].start <= event->start);
        }
        count += series->count;
    }
    cr_assert_eq(count, store->ledger.seen);
    return count;
}

static void check_loads(bool at_rest)
{
    static const bool mask[] = {false, true, false};
    uint64_t from[] = {300000, 0};
    scopes_wanted wanted = {.collectors = mask};
    scopes_store *store = store_load(NULL, at_rest);
    size_t ones = scopes_store_series(store, 1)->count;

    cr_assert_eq(check_store(store), 65000);
    cr_assert_eq(store->ledgers[0].seen, 65000);
    cr_assert_eq(store->ledger.missed, 20000);
    cr_assert_eq(store->ledger.made, 85000);
    scopes_store_free(store);
    store = store_load(&wanted, at_rest);
    cr_assert_eq(check_store(store), ones);
    cr_assert_eq(scopes_store_series(store, 0)->count, 0);
    cr_assert_eq(store->ledger.beside, 65000 - ones);
    scopes_store_free(store);
    wanted = (scopes_wanted){.from_ticks = from};
    store = store_load(&wanted, at_rest);
    /* All that end at 300000 or later; see lane_tuple. */
    cr_assert_eq(check_store(store), 60000 - 29000);
    scopes_store_free(store);
}

static void lanes_fill(void)
{
    pastset_space *space = lane_space("h0.space");

    check_status(
        lane_write(lane_make(space, "trace.t0", PASTSET_GROW, 60000), 0, 60000),
        0);
    check_status(lane_write(lane_make(space, "trace.t1", PASTSET_DISCARD, 5000),
                            0, 25000),
                 0);
    pastset_space_close(space);
}

Test(store, loads_a_run_that_is_over)
{
    lanes_fill();
    meta_write(EVENTSPACE_FINISHED);
    check_loads(true);
}

Test(store, loads_a_run_that_goes_on)
{
    lanes_fill();
    meta_write(EVENTSPACE_RUNNING);
    check_loads(false);
}

typedef struct writer {
    pastset_element *lanes[2];
    _Atomic bool stop;
} writer;

static void *write_on(void *argument)
{
    writer *w = argument;
    for (uint64_t i = 0; !w->stop && i < 3000000; i++) {
        check_status(lane_write(w->lanes[i % 2], i / 2, i / 2 + 1), 0);
    }
    return NULL;
}

/* What the meta file says need not be so: it may be a process of another
 * machine that nobody here sees. */
Test(store, is_exact_when_somebody_writes_to_a_run_that_seems_to_be_over)
{
    pastset_space *space = lane_space("h0.space");
    writer w = {
        .lanes = {lane_make(space, "trace.t0", PASTSET_GROW, 2000000),
                  lane_make(space, "trace.t1", PASTSET_DISCARD, 10000)}};
    pthread_t thread;

    meta_write(EVENTSPACE_FINISHED);
    cr_assert_eq(pthread_create(&thread, NULL, write_on, &w), 0);
    for (int i = 0; i < 20; i++) {
        scopes_store *store = store_load(NULL, true);
        check_store(store);
        cr_assert_eq(store->ledger.made,
                     store->ledger.seen + store->ledger.missed);
        scopes_store_free(store);
    }
    w.stop = true;
    pthread_join(thread, NULL);
    pastset_space_close(space);
}
