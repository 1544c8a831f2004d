/* mg_test.c - multigrid: the operators on waves, slabs beside whole cubes, and
 * runs beside the sequential computation. */
#include "apps/mg/cube.h"
#include "apps/mg/grid.h"
#include "apps/mg/slab.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/application.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define MG TEST_BINARY_DIR "/mg"

TestSuite(mg, .init = scratch_make, .fini = scratch_remove, .timeout = 600);

static size_t points_of(const mg_cube *c)
{
    return (size_t)c->side * c->side * c->side;
}

static mg_cube cube_make(uint32_t side)
{
    mg_cube c;
    check_status(mg_cube_init(&c, side), 0);
    return c;
}

static mg_cube cube_random(uint32_t side, uint64_t seed)
{
    mg_cube c = cube_make(side);
    program_random random = {seed};

    for (size_t i = 0; i < points_of(&c); i++)
        c.at[i] = program_random_real(&random) - 0.5;
    return c;
}

/* --- the problem --- */

Test(mg, has_charges_that_sum_up_to_nothing)
{
    mg_problem p = {.levels = 2, .rounds = 1}; /* 20 charges on 64 points */
    mg_charge c[MG_CHARGES];

    for (p.seed = 0; p.seed < 50; p.seed++) {
        double sum = 0;
        mg_charges(&p, c);
        for (int i = 0; i < MG_CHARGES; i++) {
            sum += c[i].value;
            cr_assert(c[i].x < 4 && c[i].y < 4 && c[i].z < 4);
            cr_assert_eq(fabs(c[i].value), 1);
            for (int j = 0; j < i; j++)
                cr_assert(c[i].x != c[j].x || c[i].y != c[j].y ||
                          c[i].z != c[j].z);
        }
        cr_assert_eq(sum, 0);
    }
}

Test(mg, refuses_a_residual_that_does_not_fall)
{
    mg_outcome o = {0};

    check_status(mg_outcome_add(&o, 0, 1), 0);
    check_status(mg_outcome_add(&o, 1, 0.4), 0);
    check_status(mg_outcome_add(&o, 2, 0.3), PASTSET_EAPP);
    check_error("cycle 2: the residual is 0.3 after 0.4");
    check_status(mg_outcome_add(&o, 2, NAN), PASTSET_EAPP);
    check_status(mg_outcome_add(&o, 2, 1e-13), 0);
    check_status(mg_outcome_add(&o, 3, 2e-13), 0);
    cr_expect_eq(o.norm_first, 1);
    cr_expect_eq(o.norm, 2e-13);
}

/* --- operators --- */

static mg_cube wave_make(uint32_t side, const int *k)
{
    mg_cube c = cube_make(side);
    double *at = c.at;

    for (uint32_t z = 0; z < side; z++)
        for (uint32_t y = 0; y < side; y++)
            for (uint32_t x = 0; x < side; x++)
                *at++ = cos(
                    2 * M_PI *
                    (k[0] * (double)x + k[1] * (double)y + k[2] * (double)z) /
                    side);
    return c;
}

/* What a stencil makes of a wave: the same wave times this. */
static double factor_of(const double *w, const int *k, uint32_t side)
{
    double x = cos(2 * M_PI * k[0] / side), y = cos(2 * M_PI * k[1] / side);
    double z = cos(2 * M_PI * k[2] / side);

    return w[0] + 2 * w[1] * (x + y + z) + 4 * w[2] * (x * y + y * z + z * x) +
           8 * w[3] * x * y * z;
}

/* No point of `a` is further from `factor` times that of `b`. */
static void check_multiple(const mg_cube *a, const mg_cube *b, double factor)
{
    double max = 0;

    for (size_t i = 0; i < points_of(a); i++) {
        double error = fabs(a->at[i] - factor * b->at[i]);
        max = error > max ? error : max;
    }
    cr_expect_lt(max, 1e-13, "off by %g", max);
}

static void check_wave(const int *k)
{
    mg_cube wave = wave_make(16, k), r = cube_make(16), u = cube_make(16);

    mg_cube_residual(&r, &r, &wave);
    check_multiple(&r, &wave, -factor_of(mg_poisson, k, 16));
    mg_cube_smooth(&u, &wave);
    check_multiple(&u, &wave, factor_of(mg_smoother, k, 16));
    mg_cube_fini(&wave);
    mg_cube_fini(&r);
    mg_cube_fini(&u);
}

