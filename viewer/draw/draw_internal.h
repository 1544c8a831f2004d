/* draw_internal.h - between the files of drawing: draw.c says what things look
 * like, draw_fold.c folds a map, draw_fit.c finds how far; draw_process.c makes
 * pictures of DOT, by draw_child.c, which calls draw_render.c. */
#ifndef VIEWER_DRAW_INTERNAL_H
#define VIEWER_DRAW_INTERNAL_H

#include <sys/types.h>

#include "viewer/draw/draw.h"

/* --- folding (draw_fold.c) --- */

/* Attributes of processes, nodes and edges of a folded map: how many they stand
 * for, when that is more than one, and the name of the last of them. */
#define VIEWER__MEMBERS "members"
#define VIEWER__LAST "last"

/* What is one in the picture, each with more than the one before. */
typedef enum viewer__level {
    VIEWER__AS_IT_IS,
    VIEWER__PATHS,       /* paths that are alike, in each process */
    VIEWER__ALIKE,       /* and processes that are alike */
    VIEWER__ALIKE_KINDS, /* in these, all nodes of one kind */
    VIEWER__KINDS,       /* all nodes of one kind, and all processes */
} viewer__level;

typedef struct viewer__folded {
    paths_map *map;
    uint32_t *nodes; /* by node of the map that was folded: its node here */
    uint32_t *edges; /* the same of edges */
} viewer__folded;

/* Errors: PASTSET_ENOMEM; nothing is to be given back then. */
int viewer__fold(viewer__folded *out, const paths_map *map,
                 viewer__level level);
void viewer__folded_fini(viewer__folded *folded);

/* --- how things are drawn (draw.c) --- */

/* Gives all in a map the attributes by which it is drawn. */
int viewer__dress(paths_map *map, bool collector_ids);

/* Pairs of key and value, ended by NULL; and a value that is put together. */
int viewer__set_all(paths_attributes *attributes, const char *key, ...)
    __attribute__((sentinel));
int viewer__set_text(paths_attributes *attributes, const char *key,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- as much as can be read (draw_fit.c) --- */

/* Dresses what a map was folded to. */
typedef int viewer__dresser(const viewer__folded *folded, void *context);

/* Draws the map in a format of viewer__picture_format: of the levels that
 * `fold` leaves to choose from, by the first at which it can be read. Free
 * `*out` then, also after an error. */
int viewer__draw_fitting(char **out, size_t *bytes, const paths_map *map,
                         viewer_fold fold, const char *format,
                         viewer__dresser *dress, void *context);

/* --- texts and formats (draw_render.c) --- */

/* The format by its name, or by how the file's name ends.
 * Errors: PASTSET_EINVAL. */
int viewer__picture_format(const char **out,
                           const viewer_draw_options *options);
/* A map as DOT. Free `*out` then, also after an error.
 * Errors: PASTSET_ENOMEM. */
int viewer__map_text(char **out, size_t *bytes, const paths_map *map);
/* Calls Graphviz in this process, which must end soon. NULL, or what could not
 * be done; Graphviz may have said why. */
const char *viewer__graphviz(const char *dot, const char *engine,
                             const char *format, FILE *file);
const char *viewer__graphviz_said(void);

/* --- pictures (draw_process.c) --- */

/* A graph in DOT in that format, by one of Graphviz's layouts: "dot", "neato".
 * Free `*out` then, also after an error.
 * Errors: PASTSET_EIO, PASTSET_ENOMEM, PASTSET_ENOTSUP. */
int viewer__picture_of(char **out, size_t *bytes, const char *dot,
                       const char *engine, const char *format);

/* --- in a child (draw_child.c) --- */

/* The same, by a child of this process. */
int viewer__picture_make(char **out, size_t *bytes, const char *dot,
                         const char *engine, const char *format);
/* For a child that has just begun: it does not outlive its parent, may be ended
 * by any signal, and has no files open but 0 to 2 and these two. */
void viewer__draw_child_begin(pid_t parent, int a, int b);
/* In place of this one a descriptor that is none of 0 to 2, should these be
 * closed: what Graphviz says goes there. -1: there is none; see errno. */
int viewer__draw_fd(int fd);

#endif
