/* tail_reader.h - the source of a scope: what collectors of some hosts write,
 * as they write it.
 *
 * A feed reads the spaces of a run directory's hosts, on their machine, while
 * they run. It shares their memory and takes no lock: all that it costs them
 * is memory bandwidth. It has a cursor of its own on each lane, and counts
 * exactly what was gone before it came.
 *
 * Threads:   one thread per feed.
 * Ownership: create gives, destroy takes back. The run is borrowed. */
#ifndef SCOPES_TAIL_READER_H
#define SCOPES_TAIL_READER_H

#include "scopes/reading/source.h"

/* How hard it works. */
typedef struct scopes_pace {
    uint32_t interval_ms; /* between two pulls; 0: 100 */
    uint32_t batch;       /* most tuples of one pull; 0: 65,536 */
    double share;         /* most of one processor, 0 < share <= 1; 0: 1 */
    uint64_t lag;         /* most tuples of a lane that it may be behind: it
                             skips older ones, and counts them; 0: any */
} scopes_pace;

typedef struct scopes_feed scopes_feed;

/* Of all hosts, or (host != SIZE_MAX) of one. `pace` NULL: the defaults.
 * Errors: PASTSET_ENOMEM, PASTSET_EINVAL. */
int scopes_feed_create(scopes_feed **out, eventspace_run *run, size_t host,
                       const scopes_pace *pace);
void scopes_feed_destroy(scopes_feed *feed);

/* Where a lane's cursor goes on: for who has saved what came before, which is
 * left out of the feed's ledger. It may be a lane that is not there yet.
 * Errors: PASTSET_ENOMEM, PASTSET_EINVAL (no such host, or not of this feed).
 */
int scopes_feed_seek(scopes_feed *feed, size_t host, const char *lane,
                     uint64_t index);

/* Gives the tuples that have come since, lane by lane, at most `pace.batch`
 * of them; `*more` (may be NULL) when there are others already. The first of a
 * batch is at `index`, the others follow it without a gap; a gap to the batch
 * before it is a loss. It finds hosts and lanes that are new by itself. When
 * `each` fails, its batch comes again at the next pull.
 * Errors: those of `each`, PASTSET_ENOMEM; what is wrong with a host is its
 * `problem`. */
int scopes_feed_pull(scopes_feed *feed, scopes_each *each, void *context,
                     bool *more);

/* How long to wait before the next pull, in nanoseconds from now: the rest of
 * its interval, or longer to keep to its share. When the last pull left tuples
 * behind (`more`), or the pull is urgent, the interval is not waited for. */
int64_t scopes_feed_pause_ns(const scopes_feed *feed, bool urgent);

/* Its own ledger, by host or (SIZE_MAX) of all, as of now: made = seen + missed
 * + what is still to be read (`beside`). */
void scopes_feed_ledger(const scopes_feed *feed, size_t host,
                        scopes_ledger *out);

/* Takes in hosts and lanes that are new, as a pull does. Errors:
 * PASTSET_ENOMEM. */
int scopes_feed_look(scopes_feed *feed);
/* Calls `each` for the lanes that it knows; not 0 ends it and is returned. */
int scopes_feed_lanes_each(scopes_feed *feed, eventspace_lane_each *each,
                           void *context);

/* What it has cost. */
typedef struct scopes_feed_cost {
    uint64_t pulls, tuples, bytes;
    uint64_t processor_ns; /* of the thread that pulled, with `each` */
    uint64_t elapsed_ns;   /* since it was created */
} scopes_feed_cost;
void scopes_feed_cost_take(const scopes_feed *feed, scopes_feed_cost *out);

#endif
