/* store_test.c - series of tuples: their order, their memory, and what is in
 * none of them. */
#include "scopes/store.h"

#include <stdlib.h>

#include "scopes/stack.h"
#include "tests/support/check.h"

static const char map_text[] =
    "digraph sample {\n"
    "  subgraph cluster_h0 {\n"
    "    t0 [kind=thread, number=0];\n"
    "    c0 [kind=collector, id=0, trace=\"trace.t0\"];\n"
    "    p [kind=proxy];\n"
    "  }\n"
    "  subgraph cluster_h1 {\n"
    "    c2 [kind=collector, id=2, trace=\"trace.h1\"];\n"
    "    e [kind=element, type=\"u64\"];\n"
    "  }\n"
    "  t0 -> c0 [as=e, use=write];\n"
    "  c0 -> p;\n  p -> c2;\n  c2 -> e;\n"
    "}\n";

static paths_map *map;

static void map_make(void)
{
    check_status(
        paths_map_parse(&map, map_text, strlen(map_text), "sample.dot"), 0);
}

static void map_free(void)
{
    paths_map_destroy(map);
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
    cr_assert_eq(scopes_store_series(store, 1)->node, PATHS_NONE);
    cr_assert_eq(scopes_store_series(store, UINT32_MAX)->count, 0);
    cr_assert_eq(scopes_store_series(store, UINT32_MAX)->host, PATHS_NONE);
    scopes_store_free(store);
    scopes_store_free(NULL);
}

Test(store, counts_tuples_of_collectors_that_the_map_has_not)
{
    eventspace_trace events[] = {
        {.collector = 1}, {.collector = 2}, {.collector = UINT32_MAX}};
    scopes_ledger ledger = {.made = 10, .seen = 3, .missed = 7};
    scopes_store *store;

    check_status(scopes_store_make(&store, map, events, 3, &ledger), 0);
    cr_assert_eq(store->strange, 2);
    cr_assert_eq(scopes_store_series(store, 2)->count, 1);
    cr_assert_eq(store->ledger.missed, 7);
    scopes_store_free(store);
}
