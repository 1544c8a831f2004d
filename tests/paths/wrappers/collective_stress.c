/* collective_stress.c - 32 threads on 4 processes that do everything together
 * at once: rounds of collectives of all kinds in an order that looks random and
 * is the same for all, called or started, two of them at once, with reads and
 * writes in between. Each result is checked against what it must be. All
 * processes of the map are within this one, so that ThreadSanitizer sees them.
 *
 *     collective_stress [well|faults]
 *
 * `faults` makes mistakes too, see collective_faults.c; without an argument it
 * does one after the other. In the environment: EVENTSPACE_STRESS_ROUNDS, how
 * many rounds of collectives each of them takes; EVENTSPACE_STRESS_SEED. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/waiter.h"
#include "tests/paths/wrappers/collective_faults.h"
#include "tests/paths/wrappers/collective_parts.h"
#include "tests/support/inside.h"

#define DEFAULT_ROUNDS 3000
#define SLOW_ROUNDS 10000 /* of a build with a sanitizer, by its factor */
#define TIMEOUT_S 30      /* without any progress */

static uint64_t rounds_wanted, seed = 1;
static bool with_faults;

/* --- what is not collective --- */

typedef struct item {
    uint64_t writer, step;
} item;

static int item_send(worker *w, uint64_t step)
{
    item i = {w->number, step};

    expect(paths_write(w->out, &i, sizeof(i)) == 0);
    return 0;
}

static int item_receive(worker *w, uint64_t step)
{
    item i;

    expect(paths_observe(w->in, &i, sizeof(i)) == 0);
    expect(i.writer == (w->number + THREADS - 1) % THREADS);
    expect(i.step == step);
    return 0;
}

/* Nobody can have been in a later round. */
static int total_look(worker *w, const part *p)
{
    double last;

    expect(paths_read_last(w->seen, &last, sizeof(last)) == 0);
    expect(kinds[TOTAL].is_right(&last, w->number, p->round));
    return 0;
}

static void dawdle(uint64_t own)
{
    if (own % 8 == 0)
        keep_busy(own >> 8 & 0x3fff);
    else if (own % 16 == 1)
        sched_yield();
    if (own % 8192 == 2)
        keep_busy(1 << 21);
}

/* --- steps --- */

static int one(worker *w, uint64_t round, uint64_t random, uint64_t own)
{
    part *p = &w->parts[0];
    int err;

    part_make(p, w, random % KINDS, round, own);
    err = part_run(p, own >> 8);
    if (!err)
        err = part_check(p);
    if (!err && p->kind == TOTAL && own >> 10 & 1)
        err = total_look(w, p);
    return err;
}

/* Two at once. Those who only call them do it in the same order. */
static int two(worker *w, uint64_t round, uint64_t random, uint64_t own)
{
    part *a = &w->parts[0], *b = &w->parts[1];
    uint32_t first = random % KINDS;
    uint32_t second = (first + 1 + random / KINDS % (KINDS - 1)) % KINDS;
    int err;

    part_make(a, w, first, round, own);
    part_make(b, w, second, round + 1, own >> 8);
    if (own >> 20 & 1) {
        part *other = a;
        a = b;
        b = other;
    }
    switch (own >> 16 & 3) {
    case 0:
        part_call(&w->parts[0]);
        part_call(&w->parts[1]);
        break;
    case 1:
        part_start(a);
        dawdle(own >> 24);
        part_call(b);
        break;
    default:
        part_start(a);
        dawdle(own >> 24);
        part_start(b);
        break;
    }
    err = part_wait(a, own >> 32);
    if (!err)
        err = part_wait(b, own >> 33);
    if (!err)
        err = part_check(a);
    return err ? err : part_check(b);
}

static bool is_fault(uint64_t random)
{
    return with_faults && random >> 60 == 0;
}

/* `random` is the same for all, `own` is not. An item is sent first, so that
 * whoever waits for it waits for nobody who waits for him. */
static int step_do(worker *w, uint64_t step, uint64_t random, uint64_t own)
{
    bool sends = random >> 40 & 1, early = own >> 41 & 1;
    uint64_t round = step * ROUNDS_OF_STEP;
    int err = sends ? item_send(w, step) : 0;

    if (!err && sends && early)
        err = item_receive(w, step);
    dawdle(own >> 42);
    if (err)
        return err;
    if (is_fault(random))
        err = fault_step(w, round, mix(random, 1), mix(own, 1));
    else if (random >> 50 & 1)
        err = two(w, round, random & UINT32_MAX, own);
    else
        err = one(w, round, random & UINT32_MAX, own);
    if (!err && sends && !early)
        err = item_receive(w, step);
    return err;
}

