/* report_test_run.c - makes the run directory of a wind tunnel that never ran.
 *
 *     report_test_run DIRECTORY THREADS PROCESSES STEPS
 * [killed|hanging|hops|off|regions]
 *
 * Each thread writes to the one above and to the one below, reads from both,
 * and computes: 5 ms a step, a little more in the thread in the middle, so
 * that the others come to wait for it. A read lasts until its neighbour has
 * written. Names hold what would break a page that does not escape them. With
 * `killed`, the last process has died at two thirds of the steps. With
 * `hanging`, all were interrupted 10 s after the start, when t0 had not come
 * back from a read since its last operation, and the last thread computed.
 * Only the collectors at threads have noted anything; with `hops`, a write to
 * another process is also seen there, 10 us after it began. With `off`, each
 * thread begins 20 ms before its first operation and ends 10 ms after its last;
 * of each step's computing t0 is runnable for 2 ms, and t1 sleeps for 1 ms.
 * With `regions`, each thread is in the region "main" from its first operation
 * to the end of its last computing, and within it in "solve </script><b>" while
 * it computes; t0 makes a mark in each step.
 *
 * The times are the same at each call. */
#include "eventspace/define/definition_internal.h"
#include "eventspace/instrument.h"
#include "paths/generate/generate.h"
#include "pastset/request.h"
#include "pastset/status.h"
#include "tests/scopes/fake_run.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAME_BYTES 64
#define COMPUTING_NS 5000000
#define TUPLE_BYTES 896
#define ARRIVES_NS 10000

enum { TO_ABOVE, TO_BELOW, FROM_ABOVE, FROM_BELOW, PATHS };

static const char *const path_names[PATHS] = {"to_above", "to_below",
                                              "from_above", "from_below"};

typedef struct tunnel {
    paths_map *map;
    fake_run *run;
    uint32_t threads, steps;
    uint32_t killed_from; /* threads from this on, */
    uint32_t killed_step; /* after this step */
    uint32_t (*collectors)[PATHS];
    uint32_t (*below)[PATHS]; /* in other processes; UINT32_MAX: none */
    uint64_t *now;            /* of each thread */
    uint64_t (*written)[2];   /* when its tuples of this step were there */
    uint32_t *sequence;
    bool hanging, hops, off, regions;
    uint64_t *began;     /* of each thread: the region main */
    uint32_t first_part; /* behind the ids of all collectors */
} tunnel;

/* --- the map --- */

static void thread_name(char *out, uint32_t i)
{
    snprintf(out, NAME_BYTES, i == 1 ? "t%u </script><b>&\"" : "t%u", i);
}

static void use(paths_map *map, uint32_t thread, const char *element, int path)
{
    char name[NAME_BYTES];
    thread_name(name, thread);
    uint32_t from = paths_map_find_node(map, name);
    uint32_t to = paths_map_find_node(map, element);
    if (to == PATHS_NONE) {
        to = paths_map_add_node(map, PATHS_NONE, "element", element);
        paths_attributes_set(&map->nodes[to].attributes, "type", "u8[896]");
    }
    uint32_t edge = paths_map_add_edge(map, from, to);
    paths_attributes_set(&map->edges[edge].attributes, "as", path_names[path]);
    paths_attributes_set(&map->edges[edge].attributes, "use",
                         path < FROM_ABOVE ? "write" : "read");
}

static void use_neighbours(paths_map *map, uint32_t i, uint32_t threads)
{
    char name[NAME_BYTES];
    for (int path = 0; path < PATHS; path++) {
        bool above = path == TO_ABOVE || path == FROM_ABOVE;
        if (above ? i == 0 : i + 1 == threads)
            continue;
        uint32_t writer = path < FROM_ABOVE ? i : above ? i - 1 : i + 1;
        bool up = path == TO_ABOVE || path == FROM_BELOW;
        snprintf(name, sizeof(name), "%s_%u", up ? "up" : "down", writer);
        use(map, i, name, path);
    }
}

