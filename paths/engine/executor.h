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
/* One will do of those that it waits for: of its parts, or of the members of a
 * collective. Else all have to come. */
#define PATHS_NOTE_ONE 16u
/* It is a part of the note after it that has none of these: that waits for what
 * its parts wait for. */
#define PATHS_NOTE_PART 32u
/* Of a part: it is not waited for, but it takes a message that comes. */
#define PATHS_NOTE_POSTED 64u
/* Of a part: it may have come already, without a sign. */
#define PATHS_NOTE_MAYBE 128u
/* Members of a collective whose element shows how often each has been there:
 * those with lower numbers have to come. */
#define PATHS_NOTE_LOWER 256u
/* Of a part: of such an element it is the `tag`-th time. */
#define PATHS_NOTE_ROUND 512u
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
    uint32_t peer;     /* the process that it connects to; PATHS_NONE */
    uint32_t peer_thread; /* for front ends: the thread without which it cannot
                             end; PATHS_NONE */
    uint32_t bytes;       /* of its tuple, or the room for one */
    uint32_t under_way;   /* operations of paths_start; those above are told of
                             the oldest, unless the thread waits for another.
                             For front ends: receives that are posted */
    uint32_t flags;
    uint32_t parts;        /* so many notes before this one are its parts */
    uint32_t communicator; /* for front ends: in which numbers and tags of
                              messages are; what is the same has the same; 0:
                              not known */
    uint16_t activity;
    uint16_t verb; /* a pastset_verb, if there is an operation */
} paths_executor_note;

#define PATHS_EXECUTOR_TYPE "u64[3] u32[11] u16[2]"
_Static_assert(sizeof(paths_executor_note) == 72, "as its type says");

/* Reads the newest note of an executor. What is in it may be anything, if the
 * file is damaged, but for `activity`.
 * Errors: PASTSET_ENOENT (there is no such executor, or it makes no notes),
 * PASTSET_EFORMAT. */
int paths_executor_read(pastset_space *space, uint32_t number,
                        paths_executor_note *out);

#define PATHS_NOTE_PARTS 40 /* at most, of one note */

/* The same, and its parts; `*count` of them. */
int paths_executor_read_parts(pastset_space *space, uint32_t number,
                              paths_executor_note *out,
                              paths_executor_note parts[PATHS_NOTE_PARTS],
                              uint32_t *count);

#endif
