/* metric_bench.c - what an addition to a metric takes, and one to a variable in
 * the same loop: nanoseconds, the median of turns. Started by metric.c. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "eventspace/eventspace.h"
#include "eventspace/metric.h"

#define ADDITIONS 1000000
#define TURNS 101

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double values[TURNS])
{
    qsort(values, TURNS, sizeof(*values), ascending);
    return values[TURNS / 2];
}

static double bare_ns(uint64_t *total)
{
    double start = now_ns();

    for (uint64_t i = 0; i < ADDITIONS; i++) {
        *total += i;
        atomic_signal_fence(memory_order_seq_cst); /* each in memory */
    }
    return (now_ns() - start) / ADDITIONS;
}

static double metric_ns(eventspace_metric *metric)
{
    double start = now_ns();

    for (uint64_t i = 0; i < ADDITIONS; i++) {
        eventspace_metric_add(metric, i);
        atomic_signal_fence(memory_order_seq_cst);
    }
    return (now_ns() - start) / ADDITIONS;
}

static int worker(paths_thread *self, void *argument)
{
    static double bare[TURNS], metrics[TURNS];
    static uint64_t total;
    eventspace_metric *metric;
    int err = eventspace_metric_open(&metric, self, "numbers");

    (void)argument;
    if (err)
        return err;
    for (int i = 0; i < TURNS; i++) {
        bare[i] = bare_ns(&total);
        metrics[i] = metric_ns(metric);
    }
    if (metric->total != total)
        return 1;
    printf("took %.4f %.4f\n", median(metrics), median(bare));
    fflush(stdout);
    return 0;
}

int main(void)
{
    eventspace *es;
    int err = eventspace_start(&es);

    if (!err)
        err = eventspace_program(es, "*", worker, NULL);
    return eventspace_finish(es, err);
}
