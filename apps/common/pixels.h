/* pixels.h - pictures: colours, and PNG files. */
#ifndef COMMON_PIXELS_H
#define COMMON_PIXELS_H

#include <stdint.h>
#include <stdio.h>

typedef struct pixels_colour {
    uint8_t red, green, blue;
} pixels_colour;

/* A picture: its pixels row by row from the top. */
typedef struct pixels_canvas {
    pixels_colour *pixels;
    int width, height;
} pixels_canvas;

/* Where in a picture something is drawn. */
typedef struct pixels_area {
    int left, top, width, height;
} pixels_area;

/* Fills an area; what is outside of the picture is cut. */
void pixels_box(const pixels_canvas *canvas, pixels_area area,
                pixels_colour colour);

/* `a` with this share of `b` in it, from 0 to 1; what is outside is cut. */
pixels_colour pixels_mix(pixels_colour a, pixels_colour b, float share_of_b);

/* From a point to the nearest point of a line: x, y of one end, x, y of the
 * other. */
float pixels_line_distance(float x, float y, const float line[4]);

/* Writes a picture of `width` times `height` pixels, given row by row from the
 * top, as PNG. `name` is the file's, for the texts of errors.
 * Errors: PASTSET_EIO, PASTSET_ENOMEM. */
int pixels_write(const pixels_colour *pixels, int width, int height, FILE *file,
                 const char *name);

#endif
