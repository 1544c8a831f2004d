/* critical_path_test.c - what a run waited for: exactly, on runs made by hand,
 * and of a run in which one thread takes twice as long. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/instrument.h"
#include "pastset/request.h"
#include "tests/scopes/told.h"
#include "tests/support/check.h"
#include "tests/support/golden.h"
#include "tests/support/mapping.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"
#include "tests/support/numbers.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define UNEVEN TEST_BINARY_DIR "/../tests/uneven_app"
#define UNEVEN_THREADS 4
#define UNEVEN_ROUNDS 25 /* as in uneven_app.c */
#define FIGURE3 TEST_BINARY_DIR "/figure3"
#define FIGURE3_MAP TEST_SOURCE_DIR "/../examples/figure3/figure3.dot"

#define SLEEPER TEST_BINARY_DIR "/scheduling_app"

static const char nap_map[] =
    "digraph nap {\n"
    "  subgraph cluster_h0 {\n"
    "    t0 [kind=thread, number=0];\n"
    "    c0 [kind=collector, id=0];\n"
    "    all [kind=element, type=\"u64\", policy=grow];\n"
    "  }\n"
    "  t0 -> c0 [as=all, use=write];\n"
    "  c0 -> all;\n"
    "}\n";

TestSuite(critical_path, .init = scratch_make, .fini = scratch_remove,
          .timeout = 300);

#define EVENT(from, to, id, who, number, what)                                 \
    {                                                                          \
        .start = (from), .end = (to), .collector = (id), .thread = (who),      \
        .sequence = (number), .bytes = 8, .operation = PASTSET_##what          \
    }

static int64_t whole_ns(const scopes_table *table, const char *key)
{
    int64_t sum = 0;

    for (size_t row = 0; row < scopes_table_rows(table); row++)
        sum += table_integer(table, row, key);
    return sum;
}

static void check_row(const scopes_table *table, const char *kind,
                      const char *thread, const char *what, int64_t total_ns,
                      int64_t all_ns)
{
    size_t row =
        table_row(table, "kind", kind, "thread", thread, "what", what, NULL);

    cr_expect_eq(table_integer(table, row, "total_ns"), total_ns,
                 "%s %s %s: %ld ns", kind, thread, what,
                 (long)table_integer(table, row, "total_ns"));
    cr_expect_float_eq(table_real(table, row, "run_share"),
                       (double)total_ns / (double)all_ns, 1e-9);
}

/* --- collectives --- */

static const char sum_map[] =
    "digraph total { subgraph cluster_h {"
    " a [kind=thread, number=0]; b [kind=thread, number=1];"
    " ca [kind=collector, id=0]; cb [kind=collector, id=1];"
    " sum [kind=sum]; cx [kind=collector, id=2];"
    " total [kind=element, type=\"i64\", policy=discard, capacity=4]; }"
    " a -> ca [as=total, use=sum]; b -> cb [as=total, use=sum];"
    " ca -> sum; cb -> sum; sum -> cx; cx -> total; }";

/* b comes last in each round. */
#define ROUND(k, unit)                                                         \
    EVENT(((k)*3000 + 1000) * (unit), ((k)*3000 + 2300) * (unit), 0, 0,        \
          (k) + 1, EXCHANGE),                                                  \
        EVENT(((k)*3000 + 2000) * (unit), ((k)*3000 + 2200) * (unit), 1, 1,    \
              (k) + 1, EXCHANGE),                                              \
        EVENT(((k)*3000 + 2100) * (unit), ((k)*3000 + 2150) * (unit), 2, 1,    \
              (k) + 1, EXCHANGE)

