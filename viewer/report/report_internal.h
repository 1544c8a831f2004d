/* report_internal.h - what report.c takes from report_data.c, and gives to
 * report_pair.c. */
#ifndef VIEWER_REPORT_INTERNAL_H
#define VIEWER_REPORT_INTERNAL_H

#include "scopes/reading/snapshot.h"
#include "scopes/tables/table.h"
#include "viewer/report/report.h"
#include "viewer/tables/facts.h"
#include "viewer/timeline/levels.h"

#include <jansson.h>

/* The page's data, described in report_data.c; NULL when memory is out.
 * `pending` and `regions` are these views, `regions` in detail. `name`
 * is where the run is, as the user called it: it may be a packed run. The
 * page begins at `from_ns` (INT64_MIN: with the run), whatever was pending
 * before; with `full` it has all operations, however many there are. The caller
 * owns it. */
json_t *viewer__report_data(const char *name, const scopes_snapshot *snapshot,
                            const viewer_facts *facts,
                            const viewer_timeline *timeline,
                            const scopes_table *pending,
                            const scopes_table *regions, bool full);

/* The page of a run as a text, for a frame of another page, whose nonce it has.
 * The caller frees the text. Errors: those of viewer_report; that there are no
 * events is none. */
typedef struct viewer__report_frame_text {
    char *text;
    size_t bytes;
    int64_t lasted_ns; /* from its begin to its end */
    bool has_events;
} viewer__report_frame_text;
int viewer__report_frame(viewer__report_frame_text *out,
                         const viewer_report_run *of,
                         const scopes_snapshot_options *window, bool full,
                         const char *nonce);

#endif
