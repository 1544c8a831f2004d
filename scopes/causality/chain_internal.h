/* chain_internal.h - the chain of what a whole run waited for, backwards from
 * its end: that of the thread that ended last, where threads' ends are known
 * (off_processor.h), else that of the last operation.
 *
 * At a thread and a moment, the latest operation of the thread that had ended
 * is looked for; in between the thread computed. If that operation was held
 * until another thread came (the last one of a collective's round, or whoever
 * released it at an element: cause_internal.h), the time since that one's
 * arrival went over the hops down from there and up to this thread, and the
 * chain goes on at that thread's arrival. Otherwise the thread's own operation
 * took its whole time, and the chain goes on at its start.
 *
 * Links come one after the other, each ending where the one before began, from
 * that end to the begin of a thread, or to the start of the first operation of
 * the run; where clocks disagree, no time is told twice or left out. What a
 * thread does before its first operation counts as computing.
 *
 * Threads:   one. */
#ifndef SCOPES_CHAIN_INTERNAL_H
#define SCOPES_CHAIN_INTERNAL_H

#include "scopes/clocks/clock.h"
#include "scopes/reading/event_table.h"
#include "scopes/causality/off_processor.h"
#include "scopes/causality/topology.h"

typedef enum scopes__link_kind {
    SCOPES__COMPUTING,
    SCOPES__HOP,     /* on the way down or up */
    SCOPES__ELEMENT, /* below the lowest collector */
} scopes__link_kind;

/* What a link can be: a thread that computes, or a hop on its way. */
typedef struct scopes__link_place {
    scopes__link_kind kind;
    uint32_t thread;
    uint32_t collector; /* above the hop or element; PATHS_NONE */
    uint32_t element;   /* where the way leads; PATHS_NONE */
} scopes__link_place;

typedef struct scopes__chain scopes__chain;

/* A piece of the chain, never empty. A non-zero answer ends the walk. */
typedef int scopes__chain_each(uint32_t place, int64_t from_ns, int64_t to_ns,
                               void *context);

/* Makes what a walk needs. `scheduling` may be NULL: it is not known. Errors:
 * PASTSET_ENOMEM. */
int scopes__chain_create(scopes__chain **out, const scopes_topology *topology,
                         const scopes_event_table *event_table,
                         const scopes_clocks *clocks,
                         const scopes_scheduling *scheduling);
/* NULL is allowed. */
void scopes__chain_destroy(scopes__chain *chain);

uint32_t scopes__chain_places(const scopes__chain *chain);
const scopes__link_place *scopes__chain_place(const scopes__chain *chain,
                                              uint32_t place);

/* Once for each chain. Errors: those of `each`. */
int scopes__chain_walk(scopes__chain *chain, scopes__chain_each *each,
                       void *context);

#endif
