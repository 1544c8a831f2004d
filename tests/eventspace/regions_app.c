/* regions_app.c - a program that names its parts, and says how long they took.
 *
 *     regions_app ROUNDS [unrecorded|named]
 *
 * In each round a thread is in the region "round", in it in "compute" and then
 * in "add", in which it takes part in a sum; then it leaves the mark "done". It
 * prints, for each region,
 *
 *     THREAD NAME TIMES LEAST_NS MOST_NS
 *
 * by its own clock: from after the begin to before the end, and from before the
 * begin to after the end. With "named" each round is also a region of a name of
 * its own, as long as there may be more names. It also does what it must not,
 * and fails if that is no error; or, where nothing is recorded, if it is one.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "eventspace/eventspace.h"
#include "eventspace/regions.h"
#include "pastset/status.h"

enum { ROUND, COMPUTE, ADD, REGIONS };

typedef struct part {
    const char *name;
    long long times, least_ns, most_ns;
    int64_t before, after;
} part;

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t); /* as ticks are measured */
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int begin(paths_thread *self, part *p)
{
    char name[20]; /* the same name from another place */
    int err;

    snprintf(name, sizeof(name), "%s", p->name);
    p->before = now_ns();
    err = eventspace_region_begin(self, p->times % 2 ? name : p->name);
    p->after = now_ns();
    return err;
}

static int end(paths_thread *self, part *p)
{
    int64_t before = now_ns();
    int err = eventspace_region_end(self, p->name);

    p->least_ns += before - p->after;
    p->most_ns += now_ns() - p->before;
    p->times++;
    return err;
}

static bool unrecorded, named;

static int expect(int got, int wanted, const char *what)
{
    wanted = unrecorded ? 0 : wanted;
    return got == wanted ? 0
                         : pastset_fail(PASTSET_EAPP, "%s: %d, not %d", what,
                                        got, wanted);
}

/* A thread of the program's own, which borrows one of the map. */
typedef struct borrowed {
    paths_thread *self;
    int result;
} borrowed;

static void *stranger(void *argument)
{
    borrowed *b = argument;
    int begun = eventspace_region_begin(b->self, "compute");
    int marked = eventspace_mark(b->self, "done");
    int ended = eventspace_region_end(b->self, "compute");

    b->result = begun && marked && ended ? begun : 0;
    return NULL;
}

/* None of it is recorded. */
static int misuse(paths_thread *self)
{
    char name[300];
    borrowed b = {.self = self};
    pthread_t thread;
    int err;

    if (pthread_create(&thread, NULL, stranger, &b) ||
        pthread_join(thread, NULL))
        return pastset_fail(PASTSET_EAPP, "there is no other thread");
    memset(name, 'x', sizeof(name));
    name[sizeof(name) - 1] = 0;
    err = expect(eventspace_region_begin(self, name), PASTSET_EINVAL, "long");
    if (!err)
        err =
            expect(eventspace_region_begin(self, ""), PASTSET_EINVAL, "empty");
    if (!err)
        err = expect(eventspace_mark(self, NULL), PASTSET_EINVAL, "none");
    if (!err)
        err = expect(eventspace_region_end(self, "compute"), PASTSET_EINVAL,
                     "not begun");
    if (!err)
        err = expect(eventspace_region_end(self, "never begun"), PASTSET_EINVAL,
                     "never begun");
    if (!err)
        err = expect(b.result, PASTSET_EINVAL, "another thread");
    return err;
}

static int name_round(paths_thread *self, long long number)
{
    char name[40];
    int err;

    snprintf(name, sizeof(name), "round %lld of %u", number,
             paths_thread_number(self));
    err = eventspace_region_begin(self, name);
    if (err == PASTSET_ELIMIT)
        return 0;
    return err ? err : eventspace_region_end(self, name);
}

static int one_round(paths_thread *self, paths_path *total, part *parts)
{
    uint64_t mine = 1, all = 0;
    int err = begin(self, &parts[ROUND]);

    if (!err && named)
        err = name_round(self, parts[ROUND].times);
    if (!err)
        err = begin(self, &parts[COMPUTE]);
    for (volatile int i = 0; i < 20000; i++)
        mine += i & 1;
    if (!err)
        err = expect(eventspace_region_end(self, "round"), PASTSET_EINVAL,
                     "not the innermost");
    if (!err)
        err = end(self, &parts[COMPUTE]);
    if (!err)
        err = begin(self, &parts[ADD]);
    if (!err)
        err = paths_exchange(total, &mine, sizeof(mine), &all, sizeof(all));
    if (!err)
        err = end(self, &parts[ADD]);
    if (!err)
        err = end(self, &parts[ROUND]);
    return err ? err : eventspace_mark(self, "done");
}

static int worker(paths_thread *self, void *argument)
{
    part parts[REGIONS] = {
        {.name = "round"}, {.name = "compute"}, {.name = "add"}};
    int rounds = *(int *)argument;
    paths_path *total;
    int err = paths_open(&total, self, "total");

    for (int i = 0; i < rounds && !err; i++)
        err = one_round(self, total, parts);
    if (!err && rounds > 0)
        err = misuse(self);
    for (int i = 0; i < REGIONS && !err; i++)
        printf("%u %s %lld %lld %lld\n", paths_thread_number(self),
               parts[i].name, parts[i].times, parts[i].least_ns,
               parts[i].most_ns);
    fflush(stdout);
    return err;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 0;
    eventspace *es;
    int err = eventspace_start(&es);

    unrecorded = argc > 2 && strcmp(argv[2], "unrecorded") == 0;
    named = argc > 2 && strcmp(argv[2], "named") == 0;

    if (!err)
        err = eventspace_program(es, "*", worker, &rounds);
    return eventspace_finish(es, err);
}
