/* scale_internal.h - how numbers and texts of a run are shown in pictures.
 *
 * Both scales of colours go from light to dark, so they can be told apart
 * without seeing colours, and on paper. */
#ifndef VIEWER_SCALE_INTERNAL_H
#define VIEWER_SCALE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define VIEWER__COLOR 8 /* bytes, as in "#rrggbb" */
/* From 0 to 1: blues, for what stands; and from grey to brown, for lines. */
const char *viewer__share_color(double share, char color[VIEWER__COLOR]);
const char *viewer__waiting_color(double share, char color[VIEWER__COLOR]);
/* Is text on such a blue to be white? */
static inline bool viewer__share_is_dark(double share)
{
    return share > 0.55;
}

#define VIEWER__NUMBER 32
const char *viewer__bytes_text(uint64_t bytes, char text[VIEWER__NUMBER]);
const char *viewer__time_text(int64_t ns, char text[VIEWER__NUMBER]);
const char *viewer__count_text(uint64_t count, char text[VIEWER__NUMBER]);

/* Text of others as Graphviz shows it: in HTML-like labels, and between quotes.
 * At most `most` characters; bytes that are not UTF-8 become "?". */
void viewer__write_html(FILE *file, const char *text, size_t most);
void viewer__write_label(FILE *file, const char *text, size_t most);

#endif
