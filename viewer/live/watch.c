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

#define GLANCES_MAX 9 /* between two whole looks */

struct viewer_watch {
    char *directory;
    eventspace_run *run; /* NULL: none that goes on */
    scopes_topology *topology;
    scopes_stands now, before; /* of this look and of the last one */
    unsigned glances;          /* since the last whole look */
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
    w->now.count = 0;
}

void viewer_watch_destroy(viewer_watch *w)
{
    if (!w)
        return;
    run_close(w);
    scopes_stands_fini(&w->now);
    scopes_stands_fini(&w->before);
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

/* All of them where they were at the last look? A process that has ended cannot
 * be released, nor held up. What stood still from then until now was all true
 * at one time, though it was not looked at at one time. */
static bool is_certain(const viewer_watch *w, const scopes_table *table,
                       const scopes_pending_list *list)
{
    size_t rows = scopes_table_rows(table);

    for (size_t i = 0; i < rows; i++) {
        const scopes_pending *p = pending_of(list, cell(table, i, 0));
        if (!p || p->process_state != EVENTSPACE_RUNNING ||
            !scopes_stands_has(&w->before, p->process, p->executor,
                               p->since_ticks))
            return false;
    }
    return rows > 0;
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
    bool is_found;

    if (scopes_view_make(&table, scopes_view_find("deadlocks"), &view_input))
        return false;
    is_found = is_certain(w, table, pending);
    if (is_found)
        tell(w, table);
    scopes_table_destroy(table);
    return is_found;
}

/* A glance at where the threads are: true if some may hang, or if it is time
 * for a whole look. A program that goes on is disturbed by each look, as that
 * needs a processor, so most are no more than this. */
static bool is_whole_needed(viewer_watch *w)
{
    scopes_stands before = w->before;
    bool is_needed;

    w->before = w->now;
    w->now = before;
    w->now.count = 0;
    is_needed = !w->run || scopes_stands_take(&w->now, w->run) != 0;
    is_needed |=
        ++w->glances > GLANCES_MAX || scopes_stands_some(&w->now, &w->before);
    if (is_needed)
        w->glances = 0;
    return is_needed;
}

const char *viewer_watch_look(viewer_watch *w, bool whole)
{
    scopes_pending_list *pending;
    bool is_found;

    if (!is_whole_needed(w) && !whole)
        return NULL;
    if (!run_look(w))
        return NULL;
    /* Of a run that was not known before, for the next look. */
    if (!w->now.count)
        (void)scopes_stands_take(&w->now, w->run);
    if (scopes_pending_take(&pending, w->run, w->topology))
        return NULL;
    is_found = deadlock_look(w, pending);
    scopes_pending_destroy(pending);
    return is_found ? w->text : NULL;
}
