/* picture.c - the river from above.
 *
 * The bed is drawn as fine as the pixels are, from the function that made it.
 * The cells are coarser. Between the middles of four of them the water level is
 * that of the wet ones, weighed by how near they are, and there is water
 * wherever the level is above the bed of the pixel. So the shore follows the
 * relief. */
#include "apps/river/river.h"

#include <math.h>
#include <stdlib.h>

#include "apps/pixels/pixels.h"
#include "pastset/status.h"

#define WIDTH 900 /* pixels */
#define FILE_NAME "river.png"

typedef struct view {
    const river *problem;
    const river_cell *cells;
    const double *beds; /* of the cells */
    int width, height;
    double km;       /* of a pixel */
    float low, high; /* of the bed */
} view;

/* --- the bed --- */

static const pixels_colour white = {255, 255, 255};
static const pixels_colour black = {24, 26, 30};

/* Meadow, brown earth, pale rock. */
static pixels_colour earth(float share)
{
    static const pixels_colour steps[] = {
        {146, 154, 104}, {178, 168, 116}, {192, 160, 112}, {170, 132, 94},
        {150, 116, 90},  {176, 154, 134}, {226, 218, 206},
    };
    const int last = sizeof(steps) / sizeof(steps[0]) - 1;
    float at = fminf(fmaxf(share, 0), 0.9999f) * (float)last;
    int step = (int)at;

    return pixels_mix(steps[step], steps[step + 1], at - (float)step);
}

/* How much light a slope gets, about 0 where it is level: the sun stands in
 * the north-west, and the relief is drawn steeper than it is. */
static float light_at(const view *v, double x, double y)
{
    double step = v->km;
    double east = river_height(v->problem, x + step, y) -
                  river_height(v->problem, x - step, y);
    double south = river_height(v->problem, x, y + step) -
                   river_height(v->problem, x, y - step);
    double steep = 5 / (2000 * step);
    double nx = -east * steep, ny = -south * steep;
    double length = sqrt(nx * nx + ny * ny + 1);

    return (float)((-0.5 * nx - 0.5 * ny + 0.707) / length - 0.707);
}

static pixels_colour bed_colour(const view *v, double x, double y, float bed)
{
    pixels_colour c = earth((bed - v->low) / (v->high - v->low));
    float light = light_at(v, x, y);

    return light > 0 ? pixels_mix(c, white, 0.9f * light)
                     : pixels_mix(c, black, -0.9f * light);
}

/* --- the water --- */

/* The water level at a point, or less than any bed when there is none. */
static double level_at(const view *v, double x, double y)
{
    const river *r = v->problem;
    double column = x * 1000 / r->metres - 0.5;
    double row = y * 1000 / r->metres - 0.5;
    double levels = 0, weights = 0;

    for (int corner = 0; corner < 4; corner++) {
        double i = floor(column) + corner % 2, j = floor(row) + corner / 2;
        double weight = (1 - fabs(i - column)) * (1 - fabs(j - row));
        uint32_t at_column = (uint32_t)fmin(fmax(i, 0), r->columns - 1);
        uint32_t at_row = (uint32_t)fmin(fmax(j, 0), r->rows - 1);
        size_t at = (size_t)at_row * r->columns + at_column;
        if (!(v->cells[at].depth > RIVER_WET))
            continue;
        levels += weight * (v->beds[at] + v->cells[at].depth);
        weights += weight;
    }
    return weights > 0.2 ? levels / weights : -1e9;
}

/* Blue, darker with the depth; what is very shallow lets the bed through. */
static pixels_colour water_colour(pixels_colour bed, float depth)
{
    static const pixels_colour steps[] = {
        {150, 200, 214}, {98, 166, 200}, {52, 124, 176},
        {26, 84, 140},   {14, 50, 98},
    };
    float at = fminf(sqrtf(depth / 24), 0.9999f) * 4;
    int step = (int)at;
    pixels_colour c =
        pixels_mix(steps[step], steps[step + 1], at - (float)step);

    return pixels_mix(bed, c, 0.55f + depth * 1.5f);
}

/* --- the picture --- */

static void heights_find(view *v)
{
    size_t count = (size_t)v->problem->rows * v->problem->columns;

    v->low = INFINITY;
    v->high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        v->low = fminf(v->low, (float)v->beds[i]);
        v->high = fmaxf(v->high, (float)v->beds[i]);
    }
}

static void pixels_fill(const view *v, pixels_colour *pixels)
{
    for (int j = 0; j < v->height; j++) {
        for (int i = 0; i < v->width; i++) {
            double x = (i + 0.5) * v->km, y = (j + 0.5) * v->km;
            double bed = river_height(v->problem, x, y);
            double depth = level_at(v, x, y) - bed;
            pixels_colour c = bed_colour(v, x, y, (float)bed);
            if (depth > RIVER_WET)
                c = water_colour(c, (float)depth);
            pixels[(size_t)j * v->width + i] = c;
        }
    }
}

static double *beds_make(const river *r)
{
    double *beds = malloc((size_t)r->rows * r->columns * sizeof(*beds));

    for (uint32_t row = 0; beds && row < r->rows; row++)
        for (uint32_t column = 0; column < r->columns; column++)
            beds[(size_t)row * r->columns + column] = river_bed(r, row, column);
    return beds;
}

static int picture_save(const view *v, const pixels_colour *pixels,
                        const program_options *options)
{
    FILE *file;
    int err = program_file_open(&file, options, FILE_NAME), closed;

    if (err)
        return err;
    err = pixels_write(pixels, v->width, v->height, file, FILE_NAME);
    closed = program_file_close(file, FILE_NAME);
    return err ? err : closed;
}

int river_picture_write(const river *r, const river_cell *cells,
                        const program_options *options)
{
    double *beds = beds_make(r);
    view v = {
        .problem = r,
        .cells = cells,
        .beds = beds,
        .width = WIDTH,
        .height = (int)(WIDTH * RIVER_LENGTH / RIVER_WIDTH),
        .km = RIVER_WIDTH / 1000 / WIDTH,
    };
    pixels_colour *pixels =
        calloc((size_t)v.width * (size_t)v.height, sizeof(*pixels));
    int err;

    if (!beds || !pixels) {
        err = pastset_fail(PASTSET_ENOMEM, "no memory for the picture");
    } else {
        heights_find(&v);
        pixels_fill(&v, pixels);
        err = picture_save(&v, pixels, options);
    }
    free(beds);
    free(pixels);
    return err;
}
