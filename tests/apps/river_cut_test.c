/* river_cut_test.c - where the river is cut into strips, and its picture, which
 * shows that. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/division.h"
#include "apps/river/river.h"
#include "tests/support/application.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/pictures.h"
#include "tests/support/scratch.h"

#define RIVER TEST_BINARY_DIR "/river"

TestSuite(river_cut, .init = scratch_make, .fini = scratch_remove,
          .timeout = 300);

/* --- cuts --- */

static void check_strip(const char *cut, uint32_t number, uint32_t want_first,
                        uint32_t want_rows)
{
    uint32_t first, rows;

    check_status(division_share(cut, 100, 3, number, &first, &rows), 0);
    cr_expect_eq(first, want_first);
    cr_expect_eq(rows, want_rows);
}

Test(river_cut, strips_have_the_rows_that_a_cut_says)
{
    check_strip("1,90,9", 0, 0, 1);
    check_strip("1,90,9", 1, 1, 90);
    check_strip("1,90,9", 2, 91, 9);
    check_strip(NULL, 1, 34, 33);
}

Test(river_cut, refuses_cuts_of_other_grids)
{
    static const char *const cuts[] = {
        "",
        "100",
        "50,50",
        "1,90,8",
        "1,90,10",
        "1,98,1,0",
        "0,50,50",
        "50,50,0",
        "1,-1,100",
        "1, 90,9",
        "1,90,9,",
        "1,90,9 ",
        "a,90,9",
        "1;90;9",
        "+1,90,9",
        "4294967297,90,9",
        "99999999999999999999,1,1",
    };
    uint32_t first, rows;

    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        check_status(division_share(cuts[i], 100, 3, 2, &first, &rows),
                     PASTSET_EINVAL);
        check_error("rows=");
        check_error("together 100");
    }
}

/* --- runs --- */

static json_t *single(void)
{
    free(command_run(0, 60, RIVER, "single", "--rounds", "300", "--output",
                     scratch_file("single"), NULL));
    return results_read("river", scratch_file("single"));
}

static char *mapping_of(const char *threads, const char *option,
                        const char *value)
{
    return command_run(0, 60, RIVER, "mapping", "--threads", threads,
                       "--rounds", "300", option, value, NULL);
}

static json_t *river_run(char *mapping, const char *processes)
{
    return run_results("river", map_generated(mapping, processes), 120);
}

static void check_same(json_t *run, const char *rows)
{
    json_t *want = single();

    cr_expect_str_eq(result_text(run, "checksum"),
                     result_text(want, "checksum"));
    cr_expect_eq(result_count(run, "wet_end"), result_count(want, "wet_end"));
    cr_expect_str_eq(result_text(run, "strips_rows"), rows);
    json_decref(want);
}

Test(river_cut, flows_alike_in_strips_that_are_cut_by_hand)
{
    json_t *run = river_run(mapping_of("3", "--rows", "1,12,83"), "2");

    check_same(run, "1 12 83");
    json_decref(run);
}

static unsigned numbers_of(const char *text, uint64_t *out, unsigned max)
{
    unsigned count = 0;
    char *end;

    for (const char *at = text; *at && count < max; at = end) {
        out[count++] = strtoull(at, &end, 10);
        cr_assert(end > at, "%s", text);
        end += *end == ' ' || *end == ',';
    }
    return count;
}

/* --- balance --- */

/* Cell by cell, as in water.c's equations, but with all of the grid in place:
 * what there is to compute in each row in so many steps. */
static river_place now[96][72], after[96][72];

static river_face face(int row, int column, river_way way)
{
    int next_row = row + (way == RIVER_SOUTH);
    int next_column = column + (way == RIVER_EAST);
    bool first = row < 0 || column < 0;
    bool last = next_row == 96 || next_column == 72;
    const river_place *low =
        &now[first ? next_row : row][first ? next_column : column];
    const river_place *high = last ? low : &now[next_row][next_column];
    river_place wall = river_mirror(low, way);

    return river_face_between(first ? &wall : low, last ? &wall : high, way);
}

static void step(const river *r)
{
    double seconds = RIVER_LONGEST;

    for (int row = 0; row < 96; row++)
        for (int column = 0; column < 72; column++) {
            double most = river_cell_seconds(&now[row][column].cell, r->metres);
            seconds = most < seconds ? most : seconds;
        }
    memcpy(after, now, sizeof(now));
    for (int row = 0; row < 96; row++)
        for (int column = 0; column < 72; column++) {
            river_faces f = {
                .west = face(row, column - 1, RIVER_EAST),
                .east = face(row, column, RIVER_EAST),
                .north = face(row - 1, column, RIVER_SOUTH),
                .south = face(row, column, RIVER_SOUTH),
            };
            after[row][column].cell = river_cell_after(&now[row][column].cell,
                                                       &f, seconds, r->metres);
        }
    memcpy(now, after, sizeof(now));
}

static void work_find(uint64_t work[96], unsigned steps)
{
    const program_options options = {.size = 'S', .seed = 1};
    river r;

    check_status(river_make(&r, &options), 0);
    for (uint32_t row = 0; row < 96; row++)
        for (uint32_t column = 0; column < 72; column++)
            now[row][column] = (river_place){river_start(&r, row, column),
                                             river_bed(&r, row, column)};
    memset(work, 0, 96 * sizeof(*work));
    for (unsigned i = 0; i < steps; i++) {
        for (int row = 0; row < 96; row++)
            for (int column = 0; column < 72; column++)
                work[row] += now[row][column].cell.depth > RIVER_WET;
        step(&r);
    }
}

/* Each strip's work is a third of all, but for what half a row at each of its
 * bounds makes. */
