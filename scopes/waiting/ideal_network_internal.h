/* ideal_network_internal.h - how long a run, or a part of it, would have taken
 * over a network that takes no time.
 *
 * All operations are replayed in the order of their threads. A thread computes
 * as long as it did; a call takes no time, but for what it needs
 * (waiting_internal.h):
 *
 *   a receive             ends when it and its send have begun
 *   a round of a          ends when all who take part have come
 *   collective
 *   MPI_Ssend, and a      end when they have begun, and the receive, or the
 *   write for room        read that makes room
 *   all others            end when they begin
 *
 * Operations of a thread that overlap are one call, which begins with the
 * first and ends when it has all that they need. A thread begins when it did.
 *
 * Of a reduction to a root that the recorder for MPI has seen, it is known for
 * whom the root waited, and only for that one it waits here, too.
 *
 * Of a part of the run, all begins with it: what began before it is there, what
 * begins after it is waited for by nobody. So the time is never longer than the
 * part, and never shorter than any thread computed in it.
 *
 * Where operations need each other in a circle, as they may seem to if tuples
 * are missing, the one of them that comes first does not wait. */
#ifndef SCOPES_IDEAL_NETWORK_INTERNAL_H
#define SCOPES_IDEAL_NETWORK_INTERNAL_H

#include "scopes/waiting/waiting_internal.h"

typedef struct scopes__ideal scopes__ideal;

/* `waiting` is borrowed. Errors: PASTSET_ENOMEM, PASTSET_ENOSPC. */
int scopes__ideal_create(scopes__ideal **out, const scopes__waiting *waiting);
/* NULL is allowed. */
void scopes__ideal_destroy(scopes__ideal *ideal);

/* How long the part from `from_ns` to `to_ns` would have taken. Parts are asked
 * for in their order, and do not overlap; but that of the whole run may come
 * first. */
int64_t scopes__ideal_time(scopes__ideal *ideal, int64_t from_ns,
                           int64_t to_ns);

/* How long a thread computed in that part: outside of operations. */
int64_t scopes__useful_time(const scopes__waiting *waiting, uint32_t thread,
                            int64_t from_ns, int64_t to_ns);

#endif
