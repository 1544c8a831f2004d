/* barrier_test.c - the plan of barrier, its runs, and that a run in which the
 * barrier is none is found out. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/application.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define BARRIER TEST_BINARY_DIR "/barrier"
#define THREADS_MAX 8
#define ROUNDS 20 /* of size S */

TestSuite(barrier, .init = scratch_make, .fini = scratch_remove,
          .timeout = 300);

/* `option` and `more` are of `single` as well. */
static json_t *single(const char *threads, const char *option, const char *more)
{
    const char *out = scratch_file("single");

    free(command_run(0, 20, BARRIER, "single", "--threads", threads, "--output",
                     out, option, more, NULL));
    return results_read("barrier", out);
}

static const char *map_make(const char *threads, const char *processes,
                            const char *option, const char *more)
{
    return map_generated(command_run(0, 20, BARRIER, "mapping", "--threads",
                                     threads, option, more, NULL),
                         processes);
}

/* --- arrivals.csv --- */

typedef struct line {
    unsigned round, thread;
    char process[16];
    uint64_t arrived_ns, left_ns;
} line;

static bool line_read(FILE *file, line *l)
{
    int got = fscanf(file, "%u,%u,%15[^,],%" SCNu64 ",%" SCNu64 "\n", &l->round,
                     &l->thread, l->process, &l->arrived_ns, &l->left_ns);

    cr_assert(got == 5 || got == EOF, "%d fields", got);
    return got == 5;
}

/* The lines of a round; who was last. Nobody left before. As all processes are
 * on one machine they have one clock, which may be set meanwhile, but is
 * not. */
static unsigned check_round(FILE *file, unsigned round, unsigned threads)
{
    line l[THREADS_MAX];
    unsigned last = 0;

    for (unsigned i = 0; i < threads; i++) {
        cr_assert(line_read(file, &l[i]), "round %u has no thread %u", round,
                  i);
        cr_assert_eq(l[i].round, round);
        cr_assert_eq(l[i].thread, i);
        if (l[i].arrived_ns > l[last].arrived_ns)
            last = i;
    }
    for (unsigned i = 0; i < threads; i++)
        cr_expect_geq(l[i].left_ns, l[last].arrived_ns,
                      "round %u: thread %u left before thread %u came", round,
                      i, last);
    return last;
}

static void check_arrivals(const json_t *got, unsigned threads, unsigned late)
{
    FILE *file = fopen(scratch_file("run/arrivals.csv"), "r");
    uint64_t last_late = 0, rounds = result_count(got, "rounds");
    char head[64];
    line more;

    cr_assert_not_null(file);
    cr_assert_not_null(fgets(head, sizeof(head), file));
    cr_expect_str_eq(head, "round,thread,process,arrived_ns,left_ns\n");
    for (unsigned round = 0; round < rounds; round++)
        last_late += check_round(file, round, threads) == late;
    cr_expect_not(line_read(file, &more));
    cr_expect_eq(result_count(got, "last_late"), last_late);
    fclose(file);
}

/* --- runs --- */

/* What was measured must at least be possible. */
static void check_counts(const json_t *got)
{
    uint64_t rounds = result_count(got, "rounds");
    uint64_t late = result_count(got, "last_late");

    cr_expect_leq(late, result_count(got, "last_late_on_process"));
    cr_expect_leq(late, result_count(got, "last_process"));
    cr_expect_leq(result_count(got, "last_late_on_process"), rounds);
    cr_expect_leq(result_count(got, "last_process"), rounds);
    cr_expect_leq(result_count(got, "last_planned"), rounds);
    cr_expect_geq(result_value(got, "round_us_mean") * (double)rounds * 1e3,
                  (double)result_count(got, "planned_ns"));
}

static void check_run(const char *threads, const char *processes, unsigned late,
                      const char *option, const char *more)
{
    json_t *want = single(threads, option, more);
    json_t *got =
        run_results("barrier", map_make(threads, processes, option, more), 60);

    cr_expect_eq(result_count(got, "rounds"), result_count(want, "rounds"));
    cr_expect_eq(result_count(got, "planned_late"),
                 result_count(want, "planned_late"));
    cr_expect_eq(result_count(got, "planned_ns"),
                 result_count(want, "planned_ns"));
    check_counts(got);
    check_arrivals(got, (unsigned)atoi(threads), late);
    json_decref(want);
    json_decref(got);
}

