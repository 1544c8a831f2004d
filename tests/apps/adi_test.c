/* adi_test.c - the mathematics of adi, and its runs beside its sequential
 * computation. */
#include "apps/adi/adi.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "tests/support/application.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define ADI TEST_BINARY_DIR "/adi"

TestSuite(adi, .init = scratch_make, .fini = scratch_remove, .timeout = 600);

/* --- the problem --- */

static adi_problem problem_of(char size, adi_material material, uint64_t seed)
{
    adi_options own = {.material = material, .strips = 4};
    program_options options = {.size = size, .seed = seed, .own = &own};
    adi_problem p;

    check_status(adi_problem_make(&p, &options), 0);
    return p;
}

Test(adi, begins_with_a_wave_that_is_0_at_the_walls)
{
    adi_problem p = problem_of('S', ADI_UNIFORM, 1);
    double largest = 0;

    for (int64_t k = 0; k < p.side; k++)
        for (int64_t j = 0; j < p.side; j++)
            for (int64_t i = 0; i < p.side; i++)
                largest = fmax(largest, fabs(adi_start(&p, i, j, k)));
    cr_expect_leq(largest, 1);
    cr_expect_gt(largest, 0.95);
    cr_expect_lt(fabs(adi_start(&p, -1, 5, 5)), 1e-15);
    cr_expect_lt(fabs(adi_start(&p, 5, p.side, 5)), 1e-15);
    cr_expect_lt(fabs(adi_start(&p, 5, 5, p.side)), 1e-15);
}

Test(adi, has_a_mixed_material_of_blocks_that_depends_on_the_seed)
{
    adi_problem p = problem_of('S', ADI_MIXED, 1);
    adi_problem q = problem_of('S', ADI_MIXED, 2);
    double low = INFINITY, high = 0;
    int same = 0;

    for (int64_t k = -1; k <= p.side; k++)
        for (int64_t i = -1; i <= p.side; i++) {
            double kappa = adi_kappa(&p, i, 7, k);
            low = fmin(low, kappa);
            high = fmax(high, kappa);
            same += kappa == adi_kappa(&q, i, 7, k);
        }
    cr_expect(low >= 0.1 && low < 0.3, "%g", low);
    cr_expect(high <= 2 && high > 1.8, "%g", high);
    cr_expect_eq(same, 0);
}

/* The method's factor for a step tends to that of the equation. */
Test(adi, has_a_step_that_comes_near_the_differential_equation)
{
    static const char sizes[] = "SWABC";
    double last = INFINITY;

    for (const char *size = sizes; *size; size++) {
        adi_problem p = problem_of(*size, ADI_UNIFORM, 1);
        double rate = log(adi_step_factor(&p)) / log(adi_step_factor_exact(&p));
        cr_expect_lt(fabs(rate - 1), last);
        last = fabs(rate - 1);
    }
    cr_expect_lt(last, 2e-4);
}

/* --- alone --- */

typedef struct choice {
    const char *size, *material, *strips, *rounds, *seed;
} choice;

static const choice uniform = {"S", "uniform", "4", "20", "1"};
static const choice mixed = {"S", "mixed", "4", "20", "1"};

static json_t *single(const choice *c)
{
    const char *directory = scratch_file("single");

    free(command_run(0, 60, ADI, "single", "--size", c->size, "--material",
                     c->material, "--strips", c->strips, "--rounds", c->rounds,
                     "--seed", c->seed, "--output", directory, NULL));
    return results_read("adi", directory);
}

/* How wrong the rate is at which the wave decays, beside the differential
 * equation's. */
static double rate_error(const choice *c)
{
    json_t *results = single(c);
    double decay = result_value(results, "decay");
    double method = result_value(results, "decay_method");
    double rate = log(decay) / log(result_value(results, "decay_exact"));

    cr_expect_lt(fabs(decay / method - 1), 1e-12, "%.17g, not %.17g", decay,
                 method);
    json_decref(results);
    return fabs(rate - 1);
}

/* 25 and 65 steps across: an error of the second order is 6.8 times as small
 * with the latter. */
Test(adi, lets_a_wave_decay_as_it_should)
{
    double coarse = rate_error(&uniform);
    double fine = rate_error(&(choice){"W", "uniform", "4", "40", "1"});

    cr_expect_lt(coarse, 0.012);
    cr_expect_lt(fine, coarse / 5, "%g, then %g", coarse, fine);
}