Test(mg, knows_the_stencils_of_waves)
{
    check_wave((const int[]){0, 0, 0});
    check_wave((const int[]){1, 0, 0});
    check_wave((const int[]){0, 3, 0});
    check_wave((const int[]){0, 0, 5});
    check_wave((const int[]){2, -3, 7});
    check_wave((const int[]){8, 8, 8});
}

/* A is the Laplacian for long waves: -(2 pi / side)^2 |k|^2. */
Test(mg, has_equations_that_come_near_poissons)
{
    const int k[] = {1, 2, -1};
    double want = -6 * pow(2 * M_PI / 512, 2);

    cr_expect_float_eq(factor_of(mg_poisson, k, 512) / want, 1, 1e-3);
    cr_expect_float_eq(factor_of(mg_poisson, (const int[]){0, 0, 0}, 512), 0,
                       1e-15);
}

static double dot(const mg_cube *a, const mg_cube *b)
{
    double sum = 0;

    for (size_t i = 0; i < points_of(a); i++)
        sum += a->at[i] * b->at[i];
    return sum;
}

/* Restriction is half of what prolongation is backwards. */
Test(mg, restricts_as_it_prolongs)
{
    mg_cube fine = cube_random(16, 1), coarse = cube_random(8, 2);
    mg_cube restricted = cube_make(8), prolonged = cube_make(16);

    mg_cube_restrict(&restricted, &fine);
    mg_cube_prolong(&prolonged, &coarse);
    cr_expect_float_eq(dot(&restricted, &coarse), dot(&fine, &prolonged) / 2,
                       1e-12);
    mg_cube_fini(&fine);
    mg_cube_fini(&coarse);
    mg_cube_fini(&restricted);
    mg_cube_fini(&prolonged);
}

/* Along each axis, points between two are their means. */
Test(mg, prolongs_lines_to_lines)
{
    mg_cube coarse = cube_make(8), fine = cube_make(16);

    for (size_t i = 0; i < points_of(&coarse); i++)
        coarse.at[i] = (double)(i % 8 + 10 * (i / 8 % 8) + 100 * (i / 64));
    mg_cube_prolong(&fine, &coarse);
    for (uint32_t z = 0; z < 14; z++)
        for (uint32_t y = 0; y < 14; y++)
            for (uint32_t x = 0; x < 14; x++)
                cr_expect_eq(fine.at[(z * 16 + y) * 16 + x],
                             x / 2.0 + 10 * (y / 2.0) + 100 * (z / 2.0));
    mg_cube_fini(&coarse);
    mg_cube_fini(&fine);
}

/* --- slabs --- */

/* Planes first - 1 ... first + count of a cube. */
static mg_slab slab_of(const mg_cube *c, uint32_t first, uint32_t count)
{
    mg_slab s;
    size_t points = (size_t)c->side * c->side;

    check_status(mg_slab_init(&s, c->side, first, count), 0);
    for (int64_t z = (int64_t)first - 1; z <= first + (int64_t)count; z++)
        memcpy(mg_slab_plane(&s, z),
               c->at + (size_t)(z & (c->side - 1)) * points,
               points * sizeof(double));
    return s;
}

/* Bit for bit, but for the neighbours. */
static void check_equal(const mg_slab *s, const mg_cube *c)
{
    size_t points = (size_t)c->side * c->side;

    cr_expect_eq(memcmp(mg_slab_plane(s, s->first), c->at + s->first * points,
                        s->count * points * sizeof(double)),
                 0, "planes %u to %u", s->first, s->first + s->count);
}

typedef struct cubes {
    mg_cube u, r, coarse;           /* before */
    mg_cube left, smooth, down, up; /* what the operators make of them */
} cubes;

static void cubes_make(cubes *c)
{
    c->u = cube_random(16, 1);
    c->r = cube_random(16, 2);
    c->coarse = cube_random(8, 3);
    c->left = cube_random(16, 2);
    c->smooth = cube_random(16, 1);
    c->down = cube_make(8);
    c->up = cube_random(16, 1);
    mg_cube_residual(&c->left, &c->left, &c->u);
    mg_cube_smooth(&c->smooth, &c->r);
    mg_cube_restrict(&c->down, &c->r);
    mg_cube_prolong(&c->up, &c->coarse);
}

