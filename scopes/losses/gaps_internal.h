/* gaps_internal.h - what threads compute between two calls, compared with what
 * others compute there.
 *
 * Calls of threads are alike that are in one line of the program; else those
 * that three threads or more, or all, know by one name of their paths; else
 * those of one collective; else all that bring something, and all that do not.
 * Gaps are in one group if the calls before them are alike, and those after
 * them.
 *
 * The work of a gap is its time less that for which the thread was runnable. It
 * is compared with that of the others of its group the same time around: their
 * median, of an even number the lesser in the middle. Where threads are in a
 * group for different numbers of times, the means of threads are compared, and
 * where a thread is alone in it, all that it has worked with all that others
 * have.
 *
 * A group is uneven if its threads differ from the others by a quarter of what
 * the slowest does, in the mean. Else some threads of it are slow: now and then
 * (is_rare) if it is not so half of the time, or if it is sleep, and the others
 * hardly sleep there.
 *
 * Threads:   may be read by any once made.
 * Ownership: make gives, free takes back; the waiting is borrowed. */
#ifndef SCOPES_GAPS_INTERNAL_H
#define SCOPES_GAPS_INTERNAL_H

#include "scopes/waiting/waiting_internal.h"

/* The gaps of a thread in a group. */
typedef struct scopes__gap_cell {
    uint32_t group, thread;
    uint32_t first, count; /* its first operation after a gap; how many */
    uint32_t often;        /* times that it was slower by half of that most */
    double work_ns, sleep_ns; /* of all */
    double excess_ns; /* over the others, of the times when it had one */
    double apart_ns;  /* from the others, in either direction */
    bool is_slow, is_rare;
    uint32_t also; /* another one of the thread, before such a call, that is
                      slow; SCOPES_MISSING */
} scopes__gap_cell;

typedef struct scopes__gap_group {
    uint32_t first, count; /* of its cells */
    uint32_t before;       /* the sort of the call after the gap */
    double excess_ns;      /* of its cells */
    bool is_uneven;
    uint32_t also; /* another one before such a call that is uneven */
} scopes__gap_group;

typedef struct scopes__gaps {
    const scopes__waiting *w;
    scopes__gap_cell *cells; /* by group, then by thread */
    scopes__gap_group *groups;
    uint32_t cell_count, group_count;
    /* By operation: of the gap before it. SCOPES_MISSING: there is none, as
     * others of the thread were under way. */
    uint32_t *cells_of;
    uint32_t *next; /* the operation of the same cell after it */
    int64_t *work_ns, *runnable_ns, *sleep_ns;
    int64_t *peer_ns, *mean_ns; /* work of the others; of all in the mean */
} scopes__gaps;

/* `gap_ns`, by operation. Errors: PASTSET_ENOMEM, PASTSET_ENOSPC. */
int scopes__gaps_make(scopes__gaps *gaps, const scopes__waiting *waiting,
                      const int64_t *gap_ns);
/* Also of what was not made, if it is zero. */
void scopes__gaps_free(scopes__gaps *gaps);

/* --- parts of making it --- */

/* By position in topology->tops, which calls are alike (call_sorts.c). The
 * caller frees it; `*count`: how many sorts there are. */
uint32_t *scopes__call_sorts(const scopes__waiting *waiting, uint32_t *count);
/* Fills in what is compared (gaps_peers.c). */
int scopes__gaps_compare(scopes__gaps *gaps);

/* The work of a gap that is more than that of others; not below 0. */
static inline int64_t scopes__gap_excess(const scopes__gaps *g,
                                         uint32_t operation)
{
    int64_t ns = g->work_ns[operation] - g->peer_ns[operation];

    return ns > 0 ? ns : 0;
}

#endif
