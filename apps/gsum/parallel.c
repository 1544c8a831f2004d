/* parallel.c - a thread of a run.
 *
 * Its one path is `total`. In each round a contributor computes for a while,
 * exchanges its doubles for the sums, and compares these with
 *
 *     (1 + 2 + ... + n) * weight(round, k) = n (n + 1) / 2 * weight(round, k)
 *
 * A spectator reads the sums of the last round, once, without taking part.
 * Thread 0 looks at the clock. */
#include <inttypes.h>
#include <stdlib.h>

#include "apps/gsum/gsum.h"
#include "pastset/status.h"

typedef struct worker {
    const program_options *options;
    uint32_t contributors, number, rounds;
    uint64_t doubles;
    paths_path *total;
    double *tuple;
    uint64_t compute_steps;
    uint64_t checksum;
} worker;

/* What thread 0 measures of each round, in nanoseconds. */
typedef struct times {
    uint64_t *round, *sum, *compute;
} times;

/* --- a round --- */

static void contribution_make(const worker *w, uint32_t round)
{
    double factor = w->number + 1;

    for (uint64_t k = 0; k < w->doubles; k++)
        w->tuple[k] = factor * (double)gsum_weight(w->options->seed, round, k);
}

static int sums_check(worker *w, uint32_t round)
{
    uint64_t n = w->contributors;

    for (uint64_t k = 0; k < w->doubles; k++) {
        uint64_t weight = gsum_weight(w->options->seed, round, k);
        double expected = (double)(n * (n + 1) / 2 * weight);
        if (w->tuple[k] != expected)
            return pastset_fail(
                PASTSET_EAPP,
                "%s: round %" PRIu32 ": sum %" PRIu64 " is %.17g, not %.17g",
                paths_describe(w->total), round, k, w->tuple[k], expected);
        w->checksum =
            gsum_checksum(w->checksum, round * w->doubles + k, w->tuple[k]);
    }
    return 0;
}

static int round_run(worker *w, uint32_t round, const times *t)
{
    size_t bytes = w->doubles * sizeof(double);
    uint64_t begin = program_now_ns(), computed, summed;
    int err;

    compute(w->compute_steps);
    computed = program_now_ns();
    contribution_make(w, round);
    summed = program_now_ns();
    err = paths_exchange(w->total, w->tuple, bytes, w->tuple, bytes);
    if (t->sum) {
        t->compute[round] = computed - begin;
        t->sum[round] = program_now_ns() - summed;
    }
    if (!err)
        err = sums_check(w, round);
    if (t->round)
        t->round[round] = program_now_ns() - begin;
    return err;
}

static int rounds_run(worker *w, const times *t)
{
    for (uint32_t i = 0; i < w->rounds; i++) {
        int err = round_run(w, i, t);
        if (err)
            return err;
    }
    return 0;
}

/* --- the times of thread 0 --- */

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static double mean_us(const uint64_t *ns, uint32_t count)
{
    double sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += (double)ns[i];
    return sum / count * 1e-3;
}

/* Sorts them. */
static double median_us(uint64_t *ns, uint32_t count)
{
    qsort(ns, count, sizeof(*ns), compare);
    return ((double)ns[(count - 1) / 2] + ns[count / 2]) / 2 * 1e-3;
}

static void times_report(const times *t, uint32_t rounds, program_result *r)
{
    program_value(r, "round_us_median", median_us(t->round, rounds));
    program_value(r, "round_us_mean", mean_us(t->round, rounds));
    program_value(r, "sum_us_median", median_us(t->sum, rounds));
    program_value(r, "sum_us_mean", mean_us(t->sum, rounds));
    program_value(r, "compute_us_median", median_us(t->compute, rounds));
}

static int contribute_and_measure(worker *w, program_result *r)
{
    uint64_t *all = malloc(3 * (size_t)w->rounds * sizeof(*all));
    times t = {all, all + w->rounds, all + 2 * (size_t)w->rounds};
    int err;

    if (!all)
        return pastset_no_memory("for the times");
    err = rounds_run(w, &t);
    if (!err) {
        gsum_report(w->options, w->checksum, r);
        times_report(&t, w->rounds, r);
    }
    free(all);
    return err;
}

/* --- a thread --- */

static int contribute(worker *w, program_result *r)
{
    const gsum_options *own = w->options->own;
    const times none = {NULL, NULL, NULL};

    w->compute_steps = own->compute_ns ? compute_steps(own->compute_ns) : 0;
    return r ? contribute_and_measure(w, r) : rounds_run(w, &none);
}

static int look_on(worker *w)
{
    int err = paths_read(w->total, w->rounds - 1, w->tuple,
                         w->doubles * sizeof(double));

    return err ? err : sums_check(w, w->rounds - 1);
}

static int total_open(worker *w, paths_thread *self)
{
    size_t bytes = w->doubles * sizeof(double);
    int err = paths_open(&w->total, self, "total");

    if (!err && paths_type(w->total)->max_bytes != bytes)
        return pastset_fail(
            PASTSET_ETYPE,
            "%s: its tuples have %" PRIu32 " bytes, but %" PRIu64
            " doubles take %zu: make the map again with `gsum mapping "
            "--doubles=%" PRIu64 "`",
            paths_describe(w->total), paths_type(w->total)->max_bytes,
            w->doubles, bytes, w->doubles);
    return err;
}

int gsum_thread(paths_thread *self, void *argument)
{
    const program_run *run = argument;
    const gsum_options *own = run->options->own;
    worker w = {
        .options = run->options,
        .number = paths_thread_number(self),
        .rounds = gsum_rounds(run->options),
        .doubles = own->doubles,
    };
    int err = gsum_contributors(&w.contributors, run->options);

    if (!err)
        err = total_open(&w, self);
    if (err)
        return err;
    w.tuple = malloc(w.doubles * sizeof(double));
    if (!w.tuple)
        return pastset_no_memory("for the doubles");
    err = w.number < w.contributors ? contribute(&w, run->result) : look_on(&w);
    free(w.tuple);
    return err;
}
