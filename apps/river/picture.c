/* picture.c - the river from above.
 *
 * The bed is drawn as fine as the pixels are, from the function that made it.
 * The cells are coarser. Between the middles of four of them the water level is
 * that of the wet ones, weighed by how near they are, and there is water
 * wherever the level is above the bed of the pixel. So the shore follows the
 * relief. Around the valley stand a title, which thread had which strip and how
 * long it computed, and a scale of depths. */
#include "apps/river/river.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "apps/common/pixels.h"
#include "apps/common/pixels_slices.h"
#include "apps/common/pixels_text.h"
#include "pastset/status.h"

#define WIDTH 540 /* pixels, of the valley */
#define STEEPER 4.0f
#define FILE_NAME "river.png"

#define EDGE 10         /* around everything */
#define TITLE_HEIGHT 38 /* above the valley */
#define SCALE_HEIGHT 84 /* below it */
#define SCALE_WIDTH 300
#define SCALE_DEPTH 24 /* m, at the end of the scale */
#define TITLE_SIZE 14.0f
#define TEXT_SIZE 14.0f

typedef struct view {
    const river *problem;
    const river_cell *cells;
    const double *beds; /* of the cells */
    int width, height;
    double km;          /* of a pixel */
    float *heights;     /* of the bed, by pixel, with one more at each side */
    float low, high;    /* the lowest and the highest of them */
    pixels_area valley; /* in the picture */
    pixels_canvas picture; /* all of it */
} view;

static const pixels_colour ink = {40, 40, 46};
static const pixels_colour white = {255, 255, 255};

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

/* Blue, darker with the depth. */
static pixels_colour depth_colour(float depth)
{
    static const pixels_colour steps[] = {
        {150, 200, 214}, {98, 166, 200}, {52, 124, 176},
        {26, 84, 140},   {14, 50, 98},
    };
    float at = fminf(sqrtf(depth / SCALE_DEPTH), 0.9999f) * 4;
    int step = (int)at;

    return pixels_mix(steps[step], steps[step + 1], at - (float)step);
}

/* What is very shallow lets the bed through. */
static pixels_colour water_colour(pixels_colour bed, float depth)
{
    return pixels_mix(bed, depth_colour(depth), depth * 4);
}

/* --- the picture --- */

static void valley_draw(const view *v)
{
    for (int j = 0; j < v->height; j++) {
        for (int i = 0; i < v->width; i++) {
            double level = level_at(v, (i + 0.5) * v->km, (j + 0.5) * v->km);
            double depth = level - *height_at(v, i, j);
            pixels_colour c = bed_colour(v, i, j);
            if (depth > 0)
                c = water_colour(c, (float)depth);
            pixels_box(
                &v->picture,
                (pixels_area){v->valley.left + i, v->valley.top + j, 1, 1}, c);
        }
    }
}

static void title_draw(const view *v, uint32_t threads)
{
    const river *r = v->problem;
    char text[120];

    snprintf(text, sizeof(text),
             "river of %" PRIu32 " x %" PRIu32 " cells, step %" PRIu32
             ", %" PRIu32 " thread%s",
             r->columns, r->rows, r->steps, threads, threads == 1 ? "" : "s");
    pixels_text(&v->picture, (float)v->valley.left, TITLE_HEIGHT - 13, text,
                TITLE_SIZE, ink);
}

static void scale_draw(const view *v)
{
    int left = v->valley.left, top = v->valley.top + v->height + 14;

    for (int x = 0; x < SCALE_WIDTH; x++)
        pixels_box(&v->picture, (pixels_area){left + x, top, 1, 14},
                   depth_colour((float)x * SCALE_DEPTH / SCALE_WIDTH));
    for (int depth = 0; depth <= SCALE_DEPTH; depth += 4) {
        int x = left + depth * (SCALE_WIDTH - 1) / SCALE_DEPTH;
        char text[8];
        snprintf(text, sizeof(text), "%d", depth);
        pixels_box(&v->picture, (pixels_area){x, top + 14, 1, 5}, ink);
        pixels_text(&v->picture,
                    (float)x - pixels_text_width(text, TEXT_SIZE) / 2,
                    (float)top + 37, text, TEXT_SIZE, ink);
    }
    pixels_text(&v->picture, (float)(left + SCALE_WIDTH + 18), (float)top + 13,
                "depth of the water, m", TEXT_SIZE, ink);
}

