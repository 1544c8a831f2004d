/* export_counters.c - counters of an export: how many operations of each
 * process are under way, how many bytes go over each link, and what the program
 * counts itself.
 *
 * The first two are given at fixed steps, 10,000 of them in the run at most,
 * and only when they change. What is in memory is one number for each operation
 * that is under way: when it ends. */
#include "viewer/export/export_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pastset/array.h"
#include "pastset/status.h"

#define STEPS 10000

typedef struct counter {
    viewer__track track;
    char *name;
    int64_t value, given;
    uint32_t collector; /* of a metric: its id */
} counter;

/* The end of an operation of a thread of a process. */
typedef struct ending {
    int64_t end_ns;
    uint32_t process;
} ending;

struct viewer__counters {
    viewer__export *e;
    const viewer__sink *sink;
    void *context;
    uint32_t *track_count;
    const bool *is_top; /* by collector */
    uint32_t processes;
    counter *under_way; /* by process */
    counter *links;
    uint32_t *link_of; /* by collector: PATHS_NONE, where nothing crosses */
    uint32_t link_count;
    counter *metrics; /* by metric and thread */
    size_t metric_count;
    ending *endings; /* a heap */
    size_t ending_count;
    int64_t step_ns, next_step_ns; /* 0: none are given */
};

/* --- steps --- */

static int counter_give(viewer__counters *c, counter *k, int64_t at_ns)
{
    int err;

    if (k->value == k->given)
        return 0;
    k->given = k->value;
    if (k->track.id == UINT32_MAX) {
        k->track.id = (*c->track_count)++;
        err = c->sink->track ? c->sink->track(c->context, &k->track) : 0;
        if (err)
            return err;
    }
    return c->sink->counter(c->context, &k->track, at_ns, k->value);
}

static void ending_swap(viewer__counters *c, size_t a, size_t b)
{
    ending kept = c->endings[a];

    c->endings[a] = c->endings[b];
    c->endings[b] = kept;
}

static int ending_add(viewer__counters *c, const viewer__event *event)
{
    ending *more =
        pastset_array_grow(c->endings, c->ending_count, sizeof(*more));
    size_t at = c->ending_count;

    if (!more)
        return pastset_no_memory("for an export");
    c->endings = more;
    more[c->ending_count++] = (ending){event->end_ns, event->process};
    for (; at > 0 && more[(at - 1) / 2].end_ns > more[at].end_ns;
         at = (at - 1) / 2)
        ending_swap(c, at, (at - 1) / 2);
    return 0;
}

static void ending_take(viewer__counters *c)
{
    size_t at = 0;

    c->under_way[c->endings[0].process].value--;
    c->endings[0] = c->endings[--c->ending_count];
    for (;;) {
        size_t least = at;
        for (size_t i = 2 * at + 1; i <= 2 * at + 2 && i < c->ending_count; i++)
            if (c->endings[i].end_ns < c->endings[least].end_ns)
                least = i;
        if (least == at)
            return;
        ending_swap(c, at, least);
        at = least;
    }
}

/* Gives all counters as they are at a step. What went over links begins to be
 * counted again there. */
static int step(viewer__counters *c, int64_t at_ns)
{
    int err = 0;

    while (c->ending_count > 0 && c->endings[0].end_ns <= at_ns)
        ending_take(c);
    for (uint32_t i = 0; i < c->processes && !err; i++)
        err = counter_give(c, &c->under_way[i], at_ns);
    for (uint32_t i = 0; i < c->link_count && !err; i++) {
        err = counter_give(c, &c->links[i], at_ns);
        c->links[i].value = 0;
    }
    return err;
}

/* Gives the steps up to a time; where nothing changes there are none to give.
 */
static int steps(viewer__counters *c, int64_t now_ns)
{
    int err = 0;

    while (!err && c->next_step_ns <= now_ns) {
        err = step(c, c->next_step_ns);
        if (c->next_step_ns > INT64_MAX - c->step_ns)
            break;
        c->next_step_ns += c->step_ns;
    }
    return err;
}

int viewer__counters_take(viewer__counters *c, const viewer__event *event)
{
    int err;

    if (!c->sink->counter || event->collector >= c->e->topology->collectors)
        return 0;
    err = steps(c, event->start_ns);
    if (!err && c->link_of[event->collector] != PATHS_NONE)
        c->links[c->link_of[event->collector]].value += event->bytes;
    if (err || !c->is_top[event->collector])
        return err;
    c->under_way[event->process].value++;
    return ending_add(c, event);
}

void viewer__counters_begin(viewer__counters *c, int64_t first_ns,
                            int64_t last_ns)
{
    int64_t span_ns = last_ns - first_ns;

    if (!c->sink->counter)
        return;
    c->step_ns = span_ns / STEPS > 1000 ? span_ns / STEPS : 1000;
    c->next_step_ns = first_ns + c->step_ns;
    c->e->counter_step_ns = c->step_ns;
}

int viewer__counters_end(viewer__counters *c, int64_t last_ns)
{
    int err;

    if (c->step_ns == 0)
        return 0;
    err = steps(c, last_ns);
    /* Two more, for what is left, and for that there is nothing then. */
    if (!err)
        err = step(c, c->next_step_ns);
    return err ? err : step(c, c->next_step_ns + c->step_ns);
}

