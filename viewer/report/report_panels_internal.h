/* report_panels_internal.h - tables that a page shows besides its own. */
#ifndef VIEWER_REPORT_PANELS_INTERNAL_H
#define VIEWER_REPORT_PANELS_INTERNAL_H

#include <jansson.h>

#include "viewer/report/report.h"

#define VIEWER__PANEL_ROWS 1000 /* of a table at most; the page says so */

/* What report_data.c says of `panels`; NULL when memory is out. */
json_t *viewer__report_panels(const viewer_report_panel *panels, size_t count);

#endif
