/* executor.h - what each executor of a process is in, for whoever looks at its
 * space: while it runs, after it, after a kill.
 *
 * Trace tuples tell of operations that have come up again. Of those that have
 * not, these notes tell: each executor has an element of its own in the space,
 * "~executor.N" (0: the network loop, 1 ... n: the threads of the process, in
 * the order of the map), and appends a note to it before it waits and when it
 * goes on. The newest note holds. As for any element with one writer, a reader
 * has a note as a whole or not at all.
 *
 * What is over at once leaves no note: an operation that need not wait, and a
 * round of a collective that is complete while threads still look at its gate.
 * A process whose elements are in anonymous memory makes no notes, as nobody
 * could read them.
 *
 * Front ends that record calls of another library (eventspace/record) make such
 * notes of them, for as many executors as threads have called it, from 1; then
 * the path is told by a collector (PATHS_NOTE_COLLECTOR), and a note holds
 * until the thread's trace tuples have come to its `sequence`.
 *
 * Nodes and processes are told by their rank among the names of all that the
 * map has (paths_map_rank), as their order in the map may be another one
 * elsewhere. */
#ifndef PATHS_EXECUTOR_H
#define PATHS_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "pastset/space.h"

typedef enum paths_activity {
    PATHS_STARTING,   /* its process waits for the others */
    PATHS_COMPUTING,  /* between operations; the loop: waits for something to
                         do. Operations of paths_start may be under way */
    PATHS_WAITING,    /* for an operation */
    PATHS_CONNECTING, /* to the process `peer` */
    PATHS_RUNNING,    /* the loop: carries an operation through stages */
    PATHS_ENDED,
    PATHS_ACTIVITIES
} paths_activity;

/* "computing" and so on; "?" when it is none of them. */
const char *paths_activity_name(uint32_t activity);

/* What a front end says of its note: `first` and `stage` are ids of a
 * collector.
 */
#define PATHS_NOTE_COLLECTOR 1u
/* Any other thread may end the waiting. */
#define PATHS_NOTE_ANY 2u
/* All other processes have to come to it. */
#define PATHS_NOTE_ALL 4u
/* It asks again and again, `bytes` times until `at`: events of that do not end
 * the note. */
#define PATHS_NOTE_POLLS 8u
/* The thread `peer` has to come as well as `peer_thread`. */
#define PATHS_NOTE_BOTH 16u
/* Of `tag`. */
#define PATHS_NOTE_ANY_TAG INT64_MAX

/* One note. `since`, `at`: ticks of paths_process_options.ticks. */
typedef struct paths_executor_note {
    uint64_t since;    /* the operation has been waited for (begun, if it is
                          one of paths_start); else: the activity lasts */
    uint64_t at;       /* the note was made: the process was alive then */
    uint64_t tag;      /* of a message, for front ends that have such; 0 */
    uint32_t thread;   /* number of the thread whose operation it is, or which
                          this is; PATHS_NONE: the loop has none */
    uint32_t sequence; /* of the operation; 0: none */
    uint32_t first;    /* the first node of its path; PATHS_NONE */
    uint32_t stage;    /* the node where its thread let go of it, or whose
                          way in it came by; PATHS_NONE */
    uint32_t peer;     /* the process that it connects to; PATHS_NONE. For front
                          ends: the one that it sends to while it receives,
                          or see PATHS_NOTE_BOTH */
    uint32_t peer_thread; /* for front ends: the thread without which it cannot
                             end; PATHS_NONE */
    uint32_t bytes;       /* of its tuple, or the room for one */
    uint32_t under_way;   /* operations of paths_start; those above are told of
                             the oldest, unless the thread waits for another.
                             For front ends: receives that are posted */
    uint32_t flags;
    uint16_t activity;
    uint16_t verb; /* a pastset_verb, if there is an operation */
} paths_executor_note;

#define PATHS_EXECUTOR_TYPE "u64[3] u32[9] u16[2]"
_Static_assert(sizeof(paths_executor_note) == 64, "as its type says");

/* Reads the newest note of an executor. What is in it may be anything, if the
 * file is damaged, but for `activity`.
 * Errors: PASTSET_ENOENT (there is no such executor, or it makes no notes),
 * PASTSET_EFORMAT. */
int paths_executor_read(pastset_space *space, uint32_t number,
                        paths_executor_note *out);

#endif
