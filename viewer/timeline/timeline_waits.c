/* timeline_waits.c - see timeline_waits_internal.h.
 *
 * The view has a row for each operation of which it knows who released it, by
 * thread. An operation is found by its start among those of its thread. */
#include "viewer/timeline/timeline_waits_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

enum { THREAD, SEQUENCE, OVER, FOR_THREAD, START_NS, WAIT_NS }; /* columns */

/* --- names of threads --- */

typedef struct named {
    const char *name;
    uint32_t thread;
} named;

static int by_name(const void *a, const void *b)
{
    const named *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static named *names_sort(const scopes_communication *view)
{
    named *names = malloc((view->thread_count + 1) * sizeof(*names));

    for (uint32_t i = 0; names && i < view->thread_count; i++)
        names[i] = (named){view->threads[i].name, i};
    if (names)
        qsort(names, view->thread_count, sizeof(*names), by_name);
    return names;
}

static uint32_t number_of(const scopes_communication *view, const named *names,
                          const char *name)
{
    const named key = {.name = name};
    const named *found =
        bsearch(&key, names, view->thread_count, sizeof(*names), by_name);

    return found ? found->thread : PATHS_NONE;
}

/* --- operations --- */

/* Its place in the view; the count of operations when it is not there. */
static size_t operation_at(const scopes_communication *view, uint32_t thread,
                           int64_t start_ns, int64_t sequence)
{
    size_t low = view->threads[thread].operation;
    size_t end = low + view->threads[thread].operations, high = end;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (view->operations[middle].start_ns < start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < end && view->operations[low].start_ns == start_ns; low++) {
        if (view->operations[low].sequence == sequence)
            return low;
    }
    return view->operation_count;
}

static void take_row(viewer__waits *out, const scopes_communication *view,
                     const named *names, const scopes_table *table, size_t row)
{
    uint32_t thread =
        number_of(view, names, scopes_table_cell(table, row, THREAD).text);
    uint32_t other =
        number_of(view, names, scopes_table_cell(table, row, FOR_THREAD).text);
    int64_t ns = scopes_table_cell(table, row, WAIT_NS).integer;
    const scopes_operation *op;
    size_t at;

    if (thread == PATHS_NONE || other == PATHS_NONE)
        return;
    at = operation_at(view, thread,
                      scopes_table_cell(table, row, START_NS).integer,
                      scopes_table_cell(table, row, SEQUENCE).integer);
    if (at == view->operation_count)
        return;
    /* Clocks of two processes may put the release after the end. */
    op = &view->operations[at];
    if (ns > op->end_ns - op->start_ns)
        ns = op->end_ns - op->start_ns;
    out->waits[at] = (viewer__wait){ns, other};
    out->known = true;
}

/* Operations that were started together may wait at the same time. */
static int64_t waiting_of(const viewer__waits *waits,
                          const scopes_communication *view,
                          const scopes_thread *thread)
{
    int64_t sum_ns = 0, until_ns = INT64_MIN;

    for (size_t i = 0; i < thread->operations; i++) {
        size_t at = thread->operation + i;
        int64_t from_ns = view->operations[at].start_ns;
        int64_t to_ns = from_ns + waits->waits[at].ns;
        if (from_ns < until_ns)
            from_ns = until_ns;
        if (to_ns > from_ns)
            sum_ns += to_ns - from_ns;
        if (to_ns > until_ns)
            until_ns = to_ns;
    }
    return sum_ns;
}

/* For whom a thread waited longest, all its waits together. `sums` is zero for
 * each thread, before and after. */
static void find_most(viewer__waited *out, const viewer__waits *waits,
                      const scopes_thread *thread, int64_t *sums)
{
    const viewer__wait *wait = &waits->waits[thread->operation];

    for (size_t i = 0; i < thread->operations; i++)
        if (wait[i].ns > 0)
            sums[wait[i].for_thread] += wait[i].ns;
    for (size_t i = 0; i < thread->operations; i++) {
        int64_t sum_ns = wait[i].ns > 0 ? sums[wait[i].for_thread] : 0;
        if (sum_ns > out->most_ns) {
            out->most_ns = sum_ns;
            out->most_for = wait[i].for_thread;
        }
    }
    for (size_t i = 0; i < thread->operations; i++)
        if (wait[i].ns > 0)
            sums[wait[i].for_thread] = 0;
}

int viewer__waits_take(viewer__waits *out, const scopes_communication *view,
                       const scopes_table *waits_for)
{
    named *names = names_sort(view);
    int64_t *sums = calloc(view->thread_count + 1, sizeof(*sums));

    *out = (viewer__waits){
        .waits = calloc(view->operation_count + 1, sizeof(*out->waits)),
        .threads = calloc(view->thread_count + 1, sizeof(*out->threads)),
    };
    if (!names || !sums || !out->waits || !out->threads) {
        free(names);
        free(sums);
        viewer__waits_fini(out);
        return pastset_no_memory("for the report's data");
    }
    for (size_t i = 0; i < scopes_table_rows(waits_for); i++)
        take_row(out, view, names, waits_for, i);
    for (uint32_t i = 0; i < view->thread_count; i++) {
        out->threads[i].all_ns = waiting_of(out, view, &view->threads[i]);
        find_most(&out->threads[i], out, &view->threads[i], sums);
    }
    free(sums);
    free(names);
    return 0;
}

void viewer__waits_fini(viewer__waits *waits)
{
    free(waits->waits);
    free(waits->threads);
    *waits = (viewer__waits){0};
}
