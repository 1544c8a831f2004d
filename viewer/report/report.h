/* report.h - one page that shows a run, and needs nothing beside itself. */
#ifndef VIEWER_REPORT_H
#define VIEWER_REPORT_H

#include "scopes/reading/snapshot.h"
#include "scopes/tables/table.h"

/* A table that the page shows below its own; both are borrowed. */
typedef struct viewer_report_panel {
    const char *title;
    const scopes_table *table;
} viewer_report_panel;

/* Writes the page: the timeline of the threads, the tables, the path map; of a
 * run, or of the window that is asked for, which its title then says. It
 * is written to a file beside `file` that takes its name when it is whole.
 * A map that cannot be drawn is said in the page, in place of the picture.
 * `name` is what the page and errors call the run. The page has the first 1,000
 * rows of each panel.
 * Errors: PASTSET_EIO, PASTSET_ENOMEM, those of
 * scopes/causality/communication_times.h; PASTSET_ENOENT (the run has no
 * events, but the page is written, and says so). */
int viewer_report(eventspace_run *run, const char *name,
                  const scopes_snapshot_options *window,
                  const viewer_report_panel *panels, size_t panel_count,
                  const char *file);

#endif
