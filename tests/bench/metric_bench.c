/* metric_bench.c - what an addition to a metric takes, and one to a variable in
 * the same loop: nanoseconds, the median of turns. Started by metric.c. */
#include <stdio.h>

#include "eventspace/eventspace.h"
#include "eventspace/metric.h"
#include "tests/bench/bench.h"

#define ADDITIONS 1000000
#define TURNS 101

static double bare_ns(uint64_t *total)
{
    double start = bench_now_ns();

    for (uint64_t i = 0; i < ADDITIONS; i++) {
        *total += i;
        atomic_signal_fence(memory_order_seq_cst); /* each in memory */
    }
    return (bench_now_ns() - start) / ADDITIONS;
}

static double metric_ns(eventspace_metric *metric)
{
    double start = bench_now_ns();

    for (uint64_t i = 0; i < ADDITIONS; i++) {
        eventspace_metric_add(metric, i);
        atomic_signal_fence(memory_order_seq_cst);
    }
    return (bench_now_ns() - start) / ADDITIONS;
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
    printf("took %.4f %.4f\n", bench_median(metrics, TURNS),
           bench_median(bare, TURNS));
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
