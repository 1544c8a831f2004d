/* communication_times_internal.h - what communication_times.c shares with
 * communication_steps.c, and with views of threads. */
#ifndef SCOPES_COMMUNICATION_TIMES_INTERNAL_H
#define SCOPES_COMMUNICATION_TIMES_INTERNAL_H

#include "scopes/causality/communication_times.h"
#include "scopes/reading/heap_internal.h"

/* What is needed while the view is made. */
typedef struct scopes__making {
    scopes_communication *view;
    const scopes_topology *topology;
    const scopes_event_table *event_table;
    const scopes_clocks *clocks;
    const scopes_scheduling *scheduling; /* NULL: not known */
    scopes_detail detail;
    bool whole;             /* what is not in the event table is lost */
    uint32_t *collectors;   /* by path: the one at its top */
    uint32_t *users;        /* by collector id: how many paths begin with it */
    uint32_t *slots, *uses; /* by path; `uses` is zero between threads */
    scopes__heap heap;      /* of the paths of a thread, by their next start */
    size_t *next;           /* by path: its place in its series */
    uint32_t lowest, highest; /* sequence of the thread's operations */
    bool any;                 /* operation at all */
} scopes__making;

/* The part of communicating of both; 0 when there was neither. */
static inline double scopes__share(int64_t communicating_ns,
                                   int64_t computing_ns)
{
    int64_t all_ns = scopes__sum_ns(communicating_ns, computing_ns);

    return all_ns > 0 ? (double)communicating_ns / (double)all_ns : 0;
}

/* The step of an operation: the one after the last on its path, `*use`, but
 * not before that of the thread's operation before it. */
static inline uint32_t scopes__step_next(uint32_t before, uint32_t *use)
{
    *use = *use + 1 > before ? *use + 1 : before;
    return *use;
}

/* Numbers the steps of a thread once more if operations are not there, and
 * sets `lost` and `steps_known`. Before, its operations have the steps that
 * they have if none is missing. */
void scopes__number_steps(scopes__making *m, scopes_thread *thread);

#endif
