/* planted.c - a program with a known change, for `./bootstrap validate diff`.
 *
 *     planted STEPS WORK [PATH SCALE]
 *
 * In each step each thread computes WORK times, and then adds up over `rho`;
 * the same for `flux` and `total`. Before its operation on PATH the last thread
 * computes SCALE times as much. What is scaled is work, not time: a fixed
 * number of additions that wait for each other, whatever the machine is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/eventspace.h"
#include "paths/paths.h"

#define PATHS 3

typedef struct plan {
    unsigned long steps, work;
    const char *path; /* NULL: nothing is planted */
    double scale;
} plan;

static const char *const names[PATHS] = {"rho", "flux", "total"};

/* A compiler cannot know where this begins. */
static double compute(unsigned long work)
{
    static volatile double start = 0.5;
    double x = start;

    for (unsigned long i = 0; i < work; i++)
        x = x * 0.999 + 0.001;
    return x;
}

static unsigned long work_before(const plan *p, const paths_thread *self,
                                 const char *path)
{
    if (!p->path || strcmp(path, p->path) != 0 ||
        paths_thread_number(self) + 1 != paths_thread_count(self))
        return p->work;
    return (unsigned long)lround((double)p->work * p->scale);
}

static int worker(paths_thread *self, void *argument)
{
    const plan *p = argument;
    paths_path *paths[PATHS];
    int err = 0;

    for (int i = 0; i < PATHS && !err; i++)
        err = paths_open(&paths[i], self, names[i]);
    for (unsigned long s = 0; s < p->steps && !err; s++) {
        for (int i = 0; i < PATHS && !err; i++) {
            double mine = compute(work_before(p, self, names[i])), all;
            err = paths_exchange(paths[i], &mine, sizeof(mine), &all,
                                 sizeof(all));
        }
    }
    return err;
}

static int usage(void)
{
    fputs("usage: planted STEPS WORK [PATH SCALE]\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    plan p = {0};
    eventspace *es;
    int err;

    if (argc != 3 && argc != 5)
        return usage();
    p.steps = strtoul(argv[1], NULL, 10);
    p.work = strtoul(argv[2], NULL, 10);
    if (argc == 5) {
        p.path = argv[3];
        p.scale = strtod(argv[4], NULL);
    }
    err = eventspace_start(&es);
    if (!err)
        err = eventspace_program(es, "*", worker, &p);
    return eventspace_finish(es, err);
}