Test(adi, keeps_heat_between_its_bounds_in_mixed_material)
{
    json_t *results = single(&mixed);

    cr_expect_lt(result_value(results, "highest"), 0.9);
    cr_expect_gt(result_value(results, "lowest"), -0.9);
    cr_expect_gt(fabs(result_value(results, "decay") -
                      result_value(results, "decay_method")),
                 1e-3);
    json_decref(results);
}

static bool has_same_grid(const choice *one, const choice *two)
{
    json_t *a = single(one), *b = single(two);
    bool same =
        strcmp(result_text(a, "checksum"), result_text(b, "checksum")) == 0;

    json_decref(a);
    json_decref(b);
    return same;
}

Test(adi, computes_another_grid_for_another_material)
{
    choice other = mixed, wave = uniform;

    other.seed = wave.seed = "2";
    cr_expect_not(has_same_grid(&mixed, &uniform));
    cr_expect_not(has_same_grid(&mixed, &other));
    cr_expect(has_same_grid(&uniform, &wave));
}

/* --- with threads --- */

/* The grid is the same, bit for bit, and so is what is largest and smallest in
 * it. Sums of n numbers of at most 1 are right to n * DBL_EPSILON / 2 times
 * the sum of their amounts, which is at most n, in whichever order they are
 * added. The decay is such a sum divided by another, which is n / 8 or more:
 * so two of them can be 2 * 8 * n * DBL_EPSILON apart. */
static void compare(const json_t *run, const json_t *alone)
{
    double side = (double)result_count(alone, "side");
    double n = side * side * side;

    cr_expect_str_eq(result_text(run, "checksum"),
                     result_text(alone, "checksum"));
    cr_expect_str_eq(result_text(run, "material"),
                     result_text(alone, "material"));
    cr_expect_eq(result_count(run, "rounds"), result_count(alone, "rounds"));
    cr_expect_eq(result_value(run, "highest"), result_value(alone, "highest"));
    cr_expect_eq(result_value(run, "lowest"), result_value(alone, "lowest"));
    cr_expect_leq(fabs(result_value(run, "heat") - result_value(alone, "heat")),
                  n * n * DBL_EPSILON);
    cr_expect_leq(
        fabs(result_value(run, "decay") - result_value(alone, "decay")),
        16 * n * DBL_EPSILON);
}

static void check_run(const choice *c, const char *threads,
                      const char *processes)
{
    json_t *alone = single(c), *run;
    char *mapping =
        command_run(0, 20, ADI, "mapping", "--size", c->size, "--material",
                    c->material, "--strips", c->strips, "--rounds", c->rounds,
                    "--seed", c->seed, "--threads", threads, NULL);

    run = run_results("adi", map_generated(mapping, processes), 120);
    compare(run, alone);
    json_decref(run);
    json_decref(alone);
}

Test(adi, gives_the_same_grid_by_one_thread)
{
    check_run(&mixed, "1", "1");
}

Test(adi, gives_the_same_grid_on_one_process)
{
    check_run(&mixed, "4", "1");
    check_run(&uniform, "4", "1");
}

Test(adi, gives_the_same_grid_on_two_processes)
{
    check_run(&mixed, "4", "2");
}

Test(adi, gives_the_same_grid_on_four_processes)
{
    check_run(&mixed, "4", "4");
}

/* 24 planes for 5 threads, and 24 rows in 5 strips: 5, 5, 5, 5 and 4. */
Test(adi, gives_the_same_grid_by_threads_and_strips_of_unequal_shares)
{
    check_run(&(choice){"S", "mixed", "5", "20", "9"}, "5", "2");
}

Test(adi, gives_the_same_grid_with_whole_faces_as_tuples)
{
    check_run(&(choice){"S", "mixed", "1", "20", "1"}, "3", "2");
}

Test(adi, gives_the_same_grid_with_a_thread_for_each_plane)
{
    check_run(&(choice){"S", "mixed", "24", "5", "1"}, "24", "4");
}

/* --- refused --- */

static void check_refused(const char *option, const char *value,
                          const char *text)
{
    char *output =
        command_run(2, 20, ADI, "mapping", "--size", "S", option, value, NULL);

    check_says(output, text);
    free(output);
}

Test(adi, refuses_what_the_grid_is_too_small_for)
{
    check_refused("--threads", "25", "25 threads: there must be 1 to 24");
    check_refused("--strips", "25",
                  "--strips=25: the faces of size S have 24 rows");
}

Test(adi, refuses_options_that_make_no_sense)
{
    check_refused("--strips", "0", "--strips=0");
    check_refused("--strips", "many", "--strips=many");
    check_refused("--material", "lava", "uniform, mixed");
}
