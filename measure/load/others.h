/* others.h - whether a measurement had its processors to itself.
 *
 * What the processors did, by the kernel's count, less what this process and
 * its descendants used: the rest is others'. The kernel counts the one by
 * samples of some milliseconds, so little can be told of a short time.
 *
 * What descendants used is read from a counter that they inherit
 * (perf_event_open), whether or not anybody waits for them, or from what was
 * waited for (getrusage), whichever is more: neither has anything that is not
 * ours. Still taken for others' are
 *   - where the counter is not allowed (perf_event_paranoid 3, many
 *     containers): descendants for whom nobody has waited, as those of a
 *     program that ignores SIGCHLD, or that go on in the background;
 *   - processes that were started before, by anybody, or by somebody else for
 *     us (a service, a container), and what the kernel's threads do for us.
 * The counter costs some 60 ns at each switch of a descendant's threads.
 *
 * The rule, for profiles, links and experiments: where others had more than
 * MEASURE_OTHERS_MAX of the processors' time, whoever asked is told, and a
 * profile keeps it, so that what is predicted from it says so too.
 *
 * Threads: one thread from begin to end. */
#ifndef MEASURE_OTHERS_H
#define MEASURE_OTHERS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define MEASURE_OTHERS_MAX 0.05

typedef struct measure_others {
    cpu_set_t processors;
    bool known;
    int counter;                   /* of descendants; -1: not allowed */
    double start_s, used_s, own_s; /* at the beginning */
} measure_others;

/* Of the processors that the calling thread may use. To be ended, also after
 * an error. */
void measure_others_begin(measure_others *others);

/* The share of their time since `begin` that others had: from 0 to 1. 0 where
 * it was less than 50 ms or cannot be told. */
double measure_others_end(measure_others *others);

#endif
