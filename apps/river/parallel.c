/* parallel.c - a thread of the river: one strip of rows, and what it tells the
 * others.
 *
 * Each step is as in paper 004, section 5.3: write the border rows to the
 * thread above and to the one below, read theirs, agree on the time step, and
 * compute. Every 32 steps all sum up their water. Paths of a thread:
 *
 *     to_above, to_below, from_above, from_below, rows
 *              see apps/common/strips.h
 *     step     all-reduce, the minimum, once a step
 *     water    all-reduce, the sum, before the first step, after every 32nd
 *              and after the last
 *     strips   all-gather, once at the end
 *
 * Only water makes work: of each row the columns from the first to the last
 * wet cell are known, and only these, their neighbours, and the columns above
 * and below wet ones are looked at; a row far from water costs nothing. So the
 * thread with the reservoir has the most to do, and the others wait for it. */
#include "apps/river/river.h"

#include <stdbool.h>
#include <stdlib.h>

#include "apps/common/division.h"
#include "apps/common/strips.h"
#include "pastset/status.h"

/* Columns first ... end - 1; none when first >= end. */
typedef struct span {
    uint32_t first, end;
} span;

/* Rows are numbered from 1 here; row 0 and row `rows + 1` are those of the
 * neighbours. */
typedef struct strip {
    river problem;
    strips links;
    paths_path *step, *water, *strips;
    uint32_t rows, columns;
    river_place *places;
    span *spans;       /* of each row: where its wet cells are */
    river_face *north; /* of the row that is computed, by column */
    double *border;    /* four rows as they are sent: first, last, theirs */
    double seconds;    /* the time step that this strip allows */
    river_strip told;  /* to the others, at the end */
} strip;

/* --- the strip --- */

static river_place *row_at(const strip *s, uint32_t row)
{
    return &s->places[(size_t)row * s->columns];
}

static bool is_wet(const river_place *place)
{
    return place->cell.depth > RIVER_WET;
}

static void span_find(strip *s, uint32_t row)
{
    const river_place *places = row_at(s, row);
    span found = {s->columns, 0};

    for (uint32_t column = 0; column < s->columns; column++) {
        if (!is_wet(&places[column]))
            continue;
        if (found.first > column)
            found.first = column;
        found.end = column + 1;
    }
    s->spans[row] = found;
}

static void span_join(span *s, const span *other)
{
    if (other->first >= other->end)
        return;
    if (other->first < s->first)
        s->first = other->first;
    if (other->end > s->end)
        s->end = other->end;
}

/* The columns of a row in which anything can change. */
static span span_around(const strip *s, uint32_t row)
{
    span around = s->spans[row];

    if (around.first < around.end) {
        around.first -= around.first > 0;
        around.end += around.end < s->columns;
    }
    span_join(&around, &s->spans[row - 1]);
    span_join(&around, &s->spans[row + 1]);
    return around;
}

/* Every thread has the whole problem at hand, so that the beds of the rows
 * beside its strip need not be sent. */
static void strip_fill(strip *s)
{
    for (uint32_t row = 0; row < s->rows + 2; row++) {
        uint32_t of_grid = s->links.first + row - 1;
        s->spans[row] = (span){s->columns, 0};
        if (of_grid >= s->problem.rows) /* or -1: behind a wall */
            continue;
        for (uint32_t column = 0; column < s->columns; column++)
            row_at(s, row)[column] = (river_place){
                .cell = river_start(&s->problem, of_grid, column),
                .bed = river_bed(&s->problem, of_grid, column),
            };
        span_find(s, row);
    }
}

static void seconds_find(strip *s)
{
    s->seconds = RIVER_LONGEST;
    for (size_t i = s->columns; i < (size_t)(s->rows + 1) * s->columns; i++) {
        double seconds =
            river_cell_seconds(&s->places[i].cell, s->problem.metres);
        if (seconds < s->seconds)
            s->seconds = seconds;
    }
}

/* --- computing --- */

/* The faces above the first row. Elsewhere `north` is what was south of the
 * row before, or all zero: a face that is not has a wet cell at it, and so was
 * looked at. */
static void north_begin(strip *s)
{
    const river_place *above = row_at(s, 0), *row = row_at(s, 1);
    span around = span_around(s, 1);

    for (uint32_t column = 0; column < s->columns; column++)
        s->north[column] = (river_face){.water = 0};
    for (uint32_t column = around.first; column < around.end; column++) {
        river_place wall = river_mirror(&row[column], RIVER_SOUTH);
        s->north[column] =
            river_face_between(s->links.first > 0 ? &above[column] : &wall,
                               &row[column], RIVER_SOUTH);
    }
}

