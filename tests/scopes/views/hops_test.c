/* hops_test.c - how a round's time divides over hops: exactly, on rounds made
 * by hand; and of runs over random trees, where a delay is put on one hop. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/instrument.h"
#include "pastset/request.h"
#include "tests/scopes/told.h"
#include "tests/scopes/views/two_rounds.h"
#include "tests/support/check.h"
#include "tests/support/golden.h"
#include "tests/support/mapping.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"
#include "tests/support/numbers.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define GSUM TEST_BINARY_DIR "/gsum"
#define FIGURE3 TEST_BINARY_DIR "/figure3"
#define FIGURE3_MAP TEST_SOURCE_DIR "/../examples/figure3/figure3.dot"

TestSuite(hops, .init = scratch_make, .fini = scratch_remove, .timeout = 600);

/* --- two rounds made by hand --- */

#define ALL_NS (8000 + 7500 + 3800 + 7000 + 6100 + 2200)

static void check_part(const scopes_table *table, const char *direction,
                       const char *from, const char *to, int64_t part,
                       int64_t count, int64_t total_ns, int64_t kept_ns)
{
    size_t row =
        table_row(table, "direction", direction, "from", from, "to", to, NULL);

    cr_expect_eq(table_integer(table, row, "part"), part, "%s %s: part %ld",
                 direction, from, (long)table_integer(table, row, "part"));
    cr_expect_eq(table_integer(table, row, "count"), count, "%s %s %s: %ld",
                 direction, from, to, (long)table_integer(table, row, "count"));
    cr_expect_eq(table_integer(table, row, "total_ns"), total_ns,
                 "%s %s %s: %ld ns", direction, from, to,
                 (long)table_integer(table, row, "total_ns"));
    cr_expect_float_eq(table_real(table, row, "operations_share"),
                       (double)kept_ns / ALL_NS, 1e-9);
    cr_expect_eq(table_integer(table, row, "certain_ns"), 0);
}

