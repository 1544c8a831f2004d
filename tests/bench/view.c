/* view.c - what views cost: of a run with 4.6 million events, from its files
 * in the page cache to the table, against one sequential read of as many bytes.
 *
 * The run is a real one: 32 threads on 4 processes, who hand tuples around, add
 * up and meet at a barrier. It is a short one, as 32 threads on a few
 * processors take their time; its events are then written again and again, each
 * time later and with higher numbers, until there are enough. So streams,
 * rounds, waits and exchanges between processes are as they were. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "eventspace/eventspace.h"
#include "eventspace/instrument.h"
#include "eventspace/launch/launch.h"
#include "eventspace/run/run.h"
#include "paths/generate/generate.h"
#include "pastset/space.h"
#include "scopes/views/view.h"
#include "tests/bench/bench.h"

#define PROCESSES 4
#define THREADS 32
#define STEPS 1000
#define EVENTS 4600000
#define TURNS 5
#define READ_BYTES (1 << 20)

static char scratch[64];

static const char *file_of(const char *name)
{
    static char names[8][160];
    static unsigned next;
    char *out = names[next++ % 8];
    snprintf(out, sizeof(names[0]), "%s/%s", scratch, name);
    return out;
}

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

static void process_be(void)
{
    eventspace *es;
    int err = eventspace_start(&es);

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

static void run_short(const char *directory)
{
    char program[1024], view[] = "view";
    char *arguments[] = {program, view, NULL};
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    eventspace_launch_options options = {.map_file = file_of("map.dot"),
                                         .directory = directory,
                                         .argv = arguments};
    int exit_code;

    program[length > 0 ? length : 0] = 0;
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
            bench_check(
                pastset_write(to, &event, sizeof(event), PASTSET_NOWAIT, NULL),
                stream->name);
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
    char file[200];
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

static uint64_t run_lengthen(const char *from, const char *to)
{
    uint32_t sequences[THREADS] = {0};
    longer l = {.first = UINT64_MAX, .sequences = sequences};
    eventspace_run *run;
    char file[200];

    bench_check(eventspace_run_open(&run, from), from);
    for (size_t i = 0; i < PROCESSES; i++)
        bench_check(eventspace_run_each(run, i, measure_event, &l), from);
    l.times = (uint32_t)((EVENTS + l.events - 1) / l.events);
    snprintf(file, sizeof(file), "%s/pathmap.dot", to);
    bench_check(paths_map_save(eventspace_run_map(run), file), file);
    for (size_t i = 0; i < PROCESSES; i++)
        process_copy(&l, run, i, to);
    eventspace_run_close(run);
    free(l.kept);
    return l.made;
}

/* --- the limit --- */

/* Reads the run's files from the first byte to the last: hardly more than the
 * bytes of its events. */
static double limit_ms(uint64_t events)
{
    static char buffer[READ_BYTES];
    double begin = bench_now_ns();
    uint64_t bytes = 0;

    for (int i = 0; i < PROCESSES; i++) {
        char name[32];
        ssize_t got;
        int fd;
        snprintf(name, sizeof(name), "long/h%d.space", i);
        fd = open(file_of(name), O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            bench_check(pastset_status_from_errno(errno), name);
        while ((got = read(fd, buffer, sizeof(buffer))) > 0)
            bytes += (uint64_t)got;
        close(fd);
    }
    begin = (bench_now_ns() - begin) / 1e6;
    if (bytes < events * EVENTSPACE_TRACE_BYTES ||
        bytes > events * EVENTSPACE_TRACE_BYTES / 10 * 11)
        bench_check(PASTSET_EFORMAT, "the sizes of the run's files");
    return begin;
}

/* --- views --- */

typedef struct made {
    eventspace_run *run;
    scopes_source *source;
    scopes_event_table *event_table;
    scopes_topology *topology;
    scopes_clocks *clocks;
    uint64_t rows;
} made;

static void load(made *m)
{
    bench_check(eventspace_run_open(&m->run, file_of("long")), "open");
    bench_check(scopes_source_open(&m->source, m->run), "source");
    bench_check(scopes_event_table_load(&m->event_table, m->source, NULL),
                "load");
}

static void prepare(made *m)
{
    bench_check(scopes_topology_create(&m->topology, m->event_table->map),
                "ways");
    bench_check(scopes_clocks_create(&m->clocks, m->run, m->event_table,
                                     m->topology, SCOPES_CLOCK_HULL,
                                     PATHS_NONE),
                "clocks");
}

static void view_make(made *m, const scopes_view *view)
{
    scopes_view_input view_input = {.map = m->event_table->map,
                                    .topology = m->topology,
                                    .event_table = m->event_table,
                                    .clocks = m->clocks,
                                    .threads = NULL};
    scopes_table *table;

    bench_check(scopes_view_make(&table, view, &view_input), view->name);
    m->rows = scopes_table_rows(table);
    scopes_table_destroy(table);
}

static void unload(made *m)
{
    scopes_clocks_destroy(m->clocks);
    scopes_topology_destroy(m->topology);
    scopes_event_table_destroy(m->event_table);
    scopes_source_close(m->source);
    eventspace_run_close(m->run);
}

/* `tuples` has a row for each event, and is for other programs to read. */
static bool is_standard(const scopes_view *view)
{
    return strcmp(view->name, "tuples") != 0;
}

typedef enum part { LOAD, CLOCKS, ONE_VIEW, ALL_VIEWS } part;

static double make_ms(part what, const scopes_view *view)
{
    made m = {0};
    double begin = bench_now_ns(), end;

    load(&m);
    if (what >= CLOCKS)
        prepare(&m);
    if (what == ONE_VIEW)
        view_make(&m, view);
    for (size_t i = 0; what == ALL_VIEWS && scopes_view_at(i); i++) {
        if (is_standard(scopes_view_at(i)))
            view_make(&m, scopes_view_at(i));
    }
    end = bench_now_ns();
    unload(&m);
    return (end - begin) / 1e6;
}

static void measure(const char *name, part what, const scopes_view *view,
                    uint64_t events)
{
    double views[TURNS], limits[TURNS];
    char whole[64];

    for (int i = 0; i < TURNS; i++) {
        limits[i] = limit_ms(events);
        views[i] = make_ms(what, view);
    }
    snprintf(whole, sizeof(whole), "view.%s", name);
    bench_print(whole, bench_median(views, TURNS), "ms",
                bench_median(limits, TURNS));
}

static int forget(const char *name, const struct stat *status, int kind,
                  struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(name);
}

void bench_view(void)
{
    uint64_t events;

    if (getenv("EVENTSPACE_RUN"))
        process_be();
    strcpy(scratch, "/tmp/es_bench.XXXXXX");
    if (!mkdtemp(scratch) || mkdir(file_of("long"), 0700) != 0)
        bench_check(pastset_status_from_errno(errno), scratch);
    run_short(file_of("short"));
    events = run_lengthen(file_of("short"), file_of("long"));
    measure("load", LOAD, NULL, events);
    measure("clocks", CLOCKS, NULL, events);
    for (size_t i = 0; scopes_view_at(i); i++)
        measure(scopes_view_at(i)->name, ONE_VIEW, scopes_view_at(i), events);
    measure("all", ALL_VIEWS, NULL, events);
    nftw(scratch, forget, 8, FTW_DEPTH | FTW_PHYS);
}
