/* sor_test.c - the mathematics of apps/sor, and its runs beside its sequential
 * computation. */
#include "apps/sor/sor.h"

#include <stdlib.h>

#include "tests/support/application.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define SOR TEST_BINARY_DIR "/sor"

TestSuite(sor, .init = scratch_make, .fini = scratch_remove, .timeout = 600);

/* --- the mathematics --- */

typedef struct solved {
    uint32_t iterations;
    double error, residual;
} solved;

static double *grid_make(uint32_t n)
{
    double *grid = malloc((size_t)(n + 2) * (n + 2) * sizeof(*grid));

    cr_assert_not_null(grid);
    return grid;
}

static double error_of(const sor *s, const double *grid)
{
    double max = 0;

    for (uint32_t row = 0; row < s->n + 2; row++)
        for (uint32_t column = 0; column < s->n + 2; column++)
            max = fmax(max, fabs(*grid++ - sor_solution(s, row, column)));
    return max;
}

static solved solve(const sor *s)
{
    double *grid = grid_make(s->n);
    solved result;

    result.iterations = sor_solve(s, grid, &result.residual);
    result.error = error_of(s, grid);
    free(grid);
    return result;
}

/* The solution is the one of the five points, too: but for roundings nothing
 * is lacking anywhere. */
static void check_solution(sor_equation equation)
{
    sor s;
    double rows[3][27];

    sor_make_of(&s, 25, equation);
    for (uint32_t row = 0; row < 25; row++) {
        for (uint32_t i = 0; i < 3; i++)
            for (uint32_t column = 0; column < 27; column++)
                rows[i][column] = sor_solution(&s, row + i, column);
        for (uint32_t i = 1; i < 26; i++)
            cr_assert_lt(
                fabs(sor_residual(&s, &rows[0][i], &rows[1][i], &rows[2][i])),
                1e-14);
    }
}

Test(sor, knows_solutions_of_its_grid)
{
    check_solution(SOR_LAPLACE);
    check_solution(SOR_POISSON);
}

/* And it is one of the equation: by differences over a wider distance. */
Test(sor, has_a_source_of_six_or_none)
{
    for (int i = 0; i < 2; i++) {
        sor s;
        double d = 10.0 / 100, middle, around;
        sor_make_of(&s, 99, i ? SOR_POISSON : SOR_LAPLACE);
        middle = sor_solution(&s, 30, 70);
        around = sor_solution(&s, 20, 70) + sor_solution(&s, 40, 70) +
                 sor_solution(&s, 30, 60) + sor_solution(&s, 30, 80);
        cr_expect_float_eq((around - 4 * middle) / (d * d), i ? 6 : 0, 1e-11);
        cr_expect_float_eq(s.source, (i ? 6 : 0) / 1e4, 1e-18);
    }
}

Test(sor, begins_with_noise_inside_and_the_solution_around)
{
    sor s, other;
    double sum = 0;

    sor_make_of(&s, 50, SOR_LAPLACE);
    other = s;
    other.seed = 2;
    for (uint32_t row = 1; row <= 50; row++)
        for (uint32_t column = 1; column <= 50; column++) {
            double value = sor_start(&s, row, column);
            cr_assert(value >= 0 && value < 1);
            sum += value;
        }
    cr_expect_float_eq(sum / 2500, 0.5, 0.03);
    cr_expect_neq(sor_start(&s, 7, 9), sor_start(&other, 7, 9));
    cr_expect_neq(sor_start(&s, 7, 9), sor_start(&s, 9, 7));
    for (uint32_t i = 0; i < 52; i++) {
        cr_expect_eq(sor_start(&s, 0, i), sor_solution(&s, 0, i));
        cr_expect_eq(sor_start(&s, i, 51), sor_solution(&s, i, 51));
    }
}

Test(sor, comes_as_near_to_the_solution_as_it_promises)
{
    static const uint32_t sizes[] = {1, 2, 3, 10, 33, 64};

    for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
        sor s;
        solved result;
        sor_make_of(&s, sizes[i / 2], i % 2 ? SOR_POISSON : SOR_LAPLACE);
        result = solve(&s);
        cr_expect_leq(result.residual, s.residual);
        cr_expect_leq(result.error, SOR_ACCURACY, "n = %u: %g", s.n,
                      result.error);
        /* And what the proof says of this very residual. */
        cr_expect_leq(result.error,
                      3 * result.residual / 8 * (s.n + 1) * (s.n + 1) + 1e-14);
    }
}

/* n = 1: the only point is the mean of the border less h h f / 4, and with
 * h = 1/2 omega is 1: one visit is enough. */
Test(sor, solves_a_single_point_at_once)
{
    sor s;
    double grid[9], residual;

    sor_make_of(&s, 1, SOR_POISSON);
    s.rounds = 1;
    cr_expect_float_eq(s.omega, 1, 1e-15);
    cr_expect_eq(sor_solve(&s, grid, &residual), 1);
    cr_expect_float_eq(grid[4], 2 * 0.25 + 0.25 - 0.25, 1e-15);
}

/* After many iterations a factor of omega - 1 is all that each one still
 * brings (Young): so omega shows in how the residual falls. */
