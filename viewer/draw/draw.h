/* draw.h - a path map as a picture.
 *
 * Processes are boxes, the first of the map on top (in some maps dot
 * prefers another order), with their threads on the left by their numbers;
 * threads, wrappers, collectors and elements each have a
 * shape and a colour, told by a legend. Arrows show where tuples go: from a
 * thread that writes, to a thread that reads. Collectives are funnels, and the
 * edges of their trees have a colour of their own.
 *
 * A map of many threads is folded: threads of a process that use the same kinds
 * of paths become one node, "t17 ... t32, 16 threads", and so do the wrappers
 * and elements on these paths; an arrow shows how many it stands for, where
 * these are not as many as its upper end does. Where that leaves too much or
 * many processes, processes that are alike become one.
 *
 * Threads: not while another thread reads a path map: Graphviz, which draws in
 *          a child process, keeps global state. */
#ifndef VIEWER_DRAW_H
#define VIEWER_DRAW_H

#include <stdbool.h>
#include <stddef.h>

#include "paths/map/map.h"

typedef enum viewer_fold {
    VIEWER_FOLD_AUTO, /* when there are more nodes than a person follows */
    VIEWER_FOLD_NEVER,
    VIEWER_FOLD_ALWAYS,
} viewer_fold;

typedef struct viewer_draw_options {
    const char *file;   /* where the picture goes */
    const char *format; /* "svg", "png", "pdf", "dot"; NULL: as `file` ends */
    viewer_fold fold;
    bool collector_ids; /* written into the collectors */
} viewer_draw_options;

/* Draws the map, whether or not it passes the check.
 * Errors: PASTSET_EINVAL (no such format), PASTSET_EIO, PASTSET_ENOMEM,
 * PASTSET_ENOTSUP (Graphviz here cannot make this format). */
int viewer_draw(const paths_map *map, const viewer_draw_options *options);

/* The same into memory; `file` only names the format. Free `*out` then. */
int viewer_draw_text(char **out, size_t *bytes, const paths_map *map,
                     const viewer_draw_options *options);

#endif
