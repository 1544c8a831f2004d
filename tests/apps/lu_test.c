/* lu_test.c - the mathematics of lu, and its runs beside its sequential
 * computation. */
#include "apps/lu/lu.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "tests/support/application.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define LU TEST_BINARY_DIR "/lu"

TestSuite(lu, .init = scratch_make, .fini = scratch_remove, .timeout = 600);

/* --- the problem --- */

static lu_problem problem_of(char size)
{
    program_options options = {.size = size, .seed = 1};
    lu_problem p;

    check_status(lu_problem_make(&p, &options), 0);
    return p;
}

/* c . grad u - nu laplace u + sigma u of the known solution,
 * u = 64 x (1-x) y (1-y) z (1-z) (1 + x + 2 y^2 - z), by central differences
 * of the formula itself. */
static double known(double x, double y, double z)
{
    return 64 * x * (1 - x) * y * (1 - y) * z * (1 - z) *
           (1 + x + 2 * y * y - z);
}

static double equation_at(double x, double y, double z)
{
    double d = 1e-4, u = known(x, y, z);
    double east = known(x + d, y, z), west = known(x - d, y, z);
    double south = known(x, y + d, z), north = known(x, y - d, z);
    double above = known(x, y, z + d), below = known(x, y, z - d);
    double wind =
        1.0 * (east - west) + 0.75 * (south - north) + 0.5 * (above - below);

    return wind / (2 * d) -
           0.1 * (east + west + south + north + above + below - 6 * u) /
               (d * d) +
           u;
}

/* How far the equations of the grid are from the differential one, at the
 * cell next to (0.3, 0.6, 0.4). */
static double equation_error(char size)
{
    lu_problem p = problem_of(size);
    double cells = p.side + 1, h = 1 / cells;
    int64_t i = (int64_t)(0.3 * cells), j = (int64_t)(0.6 * cells),
            k = (int64_t)(0.4 * cells);

    return fabs(lu_source(&p, i, j, k) / (h * h) -
                equation_at((double)(i + 1) * h, (double)(j + 1) * h,
                            (double)(k + 1) * h));
}

/* Differences against the wind are right to the first order. */
Test(lu, has_equations_that_come_near_the_differential_one)
{
    double coarse = equation_error('S'), fine = equation_error('C');

    cr_expect_lt(coarse, 2);
    cr_expect_lt(fine, coarse / 5, "%g, then %g", coarse, fine);
}

Test(lu, knows_a_solution_that_is_0_at_the_walls)
{
    lu_problem p = problem_of('S');

    for (int64_t i = -1; i <= p.side; i++) {
        cr_expect_eq(lu_known(&p, -1, i, 3), 0);
        cr_expect_eq(lu_known(&p, p.side, i, 3), 0);
        cr_expect_eq(lu_known(&p, 3, -1, i), 0);
        cr_expect_eq(lu_known(&p, i, 3, p.side), 0);
    }
    cr_expect_gt(lu_known(&p, 10, 10, 10), 0.5);
}

Test(lu, has_checksums_that_depend_on_each_value_and_its_place)
{
    lu_problem p = problem_of('S');
    uint64_t sum =
        lu_cell_hash(&p, 1, 2, 3, 4.0) + lu_cell_hash(&p, 3, 2, 1, 5.0);

    cr_expect_neq(sum, lu_cell_hash(&p, 1, 2, 3, 5.0) +
                           lu_cell_hash(&p, 3, 2, 1, 4.0));
    cr_expect_neq(lu_cell_hash(&p, 1, 2, 3, 0.0),
                  lu_cell_hash(&p, 1, 2, 3, -0.0));
}

/* --- alone --- */

static json_t *single(const char *seed, const char *rounds)
{
    const char *directory = scratch_file("single");

    free(command_run(0, 60, LU, "single", "--size", "S", "--seed", seed,
                     "--output", directory, rounds ? "--rounds" : NULL, rounds,
                     NULL));
    return results_read("lu", directory);
}

