/* snapshot.h - all that views are made from, of a run or a window of it.
 *
 * A look is taken once, and again as often as wanted while the run goes on.
 * Its window is one of time, by aligned clocks; but to align clocks takes
 * tuples. So, if not all processes share one counter, tuples of hops between
 * processes are loaded first, and nothing else: those of the whole run, or,
 * where these are too many, those of the window as the processes' wall clocks
 * tell it and of a second around it; or of more, while there is a process that
 * this does not reach.
 *
 * Threads:   one thread per look.
 * Ownership: take gives, free takes back. The run is borrowed. */
#ifndef SCOPES_SNAPSHOT_H
#define SCOPES_SNAPSHOT_H

#include <stdbool.h>

#include "scopes/clocks/clock.h"
#include "scopes/causality/in_flight.h"
#include "scopes/causality/off_processor.h"
#include "scopes/reading/source.h"
#include "scopes/reading/event_table.h"
#include "scopes/causality/topology.h"

typedef struct scopes_snapshot_options {
    int64_t from_ns, to_ns; /* since the first start of a process; INT64_MIN and
                               INT64_MAX: from the first, to the last */
    int64_t last_ns;        /* if > 0, instead of these: the last so many of
                               what is there */
    const paths_number_list *threads; /* if there is a window: their tuples
                                         only; NULL: all */
    bool tops_only; /* only collectors on edges that leave threads */
    bool numbered;  /* rounds in the window have the numbers that they
                       have in the run, for which all before it is
                       read */
    scopes_clock_method method;
    uint32_t reference; /* process; PATHS_NONE */
    uint64_t too_many;  /* from so many events of a run on; 0: 16 million */
    scopes_scheduling_reader *reader; /* borrowed: `scheduling` is read on by
                                         it, from `from_ns` on; NULL: all of it
                                         is read */
} scopes_snapshot_options;

#define SCOPES_SNAPSHOT_ALL                                                    \
    {                                                                          \
        .from_ns = INT64_MIN, .to_ns = INT64_MAX, .reference = PATHS_NONE      \
    }

typedef struct scopes_snapshot {
    eventspace_run *run;
    scopes_snapshot_options options;
    scopes_source *source;
    scopes_topology *topology;
    scopes_event_table *event_table;
    scopes_clocks *clocks;
    scopes_pending_list *pending;  /* now, whatever the window */
    scopes_scheduling *scheduling; /* of all there is, whatever the window, but
                                      for a reader's */
    int64_t from_ns, to_ns;        /* what was asked for in the end */
} scopes_snapshot;

/* Errors: PASTSET_EMAP, PASTSET_ENOMEM, PASTSET_EIO. */
int scopes_snapshot_take(scopes_snapshot **out, eventspace_run *run,
                         const scopes_snapshot_options *options);
/* Looks once more: refreshes the run and all that comes from it. After an
 * error the look can only be freed. */
int scopes_snapshot_again(scopes_snapshot *snapshot);
/* NULL is allowed. */
void scopes_snapshot_destroy(scopes_snapshot *snapshot);

#endif
