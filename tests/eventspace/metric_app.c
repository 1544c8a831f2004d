/* metric_app.c - a program that counts, and says how much it has.
 *
 *     metric_app ROUNDS CELLS [due]
 *
 * In each round a thread adds 1 to the metric "cells", thread 1 twice as often
 * as CELLS says and the others CELLS times, computes for a millisecond
 * and takes part in a sum. With "due" it waits in the first three rounds until
 * the metric is due. Thread 0 also has the metric "bytes", to which it
 * adds 2^33 + 1 in each round. At the end each prints
 *
 *     THREAD CELLS BYTES
 *
 * It also does what it must not, and fails if that is no error. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "eventspace/eventspace.h"
#include "eventspace/metric.h"
#include "pastset/status.h"

#define MUCH ((UINT64_C(1) << 33) + 1)

static int rounds, cells;
static bool waits;

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

typedef struct borrowed {
    paths_thread *self;
    int result;
} borrowed;

static void *stranger(void *argument)
{
    borrowed *b = argument;
    eventspace_metric *metric;

    b->result = eventspace_metric_open(&metric, b->self, "cells");
    return NULL;
}

static int misuse(paths_thread *self, const eventspace_metric *counted)
{
    borrowed b = {.self = self};
    eventspace_metric *again, *none;
    char name[300];
    pthread_t thread;
    bool is_right;

    memset(name, 'x', sizeof(name));
    name[sizeof(name) - 1] = 0;
    if (pthread_create(&thread, NULL, stranger, &b) ||
        pthread_join(thread, NULL))
        return pastset_fail(PASTSET_EAPP, "there is no other thread");
    is_right =
        b.result == PASTSET_EINVAL &&
        eventspace_metric_open(&none, self, name) == PASTSET_EINVAL && !none &&
        eventspace_metric_open(&none, self, "") == PASTSET_EINVAL &&
        eventspace_metric_open(&none, self, NULL) == PASTSET_EINVAL &&
        eventspace_metric_open(&again, self, "cells") == 0 && again == counted;
    return is_right
               ? 0
               : pastset_fail(PASTSET_EAPP, "what it must not was allowed");
}

static int one_round(paths_path *total, eventspace_metric *own,
                     eventspace_metric *bytes, int count, bool is_first)
{
    int64_t until_ns = now_ns() + 1000000;
    uint64_t mine = 1, all;

    while (is_first && !__atomic_load_n(&own->is_due, __ATOMIC_RELAXED))
        ;
    for (int i = 0; i < count; i++)
        eventspace_metric_add(own, 1);
    if (bytes)
        eventspace_metric_add(bytes, MUCH);
    while (now_ns() < until_ns)
        ;
    return paths_exchange(total, &mine, sizeof(mine), &all, sizeof(all));
}

static int worker(paths_thread *self, void *argument)
{
    uint32_t number = paths_thread_number(self);
    eventspace_metric *own, *bytes = NULL;
    paths_path *total;
    int err = paths_open(&total, self, "total");

    (void)argument;
    if (!err)
        err = eventspace_metric_open(&own, self, "cells");
    if (!err && number == 0)
        err = eventspace_metric_open(&bytes, self, "bytes");
    if (!err)
        err = misuse(self, own);
    for (int i = 0; i < rounds && !err; i++)
        err = one_round(total, own, bytes, number == 1 ? 2 * cells : cells,
                        waits && i < 3);
    if (!err) {
        printf("%u %llu %llu\n", number, (unsigned long long)own->total,
               (unsigned long long)(bytes ? bytes->total : 0));
        fflush(stdout);
    }
    return err;
}

int main(int argc, char **argv)
{
    eventspace *es;
    int err = eventspace_start(&es);

    rounds = argc > 1 ? atoi(argv[1]) : 0;
    cells = argc > 2 ? atoi(argv[2]) : 0;
    waits = argc > 3 && strcmp(argv[3], "due") == 0;
    if (!err)
        err = eventspace_program(es, "*", worker, NULL);
    return eventspace_finish(es, err);
}
