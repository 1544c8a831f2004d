/* in_flight_internal.h - in_flight_notes.c reads a note, in_flight.c takes all
 * of them, in_flight_who.c says from them who is waited for. */
#ifndef SCOPES_IN_FLIGHT_INTERNAL_H
#define SCOPES_IN_FLIGHT_INTERNAL_H

#include "scopes/causality/arrived.h"
#include "scopes/causality/in_flight.h"

typedef struct scopes__noted {
    paths_executor_note note;
    paths_executor_note parts[PATHS_NOTE_PARTS];
    uint32_t count; /* of them */
} scopes__noted;

/* The note, and how many operations had ended before it was read. A thread that
 * polls makes a note after each event: between the two it is said to go on.
 * Errors: those of paths_executor_read(). */
int scopes__note_read(pastset_space *space, uint32_t executor,
                      scopes__noted *out, uint32_t *ended);

typedef struct pending_world {
    eventspace_run *run;
    const scopes_topology *topology;
    const scopes_pending **threads; /* by number; NULL: no note */
    uint64_t *ends;     /* by process: its ticks now or at its end */
    int64_t *silent_ns; /* by process: since its loop's last note */
    scopes_arrived *arrived;
} pending_world;

/* The node that follows; PATHS_NONE at the end of the way. */
static inline uint32_t scopes__next_node(const paths_map *map, uint32_t node)
{
    const paths_map_node *n = &map->nodes[node];

    return n->out_count ? map->edges[n->out[0]].to : PATHS_NONE;
}

/* Says in `pending` who is waited for. Errors: PASTSET_ENOMEM. */
int scopes__pending_who(const pending_world *world, scopes_pending *pending);

#endif
