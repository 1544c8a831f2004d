/* shifted.c - a program whose processes are alike, or one of which differs in
 * one thing, for `./bootstrap validate shifts`.
 *
 *     shifted ROUNDS [THREAD METRIC FACTOR]
 *
 * In each round each thread computes, writes messages into an element of its
 * own that nobody reads, adds to the metric "cells", and takes part in a sum.
 * How much of each differs by chance from round to round, by a twentieth.
 * Thread THREAD has FACTOR times as much of METRIC: `work`, `messages`, `bytes`
 * (of each message) or `cells`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/eventspace.h"
#include "eventspace/metric.h"
#include "paths/paths.h"

enum { WORK, MESSAGES, BYTES, CELLS, METRICS };

static const char *const names[METRICS] = {"work", "messages", "bytes",
                                           "cells"};
static const double usual[METRICS] = {200000, 20, 500, 1000};

#define BYTES_MAX 1000
#define NOBODY UINT32_MAX

typedef struct plan {
    unsigned long rounds;
    uint32_t thread; /* NOBODY: nothing is shifted */
    int metric;
    double factor;
} plan;

typedef struct worker {
    double amount[METRICS], left[METRICS];
    uint64_t state;
} worker;

/* A compiler cannot know where this begins. */
static double compute(unsigned long work)
{
    static volatile double start = 0.5;
    double x = start;

    for (unsigned long i = 0; i < work; i++)
        x = x * 0.999 + 0.001;
    return x;
}

/* From -1 to 1. */
static double by_chance(worker *w)
{
    w->state = w->state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (double)(int32_t)(w->state >> 32) / 2147483648.0;
}

/* How much of it this time: what is left of a whole number is for the next. */
static unsigned long next(worker *w, int metric)
{
    double much =
        w->amount[metric] * (1 + 0.05 * by_chance(w)) + w->left[metric];
    unsigned long whole = (unsigned long)much;

    w->left[metric] = much - (double)whole;
    return whole;
}

static int one_round(worker *w, paths_path *total, paths_path *box,
                     eventspace_metric *cells)
{
    static const unsigned char message[2 * BYTES_MAX];
    double mine = compute(next(w, WORK)), all;
    unsigned long messages = next(w, MESSAGES);
    int err = 0;

    for (unsigned long i = 0; i < messages && !err; i++)
        err = paths_write(box, message, next(w, BYTES));
    eventspace_metric_add(cells, next(w, CELLS));
    return err ? err
               : paths_exchange(total, &mine, sizeof(mine), &all, sizeof(all));
}

static int work(paths_thread *self, void *argument)
{
    const plan *p = argument;
    worker w = {.state = 20261129 + paths_thread_number(self)};
    paths_path *total, *box;
    eventspace_metric *cells;
    int err = paths_open(&total, self, "total");

    if (!err)
        err = paths_open(&box, self, "box");
    if (!err)
        err = eventspace_metric_open(&cells, self, "cells");
    for (int i = 0; i < METRICS; i++)
        w.amount[i] = usual[i];
    if (p->thread == paths_thread_number(self))
        w.amount[p->metric] *= p->factor;
    for (unsigned long i = 0; i < p->rounds && !err; i++)
        err = one_round(&w, total, box, cells);
    return err;
}

int main(int argc, char **argv)
{
    plan p = {.thread = NOBODY};
    eventspace *es;
    int err;

    p.rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    if (argc > 4) {
        p.thread = (uint32_t)strtoul(argv[2], NULL, 10);
        while (p.metric < METRICS && strcmp(argv[3], names[p.metric]) != 0)
            p.metric++;
        p.factor = strtod(argv[4], NULL);
    }
    if (p.rounds == 0 || p.metric == METRICS || !(p.factor >= 0)) {
        fprintf(stderr, "shifted ROUNDS [THREAD METRIC FACTOR]\n");
        return 2;
    }
    err = eventspace_start(&es);
    if (!err)
        err = eventspace_program(es, "*", work, &p);
    return eventspace_finish(es, err);
}