Test(lu, comes_to_the_known_solution)
{
    json_t *some = single("1", NULL), *more = single("1", "300");

    cr_expect_eq(result_count(some, "rounds"), 100);
    cr_expect_gt(result_value(some, "residual_start"), 0.5);
    cr_expect_lt(result_value(some, "residual_max"), 1e-6);
    cr_expect_lt(result_value(some, "error_max"), 1e-5);
    cr_expect_lt(result_value(more, "error_max"), 1e-13);
    json_decref(some);
    json_decref(more);
}

Test(lu, begins_with_other_noise_for_another_seed)
{
    json_t *one = single("1", "1"), *two = single("2", "1");

    cr_expect_neq(result_value(one, "residual_start"),
                  result_value(two, "residual_start"));
    cr_expect_str_neq(result_text(one, "checksum"),
                      result_text(two, "checksum"));
    json_decref(one);
    json_decref(two);
}

/* --- with threads --- */

/* The grid is the same, bit for bit, and so is what is the largest in it. The
 * norm is the root of a sum of n numbers, none below 0: in whichever order
 * they are added, that is right to n * DBL_EPSILON / 2, so two are no further
 * apart than n * DBL_EPSILON, and their roots half of that. */
static void compare(const json_t *run, const json_t *alone)
{
    double side = (double)result_count(alone, "side");
    double norm = result_value(alone, "residual_norm");

    cr_expect_str_eq(result_text(run, "checksum"),
                     result_text(alone, "checksum"));
    cr_expect_eq(result_count(run, "rounds"), result_count(alone, "rounds"));
    cr_expect_eq(result_value(run, "residual_start"),
                 result_value(alone, "residual_start"));
    cr_expect_eq(result_value(run, "residual_max"),
                 result_value(alone, "residual_max"));
    cr_expect_eq(result_value(run, "error_max"),
                 result_value(alone, "error_max"));
    cr_expect_leq(fabs(result_value(run, "residual_norm") - norm),
                  side * side * side * DBL_EPSILON * norm);
}

static void check_run(const char *threads, const char *processes)
{
    json_t *alone = single("1", NULL), *run;

    run =
        run_results("lu",
                    map_generated(command_run(0, 20, LU, "mapping", "--size",
                                              "S", "--threads", threads, NULL),
                                  processes),
                    120);
    compare(run, alone);
    json_decref(run);
    json_decref(alone);
}

Test(lu, gives_the_same_grid_by_one_thread)
{
    check_run("1", "1");
}

Test(lu, gives_the_same_grid_on_one_process)
{
    check_run("4", "1");
}

Test(lu, gives_the_same_grid_on_two_processes)
{
    check_run("4", "2");
}

Test(lu, gives_the_same_grid_on_four_processes)
{
    check_run("4", "4");
}

/* 20 rows for 3 threads: 7, 7 and 6. */
Test(lu, gives_the_same_grid_by_threads_of_unequal_shares)
{
    check_run("3", "2");
}

Test(lu, gives_the_same_grid_with_a_thread_for_each_row)
{
    check_run("20", "2");
}

Test(lu, takes_seed_and_rounds_from_its_map)
{
    json_t *alone = single("5", "33"), *run;

    run = run_results(
        "lu",
        map_generated(command_run(0, 20, LU, "mapping", "--seed", "5",
                                  "--rounds", "33", "--threads", "2", NULL),
                      "2"),
        120);
    compare(run, alone);
    json_decref(run);
    json_decref(alone);
}

/* --- refused --- */

Test(lu, refuses_more_threads_than_rows)
{
    char *output = command_run(2, 20, LU, "mapping", "--size", "S", "--threads",
                               "21", NULL);

    check_says(output, "--threads=21: there must be 1 to 20 threads");
    free(output);
}

Test(lu, refuses_sizes_that_it_does_not_have)
{
    char *output = command_run(2, 20, LU, "single", "--size", "X", NULL);

    check_says(output, "--size=X");
    free(output);
}