static river_face south_of(const strip *s, uint32_t row, uint32_t column)
{
    const river_place *here = &row_at(s, row)[column];

    if (s->links.first + row == s->problem.rows) {
        river_place wall = river_mirror(here, RIVER_SOUTH);
        return river_face_between(here, &wall, RIVER_SOUTH);
    }
    return river_face_between(here, here + s->columns, RIVER_SOUTH);
}

static river_face east_of(const strip *s, uint32_t row, uint32_t column)
{
    const river_place *here = &row_at(s, row)[column];

    if (column + 1 == s->columns) {
        river_place wall = river_mirror(here, RIVER_EAST);
        return river_face_between(here, &wall, RIVER_EAST);
    }
    return river_face_between(here, here + 1, RIVER_EAST);
}

/* West of the first column that is looked at there is no wet cell, unless that
 * is at the wall. */
static river_face west_begin(const strip *s, uint32_t row, uint32_t column)
{
    const river_place *here = &row_at(s, row)[column];
    river_place wall = river_mirror(here, RIVER_EAST);

    return river_face_between(column > 0 ? here - 1 : &wall, here, RIVER_EAST);
}

/* In place: each face is computed while the cells on both sides of it are
 * still old. Also finds where the row is wet then, and what time step its cells
 * allow. */
static void row_run(strip *s, uint32_t row, span around, double seconds)
{
    river_place *places = row_at(s, row);
    river_faces faces = {.west = west_begin(s, row, around.first)};
    span wet = {s->columns, 0};

    for (uint32_t column = around.first; column < around.end; column++) {
        river_cell *cell = &places[column].cell;
        double allowed;
        faces.east = east_of(s, row, column);
        faces.north = s->north[column];
        faces.south = south_of(s, row, column);
        *cell = river_cell_after(cell, &faces, seconds, s->problem.metres);
        s->north[column] = faces.south;
        faces.west = faces.east;
        if (!is_wet(&places[column]))
            continue;
        allowed = river_cell_seconds(cell, s->problem.metres);
        s->seconds = allowed < s->seconds ? allowed : s->seconds;
        span_join(&wet, &(span){column, column + 1});
    }
    s->spans[row] = wet;
}

/* A row's columns are found before the row above it changes: hence `next`. */
static void strip_run(strip *s, double seconds)
{
    span around = span_around(s, 1);

    north_begin(s);
    s->seconds = RIVER_LONGEST;
    for (uint32_t row = 1; row <= s->rows; row++) {
        span next = {0, 0};
        if (row < s->rows)
            next = span_around(s, row + 1);
        if (around.first < around.end)
            row_run(s, row, around, seconds);
        around = next;
    }
}

static double strip_water(const strip *s)
{
    double sum = 0;

    for (uint32_t row = 1; row <= s->rows; row++) {
        const river_place *places = row_at(s, row);
        double of_row = 0;
        for (uint32_t column = 0; column < s->columns; column++)
            of_row += places[column].cell.depth;
        sum += of_row;
    }
    return sum * s->problem.metres * s->problem.metres;
}

static uint64_t strip_wet(const strip *s)
{
    uint64_t wet = 0;

    for (size_t i = s->columns; i < (size_t)(s->rows + 1) * s->columns; i++)
        wet += is_wet(&s->places[i]);
    return wet;
}

/* --- telling the others --- */

static void cells_get(const strip *s, uint32_t row, double *out)
{
    river_cell *cells = (river_cell *)out;

    for (uint32_t column = 0; column < s->columns; column++)
        cells[column] = row_at(s, row)[column].cell;
}

static void cells_set(strip *s, uint32_t row, const double *in)
{
    const river_cell *cells = (const river_cell *)in;

    for (uint32_t column = 0; column < s->columns; column++)
        row_at(s, row)[column].cell = cells[column];
    span_find(s, row);
}

static int borders_exchange(strip *s)
{
    size_t values = s->links.values;
    double *first = s->border, *last = first + values;
    double *above = last + values, *below = above + values;
    uint64_t begin;
    int err;

    cells_get(s, 1, first);
    cells_get(s, s->rows, last);
    begin = program_now_ns();
    err = strips_exchange(&s->links, first, last, above, below);
    s->told.communicating_ns += program_now_ns() - begin;
    if (!err && s->links.from_above)
        cells_set(s, 0, above);
    if (!err && s->links.from_below)
        cells_set(s, s->rows + 1, below);
    return err;
}

/* Gives a number and gets the combined one. */
static int combine(strip *s, paths_path *path, double mine, double *out)
{
    uint64_t begin = program_now_ns();
    int err = paths_exchange(path, &mine, sizeof(mine), out, sizeof(*out));

    s->told.communicating_ns += program_now_ns() - begin;
    return err;
}

