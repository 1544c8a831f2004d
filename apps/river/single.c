/* single.c - the river without any threads: in each step every face of every
 * cell, dry or not, and then every cell. What a run computes is compared with
 * this. */
#include "apps/river/river.h"

#include <stdlib.h>

#include "pastset/status.h"

typedef struct grid {
    river problem;
    river_place *places, *after; /* row by row */
} grid;

static river_place *place_at(const grid *g, uint32_t row, uint32_t column)
{
    return &g->places[(size_t)row * g->problem.columns + column];
}

static void grid_fill(grid *g)
{
    const river *r = &g->problem;

    for (uint32_t row = 0; row < r->rows; row++)
        for (uint32_t column = 0; column < r->columns; column++)
            *place_at(g, row, column) = (river_place){
                .cell = river_start(r, row, column),
                .bed = river_bed(r, row, column),
            };
}

/* --- a step --- */

static double step_seconds(const grid *g)
{
    size_t count = (size_t)g->problem.rows * g->problem.columns;
    double min = RIVER_LONGEST;

    for (size_t i = 0; i < count; i++) {
        double seconds =
            river_cell_seconds(&g->places[i].cell, g->problem.metres);
        if (seconds < min)
            min = seconds;
    }
    return min;
}

static river_cell cell_after(const grid *g, uint32_t row, uint32_t column,
                             double seconds)
{
    const river *r = &g->problem;
    const river_place *here = place_at(g, row, column);
    river_place wall_east = river_mirror(here, RIVER_EAST);
    river_place wall_south = river_mirror(here, RIVER_SOUTH);
    const river_place *west = column > 0 ? here - 1 : &wall_east;
    const river_place *east = column + 1 < r->columns ? here + 1 : &wall_east;
    const river_place *north = row > 0 ? here - r->columns : &wall_south;
    const river_place *south =
        row + 1 < r->rows ? here + r->columns : &wall_south;
    river_faces faces = {
        .west = river_face_between(west, here, RIVER_EAST),
        .east = river_face_between(here, east, RIVER_EAST),
        .north = river_face_between(north, here, RIVER_SOUTH),
        .south = river_face_between(here, south, RIVER_SOUTH),
    };

    return river_cell_after(&here->cell, &faces, seconds, r->metres);
}

static void step_run(grid *g, double seconds)
{
    const river *r = &g->problem;
    river_place *places = g->places;

    for (uint32_t row = 0; row < r->rows; row++) {
        for (uint32_t column = 0; column < r->columns; column++) {
            river_place *after = &g->after[(size_t)row * r->columns + column];
            after->cell = cell_after(g, row, column, seconds);
            after->bed = place_at(g, row, column)->bed;
        }
    }
    g->places = g->after;
    g->after = places;
}

/* --- sums --- */

static double water_sum(const grid *g)
{
    const river *r = &g->problem;
    double sum = 0;

    for (uint32_t row = 0; row < r->rows; row++) {
        double of_row = 0;
        for (uint32_t column = 0; column < r->columns; column++)
            of_row += place_at(g, row, column)->cell.depth;
        sum += of_row;
    }
    return sum * r->metres * r->metres;
}

static uint64_t row_wet(const grid *g, uint32_t row)
{
    uint64_t wet = 0;

    for (uint32_t column = 0; column < g->problem.columns; column++)
        wet += place_at(g, row, column)->cell.depth > RIVER_WET;
    return wet;
}

static uint64_t wet_count(const grid *g)
{
    uint64_t wet = 0;

    for (uint32_t row = 0; row < g->problem.rows; row++)
        wet += row_wet(g, row);
    return wet;
}

/* --- all of it --- */

static int steps_run(grid *g, river_report *report)
{
    int err = 0;

    report->water_start = water_sum(g);
    for (uint32_t step = 1; step <= g->problem.steps && !err; step++) {
        double seconds = step_seconds(g);
        step_run(g, seconds);
        report->seconds += seconds;
        if (step % RIVER_CHECK == 0 || step == g->problem.steps) {
            report->water_end = water_sum(g);
            err = river_water_check(report->water_start, report->water_end,
                                    &report->lost_max);
        }
    }
    return err;
}

static int report_write(const grid *g, river_report *report,
                        const program_options *options, program_result *result)
{
    size_t count = (size_t)g->problem.rows * g->problem.columns;
    river_cell *cells = malloc(count * sizeof(*cells));
    int err;

    if (!cells)
        return pastset_no_memory("for the cells");
    for (size_t i = 0; i < count; i++)
        cells[i] = g->places[i].cell;
    report->cells = cells;
    err = river_report_write(report, options, result);
    free(cells);
    return err;
}

static int grid_create(grid *g)
{
    size_t count = (size_t)g->problem.rows * g->problem.columns;

    g->places = malloc(count * sizeof(*g->places));
    g->after = malloc(count * sizeof(*g->after));
    if (!g->places || !g->after)
        return pastset_no_memory("for the cells");
    grid_fill(g);
    return 0;
}

static void grid_destroy(grid *g)
{
    free(g->places);
    free(g->after);
}

int river_single(const program_options *options, program_result *result)
{
    grid g = {.places = NULL};
    river_strip all = {.first = 0};
    river_report report = {.problem = &g.problem, .threads = 1, .strips = &all};
    int err = river_make(&g.problem, options);

    if (err)
        return err;
    all.rows = g.problem.rows;
    err = grid_create(&g);
    if (!err) {
        all.wet_start = wet_count(&g);
        all.computing_ns = program_now_ns();
        err = steps_run(&g, &report);
        all.computing_ns = program_now_ns() - all.computing_ns;
        all.wet_end = wet_count(&g);
    }
    if (!err)
        err = report_write(&g, &report, options, result);
    grid_destroy(&g);
    return err;
}

int river_rows_wet(const river *r, uint64_t *wet)
{
    grid g = {.problem = *r};
    int err = grid_create(&g);

    for (uint32_t row = 0; row < r->rows; row++)
        wet[row] = 0;
    for (uint32_t step = 0; step < r->steps && !err; step++) {
        for (uint32_t row = 0; row < r->rows; row++)
            wet[row] += row_wet(&g, row);
        step_run(&g, step_seconds(&g));
    }
    grid_destroy(&g);
    return err;
}
