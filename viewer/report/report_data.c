/* report_data.c - the data of a report, as one JSON object.
 *
 *   name, directory, began   of the map; of the run; the time of day
 *   startNs, endNs           first operation to last, from the earliest start;
 *                            the end of the run, if then some were under way
 *   lastStep                 highest step
 *   wouldWait, deadlinePassed  statuses that are no failures
 *   verbs, statuses          names; of statuses only those that occur
 *   events                   {recorded, present, lost}
 *   processes [{name, state, text, problem, recorded, present, lost}]
 *   threads   [{name, process, operations, steps, startNs, endNs,
 *               communicatingNs, computingNs, waitingNs, longest, longestNs,
 *               lost, stepsKnown}], by number; `process` is an index or -1,
 *               `longest` the place of an operation among the thread's, or -1
 *   paths     [{thread, name, element, operations, bytes, totalNs,
 *               longestNs}], by thread
 *   pending   [{number, thread, process, state, since_ns, for_ns ...}]: the
 *             rows of the view pending, whose file tells what they are
 *   waitsKnown  some of the waiting is known: see the view waits-for
 *   operations  base64 of the operations, by thread and start. Each is eight
 *             LEB128 numbers or nine, about 15 bytes in all:
 *
 *     start    ns since the start of the thread's operation before (of its
 *              first: since startNs)
 *     length   ns
 *     path     its place among the thread's paths
 *     step     difference to the operation before; zigzag: 0 -1 1 -2 2 ...
 *     bytes, verb, status
 *     waiting  ns of its length, at its begin, for another thread; 0: none is
 *              known
 *     for      the number of that thread, if it waited */
#include "viewer/report/report_internal.h"

#include "pastset/request.h"
#include "pastset/status.h"
#include "viewer/tables/table_print.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PACKED_MAX_BYTES (5 * 10 + 4 * 5) /* of one operation */

/* --- the operations --- */

static uint8_t *put(uint8_t *at, uint64_t number)
{
    while (number >= 128) {
        *at++ = (uint8_t)(number | 128);
        number >>= 7;
    }
    *at++ = (uint8_t)number;
    return at;
}

static uint64_t zigzag(int64_t number)
{
    return number < 0 ? (uint64_t)-number * 2 - 1 : (uint64_t)number * 2;
}

static uint8_t *put_thread(uint8_t *at, const scopes_communication *view,
                           const viewer__wait *waits,
                           const scopes_thread *thread, uint32_t first_path,
                           int64_t start_ns)
{
    const scopes_operation *op = &view->operations[thread->operation];
    int64_t step = 0;
    for (size_t i = 0; i < thread->operations; i++, op++) {
        at = put(at, (uint64_t)(op->start_ns - start_ns));
        at = put(at, (uint64_t)(op->end_ns - op->start_ns));
        at = put(at, op->path - first_path);
        at = put(at, zigzag((int64_t)op->step - step));
        at = put(at, op->bytes);
        at = put(at, op->verb);
        at = put(at, op->status);
        at = put(at, (uint64_t)waits[op - view->operations].ns);
        if (waits[op - view->operations].ns > 0)
            at = put(at, waits[op - view->operations].for_thread);
        start_ns = op->start_ns;
        step = op->step;
    }
    return at;
}

static json_t *base64_of(const uint8_t *data, size_t bytes)
{
    size_t room =
        sodium_base64_ENCODED_LEN(bytes, sodium_base64_VARIANT_ORIGINAL);
    char *text = malloc(room);
    json_t *json =
        text ? json_string_nocheck(sodium_bin2base64(
                   text, room, data, bytes, sodium_base64_VARIANT_ORIGINAL))
             : NULL;

    free(text);
    return json;
}

static json_t *pack_operations(const scopes_communication *view,
                               const viewer__wait *waits, int64_t start_ns)
{
    uint8_t *packed = malloc(view->operation_count * PACKED_MAX_BYTES + 1);
    uint8_t *at = packed;
    uint32_t path = 0;
    json_t *json = NULL;

    for (uint32_t i = 0; i < view->thread_count && packed; i++) {
        while (path < view->path_count && view->paths[path].thread < i)
            path++;
        at = put_thread(at, view, waits, &view->threads[i], path, start_ns);
    }
    if (packed)
        json = base64_of(packed, (size_t)(at - packed));
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

static json_t *thread_of(const scopes_communication *view,
                         const scopes_thread *thread, int64_t waiting_ns)
{
    json_int_t longest = -1, longest_ns = 0;
    if (thread->operations) {
        const scopes_operation *op = &view->operations[thread->longest];
        longest = (json_int_t)(thread->longest - thread->operation);
        longest_ns = op->end_ns - op->start_ns;
    }
    return json_pack(
        "{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}",
        "name", viewer_json_text(thread->name), "process",
        (json_int_t)(thread->process == PATHS_NONE
                         ? -1
                         : (json_int_t)thread->process),
        "operations", (json_int_t)thread->operations, "steps",
        (json_int_t)thread->steps, "startNs", (json_int_t)thread->start_ns,
        "endNs", (json_int_t)thread->end_ns, "communicatingNs",
        (json_int_t)thread->communicating_ns, "computingNs",
        (json_int_t)thread->computing_ns, "waitingNs", (json_int_t)waiting_ns,
        "longest", longest, "longestNs", longest_ns, "lost",
        (json_int_t)thread->lost, "stepsKnown", thread->steps_known);
}

static json_t *threads_of(const scopes_communication *view,
                          const viewer__waits *waits)
{
    json_t *threads = json_array();
    for (uint32_t i = 0; i < view->thread_count; i++)
        json_array_append_new(
            threads, thread_of(view, &view->threads[i], waits->waiting_ns[i]));
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

static extent extent_of(const scopes_communication *view, const json_t *pending)
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
        if (!any || start < e.start_ns)
            e.start_ns = start;
        if (!any || end > e.end_ns)
            e.end_ns = end;
        any = true;
    }
    return e;
}

json_t *viewer__report_data(eventspace_run *run, const viewer_facts *facts,
                            const scopes_communication *view,
                            const viewer__waits *waits,
                            const scopes_table *pending)
{
    json_t *rows = pending_of(pending);
    extent all = extent_of(view, rows);
    const eventspace_events *events = &facts->total.events;
    return json_pack(
        "{s:o, s:o, s:o, s:I, s:I, s:I, s:i, s:i, s:o, s:o,"
        " s:{s:I, s:I, s:I}, s:o, s:o, s:o, s:o, s:b, s:o}",
        "name", viewer_json_text(eventspace_run_map(run)->name), "directory",
        viewer_json_text(eventspace_run_directory(run)), "began", began(facts),
        "startNs", all.start_ns, "endNs", all.end_ns, "lastStep",
        (json_int_t)view->last_step, "wouldWait", -PASTSET_EAGAIN,
        "deadlinePassed", -PASTSET_ETIMEDOUT, "verbs", verbs(), "statuses",
        statuses_of(view), "events", "recorded", (json_int_t)events->recorded,
        "present", (json_int_t)events->present, "lost",
        (json_int_t)events->lost, "processes", processes_of(facts), "threads",
        threads_of(view, waits), "paths", paths_of(view), "pending", rows,
        "waitsKnown", waits->known, "operations",
        pack_operations(view, waits->waits, all.start_ns));
}
