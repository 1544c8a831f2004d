/* metrics.c - the view "metrics": what the threads of a program counted
 * themselves (eventspace/metric.h).
 *
 * A row is a metric and a thread: how much it counted in all, from when until
 * when, and so how much in a second. With `each`, a row is what came about each
 * 10 ms, by thread and time. With `of`, the metrics of that name. */
#include "scopes/views/view_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

static const scopes_column columns[] = {
    {"metric", "metric", SCOPES_TEXT},
    {"number", "no.", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"total", "total", SCOPES_COUNT},
    {"start_ns", "from ms", SCOPES_TIME_NS},
    {"end_ns", "to ms", SCOPES_TIME_NS},
    {"rate_s", "in a second", SCOPES_REAL},
};

static const scopes_column each_columns[] = {
    {"metric", "metric", SCOPES_TEXT},
    {"number", "no.", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"counted", "counted", SCOPES_COUNT},
    {"start_ns", "from ms", SCOPES_TIME_NS},
    {"end_ns", "to ms", SCOPES_TIME_NS},
    {"rate_s", "in a second", SCOPES_REAL},
};

/* So much, from then until then. */
typedef struct counted {
    const char *metric;
    uint32_t thread;
    uint64_t count;
    int64_t start_ns, end_ns;
} counted;

typedef struct countings {
    counted *all;
    size_t count;
} countings;

static int take(const scopes__named_event *named, void *context)
{
    countings *c = context;
    counted *more = pastset_array_grow(c->all, c->count, sizeof(*more));

    if (!more)
        return pastset_no_memory("for the view metrics");
    c->all = more;
    c->all[c->count++] = (counted){named->what->name, named->event->thread,
                                   eventspace_trace_counted(named->event),
                                   named->start_ns, named->end_ns};
    return 0;
}

/* By metric and thread, and then by time. */
static int compare(const void *left, const void *right)
{
    const counted *a = left, *b = right;
    int metrics = strcmp(a->metric, b->metric);

    if (metrics)
        return metrics;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static void add_row(scopes_table *out, const scopes_topology *topology,
                    const counted *c)
{
    int64_t ns = c->end_ns - c->start_ns;

    scopes_table_text(out, c->metric);
    scopes_table_integer(out, c->thread);
    scopes_table_text(out, scopes_topology_thread_name(topology, c->thread));
    scopes_table_text(
        out, scopes_topology_process_name(
                 topology,
                 topology->map->nodes[topology->threads[c->thread]].process));
    scopes_table_integer(out, (int64_t)c->count);
    scopes_table_integer(out, c->start_ns);
    scopes_table_integer(out, c->end_ns);
    scopes_table_real(out, ns > 0 ? 1e9 * (double)c->count / (double)ns
                                  : (double)NAN);
}

/* What comes behind is of the same metric and thread. */
static counted join(const counted *first, size_t count)
{
    counted sum = *first;

    for (size_t i = 1; i < count; i++) {
        sum.count += first[i].count;
        if (first[i].end_ns > sum.end_ns)
            sum.end_ns = first[i].end_ns;
    }
    return sum;
}

static bool are_alike(const counted *a, const counted *b)
{
    return a->thread == b->thread && strcmp(a->metric, b->metric) == 0;
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    countings c = {0};
    int err = scopes__named_events(view_input, true, take, &c);

    if (!err && c.count)
        qsort(c.all, c.count, sizeof(*c.all), compare);
    for (size_t i = 0, next; i < c.count && !err; i = next) {
        counted row;
        for (next = i + 1; next < c.count && !view_input->each &&
                           are_alike(&c.all[i], &c.all[next]);)
            next++;
        row = join(&c.all[i], next - i);
        add_row(out, view_input->topology, &row);
    }
    free(c.all);
    return err;
}

const scopes_view scopes__view_metrics = {
    "metrics",
    "what the threads of a program counted themselves",
    "what a thread has counted since the row before",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .make = make,
    .when_empty = "there are no metrics: a program counts by "
                  "eventspace_metric_add (eventspace/metric.h)"};
