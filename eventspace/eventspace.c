/* eventspace.c - one process of a run, from the application's side. */
#include "eventspace/eventspace.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/collect/trace_elements_internal.h"
#include "eventspace/collect/metric_internal.h"
#include "eventspace/collect/regions_internal.h"
#include "eventspace/collect/scheduling_internal.h"
#include "eventspace/run/meta.h"
#include "eventspace/register_collectors.h"
#include "eventspace/collect/ticks.h"
#include "eventspace/collect/tunable_internal.h"
#include "eventspace/collect/ticks_internal.h"
#include "paths/engine/process.h"

#ifndef EVENTSPACE_VERSION
#define EVENTSPACE_VERSION "0"
#endif

struct eventspace {
    char *directory;
    char *meta_file;
    paths_map *map;
    paths_process *process;
    eventspace_meta meta;
    bool has_meta;
};

/* A descriptor's number from the environment; -1 when there is none. */
static int fd_from(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    long fd;

    if (!text)
        return -1;
    fd = strtol(text, &end, 10);
    return *end || fd < 0 || fd > 1 << 20 ? -1 : (int)fd;
}

/* A step's number from the environment; 0 when there is none. */
static uint64_t step_from(const char *variable)
{
    const char *text = getenv(variable);
    uint64_t step = 0;

    return text && paths_parse_number(text, &step) == 0 ? step : 0;
}

static int key_read(uint8_t key[PATHS_KEY_BYTES])
{
    int fd = fd_from("EVENTSPACE_KEY_FD");
    size_t have = 0;

    while (fd >= 0 && have < PATHS_KEY_BYTES) {
        ssize_t got = read(fd, key + have, PATHS_KEY_BYTES - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        have += (size_t)got;
    }
    if (fd >= 0)
        close(fd);
    if (have < PATHS_KEY_BYTES)
        return pastset_fail(PASTSET_EINVAL,
                            "cannot read the run's key; start this program "
                            "with `eventspace run`");
    return 0;
}

static char *join(const char *directory, const char *name, const char *end)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s%s", directory, name, end) < 0 ? NULL : path;
}

/* The map may give a process another counter than that of its machine. */
static int counter_begin(eventspace *es, const char *name)
{
    const paths_map *map = es->map;
    uint32_t index = paths_map_find_process(map, name);
    int64_t rate_ppb = 0;
    const char *text;
    int err = 0;

    if (index == PATHS_NONE)
        return 0; /* the process says so when it starts */
    text = paths_attributes_get(&map->processes[index].attributes,
                                "counter_offset");
    if (text)
        err = paths_parse_offset(text, &es->meta.counter_offset_ns);
    text =
        paths_attributes_get(&map->processes[index].attributes, "counter_rate");
    if (text && !err)
        err = paths_parse_ppm(text, &rate_ppb);
    return err ? err
               : eventspace_ticks_simulate(es->meta.counter_offset_ns,
                                           rate_ppb);
}

static int meta_begin(eventspace *es, const char *process)
{
    eventspace_meta *meta = &es->meta;
    uint32_t self = paths_map_find_process(es->map, process);

    snprintf(meta->eventspace, sizeof(meta->eventspace), "%s",
             EVENTSPACE_VERSION);
    snprintf(meta->process, sizeof(meta->process), "%s", process);
    snprintf(meta->tick_source, sizeof(meta->tick_source), "%s",
             eventspace_ticks_source());
    meta->pid = (uint32_t)getpid();
    meta->tick_hz = eventspace_ticks_hz();
    meta->map_digest = (int64_t)paths_map_digest(es->map);
    for (uint32_t i = 0; i < es->map->node_count; i++) {
        const paths_map_node *node = &es->map->nodes[i];
        meta->threads += node->kind == PATHS_THREAD && node->process == self;
    }
    eventspace_meta_begin(meta);
    eventspace_ticks_name(meta->counter, sizeof(meta->counter));
    eventspace_meta_machine(meta);
    /* Whoever has a counter of his own has a wall clock of his own too. */
    meta->start_wall_ns += (uint64_t)meta->counter_offset_ns;
    meta->state = EVENTSPACE_RUNNING;
    es->has_meta = true;
    return eventspace_meta_save(meta, es->meta_file);
}

static uint64_t stamp(void)
{
    return eventspace_ticks();
}

static void thread_ends(uint32_t thread, uint32_t operations)
{
    eventspace__tunables_thread_ends();
    eventspace__metrics_thread_ends();
    eventspace__regions_thread_ends();
    eventspace__scheduling_ends(thread, operations);
}