static void check_shares(const uint64_t *rows, unsigned count,
                         const uint64_t work[96])
{
    uint64_t all = 0, max_row = 0, row = 0;

    for (int i = 0; i < 96; i++) {
        all += work[i];
        max_row = work[i] > max_row ? work[i] : max_row;
    }
    for (unsigned i = 0; i < count; i++) {
        uint64_t has = 0;
        for (uint64_t end = row + rows[i]; row < end; row++)
            has += work[row];
        cr_expect_float_eq((double)has, (double)all / count, (double)max_row,
                           "strip %u", i);
    }
    cr_expect_eq(row, 96);
}

static char *rows_in(const char *mapping)
{
    const char *at = strstr(mapping, "rows=\"");
    char *text;

    cr_assert_not_null(at);
    text = strdup(at + strlen("rows=\""));
    *strchr(text, '"') = 0;
    return text;
}

Test(river_cut, balanced_strips_have_equally_much_work)
{
    char *mapping = mapping_of("3", "--balanced", NULL), *text;
    uint64_t rows[4] = {0}, work[96];
    json_t *run;

    text = rows_in(mapping);
    cr_assert_eq(numbers_of(text, rows, 4), 3, "%s", text);
    work_find(work, 300);
    check_shares(rows, 3, work);
    for (char *comma = text; (comma = strchr(comma, ','));)
        *comma = ' ';
    run = river_run(mapping, "2");
    check_same(run, text);
    json_decref(run);
    free(text);
}

/* A valley four times as fine has its strips at the same places. */
Test(river_cut, cuts_finer_valleys_at_the_same_places)
{
    char *coarse = command_run(0, 60, RIVER, "mapping", "--threads", "2",
                               "--balanced", NULL);
    char *fine = command_run(0, 60, RIVER, "mapping", "--threads", "2",
                             "--size", "A", "--balanced", NULL);
    char *coarse_text = rows_in(coarse), *fine_text = rows_in(fine);
    uint64_t a[2], b[2];

    cr_assert_eq(numbers_of(coarse_text, a, 2), 2);
    cr_assert_eq(numbers_of(fine_text, b, 2), 2);
    cr_expect_eq(b[0] + b[1], 512);
    cr_expect_float_eq((double)b[0] / 512, (double)a[0] / 96, 1.0 / 96);
    free(coarse);
    free(fine);
    free(coarse_text);
    free(fine_text);
}

/* As many strips as rows: each has one, wherever the work is. */
Test(river_cut, leaves_a_row_for_each_thread)
{
    char *mapping = mapping_of("96", "--balanced", NULL);
    char *text = rows_in(mapping);
    uint64_t rows[97];

    cr_assert_eq(numbers_of(text, rows, 97), 96);
    for (int i = 0; i < 96; i++)
        cr_assert_eq(rows[i], 1);
    free(mapping);
    free(text);
}

Test(river_cut, refuses_two_cuts_and_those_that_do_not_fit)
{
    char *output = command_run(2, 20, RIVER, "mapping", "--balanced", "--rows",
                               "1,1,1,93", NULL);

    check_says(output, "--rows says all: give neither");
    free(output);
    output = command_run(2, 20, RIVER, "mapping", "--rows", "1,2,3", NULL);
    check_says(output, "rows=1,2,3: expected 4 numbers");
    free(output);
    output = command_run(2, 20, RIVER, "single", "--balanced", NULL);
    check_says(output, "--balanced is for mapping");
    free(output);
    output = command_run(2, 20, RIVER, "mapping", "--threads", "97",
                         "--balanced", NULL);
    check_says(output, "97 threads: there must be 1 to 96");
    free(output);
}

/* --- the picture --- */

/* The share of pixels in which two pictures of the valley differ, between these
 * parts of its length; the bounds of strips are not looked at. */
static double differing(const pixels_canvas *a, const pixels_canvas *b,
                        double from, double end)
{
    pixels_area valley = picture_grid(a, 540), other = picture_grid(b, 540);
    int top = (int)(from * valley.height) + 2;
    int below = (int)(end * valley.height) - 2, differ = 0;

    cr_assert_eq(valley.height, other.height);
    for (int y = top; y < below; y++)
        for (int x = 0; x < valley.width; x++)
            differ +=
                !picture_same(picture_at(a, valley.left + x, valley.top + y),
                              picture_at(b, other.left + x, other.top + y));
    return (double)differ / ((below - top) * valley.width);
}

/* Whether lines go over a strip is said by the times that the program tells; at
 * the very bound, which these give in whole ms only, it may be either. */
static void check_lines(double share, double computing_ms, double mean_ms)
{
    if (computing_ms > 1.25 * mean_ms + 1)
        cr_expect(share > 0.05 && share < 0.25, "%f", share);
    else if (computing_ms < 1.15 * mean_ms - 1)
        cr_expect_eq(share, 0);
}

/* The water is that of the sequential program. In this cut the first strip has
 * nearly all the work. */
Test(river_cut, shows_the_same_water_and_which_strip_is_slow)
{
    json_t *run = river_run(mapping_of("2", "--rows", "48,48"), "2");
    pixels_canvas got = picture_read(scratch_file("run/river.png")), want;
    uint64_t ms[2];
    double mean;

    check_same(run, "48 48");
    want = picture_read(scratch_file("single/river.png"));
    cr_assert_eq(numbers_of(result_text(run, "strips_computing_ms"), ms, 2), 2);
    mean = (double)(ms[0] + ms[1]) / 2;
    check_lines(differing(&want, &got, 0, 0.5), (double)ms[0], mean);
    check_lines(differing(&want, &got, 0.5, 1), (double)ms[1], mean);
    cr_expect_gt(got.width, want.width);
    free(got.pixels);
    free(want.pixels);
    json_decref(run);
}