static void cubes_free(cubes *c)
{
    mg_cube *all[] = {&c->u,      &c->r,    &c->coarse, &c->left,
                      &c->smooth, &c->down, &c->up};

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        mg_cube_fini(all[i]);
}

static void check_fine(const cubes *c, uint32_t first, uint32_t count)
{
    mg_slab u = slab_of(&c->u, first, count), r = slab_of(&c->r, first, count);

    mg_slab_smooth(&u, &r);
    check_equal(&u, &c->smooth);
    mg_slab_fini(&u);
    u = slab_of(&c->u, first, count);
    mg_slab_residual(&r, &u);
    check_equal(&r, &c->left);
    mg_slab_fini(&u);
    mg_slab_fini(&r);
}

static void check_levels(const cubes *c, uint32_t threads, uint32_t number)
{
    uint32_t first, count, coarse_first, coarse_count;
    mg_slab u, r, coarse;

    mg_share(4, threads, number, 4, &first, &count);
    mg_share(4, threads, number, 3, &coarse_first, &coarse_count);
    u = slab_of(&c->u, first, count);
    r = slab_of(&c->r, first, count);
    coarse = slab_of(&c->coarse, coarse_first, coarse_count);
    mg_slab_prolong(&u, &coarse);
    check_equal(&u, &c->up);
    mg_slab_restrict(&coarse, &r);
    check_equal(&coarse, &c->down);
    mg_slab_fini(&u);
    mg_slab_fini(&r);
    mg_slab_fini(&coarse);
}

Test(mg, computes_in_slabs_what_it_computes_in_cubes)
{
    cubes c;

    cubes_make(&c);
    for (uint32_t threads = 1; threads <= 8; threads++) {
        for (uint32_t i = 0; i < threads; i++) {
            uint32_t first, count;
            mg_share(4, threads, i, 4, &first, &count);
            check_fine(&c, first, count);
            check_levels(&c, threads, i);
        }
    }
    cubes_free(&c);
}

/* What is not shared is a slab of all planes, and prolonged to a part. */
Test(mg, prolongs_whole_cubes_to_single_planes)
{
    cubes c;
    mg_slab whole;

    cubes_make(&c);
    whole = slab_of(&c.coarse, 0, 8);
    memset(mg_slab_plane(&whole, -1), 0, 64 * sizeof(double));
    memset(mg_slab_plane(&whole, 8), 0, 64 * sizeof(double));
    mg_slab_wrap(&whole);
    for (uint32_t z = 0; z < 16; z++) {
        mg_slab u = slab_of(&c.u, z, 1);
        mg_slab_prolong(&u, &whole);
        check_equal(&u, &c.up);
        mg_slab_fini(&u);
    }
    mg_slab_fini(&whole);
    cubes_free(&c);
}

/* Each plane once, in the order of threads, and with the plane of the next
 * finer level that lies on it. */
static void check_share(uint32_t threads, uint32_t level)
{
    uint32_t next = 0, fewest = UINT32_MAX;

    for (uint32_t i = 0; i < threads; i++) {
        uint32_t first, count, finer_first, finer_count;
        mg_share(5, threads, i, level, &first, &count);
        cr_assert_eq(first, next);
        next += count;
        fewest = count < fewest ? count : fewest;
        if (level == 5)
            continue;
        mg_share(5, threads, i, level + 1, &finer_first, &finer_count);
        for (uint32_t z = first; z < first + count; z++)
            cr_assert(2 * z >= finer_first &&
                      2 * z < finer_first + finer_count);
    }
    cr_assert_eq(next, mg_side(level));
    cr_assert_eq(fewest > 0, level >= mg_share_lowest(5, threads),
                 "%u threads, level %u", threads, level);
}

Test(mg, shares_planes)
{
    for (uint32_t threads = 2; threads <= 32; threads++) {
        for (uint32_t level = 1; level <= 5; level++)
            check_share(threads, level);
    }
    cr_expect_eq(mg_share_lowest(5, 1), 6);
    cr_expect_eq(mg_share_lowest(5, 2), 1);
    cr_expect_eq(mg_share_block(5, 2), 0);
    cr_expect_eq(mg_share_lowest(5, 32), 5);
    cr_expect_eq(mg_share_block(5, 32), 1);
}

