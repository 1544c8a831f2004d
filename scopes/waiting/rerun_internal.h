/* rerun_internal.h - a run once more, with other times: how long it would have
 * taken if something in it had been faster or slower.
 *
 * All operations are replayed in the order of their threads, as on the ideal
 * network (ideal_network_internal.h), but each with its costs. An operation
 * begins so long after those before it in its thread have ended, arrives, and
 * ends when what it needs has arrived, too, and so much later:
 *
 *   begin    end of the thread's operations before + gap. One that began while
 *            others of its thread were under way: end of the last one that had
 *            ended, or begin of the first of these, + gap
 *   arrival  begin + down
 *   end      the later of arrival + own
 *                    and  arrival of what it needs + up
 *   end of a round of a collective: the last arrival of all + up
 *
 * The costs that were recorded give the very times that were recorded, to the
 * nanosecond. Another run is another set of costs.
 *
 * Operations that begin and end together are one call, which has one cost after
 * all of them have what they need.
 *
 * down is known where a collector stands at the end of the way. The way from
 * the place where operations join to the element is passed by the one for all:
 * it belongs to each way that leads there.
 *
 * A receive that came later than its message does not tell how long that was
 * under way, and one that waited does not tell how long it takes without. Each
 * is taken to be what it is in the median of the others on the same path, but
 * no longer than would have been seen.
 *
 * What a replay cannot know: that another order of arrivals changes what a
 * program does, and that threads which have less to do leave processors to
 * others.
 *
 * Threads:   one per rerun. Recorded costs may be read by any. */
#ifndef SCOPES_RERUN_INTERNAL_H
#define SCOPES_RERUN_INTERNAL_H

#include "scopes/waiting/waiting_internal.h"

/* By operation, in nanoseconds; the last two by thread. */
typedef struct scopes__costs {
    uint32_t count, thread_count;
    int64_t *gap_ns;
    int64_t *down_ns;
    int64_t *own_ns;
    int64_t *up_ns;
    uint8_t *is_free;  /* it does not wait for what it needs */
    int64_t *begin_ns; /* of the thread, from the begin of the run */
    int64_t *tail_ns;  /* from the end of its last operation to its own */
} scopes__costs;

typedef struct scopes__rerun scopes__rerun;

/* `waiting` is borrowed. Errors: PASTSET_ENOMEM, PASTSET_ENOSPC. */
int scopes__rerun_create(scopes__rerun **out, const scopes__waiting *waiting);
/* NULL is allowed. */
void scopes__rerun_destroy(scopes__rerun *rerun);

/* The costs that were recorded: borrowed, as long as the rerun is there. */
const scopes__costs *scopes__rerun_recorded(const scopes__rerun *rerun);

/* A copy of costs, to be changed; free takes it back, also if it is zero.
 * Errors: as above. */
int scopes__costs_copy(scopes__costs *out, const scopes__costs *costs);
void scopes__costs_free(scopes__costs *costs);

/* A cost takes so much more, or less: what has been taken away before is not
 * taken away again. */
void scopes__cost_add(int64_t *ns, int64_t more_ns);

/* Hops take `factor` times as long: `hops` says of which collectors, by id, the
 * one below counts, on the way down and up. Changes down_ns and up_ns.
 * Errors: as above. */
int scopes__costs_hops(scopes__costs *costs, const scopes__waiting *waiting,
                       const bool *hops, double factor);

/* From the first begin of a thread to the last end. Threads without operations
 * do not count. */
int64_t scopes__rerun_time(scopes__rerun *rerun, const scopes__costs *costs);

/* Of the last replay: when an operation ended, from the begin of the run. */
int64_t scopes__rerun_end_of(const scopes__rerun *rerun, uint32_t operation);

/* --- parts of making it (rerun_costs.c) --- */

/* The costs that were recorded. Fills in `before`, by operation: of one that
 * began while others of its thread were under way, the last of these that had
 * ended; itself, where none had. */
int scopes__costs_record(scopes__costs *out, const scopes__waiting *w,
                         uint32_t *before);

/* Adds to down_ns and up_ns, by operation, how long the hops on its way took;
 * only those below collectors of `hops`, by id, and then no times below 0.
 * `hops` NULL: all, as they are. Either may be NULL. (rerun_ways.c) */
int scopes__ways_add(const scopes__waiting *w, const bool *hops,
                     int64_t *down_ns, int64_t *up_ns);

#endif
