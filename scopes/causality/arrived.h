/* arrived.h - what has come already to those who seem to wait for it: a message
 * that was sent and is not yet received, a thread that has been at a collective
 * which others are still in.
 *
 * Threads:   one.
 * Ownership: create gives, destroy takes back, before the run. */
#ifndef SCOPES_ARRIVED_H
#define SCOPES_ARRIVED_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/run/run.h"
#include "scopes/causality/topology.h"

typedef struct scopes_arrived scopes_arrived;

/* What there is when it is asked for first. Errors: PASTSET_ENOMEM. */
int scopes_arrived_create(scopes_arrived **out, const eventspace_run *run,
                          const scopes_topology *topology);
/* NULL is allowed. */
void scopes_arrived_destroy(scopes_arrived *arrived);

/* Messages from one process to another, with this tag (PATHS_NOTE_ANY_TAG: any)
 * in whatever communicator: has one been sent that is not received? It is said
 * that there is one where memory is out. */
bool scopes_arrived_message(scopes_arrived *arrived, uint32_t from, uint32_t to,
                            uint64_t tag);
/* How many operations of a process have come up from this element or
 * collective. */
uint32_t scopes_arrived_rounds(scopes_arrived *arrived, uint32_t process,
                               uint32_t node);

#endif
