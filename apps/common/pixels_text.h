/* pixels_text.h - text in pictures: small letters, digits and marks, drawn
 * with a pen at any size. */
#ifndef COMMON_PIXELS_TEXT_H
#define COMMON_PIXELS_TEXT_H

#include "apps/common/pixels.h"

/* The width of a line of text whose digits are `size` pixels high. Capitals
 * are drawn as small letters, what the font does not have as a box. */
float pixels_text_width(const char *text, float size);

/* Writes a line: (x, y) is the left end of its base line. Letters such as g
 * reach a third of `size` below it. What is outside of the picture is cut. */
void pixels_text(const pixels_canvas *canvas, float x, float y,
                 const char *text, float size, pixels_colour ink);

#endif
