/* scheduling_internal.h - the recorder of scheduling.h, and its two ways to
 * know: context switches, and samples. */
#ifndef EVENTSPACE_SCHEDULING_INTERNAL_H
#define EVENTSPACE_SCHEDULING_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "eventspace/collect/scheduling.h"
#include "paths/engine/process.h"

/* A moment by the kernel's clock (CLOCK_MONOTONIC) and by the counter. */
typedef struct scheduling_moment {
    int64_t ns;
    uint64_t ticks;
} scheduling_moment;

/* What the kernel said of a thread then. */
typedef struct scheduling_reading {
    scheduling_moment at;
    int64_t processor_ns, runnable_ns; /* -1: nothing */
    bool runs;                         /* it was on the processor */
} scheduling_reading;

/* What is found out of one thread goes there. */
typedef struct scheduled_thread {
    struct scheduled_thread *next;
    uint32_t number;
    pid_t tid;
    pthread_t id;
    bool (*put)(const eventspace_scheduling *tuple); /* false: it is refused */
    uint64_t refused; /* the start of the first one since then; 0: none was */
    /* Context switches. */
    unsigned char *ring;         /* NULL: samples */
    scheduling_moment off_since; /* it is off the processor; 0 ns: it is not */
    bool preempted;              /* and would run, if it could */
    uint64_t seen;               /* when the last record was made */
    eventspace_scheduling brief; /* short ones, put together; of kind BEGAN:
                                    there are none */
    scheduling_reading sampled;
} scheduled_thread;

/* Hands on what was found out of the thread. While that is refused nothing is
 * known of it. */
static inline void eventspace__scheduling_put(eventspace_scheduling *tuple,
                                              scheduled_thread *thread)
{
    eventspace_scheduling gap = {.start = thread->refused,
                                 .end = tuple->start,
                                 .thread = thread->number,
                                 .kind = EVENTSPACE_THREAD_UNKNOWN};

    tuple->thread = thread->number;
    if (thread->refused && gap.end > gap.start && !thread->put(&gap))
        return;
    thread->refused = thread->put(tuple) ? 0 : tuple->start;
}

/* --- scheduling_switches.c --- */

/* The first event of this kind on a machine takes the kernel some 10 ms, since
 * it waits for all processors. So there is one before the threads begin, until
 * they have ended. */
void eventspace__switches_begin(void);
void eventspace__switches_end(void);

/* Has the kernel note the context switches of the calling thread. False: it
 * does not. */
bool eventspace__switches_open(scheduled_thread *thread);
/* Takes what it has noted since. `last` and `now` are the moments between which
 * ticks are worked out. Any thread, one at a time. */
void eventspace__switches_take(scheduled_thread *thread, scheduling_moment last,
                               scheduling_moment now);
void eventspace__switches_close(scheduled_thread *thread);

/* --- scheduling_samples.c --- */

/* Both clocks at one moment. */
scheduling_moment eventspace__scheduling_now(void);

/* Of the calling thread, now. */
scheduling_reading eventspace__reading_now(void);
/* What was between two of a thread, of kind OFF, or UNKNOWN where the kernel
 * does not tell. False: no time that can be told. */
bool eventspace__reading_between(eventspace_scheduling *out,
                                 const scheduling_reading *from,
                                 const scheduling_reading *to);

void eventspace__samples_open(scheduled_thread *thread);
void eventspace__samples_take(scheduled_thread *thread);
/* What a reading tells, of a thread that did not wait for a processor then. */
void eventspace__samples_add(scheduled_thread *thread,
                             const scheduling_reading *now);

/* --- scheduling.c --- */

/* Before the process runs: from now on its threads are watched. A process
 * without collectors is not. What fails is left out: a run goes on without.
 * One process at a time. */
void eventspace__scheduling_open(paths_process *process);
void eventspace__scheduling_close(void);

/* The processor time that the recorder has taken; after it was closed. */
int64_t eventspace__scheduling_cost_ns(void);

/* For paths_process_options. */
void eventspace__scheduling_begins(uint32_t thread);
void eventspace__scheduling_ends(uint32_t thread, uint32_t operations);

#endif
