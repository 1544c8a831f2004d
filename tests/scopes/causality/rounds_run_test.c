/* rounds_run_test.c - rounds of collectives in runs of trees that were
 * generated. Which round an operation is of is known beforehand: the r-th sum
 * of each thread is of round r. */
#include <stdlib.h>

#include "scopes/causality/rounds.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"
#include "scopes/reading/reading_internal.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define GSUM TEST_BINARY_DIR "/gsum"

#define ROUNDS 200
#define THREADS 7
#define SEQUENCES 4096

static eventspace_run *run;
static const paths_map *map;
static scopes_topology *topology;
static scopes_event_table *event_table;
/* By thread and sequence: the round, or SCOPES_MISSING. */
static uint32_t truth[THREADS][SEQUENCES];

static void close_run(void)
{
    scopes_event_table_destroy(event_table);
    scopes_topology_destroy(topology);
    eventspace_run_close(run);
    event_table = NULL;
    topology = NULL;
    run = NULL;
}

static void clean(void)
{
    close_run();
    scratch_remove();
}

TestSuite(rounds_run, .timeout = 600, .init = scratch_make, .fini = clean);

/* --- runs --- */

static void load(void)
{
    scopes_filter all = {0};
    scopes_source *source;

    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    map = eventspace_run_map(run);
    check_status(scopes_topology_create(&topology, map), 0);
    check_status(scopes_source_open(&source, run), 0);
    check_status(scopes_event_table_load(&event_table, source, &all), 0);
    scopes_source_close(source);
    cr_assert_eq(event_table->ledger.lost, 0);
}

static void find_truth(void)
{
    memset(truth, 0xff, sizeof(truth));
    for (uint32_t i = 0; i < topology->top_count; i++) {
        const scopes_top *top = &topology->tops[i];
        const scopes_series *series =
            scopes_event_series(event_table, top->collector);
        if (top->site == PATHS_NONE)
            continue;
        cr_assert_eq(series->count, ROUNDS);
        for (uint32_t r = 0; r < ROUNDS; r++) {
            cr_assert_lt(scopes_event_at(series->events, r)->sequence,
                         SEQUENCES);
            truth[top->thread][scopes_event_at(series->events, r)->sequence] =
                r;
        }
    }
}

static void run_make(const char *shape, const char *collectors)
{
    char *application = command_run(0, 60, GSUM, "mapping", "--threads=7",
                                    "--shape", shape, NULL);
    const char *file = scratch_write("application.dot", application);

    free(command_run(0, 60, EVENTSPACE, "map", "generate", "--application",
                     file, "--processes", "3", "-o", scratch_file("bare.dot"),
                     NULL));
    free(command_run(0, 60, EVENTSPACE, "map", "instrument",
                     scratch_file("bare.dot"), "--collectors", collectors, "-o",
                     scratch_file("map.dot"), NULL));
    free(command_run(0, 200, EVENTSPACE, "run", scratch_file("map.dot"),
                     "--output", scratch_file("run"), "--replace", "--", GSUM,
                     "--rounds", "200", NULL));
    free(application);
    load();
    find_truth();
}

/* --- checks --- */

static uint32_t truth_of(const eventspace_trace *event)
{
    cr_assert(event->thread < THREADS && event->sequence < SEQUENCES);
    return truth[event->thread][event->sequence];
}

/* All events of a round are of one true round, which is given. */
static uint32_t check_round(const scopes_rounds *rounds, uint32_t r)
{
    const scopes_site *m = rounds->site;
    uint32_t is = SCOPES_MISSING;

    for (uint32_t i = 0; i <= rounds->inputs; i++) {
        uint32_t id = i < rounds->inputs ? m->inputs.ids[i] : m->lower;
        uint32_t at = i < rounds->inputs
                          ? rounds->events[r * rounds->inputs + i]
                          : rounds->below[r];
        const scopes_series *series = scopes_event_series(event_table, id);
        if (at == SCOPES_MISSING)
            continue;
        if (is == SCOPES_MISSING)
            is = truth_of(scopes_event_at(series->events, at));
        cr_assert_eq(is, truth_of(scopes_event_at(series->events, at)));
        if (id == m->lower)
            cr_assert_eq(rounds->last[r],
                         scopes_topology_input(
                             topology, (uint32_t)(m - topology->sites),
                             scopes_event_at(series->events, at)->thread));
    }
    cr_assert_neq(is, SCOPES_MISSING);
    return is;
}

static void check_whole(void)
{
    cr_assert_gt(topology->site_count, 0);
    for (uint32_t i = 0; i < topology->site_count; i++) {
        scopes_rounds *rounds;
        check_status(scopes_rounds_create(&rounds, topology, event_table, i),
                     0);
        cr_assert_eq(rounds->count, ROUNDS);
        cr_assert(rounds->complete);
        for (uint32_t r = 0; r < ROUNDS; r++)
            cr_assert_eq(check_round(rounds, r), r);
        scopes_rounds_destroy(rounds);
    }
}

/* Loses one event in five. */
static void lose(void)
{
    static eventspace_trace kept[100000];
    scopes_ledger ledger = {0};

    for (uint32_t id = 0; id < event_table->collectors; id++) {
        const scopes_series *series = scopes_event_series(event_table, id);
        for (size_t i = 0; i < series->count; i++) {
            if (rand() % 5 && ledger.read < 100000)
                kept[ledger.read++] = *scopes_event_at(series->events, i);
            ledger.recorded++;
        }
    }
    ledger.lost = ledger.recorded - ledger.read;
    scopes_event_table_destroy(event_table);
    check_status(scopes_event_table_create(&event_table, map, kept,
                                           (size_t)ledger.read, &ledger),
                 0);
}

static void check_lossy(void)
{
    uint64_t whole = 0;

    lose();
    for (uint32_t i = 0; i < topology->site_count; i++) {
        scopes_rounds *rounds;
        check_status(scopes_rounds_create(&rounds, topology, event_table, i),
                     0);
        cr_assert_not(rounds->complete);
        for (uint32_t r = 0; r < rounds->count; r++)
            check_round(rounds, r);
        whole += rounds->count;
        scopes_rounds_destroy(rounds);
    }
    cr_assert_gt(whole, topology->site_count * ROUNDS / 2);
}

static void check_shape(const char *shape)
{
    run_make(shape, "all");
    check_whole();
    check_lossy();
    close_run();
    run_make(shape, "threads");
    check_whole();
    check_lossy();
}

Test(rounds_run, of_a_flat_tree)
{
    check_shape("flat");
}

Test(rounds_run, of_a_hierarchical_tree)
{
    check_shape("hierarchical");
}

Test(rounds_run, of_a_binomial_tree)
{
    check_shape("binomial");
}
