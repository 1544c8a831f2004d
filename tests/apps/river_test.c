/* river_test.c - the water of apps/river, and its runs beside its sequential
 * computation. */
#include "apps/river/river.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "tests/support/application.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define RIVER TEST_BINARY_DIR "/river"

TestSuite(river, .init = scratch_make, .fini = scratch_remove, .timeout = 600);

/* --- a pond with walls around it --- */

#define SIDE 64

typedef struct pond {
    int rows, columns;
    double metres;
    river_place places[SIDE][SIDE];
} pond;

static river_face face(const pond *p, int row, int column, river_way way)
{
    int next_row = row + (way == RIVER_SOUTH);
    int next_column = column + (way == RIVER_EAST);
    const river_place *low, *high;
    river_place wall;

    if (row < 0 || column < 0) {
        high = &p->places[next_row][next_column];
        wall = river_mirror(high, way);
        return river_face_between(&wall, high, way);
    }
    low = &p->places[row][column];
    wall = river_mirror(low, way);
    high = next_row < p->rows && next_column < p->columns
               ? &p->places[next_row][next_column]
               : &wall;
    return river_face_between(low, high, way);
}

static double seconds_of(const pond *p)
{
    double min = RIVER_LONGEST;

    for (int row = 0; row < p->rows; row++)
        for (int column = 0; column < p->columns; column++)
            min = fmin(min, river_cell_seconds(&p->places[row][column].cell,
                                               p->metres));
    return min;
}

static void step(pond *p, double seconds)
{
    static pond after;

    after = *p;
    for (int row = 0; row < p->rows; row++) {
        for (int column = 0; column < p->columns; column++) {
            river_faces f = {
                .west = face(p, row, column - 1, RIVER_EAST),
                .east = face(p, row, column, RIVER_EAST),
                .north = face(p, row - 1, column, RIVER_SOUTH),
                .south = face(p, row, column, RIVER_SOUTH),
            };
            after.places[row][column].cell = river_cell_after(
                &p->places[row][column].cell, &f, seconds, p->metres);
        }
    }
    *p = after;
}

static double depths(const pond *p)
{
    double sum = 0;

    for (int row = 0; row < p->rows; row++)
        for (int column = 0; column < p->columns; column++)
            sum += p->places[row][column].cell.depth;
    return sum;
}

static river_place random_place(program_random *r)
{
    river_place place = {.bed = 5 * program_random_real(r)};
    double wet = program_random_real(r);

    if (wet < 0.5)
        return place;
    place.cell.depth = wet < 0.6 ? 1e-3 * wet : 8 * (wet - 0.6);
    place.cell.east = place.cell.depth * 40 * (program_random_real(r) - 0.5);
    place.cell.south = place.cell.depth * 40 * (program_random_real(r) - 0.5);
    return place;
}

static void random_fill(pond *p, program_random *r)
{
    for (int row = 0; row < p->rows; row++)
        for (int column = 0; column < p->columns; column++)
            p->places[row][column] = random_place(r);
}

/* --- faces --- */

Test(river, lets_nothing_through_between_dry_cells)
{
    const river_place a = {.bed = 7}, b = {.cell.depth = RIVER_WET, .bed = 2};
    river_face f = river_face_between(&a, &b, RIVER_EAST);

    cr_expect(f.water == 0 && f.low == 0 && f.high == 0 && f.across == 0);
}

Test(river, lets_no_water_through_a_wall)
{
    program_random r = {1};

    for (int i = 0; i < 10000; i++) {
        river_place place = random_place(&r);
        river_way way = i % 2 ? RIVER_EAST : RIVER_SOUTH;
        river_place wall = river_mirror(&place, way);
        cr_assert(river_face_between(&place, &wall, way).water == 0);
        cr_assert(river_face_between(&wall, &place, way).water == 0);
    }
}

Test(river, does_not_let_water_climb_a_bank)
{
    const river_place low = {.cell = {.depth = 1}, .bed = 0};
    const river_place bank = {.bed = 1.5};
    river_face f = river_face_between(&low, &bank, RIVER_EAST);

    cr_expect(f.water == 0);
    cr_expect_float_eq(f.low, RIVER_GRAVITY / 2, 1e-14); /* leans against it */
}