static int make_map(tunnel *t, uint32_t processes)
{
    paths_map *application, *plain = NULL;
    char name[NAME_BYTES], number[16];
    int err = paths_map_create(&application, "wind tunnel <!-- 8 x 4 -->");
    for (uint32_t i = 0; i < t->threads && !err; i++) {
        thread_name(name, i);
        uint32_t node =
            paths_map_add_node(application, PATHS_NONE, "thread", name);
        snprintf(number, sizeof(number), "%u", i);
        err = paths_attributes_set(&application->nodes[node].attributes,
                                   "number", number);
    }
    for (uint32_t i = 0; i < t->threads && !err; i++)
        use_neighbours(application, i, t->threads);
    paths_generate_options options = {.application = application,
                                      .processes = processes};
    /* Enough for all threads of a process, so that many are no large files; of
     * many steps, enough for the one thread that a trace element is for. */
    uint64_t of_thread = (uint64_t)t->steps * 2 * PATHS;
    uint64_t events = of_thread * (t->threads / processes + 1);
    eventspace_instrument_options instrument = {
        .collectors = EVENTSPACE_ALL_COLLECTORS,
        .trace_capacity = events < 262144      ? events
                          : of_thread > 262144 ? of_thread
                                               : 0};
    if (!err)
        err = paths_generate(&plain, &options);
    if (!err)
        err = eventspace_instrument(&t->map, plain, &instrument);
    paths_map_destroy(plain);
    paths_map_destroy(application);
    return err;
}

/* --- the times --- */

/* The same numbers at each call. */
static uint64_t noise(uint64_t below)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static int operate(tunnel *t, uint32_t thread, int path, uint64_t end)
{
    eventspace_trace event = {
        .start = t->now[thread],
        .end = end,
        .collector = t->collectors[thread][path],
        .thread = thread,
        .sequence = ++t->sequence[thread],
        .bytes = TUPLE_BYTES,
        .operation = path < FROM_ABOVE ? PASTSET_WRITE : PASTSET_READ_NEXT,
    };
    int err;

    t->now[thread] = end + 2000;
    if (event.collector == UINT32_MAX)
        return 0;
    err = fake_run_event(t->run, &event);
    if (err || t->below[thread][path] == UINT32_MAX)
        return err;
    event.collector = t->below[thread][path];
    event.start += ARRIVES_NS;
    event.end -= ARRIVES_NS;
    return fake_run_event(t->run, &event);
}

static int write_borders(tunnel *t, uint32_t i)
{
    int err = 0;
    for (int path = TO_ABOVE; path <= TO_BELOW && !err; path++) {
        t->written[i][path] = t->now[i] + 60000 + noise(90000);
        if (t->collectors[i][path] != UINT32_MAX)
            err = operate(t, i, path, t->written[i][path]);
    }
    return err;
}

static int read_border(tunnel *t, uint32_t i, int path, uint64_t written)
{
    uint64_t end = t->now[i] + 40000 + noise(60000);
    return operate(t, i, path, written > end ? written + 30000 : end);
}

static int tell(tunnel *t, uint32_t thread, eventspace_scheduling tuple)
{
    char name[NAME_BYTES];

    thread_name(name, thread);
    tuple.thread = thread;
    return fake_run_scheduling(
        t->run, t->map->nodes[paths_map_find_node(t->map, name)].process,
        &tuple);
}

/* In the middle of its computing. */
static int lose_processor(tunnel *t, uint32_t i)
{
    eventspace_scheduling off = {.start = t->now[i] + 1000000,
                                 .kind = EVENTSPACE_THREAD_OFF};

    if (i > 1)
        return 0;
    off.end = off.start + (i == 0 ? 2000000 : 1000000);
    *(i == 0 ? &off.runnable : &off.sleeping) = off.end - off.start;
    *(i == 0 ? &off.preemptions : &off.sleeps) = 1;
    return tell(t, i, off);
}

static int live(tunnel *t, eventspace_scheduling_kind kind)
{
    int err = 0;

    for (uint32_t i = 0; i < t->threads && !err; i++) {
        uint64_t at = kind == EVENTSPACE_THREAD_BEGAN ? t->now[i] - 20000000
                                                      : t->now[i] + 10000000;
        err = tell(t, i,
                   (eventspace_scheduling){.start = at,
                                           .end = at,
                                           .operations = t->sequence[i],
                                           .kind = kind});
    }
    return err;
}

/* --- regions --- */

enum { MAIN, SOLVE, MOMENT, PARTS };

static const struct {
    uint32_t kind;
    const char *name;
} parts[PARTS] = {{EVENTSPACE_DEFINES_REGION, "main"},
                  {EVENTSPACE_DEFINES_REGION, "solve </script><b>"},
                  {EVENTSPACE_DEFINES_MARK, "moment"}};

static uint32_t process_of(const tunnel *t, uint32_t thread)
{
    char name[NAME_BYTES];

    thread_name(name, thread);
    return t->map->nodes[paths_map_find_node(t->map, name)].process;
}

