/* cg_test.c - conjugate gradients: the matrix, its smallest eigenvalue beside
 * that of another method, and runs beside the sequential computation. */
#include "apps/cg/sparse.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/application.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define CG TEST_BINARY_DIR "/cg"

TestSuite(cg, .init = scratch_make, .fini = scratch_remove, .timeout = 600);

#define ROWS 64

/* So many links for its size that some rows are paired more than once. */
static const cg_problem small = {
    .rows = ROWS, .links = 12, .rounds = 30, .seed = 5};

/* --- the matrix --- */

static void matrix_make(const cg_problem *p, double a[ROWS][ROWS])
{
    cg_entry row[32];

    memset(a, 0, sizeof(double[ROWS][ROWS]));
    for (uint32_t i = 0; i < p->rows; i++) {
        uint32_t count = cg_row(p, i, row);
        cr_assert_leq(count, p->links + 1);
        for (uint32_t k = 0; k < count; k++) {
            cr_assert_lt(row[k].column, p->rows);
            if (k > 0)
                cr_assert_gt(row[k].column, row[k - 1].column);
            a[i][row[k].column] = row[k].value;
        }
    }
}

Test(cg, has_a_symmetric_matrix)
{
    double a[ROWS][ROWS];

    matrix_make(&small, a);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < i; j++)
            cr_expect_eq(a[i][j], a[j][i], "%d, %d", i, j);
    }
}

/* So that it is positive definite: Gershgorin's circles. */
Test(cg, has_a_matrix_with_a_dominant_diagonal)
{
    double a[ROWS][ROWS];

    matrix_make(&small, a);
    for (uint32_t i = 0; i < ROWS; i++) {
        double others = 0, v = cg_potential(&small, i);
        for (uint32_t j = 0; j < ROWS; j++)
            others += i == j ? 0 : fabs(a[i][j]);
        cr_expect_float_eq(a[i][i] - others, v, 1e-12);
        cr_expect(v >= 1 && v < 2);
    }
}

Test(cg, has_as_many_entries_as_it_should)
{
    program_options options = {.size = 'S', .seed = 1};
    cg_problem p;
    cg_entry row[64];
    uint64_t count = 0;

    check_status(cg_problem_set(&p, &options), 0);
    for (uint32_t i = 0; i < p.rows; i++)
        count += cg_row(&p, i, row);
    cr_expect_leq(count, (uint64_t)p.rows * (p.links + 1));
    cr_expect_geq(count, (uint64_t)p.rows * p.links);
}

/* Rotations of Jacobi: all that is beside the diagonal goes to 0. */
static void rotate(double a[ROWS][ROWS], int p, int q)
{
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;

    for (int k = 0; k < ROWS; k++) {
        double x = a[k][p], y = a[k][q];
        a[k][p] = c * x - s * y;
        a[k][q] = s * x + c * y;
    }
    for (int k = 0; k < ROWS; k++) {
        double x = a[p][k], y = a[q][k];
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
    }
}

static double smallest_eigenvalue(const cg_problem *problem)
{
    double a[ROWS][ROWS], min;

    matrix_make(problem, a);
    for (int sweep = 0; sweep < 20; sweep++) {
        for (int p = 0; p < ROWS; p++) {
            for (int q = p + 1; q < ROWS; q++) {
                if (fabs(a[p][q]) > 1e-300)
                    rotate(a, p, q);
            }
        }
    }
    min = a[0][0];
    for (int i = 1; i < ROWS; i++)
        min = a[i][i] < min ? a[i][i] : min;
    return min;
}

/* Both are exact up to rounding, which 64 rows and 12 links make some 100
 * times DBL_EPSILON at most. */
Test(cg, finds_the_smallest_eigenvalue)
{
    cg_problem p = small;

    for (p.seed = 1; p.seed <= 5; p.seed++) {
        cg_outcome found;
        check_status(cg_single(&p, &found), 0);
        cr_expect_float_eq(found.zeta, smallest_eigenvalue(&p), 1e-12,
                           "%.17g, not %.17g", found.zeta,
                           smallest_eigenvalue(&p));
        cr_expect_lt(found.zeta, found.zeta_first);
    }
}