Test(river, goes_down_a_step_that_it_stands_above)
{
    const river_place low = {.cell = {.depth = 2}, .bed = 0};
    const river_place high = {.bed = 1.5};
    river_face f = river_face_between(&low, &high, RIVER_EAST);

    cr_expect_gt(f.water, 0);
    f = river_face_between(&high, &low, RIVER_EAST);
    cr_expect_lt(f.water, 0);
}

/* The flux of two equal sides is that of the equations. */
Test(river, carries_an_even_flow_as_the_equations_say)
{
    const river_place even = {.cell = {.depth = 2, .east = 3, .south = -1}};
    river_face f = river_face_between(&even, &even, RIVER_EAST);

    cr_expect_float_eq(f.water, 3, 1e-14);
    cr_expect_float_eq(f.low, 3.0 * 3 / 2 + RIVER_GRAVITY / 2 * 4, 1e-13);
    cr_expect_float_eq(f.low, f.high, 1e-13);
    cr_expect_float_eq(f.across, 3 * -0.5, 1e-14);
    f = river_face_between(&even, &even, RIVER_SOUTH);
    cr_expect_float_eq(f.water, -1, 1e-14);
    cr_expect_float_eq(f.across, -1 * 1.5, 1e-14);
}

/* --- water in a pond --- */

/* Islands and all. No cell is a little wet only: water would creep there. */
Test(river, lets_a_lake_rest)
{
    static pond p = {.rows = 20, .columns = 24, .metres = 10};
    program_random r = {2};

    for (int row = 0; row < p.rows; row++)
        for (int column = 0; column < p.columns; column++) {
            double bed = floor(8 * program_random_real(&r)) * 1.1;
            p.places[row][column] =
                (river_place){.cell.depth = bed < 5 ? 5 - bed : 0, .bed = bed};
        }
    for (int i = 0; i < 500; i++)
        step(&p, seconds_of(&p));
    for (int row = 0; row < p.rows; row++)
        for (int column = 0; column < p.columns; column++) {
            const river_place *place = &p.places[row][column];
            double level = place->bed + place->cell.depth;
            cr_assert(place->bed > 5 || fabs(level - 5) < 1e-12, "%g", level);
            cr_assert_lt(fabs(place->cell.east), 1e-11);
            cr_assert_lt(fabs(place->cell.south), 1e-11);
        }
}

static double min_depth(const pond *p)
{
    double min = INFINITY;

    for (int row = 0; row < p->rows; row++)
        for (int column = 0; column < p->columns; column++)
            min = fmin(min, p->places[row][column].cell.depth);
    return min;
}

/* Wild water over a rough bed, and dry places, at the longest steps allowed.
 * The roundings are those that river.h tells of: 400 steps of 3 half units. */
Test(river, keeps_water_above_zero_and_loses_none)
{
    static pond p = {.rows = 20, .columns = 17, .metres = 3};
    program_random r = {3};

    for (int trial = 0; trial < 20; trial++) {
        double before;
        random_fill(&p, &r);
        before = depths(&p);
        for (int i = 0; i < 400; i++) {
            step(&p, seconds_of(&p));
            cr_assert(min_depth(&p) >= 0, "trial %d, step %d: %g", trial, i,
                      min_depth(&p));
        }
        cr_assert_lt(fabs(depths(&p) - before),
                     400 * 3 * DBL_EPSILON / 2 * before);
    }
}

/* A pond and its transpose, row for column, do the same, bit for bit. */
Test(river, treats_east_and_south_alike)
{
    static pond p = {.rows = 12, .columns = 12, .metres = 5}, q;
    program_random r = {4};

    random_fill(&p, &r);
    q = p;
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++) {
            const river_place *from = &p.places[i][j];
            q.places[j][i] = (river_place){
                {from->cell.depth, from->cell.south, from->cell.east},
                from->bed};
        }
    for (int i = 0; i < 50; i++) {
        step(&p, 0.05);
        step(&q, 0.05);
    }
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++)
            cr_assert(p.places[i][j].cell.depth == q.places[j][i].cell.depth &&
                      p.places[i][j].cell.east == q.places[j][i].cell.south);
}

/* --- a dam that is gone, where the solution is known --- */

/* Between the water that still rests and that which has not been reached yet,
 * depth and speed are even (Stoker, Water Waves, 1957): speed 2 (sqrt(g left) -
 * sqrt(g depth)) by the wave that goes back, and that of a bore on the other
 * side. */
