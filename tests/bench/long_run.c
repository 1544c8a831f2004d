/* long_run.c - see long_run.h.
 *
 * The run is a real one: 32 threads on 4 processes, who hand tuples around, add
 * up and meet at a barrier. It is a short one, as 32 threads on a few
 * processors take their time; its events are then written again and again, each
 * time later and with higher numbers, until there are enough. So streams,
 * rounds, waits and exchanges between processes are as they were. */
#include "tests/bench/long_run.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/eventspace.h"
#include "eventspace/instrument.h"
#include "eventspace/launch/launch.h"
#include "eventspace/run/run.h"
#include "eventspace/run/run_writer.h"
#include "paths/generate/generate.h"
#include "pastset/space.h"
#include "tests/bench/bench.h"

#define PROCESSES 4
#define THREADS 32
#define STEPS 1000
#define READ_BYTES (1 << 20)

/* --- the program: one process of the run --- */

static int work(paths_thread *self, void *argument)
{
    paths_path *right, *left, *total, *turn;
    double x = paths_thread_number(self);
    uint64_t token = 0;
    int err = paths_open(&right, self, "right");

    (void)argument;
    if (!err)
        err = paths_open(&left, self, "left");
    if (!err)
        err = paths_open(&total, self, "total");
    if (!err)
        err = paths_open(&turn, self, "turn");
    for (int i = 0; i < STEPS && !err; i++) {
        err = paths_write(right, &token, sizeof(token));
        if (!err)
            err = paths_observe(left, &token, sizeof(token));
        if (!err)
            err = paths_exchange(total, &x, sizeof(x), &x, sizeof(x));
        if (!err)
            err = paths_barrier(turn);
    }
    return err;
}

void bench_long_run_process(void)
{
    eventspace *es;
    int err;

    if (!getenv("EVENTSPACE_RUN"))
        return;
    err = eventspace_start(&es);
    if (!err)
        err = eventspace_program(es, "*", work, NULL);
    exit(eventspace_finish(es, err));
}

/* --- the short run --- */

static void map_save(const char *file)
{
    paths_generate_options options = {.processes = PROCESSES};
    eventspace_instrument_options all = {.collectors =
                                             EVENTSPACE_ALL_COLLECTORS};
    paths_map *mapping, *map, *instrumented;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fprintf(out, "digraph bench {\n");
    for (int i = 0; i < THREADS; i++)
        fprintf(out,
                "t%d [kind=thread, number=%d];\n"
                "ring_%d [kind=element, type=\"u64\", capacity=4, "
                "policy=block];\n",
                i, i, i);
    fprintf(out, "total [kind=element, type=\"f64\", capacity=2];\n"
                 "turn [kind=element];\n");
    for (int i = 0; i < THREADS; i++)
        fprintf(out,
                "t%d -> ring_%d [as=right, use=write];\n"
                "t%d -> ring_%d [as=left, use=read];\n"
                "t%d -> total [use=sum];\n"
                "t%d -> turn [use=barrier];\n",
                i, i, i, (i + THREADS - 1) % THREADS, i, i);
    fprintf(out, "}\n");
    fclose(out);
    bench_check(paths_map_parse(&mapping, text, bytes, "bench"), "mapping");
    options.application = mapping;
    bench_check(paths_generate(&map, &options), "map");
    bench_check(eventspace_instrument(&instrumented, map, &all), "instrument");
    bench_check(paths_map_save(instrumented, file), file);
    paths_map_destroy(instrumented);
    paths_map_destroy(map);
    paths_map_destroy(mapping);
    free(text);
}

void bench_short_run(const char *scratch, char *bench)
{
    char program[1024], file[200], directory[200];
    char *arguments[] = {program, bench, NULL};
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    eventspace_launch_options options = {
        .map_file = file, .directory = directory, .argv = arguments};
    int exit_code;

    program[length > 0 ? length : 0] = 0;
    snprintf(file, sizeof(file), "%s/map.dot", scratch);
    snprintf(directory, sizeof(directory), "%s/short", scratch);
    map_save(options.map_file);
    bench_check(eventspace_launch(&options, &exit_code), "run");
    if (exit_code != 0)
        bench_check(PASTSET_EAPP, "the run whose views are to be made");
}

/* --- the long one, made of it --- */

typedef struct longer {
    const paths_map *map;
    uint64_t first, last;  /* ticks */
    uint32_t *sequences;   /* the highest, by thread */
    uint64_t events, made; /* of the short run; of the long one */
    uint32_t times;
    pastset_space *space;
    pastset_element *stream;
    eventspace_trace *kept; /* of the stream */
    size_t count, capacity;
} longer;

static int measure_event(const eventspace_trace *event, void *context)
{
    longer *l = context;

    if (event->start < l->first)
        l->first = event->start;
    if (event->end > l->last)
        l->last = event->end;
    if (event->thread < THREADS &&
        event->sequence > l->sequences[event->thread])
        l->sequences[event->thread] = event->sequence;
    l->events++;
    return 0;
}

static void stream_keep(longer *l, const eventspace_stream *given)
{
    eventspace_stream stream = *given;
    uint64_t index = 0;
    size_t count;

    l->count = 0;
    do {
        if (l->capacity - l->count < 4096) {
            l->capacity += 65536;
            l->kept = realloc(l->kept, l->capacity * sizeof(*l->kept));
            if (!l->kept)
                bench_check(PASTSET_ENOMEM, stream.name);
        }
        if (eventspace_stream_read(&stream, &index, l->kept + l->count, 4096,
                                   &count) != 0)
            break;
        l->count += count;
        index += count;
    } while (count > 0);
}

