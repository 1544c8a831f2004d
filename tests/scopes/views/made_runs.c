/* made_runs.c - see made_runs.h. What is under way is worked out from the map:
 * an operation goes down from collector to collector, and in a collective the
 * last one goes on for all; it comes up again the other way. */
#include "tests/scopes/views/made_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/instrument.h"
#include "eventspace/run/run.h"
#include "paths/generate/generate.h"
#include "pastset/request.h"
#include "scopes/archive/archive.h"
#include "scopes/causality/topology.h"
#include "tests/scopes/fake_run.h"
#include "tests/support/check.h"

#define STEPS 40
#define THREADS 6
#define PATH_MAX_BYTES 4096
#define GROW "trace_policy=grow; "

const made_run made_runs[] = {
    {.name = "whole", .trace = GROW},
    {.name = "window", .trace = GROW, .from_ns = 90000, .to_ns = 200000},
    {.name = "overwritten",
     .trace = "trace_policy=discard; trace_capacity=70; "},
    {.name = "refused", .trace = GROW "trace_capacity=70; "},
    {.name = "gaps", .trace = GROW, .missing = 7},
    {.name = "apart", .trace = GROW, .apart_ns = 3200000123},
    {.name = "apart in a window",
     .trace = GROW,
     .apart_ns = 170000123,
     .from_ns = 90000,
     .to_ns = 200000},
    {.name = "killed", .trace = GROW, .killed = 23},
    {.name = "running",
     .trace = "trace_policy=discard; ",
     .running = 1,
     .from_ns = 90000,
     .to_ns = 200000},
    {.name = "archived", .trace = GROW, .archived = 1},
    {.name = "archives only", .trace = GROW, .archived = 2, .missing = 3},
    {.name = "archives in a window",
     .trace = GROW,
     .archived = 2,
     .from_ns = 90000,
     .to_ns = 200000},
};
const unsigned made_run_count = sizeof(made_runs) / sizeof(*made_runs);

typedef struct making {
    const made_run *kind;
    paths_map *map;
    scopes_topology *topology;
    fake_run *run;
    uint64_t seed;
    int64_t now[THREADS]; /* ns since the start */
    uint32_t sequence[THREADS];
    unsigned step;
    eventspace_trace events[512]; /* under way: without an end */
    size_t count;
} making;

/* Who goes on, and since when. */
typedef struct arrival {
    int64_t ns;
    uint32_t thread;
} arrival;

static uint32_t below(making *m, uint32_t limit)
{
    m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(m->seed >> 33) % limit;
}

static paths_map *map_make(const made_run *kind)
{
    paths_generate_options options = {.processes = 3};
    eventspace_instrument_options all = {.collectors =
                                             EVENTSPACE_ALL_COLLECTORS};
    paths_map *mapping, *map, *instrumented, *read;
    char text[4096], *saved = NULL, *begin, *whole;
    size_t bytes = 0;
    FILE *file = fmemopen(text, sizeof(text), "w");

    fprintf(file, "digraph made { total [kind=element, type=\"f64\", "
                  "capacity=2]; turn [kind=element];\n");
    for (int i = 0; i < THREADS; i++)
        fprintf(file,
                "t%d [kind=thread, number=%d]; ring%d [kind=element, "
                "type=\"u64\", capacity=2, policy=block];\n",
                i, i, i);
    for (int i = 0; i < THREADS; i++)
        fprintf(file,
                "t%d -> ring%d [as=right, use=write]; t%d -> ring%d [as=left, "
                "use=read]; t%d -> total [as=total, use=sum]; t%d -> turn "
                "[as=turn, use=barrier];\n",
                i, i, i, (i + THREADS - 1) % THREADS, i, i);
    fprintf(file, "}\n");
    fclose(file);
    check_status(paths_map_parse(&mapping, text, strlen(text), "made"), 0);
    options.application = mapping;
    check_status(paths_generate(&map, &options), 0);
    check_status(eventspace_instrument(&instrumented, map, &all), 0);
    file = open_memstream(&saved, &bytes);
    check_status(paths_map_write(instrumented, file), 0);
    fclose(file);
    begin = strchr(saved, '{') + 1;
    cr_assert_gt(asprintf(&whole, "%.*s %s %s", (int)(begin - saved), saved,
                          kind->trace, begin),
                 0);
    check_status(paths_map_parse(&read, whole, strlen(whole), "made"), 0);
    free(whole);
    free(saved);
    paths_map_destroy(instrumented);
    paths_map_destroy(map);
    paths_map_destroy(mapping);
    return read;
}

