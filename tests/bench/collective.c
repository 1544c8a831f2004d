/* collective.c - all-reduce and barrier, beside the faster MPI.
 *
 * All threads go through the same number of rounds; thread 0 takes the time of
 * each batch, and a run gives the median of them. Of MPI the best run is the
 * limit: two MPIs, each with the settings that may be best. Of ours the best
 * run is told too, two before and two after those: what a run of two threads
 * takes depends on what the machine has just been doing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "tests/bench/bench.h"
#include "tests/bench/many_hosts.h"
#include "tests/bench/mpi.h"

#define BATCHES 41
#define DOUBLES 512
#define BATCH_NS 4e6 /* how long one is to take, about */

typedef struct rounds {
    size_t bytes; /* 0: a barrier */
    int batch;    /* rounds of one */
    double *us;   /* of each batch, a round */
} rounds;

static int one_round(paths_path *path, const rounds *r, const double *x,
                     double *y)
{
    return r->bytes ? paths_exchange(path, x, r->bytes, y, r->bytes)
                    : paths_barrier(path);
}

static int go_round(paths_thread *self, void *argument)
{
    const rounds *r = argument;
    double x[DOUBLES], y[DOUBLES];
    paths_path *path;
    int err = paths_open(&path, self, "all");

    for (int i = 0; i < DOUBLES; i++)
        x[i] = y[i] = paths_thread_number(self) + i;
    for (int b = -2; b < BATCHES && !err; b++) {
        double begin = bench_now_ns();
        for (int i = 0; i < r->batch && !err; i++)
            err = one_round(path, r, x, y);
        if (paths_thread_number(self) == 0 && b >= 0)
            r->us[b] = (bench_now_ns() - begin) / r->batch / 1000;
    }
    for (size_t i = 0; i < r->bytes / sizeof(x[0]) && !err; i++) {
        double n = paths_thread_count(self);
        if (y[i] != n * (n - 1) / 2 + n * (double)i)
            return pastset_fail(PASTSET_EAPP, "a wrong sum");
    }
    return err;
}

/* The better of two runs, after one that tells how many rounds take how long.
 */
static double measure(size_t bytes, unsigned threads, unsigned hosts)
{
    static const char *const elements[] = {"all", NULL};
    double us[BATCHES], best = INFINITY;
    rounds r = {.bytes = bytes, .batch = 20, .us = us};
    char type[32];

    snprintf(type, sizeof(type), "f64[%zu]", bytes / sizeof(double));
    for (int i = 0; i < 3; i++) {
        paths_map *map =
            many_hosts_map(threads, hosts, bytes ? "sum" : "barrier",
                           bytes ? type : "bytes[1]", elements);
        double median;
        many_hosts_run(map, go_round, &r);
        paths_map_destroy(map);
        median = bench_median(us, BATCHES);
        if (i == 0)
            r.batch = (int)fmax(20, BATCH_NS / 1000 / median);
        else
            best = fmin(best, median);
    }
    return best;
}

static void compare(const char *operation, const char *name, size_t bytes,
                    unsigned threads, unsigned hosts)
{
    double limit, best;
    char whole[80], which[80] = "";

    snprintf(whole, sizeof(whole), "%s.%s", operation, name);
    if (!bench_wants(whole))
        return;
    best = measure(bytes, threads, hosts);
    limit = mpi_best_us(operation, threads, hosts > 1, which, sizeof(which));
    best = fmin(best, measure(bytes, threads, hosts));
    bench_print_beside(whole, best, "us", limit, which);
}

void bench_collective(void)
{
    static const struct {
        const char *name;
        size_t bytes;
    } operations[] = {{"allreduce8", 8}, {"allreduce4k", 4096}, {"barrier", 0}};
    static const struct {
        const char *name;
        unsigned threads, hosts;
    } places[] = {{"threads2", 2, 1},
                  {"threads8", 8, 1},
                  {"threads32", 32, 1},
                  {"hosts4x2", 8, 4},
                  {"hosts4x8", 32, 4}};

    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        for (size_t k = 0; k < sizeof(places) / sizeof(places[0]); k++)
            compare(operations[i].name, places[k].name, operations[i].bytes,
                    places[k].threads, places[k].hosts);
    }
}
