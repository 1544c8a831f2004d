/* others.h - whether a measurement had its processors to itself.
 *
 * What the processors did, by the kernel's count, less what this process and
 * its children used: the rest is others'. They count by samples of some
 * milliseconds, so little can be told of a short time.
 *
 * The rule, for profiles, links and experiments: where others had more than
 * MEASURE_OTHERS_MOST of the processors' time, whoever asked is told, and a
 * profile keeps it, so that what is predicted from it says so too.
 *
 * Threads: one thread from begin to end. */
#ifndef MEASURE_OTHERS_H
#define MEASURE_OTHERS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define MEASURE_OTHERS_MOST 0.05

typedef struct measure_others {
    cpu_set_t processors;
    bool known;
    double start_s, used_s, own_s; /* at the beginning */
} measure_others;

/* Of the processors that the calling thread may use. */
void measure_others_begin(measure_others *others);

/* The share of their time since `begin` that others had: from 0 to 1. Children
 * count as ours once they have been waited for. 0 where it was less than 50 ms
 * or cannot be told. */
double measure_others_end(const measure_others *others);

#endif
