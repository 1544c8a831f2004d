/* cause_internal.h - who released an operation that was held at an element.
 *
 * A read waits until somebody writes, and a write into a full element (of
 * policy `block`) until somebody takes a tuple out; the one who makes it
 * possible completes it within his own operation. It is told from the lowest
 * collectors of the element, in one of two ways:
 *
 *   in turn   Tuples that are taken out (observe, take) come out in the order
 *             in which they were written: the j-th of these reads got the j-th
 *             write, and waited for it if that began later; and the write of
 *             number j + capacity waited for the j-th read, if that began
 *             later. Writes and reads are taken in the order of their starts.
 *   by time   Of the operations of the other kind and of other threads that
 *             began within this one, the last released it; but not one that was
 *             itself held for longer than this one took. So no two have waited
 *             for each other, not even by way of others.
 *
 * In turn is exact, and also knows that a read that was not held has waited
 * for nobody, whatever happened meanwhile. It is used for reads that take
 * tuples out, and for writes, if the times of all of them allow it; that is
 * not so where tuples of the element are missing, as in a window. By time is
 * for those, and for reads that leave tuples where they are.
 *
 * Threads:   may be read by any once made.
 * Ownership: make gives, free takes back; ways, event table and clocks are
 * borrowed during make. */
#ifndef SCOPES_CAUSE_INTERNAL_H
#define SCOPES_CAUSE_INTERNAL_H

#include "scopes/clocks/clock.h"
#include "scopes/causality/rounds.h"
#include "scopes/reading/event_table.h"
#include "scopes/causality/topology.h"

/* The event of the one who released it, at one of the lowest collectors. */
typedef struct scopes__cause {
    uint32_t collector; /* PATHS_NONE: it has waited for nobody */
    uint32_t event;
} scopes__cause;

typedef struct scopes__causes {
    bool kept;          /* for others: see scopes_views_make */
    scopes__cause **of; /* by collector: by event; NULL: none of its events
                           has waited */
    uint32_t collectors;
} scopes__causes;

/* For all elements. Errors: PASTSET_ENOMEM. */
int scopes__causes_create(scopes__causes **out, const scopes_topology *topology,
                          const scopes_event_table *event_table,
                          const scopes_clocks *clocks);
/* NULL is allowed. */
void scopes__causes_destroy(scopes__causes *causes);

static inline scopes__cause scopes__cause_of(const scopes__causes *causes,
                                             uint32_t collector, uint32_t event)
{
    if (!causes->of[collector])
        return (scopes__cause){PATHS_NONE, SCOPES_MISSING};
    return causes->of[collector][event];
}

#endif
