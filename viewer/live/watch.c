/* watch.c - see watch.h. */
#include "viewer/live/watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "pastset/text.h"
#include "scopes/causality/in_flight.h"
#include "scopes/views/view.h"
#include "viewer/tables/facts.h"

#define TOLD_MAX 20 /* of a large program, these tell enough */

/* A thread in an operation. */
typedef struct stuck {
    uint32_t thread;
    uint64_t since_ticks;
} stuck;

/* What a look has found. */
typedef struct found {
    stuck *items;
    size_t count;
} found;

struct viewer_watch {
    char *directory;
    eventspace_run *run; /* NULL: none that goes on */
    scopes_topology *topology;
    found last;
    char *text;
};

int viewer_watch_create(viewer_watch **out, const char *directory)
{
    viewer_watch *w = calloc(1, sizeof(*w));

    *out = NULL;
    if (w)
        w->directory = strdup(directory);
    if (!w || !w->directory) {
        free(w);
        return pastset_no_memory("to watch a run");
    }
    *out = w;
    return 0;
}

static void run_close(viewer_watch *w)
{
    scopes_topology_destroy(w->topology);
    w->topology = NULL;
    eventspace_run_close(w->run);
    w->run = NULL;
}

void viewer_watch_destroy(viewer_watch *w)
{
    if (!w)
        return;
    run_close(w);
    free(w->last.items);
    free(w->text);
    free(w->directory);
    free(w);
}

bool viewer_watch_is_running(const viewer_watch *w)
{
    return w->run != NULL;
}

/* --- one look --- */

/* One that does not go on may be an older run, in the place of which another
 * one is made. */
static bool run_look(viewer_watch *w)
{
    const paths_map *map;

    if (w->run ? eventspace_run_refresh(w->run)
               : eventspace_run_open(&w->run, w->directory)) {
        run_close(w);
        return false;
    }
    if (!viewer_is_running(w->run)) {
        run_close(w);
        return false;
    }
    map = eventspace_run_map(w->run);
    if (w->topology && w->topology->map == map)
        return true;
    scopes_topology_destroy(w->topology);
    w->topology = NULL;
    return scopes_topology_create(&w->topology, map) == 0;
}

static int64_t cell(const scopes_table *table, size_t row, size_t column)
{
    return scopes_table_cell(table, row, column).integer;
}

static const char *text(const scopes_table *table, size_t row, size_t column)
{
    return scopes_table_cell(table, row, column).text;
}

static const scopes_pending *pending_of(const scopes_pending_list *list,
                                        int64_t thread)
{
    for (size_t i = 0; i < list->count; i++)
        if ((int64_t)list->items[i].thread == thread)
            return &list->items[i];
    return NULL;
}

/* False: a process that has ended cannot be released, nor held up. */
static bool found_take(found *out, const scopes_table *table,
                       const scopes_pending_list *list)
{
    size_t rows = scopes_table_rows(table);

    *out = (found){calloc(rows + 1, sizeof(*out->items)), 0};
    for (size_t i = 0; i < rows && out->items; i++) {
        const scopes_pending *p = pending_of(list, cell(table, i, 0));
        if (!p || p->process_state != EVENTSPACE_RUNNING)
            return false;
        out->items[out->count++] = (stuck){p->thread, p->since_ticks};
    }
    return out->count > 0;
}

static bool are_same(const found *a, const found *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->items[i].thread != b->items[i].thread ||
            a->items[i].since_ticks != b->items[i].since_ticks)
            return false;
    return true;
}

/* Columns of the view. */
enum { NUMBER, THREAD, PROCESS, FOR, VERB, PATH, TAG, WAITS_FOR };

static void row_tell(FILE *out, const scopes_table *table, size_t row)
{
    int64_t tag = cell(table, row, TAG);
    const char *path = text(table, row, PATH);

    fprintf(out, "%s waits in %s", text(table, row, THREAD),
            *path ? path : text(table, row, VERB));
    if (tag != SCOPES_BLANK)
        fprintf(out, ", tag %" PRId64, tag);
    fprintf(out, ", for %s\n", text(table, row, WAITS_FOR));
}

static void tell(viewer_watch *w, const scopes_table *table)
{
    size_t rows = scopes_table_rows(table), bytes;
    FILE *out;

    free(w->text);
    w->text = NULL;
    out = pastset_text_begin(&w->text, &bytes);
    if (!out)
        return;
    for (size_t i = 0; i < rows && i < TOLD_MAX; i++)
        row_tell(out, table, i);
    if (rows > TOLD_MAX)
        fprintf(out, "and %zu more\n", rows - TOLD_MAX);
    if (!pastset_text_end(out)) {
        free(w->text);
        w->text = NULL;
    }
}

static bool deadlock_look(viewer_watch *w, const scopes_pending_list *pending)
{
    scopes_view_input view_input = {.map = w->topology->map,
                                    .topology = w->topology,
                                    .pending = pending,
                                    .run = w->run};
    scopes_table *table;
    found now = {NULL, 0};
    bool is_certain;

    if (scopes_view_make(&table, scopes_view_find("deadlocks"), &view_input))
        return false;
    is_certain = found_take(&now, table, pending) && are_same(&now, &w->last);
    if (is_certain)
        tell(w, table);
    free(w->last.items);
    w->last = now;
    scopes_table_destroy(table);
    return is_certain;
}

const char *viewer_watch_look(viewer_watch *w)
{
    scopes_pending_list *pending;
    bool is_certain;

    if (!run_look(w) || scopes_pending_take(&pending, w->run, w->topology))
        return NULL;
    is_certain = deadlock_look(w, pending);
    scopes_pending_destroy(pending);
    return is_certain ? w->text : NULL;
}
