/* failed_rounds_stress.c - threads of one process that sum, where about every
 * second round fails: somebody brings a tuple of the wrong size, or comes too
 * late for the deadline of somebody else. Who does so, and in which round,
 * follows from a hash of the round's number.
 *
 * What must hold in each round: all get an error or all get a result; a result
 * is the sum of what all have brought; an error is there only where there was a
 * mistake; and whoever has a deadline comes back.
 *
 *     failed_rounds_stress [sizes|late|started|debts|any
 *                           [THREADS [SECONDS [WIDTH]]]]
 *
 * sizes    tuples of the wrong size; the default
 * late     short deadlines, and threads that come after them
 * started  as sizes, with operations of paths_start among them
 * debts    thread 0 comes to each round when all others have given it up, and
 *          is refused while they wait in the next one: their deadlines are all
 *          that lets them, and so thread 0, go on
 * any      one of these, by the seed
 *
 * WIDTH: 64 bit numbers in a tuple; up to two lie in the contribution, more do
 * not. In the environment: EVENTSPACE_STRESS_SEED. Prints one JSON object. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/waiter.h"
#include "tests/support/inside.h"

#define THREADS_MAX 64
#define WIDTH_MAX 64
#define VERDICTS 4096 /* rounds that may be looked at at the same time */
#define TIMEOUT_S 60  /* without a round */
#define DEADLINE_MS 2

static enum { SIZES, LATE, STARTED, DEBTS } mode;
static uint64_t threads = 4, width = 2, seed = 1;
static double seconds = 6;
static int64_t until_ns;
static _Atomic uint64_t rounds, failed_rounds;

/* Of a round: how many threads have had a result, and an error. */
static _Atomic uint32_t verdicts[VERDICTS];
#define VERDICT_ERROR 0x10000u

/* For `debts`: how many rounds each thread has been through. */
static _Atomic uint64_t through[THREADS_MAX];
static _Atomic bool is_over;

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u + b + seed * 0xd1342543de82ef95u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void fault(uint64_t round, uint32_t thread, const char *what)
{
    fprintf(stderr, "round %llu, thread %u: %s (seed %llu)\n",
            (unsigned long long)round, thread, what, (unsigned long long)seed);
    abort();
}

static bool is_failing(uint64_t round)
{
    return mix(round, 1) & 1;
}

static uint32_t culprit_of(uint64_t round)
{
    return (uint32_t)(mix(round, 2) % threads);
}

/* The last number tells the end: 1 when time is up. */
static int64_t share(uint64_t round, uint64_t thread, uint64_t place)
{
    return (int64_t)(mix(mix(round, thread + 3), place) >> 16);
}

static void is_right(uint64_t round, uint32_t self, const int64_t *got)
{
    for (uint64_t i = 0; i + 1 < width; i++) {
        int64_t sum = 0;
        for (uint64_t t = 0; t < threads; t++)
            sum += share(round, t, i);
        if (got[i] != sum)
            fault(round, self, "a wrong sum");
    }
}

/* All or none. */
static void verdict_tell(uint64_t round, uint32_t self, bool error)
{
    _Atomic uint32_t *v = &verdicts[round % VERDICTS];
    uint32_t own = error ? VERDICT_ERROR : 1;
    uint32_t sum = atomic_fetch_add(v, own) + own;
    uint32_t errors = sum / VERDICT_ERROR, well = sum % VERDICT_ERROR;

    if (errors && well)
        fault(round, self, "an error for some, and a result for others");
    if (errors + well < threads)
        return;
    atomic_store(v, 0);
    atomic_fetch_add(&rounds, 1);
    atomic_fetch_add(&failed_rounds, errors != 0);
}

static void done(paths_arguments *arguments, int status, void *context)
{
    int *out = context;

    (void)arguments;
    *out = status;
}

static int go(paths_thread *self, paths_path *path, paths_arguments *a,
              bool start)
{
    int status = 1, err;

    if (!start)
        return paths_call(path, a);
    err = paths_start(path, a, done, &status);
    while (!err && status == 1) {
        int r = paths_poll(self, PASTSET_FOREVER);
        if (r < 0)
            return r;
    }
    return err ? err : status;
}

static int one(paths_thread *self, paths_path *path, uint64_t round, bool *end)
{
    uint32_t number = paths_thread_number(self);
    uint64_t own = mix(mix(round, number), 5);
    bool mistake = is_failing(round) && culprit_of(round) == number;
    int64_t tuple[WIDTH_MAX], result[WIDTH_MAX] = {0};
    paths_arguments a = {.verb = PASTSET_EXCHANGE,
                         .tuple = tuple,
                         .bytes = width * sizeof(tuple[0]),
                         .result = result,
                         .capacity = width * sizeof(result[0]),
                         .timeout_ms = PASTSET_FOREVER};
    int err;

    for (uint64_t i = 0; i + 1 < width; i++)
        tuple[i] = share(round, number, i);
    tuple[width - 1] = number == 0 && pastset_now_ns() > until_ns;
    if (mode != LATE && mistake)
        a.bytes--;
    if (mode == LATE && mistake)
        usleep(1000 + own % 2000);
    else if (mode == LATE && is_failing(round) && own & 1)
        a.timeout_ms = DEADLINE_MS;
    err = go(self, path, &a, mode == STARTED && own & 2);
    if (!err && mode != LATE && is_failing(round))
        fault(round, number, "a result in spite of a mistake");
    if (err && !is_failing(round))
        fault(round, number, pastset_error());
    if (!err)
        is_right(round, number, result);
    *end = !err && result[width - 1] > 0;
    verdict_tell(round, number, err != 0);
    return 0;
}

