/* run.h - reading a run directory: while it runs, after it, after a kill.
 *
 *   RUN/definitions        the instrumented map as it ran (define/definition.h)
 *   RUN/pathmap.dot        the same, for people and Graphviz
 *   RUN/<process>.space    the process's elements, trace elements among them
 *   RUN/<process>.meta     see meta.h
 *   RUN/<process>.drained  a second space, where there are trace elements whose
 *                          policy is `block`: tuples that were moved out of
 *                          them to make room (see drain.c), in elements of the
 *                          same names and with the same indexes
 *   RUN/<process>.side     a space; of a mirror what other processes have in
 *                          theirs beside trace tuples: definitions, and times
 *                          off the processor (collect/scheduling.h); beside an
 *                          archive the definitions, should the space go
 *   RUN/<process>.archive  what a scope has saved (scopes/archive/archive.h). A
 *                          process that has this and no space is a mirror: it
 *                          ran elsewhere, and its state is what its meta file
 *                          says
 *
 * Trace elements. A collector names its trace element by the attribute
 * `trace`. Each thread that passes operations through the collectors of a
 * trace element writes to a stream of its own, so that no writer ever waits for
 * another: the element `NAME` is the first stream, `NAME~2`, `NAME~3` ... are
 * those of further threads. They are created when the first tuple comes.
 * Here, a trace element is all of its streams, and a stream is what was drained
 * from it and what is still in it.
 *
 * Threads:   one thread per eventspace_run.
 * Ownership: open gives, close takes back with all that was borrowed. */
#ifndef EVENTSPACE_RUN_H
#define EVENTSPACE_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "eventspace/define/definition.h"
#include "eventspace/run/meta.h"
#include "eventspace/collect/trace.h"
#include "paths/map/map.h"
#include "pastset/element.h"

typedef struct eventspace_run eventspace_run;

typedef struct eventspace_run_process {
    const char *name;
    bool has_meta; /* else the process never came up, or its file is bad */
    bool has_space;
    char problem[512];    /* what is wrong with its files; "" when nothing.
                             The events of damaged streams are left out */
    eventspace_meta meta; /* `state` as found: RUNNING becomes KILLED when no
                             process of that number is there any more */
    pastset_space *space; /* NULL unless has_space */
    pastset_space *side;  /* where its definitions and the like are: the space,
                             or a mirror's file; NULL: there is none */
} eventspace_run_process;

/* Opens a run directory. Processes whose files are missing or damaged are still
 * listed, with their `problem`; only a missing or unreadable map is an error.
 * Errors: PASTSET_EIO, PASTSET_EMAP, PASTSET_ENOENT (no run directory). */
int eventspace_run_open(eventspace_run **out, const char *directory);

/* Looks again, while the run goes on: for processes that have come up or ended,
 * and for new streams (events and each look for those themselves). Times move
 * when a process that started earlier turns up.
 * Errors: PASTSET_ENOMEM; what is wrong with a process is its `problem`. */
int eventspace_run_refresh(eventspace_run *run);

/* Grows from 1 with each refresh that may have found files that have come, gone
 * or been replaced. While it stays, a file that was not there is not there. */
uint64_t eventspace_run_changes(const eventspace_run *run);
/* Takes in what processes have defined since, and nothing else: after tuples
 * were read, what all of these mean is known. Errors: PASTSET_ENOMEM. */
int eventspace_run_define(eventspace_run *run);
void eventspace_run_close(eventspace_run *run);

const char *eventspace_run_directory(const eventspace_run *run);
/* What is wrong with its definitions; "" when nothing. */
const char *eventspace_run_problem(const eventspace_run *run);
/* The map as it is now. Processes may add to it while they run: then refresh
 * and define make a new one, and one that was given before stays as long as
 * somebody refers to it (paths_map_ref). Processes have the same numbers in
 * all. */
