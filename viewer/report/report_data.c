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
 *   processes [{name, state, text, problem, recorded, present, lost}]
 *   threads   [{name, process, operations, steps, startNs, endNs,
 *               communicatingNs, computingNs, runnableNs, sleepingNs,
 *               runnableAfterNs, sleepingAfterNs, waitingNs, longest,
 *               longestNs, lost, stepsKnown}], by number; `process` is an index
 *               or -1, `longest` the place of an operation among the thread's,
 *               or -1; `runnableAfterNs`: after its last operation
 *   paths     [{thread, name, element, operations, bytes, totalNs,
 *               longestNs}], by thread
 *   pending   [{number, thread, process, state, since_ns, for_ns ...}]: the
 *             rows of the view pending, whose file tells what they are
 *   waitsKnown  some of the waiting is known: see the view waits-for
 *   offKnown    and some of the time off the processor: see scheduling
 *   disturbed   share of their computing in which the threads were runnable, if
 *               that is enough to say so; else 0
 *   operations  base64 of the operations, by thread and start. Each is nine
 *             LEB128 numbers to eleven, about 16 bytes in all:
 *
 *     start    ns since the start of the thread's operation before (of its
 *              first: since startNs)
 *     length   ns
 *     path     its place among the thread's paths
 *     step     difference to the operation before; zigzag: 0 -1 1 -2 2 ...
 *     bytes, verb, status
 *     waiting  ns of its length, at its begin, for another thread; 0: none is
 *              known
 *     for      the number of that thread, if it waited
 *     off      ns that the thread was off the processor, at least, between the
 *              operation before (its begin) and this one
 *     runnable  ns of these, if there are any; the others it slept
 *
 *   regions   {names, levels [[thread, depth, count]], times}: times is base64
 *             of the times in regions, level by level, and by start. Each is
 *             three numbers as above: start (zigzag, since the one before;
 *             of the first since startNs), length, and its place among the
 *             names
 *   panels    [{title, columns [{head, kind}], rows, count}]: tables of view
 *             scripts; rows are the first of `count`, by column; kind is text,
 *             count, name (a number), time (ns), share or real
 *   window    it is a part of the run that is shown */
#include "viewer/report/report_internal.h"

#include "pastset/request.h"
#include "pastset/status.h"
#include "viewer/report/report_pack_internal.h"
#include "viewer/report/report_regions_internal.h"
#include "viewer/tables/table_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PACKED_MAX_BYTES (7 * 10 + 4 * 5) /* of one operation */

/* --- the operations --- */

/* The gaps of a thread, and how far they have been asked for. */
typedef struct gaps {
    const scopes_thread_life *life; /* NULL: not known */
    size_t at;
    int64_t busy_until;
} gaps;

static gaps gaps_of(const scopes_scheduling *scheduling,
                    const scopes_communication *view, uint32_t thread)
{
    return (gaps){.life = scheduling ? &scheduling->threads[thread] : NULL,
                  .busy_until = view->threads[thread].start_ns};
}

/* Off the processor from the end of the operations before until then. */
static scopes_off_time off_before(gaps *g, int64_t until_ns, int64_t end_ns)
{
    scopes_off_time off = {0};

    if (g->life && until_ns > g->busy_until)
        off = scopes_off_between(g->life, &g->at, g->busy_until, until_ns);
    if (end_ns > g->busy_until)
        g->busy_until = end_ns;
    return off;
}

static uint8_t *put_off(uint8_t *at, scopes_off_time off)
{
    at = viewer__pack(at, (uint64_t)(off.runnable_ns + off.sleeping_ns));
    if (off.runnable_ns + off.sleeping_ns > 0)
        at = viewer__pack(at, (uint64_t)off.runnable_ns);
    return at;
}

static uint8_t *put_thread(uint8_t *at, const scopes_communication *view,
                           const viewer__wait *waits,
                           const scopes_thread *thread, uint32_t first_path,
                           int64_t start_ns, gaps off)
{
    const scopes_operation *op = &view->operations[thread->operation];
    int64_t step = 0;
    for (size_t i = 0; i < thread->operations; i++, op++) {
        at = viewer__pack(at, (uint64_t)(op->start_ns - start_ns));
        at = viewer__pack(at, (uint64_t)(op->end_ns - op->start_ns));
        at = viewer__pack(at, op->path - first_path);
        at = viewer__pack(at, viewer__zigzag((int64_t)op->step - step));
        at = viewer__pack(at, op->bytes);
        at = viewer__pack(at, op->verb);
        at = viewer__pack(at, op->status);
        at = viewer__pack(at, (uint64_t)waits[op - view->operations].ns);
        if (waits[op - view->operations].ns > 0)
            at = viewer__pack(at, waits[op - view->operations].for_thread);
        at = put_off(at, off_before(&off, op->start_ns, op->end_ns));
        start_ns = op->start_ns;
        step = op->step;
    }
    return at;
}

