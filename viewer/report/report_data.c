/* report_data.c - the data of a report, as one JSON object.
 *
 *   name, directory, began   of the map; of the run; the time of day
 *   startNs, endNs           first operation to last, from the earliest start;
 *                            the end of the run, if then some were under way
 *   lastStep                 highest step
 *   wouldWait, deadlinePassed  statuses that are no failures
 *   verbs, statuses          names; of statuses only those that occur
 *   events                   {recorded, present, lost}
 *   noEvents                 why there are none, and what to do; else absent
 *   processes [{name, machine, state, text, problem, recorded, present, lost}];
 *             those with one machine, a number or -1, ran on one
 *   threads   [{name, process, operations, steps, startNs, endNs,
 *               communicatingNs, computingNs, runnableNs, sleepingNs,
 *               runnableAfterNs, sleepingAfterNs, waitingNs, waitsFor,
 *               waitsForNs, longestPath, longestVerb, longestNs, lost,
 *               stepsKnown}], by number; `process` is an index or -1;
 *               `runnableAfterNs`: after its last operation; `waitsFor`: the
 *               number of the thread for which it waited longest in all, or -1;
 *               `longestPath`: of its longest operation, or -1
 *   paths     [{thread, name, element, operations, bytes, totalNs,
 *               longestNs}], by thread
 *   pending   [{number, thread, process, state, since_ns, for_ns ...}]: the
 *             rows of the view pending, whose file tells what they are
 *   waitsKnown  some of the waiting is known: see the view waits-for
 *   offKnown    and some of the time off the processor: see scheduling
 *   disturbed   share of their computing in which the threads were runnable, if
 *               that is enough to say so; else 0
 *   timeline  see viewer/timeline/timeline_json.c
 *   fronts    see report_fronts.c
 *   regions   {names, levels [[thread, depth, count]], start, length, name}:
 *             the times in regions, level by level, and by start, as texts of
 *             numbers (viewer/timeline/pack_numbers_internal.h): start (zigzag,
 *             since the one before; of the first since startNs), length, and
 *             place among the names
 *   views     [{name, summary, each, sums, detail}]: those that have rows; sums
 *             and detail (if it is there) are tables as view_json.h tells
 *   panels    [{title, chart, chartColumns, ...}]: tables of view scripts, with
 *             what scripts say of a chart (viewer/sql/script.h)
 *   trust     {eventCostNs, observing, alone}: what an event costs, and the
 *             share of the time of threads that this took; null: not known;
 *             and who was alone (viewer/tables/alone.h), in words
 *   window    it is a part of the run that is shown */
#include "viewer/report/report_internal.h"

#include "pastset/request.h"
#include "pastset/status.h"
#include "viewer/report/report_fronts_internal.h"
#include "viewer/report/report_regions_internal.h"
#include "viewer/tables/table_print.h"
#include "viewer/timeline/timeline_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- processes, threads, paths --- */

static json_t *process_of(const viewer_process_facts *facts, int machine)
{
    return json_pack("{s:o, s:i, s:s, s:o, s:o, s:I, s:I, s:I}", "name",
                     viewer_json_text(facts->process->name), "machine", machine,
                     "state", facts->state, "text",
                     viewer_json_text(facts->text), "problem",
                     viewer_json_text(facts->process->problem), "recorded",
                     (json_int_t)facts->events.recorded, "present",
                     (json_int_t)facts->events.present, "lost",
                     (json_int_t)facts->events.lost);
}

/* Which machine a process ran on: `before` are the machines of those before it,
 * counted from 0; -1: not known. */
static int machine_of(const viewer_facts *facts, size_t process,
                      const int *before)
{
    const eventspace_run_process *own = facts->processes[process].process;
    int machines = 0;

    if (!own->has_meta)
        return -1;
    for (size_t i = 0; i < process; i++) {
        const eventspace_run_process *other = facts->processes[i].process;
        if (other->has_meta &&
            eventspace_meta_same_counter(&own->meta, &other->meta))
            return before[i];
        if (before[i] >= machines)
            machines = before[i] + 1;
    }
    return machines;
}

