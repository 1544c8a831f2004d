/* pixels_slices.h - in the picture of a grid that threads share by rows: whose
 * rows are where, and how long each thread computed.
 *
 *          +---------------------------+   its thread computed
 *     t0   |/ / / / / slow / / / / / / |  ######## 7.9 s, slow
 *          |---------------------------|
 *     t1   |                           |  ##...... 2.1 s
 *          +---------------------------+
 *
 * Names on the left; bounds, and lines across what is slow, in the picture;
 * bars on the right; a legend. Nothing of this is drawn for one thread. Times
 * are those that the threads measured themselves, in their steps: `computing`
 * is what lies between operations, as in the view `communication`.
 *
 * Colours differ in brightness, too, for those who do not see all colours. */
#ifndef COMMON_PIXELS_SLICES_H
#define COMMON_PIXELS_SLICES_H

#include <stdbool.h>

#include "apps/common/pixels.h"

typedef struct pixels_slice {
    uint64_t first, rows;
    uint64_t computing_ns, communicating_ns;
} pixels_slice;

typedef struct pixels_slices {
    const pixels_slice *slices; /* of threads 0 ... count - 1, from the top */
    uint32_t count;
    uint64_t rows; /* of the grid */
} pixels_slices;

/* A slice is slow when its thread computes at least so many times as long as
 * the mean of all does. */
#define PIXELS_SLOW 1.2

bool pixels_slice_is_slow(const pixels_slices *s, uint32_t number);

/* The pixels that are needed on the left of the grid, on its right, and below
 * it in a picture of this width. Above it must be a line's height of room. */
int pixels_slices_left(const pixels_slices *s);
int pixels_slices_right(const pixels_slices *s);
int pixels_slices_below(const pixels_slices *s, int width);

/* Draws all but the legend; `grid` is where the grid has been drawn. */
void pixels_slices_draw(const pixels_slices *s, const pixels_canvas *canvas,
                        pixels_area grid);

/* Draws the legend, with `top` as its upper end. */
void pixels_slices_legend(const pixels_slices *s, const pixels_canvas *canvas,
                          int left, int top);

#endif
