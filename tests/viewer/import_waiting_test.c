/* import_waiting_test.c - what the views wait-states, delay-costs and
 * efficiency tell of imported traces of MPI programs, beside what is true of
 * these: programs made up at random, which a simulator has run that knows
 * (simulated_mpi.h). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/scopes/told.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"
#include "tests/viewer/simulated_mpi.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define SEEDS 40
#define NOISE_NS 20000
#define PLANTED_NS 4000000

TestSuite(waiting, .timeout = 300, .init = scratch_make,
          .fini = scratch_remove);

static const char *const kinds[TRUE_KINDS] = {
    "late sender",  "late receiver",  "wait at barrier", "wait at N x N",
    "early reduce", "late broadcast", "early scan"};

/* --- a run of a program --- */

static void imported(told *t, const simulated *program, const int64_t *ahead_ns,
                     simulated_truth *truth)
{
    static unsigned made;
    char *trace = strdup(scratch_file("trace.%u", made));
    char *directory = strdup(scratch_file("run.%u", made++));
    char *file;
    otf2_make *m = otf2_make_begin(trace, program->ranks, ahead_ns);

    simulated_run(program, false, m, truth);
    otf2_make_end(m);
    cr_assert_gt(asprintf(&file, "%s/trace.otf2", trace), 0);
    free(command_run(0, 60, EVENTSPACE, "import", file, "--output", directory,
                     NULL));
    told_run(t, directory);
    free(file);
    free(trace);
    free(directory);
}

static uint32_t rank_of(const char *thread)
{
    uint32_t rank = UINT32_MAX;

    cr_assert_eq(sscanf(thread, "rank_%u", &rank), 1, "%s", thread);
    return rank;
}

/* --- wait states --- */

static int kind_of(const char *name)
{
    for (int k = 0; k < TRUE_KINDS; k++)
        if (strcmp(kinds[k], name) == 0)
            return k;
    cr_assert_fail("there is no kind %s", name);
    return -1;
}

static void check_wait_states(told *t, const simulated_truth *truth,
                              unsigned seed)
{
    scopes_table *table = told_view(t, "wait-states");
    simulated_truth seen = {0};

    for (size_t i = 0; i < scopes_table_rows(table); i++) {
        int64_t ns = table_integer(table, i, "total_ns");
        seen.wait_ns[kind_of(table_text(table, i, "kind"))]
                    [rank_of(table_text(table, i, "thread"))]
                    [rank_of(table_text(table, i, "for_thread"))] += ns;
        seen.all_wait_ns += ns;
    }
    for (int k = 0; k < TRUE_KINDS; k++)
        for (int a = 0; a < SIMULATED_RANKS; a++)
            for (int b = 0; b < SIMULATED_RANKS; b++)
                cr_assert_eq(seen.wait_ns[k][a][b], truth->wait_ns[k][a][b],
                             "seed %u: %s, %d for %d: %ld, not %ld", seed,
                             kinds[k], a, b, (long)seen.wait_ns[k][a][b],
                             (long)truth->wait_ns[k][a][b]);
    cr_assert_eq(seen.all_wait_ns, truth->all_wait_ns);
    scopes_table_destroy(table);
}

/* --- efficiency --- */

static void check_share(const scopes_table *table, const char *key,
                        double expected, unsigned seed)
{
    cr_assert_float_eq(table_real(table, 0, key), expected, 1e-6,
                       "seed %u: %s is %.9f, not %.9f", seed, key,
                       table_real(table, 0, key), expected);
}

/* The parts of a run: what they tell is that of the whole. */
static void check_parts(told *t, const simulated_truth *truth, double mean_ns)
{
    scopes_table *table;
    double useful_ns = 0;
    int64_t runtime_ns = 0;

    t->view_input.each = true;
    table = told_view(t, "efficiency");
    t->view_input.each = false;
    for (size_t i = 0; i < scopes_table_rows(table); i++) {
        cr_assert_leq(table_real(table, i, "serialisation_share"), 1);
        cr_assert_leq(table_real(table, i, "transfer_share"), 1);
        useful_ns += (double)table_integer(table, i, "mean_useful_ns");
        runtime_ns += table_integer(table, i, "runtime_ns");
    }
    cr_assert_eq(runtime_ns, truth->end_ns);
    cr_assert_float_eq(useful_ns, mean_ns, 20);
    scopes_table_destroy(table);
}