/* Writes the stream's events as often as they are wanted. */
static int stream_copy(const eventspace_stream *stream, void *context)
{
    longer *l = context;
    uint64_t period = l->last - l->first + 1000;
    pastset_element_options options = {
        .name = stream->name, .policy = PASTSET_GROW, .single_writer = true};
    pastset_element *to;
    pastset_type type;

    stream_keep(l, stream);
    if (l->count == 0)
        return 0;
    bench_check(pastset_type_parse(&type, EVENTSPACE_TRACE_TYPE), "type");
    options.type = &type;
    options.capacity = l->count * l->times;
    bench_check(pastset_element_create(&to, l->space, &options), stream->name);
    for (uint64_t k = 0; k < l->times; k++) {
        for (size_t i = 0; i < l->count; i++) {
            eventspace_trace event = l->kept[i];
            event.start += k * period;
            event.end += k * period;
            event.sequence += (uint32_t)k * l->sequences[event.thread];
            bench_check(eventspace_run_writer_trace(to, &event), stream->name);
        }
    }
    l->made += l->count * l->times;
    return 0;
}

static void process_copy(longer *l, eventspace_run *run, size_t process,
                         const char *to)
{
    const eventspace_run_process *from =
        eventspace_run_process_at(run, process);
    eventspace_meta meta = from->meta;
    char file[300];
    pastset_space_options options = {.path = file};

    snprintf(file, sizeof(file), "%s/%s.meta", to, from->name);
    meta.end_tick += (l->times - 1) * (l->last - l->first + 1000);
    bench_check(eventspace_meta_save(&meta, file), file);
    snprintf(file, sizeof(file), "%s/%s.space", to, from->name);
    bench_check(pastset_space_create(&l->space, &options), file);
    bench_check(eventspace_run_streams_each(run, process, stream_copy, l),
                file);
    pastset_space_close(l->space);
}

uint64_t bench_long_run(const char *scratch, const char *name, uint64_t events)
{
    char from[200], to[200];
    uint32_t sequences[THREADS] = {0};
    longer l = {.first = UINT64_MAX, .sequences = sequences};
    eventspace_run *run;
    char file[300];

    snprintf(from, sizeof(from), "%s/short", scratch);
    snprintf(to, sizeof(to), "%s/%s", scratch, name);
    if (mkdir(to, 0700) != 0)
        bench_check(pastset_status_from_errno(errno), to);
    bench_check(eventspace_run_open(&run, from), from);
    for (size_t i = 0; i < PROCESSES; i++)
        bench_check(eventspace_run_each(run, i, measure_event, &l), from);
    l.times = (uint32_t)((events + l.events / 2) / l.events);
    snprintf(file, sizeof(file), "%s/pathmap.dot", to);
    bench_check(paths_map_save(eventspace_run_map(run), file), file);
    for (size_t i = 0; i < PROCESSES; i++)
        process_copy(&l, run, i, to);
    eventspace_run_close(run);
    free(l.kept);
    return l.made;
}

/* --- the limits --- */

/* Reads the run's files from the first byte to the last, and writes them to
 * `to` unless that is -1. Gives how many bytes these are. */
static uint64_t files_read(const char *scratch, const char *run, int to)
{
    static char buffer[READ_BYTES];
    uint64_t bytes = 0;

    for (int i = 0; i < PROCESSES; i++) {
        char name[300];
        ssize_t got;
        int fd;
        snprintf(name, sizeof(name), "%s/%s/h%d.space", scratch, run, i);
        fd = open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            bench_check(pastset_status_from_errno(errno), name);
        while ((got = read(fd, buffer, sizeof(buffer))) > 0) {
            bytes += (uint64_t)got;
            if (to >= 0 && write(to, buffer, (size_t)got) != got)
                bench_check(PASTSET_ENOSPC, "a copy of the run's files");
        }
        close(fd);
    }
    return bytes;
}

double bench_long_run_read_ms(const char *scratch, const char *run,
                              uint64_t events)
{
    double begin = bench_now_ns();
    uint64_t bytes = files_read(scratch, run, -1);

    begin = (bench_now_ns() - begin) / 1e6;
    if (bytes < events * EVENTSPACE_TRACE_BYTES ||
        bytes > events * EVENTSPACE_TRACE_BYTES / 10 * 11)
        bench_check(PASTSET_EFORMAT, "the sizes of the run's files");
    return begin;
}

void bench_long_run_copy(const char *scratch, const char *run)
{
    char name[BENCH_SCRATCH + 20];
    int fd;

    snprintf(name, sizeof(name), "%s/copy.XXXXXX", scratch);
    fd = mkstemp(name);
    if (fd < 0)
        bench_check(pastset_status_from_errno(errno), name);
    unlink(name);
    files_read(scratch, run, fd);
    close(fd);
}

/* --- where it is --- */

void bench_scratch_make(char scratch[static BENCH_SCRATCH])
{
    const char *folder = getenv("TMPDIR");

    snprintf(scratch, BENCH_SCRATCH, "%s/es_bench.XXXXXX",
             folder && *folder ? folder : "/tmp");
    if (!mkdtemp(scratch))
        bench_check(pastset_status_from_errno(errno), scratch);
}

static int forget(const char *name, const struct stat *status, int kind,
                  struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(name);
}

void bench_scratch_remove(const char *scratch)
{
    nftw(scratch, forget, 8, FTW_DEPTH | FTW_PHYS);
}
