/* timeline_waits_internal.h - of each operation of a report, for how much of it
 * its thread waited for another one. */
#ifndef VIEWER_TIMELINE_WAITS_INTERNAL_H
#define VIEWER_TIMELINE_WAITS_INTERNAL_H

#include "scopes/causality/communication_times.h"
#include "scopes/tables/table.h"

typedef struct viewer__wait {
    int64_t ns; /* from the start of the operation; 0: it did not wait, or
                   nothing is known of it */
    uint32_t for_thread; /* its number */
} viewer__wait;

/* Of a thread. */
typedef struct viewer__waited {
    int64_t all_ns;    /* in which one of its operations or more waited */
    int64_t most_ns;   /* waited for the one for which it did so longest */
    uint32_t most_for; /* its number */
} viewer__waited;

typedef struct viewer__waits {
    viewer__wait *waits; /* in the order of the view's operations */
    viewer__waited *threads;
    bool known; /* something is known of some operation */
} viewer__waits;

/* Takes the rows of the view waits-for, one for each operation, apart.
 * Errors: PASTSET_ENOMEM. */
int viewer__waits_take(viewer__waits *out, const scopes_communication *view,
                       const scopes_table *waits_for);
void viewer__waits_fini(viewer__waits *waits);

#endif
