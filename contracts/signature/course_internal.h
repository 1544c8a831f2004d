/* course_internal.h - between the files that make a course. */
#ifndef CONTRACTS_COURSE_INTERNAL_H
#define CONTRACTS_COURSE_INTERNAL_H

#include <stdbool.h>

#include "contracts/signature/course.h"
#include "scopes/causality/communication_times.h"

#define CONTRACTS__NS 1e-9

typedef struct contracts__making {
    contracts_course *c;
    const scopes_snapshot *snapshot;
    const scopes_communication *times;
    bool *meets;      /* by path: it leads to a collective */
    uint32_t *peers;  /* by path: the process with which it is shared */
    uint32_t *states; /* by process and interval: IS_THERE ... */
    /* In the interval that a thread has come to: */
    double *toward;   /* seconds, by process */
    uint32_t *others; /* those of which it is not 0 */
    uint32_t other_count;
    size_t interval;
} contracts__making;

static inline size_t contracts__interval_of(const contracts_course *c,
                                            int64_t ns)
{
    return ns <= c->from_ns ? 0 : (size_t)((ns - c->from_ns) / c->interval_ns);
}

/* --- course_between.c --- */

/* What paths lead to. Errors: PASTSET_ENOMEM. */
int contracts__peers_find(contracts__making *m);
void contracts__peers_forget(contracts__making *m);

/* With whom the call has to do that this operation ends in: one call may end
 * several, which begin and end together. PATHS_NONE: with several, or it is not
 * known. */
uint32_t contracts__peer_of(const contracts__making *m,
                            const scopes_operation *operation);

/* A thread of `process` was in an operation for so long; in order of intervals,
 * until its end is told. Errors: PASTSET_ENOMEM. */
int contracts__toward(contracts__making *m, uint32_t process, size_t interval,
                      uint32_t other, double seconds);
int contracts__toward_end(contracts__making *m, uint32_t process);

/* After all threads: what they waited for, of all they did toward others.
 * Errors: PASTSET_ENOMEM, and those of views. */
int contracts__waits_add(const contracts__making *m);

/* --- course_counted.c --- */

/* The quantities behind the others: what programs counted under these names.
 * Errors: PASTSET_ENOMEM. */
int contracts__counted_add(const contracts__making *m, const char *const *names,
                           size_t count);

#endif
