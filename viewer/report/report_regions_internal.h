/* report_regions_internal.h - when each thread of a report was in the regions
 * of its program. */
#ifndef VIEWER_REPORT_REGIONS_INTERNAL_H
#define VIEWER_REPORT_REGIONS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "scopes/tables/table.h"

/* What report_data.c says of `regions`, made of the view regions in detail.
 * `start_ns`, `end_ns`: of the page. `full`: however many there are; else, of
 * too many, sums. NULL when memory is out. */
json_t *viewer__report_regions(const scopes_table *table, int64_t start_ns,
                               int64_t end_ns, bool full);

#endif
