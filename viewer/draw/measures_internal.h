/* measures_internal.h - what each node and edge of a path map did in a run.
 *
 * bare.c takes the collectors out of the map, measures.c finds the figures by
 * views, draw_measured.c draws them, and measured_data.c writes them for pages.
 *
 *              thread                element, wrapper        edge
 *   time       communicating         in the stage that ends  of operations from
 *                                    there                   there on
 *   waiting    for others            over it; a collective:  of its thread on
 *                                    until the last came     this path
 *   traffic    bytes on its edges    on edges to it          of operations
 *   operations on its edges          on edges to it          that passed
 *
 * Threads:   one.
 * Ownership: init or make gives, fini takes back. */
#ifndef VIEWER_MEASURES_INTERNAL_H
#define VIEWER_MEASURES_INTERNAL_H

#include "viewer/draw/draw_internal.h"
#include "viewer/draw/draw_measured.h"

/* --- a map without collectors (bare.c) --- */

typedef struct viewer__bare {
    const paths_map *whole;
    paths_map *map;
    uint32_t *nodes;   /* by node of `whole`; PATHS_NONE: a collector */
    uint32_t *edges;   /* by edge of `whole`; PATHS_NONE: below a collector */
    uint32_t *origins; /* by node of `map`: node of `whole` */
    uint32_t *collectors; /* by edge of `map`: the first one on it, a node of
                             `whole`; PATHS_NONE */
} viewer__bare;

/* Errors: PASTSET_ENOMEM. */
int viewer__bare_init(viewer__bare *out, const paths_map *map);
void viewer__bare_fini(viewer__bare *bare);

/* --- figures (measures.c) --- */

#define VIEWER__UNKNOWN INT64_MIN

/* By viewer_measure. */
typedef struct viewer__figures {
    int64_t of[VIEWER_MEASURES];
} viewer__figures;

typedef struct viewer__measures {
    viewer__bare bare;
    viewer__figures *nodes, *edges; /* of the bare map */
} viewer__measures;

/* Errors: PASTSET_ENOMEM, and those of views. */
int viewer__measures_make(viewer__measures *out,
                          const scopes_snapshot *snapshot);
void viewer__measures_fini(viewer__measures *measures);

/* --- of what is folded (measures.c) --- */

/* One measure of all that a node or edge of a folded map stands for. */
typedef struct viewer__range {
    int64_t total, min, max;
    uint32_t known; /* of how many; 0: of none, and the rest is 0 */
    uint32_t most;  /* node or edge of the bare map that has `max` */
} viewer__range;

/* By viewer_measure. */
typedef struct viewer__ranges {
    viewer__range of[VIEWER_MEASURES];
} viewer__ranges;

/* By node, or edge, of the folded map. NULL: no memory. */
viewer__ranges *viewer__ranges_of(const viewer__figures *figures,
                                  uint32_t count, const uint32_t *groups,
                                  uint32_t group_count);

/* --- for pages (measured_data.c) --- */

/* All figures of a folded map, as JSON; the caller frees it. NULL: no memory.
 * The nodes and edges of the map have their ids. */
char *viewer__measured_json(const viewer__measures *measures,
                            const viewer__folded *folded,
                            const viewer__ranges *nodes,
                            const viewer__ranges *edges, viewer_measure by);
/* Writes them into a picture, and replaces it by that.
 * Errors: PASTSET_ENOMEM, PASTSET_EIO (it is no picture). */
int viewer__put_data(char **svg, size_t *bytes, const char *json);

#endif
