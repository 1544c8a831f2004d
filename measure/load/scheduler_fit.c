/* scheduler_fit.c - which scheduler model the scheduler of this machine
 * follows: see load.h.
 *
 * Twelve pairs of phases, alone and against one and two competitors. The
 * scheduler models differ where a phase is busy for no longer than the credit
 * of the idle one before it, which is why both go over two orders of magnitude;
 * phases that are shorter than a slice of the scheduler (a few ms) are repeated
 * until their mean tells. */
#include "measure/load/load.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

#include "measure/load/load_internal.h"
#include "pastset/status.h"

enum { BUSY = 4, IDLE = 3, LOADS = 2, CELLS = BUSY * IDLE };

/* Alone, phases may be so much longer than the processor time they take. */
#define SLOW_MAX 1.1

/* What no scheduler model explains, as a share of what a program loses. On a
 * quiet machine it is a tenth, most of it of the shortest phases. */
#define ERROR_MAX 0.5

typedef struct sample {
    const measure_scheduler_options *options;
    int processor;
    double done_s, all_s; /* expected */
    measure__phases alone[CELLS];
    predict_scheduler_sample samples[LOADS * CELLS];
    size_t count;
} sample;

static measure__phases cell(unsigned i)
{
    static const double busy_s[BUSY] = {0.002, 0.010, 0.050, 0.150};
    static const double idle_s[IDLE] = {0.002, 0.020, 0.100};
    return (measure__phases){.busy_s = busy_s[i / IDLE],
                             .idle_s = idle_s[i % IDLE]};
}

static double pair_of(unsigned i, unsigned load)
{
    measure__phases p = cell(i);
    return p.busy_s * (load + 1) + p.idle_s;
}

/* Each cell has a share of the time, or one pair where that takes longer. */
static unsigned rounds_of(unsigned i, unsigned load, double share_s)
{
    return (unsigned)fmax(1, share_s / pair_of(i, load));
}

static double time_of(double share_s)
{
    double sum = 0;
    for (unsigned load = 0; load <= LOADS; load++)
        for (unsigned i = 0; i < CELLS; i++)
            sum += rounds_of(i, load, share_s) * pair_of(i, load);
    return sum;
}

/* The share with which all of it takes about so long. */
static double share_for(double seconds_s)
{
    double low = 0.02, high = seconds_s;
    for (int i = 0; i < 30 && high > low; i++) {
        double middle = (low + high) / 2;
        if (time_of(middle) > seconds_s)
            high = middle;
        else
            low = middle;
    }
    return low;
}

static void progress(sample *p, double spent_s)
{
    p->done_s += spent_s;
    if (p->options->progress)
        p->options->progress(p->options->context,
                             fmin(1, p->done_s / p->all_s));
}

static int sample_alone(sample *p, double share_s)
{
    double slow = 0, weight = 0;
    int err = 0;
    for (unsigned i = 0; i < CELLS && !err; i++) {
        unsigned rounds = rounds_of(i, 0, share_s);
        p->alone[i] = cell(i);
        err = measure__phases_run(&p->alone[i], rounds);
        slow += p->alone[i].slow * p->alone[i].busy_s * rounds;
        weight += p->alone[i].busy_s * rounds;
        progress(p, rounds * pair_of(i, 0));
    }
    if (!err && slow / weight > SLOW_MAX)
        err = pastset_fail(
            PASTSET_EAGAIN,
            "processor %d is loaded already: work takes %.2f times as long as "
            "its processor time, so its law cannot be detected; try again when "
            "it is idle, or on another processor",
            p->processor, slow / weight);
    return err;
}

static int sample_with(sample *p, unsigned load, double share_s)
{
    measure_background_load *background_load;
    int err =
        measure_background_load_create(&background_load, p->processor, load);
    if (err)
        return err;
    for (unsigned i = 0; i < CELLS && !err; i++) {
        measure__phases with = cell(i);
        unsigned rounds = rounds_of(i, load, share_s);
        err = measure__phases_run(&with, rounds);
        p->samples[p->count++] =
            measure__phases_sample(&p->alone[i], &with, load);
        progress(p, rounds * pair_of(i, load));
    }
    measure_background_load_destroy(background_load);
    return err;
}

static int sample_run(sample *p, double seconds_s)
{
    double share_s = share_for(seconds_s);
    int slack = prctl(PR_GET_TIMERSLACK), err;
    prctl(PR_SET_TIMERSLACK, 1);
    p->all_s = time_of(share_s);
    err = sample_alone(p, share_s);
    for (unsigned load = 1; load <= LOADS && !err; load++)
        err = sample_with(p, load, share_s);
    prctl(PR_SET_TIMERSLACK, slack);
    return err;
}

static int samples_copy(predict_scheduler_sample **samples, size_t *count,
                        const sample *p)
{
    if (!samples)
        return 0;
    *samples = calloc(p->count, sizeof(**samples));
    if (!*samples)
        return pastset_no_memory("for samples");
    for (size_t i = 0; i < p->count; i++)
        (*samples)[i] = p->samples[i];
    *count = p->count;
    return 0;
}

static int fit(predict_scheduler *out, double *error, const sample *p)
{
    double off;
    int err = predict_scheduler_fit(out, &off, p->samples, p->count);
    if (err)
        return err;
    if (error)
        *error = off;
    if (off <= ERROR_MAX)
        return 0;
    return pastset_fail(
        PASTSET_EAGAIN,
        "no law explains what was measured on processor %d (the best is off by "
        "%.0f %%): other programs ran there; try again when it is idle",
        p->processor, off * 100);
}

/* Phases of one thread do not tell `eevdf` from `fair`; the kernel does. */
static bool has_eevdf(void)
{
    struct utsname name;
    int major = 0, minor = 0;

    return uname(&name) == 0 && strcmp(name.sysname, "Linux") == 0 &&
           sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
           (major > 6 || (major == 6 && minor >= 6));
}

int measure_scheduler(predict_scheduler *out, double *error,
                      predict_scheduler_sample **samples, size_t *count,
                      const measure_scheduler_options *options)
{
    static const measure_scheduler_options none = {.processor = -1};
    sample p = {.options = options ? options : &none};
    double seconds_s = p.options->seconds_s != 0 ? p.options->seconds_s : 6;
    cpu_set_t before;
    int err;
    if (samples)
        *samples = NULL;
    if (!(seconds_s > 0 && seconds_s <= 1000))
        return pastset_fail(
            PASTSET_EINVAL,
            "the duration must be above 0 and at most 1000 seconds");
    p.processor = p.options->processor >= 0 ? p.options->processor
                                            : measure__processor_first();
    err = measure__bind(0, p.processor, &before);
    if (err)
        return err;
    err = sample_run(&p, seconds_s);
    measure__unbind(0, &before);
    if (!err)
        err = fit(out, error, &p);
    if (!err && out->credit_s == 0 && has_eevdf())
        *out = PREDICT_SCHEDULER_EEVDF;
    return err ? err : samples_copy(samples, count, &p);
}