/* All others have given up the round; then any moment in their next one. */
static void come_too_late(uint64_t round)
{
    int64_t until;

    for (uint64_t t = 1; t < threads; t++) {
        while (atomic_load(&through[t]) <= round)
            sched_yield();
    }
    until =
        pastset_now_ns() + (int64_t)(mix(round, 7) % (1500000 * DEADLINE_MS));
    while (pastset_now_ns() < until)
        ;
}

static int debt(paths_path *path, uint64_t round, uint32_t number)
{
    int64_t tuple[WIDTH_MAX] = {0};
    paths_arguments a = {.verb = PASTSET_WRITE,
                         .tuple = tuple,
                         .bytes = width * sizeof(tuple[0]),
                         .timeout_ms = PASTSET_FOREVER};

    if (number == 0)
        come_too_late(round);
    else
        a.timeout_ms = DEADLINE_MS;
    if (paths_call(path, &a) == 0)
        fault(round, number, "a result of a round in which nobody has met");
    atomic_fetch_add(&through[number], 1);
    if (number == 0) {
        atomic_fetch_add(&rounds, 1);
        atomic_store(&is_over, pastset_now_ns() > until_ns);
    }
    return 0;
}

static int worker(paths_thread *self, void *argument)
{
    paths_path *path;
    bool end = false;
    int err = paths_open(&path, self, "total");

    (void)argument;
    for (uint64_t round = 0; !err && !end; round++) {
        if (mode == DEBTS) {
            err = debt(path, round, paths_thread_number(self));
            end = atomic_load(&is_over);
        } else {
            err = one(self, path, round, &end);
        }
    }
    return err;
}

/* A hang would otherwise say nothing. */
static void *watch(void *argument)
{
    uint64_t before = 0;

    for (unsigned idle = 0; idle < TIMEOUT_S;) {
        uint64_t now = atomic_load(&rounds);
        idle = now == before ? idle + 1 : 0;
        before = now;
        sleep(1);
    }
    fprintf(stderr, "they hang after round %llu (seed %llu)\n",
            (unsigned long long)before, (unsigned long long)seed);
    abort();
    return argument;
}

static paths_map *map_make(void)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    paths_map *map;

    fprintf(out,
            "digraph stress { total [kind=element, type=\"i64[%llu]\", "
            "shape=flat];\n",
            (unsigned long long)width);
    for (uint64_t t = 0; t < threads; t++)
        fprintf(out,
                "t%llu [kind=thread, number=%llu]; t%llu -> total [use=sum];\n",
                (unsigned long long)t, (unsigned long long)t,
                (unsigned long long)t);
    fprintf(out, "}\n");
    fclose(out);
    map = inside_map(text, "digraph cluster { h0; }");
    free(text);
    return map;
}

/* Of a build with a sanitizer, whose seeds widen what is narrow. */
static double usual_seconds(void)
{
    const char *slow = getenv("EVENTSPACE_TEST_SLOW");

    return slow ? 20 / strtod(slow, NULL) : seconds;
}

static uint64_t number(int argc, char **argv, int at, uint64_t otherwise,
                       uint64_t max)
{
    uint64_t n = argc > at ? strtoull(argv[at], NULL, 10) : otherwise;

    if (n < 1 || n > max) {
        fprintf(stderr, "argument %d is 1 to %llu\n", at,
                (unsigned long long)max);
        exit(2);
    }
    return n;
}

int main(int argc, char **argv)
{
    static const char *const modes[] = {"sizes", "late", "started", "debts"};
    const char *text = getenv("EVENTSPACE_STRESS_SEED");
    pthread_t watcher;
    paths_map *map;
    int err;

    for (int i = 0; argc > 1 && i < 4; i++) {
        if (strcmp(argv[1], modes[i]) == 0)
            mode = i;
    }
    threads = number(argc, argv, 2, threads, THREADS_MAX);
    seconds = argc > 3 ? strtod(argv[3], NULL) : usual_seconds();
    width = number(argc, argv, 4, width, WIDTH_MAX);
    seed = text ? strtoull(text, NULL, 10) : 1;
    if (argc > 1 && strcmp(argv[1], "any") == 0)
        mode = seed % 4;
    until_ns = pastset_now_ns() + (int64_t)(seconds * 1e9);
    pthread_create(&watcher, NULL, watch, NULL);
    pthread_detach(watcher);
    map = map_make();
    err = inside_run(map, worker, NULL);
    paths_map_destroy(map);
    printf("{\"name\": \"failed_rounds.%s\", \"threads\": %llu, \"width\": "
           "%llu, \"seed\": %llu, \"rounds\": %llu, \"failed\": %llu}\n",
           modes[mode], (unsigned long long)threads, (unsigned long long)width,
           (unsigned long long)seed, (unsigned long long)rounds,
           (unsigned long long)failed_rounds);
    return err ? 1 : 0;
}