const paths_map *eventspace_run_map(const eventspace_run *run);
/* The map as it was before anybody ran: what belongs into another directory of
 * the same run, where the definitions of processes go, too. */
const paths_map *eventspace_run_base(const eventspace_run *run);

/* In the order of the map's processes. */
size_t eventspace_run_process_count(const eventspace_run *run);
const eventspace_run_process *
eventspace_run_process_at(const eventspace_run *run, size_t position);

/* Of what a mirror has beside trace tuples. */
#define EVENTSPACE_SIDE_SUFFIX ".side"

/* The node of the map as it is now that is the collector with number `id`;
 * PATHS_NONE: there is none. */
uint32_t eventspace_run_collector(const eventspace_run *run, uint32_t id);

/* How many ids trace tuples can have (highest + 1): those of the map's
 * collectors, then those that processes have defined so far. */
uint32_t eventspace_run_ids(const eventspace_run *run);

/* What an id beyond those of the map's collectors means, of which process; NULL
 * when nobody has defined it. Valid until the next refresh, and its name until
 * the run is closed. */
typedef struct eventspace_run_definition {
    uint32_t kind, id; /* as in eventspace_definition */
    size_t process;
    char *name;
    char *file; /* of the source, where it begins at `line`; NULL */
    uint32_t line;
} eventspace_run_definition;
const eventspace_run_definition *
eventspace_run_definition_of(const eventspace_run *run, uint32_t id);

/* What the messages of a process go by (EVENTSPACE_DEFINES_OPERATION and the
 * like): how many it has defined, and the n-th, with ascending ids; and the one
 * with an id, NULL when there is none. Valid until the next refresh, texts
 * until the run is closed. */
size_t eventspace_run_own_count(const eventspace_run *run, size_t process);
const eventspace_definition *eventspace_run_own_at(const eventspace_run *run,
                                                   size_t process, size_t n);
const eventspace_definition *eventspace_run_own_of(const eventspace_run *run,
                                                   size_t process, uint32_t id);

/* A process that has come up and of whose files not all can be read: what was
 * in them is in no count, and how much that is is not known. Then how many such
 * processes there are. */
bool eventspace_run_is_damaged(const eventspace_run_process *process);
size_t eventspace_run_damaged(const eventspace_run *run);

/* True for elements of a process's space that are streams of a trace
 * element. */
bool eventspace_run_is_trace(const eventspace_run *run,
                             pastset_element *element);

/* Events of one process, or (process == SIZE_MAX) of all. */
typedef struct eventspace_events {
    uint64_t recorded; /* trace tuples that collectors wrote */
    uint64_t present;  /* that can be read */
    uint64_t lost;    /* discarded as the oldest, refused, or removed by a drain
                         that failed; recorded - present */
    uint64_t spilled; /* moved to RUN/<process>.drained, of `present` */
    uint64_t starved; /* refused for want of disk, of `lost` */
    uint64_t unmade;  /* for which no stream could be made, of `lost` */
    uint64_t bytes;   /* 36 times present */
    uint64_t blocked_ns; /* for which collectors have waited for room, in all
                            threads together */
} eventspace_events;

/* Errors: PASTSET_EINVAL (no such process). */
int eventspace_run_events(eventspace_run *run, size_t process,
                          eventspace_events *out);

/* Calls `each` for every trace tuple of a process, stream by stream, in the
 * order in which they were written; those that come while it walks are left for
 * the next time. A non-zero answer ends the walk and is returned.
 * Errors: PASTSET_EINVAL (no such process). */
typedef int eventspace_each(const eventspace_trace *event, void *context);
int eventspace_run_each(eventspace_run *run, size_t process,
                        eventspace_each *each, void *context);

/* --- stream by stream, many tuples at a time --- */

/* What is in a stream and what was drained from it; either may be NULL, not
 * both. Borrowed from the run, and may be copied and kept as long as that. */
typedef struct eventspace_stream {
    eventspace_run *run;
    size_t process;
    const char *name;
    pastset_element *present, *drained;
} eventspace_stream;

