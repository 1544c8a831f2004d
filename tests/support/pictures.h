/* pictures.h - PNG files, read back. */
#ifndef TESTS_SUPPORT_PICTURES_H
#define TESTS_SUPPORT_PICTURES_H

#include <stdbool.h>

#include "apps/common/pixels.h"

/* The pixels of a file, for the caller to free; the test fails when it is no
 * picture. */
pixels_canvas picture_read(const char *file);

pixels_colour picture_at(const pixels_canvas *p, int x, int y);
bool picture_same(pixels_colour a, pixels_colour b);

/* What of the picture shows a grid `width` pixels wide: from the first row that
 * has so many pixels without a white one between them to the last in which
 * these columns have them. */
pixels_area picture_grid(const pixels_canvas *p, int width);

#endif
