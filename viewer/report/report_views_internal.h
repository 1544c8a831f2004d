/* report_views_internal.h - the tables of all views, for a page. */
#ifndef VIEWER_REPORT_VIEWS_INTERNAL_H
#define VIEWER_REPORT_VIEWS_INTERNAL_H

#include <jansson.h>

#include "scopes/reading/snapshot.h"
#include "scopes/views/view.h"

/* What views are made from, of a snapshot. */
scopes_view_input viewer__report_input(const scopes_snapshot *snapshot);

/* What report_data.c says of `views`. The caller owns it. Errors: those of
 * scopes_views_make. */
int viewer__report_views(json_t **out, const scopes_snapshot *snapshot);

#endif