/* Looks for new streams and calls `each` for all of a process's, in the order
 * in which they were made. A non-zero answer ends it and is returned.
 * Errors: PASTSET_EINVAL (no such process). */
typedef int eventspace_stream_each(const eventspace_stream *stream,
                                   void *context);
int eventspace_run_streams_each(eventspace_run *run, size_t process,
                                eventspace_stream_each *each, void *context);

/* Reads tuples of a stream into `out`, which has room for `max`: the first that
 * can be read at or after `*index`, and those that follow it without a gap.
 * `*index` becomes the index of the first. Never waits, and makes no system
 * call unless the stream is drained or its file damaged.
 * Errors: PASTSET_EAGAIN (none there), PASTSET_EFORMAT (a part of the file is
 * damaged: `*index` stands behind it; call again for the rest). `*count` is 0
 * then. */
int eventspace_stream_read(eventspace_stream *stream, uint64_t *index,
                           eventspace_trace *out, size_t max, size_t *count);

/* The same tuples where they are in the process's space, at most `max` of them
 * and without a gap from `index` on, if nobody overwrites them any more: the
 * process says that it has ended, or the stream never does. NULL: they are to
 * be read. Valid until the run is closed or refreshed. `is_there`, asked
 * afterwards: nobody has overwritten what was borrowed from `index` on. */
const eventspace_trace *
eventspace_stream_borrow(const eventspace_stream *stream, uint64_t index,
                         uint64_t max, uint64_t *count);
bool eventspace_stream_is_there(const eventspace_stream *stream,
                                uint64_t index);

/* Of a stream, at one moment. Tuples can be read below `drained`, and from
 * `first` on. */
typedef struct eventspace_stream_counts {
    uint64_t written; /* and the index of the next */
    uint64_t refused; /* recorded, but at the limit or for want of disk: these
                         have no index */
    uint64_t starved; /* of these, for want of disk */
    uint64_t blocked_ns; /* for which the collector waited for room */
    uint64_t drained;    /* tuples, from the stream's first on */
    uint64_t first;      /* the lowest that is in the stream itself */
    uint64_t present;    /* that can be read, from either */
} eventspace_stream_counts;

void eventspace_stream_count(const eventspace_stream *stream,
                             eventspace_stream_counts *out);

/* The most ticks that a tuple of the stream has taken; UINT64_MAX: whoever
 * wrote it has not said so. To be asked after it was counted. */
uint64_t eventspace_stream_longest(const eventspace_stream *stream);

/* Adds to what is wrong with a process's files (`problem`), each thing once;
 * for those who find it out when they read. */
void eventspace_run_note(eventspace_run *run, size_t process,
                         const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Nanoseconds from the earliest start of a process to `ticks` of this process.
 * The wall clocks of the processes are taken to be one and the same, as they
 * are on one machine. 0 for a process without meta. */
int64_t eventspace_run_time_ns(const eventspace_run *run, size_t process,
                               uint64_t ticks);

/* The ticks of a process now, or, if it runs no more, when it ended. If nobody
 * was left to write that down, the last sign of life of its executors: its
 * network loop gives one twice a second. 0 for a process without meta. */
uint64_t eventspace_run_end_ticks(const eventspace_run *run, size_t process);

/* Makes the files of a process as small as what is in them
 * (pastset_space_settle), unless it is not known to have ended: then they stay
 * as they are, and so do damaged ones. Errors: as of that; PASTSET_EAGAIN: it
 * cannot be seen, and still writes. */
int eventspace_run_settle(const char *directory, const char *process);

/* The name of a process's file: directory/process + suffix (".space").
 * Errors: PASTSET_EINVAL when the process's name cannot be that of a file, or
 * the whole has no room. */
int eventspace_run_file(char *out, size_t capacity, const char *directory,
                        const char *process, const char *suffix);

#endif
