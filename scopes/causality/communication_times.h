/* communication_times.h - the view "communication": when each thread
 * communicated, and when it computed.
 *
 * Paper 004, section 5.1, figures 4 and 5. The view is a function from a path
 * map, trace tuples and clocks to a table; nothing here knows how it is shown.
 *
 * Only the collectors on edges that leave a thread count: they see the whole
 * of an operation, as its thread saw it. Tuples of other collectors are passed
 * over. A map instrumented with `none` gives a table without operations, and
 * an operation that had not come up when its process died has left no tuple.
 *
 * Communicating  the time in which at least one operation of the thread was
 *                under way (operations that were started together overlap).
 * Computing      the gaps between, from the thread's begin to its end. Where
 *                the run does not tell these, or operations next to them are
 *                missing, from its first operation to its last. It may have
 *                been off the processor then: runnable or sleeping, as far as
 *                that was recorded (off_processor.h).
 * Step           counted from 1: an operation of a thread belongs to the step
 *                after that of the last one on the same path, or to that of
 *                the thread's operation before it, if that is later. In a
 *                bulk-synchronous program, which uses each path once in each
 *                step, that is the step of the program; what it uses at the
 *                end only belongs to the last one. A gap belongs to the step
 *                of the operation before it.
 *
 * Where tuples of a thread are missing, because they are lost or not of the
 * window that was asked for, steps are told from the operations' numbers, when
 * the thread is seen to use its paths in turn: it is taken to have done so
 * from its start. Otherwise they are counted from the first operation that is
 * there, and `steps_known` is false.
 *
 * Threads:   one thread per view.
 * Ownership: make and read give the view to you, destroy takes it back. Its
 *            names are borrowed from the map, which must stay in place; the
 *            event table, ways and clocks need not. */
#ifndef SCOPES_COMMUNICATION_TIMES_H
#define SCOPES_COMMUNICATION_TIMES_H

#include "eventspace/run/run.h"
#include "paths/map/map.h"
#include "scopes/clocks/clock.h"
#include "scopes/reading/snapshot.h"
#include "scopes/reading/event_table.h"
#include "scopes/causality/off_processor.h"
#include "scopes/causality/topology.h"

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
    uint32_t edge;       /* of the map, which leaves the thread */
    const char *name;    /* its `as`, else the element's name */
    const char *element; /* "" when the way does not end in one */
    uint64_t operations;
    uint64_t bytes;
    int64_t total_ns;
    int64_t longest_ns;
} scopes_path;

typedef struct scopes_thread {
    const char *name;
    uint32_t node;    /* of the map */
    uint32_t process; /* of the map; PATHS_NONE when it stands in none */
    size_t operation, operations; /* its part of the table's operations */
    size_t step, steps;           /* its part of the table's steps */
    size_t longest; /* index of its longest operation; 0 when it has none */
    scopes_operation longest_operation; /* the same; zero when it has none */
    int64_t start_ns; /* its begin, if known, else of its first operation */
    int64_t end_ns;   /* its end, if known, else of its last to end */
    int64_t communicating_ns;
    int64_t computing_ns;
    int64_t runnable_ns, sleeping_ns; /* of computing, at least; 0 where it is
                                         not known */
    bool scheduling_known;
    uint64_t lost;      /* operations without a tuple, as their numbers tell;
                           in a window only those between its first and last */
    bool all_collected; /* each of its paths has a collector at its top */
    bool steps_known;
} scopes_thread;

typedef struct scopes_communication {
    bool kept; /* for others: see scopes_views_make */
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
    int64_t start_ns;   /* the first of the threads' */
    int64_t end_ns;     /* the last of the threads' */
} scopes_communication;

/* Of the time in which its threads computed, they were runnable for more than
 * this share: others had the processors, and the run was disturbed. */
#define SCOPES_DISTURBED 0.1

/* That share, of the threads of which it is known, all together; 0 if it is
 * known of none. */
double scopes_communication_runnable_share(const scopes_communication *view);

/* How much of the view is made. Threads and paths are always; operations and
 * steps take memory. */
typedef enum scopes_detail {
    SCOPES_THREADS,    /* no operations and no steps: these are not to be looked
                          at then, nor are indexes into them */
    SCOPES_STEPS,      /* no operations */
    SCOPES_OPERATIONS, /* all */
} scopes_detail;

/* Makes the view of the tuples of an event table. Those of other times or
 * collectors than the event table was loaded with are not counted as lost.
 * An end before its start counts as the start. `scheduling` may be NULL: it is
 * not known. Errors: PASTSET_ENOMEM. */
int scopes_communication_create(scopes_communication **out,
                                const scopes_topology *topology,
                                const scopes_event_table *event_table,
                                const scopes_clocks *clocks,
                                const scopes_scheduling *scheduling,
                                scopes_detail detail);

/* Makes the view, in all detail, of a look at a whole run; `tops_only` will do.
 * Events of processes that died are shown as far as they are there.
 * Errors: PASTSET_ENOMEM. */
int scopes_communication_read(scopes_communication **out,
                              const scopes_snapshot *snapshot);

/* NULL is allowed. */
void scopes_communication_destroy(scopes_communication *view);

#endif