Test(critical_path, follows_the_one_who_comes_last)
{
    static const eventspace_trace events[] = {ROUND(0, 1u), ROUND(1, 1u),
                                              ROUND(2, 1u)};
    told t;
    scopes_table *table;

    told_made(&t, sum_map, events, SIZE(events));
    table = told_view(&t, "critical-path");
    cr_expect_eq(scopes_table_rows(table), 4);
    check_row(table, "computing", "b", "", 6600, 7300);
    check_row(table, "hop", "b", "sum", 400, 7300);
    check_row(table, "hop", "a", "sum", 150, 7300);
    check_row(table, "element", "b", "total", 150, 7300);
    cr_expect_str_eq(table_text(table, 0, "kind"), "computing");
    cr_expect_eq(table_integer(table, 0, "count"), 3);
    cr_expect_eq(whole_ns(table, "total_ns"), 7300);
    scopes_table_destroy(table);
    told_end(&t);
}

/* The oldest events of b are gone: it did not compute meanwhile. */
Test(critical_path, begins_where_no_thread_has_lost_an_event)
{
    static const eventspace_trace events[] = {
        EVENT(1000, 2300, 0, 0, 1, EXCHANGE),
        EVENT(4000, 5300, 0, 0, 2, EXCHANGE), ROUND(2, 1u), ROUND(3, 1u)};
    told t;
    scopes_table *table;

    told_made(&t, sum_map, events, SIZE(events));
    table = told_view(&t, "critical-path");
    cr_expect_eq(whole_ns(table, "total_ns"), 10300, "nobody has lost one");
    scopes_table_destroy(table);

    t.event_table->ledgers[0].lost = 4;
    table = told_view(&t, "critical-path");
    cr_expect_eq(whole_ns(table, "total_ns"), 11300 - 8000);
    check_row(table, "computing", "b", "", 2800, 3300);
    scopes_table_destroy(table);
    told_end(&t);
}

