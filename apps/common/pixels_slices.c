/* pixels_slices.c - see pixels_slices.h. */
#include "apps/common/pixels_slices.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "apps/common/pixels_text.h"

#define NAMES_WIDTH 46 /* bands with the names, and a gap */
#define BAR_GAP 10
#define BAR_WIDTH 96
#define BARS_WIDTH 230 /* gap, bar and time */
#define NAME_SIZE_MAX 14.0f
#define TIME_SIZE 14.0f
#define TEXT_SIZE 14.0f
#define LINE 24   /* of the legend */
#define SWATCH 26 /* wide */
#define HATCH 16  /* pixels from line to line */
#define TIMES_APART 18

static const pixels_colour ink = {40, 40, 46};
static const pixels_colour white = {255, 255, 255};
static const pixels_colour bands[2] = {{226, 230, 234}, {198, 205, 212}};
static const pixels_colour computing = {178, 216, 98};
static const pixels_colour communicating = {22, 40, 84};
static const pixels_colour plain = {120, 150,
                                    160}; /* behind a swatch's lines */

static bool is_drawn(const pixels_slices *s)
{
    return s->count > 1;
}

/* --- times --- */

static double mean_computing(const pixels_slices *s)
{
    double sum = 0;

    for (uint32_t i = 0; i < s->count; i++)
        sum += (double)s->slices[i].computing_ns;
    return sum / s->count;
}

bool pixels_slice_is_slow(const pixels_slices *s, uint32_t number)
{
    double mean = mean_computing(s);

    return mean > 0 &&
           (double)s->slices[number].computing_ns >= PIXELS_SLOW * mean;
}

static double total(const pixels_slice *slice)
{
    return (double)slice->computing_ns + (double)slice->communicating_ns;
}

static double longest(const pixels_slices *s)
{
    double max = 0;

    for (uint32_t i = 0; i < s->count; i++)
        max = fmax(max, total(&s->slices[i]));
    return max;
}

/* --- where slices are --- */

int pixels_slices_left(const pixels_slices *s)
{
    return is_drawn(s) ? NAMES_WIDTH : 0;
}

int pixels_slices_right(const pixels_slices *s)
{
    return is_drawn(s) ? BARS_WIDTH : 0;
}

/* The row of pixels in which this row of the grid begins. */
static int pixel_row(const pixels_slices *s, pixels_area grid, uint64_t row)
{
    return grid.top + (int)((double)row * grid.height / (double)s->rows);
}

static pixels_area slice_area(const pixels_slices *s, pixels_area grid,
                              uint32_t i)
{
    const pixels_slice *slice = &s->slices[i];
    int top = pixel_row(s, grid, slice->first);
    int end = pixel_row(s, grid, slice->first + slice->rows);

    return (pixels_area){grid.left, top, grid.width, end - top};
}

/* --- in the grid --- */

static void pixel_tint(const pixels_canvas *canvas, int x, int y,
                       pixels_colour colour, float share)
{
    pixels_colour *at =
        &canvas->pixels[(size_t)y * (size_t)canvas->width + (size_t)x];

    *at = pixels_mix(*at, colour, share);
}

/* Lines from the lower left to the upper right, each dark with a light seam, so
 * that they are seen on all colours, and these between them. */
static void hatch(const pixels_canvas *canvas, pixels_area area)
{
    for (int y = area.top; y < area.top + area.height; y++) {
        for (int x = area.left; x < area.left + area.width; x++) {
            if ((x + y) % HATCH == 0)
                pixel_tint(canvas, x, y, ink, 0.7f);
            else if ((x + y) % HATCH == 1)
                pixel_tint(canvas, x, y, white, 0.7f);
        }
    }
}

static void bound_draw(const pixels_canvas *canvas, pixels_area grid, int y)
{
    for (int x = grid.left; x < grid.left + grid.width; x++) {
        pixel_tint(canvas, x, y - 1, white, 0.75f);
        pixel_tint(canvas, x, y, ink, 0.8f);
    }
}

/* --- beside it --- */

static void name_draw(const pixels_canvas *canvas, pixels_area slice,
                      uint32_t number, float size)
{
    char name[16];

    snprintf(name, sizeof(name), "t%" PRIu32, number);
    pixels_text(canvas, (float)slice.left - 8 - pixels_text_width(name, size),
                (float)slice.top + (float)slice.height / 2 + size / 2, name,
                size, ink);
}

