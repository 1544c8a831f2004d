/* collective_views_test.c - the views of collectives for a run of figure 3,
 * each compared with what the paper says that it is, computed here from the raw
 * tuples: of the whole run, and of one of which some tuples are lost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "eventspace/instrument.h"
#include "scopes/reading/source.h"
#include "scopes/views/view.h"
#include "tests/support/check.h"
#include "tests/support/memory.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"
#include "tests/support/numbers.h"
#include "scopes/reading/reading_internal.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define PROGRAM TEST_BINARY_DIR "/figure3"
#define MAP TEST_SOURCE_DIR "/../examples/figure3/figure3.dot"

#define ROUNDS 400
#define COLLECTORS 10
#define BLANK SCOPES_BLANK

/* ec[1] to ec[10]: the events, in the order of the rounds; without status 0
 * they are lost. */
static eventspace_trace ec[COLLECTORS + 1][ROUNDS];
static uint32_t counts[COLLECTORS + 1];
static eventspace_run *run;
static const paths_map *map;
static scopes_topology *topology;
static scopes_event_table *event_table;
static scopes_clocks *clocks;
static scopes_table *table;

/* --- the run --- */

static int take(const eventspace_trace *event, void *context)
{
    uint32_t id = event->collector;

    (void)context;
    cr_assert(id >= 1 && id <= COLLECTORS && counts[id] < ROUNDS);
    ec[id][counts[id]++] = *event;
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const eventspace_trace *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static void event_table_load(void)
{
    scopes_filter all = {0};
    scopes_source *source;

    check_status(scopes_source_open(&source, run), 0);
    check_status(scopes_event_table_load(&event_table, source, &all), 0);
    scopes_source_close(source);
}

static void run_make(void)
{
    scratch_make();
    free(command_run(0, 60, EVENTSPACE, "run", MAP, "--output",
                     scratch_file("run"), "--", PROGRAM, "400", NULL));
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    map = eventspace_run_map(run);
    for (size_t i = 0; i < eventspace_run_process_count(run); i++)
        check_status(eventspace_run_each(run, i, take, NULL), 0);
    for (uint32_t id = 1; id <= COLLECTORS; id++) {
        cr_assert_eq(counts[id], ROUNDS);
        qsort(ec[id], ROUNDS, sizeof(ec[id][0]), by_start);
    }
    check_status(scopes_topology_create(&topology, map), 0);
    event_table_load();
    check_status(scopes_clocks_create(&clocks, run, event_table, topology,
                                      SCOPES_CLOCK_HULL, PATHS_NONE),
                 0);
}

static void run_remove(void)
{
    scopes_table_destroy(table);
    scopes_clocks_destroy(clocks);
    scopes_event_table_destroy(event_table);
    scopes_topology_destroy(topology);
    eventspace_run_close(run);
    scratch_remove();
}

TestSuite(collective_views, .timeout = 600, .init = run_make,
          .fini = run_remove);

static bool has(uint32_t id, uint32_t round)
{
    return ec[id][round].collector != 0;
}

/* Loses every `each`-th event of a collector, from `first`. */
static void lose(uint32_t id, uint32_t first, uint32_t each)
{
    for (uint32_t r = first; r < ROUNDS; r += each)
        ec[id][r].collector = 0;
}

/* Makes the event table again without them. */
static void lost(void)
{
    static eventspace_trace kept[COLLECTORS * ROUNDS];
    scopes_ledger ledger = {.recorded = COLLECTORS * ROUNDS};

    for (uint32_t id = 1; id <= COLLECTORS; id++) {
        for (uint32_t r = 0; r < ROUNDS; r++) {
            if (has(id, r))
                kept[ledger.read++] = ec[id][r];
        }
    }
    ledger.lost = ledger.recorded - ledger.read;
    scopes_event_table_destroy(event_table);
    check_status(scopes_event_table_create(&event_table, map, kept,
                                           (size_t)ledger.read, &ledger),
                 0);
}

/* --- times --- */

static uint32_t process_of(uint32_t id)
{
    return map->nodes[topology->nodes[id]].process;
}

static int64_t start_ns(uint32_t id, uint32_t r)
{
    return scopes_clocks_ns(clocks, process_of(id), ec[id][r].start);
}

static int64_t end_ns(uint32_t id, uint32_t r)
{
    return scopes_clocks_ns(clocks, process_of(id), ec[id][r].end);
}

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool same(uint32_t a, uint32_t b, uint32_t r)
{
    return ec[a][r].thread == ec[b][r].thread &&
           ec[a][r].sequence == ec[b][r].sequence;
}

/* The partial sums: their inputs, the collectors below, and those where their
 * results leave. */
typedef struct sum {
    const char *name, *process;
    uint32_t inputs[2], below, left[2];
    const char *from[2], *from_process[2];
} sum;

static const sum sums[3] = {
    {"sum3", "A", {7, 8}, 10, {7, 9}, {"sum1", "sum2"}, {"A", "B"}},
    {"sum1", "A", {1, 2}, 7, {1, 2}, {"thread1", "thread2"}, {"A", "A"}},
    {"sum2", "B", {3, 4}, 9, {3, 4}, {"thread3", "thread4"}, {"B", "B"}},
};

static const sum *sum_of(const char *name)
{
    for (int i = 0; i < 3; i++) {
        if (strcmp(sums[i].name, name) == 0)
            return &sums[i];
    }
    return NULL;
}

/* Which input's operation went on: of its thread, which is known as each is
 * above one input only. */
static int last_of(const sum *s, uint32_t r)
{
    uint32_t thread = ec[s->below][r].thread;

    return strcmp(s->name, "sum3") == 0 ? thread >= 2 : thread % 2;
}

/* --- tables --- */

static void view(const char *name, bool each, const char *of,
                 const char *threads)
{
    scopes_view_input view_input = {.map = map,
                                    .topology = topology,
                                    .event_table = event_table,
                                    .clocks = clocks,
                                    .each = each,
                                    .threads = numbers(threads),
                                    .of = of};

    scopes_table_destroy(table);
    check_status(scopes_view_make(&table, scopes_view_find(name), &view_input),
                 0);
}

static scopes_cell cell(size_t row, const char *key)
{
    cr_assert_lt(row, scopes_table_rows(table), "there is no row %zu", row);
    for (size_t c = 0; c < scopes_table_columns(table); c++) {
        if (strcmp(scopes_table_column(table, c)->key, key) == 0)
            return scopes_table_cell(table, row, c);
    }
    cr_assert_fail("no column %s", key);
    return (scopes_cell){.integer = 0};
}

static void check_text(size_t row, const char *key, const char *want)
{
    cr_assert_str_eq(cell(row, key).text, want, "row %zu, %s: %s, not %s", row,
                     key, cell(row, key).text, want);
}

static void check_integer(size_t row, const char *key, int64_t want)
{
    cr_assert_eq(cell(row, key).integer, want, "row %zu, %s: %ld, not %ld", row,
                 key, (long)cell(row, key).integer, (long)want);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The statistics of a row are those of these values. Sorts them. */
static void check_sample(size_t row, int64_t *values, size_t n)
{
    long double total = 0, squares = 0;

    check_integer(row, "count", (int64_t)n);
    if (n == 0) {
        check_integer(row, "mean_ns", BLANK);
        return;
    }
    qsort(values, n, sizeof(*values), by_value);
    for (size_t i = 0; i < n; i++)
        total += values[i];
    for (size_t i = 0; i < n; i++) {
        long double off = values[i] - total / n;
        squares += off * off;
    }
    check_integer(row, "total_ns", (int64_t)total);
    check_integer(row, "median_ns", values[(n - 1) / 2]);
    check_integer(row, "min_ns", values[0]);
    check_integer(row, "max_ns", values[n - 1]);
    cr_assert_leq(llabs(cell(row, "mean_ns").integer - llroundl(total / n)), 1);
    cr_assert_leq(
        llabs(cell(row, "deviation_ns").integer - llroundl(sqrtl(squares / n))),
        1 + llroundl(sqrtl(squares / n)) / 1000000);
}

/* --- thread wait --- */

static void check_thread_wait(void)
{
    int64_t values[ROUNDS];

    view("thread-wait", false, NULL, NULL);
    cr_assert_eq(scopes_table_rows(table), 4);
    for (uint32_t t = 0; t < 4; t++) {
        size_t n = 0;
        for (uint32_t r = 0; r < ROUNDS; r++) {
            if (has(t + 1, r))
                values[n++] = end_ns(t + 1, r) - start_ns(t + 1, r);
        }
        check_integer(t, "number", t);
        check_text(t, "process", t < 2 ? "A" : "B");
        check_text(t, "path", "total");
        check_text(t, "element", "element1");
        check_sample(t, values, n);
    }
}

Test(collective_views, thread_wait_is_the_time_of_each_thread_s_sums)
{
    check_thread_wait();
    check_text(2, "thread", "thread3");
    lose(3, 5, 7);
    lost();
    check_thread_wait();
}

Test(collective_views, thread_wait_tells_each_operation)
{
    view("thread-wait", true, "element1", "3");
    cr_assert_eq(scopes_table_rows(table), ROUNDS);
    for (uint32_t r = 0; r < ROUNDS; r++) {
        check_integer(r, "round", r);
        check_text(r, "thread", "thread4");
        check_integer(r, "start_ns", start_ns(4, r));
        check_integer(r, "end_ns", end_ns(4, r));
        check_integer(r, "wait_ns", end_ns(4, r) - start_ns(4, r));
    }
    view("thread-wait", true, "element2", NULL);
    cr_assert_eq(scopes_table_rows(table), 0);
    view("thread-wait", false, "sum2", NULL);
    cr_assert_eq(scopes_table_rows(table), 2);
}

/* --- signal arrival and departure --- */

static void check_arrival(const sum *s, size_t row, int input)
{
    uint32_t id = s->inputs[input], other = s->inputs[!input];
    int64_t values[ROUNDS], last = 0;
    size_t n = 0;

    for (uint32_t r = 0; r < ROUNDS; r++) {
        if (!has(s->below, r))
            continue;
        last += has(id, r) && last_of(s, r) == input;
        if (has(id, r) && has(other, r))
            values[n++] =
                start_ns(id, r) - min(start_ns(id, r), start_ns(other, r));
    }
    check_text(row, "wrapper", s->name);
    check_text(row, "at", s->process);
    check_text(row, "input", scopes_topology_collector_name(topology, id));
    check_text(row, "from", s->from[input]);
    check_text(row, "process", s->from_process[input]);
    check_integer(row, "last", last);
    check_sample(row, values, n);
}

static void check_arrivals(void)
{
    view("signal-arrival", false, NULL, NULL);
    cr_assert_eq(scopes_table_rows(table), 6);
    for (size_t row = 0; row < 6; row++)
        check_arrival(sum_of(cell(row, "wrapper").text), row, (int)(row % 2));
}

Test(collective_views, signal_arrival_is_when_each_contribution_came)
{
    check_arrivals();
    check_text(0, "wrapper", "sum3");
    lose(8, 3, 5);
    lose(1, 0, 3);
    lose(10, 2, 4);
    lost();
    check_arrivals();
}

/* The event of collector 8 is lost in every other round. */
Test(collective_views, signal_arrival_tells_each_contribution)
{
    size_t row = 0;

    lose(8, 1, 2);
    lost();
    view("signal-arrival", true, "sum3", NULL);
    for (uint32_t r = 0; r < ROUNDS; r++) {
        int64_t first = min(start_ns(7, r), start_ns(8, r));
        for (uint32_t id = 7; id <= 8; id++) {
            if (!has(id, r))
                continue;
            check_integer(row, "round", r);
            check_text(row, "process", id == 7 ? "A" : "B");
            check_text(row, "input", id == 7 ? "EC7" : "EC8");
            check_text(row, "thread",
                       scopes_topology_thread_name(topology, ec[id][r].thread));
            check_integer(row, "arrived_ns", start_ns(id, r));
            check_integer(row, "after_first_ns",
                          has(8, r) ? start_ns(id, r) - first : BLANK);
            check_integer(row, "last", same(id, 10, r));
            row++;
        }
    }
    cr_assert_eq(scopes_table_rows(table), row);
}

static void check_departure(const sum *s, size_t row, int input)
{
    uint32_t id = s->left[input], other = s->left[!input];
    int64_t values[ROUNDS];
    size_t n = 0;

    for (uint32_t r = 0; r < ROUNDS; r++) {
        if (has(s->below, r) && has(id, r) && has(other, r) &&
            has(s->inputs[0], r) && has(s->inputs[1], r))
            values[n++] = end_ns(id, r) - min(end_ns(id, r), end_ns(other, r));
    }
    check_text(row, "wrapper", s->name);
    check_text(row, "input", scopes_topology_collector_name(topology, id));
    check_text(row, "to", s->from[input]);
    check_text(row, "process", s->from_process[input]);
    check_sample(row, values, n);
}

static void check_departures(void)
{
    view("signal-departure", false, NULL, NULL);
    cr_assert_eq(scopes_table_rows(table), 6);
    for (size_t row = 0; row < 6; row++)
        check_departure(sum_of(cell(row, "wrapper").text), row, (int)(row % 2));
}

Test(collective_views, signal_departure_is_when_results_had_left_beyond_proxies)
{
    check_departures();
    check_text(1, "input", "EC9");
    lose(9, 3, 5);
    lose(8, 1, 10);
    lose(4, 0, 3);
    lost();
    check_departures();
}

Test(collective_views, signal_departure_tells_each_departure)
{
    size_t row = 0;

    lose(9, 1, 2);
    lost();
    view("signal-departure", true, "sum3", NULL);
    for (uint32_t r = 0; r < ROUNDS; r++) {
        int64_t first = min(end_ns(7, r), end_ns(9, r));
        for (uint32_t id = 7; id <= 9; id += 2) {
            if (!has(id, r))
                continue;
            check_integer(row, "round", r);
            check_text(row, "input", id == 7 ? "EC7" : "EC9");
            check_integer(row, "departed_ns", end_ns(id, r));
            check_integer(row, "after_first_ns",
                          has(9, r) ? end_ns(id, r) - first : BLANK);
            row++;
        }
    }
    cr_assert_eq(scopes_table_rows(table), row);
}

/* --- performance --- */

static const char *const phases[5] = {"arriving", "down", "below", "up-first",
                                      "up-last"};

/* The five times of a round, BLANK where one cannot be told. */
static void phases_of(const sum *s, uint32_t r, int64_t *out)
{
    uint32_t a = s->inputs[0], b = s->inputs[1], below = s->below;
    int64_t first = min(start_ns(a, r), start_ns(b, r));
    int64_t last = max(start_ns(a, r), start_ns(b, r));
    bool both = has(a, r) && has(b, r);

    out[0] = both ? last - first : BLANK;
    out[1] = both ? start_ns(below, r) - last : BLANK;
    out[2] = end_ns(below, r) - start_ns(below, r);
    out[3] = both ? min(end_ns(a, r), end_ns(b, r)) - end_ns(below, r) : BLANK;
    out[4] = both ? max(end_ns(a, r), end_ns(b, r)) - end_ns(below, r) : BLANK;
}

static void check_performance(void)
{
    view("performance", false, NULL, NULL);
    cr_assert_eq(scopes_table_rows(table), 15);
    for (size_t row = 0; row < 15; row++) {
        const sum *s = sum_of(cell(row, "wrapper").text);
        int64_t values[ROUNDS], five[5];
        size_t n = 0;
        for (uint32_t r = 0; r < ROUNDS; r++) {
            phases_of(s, r, five);
            if (has(s->below, r) && five[row % 5] != BLANK)
                values[n++] = five[row % 5];
        }
        check_text(row, "phase", phases[row % 5]);
        check_text(row, "at", s->process);
        check_sample(row, values, n);
    }
}

Test(collective_views, performance_divides_the_time_of_a_wrapper)
{
    check_performance();
    lose(8, 3, 5);
    lose(10, 2, 4);
    lost();
    check_performance();
}

Test(collective_views, performance_tells_each_round)
{
    int64_t five[5];

    lose(8, 1, 2);
    lost();
    view("performance", true, "sum3", NULL);
    cr_assert_eq(scopes_table_rows(table), ROUNDS);
    for (uint32_t r = 0; r < ROUNDS; r++) {
        phases_of(&sums[0], r, five);
        check_integer(r, "round", r);
        check_integer(r, "arrived_first_ns",
                      has(8, r) ? min(start_ns(7, r), start_ns(8, r)) : BLANK);
        check_integer(r, "arrived_last_ns",
                      has(8, r) ? max(start_ns(7, r), start_ns(8, r)) : BLANK);
        check_integer(r, "down_ns", five[1]);
        check_integer(r, "below_ns", five[2]);
        check_integer(r, "up_first_ns", five[3]);
        check_integer(r, "up_last_ns", five[4]);
    }
}

/* --- last arriver --- */

static void check_share(size_t row, int64_t last, int64_t rounds)
{
    check_integer(row, "last", last);
    check_integer(row, "rounds", rounds);
    cr_assert_float_eq(cell(row, "last_share").real,
                       (double)last / (double)rounds, 1e-12);
}

static void check_last(const sum *s, size_t row, int input)
{
    uint32_t id = s->inputs[input], other = s->inputs[!input];
    int64_t values[ROUNDS], last = 0, rounds = 0;
    size_t n = 0;

    for (uint32_t r = 0; r < ROUNDS; r++) {
        rounds += has(s->below, r);
        if (!has(s->below, r) || last_of(s, r) != input)
            continue;
        last++;
        if (has(id, r) && has(other, r))
            values[n++] = start_ns(id, r) - start_ns(other, r);
    }
    check_text(row, "element", "element1");
    check_text(row, "input", scopes_topology_collector_name(topology, id));
    check_text(row, "from", s->from[input]);
    check_text(row, "process", s->from_process[input]);
    check_share(row, last, rounds);
    check_sample(row, values, n);
}

/* Of the whole tree: four rows, then two for each wrapper. */
static void check_last_arriver(void)
{
    view("last-arriver", false, NULL, NULL);
    cr_assert_eq(scopes_table_rows(table), 10);
    for (size_t row = 0; row < 4; row++) {
        int64_t last = 0, rounds = 0;
        for (uint32_t r = 0; r < ROUNDS; r++) {
            rounds += has(10, r);
            last += has(10, r) && ec[10][r].thread == row;
        }
        check_text(row, "wrapper", "(tree)");
        check_text(row, "from",
                   scopes_topology_thread_name(topology, (uint32_t)row));
        check_text(row, "process", row < 2 ? "A" : "B");
        check_share(row, last, rounds);
    }
    for (size_t row = 4; row < 10; row++)
        check_last(sum_of(cell(row, "wrapper").text), row, (int)(row % 2));
}

Test(collective_views, last_arriver_counts_who_came_last)
{
    check_last_arriver();
    lose(10, 2, 4);
    lose(7, 0, 3);
    lose(3, 0, 2);
    lost();
    check_last_arriver();
}

Test(collective_views, last_arriver_tells_each_round)
{
    view("last-arriver", true, "sum3", NULL);
    cr_assert_eq(scopes_table_rows(table), ROUNDS);
    for (uint32_t r = 0; r < ROUNDS; r++) {
        uint32_t id = same(7, 10, r) ? 7 : 8, other = 15 - id;
        check_integer(r, "round", r);
        check_text(r, "process", id == 7 ? "A" : "B");
        check_text(r, "from", id == 7 ? "sum1" : "sum2");
        check_text(r, "thread",
                   scopes_topology_thread_name(topology, ec[10][r].thread));
        check_integer(r, "behind_ns", start_ns(id, r) - start_ns(other, r));
    }
}

/* Without the events below, it is who started last. */
Test(collective_views, last_arriver_goes_by_the_times_if_nothing_is_below)
{
    int64_t last = 0;

    lose(7, 0, 1);
    lost();
    for (uint32_t r = 0; r < ROUNDS; r++)
        last += start_ns(2, r) > start_ns(1, r);
    view("last-arriver", false, "sum1", NULL);
    cr_assert_eq(scopes_table_rows(table), 2);
    cr_assert_leq(cell(1, "rounds").integer, ROUNDS);
    cr_assert_leq(cell(1, "last").integer, last);
    cr_assert_gt(cell(0, "last").integer + cell(1, "last").integer, 0);
}

/* --- of one thread --- */

Test(collective_views, of_one_thread_are_of_its_inputs_and_operations)
{
    int64_t last = 0;

    view("last-arriver", false, "sum3", "2");
    cr_assert_eq(scopes_table_rows(table), 2); /* of the tree, and EC8 */
    for (uint32_t r = 0; r < ROUNDS; r++)
        last += ec[10][r].thread == 2;
    check_integer(0, "last", last);
    check_integer(1, "last", last);
    check_text(1, "input", "EC8");
    view("signal-arrival", true, "sum2", "2");
    cr_assert_eq(scopes_table_rows(table), ROUNDS);
    for (uint32_t r = 0; r < ROUNDS; r++)
        check_text(r, "thread", "thread3");
    view("signal-departure", false, NULL, "4"); /* which takes no part */
    cr_assert_eq(scopes_table_rows(table), 0);
}

Test(collective_views, of_several_threads_are_of_the_inputs_of_each)
{
    int64_t own[2] = {0};

    for (uint32_t r = 0; r < ROUNDS; r++)
        own[ec[10][r].thread == 3] += ec[10][r].thread >= 2;
    view("signal-arrival", true, "sum2", "2-3");
    cr_assert_eq(scopes_table_rows(table), 2 * ROUNDS);
    view("signal-arrival", true, "sum2", "2,3,4");
    cr_assert_eq(scopes_table_rows(table), 2 * ROUNDS);
}

/* --- with collectors at the threads only --- */

/* As if the run had only had these; gives the collectors' ids by thread. */
static paths_map *tops_only(uint32_t *ids)
{
    static eventspace_trace events[4 * ROUNDS];
    eventspace_instrument_options options = {.collectors =
                                                 EVENTSPACE_THREAD_COLLECTORS};
    paths_map *tops;
    size_t n = 0;

    check_status(eventspace_instrument(&tops, map, &options), 0);
    scopes_topology_destroy(topology);
    scopes_event_table_destroy(event_table);
    event_table = NULL;
    check_status(scopes_topology_create(&topology, tops), 0);
    map = tops;
    for (uint32_t i = 0; i < topology->top_count; i++) {
        const scopes_top *top = &topology->tops[i];
        if (top->site == PATHS_NONE)
            continue;
        ids[top->thread] = top->collector;
        for (uint32_t r = 0; r < ROUNDS; r++) {
            events[n] = ec[top->thread + 1][r];
            events[n++].collector = top->collector;
        }
    }
    check_status(scopes_event_table_create(&event_table, map, events, n, NULL),
                 0);
    return tops;
}

/* Which thread started last, and how long after the second last. */
static uint32_t started_last(uint32_t r, int64_t *behind)
{
    uint32_t last = 0;
    int64_t second = INT64_MIN;

    for (uint32_t t = 1; t < 4; t++) {
        if (start_ns(t + 1, r) > start_ns(last + 1, r))
            last = t;
    }
    for (uint32_t t = 0; t < 4; t++) {
        if (t != last)
            second = max(second, start_ns(t + 1, r));
    }
    *behind = start_ns(last + 1, r) - second;
    return last;
}

Test(collective_views, without_inner_collectors_go_by_order_and_times)
{
    uint32_t ids[5];
    int64_t values[4][ROUNDS], behind;
    size_t n[4] = {0};
    paths_map *tops;

    for (uint32_t r = 0; r < ROUNDS; r++) {
        uint32_t t = started_last(r, &behind);
        values[t][n[t]++] = behind;
    }
    tops = tops_only(ids);
    view("last-arriver", false, "sum1", NULL); /* one with sum3 */
    cr_assert_eq(scopes_table_rows(table), 4); /* and none of the wrapper */
    for (uint32_t t = 0; t < 4; t++) {
        check_text(t, "wrapper", "(tree)");
        check_text(t, "from", scopes_topology_thread_name(topology, t));
        check_share(t, (int64_t)n[t], ROUNDS);
        check_sample(t, values[t], n[t]);
    }
    view("signal-arrival", false, "sum1", NULL);
    cr_assert_eq(scopes_table_rows(table), 4);
    for (uint32_t t = 0; t < 4; t++) {
        check_text(t, "wrapper", "sum3");
        check_text(t, "input",
                   scopes_topology_collector_name(topology, ids[t]));
        check_text(t, "from", scopes_topology_thread_name(topology, t));
    }
    view("performance", false, NULL, NULL);
    cr_assert_eq(scopes_table_rows(table), 5);
    check_integer(0, "count", ROUNDS);
    for (size_t row = 1; row < 5; row++)
        check_integer(row, "count", 0);
    scopes_table_destroy(table);
    table = NULL;
    scopes_event_table_destroy(event_table);
    event_table = NULL;
    scopes_topology_destroy(topology);
    topology = NULL;
    paths_map_destroy(tops);
}

/* --- without memory --- */

static int view_make(void *context)
{
    scopes_view_input view_input = {.map = map,
                                    .topology = topology,
                                    .event_table = event_table,
                                    .clocks = clocks};

    return scopes_view_make(&table, scopes_view_find(context), &view_input);
}

/* Not half a one either, whatever allocation it is that fails. */
Test(collective_views, without_memory_there_is_no_view)
{
    char names[][20] = {"thread-wait", "signal-arrival", "signal-departure",
                        "performance", "last-arriver"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        int err;
        for (unsigned at = 1; memory_fails_at(at, view_make, names[i], &err);
             at++) {
            check_status(err, PASTSET_ENOMEM);
            cr_assert_null(table);
        }
        check_status(err, 0);
        cr_expect_gt(scopes_table_rows(table), 0);
        scopes_table_destroy(table);
        table = NULL;
    }
}