static int worker_open(worker *w, paths_thread *self)
{
    memset(w->written, 0, sizeof(w->written));
    w->self = self;
    w->number = paths_thread_number(self);
    w->rounds = 0;
    for (int i = 0; i < KINDS; i++)
        expect(paths_open(&w->paths[i], self, kinds[i].name) == 0);
    expect(paths_open(&w->paths[KINDS], self, "verdict") == 0);
    expect(paths_open(&w->seen, self, "seen") == 0);
    expect(paths_open(&w->in, self, "in") == 0);
    expect(paths_open(&w->out, self, "out") == 0);
    return 0;
}

static int worker_run(paths_thread *self, void *argument)
{
    worker *w = &workers[paths_thread_number(self)];
    int err = worker_open(w, self);

    (void)argument;
    for (uint64_t step = 0; !err && w->rounds < rounds_wanted; step++) {
        uint64_t random = mix(seed, step);
        atomic_store_explicit(&w->step, step, memory_order_relaxed);
        err = step_do(w, step, random, mix(random, w->number));
    }
    if (err)
        atomic_store(&somebody_failed, true);
    atomic_store_explicit(&w->doing, "the end", memory_order_relaxed);
    return err;
}

/* --- the map --- */

/* One of them is farther away, so that its operations are held on their way. */
static const char cluster[] = "digraph cluster { h0; h1; h2; h3;\n"
                              "h0 -> h3 [latency=\"20us\", simulate=true]; }";

static char *mapping_make(void)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fprintf(out, "digraph stress {\n"
                 "verdict [kind=element, type=\"i32[32]\"];\n");
    for (int i = 0; i < KINDS; i++)
        fprintf(out, "%s [kind=element, %s];\n", kinds[i].name,
                kinds[i].attributes);
    for (int t = 0; t < THREADS; t++)
        fprintf(out,
                "t%d [kind=thread, number=%d];\n"
                "box%d [kind=element, type=\"u64[2]\", capacity=64];\n",
                t, t, t);
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < KINDS; i++)
            fprintf(out, "t%d -> %s [use=%s];\n", t, kinds[i].name,
                    kinds[i].use);
        fprintf(out,
                "t%d -> verdict [use=gather];\n"
                "t%d -> total [as=seen, use=read];\n"
                "t%d -> box%d [as=out, use=write];\n"
                "t%d -> box%d [as=in, use=read];\n",
                t, t, t, t, t, (t + THREADS - 1) % THREADS);
    }
    fprintf(out, "}\n");
    fclose(out);
    return text;
}

/* --- watching --- */

static uint64_t progress(void)
{
    uint64_t steps = 0;

    for (int i = 0; i < THREADS; i++)
        steps += atomic_load_explicit(&workers[i].step, memory_order_relaxed);
    return steps;
}

static void where_print(void)
{
    uint64_t step = 0;

    for (int i = 0; i < THREADS; i++) {
        step = atomic_load_explicit(&workers[i].step, memory_order_relaxed);
        fprintf(stderr, "t%d: step %llu, in %s\n", i, (unsigned long long)step,
                atomic_load_explicit(&workers[i].doing, memory_order_relaxed));
    }
    if (is_fault(mix(seed, step)))
        fault_describe(step * ROUNDS_OF_STEP, mix(mix(seed, step), 1));
}

/* A hang would otherwise say nothing. */
static void *watch(void *argument)
{
    uint64_t before = 0;
    unsigned seconds = 0;

    for (;;) {
        uint64_t now = progress();
        seconds = now == before ? seconds + 1 : 0;
        before = now;
        if (seconds > TIMEOUT_S * slowness())
            break;
        sleep(1);
    }
    fprintf(stderr, "they do not get on:\n");
    where_print();
    abort();
    return argument;
}

/* --- */

static int stress(const char *name)
{
    char *mapping = mapping_make();
    paths_map *map = inside_map(mapping, cluster);
    int64_t from = pastset_now_ns();
    double seconds;
    int err;

    free(mapping);
    with_faults = strcmp(name, "faults") == 0;
    err = inside_run(map, worker_run, NULL);
    seconds = (double)(pastset_now_ns() - from) * 1e-9;
    if (!err)
        printf("%s: %llu rounds in %.1f s, %.0f rounds/s\n", name,
               (unsigned long long)workers[0].rounds, seconds,
               (double)workers[0].rounds / seconds);
    if (!err && with_faults)
        faults_print();
    if (err)
        where_print();
    fflush(stdout);
    paths_map_destroy(map);
    return err;
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);

    return value ? strtoull(value, NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    pthread_t watcher;
    int err = 0;

    rounds_wanted = slowness() > 1 ? SLOW_ROUNDS / slowness() : DEFAULT_ROUNDS;
    rounds_wanted = setting("EVENTSPACE_STRESS_ROUNDS", rounds_wanted);
    seed = setting("EVENTSPACE_STRESS_SEED", 1);
    pthread_create(&watcher, NULL, watch, NULL);
    pthread_detach(watcher);
    if (argc < 2 || strcmp(argv[1], "well") == 0)
        err = stress("well");
    if (!err && (argc < 2 || strcmp(argv[1], "faults") == 0))
        err = stress("faults");
    return err ? 1 : 0;
}