/* See eventspace/define/definition.h. */
static uint32_t part_id(const tunnel *t, uint32_t process, uint32_t part)
{
    uint32_t ranks[256];

    paths_map_rank_processes(t->map, ranks);
    return t->first_part + part * t->map->process_count + ranks[process];
}

static int define_parts(tunnel *t)
{
    char bytes[EVENTSPACE_DEFINITION_BYTES];
    int err = 0;

    for (uint32_t i = 0; i < t->map->node_count; i++) {
        const char *id = paths_node_get(&t->map->nodes[i], "id");
        if (id && strtoul(id, NULL, 10) >= t->first_part)
            t->first_part = (uint32_t)strtoul(id, NULL, 10) + 1;
    }
    for (uint32_t process = 0; process < t->map->process_count; process++)
        for (uint32_t part = 0; part < PARTS && !err; part++) {
            eventspace_definition definition = {.kind = parts[part].kind,
                                                .id = part_id(t, process, part),
                                                .parent = EVENTSPACE_NO_PARENT,
                                                .name = parts[part].name};
            size_t at = 0;
            err = fake_run_define(
                t->run, process, bytes,
                eventspace__definition_encode(bytes, &at, &definition));
        }
    return err;
}

/* Each thread has a stream of its own. */
static int visit(tunnel *t, uint32_t thread, uint32_t part, uint64_t start,
                 uint64_t end)
{
    uint32_t process, before = 0;
    char stream[64] = EVENTSPACE_REGIONS_NAME;
    eventspace_trace event = {.start = start,
                              .end = end,
                              .thread = thread,
                              .bytes = part == MAIN ? 0 : 1,
                              .operation = part == MOMENT
                                               ? EVENTSPACE_TRACE_MARK
                                               : EVENTSPACE_TRACE_REGION};

    if (!t->regions)
        return 0;
    process = process_of(t, thread);
    event.collector = part_id(t, process, part);
    for (uint32_t i = 0; i < thread; i++)
        before += process_of(t, i) == process;
    if (before)
        snprintf(stream, sizeof(stream), EVENTSPACE_REGIONS_NAME "~%u",
                 before + 1);
    return fake_run_event_in(t->run, process, stream, &event);
}

static int read_borders(tunnel *t, uint32_t i)
{
    uint64_t computes;
    int err = 0;
    if (i > 0)
        err = read_border(t, i, FROM_ABOVE, t->written[i - 1][TO_BELOW]);
    if (i + 1 < t->threads && !err)
        err = read_border(t, i, FROM_BELOW, t->written[i + 1][TO_ABOVE]);
    if (!err && t->off)
        err = lose_processor(t, i);
    computes = t->now[i];
    t->now[i] += COMPUTING_NS + noise(COMPUTING_NS / 4);
    if (i == t->threads / 2)
        t->now[i] += COMPUTING_NS / 3;
    if (!err && i == 0)
        err = visit(t, i, MOMENT, computes, computes);
    if (!err)
        err = visit(t, i, SOLVE, computes, t->now[i]);
    return err;
}

static uint32_t running(const tunnel *t, uint32_t step)
{
    return step > t->killed_step ? t->killed_from : t->threads;
}

static int simulate(tunnel *t)
{
    int err = 0;
    for (uint32_t step = 1; step <= t->steps && !err; step++) {
        uint32_t threads = running(t, step);
        if (step > t->killed_step + 1)
            break; /* the others wait for the dead */
        for (uint32_t i = 0; i < threads && !err; i++)
            err = write_borders(t, i);
        for (uint32_t i = 0; i < threads && !err; i++)
            if (i + 1 < threads || threads == t->threads)
                err = read_borders(t, i);
    }
    return err;
}

/* The collector beyond the proxy of a path, if there is one. */
static uint32_t collector_below(const tunnel *t, uint32_t top)
{
    char id[16];
    bool found = false;

    snprintf(id, sizeof(id), "%u", top);
    for (uint32_t i = 0; i < t->map->node_count; i++) {
        const char *own = paths_node_get(&t->map->nodes[i], "id");
        if (!own || strcmp(own, id) != 0)
            continue;
        while (t->map->nodes[i].out_count > 0) {
            i = t->map->edges[t->map->nodes[i].out[0]].to;
            found |= strcmp(t->map->nodes[i].type, "proxy") == 0;
            own = paths_node_get(&t->map->nodes[i], "id");
            if (found && own)
                return (uint32_t)strtoul(own, NULL, 10);
        }
        break;
    }
    return UINT32_MAX;
}

