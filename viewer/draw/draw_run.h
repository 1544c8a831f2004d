/* draw_run.h - what the processes of a run did, as a picture.
 *
 * Nodes are processes, shaded by the share of their time in which they
 * communicated; lines are links (traffic_internal.h), wide by bytes and
 * coloured by the time that their ends waited for each other. Where the links
 * have a shape, a star, ring or grid, or are all that there can be, the picture
 * has it too. What all meet at is listed below, with the meaning of widths and
 * colours. Of processes that are too many, several are one node.
 *
 * Threads:   as viewer_draw. */
#ifndef VIEWER_DRAW_RUN_H
#define VIEWER_DRAW_RUN_H

#include "scopes/reading/snapshot.h"
#include "viewer/draw/draw.h"

/* `name`: what the run is called. Of the options, all but those of
 * collectors count.
 * Errors: as viewer_draw; PASTSET_ENOENT (the run has no events). */
int viewer_draw_run(const scopes_snapshot *snapshot, const char *name,
                    const viewer_draw_options *options);

#endif
