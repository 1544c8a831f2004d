/* picture_frame.c - what stands around the flow: above it a title, on both
 * sides whose rows these are and how long they took, and below it the scale.
 *
 * Colours are those of viridis, which grow evenly brighter, so that they also
 * tell the speeds to people who do not see all colours, and on grey paper. */
#include "apps/windtunnel/picture_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/pixels_text.h"
#include "apps/windtunnel/windtunnel.h"
#include "pastset/status.h"

#define EDGE 10         /* around everything */
#define TITLE_HEIGHT 40 /* above the flow */
#define SCALE_HEIGHT 92 /* below it */
#define BAR_WIDTH_MAX 600
#define BAR_HEIGHT 16
#define BAR_BELOW 14 /* the flow */
#define TITLE_SIZE 14.0f
#define NUMBER_SIZE 14.0f
#define TICKS_APART 60 /* pixels, at least */

static const pixels_colour ink = PICTURE__INK;
static const pixels_colour white = {255, 255, 255};

typedef struct frame {
    const picture__flow *flow;
    pixels_canvas canvas;
    int left; /* of the flow */
} frame;

pixels_colour picture__colour(float share)
{
    static const pixels_colour steps[] = {
        {68, 1, 84},    {72, 40, 120},  {62, 73, 137},  {49, 104, 142},
        {38, 130, 142}, {31, 158, 137}, {53, 183, 121}, {110, 206, 88},
        {181, 222, 43}, {253, 231, 37},
    };
    float at = fminf(fmaxf(share, 0), 0.9999f) * 9;
    int step = (int)at;

    return pixels_mix(steps[step], steps[step + 1], at - (float)step);
}

static pixels_colour *pixel(const frame *f, int x, int y)
{
    return &f->canvas.pixels[(size_t)y * (size_t)f->canvas.width + (size_t)x];
}

static void box_draw(const frame *f, int x, int y, int width, int height,
                     pixels_colour c)
{
    pixels_box(&f->canvas, (pixels_area){x, y, width, height}, c);
}

/* --- the flow, and what it is --- */

static void flow_copy(const frame *f)
{
    const pixels_canvas *flow = &f->flow->canvas;

    for (int y = 0; y < flow->height; y++)
        memcpy(pixel(f, f->left, TITLE_HEIGHT + y),
               flow->pixels + (size_t)y * (size_t)flow->width,
               (size_t)flow->width * sizeof(pixels_colour));
}

static void title_draw(const frame *f)
{
    const lattice_slice *whole = f->flow->whole;
    const lattice_tunnel *tunnel = lattice_slice_tunnel(whole);
    const char *obstacle = lattice_obstacle_name(tunnel->obstacle);
    bool empty = tunnel->obstacle == LATTICE_EMPTY;
    float room = (float)f->flow->canvas.width, width;
    char text[160];

    snprintf(text, sizeof(text),
             "flow %s%s at step %" PRIu64 " (mean of %" PRIu32
             " samples), %" PRIu32 " x %" PRIu32 " sites, %" PRIu32 " thread%s",
             empty ? "in an empty tunnel" : "past a ", empty ? "" : obstacle,
             lattice_slice_steps(whole), lattice_samples(whole), tunnel->width,
             tunnel->height, f->flow->slices->count,
             f->flow->slices->count == 1 ? "" : "s");
    width = pixels_text_width(text, TITLE_SIZE);
    pixels_text(&f->canvas, (float)f->left, TITLE_HEIGHT - 14, text,
                TITLE_SIZE * fminf(1, room / width), ink);
}

/* --- the scale --- */

/* From one number to the next: the finest at which they do not touch. */
static double tick_step(double top, int width)
{
    static const double steps[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5};
    size_t i = 0;

    while (i + 1 < sizeof(steps) / sizeof(steps[0]) &&
           steps[i] / top * width < TICKS_APART)
        i++;
    return steps[i];
}

static void text_middle(const frame *f, int x, int y, const char *text)
{
    pixels_text(&f->canvas, (float)x - pixels_text_width(text, NUMBER_SIZE) / 2,
                (float)y, text, NUMBER_SIZE, ink);
}

static void scale_draw(const frame *f)
{
    int room = f->flow->canvas.width - 40;
    int width = room < BAR_WIDTH_MAX ? room : BAR_WIDTH_MAX;
    int left = f->left + (f->flow->canvas.width - width) / 2;
    int top = TITLE_HEIGHT + f->flow->canvas.height + BAR_BELOW;
    double speed = (double)f->flow->top_speed, step = tick_step(speed, width);

    for (int x = 0; x < width; x++)
        box_draw(f, left + x, top, 1, BAR_HEIGHT,
                 picture__colour((float)x / (float)(width - 1)));
    for (int i = 0; i * step < speed + step / 100; i++) {
        int x = left + (int)lround(i * step / speed * (width - 1));
        char text[16];
        snprintf(text, sizeof(text), "%g", i * step);
        box_draw(f, x, top + BAR_HEIGHT, 1, 5, ink);
        text_middle(f, x, top + BAR_HEIGHT + 22, text);
    }
    text_middle(f, left + width / 2, top + BAR_HEIGHT + 44,
                "mean speed of the gas, sites per step");
}

int picture__frame(pixels_canvas *out, const picture__flow *flow)
{
    const pixels_slices *slices = flow->slices;
    frame f = {.flow = flow, .left = EDGE + pixels_slices_left(slices)};
    int below = TITLE_HEIGHT + flow->canvas.height + SCALE_HEIGHT;

    f.canvas.width =
        f.left + flow->canvas.width + pixels_slices_right(slices) + EDGE;
    f.canvas.height =
        below + pixels_slices_below(slices, f.canvas.width - 2 * EDGE);
    f.canvas.pixels = malloc((size_t)f.canvas.width * (size_t)f.canvas.height *
                             sizeof(pixels_colour));
    if (!f.canvas.pixels)
        return pastset_no_memory("for the picture");
    box_draw(&f, 0, 0, f.canvas.width, f.canvas.height, white);
    flow_copy(&f);
    title_draw(&f);
    scale_draw(&f);
    pixels_slices_draw(slices, &f.canvas,
                       (pixels_area){f.left, TITLE_HEIGHT, flow->canvas.width,
                                     flow->canvas.height});
    pixels_slices_legend(slices, &f.canvas, EDGE, below);
    *out = f.canvas;
    return 0;
}
