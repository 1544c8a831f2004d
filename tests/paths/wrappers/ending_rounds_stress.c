/* ending_rounds_stress.c - many short runs, each of which ends in the middle of
 * rounds: a thread that has no part in them fails, or one that has ends early.
 * Two processes of a map, within this one, sum together, with operations that
 * are called and such that are started, so that some wait at the gate and
 * others do not.
 *
 * What must hold: each operation is completed once; what came as a result is
 * the sum; and all of them end, with an error that says why.
 *
 *     ending_rounds_stress [RUNS]
 *
 * In the environment: EVENTSPACE_STRESS_SEED. Prints one JSON object. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/waiter.h"
#include "tests/support/inside.h"

#define THREADS 4 /* that sum */
#define TIMEOUT_S 60
#define WHY "it is enough"

static uint64_t seed = 1, runs = 300;
static _Atomic uint64_t run_now, rounds;
static _Atomic uint64_t round_of[THREADS];

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u + b + seed * 0xd1342543de82ef95u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void fault(const char *what)
{
    fprintf(stderr, "run %llu: %s (seed %llu)\n",
            (unsigned long long)atomic_load(&run_now), what,
            (unsigned long long)seed);
    abort();
}

static bool somebody_leaves(void)
{
    return mix(atomic_load(&run_now), 1) & 1;
}

typedef struct one {
    int status; /* 1: not yet */
    int calls;
} one;

static void done(paths_arguments *arguments, int status, void *context)
{
    one *o = context;

    (void)arguments;
    o->status = status;
    if (++o->calls != 1)
        fault("an operation was completed twice");
}

static int go(paths_thread *self, paths_path *path, paths_arguments *a,
              bool start)
{
    one o = {1, 0};
    int err;

    if (!start)
        return paths_call(path, a);
    err = paths_start(path, a, done, &o);
    while (!err && o.status == 1) {
        int r = paths_poll(self, PASTSET_FOREVER);
        if (r < 0)
            return r;
    }
    return err ? err : o.status;
}

/* Sums until that goes no more. */
static int summer(paths_thread *self, void *argument)
{
    uint32_t number = paths_thread_number(self);
    uint64_t run = atomic_load(&run_now);
    uint64_t last = UINT64_MAX;
    paths_path *path;
    int err = paths_open(&path, self, "total");

    (void)argument;
    if (somebody_leaves() && mix(run, 2) % THREADS == number)
        last = mix(run, 3) % 100;
    for (uint64_t round = 0; !err && round < last; round++) {
        int64_t share = (int64_t)(round * THREADS + number), sum = 0, want = 0;
        paths_arguments a = {.verb = PASTSET_EXCHANGE,
                             .tuple = &share,
                             .bytes = sizeof(share),
                             .result = &sum,
                             .capacity = sizeof(sum),
                             .timeout_ms = PASTSET_FOREVER};
        err = go(self, path, &a, mix(mix(run, round), number) & 1);
        for (uint64_t i = 0; i < THREADS; i++)
            want += (int64_t)(round * THREADS + i);
        if (!err && sum != want)
            fault("a wrong sum");
        atomic_store(&round_of[number], round);
        atomic_fetch_add(&rounds, !err);
    }
    if (err && !strstr(pastset_error(), WHY) &&
        !strstr(pastset_error(), "has ended"))
        fault(pastset_error());
    return somebody_leaves() ? 0 : err;
}

/* After a number of rounds. */
static int ender(paths_thread *self, void *argument)
{
    uint64_t last = mix(atomic_load(&run_now), 3) % 100;

    (void)self;
    (void)argument;
    if (somebody_leaves())
        return 0;
    while (atomic_load(&round_of[0]) < last)
        ;
    return pastset_fail(PASTSET_EAPP, "%s", WHY);
}

static int program(paths_thread *self, void *argument)
{
    return strcmp(paths_thread_name(self), "ender") == 0
               ? ender(self, argument)
               : summer(self, argument);
}

static paths_map *map_make(void)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    paths_map *map;

    fprintf(out, "digraph stress { total [kind=element, type=\"i64\"];\n"
                 "own [kind=element, type=\"i64\"];\n");
    for (int t = 0; t < THREADS; t++)
        fprintf(out, "t%d [kind=thread, number=%d]; t%d -> total [use=sum];\n",
                t, t, t);
    fprintf(out,
            "ender [kind=thread, number=%d]; ender -> own [use=write]; }\n",
            THREADS);
    fclose(out);
    map = inside_map(text, "digraph cluster { h0; h1; }");
    free(text);
    return map;
}

/* A hang would otherwise say nothing. */
static void *watch(void *argument)
{
    uint64_t before = 0;

    for (unsigned idle = 0; idle < TIMEOUT_S;) {
        uint64_t now = atomic_load(&run_now);
        idle = now == before ? idle + 1 : 0;
        before = now;
        sleep(1);
    }
    fault("it hangs");
    return argument;
}

int main(int argc, char **argv)
{
    const char *text = getenv("EVENTSPACE_STRESS_SEED");
    pthread_t watcher;

    if (getenv("EVENTSPACE_TEST_SLOW")) /* a sanitizer: there are the seeds */
        runs /= 8;
    runs = argc > 1 ? strtoull(argv[1], NULL, 10) : runs;
    seed = text ? strtoull(text, NULL, 10) : 1;
    pthread_create(&watcher, NULL, watch, NULL);
    pthread_detach(watcher);
    for (uint64_t run = 1; run <= runs; run++) {
        paths_map *map = map_make();
        int err;
        for (int i = 0; i < THREADS; i++)
            atomic_store(&round_of[i], 0);
        atomic_store(&run_now, run);
        err = inside_run(map, program, NULL);
        if (somebody_leaves() ? err != 0 : err == 0)
            fault("the run has ended in another way");
        paths_map_destroy(map);
    }
    printf("{\"name\": \"ending_rounds\", \"seed\": %llu, \"runs\": %llu, "
           "\"results\": %llu}\n",
           (unsigned long long)seed, (unsigned long long)runs,
           (unsigned long long)atomic_load(&rounds));
    return 0;
}
