/* view.c - finding a view by its name, and making it. */
#include "scopes/views/view_internal.h"

#include <string.h>

#include "pastset/status.h"

static const scopes_view *const views[] = {
    &scopes__view_communication,    &scopes__view_critical_path,
    &scopes__view_element_order,    &scopes__view_hops,
    &scopes__view_last_arriver,     &scopes__view_pending,
    &scopes__view_performance,      &scopes__view_process,
    &scopes__view_remote_overhead,  &scopes__view_signal_arrival,
    &scopes__view_signal_departure, &scopes__view_steps,
    &scopes__view_thread_wait,      &scopes__view_tuples,
    &scopes__view_waits_for,
};
#define VIEWS (sizeof(views) / sizeof(*views))

const scopes_view *scopes_view_at(size_t position)
{
    return position < VIEWS ? views[position] : NULL;
}

const scopes_view *scopes_view_find(const char *name)
{
    for (size_t i = 0; i < VIEWS; i++) {
        if (strcmp(views[i]->name, name) == 0)
            return views[i];
    }
    return NULL;
}

static int check_threads(const scopes_view_input *view_input)
{
    uint32_t there = view_input->topology->thread_count;

    for (size_t i = there; i < view_input->threads->count; i++) {
        if (view_input->threads->has[i])
            return pastset_fail(PASTSET_ENOENT,
                                "there is no thread %zu: the run has %u, "
                                "numbered from 0",
                                i, there);
    }
    return 0;
}

static int check(const scopes_view *view, const scopes_view_input *view_input)
{
    if (view_input->each && !view->each)
        return pastset_fail(
            PASTSET_EINVAL,
            "the view %s has no sums: it always prints each row", view->name);
    if (view_input->threads && check_threads(view_input))
        return PASTSET_ENOENT;
    if (view_input->of &&
        paths_map_find_node(view_input->map, view_input->of) == PATHS_NONE)
        return pastset_fail(PASTSET_ENOENT,
                            "the map has no element or wrapper \"%s\"",
                            view_input->of);
    return 0;
}

int scopes_view_make(scopes_table **out, const scopes_view *view,
                     const scopes_view_input *view_input)
{
    scopes_table *table;
    int err = check(view, view_input);

    *out = NULL;
    if (err)
        return err;
    table =
        view_input->each
            ? scopes_table_create(view->each_columns, view->each_column_count)
            : scopes_table_create(view->columns, view->column_count);
    if (!table)
        return pastset_no_memory("for the view %s", view->name);
    err = view->make(table, view_input);
    if (!err)
        err = scopes_table_status(table);
    if (err) {
        scopes_table_destroy(table);
        return err;
    }
    *out = table;
    return 0;
}