Test(barrier, goes_as_planned_with_four_threads)
{
    check_run("4", "1", 0, NULL, NULL);
    check_run("4", "2", 0, NULL, NULL);
    check_run("4", "4", 0, NULL, NULL);
}

Test(barrier, goes_as_planned_with_three_threads_and_another_late_one)
{
    check_run("3", "1", 2, "--late=2", "--seed=5");
    check_run("3", "2", 2, "--late=2", "--seed=5");
    check_run("3", "4", 1, "--late=1", "--seed=6");
}

Test(barrier, goes_as_planned_with_one_thread)
{
    check_run("1", "1", 0, NULL, NULL);
    check_run("1", "2", 0, NULL, NULL);
}

Test(barrier, goes_as_planned_with_more_threads_than_processors)
{
    check_run("8", "4", 7, "--late=7", NULL);
}

/* More rounds than one tuple has notes of. */
Test(barrier, collects_the_notes_of_many_rounds)
{
    check_run("3", "2", 0, "--rounds=150", "--wait=100us");
}

Test(barrier, needs_no_element_for_the_order)
{
    char *mapping = command_run(0, 20, BARRIER, "mapping", "--unchecked", NULL);

    cr_expect_null(strstr(mapping, "order"));
    free(mapping);
    check_run("4", "2", 0, "--unchecked", NULL);
}

/* With a late one that waits ten times as long as all others, it is the last
 * in nearly all rounds, whatever else is running. */
Test(barrier, finds_the_late_one_to_be_the_last)
{
    json_t *got = run_results(
        "barrier", map_make("4", "2", "--wait=500us", "--late-wait=30ms"), 60);

    cr_expect_gt(result_count(got, "last_late"), ROUNDS / 2);
    json_decref(got);
}

/* --- a barrier that is none --- */

/* Delays of no time stand in the place of the barriers: everybody passes. */
Test(barrier, finds_out_who_leaves_too_early)
{
    static const char barrier[] = "kind=barrier", delay[] = "kind=delay";
    char *text = file_read(map_make("4", "2", NULL, NULL), NULL);
    char *open = NULL, *from = text, *at, *said;
    size_t bytes;
    FILE *out = open_memstream(&open, &bytes);

    while ((at = strstr(from, barrier))) {
        fprintf(out, "%.*s%s, latency=0", (int)(at - from), from, delay);
        from = at + strlen(barrier);
    }
    fputs(from, out);
    fclose(out);
    said = run_output("barrier", scratch_write("open.dot", open), 1, 30);
    check_says(said, " left the barrier of round ");
    check_says(said, " of 4 threads had arrived");
    free(said);
    free(open);
    free(text);
}

/* --- the plan --- */

/* The late one is the last by plan with probability 1 - E[max of the others] /
 * 4 (in longest waits of the others), and the maximum of 31 is 31/32 in the
 * mean: 0.758. Of 10,000 rounds a standard deviation is 43. */
Test(barrier, plans_the_late_one_last_as_often_as_it_must_be)
{
    json_t *plan = single("32", "--rounds=10000", NULL);
    double late = (double)result_count(plan, "planned_late");

    cr_expect_lt(late, 7578 + 5 * 43);
    cr_expect_gt(late, 7578 - 5 * 43);
    json_decref(plan);
}

Test(barrier, plans_otherwise_with_another_seed_and_not_with_the_same)
{
    json_t *one = single("4", NULL, NULL), *two = single("4", "--seed=2", NULL);
    json_t *again = single("4", "--seed=1", NULL);

    cr_expect_neq(result_count(one, "planned_ns"),
                  result_count(two, "planned_ns"));
    cr_expect_eq(result_count(one, "planned_ns"),
                 result_count(again, "planned_ns"));
    json_decref(one);
    json_decref(two);
    json_decref(again);
}

Test(barrier, refuses_arguments_that_cannot_be)
{
    static const char *const wrong[][2] = {
        {"--late=4", "--late=4: the threads are 0 to 3"},
        {"--late=x", "expected a number from 0"},
        {"--wait=soon", "--wait=soon: "},
        {"--rounds=0", "expected a number from 1"},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        free(command_run(2, 20, BARRIER, "single", wrong[i][0], NULL));
        char *said = command_run(2, 20, BARRIER, "mapping", wrong[i][0], NULL);
        check_says(said, wrong[i][1]);
        free(said);
    }
}
