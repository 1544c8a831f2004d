/* export_prometheus.c - the state of a run as text for Prometheus (its
 * exposition format, version 0.0.4): of each process what it has recorded, and
 * of each thread what it is in. For the textfile collector of node_exporter, or
 * whatever serves a file. */
#include "viewer/export/export_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "viewer/tables/facts.h"

typedef struct prometheus {
    viewer__export *e;
    viewer__text *out;
    viewer_facts facts;
    scopes_pending_list *pending;
} prometheus;

/* A label's value is UTF-8, in which these three are escaped. */
static int put_label(viewer__text *out, const char *name, const char *value)
{
    char *plain = viewer__utf8(value);

    if (!plain)
        return pastset_no_memory("for an export");
    viewer__put(out, name);
    viewer__put(out, "=\"");
    for (const char *c = plain; *c; c++) {
        if (*c == '\n')
            viewer__put(out, "\\n");
        else {
            if (*c == '\\' || *c == '"')
                viewer__put(out, "\\");
            viewer__put_bytes(out, c, 1);
        }
    }
    viewer__put(out, "\"");
    free(plain);
    return 0;
}

static void put_head(viewer__text *out, const char *name, const char *type,
                     const char *help)
{
    viewer__put(out, "# HELP ");
    viewer__put(out, name);
    viewer__put(out, " ");
    viewer__put(out, help);
    viewer__put(out, "\n# TYPE ");
    viewer__put(out, name);
    viewer__put(out, " ");
    viewer__put(out, type);
    viewer__put(out, "\n");
}

static void put_value(viewer__text *out, double value)
{
    char text[64];

    snprintf(text, sizeof(text), value == floor(value) ? "%.0f" : "%.9g",
             value);
    viewer__put(out, " ");
    viewer__put(out, text);
    viewer__put(out, "\n");
}

/* --- of processes --- */

typedef double value_of(const prometheus *p, size_t process);

static double is_running(const prometheus *p, size_t i)
{
    const eventspace_run_process *process = p->facts.processes[i].process;

    return process->has_meta && process->meta.state == EVENTSPACE_RUNNING;
}

static double recorded(const prometheus *p, size_t i)
{
    return (double)p->facts.processes[i].events.recorded;
}

static double lost(const prometheus *p, size_t i)
{
    return (double)p->facts.processes[i].events.lost;
}

static double bytes(const prometheus *p, size_t i)
{
    return (double)p->facts.processes[i].events.bytes;
}

static double blocked(const prometheus *p, size_t i)
{
    return (double)p->facts.processes[i].events.blocked_ns / 1e9;
}

static double lasted(const prometheus *p, size_t i)
{
    return (double)p->facts.processes[i].lasted_ns / 1e9;
}

static double threads(const prometheus *p, size_t i)
{
    return p->facts.processes[i].threads;
}

static double under_way(const prometheus *p, size_t process)
{
    double count = 0;

    for (size_t i = 0; i < p->pending->count; i++)
        count += p->pending->items[i].process == process &&
                 p->pending->items[i].thread != PATHS_NONE &&
                 p->pending->items[i].operates;
    return count;
}

static double certain(const prometheus *p, size_t i)
{
    return scopes_clocks_process(p->e->clocks, (uint32_t)i)->certain_ns / 1e9;
}

static const struct {
    const char *name, *type, *help;
    value_of *value;
} metrics[] = {
    {"eventspace_process_running", "gauge",
     "1 while the process of the run is there.", is_running},
    {"eventspace_process_seconds", "gauge",
     "How long the process has run so far.", lasted},
    {"eventspace_process_threads", "gauge",
     "Threads of the program in the process.", threads},
    {"eventspace_events_recorded_total", "counter",
     "Events that collectors of the process have recorded.", recorded},
    {"eventspace_events_lost_total", "counter",
     "Events that were recorded and cannot be read any more.", lost},
    {"eventspace_events_bytes", "gauge", "Bytes of events that can be read.",
     bytes},
    {"eventspace_blocked_seconds_total", "counter",
     "How long collectors have waited for room.", blocked},
    {"eventspace_operations_under_way", "gauge",
     "Threads of the process that are in an operation.", under_way},
    {"eventspace_clock_uncertainty_seconds", "gauge",
     "Half of the interval that certainly holds the clock of the process.",
     certain},
};

static int put_metrics(const prometheus *p)
{
    for (size_t m = 0; m < sizeof(metrics) / sizeof(*metrics); m++) {
        put_head(p->out, metrics[m].name, metrics[m].type, metrics[m].help);
        for (size_t i = 0; i < p->facts.process_count; i++) {
            double value = metrics[m].value(p, i);
            int err;
            if (!isfinite(value))
                continue;
            viewer__put(p->out, metrics[m].name);
            viewer__put(p->out, "{");
            err = put_label(p->out, "process",
                            p->facts.processes[i].process->name);
            if (err)
                return err;
            viewer__put(p->out, "}");
            put_value(p->out, value);
        }
    }
    return 0;
}

/* --- of threads --- */

static int put_thread(const prometheus *p, const scopes_pending *pending)
{
    static const char name[] = "eventspace_operation_seconds";
    int err;

    viewer__put(p->out, name);
    viewer__put(p->out, "{");
    err = put_label(
        p->out, "process",
        scopes_topology_process_name(p->e->topology, pending->process));
    viewer__put(p->out, ",");
    if (!err)
        err = put_label(
            p->out, "thread",
            scopes_topology_thread_name(p->e->topology, pending->thread));
    viewer__put(p->out, ",");
    if (!err)
        err = put_label(p->out, "path", pending->path);
    viewer__put(p->out, ",");
    if (!err)
        err = put_label(p->out, "verb", pastset_verb_name(pending->verb));
    viewer__put(p->out, "}");
    put_value(p->out, (double)pending->lasts_ns / 1e9);
    return err;
}

static int put_threads(const prometheus *p)
{
    int err = 0;

    put_head(p->out, "eventspace_operation_seconds", "gauge",
             "For how long a thread is in the operation that it is in.");
    for (size_t i = 0; i < p->pending->count && !err; i++) {
        const scopes_pending *pending = &p->pending->items[i];
        if (pending->operates && pending->thread != PATHS_NONE &&
            pending->process_state == EVENTSPACE_RUNNING)
            err = put_thread(p, pending);
    }
    return err;
}

int viewer__export_prometheus(viewer__export *e, viewer__text *out)
{
    prometheus p = {.e = e, .out = out};
    int err = viewer_facts_take(&p.facts, e->run);

    if (err)
        return err;
    err = scopes_pending_take(&p.pending, e->run, e->topology);
    if (!err)
        err = put_metrics(&p);
    if (!err)
        err = put_threads(&p);
    scopes_pending_destroy(p.pending);
    viewer_facts_fini(&p.facts);
    return err;
}