static json_t *processes_of(const viewer_facts *facts)
{
    int *machines = calloc(facts->process_count + 1, sizeof(*machines));
    json_t *processes = json_array();

    for (size_t i = 0; i < facts->process_count && machines; i++) {
        machines[i] = machine_of(facts, i, machines);
        json_array_append_new(processes,
                              process_of(&facts->processes[i], machines[i]));
    }
    free(machines);
    return processes;
}

static json_t *thread_of(const viewer_timeline *timeline, uint32_t number)
{
    const scopes_thread *thread = &timeline->view->threads[number];
    const scopes_operation *op = &thread->longest_operation;
    const viewer__waited *waited = &timeline->waits.threads[number];
    const scopes_off_time after = timeline->off_after[number];

    return json_pack(
        "{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
        "s:I, s:I, s:I, s:I, s:I, s:I, s:b}",
        "name", viewer_json_text(thread->name), "process",
        (json_int_t)(thread->process == PATHS_NONE
                         ? -1
                         : (json_int_t)thread->process),
        "operations", (json_int_t)thread->operations, "steps",
        (json_int_t)thread->steps, "startNs", (json_int_t)thread->start_ns,
        "endNs", (json_int_t)thread->end_ns, "communicatingNs",
        (json_int_t)thread->communicating_ns, "computingNs",
        (json_int_t)thread->computing_ns, "runnableNs",
        (json_int_t)thread->runnable_ns, "sleepingNs",
        (json_int_t)thread->sleeping_ns, "runnableAfterNs",
        (json_int_t)after.runnable_ns, "sleepingAfterNs",
        (json_int_t)after.sleeping_ns, "waitingNs", (json_int_t)waited->all_ns,
        "waitsFor",
        (json_int_t)(waited->most_ns ? (json_int_t)waited->most_for : -1),
        "waitsForNs", (json_int_t)waited->most_ns, "longestPath",
        (json_int_t)(thread->operations ? (json_int_t)op->path : -1),
        "longestVerb", (json_int_t)op->verb, "longestNs",
        (json_int_t)(op->end_ns - op->start_ns), "lost",
        (json_int_t)thread->lost, "stepsKnown", thread->steps_known);
}

static json_t *threads_of(const viewer_timeline *timeline)
{
    json_t *threads = json_array();
    for (uint32_t i = 0; i < timeline->view->thread_count; i++)
        json_array_append_new(threads, thread_of(timeline, i));
    return threads;
}

static json_t *paths_of(const scopes_communication *view)
{
    json_t *paths = json_array();
    for (size_t i = 0; i < view->path_count; i++) {
        const scopes_path *path = &view->paths[i];
        json_array_append_new(
            paths, json_pack("{s:I, s:o, s:o, s:I, s:I, s:I, s:I}", "thread",
                             (json_int_t)path->thread, "name",
                             viewer_json_text(path->name), "element",
                             viewer_json_text(path->element), "operations",
                             (json_int_t)path->operations, "bytes",
                             (json_int_t)path->bytes, "totalNs",
                             (json_int_t)path->total_ns, "longestNs",
                             (json_int_t)path->longest_ns));
    }
    return paths;
}

static json_t *verbs(void)
{
    json_t *names = json_array();
    for (unsigned verb = 0; verb < PASTSET_ALL_VERBS; verb++)
        json_array_append_new(names, json_string(pastset_verb_name(verb)));
    return names;
}

static json_t *statuses_of(const scopes_communication *view)
{
    json_t *names = json_object();
    for (size_t i = 0; i < view->operation_count; i++) {
        int status = view->operations[i].status;
        char key[16];
        snprintf(key, sizeof(key), "%d", status);
        if (status && !json_object_get(names, key))
            json_object_set_new(names, key,
                                json_string(pastset_status_name(-status)));
    }
    return names;
}