/* Draws all of it; `s` are the threads' strips. */
static int picture_draw(view *v, const pixels_slices *s)
{
    int width =
        EDGE + pixels_slices_left(s) + v->width + pixels_slices_right(s) + EDGE;
    int height = TITLE_HEIGHT + v->height + SCALE_HEIGHT +
                 pixels_slices_below(s, width - 2 * EDGE);

    v->valley = (pixels_area){EDGE + pixels_slices_left(s), TITLE_HEIGHT,
                              v->width, v->height};
    v->picture = (pixels_canvas){
        calloc((size_t)width * (size_t)height, sizeof(pixels_colour)), width,
        height};
    if (!v->picture.pixels)
        return pastset_no_memory("for the picture");
    pixels_box(&v->picture, (pixels_area){0, 0, width, height}, white);
    valley_draw(v);
    title_draw(v, s->count);
    scale_draw(v);
    pixels_slices_draw(s, &v->picture, v->valley);
    pixels_slices_legend(s, &v->picture, EDGE,
                         TITLE_HEIGHT + v->height + SCALE_HEIGHT - 12);
    return 0;
}

/* --- the file --- */

static double *beds_make(const river *r)
{
    double *beds = malloc((size_t)r->rows * r->columns * sizeof(*beds));

    for (uint32_t row = 0; beds && row < r->rows; row++)
        for (uint32_t column = 0; column < r->columns; column++)
            beds[(size_t)row * r->columns + column] = river_bed(r, row, column);
    return beds;
}

static int picture_save(const view *v, const program_options *options)
{
    FILE *file;
    int err = program_file_open(&file, options, FILE_NAME), closed;

    if (err)
        return err;
    err = pixels_write(v->picture.pixels, v->picture.width, v->picture.height,
                       file, FILE_NAME);
    closed = program_file_close(file, FILE_NAME);
    return err ? err : closed;
}

/* Draws and writes it, as soon as there is the memory. */
static int picture_make(view *v, const pixels_slices *s,
                        const program_options *options)
{
    int err;

    heights_find(v);
    err = picture_draw(v, s);
    if (!err)
        err = picture_save(v, options);
    free(v->picture.pixels);
    return err;
}

static pixels_slice *slices_make(const river_report *report)
{
    pixels_slice *slices = calloc(report->threads, sizeof(*slices));

    for (uint32_t i = 0; slices && i < report->threads; i++) {
        const river_strip *strip = &report->strips[i];
        slices[i] =
            (pixels_slice){strip->first, strip->rows, strip->computing_ns,
                           strip->communicating_ns};
    }
    return slices;
}

int river_picture_write(const river_report *report,
                        const program_options *options)
{
    const river *r = report->problem;
    view v = {
        .problem = r,
        .cells = report->cells,
        .width = WIDTH,
        .height = (int)(WIDTH * RIVER_LENGTH / RIVER_WIDTH),
        .km = RIVER_WIDTH / 1000 / WIDTH,
    };
    size_t width = (size_t)v.width, height = (size_t)v.height;
    pixels_slice *slices = slices_make(report);
    const pixels_slices s = {slices, report->threads, r->rows};
    double *beds = beds_make(r);
    int err;

    v.beds = beds;
    v.heights = calloc((width + 2) * (height + 2), sizeof(*v.heights));
    if (slices && beds && v.heights)
        err = picture_make(&v, &s, options);
    else
        err = pastset_no_memory("for the picture");
    free(slices);
    free(beds);
    free(v.heights);
    return err;
}
