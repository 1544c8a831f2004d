/* export_run.c - what of a run is exported, and by which clocks. */
#include "viewer/export/export_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "viewer/tables/table_print.h"

/* --- being stopped --- */

volatile sig_atomic_t viewer_export_stop;

int viewer__export_stopped(void)
{
    return viewer_export_stop ? pastset_fail(PASTSET_ECANCELED, "interrupted")
                              : 0;
}

/* --- clocks and the window --- */

/* Clocks as the views have them; but no events are loaded with them: there are
 * none so late, and of the last part none of these threads. */
static int align(viewer__export *e)
{
    static const paths_number_list nobody;
    scopes_snapshot_options wanted = SCOPES_SNAPSHOT_ALL;
    int err;

    wanted.too_many = UINT64_MAX;
    wanted.threads = &nobody;
    if (e->options->last_ns > 0)
        wanted.last_ns = e->options->last_ns;
    else
        wanted.from_ns = wanted.to_ns = INT64_MAX / 8;
    err = scopes_snapshot_take(&e->aligned, e->run, &wanted);
    if (err)
        return err;
    e->topology = e->aligned->topology;
    e->source = e->aligned->source;
    e->clocks = e->aligned->clocks;
    e->from_ns =
        e->options->last_ns > 0 ? e->aligned->from_ns : e->options->from_ns;
    e->to_ns = e->options->last_ns > 0 ? INT64_MAX : e->options->to_ns;
    return 0;
}

/* May a process write of what it defines from now on? */
static bool goes_on(const eventspace_run *run)
{
    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        const eventspace_run_process *p = eventspace_run_process_at(run, i);
        if (p->has_meta ? p->meta.state == EVENTSPACE_RUNNING : !p->has_space)
            return true;
    }
    return false;
}

static bool has_id(const viewer__export *e, uint32_t id)
{
    const scopes_topology *topology = e->topology;

    return (id < topology->collectors && topology->nodes[id] != PATHS_NONE) ||
           eventspace_run_definition_of(e->run, id);
}

/* Names are taken once. So of a run that goes on, events of collectors, regions
 * and threads that are not there yet are left to the next export. */
static int leave_later(viewer__export *e, uint32_t ids)
{
    e->known.count = e->topology->thread_count;
    e->known.has = calloc(e->known.count + 1, sizeof(bool));
    if (!e->known.has)
        return pastset_no_memory("for an export");
    memset(e->known.has, true, e->known.count);
    if (!e->options->threads)
        e->filter.threads = &e->known;
    for (uint32_t i = 0; i < ids; i++)
        e->collectors[i] &= has_id(e, i);
    e->filter.collectors = e->collectors;
    e->filter.collector_count = ids;
    return 0;
}

static int set_filter(viewer__export *e)
{
    uint32_t processes = e->topology->map->process_count;
    uint32_t ids = eventspace_run_ids(e->run);

    e->from_ticks = calloc(processes + 1, sizeof(*e->from_ticks));
    e->to_ticks = calloc(processes + 1, sizeof(*e->to_ticks));
    e->collectors = calloc(ids + 1, sizeof(*e->collectors));
    if (!e->from_ticks || !e->to_ticks || !e->collectors)
        return pastset_no_memory("for an export");
    for (uint32_t i = 0; i < processes; i++) {
        if (e->from_ns != INT64_MIN)
            e->from_ticks[i] = scopes_clocks_ticks(e->clocks, i, e->from_ns);
        e->to_ticks[i] = e->to_ns == INT64_MAX
                             ? UINT64_MAX
                             : scopes_clocks_ticks(e->clocks, i, e->to_ns);
        if (!viewer__export_has_process(e, i))
            e->from_ticks[i] = UINT64_MAX; /* nothing is so late */
    }
    if (e->from_ns != INT64_MIN || e->to_ns != INT64_MAX ||
        e->options->processes) {
        e->filter.from_ticks = e->from_ticks;
        e->filter.to_ticks = e->to_ticks;
    }
    e->filter.threads = e->options->threads;
    for (uint32_t i = 0; i < ids; i++)
        e->collectors[i] = !e->options->collectors ||
                           paths_number_list_has(e->options->collectors, i);
    if (e->options->collectors) {
        e->filter.collectors = e->collectors;
        e->filter.collector_count = ids;
    }
    return goes_on(e->run) ? leave_later(e, ids) : 0;
}

