/* shape_internal.h - what the links of a run look like as a whole, and where
 * its processes are to be drawn for that to be seen.
 *
 * A shape is looked for among links with many messages and then, where they
 * have none, among all: what a program sends once, at its begin or end, does
 * not hide what it does all the time.
 *
 * Threads:   any. */
#ifndef VIEWER_SHAPE_INTERNAL_H
#define VIEWER_SHAPE_INTERNAL_H

#include "viewer/draw/traffic_internal.h"

typedef enum viewer_pattern {
    VIEWER_APART, /* there are no links */
    VIEWER_STAR,  /* one communicates with each other one, and only it does */
    VIEWER_RING,  /* each with two others, all around */
    VIEWER_CHAIN, /* the same without an end that meets the other */
    VIEWER_GRID,  /* neighbours of a grid of two or three dimensions, row by
                     row, which may be closed at its sides */
    VIEWER_DENSE, /* nearly all with all */
    VIEWER_OTHER, /* for Graphviz to find out */
} viewer_pattern;

typedef struct viewer_shape {
    viewer_pattern pattern;
    uint32_t hub;      /* of a star */
    uint32_t sides[3]; /* of a grid: the first changes fastest */
    uint32_t *order;   /* of a ring or chain, from one to the next; NULL */
} viewer_shape;

/* Errors: PASTSET_ENOMEM. */
int viewer__shape_find(viewer_shape *out, const viewer_traffic *traffic);
void viewer__shape_fini(viewer_shape *shape);

/* "grid" and the like, for attributes. */
const char *viewer__pattern_name(viewer_pattern pattern);

/* The sides of a grid by which a place is reached. */
void viewer__shape_cell(const viewer_shape *shape, uint32_t place,
                        uint32_t cell[3]);

#endif
