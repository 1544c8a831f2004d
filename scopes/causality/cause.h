/* cause.h - at elements, which operation needs which other one.
 *
 * A read needs the write of its tuple, and a write into a full element (of
 * policy `block`) the read that made room. Where tuples are taken out in turn
 * this is exact, and tells whom an operation needs, whether or not it had to
 * wait for him. Else it is told by time, and only for those that were held.
 * See cause_internal.h for how it is found.
 *
 * Threads:   may be read by any once made.
 * Ownership: make gives, free takes back; ways, event table and clocks are
 * borrowed during make. */
#ifndef SCOPES_CAUSE_H
#define SCOPES_CAUSE_H

#include "scopes/clocks/clock.h"
#include "scopes/reading/event_table.h"
#include "scopes/causality/topology.h"

/* An event at one of the lowest collectors of an element. */
typedef struct scopes_cause {
    uint32_t collector; /* PATHS_NONE: it needs nobody, or it is not known */
    uint32_t event;
} scopes_cause;

typedef struct scopes_causes scopes_causes;

/* For all elements. Errors: PASTSET_ENOMEM. */
int scopes_causes_create(scopes_causes **out, const scopes_topology *topology,
                         const scopes_event_table *event_table,
                         const scopes_clocks *clocks);
/* NULL is allowed. */
void scopes_causes_destroy(scopes_causes *causes);

/* Whom an event of one of the lowest collectors of an element needs. */
scopes_cause scopes_causes_of(const scopes_causes *causes, uint32_t collector,
                              uint32_t event);

#endif
