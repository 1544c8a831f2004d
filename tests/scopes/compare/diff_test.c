/* diff_test.c - what a comparison of runs finds, of runs made by hand: noise of
 * a known distribution by a seed, so that it finds the same each time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/instrument.h"
#include "pastset/status.h"
#include "pastset/verb.h"
#include "scopes/compare/diff.h"
#include "scopes/reading/snapshot.h"
#include "tests/scopes/fake_run.h"
#include "tests/scopes/told.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/golden.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"

TestSuite(diff, .init = scratch_make, .fini = scratch_remove, .timeout = 600);

/* In each step either thread computes before three operations; with the last
 * one t1 waits for t0. */
static const char text[] =
    "digraph two {\n"
    "  subgraph cluster_h0 {\n"
    "    t0 [kind=thread, number=0];\n"
    "    t1 [kind=thread, number=1];\n"
    "    r0 [kind=element, type=\"u8[8]\"];\n"
    "    f0 [kind=element, type=\"u8[8]\"];\n"
    "    r1 [kind=element, type=\"u8[8]\"];\n"
    "    f1 [kind=element, type=\"u8[8]\"];\n"
    "    halo [kind=element, type=\"u8[8]\", capacity=10000];\n"
    "  }\n"
    "  t0 -> r0 [as=rho, use=write];\n"
    "  t0 -> f0 [as=flux, use=write];\n"
    "  t0 -> halo [as=out, use=write];\n"
    "  t1 -> r1 [as=rho, use=write];\n"
    "  t1 -> f1 [as=flux, use=write];\n"
    "  t1 -> halo [as=in, use=read];\n"
    "}\n";

enum { THREADS = 2, PATHS = 3, MAX_STEPS = 20000, LONG_STEPS = 66000 };

static const char *const names[THREADS][PATHS] = {{"rho", "flux", "out"},
                                                  {"rho", "flux", "in"}};

/* How a run is made. */
typedef struct recipe {
    unsigned steps;
    double scale[THREADS][PATHS]; /* of what is computed before the operation */
    double operation_ns;          /* of t1 on flux */
    unsigned from_step, to_step;  /* only in these; 0: in all */
    double run_noise, item_noise; /* standard deviations of logarithms */
    double often, longer; /* how often a step is disturbed, and by how much of
                             it in the mean */
    double hz;            /* ticks a second */
    unsigned lost;        /* steps at the beginning of which nothing is left */
} recipe;

static recipe usual(void)
{
    recipe r = {.steps = 60,
                .operation_ns = 2000,
                .run_noise = 0.01,
                .item_noise = 0.004,
                .often = 0.3,
                .longer = 0.2,
                .hz = 1e9};

    for (int t = 0; t < THREADS; t++)
        for (int p = 0; p < PATHS; p++)
            r.scale[t][p] = 1;
    return r;
}

/* --- random numbers --- */

static uint64_t state;

