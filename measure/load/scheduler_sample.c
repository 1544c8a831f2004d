/* scheduler_sample.c - phases of known lengths, and how long they take.
 *
 * Busy is counted by the thread's own processor time, idle by the clock: so a
 * pair of phases takes busy + idle alone, and longer by what the scheduler
 * makes of competitors. A pair begins with the idle phase, as a credit is
 * earned before it is spent.
 *
 * Sleeping is until a moment and not for a while, with the least timer slack,
 * so that being woken up late is part of what is measured and does not move the
 * rest. A processor that is idle takes some time to wake up as well; what is
 * measured alone contains it, and only the difference is used. */
#include "measure/load/load_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "pastset/status.h"

static void sleep_until(double moment)
{
    struct timespec t;
    t.tv_sec = (time_t)moment;
    t.tv_nsec = (long)((moment - floor(moment)) * 1e9);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

static void be_busy(double seconds)
{
    double until = measure__cpu_seconds() + seconds;
    while (measure__cpu_seconds() < until) {
    }
}

static int smaller(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int measure__phases_run(measure__phases *p, unsigned rounds)
{
    double *pairs = calloc(rounds ? rounds : 1, sizeof(*pairs));
    double busy_s = 0, cpu_s = 0, now;
    if (!pairs || !rounds) {
        free(pairs);
        return pastset_no_memory("for phases");
    }
    /* Not at the end of a slice that somebody else has paid for. */
    be_busy(0.0005);
    now = measure__seconds();
    for (unsigned i = 0; i < rounds; i++) {
        double start = now, middle, cpu;
        sleep_until(start + p->idle_s);
        middle = measure__seconds();
        cpu = measure__cpu_seconds();
        be_busy(p->busy_s);
        cpu_s += measure__cpu_seconds() - cpu;
        now = measure__seconds();
        busy_s += now - middle;
        pairs[i] = now - start;
    }
    p->pair_s = 0;
    for (unsigned i = 0; i < rounds; i++)
        p->pair_s += pairs[i] / rounds;
    qsort(pairs, rounds, sizeof(*pairs), smaller);
    p->middle_s = (pairs[(rounds - 1) / 2] + pairs[rounds / 2]) / 2;
    p->slow = busy_s / cpu_s;
    free(pairs);
    return 0;
}

/* Alone the median: what is longer is an interruption. With others the mean:
 * some phases are through in one slice, and others wait for a whole one. */
predict_scheduler_sample measure__phases_sample(const measure__phases *alone,
                                                const measure__phases *with,
                                                double load)
{
    return (predict_scheduler_sample){.busy_s = alone->busy_s,
                                      .idle_s = alone->idle_s,
                                      .load = load,
                                      .extra_s =
                                          with->pair_s - alone->middle_s};
}
