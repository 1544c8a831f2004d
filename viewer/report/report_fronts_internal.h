/* report_fronts_internal.h - when each thread of a report was in a step. */
#ifndef VIEWER_REPORT_FRONTS_INTERNAL_H
#define VIEWER_REPORT_FRONTS_INTERNAL_H

#include <stdint.h>

#include <jansson.h>

#include "scopes/causality/communication_times.h"

/* As report_fronts.c describes it; NULL when memory is out. */
json_t *viewer__report_fronts(const scopes_communication *view,
                              int64_t start_ns);

#endif
