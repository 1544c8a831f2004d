/* draw_internal.h - between the files of drawing: draw_fold.c folds a map,
 * draw_render.c makes a picture of one that is dressed, or of DOT. */
#ifndef VIEWER_DRAW_INTERNAL_H
#define VIEWER_DRAW_INTERNAL_H

#include "viewer/draw/draw.h"

/* Attributes of processes, nodes and edges of a folded map: how many they stand
 * for, when that is more than one, and the name of the last of them. */
#define VIEWER__MEMBERS "members"
#define VIEWER__LAST "last"

/* How many nodes a map has, collectors not counted. */
uint32_t viewer__nodes(const paths_map *map);

/* Makes a folded copy. Processes are folded too when it still has more than
 * `nodes_max` nodes, or many processes, otherwise. Errors: PASTSET_ENOMEM. */
int viewer__fold(paths_map **out, const paths_map *map, uint32_t nodes_max);

/* The format by its name, or by how the file's name ends.
 * Errors: PASTSET_EINVAL. */
int viewer__picture_format(const char **out,
                           const viewer_draw_options *options);
/* The map as it is, in that format. Free `*out` then, also after an error.
 * Errors: PASTSET_EIO, PASTSET_ENOMEM, PASTSET_ENOTSUP. */
int viewer__picture(char **out, size_t *bytes, const paths_map *map,
                    const char *format);
/* The same of a graph in DOT, by one of Graphviz's layouts: "neato". */
int viewer__picture_of(char **out, size_t *bytes, const char *dot,
                       const char *engine, const char *format);

#endif
