/* traces_threads.c - a thread of the application as an actor: from the start
 * of its process to its last operation, and what it computed after that.
 *
 * Between operations it computes for as long as it had a processor; the rest
 * it slept. But where those who share its processors are more than these, what
 * they used meanwhile it has waited for: the replay makes it wait by itself.
 *
 * Most operations are one after the other. Where several were under way at
 * once (paths_start), each has a beginning and an end, and whatever the thread
 * computed in between comes in between. */
#include "measure/traces/traces_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct operation {
    uint64_t start, end; /* ticks */
    uint32_t stream, event;
    uint32_t sequence;
    bool crossed; /* others were under way */
} operation;

typedef struct timeline {
    traces *t;
    uint32_t thread, process;
    operation *operations; /* by start */
    size_t count;
    size_t *open; /* those under way, by their ends, the next one last */
    size_t open_count;
    int64_t now_ns;
} timeline;

/* --- its operations --- */

static int by_start(const void *a, const void *b)
{
    const operation *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* A collector that stands at the top of several paths is asked once. */
static bool is_first(const scopes_topology *topology, uint32_t top)
{
    for (uint32_t i = top; i-- > 0;) {
        if (topology->tops[i].thread != topology->tops[top].thread)
            return true;
        if (topology->tops[i].collector == topology->tops[top].collector)
            return false;
    }
    return true;
}

/* Adds those of one path; only counts them while there is no room. */
static void take(timeline *line, uint32_t id)
{
    const traces_stream *l = &line->t->streams[id];

    for (uint32_t e = 0; e < l->count; e++) {
        const eventspace_trace *event = scopes_event_at(l->events, e);
        if (event->thread != line->thread)
            continue;
        if (line->operations)
            line->operations[line->count] = (operation){
                event->start, event->end, id, e, event->sequence, false};
        line->count++;
    }
}

static void take_all(timeline *line)
{
    const scopes_topology *topology = line->t->topology;

    line->count = 0;
    for (uint32_t i = 0; i < topology->top_count; i++) {
        if (topology->tops[i].thread == line->thread && is_first(topology, i))
            take(line, topology->tops[i].collector);
    }
}

static void find_crossed(timeline *line)
{
    operation *o = line->operations;
    size_t last = 0; /* whose end is the latest so far */

    for (size_t i = 1; i < line->count; i++) {
        if (o[i].start < o[last].end)
            o[i].crossed = o[last].crossed = true;
        if (o[i].end >= o[last].end)
            last = i;
    }
}

static int collect(timeline *line)
{
    take_all(line);
    line->operations = malloc((line->count + 1) * sizeof(*line->operations));
    line->open = malloc((line->count + 1) * sizeof(*line->open));
    if (!line->operations || !line->open)
        return measure__traces_no_memory();
    take_all(line);
    qsort(line->operations, line->count, sizeof(*line->operations), by_start);
    find_crossed(line);
    return 0;
}

/* --- between operations --- */

/* Up to a moment. While operations are under way it sleeps only for them. */
static void go_on(timeline *line, int64_t to_ns)
{
    traces *t = line->t;
    int64_t from_ns = line->now_ns, all_ns = to_ns - from_ns, cpu_ns, rest_ns;

    if (all_ns <= 0)
        return;
    line->now_ns = to_ns;
    if (!t->times.cpu) {
        if (!line->open_count)
            measure__traces_compute(t, all_ns);
        return;
    }
    cpu_ns =
        measure__traces_cpu(t, line->process, line->thread, from_ns, to_ns);
    measure__traces_compute(t, cpu_ns);
    if (line->open_count)
        return;
    rest_ns = all_ns - cpu_ns;
    measure__traces_sleep(
        t, rest_ns - measure__traces_others_cpu(t, line->process, line->thread,
                                                from_ns, to_ns, rest_ns));
}

/* --- operations --- */

static int64_t ns_of(const timeline *line, uint64_t ticks)
{
    return measure__traces_ns(line->t, line->process, ticks);
}

/* Ends those under way that end before this moment. */
static void end_open(timeline *line, uint64_t until)
{
    int64_t looked_ns;

    while (line->open_count) {
        const operation *o =
            &line->operations[line->open[line->open_count - 1]];
        if (o->end > until)
            break;
        looked_ns = line->now_ns;
        go_on(line, ns_of(line, o->end));
        line->open_count--;
        measure__traces_pass_end(line->t, o->stream, o->event, looked_ns);
    }
}

static void begin(timeline *line, size_t which)
{
    const operation *o = &line->operations[which];
    size_t at = line->open_count++;

    measure__traces_pass_begin(line->t, o->stream, o->event);
    while (at > 0 && line->operations[line->open[at - 1]].end < o->end) {
        line->open[at] = line->open[at - 1];
        at--;
    }
    line->open[at] = which;
}

static void operate(timeline *line, size_t which)
{
    const operation *o = &line->operations[which];

    end_open(line, o->start);
    go_on(line, ns_of(line, o->start));
    if (o->crossed) {
        begin(line, which);
        return;
    }
    line->now_ns = ns_of(line, o->end);
    measure__traces_pass(line->t, o->stream, o->event, line->thread);
}

/* --- a thread --- */

static void finish(timeline *line, int64_t wall_ns)
{
    end_open(line, UINT64_MAX);
    measure__traces_finish(line->t, line->process, line->thread, line->now_ns,
                           wall_ns);
}

static int add_thread(traces *t, uint32_t thread, int64_t wall_ns)
{
    uint32_t process =
        t->topology->map->nodes[t->topology->threads[thread]].process;
    timeline line = {.t = t, .thread = thread, .process = process};
    int err = 0;

    if (process == PATHS_NONE || !t->processes[process].known)
        return 0;
    line.now_ns = t->processes[process].start_ns;
    err = collect(&line);
    if (!err) {
        measure__traces_actor(t, process, line.now_ns);
        for (size_t i = 0; i < line.count; i++)
            operate(&line, i);
        finish(&line, wall_ns);
    }
    free(line.operations);
    free(line.open);
    return err;
}

static void find_last(traces *t)
{
    t->last_ns = 0;
    for (uint32_t i = 0; i < t->topology->top_count; i++) {
        uint32_t id = t->topology->tops[i].collector;
        for (uint32_t e = 0; e < t->streams[id].count; e++) {
            int64_t ns = measure__traces_end(t, id, e);
            t->last_ns = ns > t->last_ns ? ns : t->last_ns;
        }
    }
}

int measure__traces_threads_all(traces *t, int64_t wall_ns)
{
    int err = 0;

    find_last(t);
    for (uint32_t i = 0; i < t->topology->thread_count && !err; i++)
        err = add_thread(t, i, wall_ns);
    return err;
}
