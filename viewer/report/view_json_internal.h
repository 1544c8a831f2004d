/* view_json_internal.h - the table of a view as JSON, as pages read it.
 *
 *   {"columns": [{"key", "head", "kind"}], "rows": [[...]], "count", "every"}
 *
 * `kind` is text, count, name (a number that names something), time (ns), share
 * or real. A row has a value for each column; what is not known is null.
 * Numbers are those of `eventspace view --format json`.
 *
 * A page has room for some of many rows only. `count` is how many there are. If
 * the table goes by steps or rounds, rows of all parts of the run are there:
 * those whose step or round is a multiple of `every`. Else `every` is 1, and
 * the first rows are there.
 *
 * Threads:   one thread per table. */
#ifndef VIEWER_VIEW_JSON_INTERNAL_H
#define VIEWER_VIEW_JSON_INTERNAL_H

#include <stddef.h>

#include <jansson.h>

#include "scopes/tables/table.h"

/* With `most` rows at most. NULL when memory is out. */
json_t *viewer__view_json(const scopes_table *table, size_t most);

#endif
