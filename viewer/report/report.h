/* report.h - one page that shows a run, and needs nothing beside itself. */
#ifndef VIEWER_REPORT_H
#define VIEWER_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "scopes/reading/snapshot.h"
#include "scopes/tables/table.h"

/* A table that the page shows below its own; all is borrowed. */
typedef struct viewer_report_panel {
    const char *title;
    const scopes_table *table;
    const char *chart;          /* "line", "bar", "matrix" or "none" */
    const char *const *columns; /* that it shows, the first along its x axis */
    size_t column_count;
} viewer_report_panel;

/* Writes the page: the timeline of the threads, the tables, the path map; of a
 * run, or of the window that is asked for, which its title then says. It
 * is written to a file beside `file` that takes its name when it is whole.
 * A map that cannot be drawn is said in the page, in place of the picture.
 * `name` is what the page and errors call the run. The page has the first 1,000
 * rows of each panel. Of a run with very many operations it has sums, and the
 * operations of the parts that matter most; with `full`, all of them.
 * Errors: PASTSET_EIO, PASTSET_ENOMEM, those of
 * scopes/causality/communication_times.h; PASTSET_ENOENT (the run has no
 * events, but the page is written, and says so). */
int viewer_report(eventspace_run *run, const char *name,
                  const scopes_snapshot_options *window,
                  const viewer_report_panel *panels, size_t panel_count,
                  bool full, const char *file);

typedef struct viewer_report_run {
    eventspace_run *run;
    const char *name;
    const viewer_report_panel *panels;
    size_t panel_count;
} viewer_report_run;

/* The pages of two runs side by side, in one that says first what differs: how
 * long they took, and what scopes/compare/diff.h finds. Written like the page
 * of one. Errors: as above; PASTSET_ENOENT if one of them has no events. */
int viewer_report_pair(const viewer_report_run runs[2],
                       const scopes_snapshot_options *window, bool full,
                       const char *file);

/* The page of one run to a file that is open. That there are no events is said
 * in it, and is no error; nor is a map that could not be drawn, as when there
 * are too many processes: `*has_map`. */
int viewer_report_print(const viewer_report_run *of,
                        const scopes_snapshot_options *window, bool *has_map,
                        FILE *file);

#endif
