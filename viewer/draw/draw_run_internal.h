/* draw_run_internal.h - between the files of a picture of a run: draw_run.c
 * writes it as DOT, draw_run_layout.c says where what is, draw_run_legend.c
 * what it means. */
#ifndef VIEWER_DRAW_RUN_INTERNAL_H
#define VIEWER_DRAW_RUN_INTERNAL_H

#include <stdio.h>

#include "viewer/draw/scale_internal.h"
#include "viewer/draw/shape_internal.h"
#include "viewer/draw/traffic_internal.h"

typedef struct viewer__point {
    double x, y;
} viewer__point;

typedef struct viewer__picture_of_run {
    const char *name; /* of the run */
    viewer_traffic *traffic;
    viewer_shape shape;
    viewer__point *points; /* of the places; NULL: Graphviz finds them */
    double diameter;       /* of a node, in points */
    double width_max, width_min;
    uint64_t bytes_max; /* of links */
    int64_t waiting_max_ns;
} viewer__picture_of_run;

/* --- draw_run_layout.c --- */

/* Sizes, and points if the shape has a picture of its own.
 * Errors: PASTSET_ENOMEM. */
int viewer__layout(viewer__picture_of_run *p);
/* The line of a link, as Graphviz has it in `pos`; with an arrowhead of that
 * length at its end, or at its begin (`is_back`); 0: none. */
void viewer__layout_line(FILE *file, const viewer__picture_of_run *p,
                         const viewer_link *link, double arrow, bool is_back);

/* --- how numbers are shown (draw_run_scale.c) --- */

double viewer__line_width(const viewer__picture_of_run *p, uint64_t bytes);
double viewer__place_share(const viewer_place *place);

/* --- draw_run_legend.c --- */

/* An HTML-like label, without < and > around it. */
void viewer__legend(FILE *file, const viewer__picture_of_run *p);

#endif
