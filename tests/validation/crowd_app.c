/* crowd_app.c - many threads that do little: ROUNDS times a sum by path `total`
 * and a barrier by path `gate`, once the file GO is there.
 *
 *     crowd_app ROUNDS GO */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "eventspace/eventspace.h"
#include "pastset/status.h"

typedef struct crowd {
    long rounds;
    const char *go;
} crowd;

static void go_await(const char *file)
{
    static const struct timespec moment = {.tv_nsec = 20000000};

    while (access(file, F_OK) != 0)
        nanosleep(&moment, NULL);
}

static int go_round(paths_thread *self, void *argument)
{
    const crowd *c = argument;
    double n = paths_thread_count(self), sum;
    paths_path *total, *gate;
    int err = paths_open(&total, self, "total");

    if (!err)
        err = paths_open(&gate, self, "gate");
    go_await(c->go);
    for (long i = 0; i < c->rounds && !err; i++) {
        sum = (double)(i + 1) * paths_thread_number(self);
        err = paths_exchange(total, &sum, sizeof(sum), &sum, sizeof(sum));
        if (!err && sum != (double)(i + 1) * n * (n - 1) / 2)
            err =
                pastset_fail(PASTSET_EAPP, "round %ld: the sum is %g", i, sum);
        if (!err)
            err = paths_barrier(gate);
    }
    return err;
}

int main(int argc, char **argv)
{
    crowd c = {argc == 3 ? atol(argv[1]) : 0, argc == 3 ? argv[2] : ""};
    eventspace *es;
    int err;

    if (argc != 3) {
        fprintf(stderr, "usage: crowd_app ROUNDS GO\n");
        return 2;
    }
    err = eventspace_start(&es);
    if (!err)
        err = eventspace_program(es, "*", go_round, &c);
    return eventspace_finish(es, err);
}