/* --- an operation --- */

static void go_down(making *m, uint32_t collector, arrival *who, uint16_t verb)
{
    m->events[m->count++] =
        (eventspace_trace){.start = (uint64_t)who->ns,
                           .collector = collector,
                           .thread = who->thread,
                           .sequence = m->sequence[who->thread],
                           .bytes = 8,
                           .operation = verb};
    who->ns += 20 + below(m, 150);
}

/* Down to the collector `last`, or to the lowest. */
static void go_down_to(making *m, uint32_t collector, uint32_t last,
                       arrival *who, uint16_t verb)
{
    while (collector != PATHS_NONE) {
        go_down(m, collector, who, verb);
        if (collector == last)
            return;
        collector = m->topology->hops[collector].lower;
    }
}

/* The last one to a collective site. */
static arrival arrive(making *m, uint32_t site, uint16_t verb)
{
    const scopes_topology *t = m->topology;
    arrival last = {INT64_MIN, 0};

    for (uint32_t i = 0; i < t->top_count; i++) {
        const scopes_top *top = &t->tops[i];
        arrival who = {m->now[top->thread], top->thread};
        if (top->site != site)
            continue;
        m->sequence[top->thread]++;
        go_down_to(m, top->collector, t->sites[site].inputs.ids[top->input],
                   &who, verb);
        last = who.ns > last.ns ? who : last;
    }
    for (uint32_t i = 0; i < t->site_count; i++) {
        arrival who;
        if (t->sites[i].parent != site)
            continue;
        who = arrive(m, i, verb);
        go_down_to(m, t->sites[i].lower,
                   t->sites[site].inputs.ids[t->sites[i].parent_input], &who,
                   verb);
        last = who.ns > last.ns ? who : last;
    }
    return last;
}

static bool is_there(making *m, const eventspace_trace *event)
{
    const paths_map *map = m->map;
    uint32_t process = map->nodes[m->topology->nodes[event->collector]].process;

    if (below(m, 100) < m->kind->missing)
        return false;
    return !m->kind->killed || process != 1 || m->step < m->kind->killed;
}

static int by_end(const void *left, const void *right)
{
    const eventspace_trace *a = left, *b = right;

    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return (a->start < b->start) - (a->start > b->start);
}

/* All that is under way comes up from `ns` on: those first that are lowest. */
static void come_up(making *m, int64_t ns)
{
    for (size_t i = 0; i < m->count; i++) {
        eventspace_trace *event = &m->events[i];
        event->end = (uint64_t)(ns + (ns - (int64_t)event->start) / 4 + 5);
        if (m->now[event->thread] < (int64_t)event->end + 30)
            m->now[event->thread] = (int64_t)event->end + 30;
    }
    qsort(m->events, m->count, sizeof(*m->events), by_end);
    for (size_t i = 0; i < m->count; i++) {
        eventspace_trace event = m->events[i];
        uint32_t process =
            m->map->nodes[m->topology->nodes[event.collector]].process;
        uint64_t more = FAKE_START + process * (uint64_t)m->kind->apart_ns;
        event.start += more;
        event.end += more;
        if (is_there(m, &event))
            (void)fake_run_event(m->run, &event); /* or it is refused */
    }
    m->count = 0;
}

static void run_collective(making *m, uint32_t site, uint16_t verb)
{
    arrival last = arrive(m, site, verb);

    go_down_to(m, m->topology->sites[site].lower, PATHS_NONE, &last, verb);
    come_up(m, last.ns);
}

