/* levels.h - the timeline of a run in as much detail as can be seen.
 *
 * A picture has a thousand columns, and a run millions of operations. So the
 * timeline is told in bins: of each thread and each stretch of time, how long
 * it was in which state. Sums are exact, to the nanosecond, and of all
 * operations. Where there are few operations, or where it matters, there are
 * the operations themselves, too.
 *
 * Each moment of a thread, from its begin to its end, is in one state:
 *
 *   waiting       in an operation, until the one of another thread that
 *                 releases it has arrived (the view waits-for)
 *   failed        in an operation that failed
 *   transferring  in an operation, else
 *   runnable      between operations, without a processor
 *   sleeping      between operations, waiting for something else
 *   computing     between operations, else
 *
 * Between two operations it is known how long a thread was runnable or
 * sleeping, but not when: that is spread over the time between them.
 *
 * Threads:   any number may ask, once it is made.
 * Ownership: create gives, destroy takes back. The look that it is made from
 *            (its map, above all) must stay in place. */
#ifndef VIEWER_LEVELS_H
#define VIEWER_LEVELS_H

#include <jansson.h>

#include "scopes/causality/communication_times.h"
#include "scopes/reading/snapshot.h"

typedef struct viewer_timeline viewer_timeline;

/* Errors: PASTSET_ENOMEM, those of scopes_communication_read. */
int viewer_timeline_create(viewer_timeline **out,
                           const scopes_snapshot *snapshot);
/* NULL is allowed. */
void viewer_timeline_destroy(viewer_timeline *timeline);

/* What it is made of; borrowed. */
const scopes_communication *
viewer_timeline_view(const viewer_timeline *timeline);

/* What the page has of a whole run: all operations if there are no more than
 * that, or if `full`; else bins, and the parts that matter. NULL when memory is
 * out. */
json_t *viewer_timeline_json(const viewer_timeline *timeline, int64_t from_ns,
                             int64_t to_ns, bool full);

#endif