static uint64_t first_wall_ns(const eventspace_run *run)
{
    uint64_t first = UINT64_MAX;

    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        const eventspace_run_process *p = eventspace_run_process_at(run, i);
        if (p->has_meta && p->meta.start_wall_ns < first)
            first = p->meta.start_wall_ns;
    }
    return first == UINT64_MAX ? 0 : first;
}

int viewer__export_open(viewer__export *out, eventspace_run *run,
                        const viewer_export_options *options)
{
    int err;

    *out = (viewer__export){.run = run, .options = options};
    err = align(out);
    if (!err)
        err = set_filter(out);
    if (err)
        viewer__export_close(out);
    else
        out->start_wall_ns = first_wall_ns(run);
    return err;
}

void viewer__export_close(viewer__export *e)
{
    scopes_snapshot_destroy(e->aligned);
    free(e->from_ticks);
    free(e->to_ticks);
    free(e->collectors);
    free(e->known.has);
    *e = (viewer__export){0};
}

/* --- what is asked for, and names --- */

bool viewer__export_has_process(const viewer__export *e, uint32_t process)
{
    return !e->options->processes || e->options->processes[process];
}

bool viewer__export_has_thread(const viewer__export *e, uint32_t thread)
{
    const scopes_topology *topology = e->topology;
    uint32_t process;

    if (thread >= topology->thread_count ||
        topology->threads[thread] == PATHS_NONE)
        return false;
    if (e->options->threads &&
        !paths_number_list_has(e->options->threads, thread))
        return false;
    process = topology->map->nodes[topology->threads[thread]].process;
    return process != PATHS_NONE && viewer__export_has_process(e, process);
}

const char *viewer__export_id_name(const viewer__export *e, uint32_t id)
{
    const eventspace_run_definition *defined =
        eventspace_run_definition_of(e->run, id);

    return defined ? defined->name
                   : scopes_topology_collector_name(e->topology, id);
}

/* --- facts --- */

/* An object to which something cannot be added is none any more. */
static void put(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value) == 0)
        return;
    json_decref(*object);
    *object = NULL;
}

static json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *process_facts(const viewer__export *e, size_t i)
{
    static const char *const hows[] = {"reference", "shared", "exchanges",
                                       "wall clock", "none"};
    const eventspace_run_process *p = eventspace_run_process_at(e->run, i);
    const scopes_clock *clock = scopes_clocks_process(e->clocks, (uint32_t)i);
    json_t *out = json_object();

    put(&out, "process", viewer_json_text(p->name));
    put(&out, "state",
        json_string(p->has_meta ? eventspace_state_name(p->meta.state)
                                : "missing"));
    put(&out, "pid", p->has_meta ? json_integer(p->meta.pid) : json_null());
    put(&out, "clock", json_string(hows[clock->how]));
    put(&out, "certain_ns", real_or_null(clock->certain_ns));
    put(&out, "problem", viewer_json_text(p->problem));
    return out;
}

static json_t *processes_facts(const viewer__export *e)
{
    size_t count = eventspace_run_process_count(e->run);
    json_t *out = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(out, process_facts(e, i));
    if (json_array_size(out) == count)
        return out;
    json_decref(out);
    return NULL;
}

json_t *viewer__export_facts(const viewer__export *e)
{
    const scopes_ledger *ledger = &e->ledger;
    json_t *out = json_object();

    put(&out, "time",
        json_string("since the start of the first process, by "
                    "aligned clocks"));
    put(&out, "start_unix_ns", json_integer((json_int_t)e->start_wall_ns));
    put(&out, "events_recorded", json_integer((json_int_t)ledger->recorded));
    put(&out, "events_read", json_integer((json_int_t)ledger->read));
    put(&out, "events_lost", json_integer((json_int_t)ledger->lost));
    put(&out, "events_filtered", json_integer((json_int_t)ledger->filtered));
    if (e->counter_step_ns > 0)
        put(&out, "counter_step_ns", json_integer(e->counter_step_ns));
    put(&out, "damaged_processes",
        json_integer((json_int_t)eventspace_run_damaged(e->run)));
    put(&out, "processes", processes_facts(e));
    return out;
}