/* A thread writes, and its neighbour reads, and may have to wait. */
static void run_pair(making *m, uint32_t writer)
{
    const scopes_topology *t = m->topology;
    uint32_t reader = (writer + 1) % THREADS;
    int64_t latest = 0;

    for (uint32_t i = 0; i < t->top_count; i++) {
        const scopes_top *top = &t->tops[i];
        bool writes = strcmp(top->name, "right") == 0;
        arrival who = {m->now[top->thread], top->thread};
        if (top->thread != (writes ? writer : reader) ||
            (!writes && strcmp(top->name, "left") != 0))
            continue;
        m->sequence[top->thread]++;
        go_down_to(m, top->collector, PATHS_NONE, &who,
                   writes ? PASTSET_WRITE : PASTSET_OBSERVE);
        latest = who.ns > latest ? who.ns : latest;
        if (writes) {
            come_up(m, who.ns);
            latest = who.ns;
        }
    }
    come_up(m, latest);
}

static void run_steps(making *m)
{
    for (m->step = 0; m->step < STEPS; m->step++) {
        for (uint32_t i = 0; i < THREADS; i++)
            m->now[i] += 50 + below(m, m->step % 7 == 0 ? 9000 : 900);
        for (uint32_t i = 0; i < THREADS; i++)
            run_pair(m, i);
        for (uint32_t i = 0; i < m->topology->site_count; i++) {
            if (m->topology->sites[i].parent == PATHS_NONE)
                run_collective(m, i, i == 0 ? PASTSET_EXCHANGE : PASTSET_WRITE);
        }
    }
}

/* --- files --- */

static void meta_change(const making *m, const char *directory, uint32_t i)
{
    char file[PATH_MAX_BYTES];
    eventspace_meta meta;

    snprintf(file, sizeof(file), "%s/%s.meta", directory,
             m->map->processes[i].name);
    check_status(eventspace_meta_load(&meta, file), 0);
    meta.start_tick += i * (uint64_t)m->kind->apart_ns;
    meta.end_tick += i * (uint64_t)m->kind->apart_ns;
    snprintf(meta.counter, sizeof(meta.counter), "counter %u",
             m->kind->apart_ns ? i : 0);
    check_status(eventspace_meta_save(&meta, file), 0);
}

static int stream_save(const eventspace_stream *given, void *context)
{
    eventspace_stream stream = *given;
    eventspace_trace events[256];
    uint64_t index = 0;
    size_t count;

    while (eventspace_stream_read(&stream, &index, events, 256, &count) == 0) {
        check_status(
            scopes_archive_append(context, stream.name, index, events, count),
            0);
        index += count;
    }
    return 0;
}

static void archives_make(const making *m, const char *directory)
{
    eventspace_run *run;

    check_status(eventspace_run_open(&run, directory), 0);
    for (uint32_t i = 0; i < m->map->process_count; i++) {
        const char *name = m->map->processes[i].name;
        char file[PATH_MAX_BYTES];
        scopes_archive_writer *writer;
        snprintf(file, sizeof(file), "%s/%s.archive", directory, name);
        check_status(scopes_archive_writer_open(&writer, file, name), 0);
        check_status(eventspace_run_streams_each(run, i, stream_save, writer),
                     0);
        check_status(scopes_archive_writer_close(writer), 0);
        snprintf(file, sizeof(file), "%s/%s.space", directory, name);
        if (m->kind->archived == 2)
            cr_assert_eq(unlink(file), 0);
    }
    eventspace_run_close(run);
}

void made_run_make(const char *directory, const made_run *kind)
{
    making m = {.kind = kind, .seed = 14};

    m.map = map_make(kind);
    check_status(scopes_topology_create(&m.topology, m.map), 0);
    m.run = fake_run_begin(directory, m.map);
    cr_assert_not_null(m.run);
    run_steps(&m);
    if (kind->killed)
        fake_run_ended(m.run, 1, EVENTSPACE_KILLED, "killed");
    for (uint32_t i = 0; i < m.map->process_count && kind->running; i++)
        fake_run_ended(m.run, i, EVENTSPACE_RUNNING, "");
    check_status(fake_run_end(m.run), 0);
    for (uint32_t i = 0; i < m.map->process_count; i++)
        meta_change(&m, directory, i);
    if (kind->archived)
        archives_make(&m, directory);
    scopes_topology_destroy(m.topology);
    paths_map_destroy(m.map);
}
