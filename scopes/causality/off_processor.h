/* off_processor.h - when each thread began and ended, and when it was off the
 * processor, by aligned clocks.
 *
 * Read from what processes leave in their spaces (eventspace/collect/
 * scheduling.h), or from a mirror of that: while the run goes on, after it,
 * after a kill. Runs of before there was such a thing have nothing of it.
 *
 * Threads:   any, once it is made.
 * Ownership: read gives, destroy takes back. */
#ifndef SCOPES_OFF_PROCESSOR_H
#define SCOPES_OFF_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/run/run.h"
#include "scopes/causality/topology.h"
#include "scopes/clocks/clock.h"

/* From start to end a thread was off the processor for so long: runnable, or
 * sleeping. Where that is all of the time, it is exact when it was. */
typedef struct scopes_off {
    int64_t start_ns, end_ns;
    int64_t runnable_ns, sleeping_ns;
    uint32_t preemptions, sleeps; /* how many; both 0: not known */
    bool unknown;                 /* nothing is known of that time */
} scopes_off;

typedef struct scopes_thread_life {
    bool is_known; /* else nothing is, of what follows */
    bool has_begun, has_ended;
    int64_t begin_ns, end_ns;
    uint64_t operations;    /* begun, when it had ended */
    bool is_summed;         /* there are no `offs`, but how long it was off in
                               all: */
    scopes_off sum;         /* not known while `end_ns` is 0 */
    uint64_t yields;        /* in its operations, with the sum */
    const scopes_off *offs; /* by time; they do not overlap */
    size_t off_count;
} scopes_thread_life;

typedef struct scopes_scheduling {
    scopes_thread_life *threads; /* by number */
    uint32_t thread_count;
    scopes_off *offs;
} scopes_scheduling;

/* What is damaged is left out. Errors: PASTSET_ENOMEM. */
int scopes_scheduling_read(scopes_scheduling **out, eventspace_run *run,
                           const scopes_topology *topology,
                           const scopes_clocks *clocks);
/* NULL is allowed. */
void scopes_scheduling_destroy(scopes_scheduling *scheduling);

/* Reads on where it has read before, for who looks at a run that goes on again
 * and again. It is of one run, and goes before it. */
typedef struct scopes_scheduling_reader scopes_scheduling_reader;

/* What ended `back_ns` before what is asked for is not kept. Errors:
 * PASTSET_ENOMEM. */
int scopes_scheduling_reader_create(scopes_scheduling_reader **out,
                                    int64_t back_ns);
/* Of what ends at `from_ns` or later, which may be up to `back_ns` less than
 * before; when threads began and ended is told all the same. Errors: as above.
 */
int scopes_scheduling_read_on(scopes_scheduling **out,
                              scopes_scheduling_reader *reader,
                              eventspace_run *run,
                              const scopes_topology *topology,
                              const scopes_clocks *clocks, int64_t from_ns);
/* NULL is allowed. */
void scopes_scheduling_reader_destroy(scopes_scheduling_reader *reader);

typedef struct scopes_off_time {
    int64_t runnable_ns, sleeping_ns;
} scopes_off_time;

/* How long the thread was off the processor between two times, at least: all of
 * it where context switches were recorded; where there are samples, what must
 * have been then. `*at` remembers the place: 0 at first; then no `from_ns` may
 * be less than one before. */
scopes_off_time scopes_off_between(const scopes_thread_life *life, size_t *at,
                                   int64_t from_ns, int64_t to_ns);
/* The same where times come in any order. */
scopes_off_time scopes_off_within(const scopes_thread_life *life,
                                  int64_t from_ns, int64_t to_ns);

#endif
