/* in_flight.h - what the executors of a run are in: at this moment, or when
 * their processes ended.
 *
 * Trace tuples tell of operations that have come up again. What has not is told
 * by the notes of executors (paths/engine/executor.h), which are found in the
 * spaces of a run that goes on, that is over, or that was killed; not in
 * archives. Whom an operation waits for is told by the map and by what all
 * others are in.
 *
 * The notes are taken one after the other. What moves on meanwhile may be told
 * as it was or as it is; what stands still is told exactly.
 *
 * Threads:   one thread per run.
 * Ownership: take gives, free takes back, before the run and the ways. */
#ifndef SCOPES_IN_FLIGHT_H
#define SCOPES_IN_FLIGHT_H

#include "eventspace/run/run.h"
#include "paths/engine/executor.h"
#include "scopes/causality/topology.h"

typedef struct scopes_pending {
    uint32_t process;               /* of the map */
    eventspace_state process_state; /* KILLED: this is what it was in then */
    uint32_t thread;   /* its number; PATHS_NONE: the process's network loop */
    uint32_t executor; /* of its process; 0: the network loop */
    paths_activity activity;
    bool operates;        /* an operation is under way: what `verb` to `element`
                             tell of it */
    uint64_t since_ticks; /* of the operation, or else of the activity */
    int64_t lasts_ns;     /* from then until now, or until its process ended */
    uint16_t verb;
    uint32_t of_thread; /* whose operation; the loop's are others' */
    uint32_t sequence;
    const char *path;               /* as the thread calls it; "" */
    uint32_t first, stage, element; /* nodes; PATHS_NONE: not known */
    uint32_t peer;      /* process with which it waits, or to which it connects;
                           PATHS_NONE: none */
    uint32_t under_way; /* operations of paths_start */
    uint64_t tag;       /* PATHS_NOTE_ANY_TAG: any */
    uint32_t flags;     /* of the note */
    uint32_t communicator; /* of the note */
    uint32_t peer_thread;  /* number; PATHS_NONE: none */
    char *waits_for;       /* "t3 (computing), t5 (ended)"; "" */
    uint32_t *threads; /* numbers of those who are waited for, as far as it is
                          known: */
    size_t thread_count;
    bool for_any; /* one of them will do; else all have to come */
    struct scopes_pending *parts; /* of what it waits for */
    size_t part_count;
} scopes_pending;

typedef struct scopes_pending_list {
    scopes_pending *items; /* threads by their numbers, then loops that carry
                              an operation */
    size_t count;
} scopes_pending_list;

/* Threads whose process never came up, or makes no notes, are not in it. What
 * is wrong with a note is the process's problem. Errors: PASTSET_ENOMEM. */
int scopes_pending_take(scopes_pending_list **out, eventspace_run *run,
                        const scopes_topology *topology);
/* Has a thread not moved since its note was taken? Those for whom this holds
 * have all been in what is told of them at one time: when the last of their
 * notes was taken. What cannot be looked at again has not moved. */
bool scopes_pending_lasts(const scopes_pending *p, const eventspace_run *run);
/* NULL is allowed. */
void scopes_pending_destroy(scopes_pending_list *list);

/* --- whether anybody stands still --- */

/* Where a thread is: `since` is the same as long as it does not move. */
typedef struct scopes_stand {
    uint32_t process, executor;
    uint64_t since_ticks;
    bool waits; /* or may: it is in something, or polls */
} scopes_stand;

/* Of all threads, by process and executor; cleared at first. */
typedef struct scopes_stands {
    scopes_stand *items;
    size_t count;
} scopes_stands;

/* Far less than to take what is pending: no file is looked at, and nothing is
 * said of why. The run is not refreshed. Errors: PASTSET_ENOENT (some processes
 * have not come up, are not recorded or damaged: the others are told),
 * PASTSET_ENOMEM. */
int scopes_stands_take(scopes_stands *out, const eventspace_run *run);
/* Does anybody wait who is where he was, or are there others than before? If
 * not, nobody has waited for all of the time between. */
bool scopes_stands_some(const scopes_stands *now, const scopes_stands *before);
/* Did this one wait then, since the same moment? */
bool scopes_stands_has(const scopes_stands *before, uint32_t process,
                       uint32_t executor, uint64_t since_ticks);
void scopes_stands_fini(scopes_stands *stands);

#endif
