/* picture_internal.h - between the files of the picture: picture.c draws the
 * flow, picture_frame.c what stands around it. */
#ifndef WINDTUNNEL_PICTURE_INTERNAL_H
#define WINDTUNNEL_PICTURE_INTERNAL_H

#include "apps/common/pixels.h"
#include "apps/common/pixels_slices.h"
#include "apps/windtunnel/lattice.h"

#define PICTURE__INK                                                           \
    {                                                                          \
        40, 40, 46                                                             \
    }

/* The flow as it is drawn. */
typedef struct picture__flow {
    const lattice_slice *whole;
    pixels_canvas canvas;
    float top_speed; /* sites per step, at the end of the colours */
    const pixels_slices *slices;
} picture__flow;

/* The colour of a speed, as its share of the top speed. */
pixels_colour picture__colour(float share);

/* Makes the whole picture: the flow, with a title, the threads' slices and the
 * scale of colours around it. The pixels are yours to free.
 * Errors: PASTSET_ENOMEM. */
int picture__frame(pixels_canvas *out, const picture__flow *flow);

#endif
