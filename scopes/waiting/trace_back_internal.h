/* trace_back_internal.h - the delays that waits were caused by, as Scalasca
 * finds delay costs (D. Boehme and others, "Identifying the root causes of wait
 * states in large-scale parallel applications", ICPP 2010; ACM TOPC 3(2),
 * 2016).
 *
 * A waits for B from A's arrival to B's. Both were last synchronised when one
 * of them had waited for the other, when both had waited for the same, or when
 * they were in one round of a collective. Since then each has spent its time on
 * computing before calls of some sort, in calls of some sort, and on waiting.
 * On what B has spent longer than A is what the wait comes from: as both began
 * at one moment and A was there first, these excesses are as long as the wait,
 * or longer where A has spent more on something else. The cost of the wait is
 * divided over them in proportion; within one sort, over its pieces by their
 * lengths. (Of all computing no more counts than B has computed longer in all,
 * since A may have computed before another sort of call; likewise of calls.)
 * What falls on B's own waits becomes a further cost of these, which is traced
 * back in the same way. So the costs of all delays add up to all waiting, and
 * where everybody takes as long for each step, as all wait for one, that one is
 * found.
 *
 *   direct      of waits for the thread that was late itself
 *   propagated  of waits for others, that had waited for it before
 *
 * Sorts of calls: those in one line of the program, if both threads have calls
 * in it and their names tell; else each collective, sending, receiving, others.
 * So threads are compared that do not use the same elements.
 *
 * Cost: waits are looked at from the last to the first, and of each what both
 * threads did since they were synchronised, but no more than SCOPES__LOOK_BACK
 * operations of each (synchronised_internal.h); where that does not reach back
 * so far, they are taken to have been level where it ends, which changes
 * nothing in the sums. */
#ifndef SCOPES_TRACE_BACK_INTERNAL_H
#define SCOPES_TRACE_BACK_INTERNAL_H

#include "scopes/waiting/waiting_internal.h"

/* A piece of the time of a thread for which others waited. */
typedef struct scopes__delay {
    uint32_t operation; /* before which it computed; or in which it was */
    bool in_call;
    uint32_t wait; /* the one whose cost is divided */
    double direct_ns, propagated_ns;
} scopes__delay;

/* A non-zero answer ends it and is returned. */
typedef int scopes__delay_each(const scopes__delay *delay, void *context);

/* Whether the waiting of a wait is to be traced; its position in `waits`. Asked
 * for once of each. */
typedef bool scopes__wait_counts(uint32_t wait, void *context);

/* `ends`, by position in `waits`: those that are a cause themselves, which are
 * not traced further back. A delay of such a one is the operation that waited.
 * NULL: none. Errors: PASTSET_ENOMEM; those of `each`. */
int scopes__trace_back(const scopes__waiting *waiting,
                       scopes__wait_counts *counts, const bool *ends,
                       scopes__delay_each *each, void *context);

#endif
