/* lttng_bench.c - what LTTng's user space tracer adds to an operation, in the
 * loop of collector.c: prints nanoseconds for an event at the beginning alone,
 * and for one at the beginning and one at the end.
 *
 *     lttng_bench EVENTS
 *
 * records so many tuples instead, with what is in those of hand_run.c. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define OPERATIONS 200000
#define TURNS 41
#define THREADS 32
#define PERIOD_NS 10000

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Where the operation writes, so that the compiler cannot leave it out. */
static volatile uint64_t element;

static double turn(int events)
{
    double begin = now_ns();

    for (uint64_t i = 0; i < OPERATIONS; i++) {
        if (events > 0)
            lttng_ust_tracepoint(eventspace_bench, begin, 7, 3, i);
        element = i;
        if (events > 1)
            lttng_ust_tracepoint(eventspace_bench, end, 7, 3, i);
    }
    return (now_ns() - begin) / OPERATIONS;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void record(uint64_t events)
{
    for (uint64_t i = 0; i < events; i++) {
        uint32_t thread = (uint32_t)(i % THREADS);
        uint64_t k = i / THREADS;
        uint64_t start = k * PERIOD_NS + (thread * 7919 + k * 104729) % 3000;
        lttng_ust_tracepoint(eventspace_bench, tuple, start,
                             start + 500 + (k * 31) % 5000, thread, thread,
                             (uint32_t)k + 1, 8, 1, 0);
    }
}

int main(int argc, char **argv)
{
    double one[TURNS], two[TURNS];

    if (argc > 1) {
        record(strtoull(argv[1], NULL, 10));
        return 0;
    }
    turn(1);
    turn(2);
    for (int i = 0; i < TURNS; i++) {
        double without = turn(0);
        one[i] = turn(1) - without;
        two[i] = turn(2) - without;
    }
    qsort(one, TURNS, sizeof(*one), compare);
    qsort(two, TURNS, sizeof(*two), compare);
    printf("%.1f %.1f\n", one[TURNS / 2], two[TURNS / 2]);
    return 0;
}