/* The same, a million times as slow: 1 s to 8.3 s. */
Test(critical_path, divides_each_second)
{
    static const eventspace_trace events[] = {ROUND(0, UINT64_C(1000000)),
                                              ROUND(1, UINT64_C(1000000)),
                                              ROUND(2, UINT64_C(1000000))};
    int64_t seconds[10] = {0};
    told t;
    scopes_table *table;
    size_t row;

    told_made(&t, sum_map, events, SIZE(events));
    t.view_input.each = true;
    table = told_view(&t, "critical-path");
    for (size_t i = 0; i < scopes_table_rows(table); i++) {
        int64_t second = table_integer(table, i, "second");
        cr_assert(second >= 1 && second <= 8);
        cr_expect(i == 0 || second >= table_integer(table, i - 1, "second"));
        seconds[second] += table_integer(table, i, "time_ns");
    }
    for (int i = 1; i <= 7; i++)
        cr_expect_eq(seconds[i], 1000000000, "second %d has %ld ns", i,
                     (long)seconds[i]);
    cr_expect_eq(seconds[8], 300000000);
    row = 0; /* of second 1: b computes, of which nothing is seen */
    cr_expect_eq(table_integer(table, row, "time_ns"), 1000000000);
    cr_expect_str_eq(table_text(table, row, "thread"), "b");
    cr_expect_str_eq(table_text(table, row, "kind"), "computing");
    row = 1; /* of second 2: 200 ms in the sum, then b computes */
    cr_expect_eq(table_integer(table, row, "time_ns"), 800000000);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(critical_path, can_be_asked_for_one_thread_or_one_wrapper)
{
    static const eventspace_trace events[] = {ROUND(0, 1u), ROUND(1, 1u),
                                              ROUND(2, 1u)};
    told t;
    scopes_table *table;

    told_made(&t, sum_map, events, SIZE(events));
    t.view_input.threads = numbers("0");
    table = told_view(&t, "critical-path");
    cr_expect_eq(scopes_table_rows(table), 1);
    check_row(table, "hop", "a", "sum", 150, 7300);
    scopes_table_destroy(table);
    t.view_input.threads = NULL;
    t.view_input.of = "sum";
    table = told_view(&t, "critical-path");
    cr_expect_eq(scopes_table_rows(table), 2);
    scopes_table_destroy(table);
    told_end(&t);
}

/* Without the collector below the sum, the clock tells who came last. */
Test(critical_path, needs_collectors_at_the_threads_only)
{
    static const char map[] =
        "digraph total { subgraph cluster_h {"
        " a [kind=thread, number=0]; b [kind=thread, number=1];"
        " ca [kind=collector, id=0]; cb [kind=collector, id=1];"
        " sum [kind=sum];"
        " total [kind=element, type=\"i64\", policy=discard, capacity=4]; }"
        " a -> ca [as=total, use=sum]; b -> cb [as=total, use=sum];"
        " ca -> sum; cb -> sum; sum -> total; }";
    static const eventspace_trace events[] = {
        EVENT(1000, 2300, 0, 0, 1, EXCHANGE),
        EVENT(2000, 2200, 1, 1, 1, EXCHANGE),
        EVENT(4000, 5300, 0, 0, 2, EXCHANGE),
        EVENT(5000, 5200, 1, 1, 2, EXCHANGE),
    };
    told t;
    scopes_table *table;

    told_made(&t, map, events, SIZE(events));
    table = told_view(&t, "critical-path");
    check_row(table, "computing", "b", "", 2800 + 1000, 4300);
    check_row(table, "element", "b", "total", 300 + 200, 4300);
    cr_expect_eq(scopes_table_rows(table), 2);
    scopes_table_destroy(table);
    told_end(&t);
}

/* --- elements --- */

static const char pipe_map[] =
    "digraph pipe { subgraph cluster_h {"
    " a [kind=thread, number=0]; r [kind=thread, number=1];"
    " ca [kind=collector, id=0]; cr [kind=collector, id=1];"
    " box [kind=element, type=\"i64\", capacity=2]; }"
    " a -> ca [as=box]; r -> cr [as=box]; ca -> box; cr -> box; }";

Test(critical_path, goes_from_a_read_to_the_one_who_wrote)
{
    static const eventspace_trace events[] = {
        EVENT(1000, 5010, 1, 1, 1, OBSERVE),
        EVENT(5000, 5005, 0, 0, 1, WRITE),
    };
    told t;
    scopes_table *table;

    told_made(&t, pipe_map, events, SIZE(events));
    table = told_view(&t, "critical-path");
    cr_expect_eq(scopes_table_rows(table), 2);
    check_row(table, "computing", "a", "", 4000, 4010);
    check_row(table, "element", "a", "box", 10, 4010);
    scopes_table_destroy(table);
    told_end(&t);
}

/* The reader is slow, and the writer is held up by the full element. */
Test(critical_path, goes_from_a_full_element_to_the_one_who_took)
{
    static const eventspace_trace events[] = {
        EVENT(1000, 1010, 0, 0, 1, WRITE),
        EVENT(1100, 1110, 0, 0, 2, WRITE),
        EVENT(1200, 9020, 0, 0, 3, WRITE),
        EVENT(9000, 9010, 1, 1, 1, OBSERVE),
    };
    told t;
    scopes_table *table;

    told_made(&t, pipe_map, events, SIZE(events));
    table = told_view(&t, "critical-path");
    cr_expect_eq(scopes_table_rows(table), 2);
    check_row(table, "computing", "r", "", 8000, 8020);
    check_row(table, "element", "r", "box", 20, 8020);
    scopes_table_destroy(table);
    told_end(&t);
}

/* A write comes in the midst of a read that needs none: the reader is what the
 * run waits for. */
Test(critical_path, stays_with_a_reader_that_lags_behind)
{
    static const eventspace_trace events[] = {
        EVENT(1000, 1010, 0, 0, 1, WRITE),
        EVENT(3000, 3010, 1, 1, 1, OBSERVE),
        EVENT(3005, 3008, 0, 0, 2, WRITE),
        EVENT(6000, 6010, 1, 1, 2, OBSERVE),
    };
    told t;
    scopes_table *table;

    told_made(&t, pipe_map, events, SIZE(events));
    table = told_view(&t, "critical-path");
    cr_expect_eq(scopes_table_rows(table), 2);
    check_row(table, "computing", "r", "", 2990 + 2000, 5010);
    check_row(table, "element", "r", "box", 20, 5010);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(critical_path, of_a_run_without_tuples_nothing_is_told)
{
    told t;
    scopes_table *table;

    told_made(&t, pipe_map, NULL, 0);
    table = told_view(&t, "critical-path");
    cr_expect_eq(scopes_table_rows(table), 0);
    scopes_table_destroy(table);
    told_end(&t);
}

/* --- runs --- */

static paths_map *uneven_map(void)
{
    static const char application[] =
        "digraph uneven {"
        " t0 [kind=thread, number=0, compute_ms=\"10\"];"
        " t1 [kind=thread, number=1, compute_ms=\"10\"];"
        " t2 [kind=thread, number=2, compute_ms=\"20\"];"
        " t3 [kind=thread, number=3, compute_ms=\"10\"];"
        " total [kind=element, type=\"i64\"];"
        " t0 -> total [use=sum]; t1 -> total [use=sum];"
        " t2 -> total [use=sum]; t3 -> total [use=sum]; }";
    eventspace_instrument_options all = {.collectors =
                                             EVENTSPACE_ALL_COLLECTORS};
    char *text = mapping_map(application, 2, "hierarchical", 0);
    paths_map *map = map_parse(text), *instrumented;

    free(text);
    check_status(eventspace_instrument(&instrumented, map, &all), 0);
    paths_map_destroy(map);
    return instrumented;
}

static int64_t computed_ns(const char *thread)
{
    char *text = file_read(scratch_file("run/%s.computed", thread), NULL);
    int64_t ns = strtoll(text, NULL, 10);

    free(text);
    return ns;
}

/* The events of the collector in front of the element: who came last. */
static const scopes_series *last_series(const told *t)
{
    const paths_map *map = eventspace_run_map(t->run);
    uint64_t id = UINT64_MAX;

    for (uint32_t i = 0; i < map->edge_count; i++) {
        const paths_map_edge *edge = &map->edges[i];
        if (strcmp(map->nodes[edge->to].name, "total") == 0)
            check_status(paths_node_number(map, &map->nodes[edge->from], "id",
                                           UINT64_MAX, &id),
                         0);
    }
    return scopes_event_series(t->event_table, (uint32_t)id);
}

static const scopes_series *top_series(const told *t, uint32_t thread)
{
    for (uint32_t i = 0; i < t->topology->top_count; i++) {
        if (t->topology->tops[i].thread == thread)
            return scopes_event_series(t->event_table,
                                       t->topology->tops[i].collector);
    }
    cr_assert_fail("nothing of thread %u", thread);
    return NULL;
}

/* What a thread computed before round r, or since the first operation of
 * all. */
static int64_t gap_ns(const told *t, uint32_t thread, size_t r)
{
    const scopes_series *own = top_series(t, thread);
    int64_t from = INT64_MAX;

    for (uint32_t i = 0; i < UNEVEN_THREADS && r == 0; i++) {
        const scopes_series *s = top_series(t, i);
        int64_t start = scopes_clocks_ns(t->clocks, s->process,
                                         scopes_event_at(s->events, 0)->start);
        from = start < from ? start : from;
    }
    if (r > 0)
        from = scopes_clocks_ns(t->clocks, own->process,
                                scopes_event_at(own->events, r - 1)->end);
    return scopes_clocks_ns(t->clocks, own->process,
                            scopes_event_at(own->events, r)->start) -
           from;
}

/* The same from the tuples: in each round all wait for the one that comes
 * last, who computed before that. On a busy machine that need not be t2 in
 * each round; the times say who it was. */
static void find_chain(const told *t, int64_t chain_ns[UNEVEN_THREADS])
{
    const scopes_series *last = last_series(t);

    cr_assert_eq(last->count, UNEVEN_ROUNDS);
    memset(chain_ns, 0, UNEVEN_THREADS * sizeof(*chain_ns));
    for (size_t r = 0; r < last->count; r++) {
        uint32_t thread = scopes_event_at(last->events, r)->thread;
        cr_assert_lt(thread, UNEVEN_THREADS);
        chain_ns[thread] += gap_ns(t, thread, r);
    }
}

/* What t2 took for all rounds but the first, in which it is not seen what it
 * did before all others were there, is no less than it says itself. */
static void check_computed(const told *t)
{
    int64_t all_ns = 0;

    for (size_t r = 1; r < UNEVEN_ROUNDS; r++)
        all_ns += gap_ns(t, 2, r);
    cr_expect_geq(all_ns, computed_ns("t2"));
}

Test(critical_path, names_the_thread_that_computes_twice_as_long)
{
    paths_map *map = uneven_map();
    int64_t chain_ns[UNEVEN_THREADS], all_ns;
    told t;
    scopes_table *table;

    check_status(paths_map_save(map, scratch_file("map.dot")), 0);
    paths_map_destroy(map);
    free(command_run(0, 60, EVENTSPACE, "run", scratch_file("map.dot"),
                     "--output", scratch_file("run"), "--", UNEVEN, NULL));
    told_run(&t, scratch_file("run"));
    t.view_input.scheduling = NULL; /* from operation to operation */
    find_chain(&t, chain_ns);
    check_computed(&t);
    table = told_view(&t, "critical-path");
    all_ns = whole_ns(table, "total_ns");
    for (uint32_t i = 0; i < UNEVEN_THREADS; i++) {
        char name[8];
        size_t row;
        int64_t own_ns;
        snprintf(name, sizeof(name), "t%u", i);
        if (table_count(table, "kind", "computing", "thread", name, NULL) ==
                0 &&
            chain_ns[i] == 0)
            continue;
        row = table_row(table, "kind", "computing", "thread", name, NULL);
        own_ns = table_integer(table, row, "total_ns");
        cr_expect_leq(llabs(own_ns - chain_ns[i]), 2 * UNEVEN_ROUNDS,
                      "%s: %ld ns, not %ld", name, (long)own_ns,
                      (long)chain_ns[i]);
        cr_expect_float_eq(table_real(table, row, "run_share"),
                           (double)own_ns / (double)all_ns, 1e-9);
    }
    scopes_table_destroy(table);
    told_end(&t);
}

/* From the first start to the last end at EC1 to EC6. */
static int64_t span_ns(const told *t)
{
    int64_t first = INT64_MAX, last = INT64_MIN;

    for (uint32_t id = 1; id <= 6; id++) {
        const scopes_series *s = scopes_event_series(t->event_table, id);
        for (size_t i = 0; i < s->count; i++) {
            int64_t from = scopes_clocks_ns(
                t->clocks, s->process, scopes_event_at(s->events, i)->start);
            int64_t to = scopes_clocks_ns(t->clocks, s->process,
                                          scopes_event_at(s->events, i)->end);
            first = from < first ? from : first;
            last = to > last ? to : last;
        }
    }
    return last - first;
}

/* From the begin of the thread that the chain ends with to the last end of
 * all. */
static int64_t life_ns(told *t)
{
    scopes_table *table = told_view(t, "critical-path");
    int64_t whole = whole_ns(table, "total_ns"), last = INT64_MIN;
    bool found = false;

    scopes_table_destroy(table);
    for (uint32_t i = 0; i < t->scheduling->thread_count; i++) {
        cr_expect(t->scheduling->threads[i].has_begun);
        cr_expect(t->scheduling->threads[i].has_ended);
        if (t->scheduling->threads[i].end_ns > last)
            last = t->scheduling->threads[i].end_ns;
    }
    for (uint32_t i = 0; i < t->scheduling->thread_count; i++)
        found |= whole == last - t->scheduling->threads[i].begin_ns;
    cr_expect(found, "%ld ns is from the begin of no thread", (long)whole);
    return whole;
}

/* All rows together, and those of its seconds. */
static void check_whole(told *t, int64_t ns)
{
    scopes_table *table = told_view(t, "critical-path");

    cr_expect_eq(whole_ns(table, "total_ns"), ns);
    scopes_table_destroy(table);
    t->view_input.each = true;
    table = told_view(t, "critical-path");
    cr_expect_eq(whole_ns(table, "time_ns"), ns);
    scopes_table_destroy(table);
    t->view_input.each = false;
}

Test(critical_path, adds_up_to_the_whole_time_of_a_run)
{
    told t;

    free(command_run(0, 60, EVENTSPACE, "run", FIGURE3_MAP, "--output",
                     scratch_file("run"), "--", FIGURE3, "500", NULL));
    told_run(&t, scratch_file("run"));
    t.view_input.scheduling = NULL;
    check_whole(&t, span_ns(&t));
    t.view_input.scheduling = t.scheduling;
    check_whole(&t, life_ns(&t));
    told_end(&t);
}

/* The longest sample of the thread; 0: it was recorded by context switches. */
static int64_t sample_ns(const told *t, unsigned thread)
{
    const scopes_thread_life *life = &t->scheduling->threads[thread];
    int64_t longest_ns = 0;

    for (size_t i = 0; i < life->off_count; i++) {
        const scopes_off *off = &life->offs[i];
        int64_t ns = off->end_ns - off->start_ns;
        if (off->preemptions + off->sleeps == 0 && ns > longest_ns)
            longest_ns = ns;
    }
    return longest_ns;
}

/* A thread sleeps between its operations, and before and after them. */
Test(critical_path, tells_when_its_threads_slept)
{
    int64_t slept_ns = 0, computed_ns, before_ns;
    told t;
    scopes_table *table;

    free(command_run(0, 60, EVENTSPACE, "run",
                     scratch_write("nap.dot", nap_map), "--output",
                     scratch_file("run"), "--", SLEEPER, "40", NULL));
    told_run(&t, scratch_file("run"));
    t.view_input.scheduling = NULL;
    table = told_view(&t, "critical-path");
    before_ns = whole_ns(table, "total_ns");
    cr_expect_eq(table_count(table, "kind", "sleeping", NULL), 0);
    scopes_table_destroy(table);
    t.view_input.scheduling = t.scheduling;
    check_whole(&t, life_ns(&t));
    table = told_view(&t, "critical-path");
    for (size_t row = 0; row < scopes_table_rows(table); row++)
        if (strcmp(table_text(table, row, "kind"), "sleeping") == 0)
            slept_ns += table_integer(table, row, "total_ns");
    computed_ns = table_integer(
        table, table_row(table, "kind", "computing", "thread", "t0", NULL),
        "total_ns");
    /* It computes 40 ms, sleeps as long between two operations, computes again;
     * where there are no context switches, samples may cut off one twice. */
    cr_expect_geq(slept_ns, 39000000 - 2 * sample_ns(&t, 0));
    cr_expect_geq(computed_ns, 76000000);
    cr_expect_geq(whole_ns(table, "total_ns"), before_ns + 76000000);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(critical_path, adds_up_also_where_tuples_are_missing)
{
    free(command_run(0, 60, EVENTSPACE, "run", FIGURE3_MAP, "--output",
                     scratch_file("run"), "--", FIGURE3, "200", NULL));
    for (unsigned seed = 0; seed < 20; seed++) {
        told t;
        scopes_table *table;
        told_run(&t, scratch_file("run"));
        told_lose(&t, 1 + 4 * seed, seed);
        t.view_input.scheduling = NULL;
        table = told_view(&t, "critical-path");
        cr_expect_eq(whole_ns(table, "total_ns"), span_ns(&t), "seed %u", seed);
        for (size_t row = 0; row < scopes_table_rows(table); row++)
            cr_expect_gt(table_integer(table, row, "min_ns"), 0);
        scopes_table_destroy(table);
        told_end(&t);
    }
}