static void bar_draw(const pixels_canvas *canvas, pixels_area slice,
                     const pixels_slice *times, double max)
{
    int gap = slice.height > 6 ? 1 : 0;
    pixels_area bar = {slice.left + slice.width + BAR_GAP, slice.top + gap, 0,
                       slice.height - 2 * gap};
    int end = (int)lround(total(times) / max * BAR_WIDTH);

    if (bar.height > 26) {
        bar.top += (bar.height - 26) / 2;
        bar.height = 26;
    }
    bar.width = (int)lround((double)times->computing_ns / max * BAR_WIDTH);
    pixels_box(canvas, bar, computing);
    bar.left += bar.width;
    bar.width = end - bar.width;
    pixels_box(canvas, bar, communicating);
}

static void time_draw(const pixels_canvas *canvas, pixels_area slice,
                      const pixels_slice *times, bool is_slow)
{
    double seconds = (double)times->computing_ns * 1e-9;
    char text[32];

    snprintf(text, sizeof(text), seconds < 0.1 ? "%.3f s%s" : "%.2f s%s",
             seconds, is_slow ? ", slow" : "");
    pixels_text(canvas,
                (float)(slice.left + slice.width + BAR_GAP + BAR_WIDTH + 8),
                (float)slice.top + (float)slice.height / 2 + TIME_SIZE / 2,
                text, TIME_SIZE, ink);
}

/* Where slices are low not all of them have a name and a time. */
static void slice_draw(const pixels_slices *s, const pixels_canvas *canvas,
                       pixels_area grid, uint32_t i)
{
    pixels_area slice = slice_area(s, grid, i);
    pixels_area band = {grid.left - NAMES_WIDTH, slice.top, NAMES_WIDTH - 4,
                        slice.height};
    double max = longest(s);
    bool is_slow = pixels_slice_is_slow(s, i);
    float mean = (float)grid.height / (float)s->count;
    float size = fminf(NAME_SIZE_MAX, fmaxf(mean * 0.65f, 7));

    pixels_box(canvas, band, bands[i % 2]);
    if (is_slow)
        hatch(canvas, slice);
    if (i > 0)
        bound_draw(canvas, grid, slice.top);
    if ((float)slice.height >= size * 1.4f ||
        i % (uint32_t)ceilf(size * 1.4f / mean) == 0)
        name_draw(canvas, slice, i, size);
    if (max <= 0)
        return;
    bar_draw(canvas, slice, &s->slices[i], max);
    if (slice.height >= TIMES_APART)
        time_draw(canvas, slice, &s->slices[i], is_slow);
}

void pixels_slices_draw(const pixels_slices *s, const pixels_canvas *canvas,
                        pixels_area grid)
{
    if (!is_drawn(s))
        return;
    for (uint32_t i = 0; i < s->count; i++)
        slice_draw(s, canvas, grid, i);
    pixels_text(canvas, (float)(grid.left + grid.width + BAR_GAP),
                (float)grid.top - 13, "its thread computed", TEXT_SIZE, ink);
}

/* --- the legend --- */

static const struct {
    const pixels_colour *colour; /* NULL: lines */
    const char *text;
} entries[] = {
    {&computing, "computing"},
    {&communicating, "communicating, mostly waiting"},
    {NULL, "slow: computes 1.2 times the mean or longer"},
};
#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

/* Moves on to the place of the next entry: on the same line where it fits. */
static void entry_place(size_t i, int left, int width, int *x, int *line)
{
    int end = *x + SWATCH + 8 +
              (int)ceilf(pixels_text_width(entries[i].text, TEXT_SIZE));

    if (end > width && *x > left) {
        *x = left;
        (*line)++;
    }
}

static int entry_width(size_t i)
{
    return SWATCH + 8 + 24 +
           (int)ceilf(pixels_text_width(entries[i].text, TEXT_SIZE));
}

int pixels_slices_below(const pixels_slices *s, int width)
{
    int x = 0, line = 0;

    if (!is_drawn(s))
        return 0;
    for (size_t i = 0; i < ENTRIES; i++) {
        entry_place(i, 0, width, &x, &line);
        x += entry_width(i);
    }
    return (line + 1) * LINE;
}

void pixels_slices_legend(const pixels_slices *s, const pixels_canvas *canvas,
                          int left, int top)
{
    int x = left, line = 0;

    for (size_t i = 0; is_drawn(s) && i < ENTRIES; i++) {
        pixels_area swatch = {0, 0, SWATCH, LINE - 6};
        entry_place(i, left, canvas->width, &x, &line);
        swatch.left = x;
        swatch.top = top + line * LINE;
        pixels_box(canvas, swatch,
                   entries[i].colour ? *entries[i].colour : plain);
        if (!entries[i].colour)
            hatch(canvas, swatch);
        pixels_text(canvas, (float)(x + SWATCH + 8),
                    (float)(swatch.top + swatch.height - 1), entries[i].text,
                    TEXT_SIZE, ink);
        x += entry_width(i);
    }
}