/* --- the map --- */

static int counter_make(counter *out, uint32_t process, const char *name,
                        bool is_bytes)
{
    out->name = viewer__utf8(name);
    if (!out->name)
        return pastset_no_memory("for an export");
    out->track = (viewer__track){.id = UINT32_MAX,
                                 .kind = VIEWER__TRACK_COUNTER,
                                 .process = process,
                                 .name = out->name,
                                 .is_bytes = is_bytes};
    return 0;
}

/* The counter of the link between two processes, whichever is above. */
static int link_make(viewer__counters *c, uint32_t collector, uint32_t a,
                     uint32_t b)
{
    const scopes_topology *topology = c->e->topology;
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    char name[600];
    counter *more;

    snprintf(name, sizeof(name), "bytes %.250s-%.250s",
             scopes_topology_process_name(topology, low),
             scopes_topology_process_name(topology, high));
    for (uint32_t i = 0; i < c->link_count; i++)
        if (c->links[i].track.process == low &&
            c->links[i].track.number == high) {
            c->link_of[collector] = i;
            return 0;
        }
    more = pastset_array_grow(c->links, c->link_count, sizeof(*more));
    if (!more)
        return pastset_no_memory("for an export");
    c->links = more;
    more[c->link_count] = (counter){0};
    c->link_of[collector] = c->link_count;
    if (counter_make(&more[c->link_count], low, name, true))
        return pastset_no_memory("for an export");
    more[c->link_count++].track.number = high;
    return 0;
}

static int make(viewer__counters *c)
{
    const scopes_topology *topology = c->e->topology;
    const paths_map *map = topology->map;
    int err = 0;

    for (uint32_t i = 0; i < c->processes && !err; i++)
        err = counter_make(&c->under_way[i], i, "operations under way", false);
    for (uint32_t i = 0; i < topology->collectors; i++)
        c->link_of[i] = PATHS_NONE;
    for (uint32_t i = 0; i < topology->collectors && !err; i++) {
        const scopes_hop *hop = &topology->hops[i];
        if (hop->upper == PATHS_NONE || hop->lower == PATHS_NONE ||
            !hop->remote)
            continue;
        err = link_make(c, hop->lower,
                        map->nodes[topology->nodes[hop->upper]].process,
                        map->nodes[topology->nodes[hop->lower]].process);
    }
    return err;
}

/* --- what a program counts --- */

static int metric_find(counter **out, viewer__counters *c,
                       const viewer__event *event)
{
    char name[600];
    counter *more;

    for (size_t i = 0; i < c->metric_count; i++) {
        *out = &c->metrics[i];
        if (c->metrics[i].collector == event->collector &&
            c->metrics[i].track.number == event->thread)
            return 0;
    }
    more = pastset_array_grow(c->metrics, c->metric_count, sizeof(*more));
    if (!more)
        return pastset_no_memory("for an export");
    c->metrics = more;
    more += c->metric_count;
    *more = (counter){.collector = event->collector};
    snprintf(name, sizeof(name), "%.290s of %.290s in a second",
             viewer__export_id_name(c->e, event->collector),
             event->thread < c->e->topology->thread_count
                 ? scopes_topology_thread_name(c->e->topology, event->thread)
                 : "?");
    if (counter_make(more, event->process, name, false))
        return pastset_no_memory("for an export");
    more->track.number = event->thread;
    c->metric_count++;
    *out = more;
    return 0;
}

/* The rate from its start on; the next event of the thread begins where this
 * one ends. */
int viewer__counters_metric(viewer__counters *c, const viewer__event *event)
{
    double s = 1e-9 * (double)(event->end_ns - event->start_ns);
    double count = 4294967296.0 * event->sequence + event->bytes;
    counter *found;
    int err;

    if (!c->sink->counter || s <= 0)
        return 0;
    err = metric_find(&found, c, event);
    if (err)
        return err;
    found->value = count / s < 9e18 ? llround(count / s) : INT64_MAX;
    return counter_give(c, found, event->start_ns);
}

int viewer__counters_create(viewer__counters **out, viewer__export *e,
                            const viewer__sink *sink, void *context,
                            uint32_t *track_count, const bool *is_top)
{
    viewer__counters *c = calloc(1, sizeof(*c));

    *out = c;
    if (!c)
        return pastset_no_memory("for an export");
    *c = (viewer__counters){.e = e,
                            .sink = sink,
                            .context = context,
                            .track_count = track_count,
                            .is_top = is_top,
                            .processes = e->topology->map->process_count};
    c->under_way = calloc(c->processes + 1, sizeof(counter));
    c->link_of = calloc(e->topology->collectors + 1, sizeof(*c->link_of));
    return c->under_way && c->link_of ? make(c)
                                      : pastset_no_memory("for an export");
}

void viewer__counters_destroy(viewer__counters *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; c->under_way && i < c->processes; i++)
        free(c->under_way[i].name);
    for (uint32_t i = 0; i < c->link_count; i++)
        free(c->links[i].name);
    for (size_t i = 0; i < c->metric_count; i++)
        free(c->metrics[i].name);
    free(c->metrics);
    free(c->under_way);
    free(c->links);
    free(c->link_of);
    free(c->endings);
    free(c);
}
