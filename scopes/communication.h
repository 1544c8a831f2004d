/* communication.h - the view "communication": when each thread communicated,
 * and when it computed.
 *
 * Paper 004, section 5.1, figures 4 and 5. The view is a function from a path
 * map, trace tuples and clocks to a table; nothing here knows how it is shown.
 *
 * Only the collectors on edges that leave a thread count: they see the whole
 * of an operation, as its thread saw it. Tuples of other collectors are passed
 * over. A map instrumented with `none` gives a table without operations, and
 * an operation that had not come up when its host died has left no tuple.
 *
 * Communicating  the time in which at least one operation of the thread was
 *                under way (operations that were started together overlap).
 * Computing      the gaps between, from the thread's first operation to its
 *                last. What it did before and after cannot be seen.
 * Step           counted from 1: the k-th operation of a thread on one of its
 *                paths belongs to step k. In a bulk-synchronous program, which
 *                uses each path once in each step, that is the step of the
 *                program. A gap belongs to the step of the operation before
 *                it.
 *
 * Where tuples of a thread are missing, because its trace element discarded
 * them, steps are told from the operations' numbers, when the thread is seen
 * to use its paths in turn: it is taken to have done so from its start.
 * Otherwise they are counted from the first operation that is there, and
 * `steps_known` is false.
 *
 * Threads:   one thread per view.
 * Ownership: create and read give the view to you, destroy takes it back. Its
 *            names are borrowed from the map, which must stay in place. */
#ifndef SCOPES_COMMUNICATION_H
#define SCOPES_COMMUNICATION_H

#include "eventspace/run.h"
#include "eventspace/trace.h"
#include "paths/map.h"

/* One operation of a thread. */
typedef struct scopes_operation {
    int64_t start_ns;
    int64_t end_ns;
    uint32_t thread; /* index into `threads`: the thread's number */
    uint32_t path;   /* index into `paths` */
    uint32_t step;   /* from 1 */
    uint32_t sequence;
    uint32_t bytes;
    uint16_t verb;   /* a pastset_verb */
    uint16_t status; /* 0, or minus a code of pastset/status.h */
} scopes_operation;

/* One step of one thread: the sums over a thread's steps are its totals. */
typedef struct scopes_step {
    uint32_t thread;
    uint32_t step;
    uint32_t operations;
    int64_t start_ns; /* of its first operation */
    int64_t end_ns;   /* of its last operation */
    int64_t communicating_ns;
    int64_t computing_ns;
} scopes_step;

/* One way from a thread to an element that has a collector at its top. */
typedef struct scopes_path {
    uint32_t thread;
    const char *name;    /* its `as`, else the element's name */
    const char *element; /* "" when the way does not end in one */
    uint64_t operations;
    uint64_t bytes;
    int64_t total_ns;
    int64_t longest_ns;
} scopes_path;

typedef struct scopes_thread {
    const char *name;
    uint32_t node; /* of the map */
    uint32_t host; /* of the map; PATHS_NONE when it stands in none */
    size_t operation, operations; /* its part of the table's operations */
    size_t step, steps;           /* its part of the table's steps */
    size_t longest;   /* index of its longest operation; 0 when it has none */
    int64_t start_ns; /* of its first operation */
    int64_t end_ns;   /* of its last to end */
    int64_t communicating_ns;
    int64_t computing_ns;
    uint64_t missing;   /* operations without a tuple, as their numbers tell */
    bool all_collected; /* each of its paths has a collector at its top */
    bool steps_known;
} scopes_thread;

typedef struct scopes_communication {
    const paths_map *map;
    scopes_thread *threads; /* by their numbers */
    uint32_t thread_count;
    scopes_path *paths; /* by thread, then in the order of the map */
    size_t path_count;
    scopes_operation *operations; /* by thread, then by start */
    size_t operation_count;
    scopes_step *steps; /* by thread, then by step */
    size_t step_count;
    uint32_t last_step; /* the highest of all threads */
    int64_t start_ns;   /* of the first operation of all */
    int64_t end_ns;     /* of the last operation of all */
    struct scopes__lookup *lookup;
    size_t room;
} scopes_communication;

/* Makes the view of a run. Events of hosts that died are shown as far as they
 * are there. Errors: PASTSET_EMAP, PASTSET_ENOMEM, those of run.h. */
int scopes_communication_read(scopes_communication **out, eventspace_run *run);

/* The same in parts: create, add each tuple in any order, finish once. The
 * times are in nanoseconds from any one point for all hosts; an end before
 * its start counts as the start.
 * Errors: PASTSET_EMAP (threads without proper numbers), PASTSET_ENOMEM. */
int scopes_communication_create(scopes_communication **out,
                                const paths_map *map);
int scopes_communication_add(scopes_communication *view,
                             const eventspace_trace *event, int64_t start_ns,
                             int64_t end_ns);
int scopes_communication_finish(scopes_communication *view);

/* NULL is allowed. */
void scopes_communication_destroy(scopes_communication *view);

#endif