/* --- alone --- */

static json_t *single(const char *seed, const char *rounds)
{
    const char *directory = scratch_file("single");

    free(command_run(0, 60, MG, "single", "--seed", seed, "--rounds", rounds,
                     "--output", directory, NULL));
    return results_read("mg", directory);
}

/* 20 charges of size 1 at first; then all that rounding leaves. */
Test(mg, solves_the_equation)
{
    json_t *alone = single("1", "25");

    cr_expect_float_eq(result_value(alone, "norm_first"),
                       sqrt(20.0 / (32 * 32 * 32)), 1e-15);
    cr_expect_lt(result_value(alone, "norm"), 1e-13);
    cr_expect_lt(result_value(alone, "peak"), 1e-12);
    json_decref(alone);
}

Test(mg, solves_another_equation_for_another_seed)
{
    json_t *one = single("1", "2"), *two = single("2", "2");

    cr_expect_neq(result_value(one, "norm"), result_value(two, "norm"));
    cr_expect_str_neq(result_text(one, "checksum"),
                      result_text(two, "checksum"));
    json_decref(one);
    json_decref(two);
}

/* --- with threads --- */

/* All values of the grids are the same, bit for bit. Squares, none below 0,
 * are summed by rows, by planes, and then in some order: no number goes
 * through more than 3 * 32 additions, so a sum is right to 96 * DBL_EPSILON /
 * 2, two are no further apart than 96 * DBL_EPSILON, and their roots half of
 * that. */
static void compare(const json_t *run, const json_t *alone)
{
    static const char *const norms[] = {"norm_first", "norm"};

    cr_expect_str_eq(result_text(run, "checksum"),
                     result_text(alone, "checksum"));
    cr_expect_eq(result_value(run, "peak"), result_value(alone, "peak"));
    for (int i = 0; i < 2; i++) {
        double want = result_value(alone, norms[i]);
        cr_expect_leq(fabs(result_value(run, norms[i]) - want),
                      96 * DBL_EPSILON * want, "%s", norms[i]);
    }
}

static void check_run(const char *threads, const char *processes,
                      const char *seed, const char *rounds)
{
    json_t *alone = single(seed, rounds), *run;

    run = run_results(
        "mg",
        map_generated(command_run(0, 20, MG, "mapping", "--threads", threads,
                                  "--seed", seed, "--rounds", rounds, NULL),
                      processes),
        120);
    compare(run, alone);
    json_decref(run);
    json_decref(alone);
}

Test(mg, gives_the_same_grid_by_one_thread)
{
    check_run("1", "1", "1", "4");
}

/* Both neighbours are one, and all levels are shared. */
Test(mg, gives_the_same_grid_by_two_threads)
{
    check_run("2", "2", "1", "4");
}

Test(mg, gives_the_same_grid_on_one_process)
{
    check_run("4", "1", "1", "4");
}

Test(mg, gives_the_same_grid_on_two_processes)
{
    check_run("4", "2", "1", "4");
}

Test(mg, gives_the_same_grid_on_four_processes)
{
    check_run("4", "4", "1", "4");
}

Test(mg, gives_the_same_grid_by_threads_of_unequal_shares)
{
    check_run("3", "2", "1", "4");
    check_run("31", "2", "1", "4");
}

Test(mg, gives_the_same_grid_with_a_thread_for_each_plane)
{
    check_run("32", "2", "1", "4");
}

Test(mg, takes_seed_and_rounds_from_its_map)
{
    check_run("5", "2", "99", "7");
}

/* --- refused --- */

static void check_refused(const char *part, const char *size,
                          const char *threads)
{
    char *output = command_run(2, 20, MG, "mapping", "--size", size,
                               "--threads", threads, NULL);

    check_says(output, part);
    free(output);
}

Test(mg, refuses_more_threads_than_planes)
{
    check_refused("--threads=33: size S has 32 planes", "S", "33");
}

Test(mg, refuses_threads_whose_coarse_level_is_too_large)
{
    check_refused("more than a tuple can hold", "C", "300");
    free(command_run(0, 20, MG, "mapping", "--size", "C", "--threads", "256",
                     NULL));
}

Test(mg, refuses_sizes_that_it_does_not_have)
{
    check_refused("--size=X", "X", "1");
}
