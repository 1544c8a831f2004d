/* draw_measured.h - the path map of a run as a picture, with what was measured
 * laid over it.
 *
 * Nodes are those of the map, without its collectors: these are what has
 * measured. The shade of a node and the width and colour of a line are a
 * measure, told in numbers too; a legend has units. All numbers are rows of the
 * views stages, communication, wait-states and performance. Large maps are
 * folded as in draw.h; what stands for several says the least and the most of
 * its measure, and which of them has the most.
 *
 * In SVG, each node and line has an id, "map_n7" or "map_e7" after its first
 * one in the map, and an element <metadata id="map-data"> has all figures, as
 * JSON, for pages that link the picture with other things:
 *
 *     {"by": "time",
 *      "nodes": {"map_n7": {"kind": "thread", "process": "h0",
 *          "names": ["t0", "t1"], "numbers": [0, 1],
 *          "time": {"total": 9, "min": 3, "max": 6, "most": "t1"},
 *          "waiting": ..., "traffic": ..., "operations": ...}},
 *      "edges": {"map_e7": {"from": "map_n7", "to": "map_n9",
 *          "collectors": ["t0.up.ec1"], "time": ...}}}
 *
 * Times are in nanoseconds. A measure that is not known is not there. Processes
 * that were folded are "h1 … h13".
 *
 * Threads:   as viewer_draw. */
#ifndef VIEWER_DRAW_MEASURED_H
#define VIEWER_DRAW_MEASURED_H

#include "scopes/reading/snapshot.h"
#include "viewer/draw/draw.h"

typedef enum viewer_measure {
    VIEWER_BY_TIME,
    VIEWER_BY_WAITING,
    VIEWER_BY_TRAFFIC,
    VIEWER_BY_OPERATIONS,
} viewer_measure;

#define VIEWER_MEASURES 4

/* "time" ... in their order. */
extern const char *const viewer_measure_names[VIEWER_MEASURES];

/* `name`: what the run is called. Of the options, all but those of collectors
 * count.
 * Errors: as viewer_draw; PASTSET_ENOENT (the run has no events). */
int viewer_draw_measured(const scopes_snapshot *snapshot, const char *name,
                         viewer_measure by, const viewer_draw_options *options);

/* The same into memory, a picture by each measure, for which views are made
 * once only; `file` only names the format. Free each of `out` then. */
int viewer_draw_measured_all(char *out[VIEWER_MEASURES],
                             size_t bytes[VIEWER_MEASURES],
                             const scopes_snapshot *snapshot, const char *name,
                             const viewer_draw_options *options);

#endif
