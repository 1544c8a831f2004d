/* timeline.c - making a timeline: see levels.h. */
#include "viewer/timeline/timeline_internal.h"

#include <stdlib.h>

#include "pastset/status.h"
#include "scopes/views/view.h"

enum { NUMBER, START_NS = 4, END_NS }; /* columns of critical-links */

static int no_memory(void)
{
    return pastset_no_memory("for the timeline");
}

/* --- off the processor --- */

static scopes_off_time off_between(const scopes_thread_life *life, size_t *at,
                                   int64_t from_ns, int64_t to_ns)
{
    return to_ns > from_ns ? scopes_off_between(life, at, from_ns, to_ns)
                           : (scopes_off_time){0};
}

/* Between the end of all operations before, and the start of each. */
static void take_off(viewer_timeline *t, uint32_t number)
{
    const scopes_scheduling *scheduling = t->snapshot->scheduling;
    const scopes_thread *thread = &t->view->threads[number];
    int64_t busy_ns = thread->start_ns;
    size_t at = 0;

    for (size_t i = 0; i < thread->operations; i++) {
        size_t place = thread->operation + i;
        const scopes_operation *op = &t->view->operations[place];
        if (scheduling)
            t->off[place] = off_between(&scheduling->threads[number], &at,
                                        busy_ns, op->start_ns);
        if (op->end_ns > busy_ns)
            busy_ns = op->end_ns;
        t->reach_ns[place] = busy_ns;
    }
    if (scheduling)
        t->off_after[number] = off_between(&scheduling->threads[number], &at,
                                           busy_ns, thread->end_ns);
}

static int take_all_off(viewer_timeline *t)
{
    size_t operations = t->view->operation_count;

    t->off = calloc(operations + 1, sizeof(*t->off));
    t->reach_ns = calloc(operations + 1, sizeof(*t->reach_ns));
    t->off_after = calloc(t->view->thread_count + 1, sizeof(*t->off_after));
    if (!t->off || !t->reach_ns || !t->off_after)
        return no_memory();
    for (uint32_t i = 0; i < t->view->thread_count; i++)
        take_off(t, i);
    return 0;
}

/* --- the critical path --- */

static void sort_links(viewer_timeline *t)
{
    uint32_t threads = t->view->thread_count;

    for (size_t i = 0; i < t->link_count; i++)
        t->first_link[t->links[i].thread + 1]++;
    for (uint32_t i = 0; i < threads; i++)
        t->first_link[i + 1] += t->first_link[i];
    for (size_t i = 0; i < t->link_count; i++)
        t->by_thread[t->first_link[t->links[i].thread]++] = t->links[i];
    /* Each is now where the next one begins. */
    for (uint32_t i = threads; i > 0; i--)
        t->first_link[i] = t->first_link[i - 1];
    t->first_link[0] = 0;
}

static int take_links(viewer_timeline *t, const scopes_table *table)
{
    size_t rows = scopes_table_rows(table);

    t->links = calloc(rows + 1, sizeof(*t->links));
    t->by_thread = calloc(rows + 1, sizeof(*t->by_thread));
    t->first_link =
        calloc((size_t)t->view->thread_count + 1, sizeof(*t->first_link));
    if (!t->links || !t->by_thread || !t->first_link)
        return no_memory();
    for (size_t i = 0; i < rows; i++)
        t->links[i] = (viewer__link){
            .thread = (uint32_t)scopes_table_cell(table, i, NUMBER).integer,
            .start_ns = scopes_table_cell(table, i, START_NS).integer,
            .end_ns = scopes_table_cell(table, i, END_NS).integer};
    t->link_count = rows;
    sort_links(t);
    return 0;
}

/* --- all of it --- */

enum { WAITS_FOR, CRITICAL_LINKS, VIEWS };

static int make_views(scopes_table *out[VIEWS], const scopes_snapshot *snapshot)
{
    const scopes_view *views[VIEWS] = {
        [WAITS_FOR] = scopes_view_find("waits-for"),
        [CRITICAL_LINKS] = scopes_view_find("critical-links")};
    scopes_view_input input = {.map = snapshot->topology->map,
                               .topology = snapshot->topology,
                               .event_table = snapshot->event_table,
                               .clocks = snapshot->clocks,
                               .each = true,
                               .run = snapshot->run,
                               .scheduling = snapshot->scheduling};

    return scopes_views_make(out, views, VIEWS, &input);
}

static int take(viewer_timeline *t)
{
    scopes_table *tables[VIEWS];
    int err = scopes_communication_read(&t->view, t->snapshot);

    if (err)
        return err;
    err = take_all_off(t);
    if (err)
        return err;
    err = make_views(tables, t->snapshot);
    if (err)
        return err;
    err = viewer__waits_take(&t->waits, t->view, tables[WAITS_FOR]);
    if (!err)
        err = take_links(t, tables[CRITICAL_LINKS]);
    for (size_t i = 0; i < VIEWS; i++)
        scopes_table_destroy(tables[i]);
    return err;
}

int viewer_timeline_create(viewer_timeline **out,
                           const scopes_snapshot *snapshot)
{
    viewer_timeline *t = calloc(1, sizeof(*t));
    int err;

    *out = NULL;
    if (!t)
        return no_memory();
    t->snapshot = snapshot;
    err = take(t);
    if (err) {
        viewer_timeline_destroy(t);
        return err;
    }
    *out = t;
    return 0;
}

void viewer_timeline_destroy(viewer_timeline *timeline)
{
    if (!timeline)
        return;
    viewer__waits_fini(&timeline->waits);
    scopes_communication_destroy(timeline->view);
    free(timeline->off);
    free(timeline->off_after);
    free(timeline->reach_ns);
    free(timeline->links);
    free(timeline->by_thread);
    free(timeline->first_link);
    free(timeline);
}

const scopes_communication *
viewer_timeline_view(const viewer_timeline *timeline)
{
    return timeline->view;
}

/* --- operations --- */

bool viewer__has_failed(const scopes_operation *op)
{
    return op->status != 0 && op->status != -PASTSET_EAGAIN &&
           op->status != -PASTSET_ETIMEDOUT;
}

size_t viewer__first_beyond(const viewer_timeline *timeline, uint32_t thread,
                            int64_t ns)
{
    size_t low = timeline->view->threads[thread].operation;
    size_t high = low + timeline->view->threads[thread].operations;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (timeline->reach_ns[middle] <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t viewer__first_from(const viewer_timeline *timeline, uint32_t thread,
                          int64_t ns)
{
    size_t low = timeline->view->threads[thread].operation;
    size_t high = low + timeline->view->threads[thread].operations;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (timeline->view->operations[middle].start_ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