static double stoker_depth(double left, double right)
{
    double low = right, high = left;

    for (int i = 0; i < 200; i++) {
        double d = (low + high) / 2;
        double back =
            2 * (sqrt(RIVER_GRAVITY * left) - sqrt(RIVER_GRAVITY * d));
        double bore =
            (d - right) * sqrt(RIVER_GRAVITY / 2 * (1 / d + 1 / right));
        if (back > bore)
            low = d;
        else
            high = d;
    }
    return (low + high) / 2;
}

/* So deep that the bed's friction slows the water by less than half a percent:
 * the formula knows none. */
static void dam_break(pond *p, double left, double right, double seconds)
{
    *p = (pond){.rows = 1, .columns = SIDE, .metres = 100};
    for (int column = 0; column < SIDE; column++)
        p->places[0][column].cell.depth = column < SIDE / 2 ? left : right;
    while (seconds > 0) {
        double next = fmin(seconds, seconds_of(p));
        step(p, next);
        seconds -= next;
    }
}

Test(river, breaks_a_dam_as_stoker_computed)
{
    static pond p;
    double want = stoker_depth(1000, 300);
    double speed =
        2 * (sqrt(RIVER_GRAVITY * 1000) - sqrt(RIVER_GRAVITY * want));
    const river_cell *cell = &p.places[0][SIDE / 2 + 4].cell;

    dam_break(&p, 1000, 300, 15);
    cr_expect_float_eq(cell->depth, want, 0.015 * want, "%g, not %g",
                       cell->depth, want);
    cr_expect_float_eq(cell->east / cell->depth, speed, 0.015 * speed,
                       "%g, not %g", cell->east / cell->depth, speed);
    cell = &p.places[0][0].cell; /* the wave is not there yet */
    cr_expect_float_eq(cell->depth, 1000, 0.01, "%g", cell->depth);
}

/* On dry ground the tip comes to 2 sqrt(g depth) (Ritter), and methods of first
 * order stay behind. */
Test(river, runs_over_dry_ground_no_faster_than_it_can)
{
    static pond p;
    double tip = 2 * sqrt(RIVER_GRAVITY * 1000);
    int last = SIDE / 2;

    dam_break(&p, 1000, 0, 10);
    while (p.places[0][last].cell.depth > RIVER_WET)
        last++;
    cr_expect_lt((last - SIDE / 2) * 100, tip * 10 + 200);
    cr_expect_gt((last - SIDE / 2) * 100, tip * 10 / 2);
}

/* --- the problem --- */

static river problem_of(char size, uint64_t seed)
{
    program_options options = {.size = size, .seed = seed};
    river r;

    check_status(river_make(&r, &options), 0);
    return r;
}

/* All of the water is in the first quarter of the rows, and most of that is
 * wet. */
Test(river, begins_with_water_behind_the_dam_only)
{
    static const char sizes[] = "SWABC";

    for (const char *size = sizes; *size; size++) {
        river r = problem_of(*size, 1);
        uint32_t wet = 0, quarter = r.rows / 4 * r.columns;
        for (uint32_t row = 0; row < r.rows; row++)
            for (uint32_t column = 0; column < r.columns; column++)
                if (river_start(&r, row, column).depth > RIVER_WET) {
                    cr_assert_lt(row, r.rows / 4);
                    wet++;
                }
        cr_expect_gt(wet, quarter / 2, "%c: %u of %u", *size, wet, quarter);
    }
}

Test(river, has_other_hills_for_another_seed)
{
    river a = problem_of('S', 1), b = problem_of('S', 2);

    cr_expect_neq(river_bed(&a, 40, 60), river_bed(&b, 40, 60));
}

Test(river, refuses_to_lose_water)
{
    double lost = 0;

    check_status(river_water_check(1000, 1000 - 1e-10, &lost), 0);
    cr_expect_float_eq(lost, 1e-13, 2e-16);
    check_status(river_water_check(1000, 1000 + 2e-9, &lost), PASTSET_EAPP);
    check_error("before the first step");
}

/* --- runs --- */

static json_t *single(const char *seed, const char *rounds)
{
    free(command_run(0, 60, RIVER, "single", "--seed", seed, "--rounds", rounds,
                     "--output", scratch_file("single"), NULL));
    return results_read("river", scratch_file("single"));
}

