/* losses_internal.h - what a run has lost time by: the causes, how much of all
 * waiting is due to each, and how long the run would have taken without it.
 *
 * All waiting is the time that threads were in operations: what they waited for
 * others to come (waiting_internal.h), and the rest, on the way. The first is
 * traced back to the delays that it comes from (trace_back_internal.h). A delay
 * of computing is due to
 *
 *   shared processor   as far as the thread was runnable while others ran
 *   imbalance          if the group of the gap is uneven (gaps_internal.h)
 *   slow thread        if the thread computes longer there than others do;
 *   late arriver       and this one, if that is so now and then
 *
 * and one of being in a call, like the time on the way itself, to
 *
 *   delayed hop        as far as a link is slower than its peers
 *                      (hop_links_internal.h)
 *   shared processor   as far as the thread was runnable after it was released
 *   transfer           the rest
 *
 * A delay before the first operation of a thread is due to a late begin, as far
 * as the thread began after others. Waiting for room in an element is due to a
 * small element, and not traced further back, if the run would have been
 * shorter by a quarter of it with room. What is left is due to dependency:
 * threads wait for each other, though no one takes longer than others. A late
 * begin and dependency are not replayed.
 *
 * Without a cause the run is replayed (rerun_internal.h) with other costs: a
 * slow thread or late arriver computes as long as its peers, at most; all of an
 * uneven group in the mean; nobody is runnable; the delayed link takes as long
 * as its peers; writers do not wait for room; transfer takes no time. How far
 * the gain is certain is told from tenths of the run: twice the standard error
 * of what each gains, and the share of events that were lost.
 *
 * Threads:   may be read by any once made.
 * Ownership: make gives, destroy takes back; the waiting is borrowed. */
#ifndef SCOPES_LOSSES_INTERNAL_H
#define SCOPES_LOSSES_INTERNAL_H

#include "scopes/losses/gaps_internal.h"
#include "scopes/losses/hop_links_internal.h"
#include "scopes/waiting/rerun_internal.h"

typedef enum scopes__loss_kind {
    SCOPES__SLOW_THREAD,
    SCOPES__LATE_ARRIVER,
    SCOPES__IMBALANCE,
    SCOPES__SHARED_PROCESSOR,
    SCOPES__SMALL_ELEMENT,
    SCOPES__DELAYED_HOP,
    SCOPES__TRANSFER,
    SCOPES__LATE_BEGIN,
    SCOPES__DEPENDENCY,
} scopes__loss_kind;

typedef struct scopes__loss {
    scopes__loss_kind kind;
    /* Where; PATHS_NONE or SCOPES_MISSING, if it does not apply. */
    uint32_t thread;
    uint32_t operation; /* before which it computes; one of them. Of transfer,
                           one of the calls that have most of it */
    double most_ns;     /* and how much these have */
    uint32_t operation_cell; /* its cell: the one that has most of it */
    uint32_t cell, group;    /* one of them: see their `also` */
    uint32_t link;
    uint32_t element; /* node */
    uint64_t count;   /* how often */
    int64_t each_ns;  /* and how much each time: what is too much */
    double waiting_ns;
    bool is_replayed; /* else what follows is not known */
    int64_t gain_ns, low_ns, high_ns;
} scopes__loss;

/* Of operations: what of the time on the way is due to what. */
typedef struct scopes__way_parts {
    int64_t *rest_ns;     /* in the operation, and not waiting */
    int64_t *delayed_ns;  /* of that, by a delayed link */
    uint32_t *links;      /* that link */
    int64_t *runnable_ns; /* of that, after its release */
} scopes__way_parts;

typedef struct scopes__losses {
    const scopes__waiting *w;
    scopes__loss *items; /* the greatest gain first */
    uint32_t count;
    double waiting_ns; /* of all threads */
    int64_t run_ns;
    double lost_share; /* of events */
    /* What they are made from. */
    scopes__rerun *rerun;
    scopes__gaps gaps;
    scopes__links links;
    scopes__way_parts ways;
    uint32_t *of_cell, *of_link, *of_node;        /* positions in items */
    uint32_t shared, transfer, begin, dependency; /* the same */
    bool *ends; /* by wait: due to an element */
} scopes__losses;

/* Errors: PASTSET_ENOMEM, PASTSET_ENOSPC. */
int scopes__losses_create(scopes__losses **out, const scopes__waiting *waiting);
/* NULL is allowed. */
void scopes__losses_destroy(scopes__losses *losses);

const char *scopes__loss_kind_name(scopes__loss_kind kind);

/* --- parts of making it --- */

/* Adds all that there may be, but small elements (loss_found.c). */
int scopes__losses_find(scopes__losses *losses);
/* Fills in `ways` (loss_ways.c). */
int scopes__losses_ways(scopes__losses *losses);
/* Fills in `ends`, and adds small elements (loss_rooms.c). */
int scopes__losses_rooms(scopes__losses *losses);
/* Divides all waiting (loss_shares.c). */
int scopes__losses_share(scopes__losses *losses);
/* Replays the run without those that matter (loss_gains.c); the gain only. */
int scopes__losses_gain(scopes__losses *losses);
int scopes__loss_replay(scopes__losses *losses, scopes__loss *loss);

/* Adds one of this kind; its position, or SCOPES_MISSING without memory. */
uint32_t scopes__loss_add(scopes__losses *losses, scopes__loss_kind kind);

#endif