static void find_collectors(tunnel *t)
{
    char name[NAME_BYTES];
    for (uint32_t i = 0; i < t->threads; i++) {
        thread_name(name, i);
        t->now[i] = FAKE_START + 22000000 + noise(3000000);
        for (int path = 0; path < PATHS; path++) {
            t->collectors[i][path] =
                fake_collector(t->map, name, path_names[path]);
            t->below[i][path] = t->hops
                                    ? collector_below(t, t->collectors[i][path])
                                    : UINT32_MAX;
        }
    }
}

static int hang(tunnel *t, uint32_t processes)
{
    char last[NAME_BYTES];
    thread_name(last, t->threads - 1);
    paths_executor_note waits =
        fake_waiting(t->map, "t0", "from_below", "up_1", PASTSET_READ_NEXT,
                     t->sequence[0] + 1, t->now[0] - FAKE_START);
    paths_executor_note computes = fake_activity(
        t->map, last, PATHS_COMPUTING, t->now[t->threads - 1] - FAKE_START);
    paths_executor_note loop = fake_activity(t->map, "t0", PATHS_COMPUTING, 0);
    int err = 0;
    for (uint32_t i = 0; i < processes && !err; i++) {
        fake_run_ended(t->run, i, EVENTSPACE_KILLED, "signal 2 (Interrupt)");
        err = fake_run_note(t->run, i, 0, &loop);
    }
    if (!err)
        err = fake_run_note(t->run, 0, 1, &waits);
    return err ? err : fake_run_note(t->run, processes - 1, 1, &computes);
}

static int make_run(tunnel *t, const char *directory, uint32_t processes)
{
    int err = make_map(t, processes);
    if (err)
        return err;
    t->run = fake_run_begin(directory, t->map);
    if (!t->run)
        return PASTSET_EIO;
    find_collectors(t);
    if (t->off)
        err = live(t, EVENTSPACE_THREAD_BEGAN);
    if (!err && t->regions)
        err = define_parts(t);
    memcpy(t->began, t->now, t->threads * sizeof(*t->began));
    if (!err)
        err = simulate(t);
    for (uint32_t i = 0; i < t->threads && !err; i++)
        err = visit(t, i, MAIN, t->began[i], t->now[i]);
    if (!err && t->off)
        err = live(t, EVENTSPACE_THREAD_ENDED);
    if (!err && t->hanging)
        err = hang(t, processes);
    if (t->killed_step < t->steps)
        fake_run_ended(t->run, processes - 1, EVENTSPACE_KILLED,
                       "killed by signal 9 (Killed)");
    return err ? err : fake_run_end(t->run);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr,
                "usage: %s DIRECTORY THREADS PROCESSES STEPS "
                "[killed|hanging|hops|off|regions]\n",
                argv[0]);
        return 2;
    }
    uint32_t processes = (uint32_t)atoi(argv[3]);
    tunnel t = {.threads = (uint32_t)atoi(argv[2]),
                .steps = (uint32_t)atoi(argv[4])};
    t.hanging = argc > 5 && strcmp(argv[5], "hanging") == 0;
    t.hops = argc > 5 && strcmp(argv[5], "hops") == 0;
    t.off = argc > 5 && strcmp(argv[5], "off") == 0;
    t.regions = argc > 5 && strcmp(argv[5], "regions") == 0;
    t.killed_step =
        argc > 5 && strcmp(argv[5], "killed") == 0 ? t.steps * 2 / 3 : t.steps;
    t.killed_from = t.threads - t.threads / processes;
    t.collectors = calloc(t.threads, sizeof(*t.collectors));
    t.below = calloc(t.threads, sizeof(*t.below));
    t.now = calloc(t.threads, sizeof(*t.now));
    t.began = calloc(t.threads, sizeof(*t.began));
    t.written = calloc(t.threads, sizeof(*t.written));
    t.sequence = calloc(t.threads, sizeof(*t.sequence));
    mkdir(argv[1], 0777);
    int err = make_run(&t, argv[1], processes);
    if (err)
        fprintf(stderr, "%s: %s\n", argv[0], pastset_error());
    paths_map_destroy(t.map);
    free(t.collectors);
    free(t.below);
    free(t.now);
    free(t.began);
    free(t.written);
    free(t.sequence);
    return err ? 1 : 0;
}