Test(sor, converges_as_fast_as_the_theory_says)
{
    sor s;
    solved early, late;
    double factor;

    sor_make_of(&s, 63, SOR_LAPLACE);
    s.rounds = 150;
    early = solve(&s);
    s.rounds = 250;
    late = solve(&s);
    factor = pow(late.residual / early.residual, 1.0 / 100);
    /* A double eigenvalue: the error falls as k (omega - 1)^k. */
    cr_expect_float_eq(factor, (s.omega - 1) * pow(250.0 / 150, 1.0 / 100),
                       0.01, "%g, omega - 1 is %g", factor, s.omega - 1);
}

Test(sor, has_the_best_omega)
{
    sor s;
    uint32_t best;
    double omega;

    sor_make_of(&s, 63, SOR_POISSON);
    omega = s.omega;
    cr_expect_float_eq(omega, 2 / (1 + sin(acos(-1.0) / 64)), 1e-15);
    best = solve(&s).iterations;
    s.omega = omega - 0.02;
    cr_expect_gt(solve(&s).iterations, best);
    s.omega = omega + 0.02;
    cr_expect_gt(solve(&s).iterations, best);
    s.omega = 1;
    cr_expect_gt(solve(&s).iterations, 10 * best);
}

Test(sor, gives_up_when_it_does_not_converge)
{
    sor s;
    solved result;

    sor_make_of(&s, 10, SOR_LAPLACE);
    s.omega = 2; /* which does not */
    result = solve(&s);
    cr_expect_gt(result.residual, s.residual);
    cr_expect_eq(result.iterations, 50 * 10 + 1000);
}

/* --- runs --- */

static json_t *single(const char *equation, const char *seed)
{
    free(command_run(0, 60, SOR, "single", "--equation", equation, "--seed",
                     seed, "--output", scratch_file("single"), NULL));
    return results_read("sor", scratch_file("single"));
}

/* All of them exactly: a point is computed from the same numbers in the same
 * order, and of a maximum nothing is rounded. */
static void check_same(const json_t *run, const json_t *want)
{
    static const char *const values[] = {"omega", "residual", "error"};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        cr_expect_eq(result_value(run, values[i]),
                     result_value(want, values[i]), "%s", values[i]);
    cr_expect_eq(result_count(run, "n"), result_count(want, "n"));
    cr_expect_eq(result_count(run, "iterations"),
                 result_count(want, "iterations"));
    cr_expect_str_eq(result_text(run, "equation"),
                     result_text(want, "equation"));
    cr_expect_str_eq(result_text(run, "checksum"),
                     result_text(want, "checksum"));
    cr_expect_leq(result_value(run, "error"), SOR_ACCURACY);
}

static void check_run(const char *threads, const char *processes,
                      const char *equation)
{
    char *mapping = command_run(0, 20, SOR, "mapping", "--threads", threads,
                                "--equation", equation, "--seed", "5", NULL);
    json_t *run = run_results("sor", map_generated(mapping, processes), 120);
    json_t *want = single(equation, "5");

    check_same(run, want);
    json_decref(run);
    json_decref(want);
}

Test(sor, gives_the_same_grid_by_one_thread)
{
    check_run("1", "1", "laplace");
}

Test(sor, gives_the_same_grid_on_one_process)
{
    check_run("4", "1", "poisson");
}

Test(sor, gives_the_same_grid_on_two_processes)
{
    check_run("4", "2", "laplace");
}

Test(sor, gives_the_same_grid_on_four_processes)
{
    check_run("4", "4", "poisson");
}

/* Strips that begin with either colour. */
Test(sor, gives_the_same_grid_in_strips_of_unequal_heights)
{
    check_run("7", "2", "laplace");
}

Test(sor, gives_the_same_grid_with_a_thread_for_each_row)
{
    check_run("120", "2", "laplace");
}

Test(sor, iterates_as_often_as_it_is_told)
{
    char *mapping = command_run(0, 20, SOR, "mapping", "--threads", "3",
                                "--rounds", "37", NULL);
    json_t *run = run_results("sor", map_generated(mapping, "2"), 60), *want;

    free(command_run(0, 60, SOR, "single", "--rounds", "37", "--output",
                     scratch_file("single"), NULL));
    want = results_read("sor", scratch_file("single"));
    cr_expect_eq(result_count(run, "iterations"), 37);
    cr_expect_gt(result_value(run, "error"), SOR_ACCURACY);
    cr_expect_str_eq(result_text(run, "checksum"),
                     result_text(want, "checksum"));
    json_decref(run);
    json_decref(want);
}

Test(sor, refuses_more_threads_than_rows)
{
    char *output = command_run(2, 20, SOR, "mapping", "--size", "S",
                               "--threads", "121", NULL);

    check_says(output, "121 threads: there must be 1 to 120");
    free(output);
}

Test(sor, refuses_equations_that_it_does_not_have)
{
    char *output =
        command_run(2, 20, SOR, "single", "--equation", "heat", NULL);

    check_says(output, "--equation=heat: expected one of laplace, poisson");
    free(output);
}