static json_t *pack_operations(const scopes_communication *view,
                               const viewer__wait *waits, int64_t start_ns,
                               const scopes_scheduling *scheduling)
{
    uint8_t *packed = malloc(view->operation_count * PACKED_MAX_BYTES + 1);
    uint8_t *at = packed;
    uint32_t path = 0;
    json_t *json = NULL;

    for (uint32_t i = 0; i < view->thread_count && packed; i++) {
        while (path < view->path_count && view->paths[path].thread < i)
            path++;
        at = put_thread(at, view, waits, &view->threads[i], path, start_ns,
                        gaps_of(scheduling, view, i));
    }
    if (packed)
        json = viewer__base64(packed, (size_t)(at - packed));
    free(packed);
    return json;
}

/* --- the rest --- */

static json_t *process_of(const viewer_process_facts *facts)
{
    return json_pack("{s:o, s:s, s:o, s:o, s:I, s:I, s:I}", "name",
                     viewer_json_text(facts->process->name), "state",
                     facts->state, "text", viewer_json_text(facts->text),
                     "problem", viewer_json_text(facts->process->problem),
                     "recorded", (json_int_t)facts->events.recorded, "present",
                     (json_int_t)facts->events.present, "lost",
                     (json_int_t)facts->events.lost);
}

static json_t *processes_of(const viewer_facts *facts)
{
    json_t *processes = json_array();
    for (size_t i = 0; i < facts->process_count; i++)
        json_array_append_new(processes, process_of(&facts->processes[i]));
    return processes;
}

/* After the last operation of a thread. */
static scopes_off_time off_after(const scopes_communication *view,
                                 const scopes_scheduling *scheduling,
                                 uint32_t number)
{
    const scopes_thread *thread = &view->threads[number];
    const scopes_operation *op = &view->operations[thread->operation];
    gaps off = gaps_of(scheduling, view, number);

    for (size_t i = 0; i < thread->operations; i++)
        if (op[i].end_ns > off.busy_until)
            off.busy_until = op[i].end_ns;
    return off_before(&off, thread->end_ns, thread->end_ns);
}

static json_t *thread_of(const scopes_communication *view,
                         const scopes_thread *thread, int64_t waiting_ns,
                         scopes_off_time after)
{
    json_int_t longest = -1, longest_ns = 0;
    if (thread->operations) {
        const scopes_operation *op = &view->operations[thread->longest];
        longest = (json_int_t)(thread->longest - thread->operation);
        longest_ns = op->end_ns - op->start_ns;
    }
    return json_pack(
        "{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
        "s:I, s:I, s:I, s:b}",
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
        (json_int_t)after.sleeping_ns, "waitingNs", (json_int_t)waiting_ns,
        "longest", longest, "longestNs", longest_ns, "lost",
        (json_int_t)thread->lost, "stepsKnown", thread->steps_known);
}

static json_t *threads_of(const scopes_communication *view,
                          const viewer__waits *waits,
                          const scopes_scheduling *scheduling)
{
    json_t *threads = json_array();
    for (uint32_t i = 0; i < view->thread_count; i++)
        json_array_append_new(
            threads, thread_of(view, &view->threads[i], waits->waiting_ns[i],
                               off_after(view, scheduling, i)));
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
                            const scopes_communication *view,
                            const viewer__waits *waits,
                            const scopes_table *pending,
                            const scopes_table *regions)
{
    json_t *rows = pending_of(pending);
    extent all = extent_of(view, rows, snapshot->from_ns);
    const eventspace_events *events = &facts->total.events;
    return json_pack(
        "{s:o, s:o, s:o, s:I, s:I, s:I, s:i, s:i, s:o, s:o,"
        " s:{s:I, s:I, s:I}, s:o, s:o, s:o, s:o, s:b, s:b, s:f, s:o, s:o}",
        "name", viewer_json_text(eventspace_run_map(snapshot->run)->name),
        "directory", viewer_json_text(name), "began", began(facts), "startNs",
        all.start_ns, "endNs", all.end_ns, "lastStep",
        (json_int_t)view->last_step, "wouldWait", -PASTSET_EAGAIN,
        "deadlinePassed", -PASTSET_ETIMEDOUT, "verbs", verbs(), "statuses",
        statuses_of(view), "events", "recorded", (json_int_t)events->recorded,
        "present", (json_int_t)events->present, "lost",
        (json_int_t)events->lost, "processes", processes_of(facts), "threads",
        threads_of(view, waits, snapshot->scheduling), "paths", paths_of(view),
        "pending", rows, "waitsKnown", waits->known, "offKnown",
        is_off_known(view), "disturbed", disturbed(view), "operations",
        pack_operations(view, waits->waits, all.start_ns, snapshot->scheduling),
        "regions", viewer__report_regions(regions, all.start_ns));
}
