/* report_internal.h - what report.c takes from report_data.c. */
#ifndef VIEWER_REPORT_INTERNAL_H
#define VIEWER_REPORT_INTERNAL_H

#include "scopes/causality/communication_times.h"
#include "scopes/reading/snapshot.h"
#include "scopes/tables/table.h"
#include "viewer/report/report_waits_internal.h"
#include "viewer/tables/facts.h"

#include <jansson.h>

/* The page's data, described in report_data.c; NULL when memory is out.
 * `pending` and `regions` are these views, `regions` in detail. `name`
 * is where the run is, as the user called it: it may be a packed run. The
 * page begins at `from_ns` (INT64_MIN: with the run), whatever was pending
 * before. The caller owns it. */
json_t *viewer__report_data(const char *name, const scopes_snapshot *snapshot,
                            const viewer_facts *facts,
                            const scopes_communication *view,
                            const viewer__waits *waits,
                            const scopes_table *pending,
                            const scopes_table *regions);

#endif