static int start(eventspace *es, const char *directory, const char *name,
                 const eventspace_options *given)
{
    uint8_t key[PATHS_KEY_BYTES];
    char *map_file = join(directory, "pathmap", ".dot");
    char *space_file = join(directory, name, ".space");
    char *drained_file = join(directory, name, ".drained");
    const char *restored = getenv("EVENTSPACE_RESTORED");
    char *restored_space = restored ? join(restored, name, ".space") : NULL;
    paths_process_options options = {
        .process = name,
        .space_file = space_file,
        .listen_fd = fd_from("EVENTSPACE_LISTEN_FD"),
        .key = key,
        .launcher_fd = fd_from("EVENTSPACE_LAUNCHER_FD"),
        .ticks = stamp,
        .thread_begins = eventspace__scheduling_begins,
        .thread_ends = thread_ends,
        .contexts = given->contexts,
        .restored_step = restored ? step_from("EVENTSPACE_RESTORED_STEP") : 0,
        .restored_space = restored_space,
    };
    int err;

    es->directory = strdup(directory);
    es->meta_file = join(directory, name, ".meta");
    if (!map_file || !space_file || !drained_file || !es->directory ||
        !es->meta_file || (restored && !restored_space)) {
        err = pastset_no_memory("for a process");
        goto done;
    }
    err = key_read(key);
    if (err)
        goto done;
    err = eventspace_register();
    if (err)
        goto done;
    err = paths_map_read(&es->map, map_file);
    if (err)
        goto done;
    err = counter_begin(es, name);
    if (err)
        goto done;
    err = meta_begin(es, name);
    if (err)
        goto done;
    options.map = es->map;
    err = paths_process_start(&es->process, &options);
    if (err)
        goto done;
    err = eventspace__drain_open(es->process, drained_file);
    if (!err)
        err = eventspace__regions_open(es->process, es->map);
    if (!err)
        eventspace__scheduling_open(es->process);
    eventspace__tunables_open(es->process);
done:
    explicit_bzero(key, sizeof(key));
    free(map_file);
    free(space_file);
    free(restored_space);
    free(drained_file);
    return err;
}

int eventspace_program(eventspace *es, const char *pattern, paths_main *program,
                       void *argument)
{
    return paths_process_program(es->process, pattern, program, argument);
}

const char *eventspace_directory(const eventspace *es)
{
    return es->directory;
}

typedef struct losses {
    uint64_t events;
    int why;
} losses;

static void lost_add(trace_element *trace, void *context)
{
    losses *all = context;
    uint64_t lost = atomic_load(&trace->lost);

    all->events += lost;
    if (lost)
        all->why = atomic_load(&trace->why);
}

/* Adds one more thing to be said of the process. */
static void __attribute__((format(printf, 2, 3)))
meta_note(eventspace_meta *meta, const char *format, ...)
{
    size_t used = strlen(meta->text);
    char text[200];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    snprintf(meta->text + used, sizeof(meta->text) - used, "%s%s",
             used ? "; " : "", text);
}

static void meta_end(eventspace *es, int status)
{
    losses lost = {0};

    if (!es->has_meta)
        return;
    es->meta.end_tick = eventspace_ticks();
    es->meta.scheduling_ns = eventspace__scheduling_cost_ns();
    es->meta.state = status ? EVENTSPACE_FAILED : EVENTSPACE_FINISHED;
    if (status)
        snprintf(es->meta.text, sizeof(es->meta.text), "%s", pastset_error());
    if (es->process)
        eventspace__traces_each(es->process, lost_add, &lost);
    if (lost.events)
        meta_note(
            &es->meta, "%llu events lost: cannot make their trace element: %s",
            (unsigned long long)lost.events, pastset_status_text(lost.why));
    if (eventspace__ticks_rejected())
        meta_note(
            &es->meta,
            "the kernel rejected the time stamp counter during the run: its "
            "times are uncertain; the next run will use another clock");
    if (eventspace_meta_save(&es->meta, es->meta_file) != 0)
        fprintf(stderr, "error: %s\n", pastset_error());
}

/* Writes how it ended, and gives everything back. */
static void release(eventspace *es, int status)
{
    eventspace__metrics_close();
    eventspace__scheduling_close();
    eventspace__drain_close();
    meta_end(es, status);
    eventspace__regions_close();
    eventspace__tunables_open(NULL);
    paths_process_stop(es->process);
    paths_map_destroy(es->map);
    free(es->meta_file);
    free(es->directory);
    free(es);
}

int eventspace_start(eventspace **out)
{
    return eventspace_start_with(out, &(eventspace_options){0});
}

int eventspace_start_with(eventspace **out, const eventspace_options *options)
{
    const char *directory = getenv("EVENTSPACE_RUN");
    const char *name = getenv("EVENTSPACE_PROCESS");
    eventspace *es;
    int err;

    *out = NULL;
    if (!directory || !name)
        return pastset_fail(
            PASTSET_ENOENT,
            "this program is one process of a run: start it with `eventspace "
            "run MAP --output RUN -- PROGRAM`");
    es = calloc(1, sizeof(*es));
    if (!es)
        return pastset_no_memory("for a process");
    err = start(es, directory, name, options);
    if (err) {
        release(es, err);
        return err;
    }
    *out = es;
    return 0;
}

int eventspace_finish(eventspace *es, int status)
{
    if (!status && es)
        status = paths_process_run(es->process);
    if (status)
        fprintf(stderr, "error: %s\n", pastset_error());
    if (es)
        release(es, status);
    return status ? 1 : 0;
}
