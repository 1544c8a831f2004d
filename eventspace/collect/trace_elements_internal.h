/* trace_elements_internal.h - trace elements of a process, as its collectors
 * and the drain see them.
 *
 * A trace element has a stream for each executor that writes to it: an element
 * with one writer, made when its first tuple comes. So no collector waits for
 * another, and none needs an atomic read-modify-write. */
#ifndef EVENTSPACE_TRACE_ELEMENTS_INTERNAL_H
#define EVENTSPACE_TRACE_ELEMENTS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "eventspace/collect/trace.h"
#include "paths/map/map.h"
#include "paths/wrappers/wrapper.h"
#include "pastset/append.h"
#include "pastset/element.h"
#include "pastset/waiter.h"

/* One executor's part of a trace element. */
typedef struct trace_stream {
    pastset_appender *appender; /* NULL: not made yet, or (where the kernel has
                                   no membarrier) written with its lock */
    pastset_element *element;
    uint32_t number;    /* from 1; 0: it was not tried to make it yet */
    uint32_t pass_over; /* so many are refused without being tried, */
    int why;            /* for this */
    uint64_t lost;      /* before it could be made */
    uint64_t longest;   /* ticks of its longest event, + 1; 0: there is none */
} trace_stream;

typedef struct trace_element {
    struct trace_element *next;
    char *name;
    paths_process *process;
    pastset_policy policy;
    uint64_t capacity;
    bool prefault;
    uint32_t references; /* collectors; under the list's lock */
    _Atomic uint32_t streams_made;
    _Atomic uint64_t
        lost;        /* events for which no stream could be made so far, */
    _Atomic int why; /* and the status of the last try */
    trace_stream streams[]; /* by executor; written by that executor */
} trace_element;

/* --- helper.c --- */

/* Starts a thread of the runtime's own, which takes no signal: those of a
 * process are for the application. An errno value, or 0. */
int eventspace__helper_start(pthread_t *thread, void *(*run)(void *),
                             void *argument);

/* Such a thread that does something again and again; all 0 at first. */
typedef struct eventspace__ticker {
    pthread_t thread;
    pastset_waiter waiter;
    void (*tick)(void);
    const char *name; /* of the thread; up to 15 bytes */
    int64_t pause_ns;
    int64_t cost_ns; /* the processor time it took; once it was stopped */
    _Atomic bool is_over;
    bool is_started;
} eventspace__ticker;

/* An errno value, or 0. */
int eventspace__ticker_start(eventspace__ticker *ticker, const char *name,
                             int64_t pause_ns, void (*tick)(void));
/* One that was not started is left as it is. */
void eventspace__ticker_stop(eventspace__ticker *ticker);

/* --- trace_elements.c --- */

/* An archiver beside this process saves all trace tuples, as the launcher says:
 * trace elements are of policy block, and it is what they wait for. */
bool eventspace__is_archived(void);
/* And they wait for room on a full disk, too. */
bool eventspace__is_patient(void);

/* Finds or makes the trace element of that name on the stage's process. Errors:
 * PASTSET_ENOMEM, PASTSET_EMAP (no capacity). */
int eventspace__trace_ref(trace_element **out, paths_stage *stage,
                          const char *name);
/* The same for events that come from no collector. */
int eventspace__trace_of_process(trace_element **out, paths_process *process,
                                 const paths_map *map, const char *name);
void eventspace__trace_unref(trace_element *trace);
/* The first tuple of this executor, or the first for which there is room. */
int eventspace__stream_make(trace_element *trace, trace_stream *stream);

/* The name of the stream that was made as number `number`, from 1: that of the
 * trace element, then NAME~2, NAME~3 ... */
void eventspace__stream_name(char out[PASTSET_NAME_BYTES],
                             const trace_element *trace, uint32_t number);

/* Has the process collectors? */
bool eventspace__has_traces(const paths_process *process);
/* Calls `each` for every trace element of the process; under the list's
 * lock. */
void eventspace__traces_each(paths_process *process,
                             void (*each)(trace_element *trace, void *context),
                             void *context);

/* How many ids the collectors of a map have: the highest + 1. */
uint32_t eventspace__collector_ids(const paths_map *map);

/* --- trace_write.c --- */

/* Says how long the longest took before it can be seen: who reads a window
 * stops where nothing can reach back into it. */
static inline void eventspace__trace_measure(trace_stream *stream,
                                             const eventspace_trace *event)
{
    uint64_t ticks = event->end - event->start;

    if (__builtin_expect(ticks < stream->longest, 1))
        return;
    stream->longest = ticks < UINT64_MAX ? ticks + 1 : ticks;
    pastset_element_set_remark(stream->element, stream->longest);
}

/* The stream is full, is to be made, or somebody waits for its tuples. */
void eventspace__trace_write_slowly(trace_element *trace, trace_stream *stream,
                                    const eventspace_trace *event);
/* Writes an event to the stream of the executor that calls, as a collector does
 * that has a full stream or none yet. */
void eventspace__trace_write(trace_element *trace,
                             const eventspace_trace *event);
/* Counts one as refused for `why`. */
void eventspace__trace_refuse(trace_element *trace, int why);

/* --- drain.c --- */

/* A stream of policy block is full: wakes the drain. Any thread. */
void eventspace__drain_wake(void);

/* Starts and stops the thread that makes room in trace elements of policy
 * block, so that they can be small and nothing is lost: it moves tuples into
 * `file`, or removes those that an archiver has saved. */
int eventspace__drain_open(paths_process *process, const char *file);
void eventspace__drain_close(void);

#endif
