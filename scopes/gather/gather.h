/* gather.h - gather trees: trace tuples from many processes, over paths.
 *
 * A gather tree is a path map of its own, made from that of the application:
 *
 *   scope.A: traces ─┐
 *   scope.B: traces ─┴► gather.A ─► gathered.A ─┐
 *   scope.C: traces ─┐                          ├► thread scope, process scope
 *   scope.D: traces ─┴► gather.C ─► gathered.C ─┘
 *
 * Its leaves stand on the machines of the application's processes and read
 * their space files (tail_reader.h), so that all they cost the application is
 * memory bandwidth. Each process of the tree is started by eventspace_launch,
 * with a program whose threads run scopes_gather_thread. docs/scopes.md tells
 * of its parameters, which are attributes of the map.
 *
 * What reaches the root are records, in order for each process. Nothing is lost
 * unseen: those of tuples say how many of their stream they stand for, and what
 * is missing between two of them was gone before the scope came.
 *
 * Threads:   as of paths/engine/process.h.
 * Ownership: maps go to the caller; records are lent for a call. */
#ifndef SCOPES_GATHER_H
#define SCOPES_GATHER_H

#include <stdatomic.h>

#include "paths/engine/process.h"
#include "scopes/reading/tail_reader.h"
#include "scopes/tables/table.h"

/* --- the map --- */

typedef struct scopes_gather_options {
    const char *run;          /* the application's run directory */
    uint32_t fanout;          /* most children of a gatherer, from 2; 0: any */
    scopes_throttle throttle; /* of each leaf */
    uint32_t message_bytes;   /* most bytes of a pull; 0: 256 KiB */
    uint32_t messages;        /* how many a gatherer keeps for the next one: how
                                 far that may lag; 0: 16 */
    /* A filter at each leaf; what is 0 or NULL is not looked at. */
    const char *collectors; /* ids, and names or patterns: "1 2 t0.*" */
    const char *threads;    /* numbers, and names or patterns: "0,3-5" */
    const char *verbs;      /* "write exchange" */
    uint64_t min_ns;        /* shorter operations are left out */
    /* Each leaf sends sums over windows of this length, not tuples; 0: no */
    uint64_t window_ns;
    /* Of each of the application's processes, on which of `machine_count` it
     * runs. Those of a machine are read by one process of the tree, and
     * gathered there first. NULL: each is read by a process of its own */
    const uint32_t *machines;
    uint32_t machine_count;
    /* A flight recorder: only what was around operations that took more than so
     * many times the median of their collector; 0: all. */
    double slower;
    const char *slow_collectors; /* as `collectors`; NULL: those of exchanges */
    uint64_t around_ns;          /* before and after one; 0: 20 ms */
    uint64_t hold_ns; /* how long leaves keep what may be asked for; 0: 5 s */
    const char *root_address; /* where the root listens; NULL: as the launcher
                                 finds */
} scopes_gather_options;

/* Makes the tree's map; process "scope" is its first, then, if there are
 * `machines`, those that read from them, in their order.
 * Errors: PASTSET_EMAP (process names that are too long), PASTSET_EINVAL (also:
 * a machine without a process), PASTSET_ENOMEM. */
int scopes_gather_map(paths_map **out, const paths_map *app,
                      const scopes_gather_options *options);

/* Whether the run has what the options ask for: a filter lets through nothing
 * where they do not. `app` NULL: only what can be said without its map.
 * Errors: PASTSET_EINVAL, PASTSET_ENOMEM. */
int scopes_gather_check(const scopes_gather_options *options,
                        const paths_map *app);

/* --- records --- */

typedef enum scopes_record_kind {
    SCOPES_RECORD_LEDGER,  /* of a process: `ledger` ... `ended` */
    SCOPES_RECORD_TUPLES,  /* of `stream`: `count` of the `span` from `index`;
                              the others are not of those asked for */
    SCOPES_RECORD_COUNTED, /* the same, but they are in statistics */
    SCOPES_RECORD_STREAM_END, /* `stream` has had `index`, and `span` refused */
    SCOPES_RECORD_STATISTICS, /* `count` of them */
    SCOPES_RECORD_META,       /* a process's meta file, when it has changed */
    SCOPES_RECORD_MAP,        /* a piece of the run's map, at `index` of `span`
                                 bytes; where the tree was asked for it */
    SCOPES_RECORD_PROBLEM,    /* a text: what cannot be gathered any more */
    SCOPES_RECORD_SCHEDULING, /* `count` of a process's eventspace_scheduling,
                                 from `index`; those before are gone */
    SCOPES_RECORD_DEFINITION, /* the bytes of one, that with this `index`, of at
                                 most `span` */
    SCOPES_RECORD_MESSAGES,   /* `count` eventspace_message of the element
                                 `stream`, from `index`, of at most `span` */
    SCOPES_RECORD_SURROUNDINGS, /* scopes_surroundings of a slow operation */
    SCOPES_RECORD_KINDS,
} scopes_record_kind;

/* Sums over the operations of a collector that ended in a window; those of one
 * collector and window come in parts, to be added up. */
typedef struct scopes_statistic {
    uint32_t collector;
    uint32_t failed;   /* with a status that is not 0 */
    uint64_t window;   /* number: of `window_ns` since 1970, by the wall clock
                          of its process */
    uint64_t count;    /* operations */
    uint64_t bytes;    /* of their tuples */
    uint64_t total_ns; /* of their durations */
    uint64_t min_ns;
    uint64_t max_ns;
} scopes_statistic;