static int water_sum(strip *s, double *out)
{
    return combine(s, s->water, strip_water(s), out);
}

static int step_run(strip *s, river_report *report)
{
    double seconds;
    int err = borders_exchange(s);

    if (!err)
        err = combine(s, s->step, s->seconds, &seconds);
    if (err)
        return err;
    strip_run(s, seconds);
    report->seconds += seconds;
    return 0;
}

static int steps_run(strip *s, river_report *report)
{
    uint64_t begin = program_now_ns();
    int err = water_sum(s, &report->water_start);

    for (uint32_t step = 1; step <= s->problem.steps && !err; step++) {
        err = step_run(s, report);
        if (!err && (step % RIVER_CHECK == 0 || step == s->problem.steps)) {
            err = water_sum(s, &report->water_end);
            if (!err)
                err = river_water_check(report->water_start, report->water_end,
                                        &report->lost_max);
        }
        if (err)
            pastset_fail_while(err, "step %u", (unsigned)step);
    }
    s->told.computing_ns = program_now_ns() - begin - s->told.communicating_ns;
    return err;
}

/* --- results --- */

/* Brings all cells to thread 0, in `all`; elsewhere that stays NULL. */
static int cells_collect(const strip *s, river_cell **all)
{
    size_t count = (size_t)s->rows * s->columns;
    size_t total = (size_t)s->problem.rows * s->columns;
    river_cell *mine = malloc(count * sizeof(*mine));
    bool collects = s->links.first == 0;
    int err;

    *all = collects ? malloc(total * sizeof(**all)) : NULL;
    if (!mine || (collects && !*all)) {
        free(mine);
        return pastset_no_memory("for the cells");
    }
    for (uint32_t row = 0; row < s->rows; row++)
        cells_get(s, row + 1, (double *)(mine + (size_t)row * s->columns));
    err = strips_collect(&s->links, (double *)mine, (double *)*all);
    free(mine);
    return err;
}

/* All threads gather what each tells of its strip. */
static int strips_gather(const strip *s, river_strip *all)
{
    size_t bytes = sizeof(s->told);
    uint32_t threads = paths_thread_count(s->links.self);

    return paths_exchange(s->strips, &s->told, bytes, all, threads * bytes);
}

static int results_write(const strip *s, river_report *report,
                         const program_run *run)
{
    river_strip *all = calloc(report->threads, sizeof(*all));
    river_cell *cells = NULL;
    int err =
        all ? strips_gather(s, all) : pastset_no_memory("for the results");

    if (!err)
        err = cells_collect(s, &cells);
    report->strips = all;
    report->cells = cells;
    if (!err && run->result)
        err = river_report_write(report, run->options, run->result);
    free(cells);
    free(all);
    return err;
}

/* --- a thread --- */

static int strip_open(strip *s, paths_thread *self)
{
    int err = strips_open(&s->links, self, s->problem.rows,
                          s->problem.columns * RIVER_CELL_VALUES,
                          paths_thread_attribute(self, DIVISION_ATTRIBUTE));

    if (!err)
        err = paths_open(&s->step, self, "step");
    if (!err)
        err = paths_open(&s->water, self, "water");
    if (!err)
        err = paths_open(&s->strips, self, "strips");
    return err;
}

static int strip_make(strip *s, paths_thread *self,
                      const program_options *options)
{
    int err = river_make(&s->problem, options);
    size_t places;

    if (!err)
        err = strip_open(s, self);
    if (err)
        return err;
    s->told.first = s->links.first;
    s->told.rows = s->links.rows;
    s->rows = s->links.rows;
    s->columns = s->problem.columns;
    places = (size_t)(s->rows + 2) * s->columns;
    s->places = calloc(places, sizeof(*s->places));
    s->spans = calloc(s->rows + 2, sizeof(*s->spans));
    s->north = calloc(s->columns, sizeof(*s->north));
    s->border = calloc(s->links.values, 4 * sizeof(*s->border));
    if (!s->places || !s->spans || !s->north || !s->border)
        return pastset_no_memory("for the strip");
    strip_fill(s);
    seconds_find(s);
    return 0;
}

int river_thread(paths_thread *self, void *argument)
{
    const program_run *run = argument;
    strip s = {.rows = 0};
    river_report report = {.problem = &s.problem,
                           .threads = paths_thread_count(self)};
    int err = strip_make(&s, self, run->options);

    if (!err) {
        s.told.wet_start = strip_wet(&s);
        err = steps_run(&s, &report);
        s.told.wet_end = strip_wet(&s);
    }
    if (!err)
        err = results_write(&s, &report, run);
    free(s.places);
    free(s.spans);
    free(s.north);
    free(s.border);
    return err;
}