/* Cells and steps are the same, bit for bit. The sums of water are added in
 * another order: each sum of 96 rows of 72 cells is off by less than 168
 * roundings of half a unit. */
static void check_same(const json_t *run, const json_t *want)
{
    static const char *const counts[] = {"rows", "columns", "steps",
                                         "wet_start", "wet_end"};

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        cr_expect_eq(result_count(run, counts[i]),
                     result_count(want, counts[i]), "%s", counts[i]);
    cr_expect_str_eq(result_text(run, "checksum"),
                     result_text(want, "checksum"));
    cr_expect_eq(result_value(run, "seconds_simulated"),
                 result_value(want, "seconds_simulated"));
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "water_end" : "water_start";
        double water = result_value(want, name);
        cr_expect_float_eq(result_value(run, name), water,
                           168 * DBL_EPSILON * water, "%s", name);
    }
    cr_expect_leq(result_value(run, "water_lost_most"), RIVER_LOST_MAX);
}

static json_t *run_river(const char *threads, const char *processes,
                         const char *rounds)
{
    char *mapping = command_run(0, 20, RIVER, "mapping", "--threads", threads,
                                "--seed", "3", "--rounds", rounds, NULL);

    return run_results("river", map_generated(mapping, processes), 120);
}

static void check_run(const char *threads, const char *processes)
{
    json_t *run = run_river(threads, processes, "500");
    json_t *want = single("3", "500");

    check_same(run, want);
    json_decref(run);
    json_decref(want);
}

Test(river, flows_alike_by_one_thread)
{
    check_run("1", "1");
}

Test(river, flows_alike_on_one_process)
{
    check_run("4", "1");
}

Test(river, flows_alike_on_two_processes)
{
    check_run("4", "2");
}

Test(river, flows_alike_on_four_processes)
{
    check_run("4", "4");
}

Test(river, flows_alike_in_strips_of_unequal_heights)
{
    check_run("7", "2");
}

Test(river, flows_alike_with_a_thread_for_each_row)
{
    json_t *run = run_river("96", "4", "60"), *want = single("3", "60");

    check_same(run, want);
    json_decref(run);
    json_decref(want);
}

static void strips_read(const json_t *run, const char *name, uint64_t out[4])
{
    int count = sscanf(result_text(run, name),
                       "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &out[0],
                       &out[1], &out[2], &out[3]);

    cr_assert_eq(count, 4, "%s", result_text(run, name));
}

/* The first strip begins with all the water, and keeps most of it: that is
 * what the example is for. */
Test(river, has_most_work_in_the_first_strip)
{
    json_t *run = run_river("4", "2", "500");
    uint64_t wet = result_count(run, "wet_start"), strips[4];

    strips_read(run, "strips_wet_start", strips);
    cr_expect_eq(strips[0], wet);
    cr_expect_eq(strips[1] + strips[2] + strips[3], 0);
    strips_read(run, "strips_wet_end", strips);
    cr_expect_eq(strips[0] + strips[1] + strips[2] + strips[3],
                 result_count(run, "wet_end"));
    for (int i = 1; i < 4; i++)
        cr_expect_gt(strips[0], 3 * strips[i]);
    cr_expect_gt(strips[1], 0);
    json_decref(run);
}

/* A map whose borders are shorter than the rows. */
Test(river, refuses_the_map_of_another_problem)
{
    char *mapping =
        command_run(0, 20, RIVER, "mapping", "--threads", "2", NULL);
    char *size = strstr(mapping, "f64[216]"), *output;

    cr_assert_not_null(size);
    memcpy(size, "f64[215]", 8);
    output = run_output("river", map_generated(mapping, "1"), 1, 60);
    check_says(output, "the map is for another problem");
    free(output);
}

Test(river, refuses_more_threads_than_rows)
{
    char *output = command_run(2, 20, RIVER, "mapping", "--size", "S",
                               "--threads", "97", NULL);

    check_says(output, "97 threads: there must be 1 to 96");
    free(output);
}

Test(river, refuses_sizes_that_it_does_not_have)
{
    char *output = command_run(2, 20, RIVER, "single", "--size", "X", NULL);

    check_says(output, "--size=X");
    free(output);
}
