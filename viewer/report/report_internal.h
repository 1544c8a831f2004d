/* report_internal.h - what report.c takes from report_data.c. */
#ifndef VIEWER_REPORT_INTERNAL_H
#define VIEWER_REPORT_INTERNAL_H

#include "scopes/causality/communication_times.h"
#include "scopes/tables/table.h"
#include "viewer/report/report_waits_internal.h"
#include "viewer/tables/facts.h"

#include <jansson.h>

/* The page's data, described in report_data.c; NULL when memory is out. The
 * caller owns it. */
json_t *viewer__report_data(eventspace_run *run, const viewer_facts *facts,
                            const scopes_communication *view,
                            const viewer__waits *waits,
                            const scopes_table *pending);

#endif
