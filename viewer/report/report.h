/* report.h - one page that shows a run, and needs nothing beside itself. */
#ifndef VIEWER_REPORT_H
#define VIEWER_REPORT_H

#include "eventspace/run/run.h"

/* Writes the page: the timeline of the threads, the tables, the path map. It
 * is written to a file beside `file` that takes its name when it is whole.
 * A map that cannot be drawn is said in the page, in place of the picture.
 * Errors: PASTSET_EIO, PASTSET_ENOMEM, those of
 * scopes/causality/communication_times.h. */
int viewer_report(eventspace_run *run, const char *file);

#endif