Test(hops, divides_rounds_into_waits_hops_down_element_and_hops_up)
{
    told t;
    scopes_table *table;
    double shares = 0;

    told_made(&t, sum_map, two_rounds, SIZE(two_rounds));
    table = told_view(&t, "hops");
    check_part(table, "wait", "ca", "", 8, 1, 4000, 4000);
    check_part(table, "wait", "cb", "", 8, 2, 7000, 7000);
    check_part(table, "wait", "cc", "", 8, 1, 3000, 3000);
    check_part(table, "down", "ca", "cp", 1, 1, 100, 300);
    check_part(table, "down", "cp", "co", 2, 1, 900, 2700);
    check_part(table, "down", "co", "cx", 3, 1, 100, 300);
    check_part(table, "down", "cc", "cx", 3, 1, 100, 300);
    check_part(table, "element", "cx", "cx", 4, 2, 1800, 5400);
    check_part(table, "up", "cx", "co", 5, 2, 2000, 4000);
    check_part(table, "up", "cx", "cc", 5, 2, 2500 + 1200, 3700);
    check_part(table, "up", "co", "cp", 6, 2, 1000, 2000);
    check_part(table, "up", "cp", "ca", 7, 2, 300 + 500, 800);
    check_part(table, "up", "cp", "cb", 7, 2, 500 + 600, 1100);
    cr_expect_eq(scopes_table_rows(table), 13);
    for (size_t row = 0; row < scopes_table_rows(table); row++) {
        shares += table_real(table, row, "operations_share");
        /* Nobody who waits stands in front of what he waits for. */
        cr_expect_leq(row ? table_integer(table, row - 1, "part") : 1,
                      table_integer(table, row, "part"));
    }
    cr_expect_float_eq(shares, 1, 1e-9);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(hops, says_what_stands_on_a_hop_and_between_which_processes)
{
    told t;
    scopes_table *table;
    size_t row;

    told_made(&t, sum_map, two_rounds, SIZE(two_rounds));
    table = told_view(&t, "hops");
    row = table_row(table, "direction", "down", "what", "over", NULL);
    cr_expect_str_eq(table_text(table, row, "process"), "g");
    cr_expect_str_eq(table_text(table, row, "to_process"), "h");
    row = table_row(table, "direction", "up", "what", "over", NULL);
    cr_expect_str_eq(table_text(table, row, "process"), "h");
    cr_expect_str_eq(table_text(table, row, "to_process"), "g");
    cr_expect_eq(
        table_count(table, "what", "total", "direction", "element", NULL), 1);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(hops, leaves_out_what_cannot_be_told_where_tuples_are_missing)
{
    eventspace_trace events[SIZE(two_rounds)];
    told t;
    scopes_table *table;

    /* Without cp in the first round, the last one's way is not known; without
     * ca in the second, a's own part in it. */
    memcpy(events, two_rounds, sizeof(events));
    events[3] = events[SIZE(events) - 1];
    events[6] = events[SIZE(events) - 2];
    told_made(&t, sum_map, events, SIZE(events) - 2);
    table = told_view(&t, "hops");
    cr_expect_eq(table_count(table, "direction", "down", NULL), 1);
    cr_expect_eq(table_count(table, "from", "ca", NULL), 0);
    cr_expect_eq(table_count(table, "to", "ca", NULL), 0);
    cr_expect_eq(
        table_integer(table, table_row(table, "to", "cb", NULL), "count"), 1);
    cr_expect_eq(table_integer(table,
                               table_row(table, "direction", "wait", NULL),
                               "total_ns"),
                 3000);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(hops, can_be_asked_for_one_thread_or_one_hop)
{
    told t;
    scopes_table *table;

    told_made(&t, sum_map, two_rounds, SIZE(two_rounds));
    t.view_input.threads = numbers("2");
    table = told_view(&t, "hops");
    cr_expect_eq(table_count(table, "direction", "wait", NULL), 1);
    cr_expect_eq(table_count(table, "direction", "up", NULL), 1);
    cr_expect_eq(table_count(table, "direction", "down", NULL), 4);
    scopes_table_destroy(table);
    t.view_input.threads = NULL;
    t.view_input.of = "over";
    table = told_view(&t, "hops");
    cr_expect_eq(scopes_table_rows(table), 2);
    scopes_table_destroy(table);
    told_end(&t);
}

/* The lowest and the highest number of a round that a view tells. */
static void check_rounds(told *t, const char *view, int64_t first, int64_t last)
{
    scopes_table *table = told_view(t, view);
    int64_t low = INT64_MAX, high = -1;

    for (size_t row = 0; row < scopes_table_rows(table); row++) {
        int64_t round = table_integer(table, row, "round");
        low = round < low ? round : low;
        high = round > high ? round : high;
    }
    cr_expect(low == first && high == last, "%s: rounds %ld to %ld", view,
              (long)low, (long)high);
    scopes_table_destroy(table);
}

Test(hops, counts_rounds_from_0_as_the_other_views_do)
{
    static const char *const views[] = {"last-arriver",   "performance",
                                        "signal-arrival", "signal-departure",
                                        "thread-wait",    "hops"};
    told t;

    told_made(&t, sum_map, two_rounds, SIZE(two_rounds));
    t.view_input.each = true;
    for (size_t i = 0; i < SIZE(views); i++)
        check_rounds(&t, views[i], 0, 1);
    told_end(&t);
}

/* --- runs --- */

/* The tuples of a run, at the tops and below the root. */
typedef struct world {
    told t;
    uint32_t bottom; /* the collector above the element */
} world;

static uint32_t id_of(const paths_map *map, uint32_t node)
{
    uint64_t id;

    check_status(
        paths_node_number(map, &map->nodes[node], "id", UINT64_MAX, &id), 0);
    return (uint32_t)id;
}

/* The collector behind the first edge of a thread. */
static uint32_t top_of(const world *w, uint32_t thread)
{
    const paths_map *map = eventspace_run_map(w->t.run);
    uint32_t node = w->t.topology->threads[thread];

    return id_of(map, map->edges[map->nodes[node].out[0]].to);
}

static const eventspace_trace *event_of(const world *w, uint32_t collector,
                                        int64_t round)
{
    const scopes_series *series =
        scopes_event_series(w->t.event_table, collector);

    cr_assert_lt((size_t)round, series->count);
    return scopes_event_at(series->events, round);
}

static int64_t start_of(const world *w, uint32_t collector, int64_t round)
{
    return scopes_clocks_ns(
        w->t.clocks, scopes_event_series(w->t.event_table, collector)->process,
        event_of(w, collector, round)->start);
}

static int64_t end_of(const world *w, uint32_t collector, int64_t round)
{
    return scopes_clocks_ns(
        w->t.clocks, scopes_event_series(w->t.event_table, collector)->process,
        event_of(w, collector, round)->end);
}

/* Who goes on for all may have been stamped just before others of his
 * process. */
static int64_t wait_of(const world *w, uint32_t top, uint32_t last,
                       int64_t round)
{
    const scopes_event_table *event_table = w->t.event_table;
    int64_t ns = start_of(w, last, round) - start_of(w, top, round);
    bool one_clock = scopes_event_series(event_table, top)->process ==
                     scopes_event_series(event_table, last)->process;

    return one_clock && ns < 0 ? 0 : ns;
}

/* The parts of a round and thread, from `row` on; gives the row behind. */
static size_t check_round(const world *w, const scopes_table *table, size_t row)
{
    int64_t round = table_integer(table, row, "round"), parts = 0, wait = 0;
    const char *name = table_text(table, row, "thread");
    int64_t whole = table_integer(table, row, "whole_ns");
    uint32_t thread = PATHS_NONE, last, top;

    while (row < scopes_table_rows(table) &&
           table_integer(table, row, "round") == round &&
           strcmp(table_text(table, row, "thread"), name) == 0) {
        bool waits = strcmp(table_text(table, row, "direction"), "wait") == 0;
        *(waits ? &wait : &parts) += table_integer(table, row, "part_ns");
        row++;
    }
    for (uint32_t i = 0; i < w->t.topology->thread_count; i++) {
        if (strcmp(scopes_topology_thread_name(w->t.topology, i), name) == 0)
            thread = i;
    }
    top = top_of(w, thread);
    last = event_of(w, w->bottom, round)->thread;
    cr_assert_eq(parts, whole, "round %ld of %s: %ld of %ld ns", (long)round,
                 name, (long)parts, (long)whole);
    cr_assert_eq(whole,
                 end_of(w, top, round) - start_of(w, top_of(w, last), round));
    cr_assert_eq(wait, wait_of(w, top, top_of(w, last), round));
    return row;
}

/* For every round and thread the parts sum to the whole. */
static void check_sums(world *w, uint32_t threads, uint32_t rounds)
{
    uint32_t seen = 0;
    scopes_table *table;

    w->t.view_input.each = true;
    table = told_view(&w->t, "hops");
    for (size_t row = 0; row < scopes_table_rows(table); seen++)
        row = check_round(w, table, row);
    cr_assert_eq(seen, threads * rounds, "%u of %u times %u", seen, threads,
                 rounds);
    scopes_table_destroy(table);
    w->t.view_input.each = false;
}

Test(hops, of_figure_3_the_parts_of_every_round_sum_to_the_whole)
{
    world w = {.bottom = 10};

    free(command_run(0, 60, EVENTSPACE, "run", FIGURE3_MAP, "--output",
                     scratch_file("run"), "--", FIGURE3, "300", NULL));
    told_run(&w.t, scratch_file("run"));
    check_sums(&w, 4, 300);
    told_end(&w.t);
}

/* The rows of one round and thread: are all of its parts there? */
static size_t check_chain(const scopes_table *table, size_t row)
{
    int64_t round = table_integer(table, row, "round"), parts = 0;
    const char *name = table_text(table, row, "thread");
    int64_t whole = table_integer(table, row, "whole_ns");

    for (; row < scopes_table_rows(table) &&
           table_integer(table, row, "round") == round &&
           strcmp(table_text(table, row, "thread"), name) == 0;
         row++) {
        if (strcmp(table_text(table, row, "direction"), "wait") != 0)
            parts += table_integer(table, row, "part_ns");
    }
    cr_assert_eq(parts, whole, "round %ld of %s", (long)round, name);
    return row;
}

Test(hops, parts_sum_to_the_whole_also_where_tuples_are_missing)
{
    size_t seen = 0;

    free(command_run(0, 60, EVENTSPACE, "run", FIGURE3_MAP, "--output",
                     scratch_file("run"), "--", FIGURE3, "200", NULL));
    for (unsigned seed = 0; seed < 20; seed++) {
        told t;
        scopes_table *table;
        double shares = 0;
        told_run(&t, scratch_file("run"));
        told_lose(&t, 1 + 4 * seed, seed);
        table = told_view(&t, "hops");
        for (size_t row = 0; row < scopes_table_rows(table); row++)
            shares += table_real(table, row, "operations_share");
        cr_expect(scopes_table_rows(table) == 0 || fabs(shares - 1) < 1e-9,
                  "seed %u: %g", seed, shares);
        scopes_table_destroy(table);
        t.view_input.each = true;
        table = told_view(&t, "hops");
        for (size_t row = 0; row < scopes_table_rows(table); seen++)
            row = check_chain(table, row);
        scopes_table_destroy(table);
        told_end(&t);
    }
    cr_expect_gt(seen, 200);
}

/* --- a delay on one hop of a random tree --- */

#define ROUNDS 6
#define LATENCY "60ms"

static unsigned long random_state;

static unsigned draw(unsigned below)
{
    random_state = random_state * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)((random_state >> 33) % below);
}

/* What gsum needs, on a tree of some shape. */
static paths_map *random_tree(unsigned threads, unsigned count)
{
    static const char *const shapes[] = {"flat", "hierarchical", "binomial"};
    const char *shape = shapes[draw(3)];
    unsigned fanout = strcmp(shape, "binomial") == 0 ? 0 : draw(3);
    char number[16], rounds[16];
    char *application, *text;
    paths_map *map;

    snprintf(number, sizeof(number), "%u", threads);
    snprintf(rounds, sizeof(rounds), "%u", count);
    application = command_run(0, 60, GSUM, "mapping", "--threads", number,
                              "--rounds", rounds, NULL);
    text =
        mapping_map(application, 1 + draw(4), shape, fanout ? 1 + fanout : 0);
    map = map_parse(text);
    free(application);
    free(text);
    return map;
}

static uint32_t other_node(paths_map *map, const paths_map_node *node)
{
    uint32_t added =
        paths_map_add_node(map, node->process, node->type, node->name);

    cr_assert_neq(added, PATHS_NONE);
    check_status(
        paths_attributes_copy(&map->nodes[added].attributes, &node->attributes),
        0);
    return added;
}

static void add_edge(paths_map *map, uint32_t from, uint32_t to,
                     const paths_attributes *attributes)
{
    uint32_t added = paths_map_add_edge(map, from, to);

    cr_assert_neq(added, PATHS_NONE);
    if (attributes)
        check_status(
            paths_attributes_copy(&map->edges[added].attributes, attributes),
            0);
}

/* The same map, with a delay called "slow" on one edge. */
static paths_map *delayed(const paths_map *map, uint32_t slow)
{
    paths_map *out;

    check_status(paths_map_copy_processes(&out, map), 0);
    for (uint32_t i = 0; i < map->node_count; i++)
        other_node(out, &map->nodes[i]);
    for (uint32_t i = 0; i < map->edge_count; i++) {
        const paths_map_edge *edge = &map->edges[i];
        const paths_map_node *from = &map->nodes[edge->from];
        uint32_t process = strcmp(from->type, "proxy") == 0
                               ? map->nodes[edge->to].process
                               : from->process;
        uint32_t delay = edge->from;
        if (i == slow) {
            delay = paths_map_add_node(out, process, "delay", "slow");
            check_status(paths_attributes_set(&out->nodes[delay].attributes,
                                              "latency", LATENCY),
                         0);
            add_edge(out, edge->from, delay, &edge->attributes);
        }
        add_edge(out, delay, edge->to, i == slow ? NULL : &edge->attributes);
    }
    return out;
}

static uint32_t element_collector(const paths_map *map)
{
    const paths_map_node *element =
        &map->nodes[paths_map_find_node(map, "total")];

    return id_of(map, map->edges[element->in[0]].from);
}

/* Of all hops, not the waits, the one that took longest at its best: a delay
 * takes its time in each round, a processor that is busy does not. */
static size_t slowest(const scopes_table *table)
{
    size_t found = 0;
    int64_t max = -1;

    for (size_t row = 0; row < scopes_table_rows(table); row++) {
        int64_t least = table_integer(table, row, "min_ns");
        if (strcmp(table_text(table, row, "direction"), "wait") != 0 &&
            least > max) {
            max = least;
            found = row;
        }
    }
    return found;
}

/* Runs gsum on a map, of which the instrumented one is given. */
static paths_map *run_gsum(const paths_map *map, const char *name, world *w)
{
    eventspace_instrument_options all = {.collectors =
                                             EVENTSPACE_ALL_COLLECTORS};
    const char *file = scratch_file("map.%s.dot", name);
    const char *directory = scratch_file("run.%s", name);
    paths_map *instrumented;

    check_status(eventspace_instrument(&instrumented, map, &all), 0);
    check_status(paths_map_save(instrumented, file), 0);
    free(command_run(0, 120, EVENTSPACE, "run", file, "--output", directory,
                     "--", GSUM, "run", NULL));
    told_run(&w->t, directory);
    w->bottom = element_collector(instrumented);
    return instrumented;
}

static void run_delayed(unsigned tree)
{
    unsigned threads = 2 + draw(7);
    paths_map *map = random_tree(threads, ROUNDS), *with_delay, *instrumented;
    char name[16], *dump;
    world w;
    scopes_table *table;

    with_delay = delayed(map, draw(map->edge_count));
    snprintf(name, sizeof(name), "%u", tree);
    instrumented = run_gsum(with_delay, name, &w);
    check_sums(&w, threads, ROUNDS);
    table = told_view(&w.t, "hops");
    dump = table_dump(table);
    cr_expect_str_eq(table_text(table, slowest(table), "what"), "slow",
                     "tree %u:\n%s", tree, dump);
    free(dump);
    scopes_table_destroy(table);
    told_end(&w.t);
    paths_map_destroy(instrumented);
    paths_map_destroy(with_delay);
    paths_map_destroy(map);
}

Test(hops, finds_the_delay_that_the_map_puts_on_one_hop_of_a_random_tree)
{
    random_state = 4;
    for (unsigned tree = 0; tree < 10; tree++)
        run_delayed(tree);
}

/* --- processes whose counters differ, by as much as the map says --- */

#define CERTAIN_ROUNDS 200

typedef struct counter {
    double offset_s, ppm;
} counter;

/* When a process stamped so, by the clock of the reference process: all
 * counters are made from one. Only differences mean anything. */
static long double true_ns(const world *w, const counter *counters,
                           uint32_t process, uint64_t ticks)
{
    uint32_t reference = scopes_clocks_reference(w->t.clocks);
    long double hz = eventspace_run_process_at(w->t.run, process)->meta.tick_hz;
    long double raw = ((long double)ticks - counters[process].offset_s * hz) /
                      (1 + counters[process].ppm * 1e-6L);

    return raw * (1 + counters[reference].ppm * 1e-6L) *
           scopes_clocks_process(w->t.clocks, reference)->ns_per_tick;
}

static uint32_t id_called(const world *w, const char *name)
{
    const paths_map *map = eventspace_run_map(w->t.run);

    return id_of(map, paths_map_find_node(map, name));
}

/* A part between processes: true when it was one. */
static bool check_certain(const world *w, const counter *counters,
                          const scopes_table *table, size_t row)
{
    bool up = strcmp(table_text(table, row, "direction"), "up") == 0;
    int64_t round = table_integer(table, row, "round");
    int64_t certain_ns = table_integer(table, row, "certain_ns");
    uint32_t from, to, from_process, to_process;
    const eventspace_trace *one, *other;
    long double truth;

    if (strcmp(table_text(table, row, "direction"), "wait") == 0)
        return false;
    from = id_called(w, table_text(table, row, "from"));
    to = id_called(w, table_text(table, row, "to"));
    from_process = scopes_event_series(w->t.event_table, from)->process;
    to_process = scopes_event_series(w->t.event_table, to)->process;
    if (from_process == to_process) {
        cr_assert_eq(certain_ns, 0);
        return false;
    }
    one = event_of(w, from, round);
    other = event_of(w, to, round);
    truth = true_ns(w, counters, to_process, up ? other->end : other->start) -
            true_ns(w, counters, from_process, up ? one->end : one->start);
    cr_assert(certain_ns != SCOPES_BLANK && certain_ns > 0);
    cr_assert_leq(fabsl(truth - table_integer(table, row, "part_ns")),
                  certain_ns + 3.0L, "%s %s: %.0Lf ns, not %ld +- %ld",
                  up ? "up to" : "down from", table_text(table, row, "from"),
                  truth, (long)table_integer(table, row, "part_ns"),
                  (long)certain_ns);
    return true;
}

static void set_counters(paths_map *map, const counter *counters)
{
    for (uint32_t i = 0; i < map->process_count; i++) {
        char text[32];
        snprintf(text, sizeof(text), "%.1fs", counters[i].offset_s);
        check_status(paths_attributes_set(&map->processes[i].attributes,
                                          "counter_offset", text),
                     0);
        snprintf(text, sizeof(text), "%+.0fppm", counters[i].ppm);
        check_status(paths_attributes_set(&map->processes[i].attributes,
                                          "counter_rate", text),
                     0);
    }
}

Test(hops, a_part_between_processes_is_as_certain_as_it_says)
{
    static const counter counters[] = {
        {7.5, 150}, {0, 0}, {-4.2, -190}, {3.1, 55}};
    char *application = command_run(0, 60, GSUM, "mapping", "--threads", "4",
                                    "--rounds", "200", NULL);
    char *text = mapping_map(application, 4, "binomial", 0);
    paths_map *map = map_parse(text), *instrumented;
    size_t crossings = 0;
    scopes_table *table;
    world w;

    free(application);
    free(text);
    set_counters(map, counters);
    instrumented = run_gsum(map, "counters", &w);
    check_sums(&w, 4, CERTAIN_ROUNDS);
    w.t.view_input.each = true;
    table = told_view(&w.t, "hops");
    for (size_t row = 0; row < scopes_table_rows(table); row++)
        crossings += check_certain(&w, counters, table, row);
    cr_expect_geq(crossings, 4 * CERTAIN_ROUNDS);
    scopes_table_destroy(table);
    told_end(&w.t);
    paths_map_destroy(instrumented);
    paths_map_destroy(map);
}