/* "2026-11-21 01:23:45 UTC", of the process that started first. */
static json_t *began(const viewer_facts *facts)
{
    uint64_t first_ns = UINT64_MAX;
    for (size_t i = 0; i < facts->process_count; i++) {
        const eventspace_run_process *process = facts->processes[i].process;
        if (process->has_meta && process->meta.start_wall_ns < first_ns)
            first_ns = process->meta.start_wall_ns;
    }
    char text[64] = "no process has started";
    time_t seconds = (time_t)(first_ns / 1000000000u);
    struct tm parts;
    if (first_ns != UINT64_MAX && gmtime_r(&seconds, &parts))
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts);
    return json_string(text);
}

/* --- what was under way at the end --- */

static json_t *cell_of(const scopes_table *table, size_t row, size_t column)
{
    scopes_cell cell = scopes_table_cell(table, row, column);
    if (scopes_table_column(table, column)->kind == SCOPES_TEXT)
        return viewer_json_text(cell.text);
    return cell.integer == SCOPES_BLANK ? json_null()
                                        : json_integer(cell.integer);
}

static json_t *pending_of(const scopes_table *table)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < scopes_table_rows(table); i++) {
        json_t *row = json_object();
        for (size_t k = 0; k < scopes_table_columns(table); k++)
            json_object_set_new(row, scopes_table_column(table, k)->key,
                                cell_of(table, i, k));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* The times of the page: those of all operations, also of what is pending. */
typedef struct extent {
    json_int_t start_ns, end_ns;
} extent;

static extent extent_of(const scopes_communication *view, const json_t *pending,
                        int64_t from_ns)
{
    extent e = {view->start_ns, view->end_ns};
    bool any = view->operation_count > 0;
    json_t *row;
    size_t i;
    json_array_foreach(pending, i, row)
    {
        json_int_t start = json_integer_value(json_object_get(row, "since_ns"));
        json_int_t end =
            start + json_integer_value(json_object_get(row, "for_ns"));
        start = start < from_ns ? from_ns : start;
        if (!any || start < e.start_ns)
            e.start_ns = start;
        if (!any || end > e.end_ns)
            e.end_ns = end;
        any = true;
    }
    return e;
}

static bool is_off_known(const scopes_communication *view)
{
    for (uint32_t i = 0; i < view->thread_count; i++)
        if (view->threads[i].scheduling_known)
            return true;
    return false;
}

static double disturbed(const scopes_communication *view)
{
    double share = scopes_communication_runnable_share(view);

    return share > SCOPES_DISTURBED ? share : 0;
}

json_t *viewer__report_data(const char *name, const scopes_snapshot *snapshot,
                            const viewer_facts *facts,
                            const viewer_timeline *timeline,
                            const scopes_table *pending,
                            const scopes_table *regions, bool full)
{
    const scopes_communication *view = viewer_timeline_view(timeline);
    json_t *rows = pending_of(pending);
    extent all = extent_of(view, rows, snapshot->from_ns);
    const eventspace_events *events = &facts->total.events;
    return json_pack(
        "{s:o, s:o, s:o, s:I, s:I, s:I, s:i, s:i, s:o, s:o,"
        " s:{s:I, s:I, s:I}, s:o, s:o, s:o, s:o, s:b, s:b, s:f, s:o, s:o, s:o}",
        "name", viewer_json_text(eventspace_run_map(snapshot->run)->name),
        "directory", viewer_json_text(name), "began", began(facts), "startNs",
        all.start_ns, "endNs", all.end_ns, "lastStep",
        (json_int_t)view->last_step, "wouldWait", -PASTSET_EAGAIN,
        "deadlinePassed", -PASTSET_ETIMEDOUT, "verbs", verbs(), "statuses",
        statuses_of(view), "events", "recorded", (json_int_t)events->recorded,
        "present", (json_int_t)events->present, "lost",
        (json_int_t)events->lost, "processes", processes_of(facts), "threads",
        threads_of(timeline), "paths", paths_of(view), "pending", rows,
        "waitsKnown", timeline->waits.known, "offKnown", is_off_known(view),
        "disturbed", disturbed(view), "timeline",
        viewer_timeline_json(timeline, all.start_ns, all.end_ns, full),
        "fronts", viewer__report_fronts(view, all.start_ns), "regions",
        viewer__report_regions(regions, all.start_ns, all.end_ns, full));
}