/* That of the vector of equal lengths is the mean of v. */
Test(cg, finds_less_than_the_mean_of_the_potential)
{
    cg_outcome found;
    double mean = 0;

    for (uint32_t i = 0; i < ROWS; i++)
        mean += cg_potential(&small, i) / ROWS;
    check_status(cg_single(&small, &found), 0);
    cr_expect_lt(found.zeta, mean);
    cr_expect_gt(found.zeta, 1);
}

Test(cg, refuses_what_cannot_be_a_result)
{
    cg_outcome o = {0};

    check_status(cg_outcome_add(&o, 1, 5, 1e-12), 0);
    check_status(cg_outcome_add(&o, 2, 4, 1e-13), 0);
    cr_expect_eq(o.zeta_first, 5);
    cr_expect_eq(o.zeta, 4);
    cr_expect_eq(o.residual, 1e-12);
    check_status(cg_outcome_add(&o, 3, 4.1, 0), PASTSET_EAPP);
    check_error("round 3: zeta is 4.0");
    check_status(cg_outcome_add(&o, 3, 0.9, 0), PASTSET_EAPP);
    check_status(cg_outcome_add(&o, 3, NAN, 0), PASTSET_EAPP);
    check_status(cg_outcome_add(&o, 3, 3, NAN), PASTSET_EAPP);
    check_status(cg_outcome_add(&o, 3, 3, 1e-6), PASTSET_EAPP);
    check_error("the residual is 1e-06 after 25 steps");
}

/* --- with threads --- */

static json_t *single(const char *seed, const char *rounds)
{
    const char *directory = scratch_file("single");

    free(command_run(0, 60, CG, "single", "--seed", seed, "--rounds", rounds,
                     "--output", directory, NULL));
    return results_read("cg", directory);
}

/* A product of two vectors is summed in another order, which makes its value
 * differ by n * DBL_EPSILON (n = 2048 rows) of the sum of sizes at most: 5e-13.
 * zeta is such a product. What the products within the steps change is
 * smaller: 25 steps end at a residual of some 1e-13 with any of them, and the
 * next round begins anew. 1e-10 leaves room for the sum of all that. */
static void compare(const json_t *run, const json_t *alone)
{
    static const char *const names[] = {"zeta_first", "zeta"};

    cr_expect_eq(result_count(run, "entries"), result_count(alone, "entries"));
    cr_expect_lt(result_value(run, "residual"), CG_RESIDUAL_MAX);
    for (int i = 0; i < 2; i++) {
        double want = result_value(alone, names[i]);
        double got = result_value(run, names[i]);
        cr_expect_leq(fabs(got - want), 1e-10 * want, "%s: %.17g, not %.17g",
                      names[i], got, want);
    }
}

static void check_run(const char *threads, const char *processes,
                      const char *seed, const char *rounds)
{
    json_t *alone = single(seed, rounds), *run;

    run = run_results(
        "cg",
        map_generated(command_run(0, 20, CG, "mapping", "--threads", threads,
                                  "--seed", seed, "--rounds", rounds, NULL),
                      processes),
        120);
    compare(run, alone);
    json_decref(run);
    json_decref(alone);
}

/* Sums are those of single, in its order. */
Test(cg, gives_the_same_by_one_thread)
{
    check_run("1", "1", "1", "12");
}

Test(cg, gives_the_same_on_one_process)
{
    check_run("4", "1", "1", "12");
}

Test(cg, gives_the_same_on_two_processes)
{
    check_run("4", "2", "1", "12");
}

Test(cg, gives_the_same_on_four_processes)
{
    check_run("4", "4", "1", "12");
}

/* 683, 683 and 682 rows: the last block is filled up. */
Test(cg, gives_the_same_by_threads_of_unequal_shares)
{
    check_run("3", "2", "1", "12");
}

/* 32 rows each, and none are left for the last. */
Test(cg, gives_the_same_with_a_thread_that_has_no_rows)
{
    check_run("65", "2", "1", "2");
}

Test(cg, takes_seed_and_rounds_from_its_map)
{
    check_run("2", "2", "77", "5");
}

/* --- refused --- */

static void check_refused(const char *part, const char *line,
                          const char *option, const char *value)
{
    char *output = command_run(2, 20, CG, line, option, value, NULL);

    check_says(output, part);
    free(output);
}

Test(cg, refuses_more_threads_than_rows)
{
    check_refused("--threads=2049: size S has 2048 rows", "mapping",
                  "--threads", "2049");
}

Test(cg, refuses_sizes_that_it_does_not_have)
{
    check_refused("--size=X", "single", "--size", "X");
}
