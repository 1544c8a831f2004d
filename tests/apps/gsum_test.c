/* gsum_test.c - runs of gsum beside its sequential computation. All sums are
 * of whole numbers below 2^53, so that they must be equal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/application.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define GSUM TEST_BINARY_DIR "/gsum"

TestSuite(gsum, .init = scratch_make, .fini = scratch_remove, .timeout = 300);

typedef struct problem {
    const char *threads, *doubles, *spectators;
} problem;

static json_t *single(const problem *p)
{
    const char *out = scratch_file("single");

    free(command_run(0, 20, GSUM, "single", "--threads", p->threads,
                     "--doubles", p->doubles, "--spectators", p->spectators,
                     "--output", out, NULL));
    return results_read("gsum", out);
}

/* `option` is one more of `mapping`. */
static const char *map_make(const problem *p, const char *processes,
                            const char *option)
{
    return map_generated(command_run(0, 20, GSUM, "mapping", "--threads",
                                     p->threads, "--doubles", p->doubles,
                                     "--spectators", p->spectators, option,
                                     NULL),
                         processes);
}

/* Runs, and compares with `single`. The caller frees what the run has told. */
static json_t *check_run(const problem *p, const char *processes,
                         const char *option)
{
    json_t *want = single(p);
    json_t *got = run_results("gsum", map_make(p, processes, option), 60);

    cr_expect_str_eq(result_text(got, "checksum"),
                     result_text(want, "checksum"), "%s threads, %s processes",
                     p->threads, processes);
    cr_expect_eq(result_count(got, "rounds"), result_count(want, "rounds"));
    cr_expect_eq(result_count(got, "doubles"), result_count(want, "doubles"));
    cr_expect_eq(result_count(got, "contributors"),
                 result_count(want, "contributors"));
    json_decref(want);
    return got;
}

static void check_processes(const problem *p)
{
    json_decref(check_run(p, "1", NULL));
    json_decref(check_run(p, "2", NULL));
    json_decref(check_run(p, "4", NULL));
}

/* --- the sums --- */

/* Round 0 has the weight 1, round 1 the weight 8: 1 (1+2+3+4) + 3 (8 * 10). */
Test(gsum, has_a_known_checksum)
{
    char *said = command_run(0, 20, GSUM, "single", "--threads=4", "--seed=0",
                             "--rounds=2", NULL);

    check_says(said, "00000000000000fa");
    free(said);
}

Test(gsum, has_other_sums_with_another_seed)
{
    char *said = command_run(0, 20, GSUM, "single", "--threads=4", "--seed=1",
                             "--rounds=1", NULL);

    check_says(said, "0000000000000014");
    free(said);
}

/* --- runs --- */

Test(gsum, is_exact_with_four_threads)
{
    check_processes(&(problem){"4", "1", "0"});
}

Test(gsum, is_exact_with_three_threads_and_many_doubles)
{
    check_processes(&(problem){"3", "1000", "0"});
}

Test(gsum, is_exact_with_one_thread)
{
    check_processes(&(problem){"1", "2", "0"});
}

Test(gsum, lets_spectators_read_the_last_sums)
{
    check_processes(&(problem){"5", "2", "1"});
    check_processes(&(problem){"4", "1", "3"});
}

Test(gsum, is_exact_with_every_shape_of_tree)
{
    const problem p = {"9", "1", "0"};

    json_decref(check_run(&p, "2", "--shape=flat"));
    json_decref(check_run(&p, "2", "--shape=hierarchical"));
    json_decref(check_run(&p, "2", "--shape=binomial"));
    json_decref(check_run(&p, "4", "--shape=binomial"));
    json_decref(check_run(&p, "2", "--fanout=2"));
    json_decref(check_run(&p, "1", "--fanout=3"));
}

Test(gsum, computes_between_sums_for_as_long_as_it_is_told)
{
    json_t *got = check_run(&(problem){"2", "1", "0"}, "2", "--compute=300us");

    /* Never much faster than calibrated; slower, when others are running. */
    cr_expect_geq(result_value(got, "compute_us_median"), 250);
    cr_expect_geq(result_value(got, "round_us_median"),
                  result_value(got, "compute_us_median"));
    cr_expect_geq(result_value(got, "round_us_median"),
                  result_value(got, "sum_us_median"));
    json_decref(got);
}

/* --- mistakes --- */

/* With the wrappers of the map turned into others every sum is wrong. */
Test(gsum, finds_sums_that_are_wrong)
{
    const char *map = map_make(&(problem){"4", "1", "0"}, "2", NULL);
    char *text = file_read(map, NULL), *said, *at = text;

    while ((at = strstr(at, "kind=sum")))
        memcpy(at, "kind=max", 8);
    said = run_output("gsum", scratch_write("max.dot", text), 1, 30);
    check_says(said, "round 0: sum 0 is 8, not 20");
    free(said);
    free(text);
}

Test(gsum, refuses_more_doubles_than_the_map_has)
{
    const char *map = map_make(&(problem){"2", "1", "0"}, "1", NULL);
    char *said = command_run(1, 30, EVENTSPACE, "run", map, "--output",
                             scratch_file("run"), "--", GSUM, "run",
                             "--doubles=2", NULL);

    check_says(said, "make the map again with `gsum mapping --doubles=2`");
    free(said);
}

Test(gsum, refuses_arguments_that_cannot_be)
{
    static const char *const wrong[][2] = {
        {"--spectators=4", "at least one of 4 threads must contribute"},
        {"--doubles=0", "expected a number from 1"},
        {"--doubles=8388609", "expected a number from 1"},
        {"--compute=5", "--compute=5: "},
        {"--shape=round", "expected one of flat, hierarchical, binomial"},
        {"--fanout=1", "expected a number from 2"},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char *said = command_run(2, 20, GSUM, "mapping", wrong[i][0], NULL);
        check_says(said, wrong[i][1]);
        free(said);
    }
}
