/* whatif_internal.h - changes of what operations cost, one file for each
 * sort. Each changes `costs` in place; errors are those of
 * scopes_whatif_time. */
#ifndef SCOPES_WHATIF_INTERNAL_H
#define SCOPES_WHATIF_INTERNAL_H

#include "scopes/waiting/rerun_internal.h"
#include "scopes/whatif/whatif.h"

/* A thread's time before an operation, or after its last one. */
typedef struct scopes__gap {
    int64_t computing_ns, runnable_ns, sleeping_ns;
} scopes__gap;

/* How a gap divides that is `gap_ns` long, as it was recorded, and ends at
 * `end_ns`. `*at` is as for scopes_off_between (gap_parts.c). */
scopes__gap scopes__gap_of(const scopes__waiting *w, uint32_t thread,
                           size_t *at, int64_t gap_ns, int64_t end_ns);

/* COMPUTING, RUNNABLE, SLEEPING, CALLS of threads (changes_threads.c); their
 * computing as that of others (changes_peers.c). */
int scopes__change_threads(scopes__costs *costs, const scopes__waiting *w,
                           const scopes_change *change);
int scopes__change_to_peers(scopes__costs *costs, const scopes__waiting *w,
                            const paths_number_list *threads);
/* HOP and ROOM (changes_ways.c). */
int scopes__change_hop(scopes__costs *costs, const scopes__waiting *w,
                       const scopes_change *change);
int scopes__change_room(scopes__costs *costs, const scopes__waiting *w,
                        const scopes_change *change);
/* BALANCE (changes_balance.c). */
int scopes__change_balance(scopes__costs *costs, const scopes__waiting *w,
                           const scopes_change *change);

#endif
