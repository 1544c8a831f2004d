/* rounds_app.c - threads that add up by path `total`, in rounds of which one is
 * slow.
 *
 *     rounds_app ROUNDS SLOW
 *
 * Each arrives 0.6 ms after the one before it, so that thread 0 always waits
 * for the others; in round SLOW the last one comes 120 ms late. Before that it
 * writes NOTES tuples to an element of its own by path `notes`. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "eventspace/eventspace.h"
#include "pastset/status.h"

enum { NOTES = 20 };

typedef struct rounds {
    long count, slow;
} rounds;

static void pause_us(long us)
{
    const struct timespec t = {.tv_sec = us / 1000000,
                               .tv_nsec = us % 1000000 * 1000};

    nanosleep(&t, NULL);
}

static int add_up(paths_thread *self, void *argument)
{
    const rounds *r = argument;
    unsigned number = paths_thread_number(self);
    unsigned threads = paths_thread_count(self);
    paths_path *total, *notes;
    int err = paths_open(&total, self, "total");

    if (!err)
        err = paths_open(&notes, self, "notes");
    for (long i = 0; i < r->count && !err; i++) {
        double sum = number;
        for (int k = 0; k < NOTES && !err; k++)
            err = paths_write(notes, &sum, sizeof(sum));
        if (err)
            break;
        pause_us(600L * number +
                 (i == r->slow && number == threads - 1 ? 120000 : 0));
        err = paths_exchange(total, &sum, sizeof(sum), &sum, sizeof(sum));
        if (!err && sum != threads * (threads - 1) / 2)
            err = pastset_fail(PASTSET_EAPP, "the sum is %g", sum);
    }
    return err;
}

int main(int argc, char **argv)
{
    rounds r = {argc == 3 ? atol(argv[1]) : 0, argc == 3 ? atol(argv[2]) : 0};
    eventspace *es;
    int err;

    if (argc != 3) {
        fprintf(stderr, "usage: rounds_app ROUNDS SLOW\n");
        return 2;
    }
    err = eventspace_start(&es);
    if (!err)
        err = eventspace_program(es, "*", add_up, &r);
    return eventspace_finish(es, err);
}