/* A time, by the wall clocks of processes, of which all tuples are kept. */
typedef struct scopes_surroundings {
    uint64_t begin_ns, end_ns; /* since 1970 */
} scopes_surroundings;

typedef struct scopes_record {
    scopes_record_kind kind;
    uint32_t process; /* of the application's map; PATHS_NONE: of none */
    char stream[PASTSET_NAME_BYTES];
    uint64_t index, span;
    uint32_t count;
    const void *body; /* eventspace_trace, scopes_statistic, bytes */
    size_t bytes;
    /* LEDGER: of the process's leaf, exact when it has ended */
    scopes_ledger ledger;
    uint64_t processor_ns; /* that the leaf has used so far */
    bool more;             /* the leaf has more already */
    bool ended; /* the process has ended, and nothing comes any more */
} scopes_record;

/* A non-zero answer ends the scope and is its error. */
typedef int scopes_each_record(const scopes_record *record, void *context);

/* What the root does with what comes. */
typedef struct scopes_consumer {
    scopes_each_record *record;
    int (*turn)(void *context); /* some ten times a second; may be NULL */
    void *context;
} scopes_consumer;

/* For all threads of a process of a tree; its context: */
typedef struct scopes_gatherer {
    const paths_map *map;            /* of the tree */
    const scopes_consumer *consumer; /* gets what comes to the root; elsewhere
                                        it may be NULL */
    const atomic_bool *stop; /* when set, leaves are asked no more, and all ends
                                once what they have sent has come up. In all
                                processes of a tree; may be NULL */
} scopes_gatherer;

/* Call scopes_register() before paths_process_start, and then
 * paths_process_program(process, "*", scopes_gather_thread, &gatherer), or the
 * same by eventspace_program. */
int scopes_gather_thread(paths_thread *self, void *gatherer);

/* --- a mirror: a run directory that is filled from what comes --- */

typedef struct scopes_mirror scopes_mirror;

/* Whether a mirror can be made there; makes the directory.
 * Errors: PASTSET_EIO, PASTSET_EEXIST (there is a run in it). */
int scopes_mirror_place(const char *directory);
/* Makes DIRECTORY with pathmap.dot, and for each process PROCESS.archive and
 * PROCESS.meta, kept up to date. A mirror of what was filtered is that of a run
 * of which only those tuples were made. `app` NULL: the map comes as records.
 * `directory` NULL: only the map and the ledgers are kept, in memory.
 * Errors: PASTSET_EIO, PASTSET_EEXIST, PASTSET_ENOMEM. */
int scopes_mirror_open(scopes_mirror **out, const char *directory,
                       const paths_map *app);
/* For a scopes_consumer; their context is the mirror. */
int scopes_mirror_record(const scopes_record *record, void *mirror);
int scopes_mirror_turn(void *mirror);
/* Writes out what is kept, and closes. NULL is allowed. */
int scopes_mirror_close(scopes_mirror *mirror);

/* By process, or (SIZE_MAX) of all: recorded = read + lost + filtered + unread;
 * `filtered` are those that the filter left out. Of a process that is not
 * `ended`, `recorded` is what was known when its leaf was last heard of, and
 * `unread` what of it had not come. */
void scopes_mirror_ledger(const scopes_mirror *mirror, size_t process,
                          scopes_ledger *out);
/* What could not be gathered; "" when nothing. */
const char *scopes_mirror_problem(const scopes_mirror *mirror);
/* NULL until it has come. */
const paths_map *scopes_mirror_map(const scopes_mirror *mirror);

/* --- over the network: a tree of two processes --- */

/* Called when somebody can connect. */
typedef void scopes_listening(void *context);

/* Gathers the run for whoever comes with the key, and returns when that one
 * has what it wanted, or is gone. Options as of scopes_gather_map, without
 * fanout; they must be the same on both sides. `listening` may be NULL.
 * Errors: those of paths_process_run. */
int scopes_gather_serve(const scopes_gather_options *options,
                        const char *address, const uint8_t *key,
                        scopes_listening *listening, void *context);

/* The other side. Ends when all processes of the run have ended, or when
 * `stop`, which may be NULL, is set. */
int scopes_gather_connect(const scopes_gather_options *options,
                          const char *address, const uint8_t *key,
                          const scopes_consumer *consumer,
                          const atomic_bool *stop);

/* --- statistics, put together --- */

typedef struct scopes_windows scopes_windows;

/* Adds up what comes, also tuples, by process, collector and window. `app`
 * NULL: collectors are not named. Errors: PASTSET_ENOMEM. */
int scopes_windows_create(scopes_windows **out, uint64_t window_ns,
                          const paths_map *app);
void scopes_windows_destroy(scopes_windows *windows);
/* For a scopes_consumer; its context is the windows. */
int scopes_windows_record(const scopes_record *record, void *windows);
/* Makes a table of the oldest window, and forgets it; `*out` is NULL when
 * there is none. Unless `all`, only one that is over on every process that has
 * not ended, as far as has come. The caller destroys it before the windows.
 * Errors: PASTSET_ENOMEM. */
int scopes_windows_take(scopes_windows *windows, bool all, scopes_table **out);

#endif