static void check_efficiency(told *t, const simulated *program,
                             const simulated_truth *truth, unsigned seed)
{
    scopes_table *table = told_view(t, "efficiency");
    double runtime_ns = (double)truth->end_ns, mean_ns = 0, max_ns = 0,
           ideal_ns;
    simulated_truth ideal;

    simulated_run(program, true, NULL, &ideal);
    ideal_ns = (double)ideal.end_ns;
    for (uint32_t r = 0; r < program->ranks; r++) {
        mean_ns += (double)truth->useful_ns[r] / program->ranks;
        max_ns = fmax(max_ns, (double)truth->useful_ns[r]);
    }
    cr_assert_eq(scopes_table_rows(table), 1);
    check_share(table, "parallel_share", mean_ns / runtime_ns, seed);
    check_share(table, "load_balance_share", mean_ns / max_ns, seed);
    check_share(table, "communication_share", max_ns / runtime_ns, seed);
    check_share(table, "serialisation_share", max_ns / ideal_ns, seed);
    check_share(table, "transfer_share", ideal_ns / runtime_ns, seed);
    scopes_table_destroy(table);
    check_parts(t, truth, mean_ns);
}

/* --- the culprit --- */

/* Of what it computed; and all of all. */
static double share_of(const scopes_table *table, uint32_t rank, double *all)
{
    double share = 0;

    *all = 0;
    for (size_t i = 0; i < scopes_table_rows(table); i++) {
        double own = table_real(table, i, "delays_share");
        *all += own;
        if (rank_of(table_text(table, i, "thread")) == rank &&
            strcmp(table_text(table, i, "what"), "computing") == 0)
            share += own;
    }
    return share;
}

/* In a few of its steps the rank computes longer, and others wait for that. */
static void check_culprit(told *t, const simulated_truth *truth,
                          const simulated_truth *without, uint32_t rank,
                          unsigned seed)
{
    scopes_table *table = told_view(t, "delay-costs");
    double all, share = share_of(table, rank, &all);
    double expected = (double)(truth->all_wait_ns - without->all_wait_ns) /
                      (double)truth->all_wait_ns;
    char *dump = table_dump(table);

    cr_assert_float_eq(all, 1, 1e-3, "seed %u: %f\n%s", seed, all, dump);
    cr_assert_eq(rank_of(table_text(table, 0, "thread")), rank,
                 "seed %u: not rank %u\n%s", seed, rank, dump);
    cr_assert_float_eq(share, expected, 0.05, "seed %u: %f, not %f\n%s", seed,
                       share, expected, dump);
    free(dump);
    scopes_table_destroy(table);
}

static uint32_t plant(simulated *program, unsigned seed)
{
    uint32_t rank = seed % program->ranks;

    for (uint32_t i = 2 + seed % 3; i < program->count; i += 7)
        program->steps[i].compute_ns[rank] += PLANTED_NS;
    return rank;
}

static void check_seed(unsigned seed, int64_t noise_ns, bool planted)
{
    simulated program;
    simulated_truth without, truth;
    uint32_t rank = 0;
    told t;

    simulated_make(&program, seed, noise_ns);
    simulated_run(&program, false, NULL, &without);
    if (planted)
        rank = plant(&program, seed);
    imported(&t, &program, NULL, &truth);
    check_wait_states(&t, &truth, seed);
    check_efficiency(&t, &program, &truth, seed);
    if (planted)
        check_culprit(&t, &truth, &without, rank, seed);
    told_end(&t);
}

Test(waiting, of_programs_with_a_late_rank_is_told_as_it_was)
{
    for (unsigned seed = 0; seed < SEEDS; seed++)
        check_seed(seed, NOISE_NS, true);
}

Test(waiting, of_programs_in_which_all_are_late_is_told_as_it_was)
{
    for (unsigned seed = SEEDS; seed < SEEDS + SEEDS / 2; seed++)
        check_seed(seed, 5000000, false);
}

/* Clocks are aligned by the messages, as well as these tell. */
Test(waiting, the_late_rank_is_found_where_clocks_differ)
{
    static const int64_t ahead_ns[SIMULATED_RANKS] = {
        0, 70000000, 3000, 9000000000, 5, 400000, 1234567, 90};

    for (unsigned seed = 0; seed < 20; seed++) {
        simulated program;
        simulated_truth without, truth;
        uint32_t rank;
        told t;
        simulated_make(&program, seed, NOISE_NS);
        simulated_run(&program, false, NULL, &without);
        rank = plant(&program, seed);
        imported(&t, &program, ahead_ns, &truth);
        check_culprit(&t, &truth, &without, rank, seed);
        told_end(&t);
    }
}
