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

#include "apps/common/pixels.h"
#include "pastset/status.h"

#define WIDTH 720 /* pixels */
#define STEEPER 4.0f
#define FILE_NAME "river.png"

typedef struct view {
    const river *problem;
    const river_cell *cells;
    const double *beds; /* of the cells */
    int width, height;
    double km;       /* of a pixel */
    float *heights;  /* of the bed, by pixel, with one more at each side */
    float low, high; /* the lowest and the highest of them */
} view;

/* --- the bed --- */

static const pixels_colour sunlight = {255, 250, 236};
static const pixels_colour shadow = {34, 36, 48};

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

static float *height_at(const view *v, int i, int j)
{
    return &v->heights[(size_t)(j + 1) * (size_t)(v->width + 2) + (size_t)i +
                       1];
}

static void heights_find(view *v)
{
    v->low = INFINITY;
    v->high = -INFINITY;
    for (int j = -1; j <= v->height; j++) {
        for (int i = -1; i <= v->width; i++) {
            float height = (float)river_height(v->problem, (i + 0.5) * v->km,
                                               (j + 0.5) * v->km);
            *height_at(v, i, j) = height;
            v->low = fminf(v->low, height);
            v->high = fmaxf(v->high, height);
        }
    }
}

/* How much light a slope gets more than level ground: the sun stands in the
 * north-west, and the relief is drawn steeper than it is. */
static float light_at(const view *v, int i, int j)
{
    float steep = STEEPER / (2000 * (float)v->km);
    float x = steep * (*height_at(v, i - 1, j) - *height_at(v, i + 1, j));
    float y = steep * (*height_at(v, i, j - 1) - *height_at(v, i, j + 1));
    float length = sqrtf(x * x + y * y + 1);

    return (0.707f - 0.5f * (x + y)) / length - 0.707f;
}

static pixels_colour bed_colour(const view *v, int i, int j)
{
    float height = *height_at(v, i, j), light = light_at(v, i, j);
    pixels_colour c = earth((height - v->low) / (v->high - v->low));

    return light > 0 ? pixels_mix(c, sunlight, 1.3f * light)
                     : pixels_mix(c, shadow, -0.75f * light);
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

    return pixels_mix(bed, c, depth * 4);
}

/* --- the picture --- */

static void pixels_fill(const view *v, pixels_colour *pixels)
{
    for (int j = 0; j < v->height; j++) {
        for (int i = 0; i < v->width; i++) {
            double level = level_at(v, (i + 0.5) * v->km, (j + 0.5) * v->km);
            double depth = level - *height_at(v, i, j);
            pixels_colour c = bed_colour(v, i, j);
            if (depth > 0)
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
    view v = {
        .problem = r,
        .cells = cells,
        .width = WIDTH,
        .height = (int)(WIDTH * RIVER_LENGTH / RIVER_WIDTH),
        .km = RIVER_WIDTH / 1000 / WIDTH,
    };
    size_t width = (size_t)v.width, height = (size_t)v.height;
    pixels_colour *pixels = calloc(width * height, sizeof(*pixels));
    double *beds = beds_make(r);
    int err;

    v.beds = beds;
    v.heights = calloc((width + 2) * (height + 2), sizeof(*v.heights));
    if (!beds || !pixels || !v.heights) {
        err = pastset_no_memory("for the picture");
    } else {
        heights_find(&v);
        pixels_fill(&v, pixels);
        err = picture_save(&v, pixels, options);
    }
    free(beds);
    free(pixels);
    free(v.heights);
    return err;
}
