/* collective.c - all-reduce and barrier, beside the faster MPI.
 *
 * All threads go through the same number of rounds; thread 0 takes the time of
 * each batch, and a run gives the median of them. Ours and each setting of two
 * MPIs run in turns, as often as each other, and of each the best run counts:
 * what a run of two threads takes depends on what the machine has just been
 * doing. What is done within the time is the same: a number of its own is put
 * into each round, and the first of the sums is checked.
 *
 *   threads8       8 threads of one process; MPI's ranks in shared memory
 *   processes8x1   processes of one thread each, beside the same
 *   processes4x8   4 processes of 8 threads; MPI's ranks in 4 groups of 8, with
 *                  shared memory in each and TCP between them
 *   processes4x8.all_tcp   the same of ours; all of MPI's ranks on TCP */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "tests/bench/bench.h"
#include "tests/bench/many_processes.h"
#include "tests/bench/mpi.h"

#define BATCHES 41
#define DOUBLES 512
#define BATCH_FIRST 20
#define BATCH_NS 4e6 /* how long one is to take, about */
#define RUNS 4       /* of each */

typedef struct rounds {
    size_t bytes; /* 0: a barrier */
    int batch;    /* rounds of one */
    double *us;   /* of each batch, a round */
} rounds;

/* Thread t contributes t + word + round, as ranks of mpi_bench.c do. */
static int one_round(paths_path *path, const rounds *r, double number,
                     double count, int round, double *x, double *y)
{
    double added = round % 1000;
    int err;

    if (!r->bytes)
        return paths_barrier(path);
    x[0] = number + added;
    err = paths_exchange(path, x, r->bytes, y, r->bytes);
    if (!err && y[0] != count * (count - 1) / 2 + count * added)
        err = pastset_fail(PASTSET_EAPP, "a wrong sum");
    return err;
}

static int go_round(paths_thread *self, void *argument)
{
    const rounds *r = argument;
    double x[DOUBLES], y[DOUBLES];
    double number = paths_thread_number(self), n = paths_thread_count(self);
    paths_path *path;
    int err = paths_open(&path, self, "all");

    for (int i = 0; i < DOUBLES; i++)
        x[i] = y[i] = number + i;
    for (int b = -2; b < BATCHES && !err; b++) {
        double begin = bench_now_ns();
        for (int i = 0; i < r->batch && !err; i++)
            err = one_round(path, r, number, n, i, x, y);
        if (paths_thread_number(self) == 0 && b >= 0)
            r->us[b] = (bench_now_ns() - begin) / r->batch / 1000;
    }
    for (size_t i = 1; i < r->bytes / sizeof(x[0]) && !err; i++) {
        if (y[i] != n * (n - 1) / 2 + n * (double)i)
            return pastset_fail(PASTSET_EAPP, "a wrong sum");
    }
    return err;
}

/* One run; the first one of all tells how many rounds take how long. */
static double run(rounds *r, unsigned threads, unsigned processes)
{
    static const char *const elements[] = {"all", NULL};
    char type[32];
    paths_map *map;
    double median;

    snprintf(type, sizeof(type), "f64[%zu]", r->bytes / sizeof(double));
    map = many_processes_map(threads, processes, r->bytes ? "sum" : "barrier",
                             r->bytes ? type : "bytes[1]", elements);
    many_processes_run(map, go_round, r);
    paths_map_destroy(map);
    median = bench_median(r->us, BATCHES);
    if (r->batch == BATCH_FIRST)
        r->batch = (int)fmax(BATCH_FIRST + 1, BATCH_NS / 1000 / median);
    return median;
}

typedef struct beside {
    const char *suffix; /* of the figure's name */
    mpi_links links;
} beside;

typedef struct place {
    const char *name;
    unsigned threads, processes;
    beside beside[2]; /* a name NULL ends them */
} place;

static void compare(const char *operation, size_t bytes, const place *p)
{
    double us[BATCHES], best = INFINITY;
    rounds r = {.bytes = bytes, .batch = BATCH_FIRST, .us = us};
    mpi_times times[2] = {0};
    char whole[2][80], which[80];
    bool wanted = false;

    for (int i = 0; i < 2 && p->beside[i].suffix; i++) {
        snprintf(whole[i], sizeof(whole[i]), "%s.%s%s", operation, p->name,
                 p->beside[i].suffix);
        wanted |= bench_wants(whole[i]);
    }
    if (!wanted)
        return;
    run(&r, p->threads, p->processes);
    for (int i = 0; i < RUNS; i++) {
        best = fmin(best, run(&r, p->threads, p->processes));
        for (int k = 0; k < 2 && p->beside[k].suffix; k++)
            if (bench_wants(whole[k]))
                mpi_run(&times[k], operation, p->threads, p->processes,
                        p->beside[k].links);
    }
    for (int k = 0; k < 2 && p->beside[k].suffix; k++) {
        double limit =
            mpi_best_us(&times[k], p->beside[k].links, which, sizeof(which));
        if (bench_wants(whole[k]))
            bench_print_beside(whole[k], best, "us", limit, which);
    }
}

void bench_collective(void)
{
    static const struct {
        const char *name;
        size_t bytes;
    } operations[] = {{"allreduce8", 8}, {"allreduce4k", 4096}, {"barrier", 0}};
    static const place places[] = {
        {"threads2", 2, 1, {{"", MPI_SHARED}}},
        {"threads8", 8, 1, {{"", MPI_SHARED}}},
        {"threads32", 32, 1, {{"", MPI_SHARED}}},
        {"processes2x1", 2, 2, {{"", MPI_SHARED}}},
        {"processes8x1", 8, 8, {{"", MPI_SHARED}}},
        {"processes32x1", 32, 32, {{"", MPI_SHARED}}},
        {"processes4x2", 8, 4, {{"", MPI_GROUPED}, {".all_tcp", MPI_TCP}}},
        {"processes4x8", 32, 4, {{"", MPI_GROUPED}, {".all_tcp", MPI_TCP}}}};

    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        for (size_t k = 0; k < sizeof(places) / sizeof(places[0]); k++)
            compare(operations[i].name, operations[i].bytes, &places[k]);
    }
}
