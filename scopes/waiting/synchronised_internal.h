/* synchronised_internal.h - when two threads were last level with each other,
 * before one waited for the other: when one of them had waited for the other,
 * when both had waited for one operation of another, or when all had come to a
 * round of a collective in which both are. No further back than some
 * SCOPES__LOOK_BACK operations of each.
 *
 * Threads:   any. */
#ifndef SCOPES_SYNCHRONISED_INTERNAL_H
#define SCOPES_SYNCHRONISED_INTERNAL_H

#include "scopes/waiting/waiting_internal.h"

#define SCOPES__LOOK_BACK 1000

/* What a thread did before some time. */
typedef struct scopes__past {
    int64_t since_ns; /* as far back as is looked */
    uint32_t thread;
    uint32_t first_wait, waits; /* its waits that had begun before */
} scopes__past;

/* Of the one for whom a wait was, until that ended: all who waited for it then
 * have this in common. `waits_before`, by thread, is first_waits[thread + 1] at
 * first, and kept for the next one, which may not end later. */
scopes__past scopes__past_of_other(const scopes__waiting *w,
                                   const scopes__wait *wait,
                                   uint32_t *waits_before);

/* `its` is the past of the other one. */
int64_t scopes__synchronised_at(const scopes__waiting *w, uint32_t wait,
                                const scopes__past *its);

#endif