static double uniform(void)
{
    uint64_t x;

    state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    x = state;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return ((double)(x >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* --- making a run --- */

static uint64_t trace_capacity = 2000;
static const char *trace_policy = "discard";

static paths_map *instrumented(const char *map_text)
{
    eventspace_instrument_options options = {.collectors =
                                                 EVENTSPACE_ALL_COLLECTORS,
                                             .trace_capacity = trace_capacity,
                                             .trace_policy = trace_policy};
    paths_map *plain = map_parse(map_text), *map;

    check_status(eventspace_instrument(&map, plain, &options), 0);
    paths_map_destroy(plain);
    return map;
}

/* What a thread computes before an operation, in ns: steps differ. */
static double computed(const recipe *r, int thread, int path, unsigned step,
                       double item)
{
    double ns = 100000.0 * (1 + thread + path) * (1 + 0.3 * (step % 5));
    bool planted = !r->to_step || (step >= r->from_step && step <= r->to_step);

    if (planted)
        ns *= r->scale[thread][path];
    if (uniform() < r->often)
        ns *= 1 - r->longer * log(uniform());
    return ns * item;
}

typedef struct making {
    const recipe *recipe;
    fake_run *run;
    uint32_t ids[THREADS][PATHS];
    double now[THREADS];
    double item[THREADS][PATHS]; /* how much longer this run takes for it */
    double written[LONG_STEPS + 1];
} making;

static void add_event(making *m, int thread, int path, unsigned step,
                      double end)
{
    double per_ns = m->recipe->hz / 1e9;
    eventspace_trace event = {
        .start = FAKE_START + (uint64_t)llround(m->now[thread] * per_ns),
        .end = FAKE_START + (uint64_t)llround(end * per_ns),
        .collector = m->ids[thread][path],
        .thread = (uint32_t)thread,
        .sequence = (step - 1) * PATHS + (uint32_t)path + 1,
        .bytes = 8,
        .operation = thread == 1 && path == 2 ? PASTSET_OBSERVE : PASTSET_WRITE,
    };
    int err = 0;

    m->now[thread] = end;
    if (step > m->recipe->lost)
        err = fake_run_event(m->run, &event);
    if (err != PASTSET_EFULL) /* which counts it as lost */
        check_status(err, 0);
}

static void add_step(making *m, int thread, unsigned step)
{
    for (int p = 0; p < PATHS; p++) {
        double end;
        m->now[thread] +=
            computed(m->recipe, thread, p, step, m->item[thread][p]);
        end = m->now[thread] + 2000 * (1 + uniform());
        if (thread == 1 && p == 1)
            end = m->now[thread] + m->recipe->operation_ns *
                                       m->item[thread][p] *
                                       (uniform() < 0.3 ? 1 + uniform() : 1);
        if (thread == 0 && p == 2)
            m->written[step] = m->now[thread];
        if (thread == 1 && p == 2 && end < m->written[step] + 500)
            end = m->written[step] + 500;
        add_event(m, thread, p, step, end);
    }
}

/* The files of a process that ran at a time of its own, on a machine with other
 * ticks. */
static void set_ticks(const char *directory, double hz)
{
    static uint64_t number;
    char file[4096];
    eventspace_meta meta;

    snprintf(file, sizeof(file), "%s/h0.meta", directory);
    check_status(eventspace_meta_load(&meta, file), 0);
    meta.tick_hz = hz;
    meta.start_wall_ns += ++number;
    check_status(eventspace_meta_save(&meta, file), 0);
}

static void make_files(const char *directory, const paths_map *map,
                       const recipe *r)
{
    making m = {.recipe = r};
    double speed = exp(r->run_noise * normal());

    cr_assert_eq(mkdir(directory, 0700), 0);
    m.run = fake_run_begin(directory, map);
    cr_assert_not_null(m.run, "%s", pastset_error());
    for (int t = 0; t < THREADS; t++) {
        for (int p = 0; p < PATHS; p++) {
            m.ids[t][p] = fake_collector(map, t ? "t1" : "t0", names[t][p]);
            m.item[t][p] = speed * exp(r->item_noise * normal());
        }
    }
    for (unsigned s = 1; s <= r->steps; s++)
        for (int t = 0; t < THREADS; t++)
            add_step(&m, t, s);
    check_status(fake_run_end(m.run), 0);
    set_ticks(directory, r->hz);
}

static void remove_files(const char *directory)
{
    static const char *const files[] = {"pathmap.dot", "h0.space", "h0.meta"};

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        char file[4096];
        snprintf(file, sizeof(file), "%s/%s", directory, files[i]);
        unlink(file);
    }
    cr_assert_eq(rmdir(directory), 0);
}

/* --- comparing --- */

static const scopes_diff_options standard = {
    .confidence = 0.99, .threshold = 0.01, .min_share = 0.01};

static void take(scopes_diff *diff, scopes_diff_side side,
                 const char *directory)
{
    scopes_snapshot_options all = SCOPES_SNAPSHOT_ALL;
    scopes_snapshot *snapshot;
    eventspace_run *run;

    check_status(eventspace_run_open(&run, directory), 0);
    check_status(scopes_snapshot_take(&snapshot, run, &all), 0);
    check_status(scopes_diff_add(diff, side, snapshot), 0);
    scopes_snapshot_destroy(snapshot);
    eventspace_run_close(run);
}

typedef struct found {
    scopes_diff *diff;
    scopes_diff_summary summary;
    scopes_table *table;
} found;

static void add_runs(scopes_diff *diff, scopes_diff_side side, unsigned count,
                     const paths_map *map, const recipe *r)
{
    const char *directory = scratch_file("run");

    for (unsigned i = 0; i < count; i++) {
        make_files(directory, map, r);
        take(diff, side, directory);
        remove_files(directory);
    }
}

static found compared(unsigned base, const recipe *was, unsigned other,
                      const recipe *is, bool all)
{
    paths_map *map = instrumented(text);
    found f;

    check_status(scopes_diff_create(&f.diff, &standard), 0);
    add_runs(f.diff, SCOPES_DIFF_BASE, base, map, was);
    add_runs(f.diff, SCOPES_DIFF_NEW, other, map, is);
    check_status(scopes_diff_compare(f.diff, &f.summary), 0);
    check_status(scopes_diff_table(&f.table, f.diff, all), 0);
    paths_map_destroy(map);
    return f;
}

static void found_end(found *f)
{
    scopes_table_destroy(f->table);
    scopes_diff_destroy(f->diff);
}

static void check_text(const found *f, size_t row, const char *key,
                       const char *want)
{
    char *dump = table_dump(f->table);

    cr_assert_str_eq(table_text(f->table, row, key), want, "row %zu:\n%s", row,
                     dump);
    free(dump);
}

/* --- the figures: 48 of 50 --- */

enum { CASES = 50, ENOUGH = 48 };

/* A sanitizer looks at memory, for which some of the cases will do. */
static int cases(void)
{
    return getenv("EVENTSPACE_TEST_SLOW") ? CASES / 5 : CASES;
}

/* The same share of them, rounded up. */
static int enough(void)
{
    return (cases() * ENOUGH + CASES - 1) / CASES;
}

Test(diff, finds_a_change_of_3_percent_in_48_of_50_cases)
{
    recipe base = usual(), new = usual();
    int right = 0;

    state = 1;
    new.scale[1][1] = 1.03;
    for (int i = 0; i < cases(); i++) {
        found f = compared(10, &base, 10, &new, false);
        size_t rows = scopes_table_rows(f.table);
        right += rows > 0 && f.summary.slower > 0 &&
                 strcmp(table_text(f.table, 0, "kind"), "computing") == 0 &&
                 strcmp(table_text(f.table, 0, "thread"), "t1") == 0 &&
                 strcmp(table_text(f.table, 0, "path"), "flux") == 0 &&
                 fabs(table_real(f.table, 0, "change_share") - 0.03) < 0.015;
        found_end(&f);
    }
    cr_assert_geq(right, enough(), "found first in %d of %d", right, cases());
}

static void check_quiet(const recipe *r, unsigned runs)
{
    int quiet = 0;

    for (int i = 0; i < cases(); i++) {
        found f = compared(runs, r, runs, r, false);
        quiet += scopes_table_rows(f.table) == 0;
        found_end(&f);
    }
    cr_assert_geq(quiet, enough(), "nothing reported in %d of %d", quiet,
                  cases());
}

Test(diff, reports_nothing_in_48_of_50_cases_without_a_change)
{
    recipe r = usual();

    state = 2;
    check_quiet(&r, 10);
}

/* Runs differ by a tenth, and a half of the steps takes twice as long. */
Test(diff, reports_nothing_on_a_very_noisy_machine)
{
    recipe r = usual();

    state = 3;
    r.run_noise = 0.1;
    r.item_noise = 0.03;
    r.often = 0.5;
    r.longer = 1;
    check_quiet(&r, 10);
}

Test(diff, reports_nothing_with_as_few_runs_as_will_do)
{
    recipe r = usual();

    state = 4;
    r.run_noise = 0.05;
    check_quiet(&r, 5);
}

/* --- what was found --- */

/* Of a program that became slower as a whole, there is no rest. */
Test(diff, finds_what_is_slower_everywhere)
{
    recipe base = usual(), new = usual();
    found f;

    state = 5;
    for (int t = 0; t < THREADS; t++)
        for (int p = 0; p < PATHS; p++)
            new.scale[t][p] = 1.1;
    f = compared(10, &base, 10, &new, false);
    for (int t = 0; t < THREADS; t++)
        for (int p = 0; p < PATHS; p++)
            table_row(f.table, "decision", "slower", "kind", "computing",
                      "thread", t ? "t1" : "t0", "path", names[t][p], NULL);
    table_row(f.table, "decision", "slower", "kind", "run", NULL);
    cr_assert_eq(f.summary.faster, 0);
    found_end(&f);
}

/* Five of six became faster: the sixth is slower than these, not than it was.
 */
Test(diff, does_not_call_slower_what_others_left_behind)
{
    recipe base = usual(), new = usual();
    found f;

    state = 6;
    for (int t = 0; t < THREADS; t++)
        for (int p = 0; p < PATHS; p++)
            new.scale[t][p] = t == 1 && p == 1 ? 1 : 0.95;
    f = compared(10, &base, 10, &new, false);
    cr_assert_eq(table_count(f.table, "decision", "slower", NULL), 0);
    cr_assert_eq(
        table_count(f.table, "decision", "faster", "kind", "computing", NULL),
        5);
    found_end(&f);
}

/* Where a wrapper computes, on a machine whose speed changes by 3 % from run to
 * run. */
Test(diff, finds_a_change_within_operations)
{
    recipe base = usual(), new = usual();
    found f;

    state = 20;
    base.run_noise = new.run_noise = 0.03;
    base.operation_ns = 200000;
    new.operation_ns = 206000;
    f = compared(10, &base, 10, &new, false);
    check_text(&f, 0, "decision", "slower");
    check_text(&f, 0, "kind", "operation");
    check_text(&f, 0, "thread", "t1");
    check_text(&f, 0, "path", "flux");
    check_text(&f, 0, "statistic", "relative");
    found_end(&f);
}

/* What is typical does not see it; the mean does, and says where. */
Test(diff, finds_what_is_slower_in_a_few_steps)
{
    recipe base = usual(), new = usual();
    size_t row;
    found f;

    state = 7;
    new.scale[0][0] = 4;
    new.from_step = 31;
    new.to_step = 36;
    f = compared(10, &base, 10, &new, false);
    row = table_row(f.table, "kind", "computing", "thread", "t0", "path", "rho",
                    NULL);
    check_text(&f, row, "decision", "slower");
    check_text(&f, row, "statistic", "mean");
    cr_assert_geq(table_integer(f.table, row, "first_step"), 31);
    cr_assert_leq(table_integer(f.table, row, "last_step"), 36);
    found_end(&f);
}

/* The cause first; who waits for it, and for whom, behind. */
Test(diff, names_a_cause_before_its_effects)
{
    recipe base = usual(), new = usual();
    size_t row;
    found f;

    state = 8;
    base.scale[0][2] = 8; /* so that t1 waits */
    new.scale[0][2] = 8.8;
    f = compared(10, &base, 10, &new, false);
    check_text(&f, 0, "kind", "computing");
    check_text(&f, 0, "thread", "t0");
    check_text(&f, 0, "path", "out");
    row = table_row(f.table, "kind", "waiting", "thread", "t1", "path", "in",
                    NULL);
    check_text(&f, row, "decision", "slower");
    check_text(&f, row, "for_thread", "t0");
    cr_assert_eq(table_count(f.table, "kind", "operation", NULL), 0);
    found_end(&f);
}

/* --- few runs, other machines, other programs --- */

Test(diff, does_not_decide_without_repetition)
{
    recipe base = usual(), new = usual();
    found f;

    state = 9;
    new.scale[1][1] = 2;
    f = compared(1, &base, 1, &new, false);
    cr_assert_not(f.summary.repeated);
    cr_assert_eq(f.summary.slower, 0);
    cr_assert_eq(f.summary.units[0], 10);
    cr_assert_gt(f.summary.unsure, 0);
    check_text(&f, 0, "decision", "slower?");
    check_text(&f, 0, "path", "flux");
    found_end(&f);
}

Test(diff, compares_one_run_with_many)
{
    recipe base = usual(), new = usual();
    found f;

    state = 10;
    new.scale[1][1] = 1.2;
    f = compared(100, &base, 1, &new, false);
    cr_assert(f.summary.repeated);
    check_text(&f, 0, "decision", "slower");
    check_text(&f, 0, "path", "flux");
    found_end(&f);
}

/* The same work, and a counter that is 2.4 times as fast. */
Test(diff, knows_the_ticks_of_each_machine)
{
    recipe base = usual(), new = usual();
    found f;

    state = 11;
    base.run_noise = base.item_noise = base.often = 0;
    new = base;
    new.hz = 2.4e9;
    f = compared(5, &base, 5, &new, true);
    cr_assert_eq(table_count(f.table, "decision", "slower", NULL) +
                     table_count(f.table, "decision", "faster", NULL),
                 0);
    cr_assert_eq(f.summary.tested, 8);
    found_end(&f);
}

/* Steps are aligned by the operations' numbers. */
Test(diff, compares_what_is_left_of_runs_that_lost_events)
{
    recipe base = usual(), new = usual();
    size_t row;
    found f;

    state = 12;
    new.lost = 20;
    new.scale[1][1] = 1.05;
    f = compared(10, &base, 10, &new, true);
    row = table_row(f.table, "kind", "computing", "thread", "t1", "path",
                    "flux", NULL);
    check_text(&f, row, "decision", "slower");
    cr_assert_eq(table_integer(f.table, row, "base_count"), 60);
    cr_assert_eq(table_integer(f.table, row, "new_count"), 40);
    cr_assert_eq(
        table_count(f.table, "decision", "slower", "kind", "computing", NULL),
        1);
    found_end(&f);
}

/* Of which not all samples are kept. */
Test(diff, compares_long_runs)
{
    recipe base = usual(), new = usual();
    size_t row;
    found f;

    state = 21;
    trace_capacity = 100000;
    base.steps = new.steps = MAX_STEPS;
    new.scale[1][1] = 1.03;
    f = compared(5, &base, 5, &new, true);
    check_text(&f, 0, "decision", "slower");
    check_text(&f, 0, "path", "flux");
    row = table_row(f.table, "kind", "computing", "thread", "t0", "path", "rho",
                    NULL);
    check_text(&f, row, "decision", "no change found");
    cr_assert_eq(table_integer(f.table, row, "base_count"), MAX_STEPS - 1);
    found_end(&f);
}

/* Of the longer ones one step in eight is kept, of the others each. */
Test(diff, aligns_runs_of_different_lengths)
{
    recipe base = usual(), new = usual();
    size_t row;
    found f;

    state = 22;
    trace_capacity = 200000;
    base.steps = 16000;
    new.steps = LONG_STEPS;
    new.scale[1][1] = 1.1;
    f = compared(5, &base, 5, &new, false);
    row = table_row(f.table, "kind", "computing", "path", "flux", NULL);
    check_text(&f, row, "decision", "slower");
    cr_assert_gt(table_integer(f.table, row, "first_step"), 0);
    cr_assert_leq(table_integer(f.table, row, "last_step"), 16000);
    found_end(&f);
}

/* What one run in ten takes says nothing of the others. */
Test(diff, shows_what_the_base_takes_without_its_outlier)
{
    paths_map *map = instrumented(text);
    recipe base = usual(), new = usual(), slow = usual();
    double ns;
    found f;

    state = 23;
    new.scale[1][1] = 1.2;
    slow.run_noise = 0;
    for (int t = 0; t < THREADS; t++)
        for (int p = 0; p < PATHS; p++)
            slow.scale[t][p] = 50;
    check_status(scopes_diff_create(&f.diff, &standard), 0);
    add_runs(f.diff, SCOPES_DIFF_BASE, 9, map, &base);
    add_runs(f.diff, SCOPES_DIFF_BASE, 1, map, &slow);
    add_runs(f.diff, SCOPES_DIFF_NEW, 10, map, &new);
    check_status(scopes_diff_compare(f.diff, &f.summary), 0);
    check_status(scopes_diff_table(&f.table, f.diff, false), 0);
    check_text(&f, 0, "path", "flux");
    ns = (double)table_integer(f.table, 0, "base_ns");
    cr_assert(ns > 440000 && ns < 500000, "%g", ns);
    found_end(&f);
    paths_map_destroy(map);
}

/* --- other structures --- */

static const char other_text[] =
    "digraph one {\n"
    "  subgraph cluster_h0 {\n"
    "    t0 [kind=thread, number=0];\n"
    "    t9 [kind=thread, number=1];\n"
    "    r0 [kind=element, type=\"u8[8]\"];\n"
    "    f0 [kind=element, type=\"u8[8]\"];\n"
    "    halo [kind=element, type=\"u8[8]\", capacity=10000];\n"
    "    x [kind=element, type=\"u8[8]\", capacity=10000];\n"
    "  }\n"
    "  t0 -> r0 [as=rho, use=write];\n"
    "  t0 -> f0 [as=flux, use=write];\n"
    "  t0 -> halo [as=out, use=write];\n"
    "  t9 -> x [as=more, use=write];\n"
    "}\n";

/* The same with other names. */
static const char stranger_text[] =
    "digraph one {\n"
    "  subgraph cluster_h0 {\n"
    "    a [kind=thread, number=0];\n"
    "    b [kind=thread, number=1];\n"
    "    x [kind=element, type=\"u8[8]\", capacity=10000];\n"
    "  }\n"
    "  a -> x [as=rho, use=write];\n"
    "  b -> x [as=more, use=write];\n"
    "}\n";

static void make_other(const char *directory, const paths_map *map)
{
    bool strange = paths_map_find_node(map, "t0") == PATHS_NONE;
    uint32_t ids[2] = {fake_collector(map, strange ? "a" : "t0", "rho"),
                       fake_collector(map, strange ? "b" : "t9", "more")};
    fake_run *run;

    cr_assert_eq(mkdir(directory, 0700), 0);
    run = fake_run_begin(directory, map);
    cr_assert_not_null(run, "%s", pastset_error());
    for (uint32_t s = 1; s <= 20; s++) {
        for (uint32_t t = 0; t < 2; t++) {
            eventspace_trace event = {.start = FAKE_START + s * 1000000,
                                      .end = FAKE_START + s * 1000000 + 2000,
                                      .collector = ids[t],
                                      .thread = t,
                                      .sequence = s,
                                      .bytes = 8,
                                      .operation = PASTSET_WRITE};
            check_status(fake_run_event(run, &event), 0);
        }
    }
    check_status(fake_run_end(run), 0);
}

Test(diff, lists_what_only_one_side_has)
{
    paths_map *map = instrumented(text), *other = instrumented(other_text);
    const char *directory = scratch_file("other");
    recipe base = usual();
    found f;

    state = 13;
    check_status(scopes_diff_create(&f.diff, &standard), 0);
    add_runs(f.diff, SCOPES_DIFF_BASE, 5, map, &base);
    for (int i = 0; i < 5; i++) {
        make_other(directory, other);
        take(f.diff, SCOPES_DIFF_NEW, directory);
        remove_files(directory);
    }
    check_status(scopes_diff_compare(f.diff, &f.summary), 0);
    check_status(scopes_diff_table(&f.table, f.diff, false), 0);
    table_row(f.table, "decision", "only in new", "kind", "operation", "thread",
              "t9", "path", "more", NULL);
    table_row(f.table, "decision", "only in base", "kind", "operation",
              "thread", "t0", "path", "flux", NULL);
    table_row(f.table, "decision", "slower", "kind", "computing", "thread",
              "t0", "path", "rho", NULL);
    found_end(&f);
    paths_map_destroy(map);
    paths_map_destroy(other);
}

Test(diff, needs_runs_on_both_sides)
{
    paths_map *map = instrumented(text);
    recipe base = usual();
    scopes_diff *diff;

    check_status(scopes_diff_create(&diff, &standard), 0);
    check_status(scopes_diff_compare(diff, NULL), PASTSET_EINVAL);
    scopes_diff_destroy(diff);
    check_status(scopes_diff_create(&diff, &standard), 0);
    add_runs(diff, SCOPES_DIFF_BASE, 1, map, &base);
    check_status(scopes_diff_compare(diff, NULL), PASTSET_EINVAL);
    scopes_diff_destroy(diff);
    paths_map_destroy(map);
}

/* --- the command --- */

/* A folder with so many runs, named 1, 2 ... */
static const char *folder_make(const char *name, unsigned count,
                               const recipe *r)
{
    const char *folder = scratch_file("%s", name);
    paths_map *map = instrumented(text);

    cr_assert_eq(mkdir(folder, 0700), 0);
    for (unsigned i = 1; i <= count; i++)
        make_files(scratch_file("%s/%u", name, i), map, r);
    paths_map_destroy(map);
    return folder;
}

static void folders_make(unsigned count, double scale)
{
    recipe base = usual(), new = usual();

    new.scale[1][1] = scale;
    folder_make("base", count, &base);
    folder_make("new", count, &new);
}

/* Runs it, and looks at its exit code and for these parts of what it says. */
static void diff_says(int exit_code, const char *part, const char *more,
                      const char *a, const char *b, const char *option)
{
    char *output =
        command_run(exit_code, 60, EVENTSPACE, "diff", a, b, option, NULL);

    check_says(output, part);
    check_says(output, more);
    free(output);
}

Test(diff, ends_with_3_when_something_became_slower)
{
    state = 14;
    folders_make(6, 1.1);
    diff_says(3, "slower    computing  t1      flux  write",
              "1 slower, 0 faster", scratch_file("base"), scratch_file("new"),
              NULL);
    /* The other way round it is faster, which is no failure. */
    diff_says(0, "faster    computing  t1      flux  write",
              "0 slower, 1 faster", scratch_file("new"), scratch_file("base"),
              NULL);
    diff_says(0, "no change found", "1 changed by less than 20%",
              scratch_file("base"), scratch_file("new"), "--threshold=0.2");
    diff_says(3, "\"slower\":1,", "\"repeated\":true", scratch_file("base"),
              scratch_file("new"), "--format=json");
}

Test(diff, says_what_it_cannot_tell_from_single_runs)
{
    char *output;

    state = 15;
    folders_make(1, 3);
    diff_says(0, "1 and 1 runs are too few", "Give 5 runs of each",
              scratch_file("base/1"), scratch_file("new/1"), NULL);
    diff_says(0, "slower?", "perhaps slower or faster", scratch_file("base/1"),
              scratch_file("new/1"), NULL);
    diff_says(0, "base/1 is on both sides", "no change found",
              scratch_file("base/1"), scratch_file("base/1"), NULL);
    /* Of the time of a run there is one sample, in both. */
    output = command_run(0, 60, EVENTSPACE, "diff", scratch_file("base/1"),
                         scratch_file("new/1"), "--all", "--format=json", NULL);
    check_says(output, "\"not_in_all\":0");
    check_says(output, "\"decision\":\"too few samples\",\"kind\":\"run\"");
    free(output);
}

Test(diff, says_that_single_runs_are_too_short)
{
    recipe r = usual();

    state = 27;
    r.steps = 5;
    folder_make("base", 1, &r);
    folder_make("new", 1, &r);
    diff_says(1, "the runs have fewer than 10", "Give more runs of each",
              scratch_file("base"), scratch_file("new"), NULL);
}

/* A copy would make the base look as if it had no noise. */
Test(diff, refuses_copies_of_a_run)
{
    char *output;

    state = 24;
    folders_make(5, 1.2);
    free(command_run(0, 60, EVENTSPACE, "pack", scratch_file("base/5"),
                     "--output", scratch_file("base/6.tar.zst"), NULL));
    output = command_run(2, 60, EVENTSPACE, "diff", scratch_file("base"),
                         scratch_file("new"), NULL);
    check_says(output, "6.tar.zst are one run, which counts once");
    free(output);
}

Test(diff, takes_packed_runs_and_runs_one_by_one)
{
    char *output;

    state = 16;
    folders_make(5, 1.2);
    free(command_run(0, 60, EVENTSPACE, "pack", scratch_file("new/5"),
                     "--output", scratch_file("new/5.tar.zst"), NULL));
    remove_files(scratch_file("new/5"));
    diff_says(3, "slower    computing  t1      flux  write", "runs: 5 with 5",
              scratch_file("base"), scratch_file("new"), NULL);
    output = command_run(3, 60, EVENTSPACE, "diff", scratch_file("base/1"),
                         scratch_file("base/2"), "--against",
                         scratch_file("new"), scratch_file("base/3"),
                         scratch_file("base/4"), scratch_file("base/5"), NULL);
    check_says(output, "runs: 5 with 5");
    free(output);
}

/* Runs of which processes were killed, damaged files, and lost events. */
static void set_killed(const char *directory)
{
    char file[4096];
    eventspace_meta meta;

    snprintf(file, sizeof(file), "%s/h0.meta", directory);
    check_status(eventspace_meta_load(&meta, file), 0);
    meta.state = EVENTSPACE_KILLED;
    check_status(eventspace_meta_save(&meta, file), 0);
}

Test(diff, leaves_out_what_has_not_finished)
{
    recipe lost = usual();

    state = 17;
    folders_make(6, 1.2);
    set_killed(scratch_file("new/6"));
    diff_says(3, "new/6 has not finished; it is left out", "runs: 6 with 5",
              scratch_file("base"), scratch_file("new"), NULL);
    folder_make("short", 1, &lost);
    set_killed(scratch_file("short/1"));
    diff_says(0, "compared as far as it came", "runs: 6 with 1",
              scratch_file("base"), scratch_file("short"), NULL);
    lost.steps = 1000; /* the trace elements have 2000 tuples */
    folder_make("lost", 1, &lost);
    set_killed(scratch_file("lost/1"));
    diff_says(1, "compared as far as it came", "events are lost",
              scratch_file("base"), scratch_file("lost"), NULL);
    /* Whether it has finished is not known, and why not is said. */
    cr_assert_eq(truncate(scratch_file("new/5/h0.meta"), 3), 0);
    diff_says(3, "new/5/h0.meta: ", "new/5 has not finished; it is left out",
              scratch_file("base"), scratch_file("new"), NULL);
    unlink(scratch_file("new/1/h0.space"));
    diff_says(1, "new/1: no event of it can be read", "eventspace info",
              scratch_file("base"), scratch_file("new"), NULL);
    cr_assert_eq(truncate(scratch_file("base/1/h0.space"), 100), 0);
    diff_says(
        1, "base/1/h0.space is damaged: ", "base/1: no event of it can be read",
        scratch_file("base/1"), scratch_file("base/2"), NULL);
}

Test(diff, says_how_many_events_are_lost)
{
    recipe r = usual();

    state = 18;
    r.steps = 400;
    trace_capacity = 500;
    folder_make("lost", 6, &r);
    folder_make("others", 6, &r);
    diff_says(0, "lost/1: 1400 of 2400 events are lost", "no change found",
              scratch_file("lost"), scratch_file("others"), NULL);
}

/* What lies next to lost events looks different, though nothing is. */
Test(diff, takes_no_loss_for_a_change)
{
    recipe r = usual();

    state = 25;
    r.steps = 300;
    folder_make("whole", 6, &r);
    trace_capacity = 500;
    folder_make("oldest", 6, &r);
    trace_policy = "grow";
    folder_make("newest", 6, &r);
    diff_says(0, "oldest/1: 800 of 1800 events are lost", "no change found",
              scratch_file("whole"), scratch_file("oldest"), NULL);
    diff_says(0, "newest/1: 800 of 1800 events are lost", "no change found",
              scratch_file("newest"), scratch_file("whole"), NULL);
    diff_says(0, "1 item is not in all runs", "no change found",
              scratch_file("oldest"), scratch_file("whole"), NULL);
    trace_capacity = 300;
    folder_make("last", 6, &r);
    diff_says(1, "nothing can be compared: as events are missing",
              "--trace-size of `eventspace map instrument`",
              scratch_file("oldest"), scratch_file("last"), NULL);
}

/* The first step that is there follows one that is not. */
Test(diff, takes_no_missing_steps_for_a_long_one)
{
    recipe r = usual();

    state = 26;
    folder_make("base", 6, &r);
    r.lost = 25;
    folder_make("new", 6, &r);
    diff_says(0, "no change found", "0 slower, 0 faster", scratch_file("base"),
              scratch_file("new"), NULL);
}

/* Of a program that ran: what its map and its definitions name. */
Test(diff, knows_hops_and_regions)
{
    static const char sums[] = "digraph sums {\n"
                               "  t0 [kind=thread, number=0];\n"
                               "  t1 [kind=thread, number=1];\n"
                               "  total [kind=element, type=\"u64\"];\n"
                               "  t0 -> total [use=sum];\n"
                               "  t1 -> total [use=sum];\n"
                               "}\n";
    const char *plain = scratch_file("plain.dot");
    const char *map = scratch_file("map.dot");
    char *output;

    free(command_run(0, 60, EVENTSPACE, "map", "generate", "--application",
                     scratch_write("app.dot", sums), "--processes=2",
                     "--output", plain, NULL));
    free(command_run(0, 60, EVENTSPACE, "map", "instrument", plain, "--output",
                     map, NULL));
    for (int i = 0; i < 2; i++)
        free(command_run(0, 60, EVENTSPACE, "run", map, "--output",
                         scratch_file(i ? "new" : "base"), "--",
                         TEST_BINARY_DIR "/regions_app", "100", NULL));
    output = command_run(0, 60, EVENTSPACE, "diff", scratch_file("base"),
                         scratch_file("new"), "--all", "--format=csv", NULL);
    check_says(output, ",region,t0,compute,,");
    check_says(output, ",region,t1,add,,");
    check_says(output, ",hop,,total,down t1.total.ec1 > t1.total.ec2,");
    check_says(output, ",hop,,total,up total.sum.ec > t0.total.ec1,");
    check_says(output, ",waiting,t0,total,exchange,");
    check_says(output, ",operation,t1,total,exchange,");
    check_says(output, ",computing,t1,total,exchange,");
    check_says(output, ",step,");
    free(output);
}

Test(diff, refuses_what_it_cannot_compare)
{
    paths_map *other = instrumented(stranger_text);
    char *output;

    state = 19;
    folders_make(2, 1);
    cr_assert_eq(mkdir(scratch_file("empty"), 0700), 0);
    output = command_run(2, 60, EVENTSPACE, "diff", scratch_file("base"), NULL);
    check_says(output, "NEW is missing");
    free(output);
    diff_says(2, "which of the 3 runs are new?", "--against=RUN",
              scratch_file("base/1"), scratch_file("base/2"),
              scratch_file("new/1"));
    diff_says(2, "'1%' is not a share; write 0.01", "--help",
              scratch_file("base"), scratch_file("new"), "--threshold=1%");
    diff_says(1, "neither a run nor a folder of runs",
              "eventspace: ", scratch_file("base"), scratch_file("empty"),
              NULL);
    diff_says(1, "No such file", "nowhere", scratch_file("base"),
              scratch_file("nowhere"), NULL);
    output = command_run(2, 60, EVENTSPACE, "diff", scratch_file("base/1"),
                         scratch_file("base/1"), "--against",
                         scratch_file("new/1"), NULL);
    check_says(output, "are one run, which counts once");
    free(output);
    make_other(scratch_file("other"), other);
    diff_says(1, "the runs have nothing in common", "path or region",
              scratch_file("base"), scratch_file("other"), NULL);
    paths_map_destroy(other);
}
