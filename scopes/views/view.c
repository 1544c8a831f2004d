/* view.c - finding a view by its name, and making it. */
#include "scopes/views/view_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/parallel/memo_internal.h"
#include "scopes/parallel/parallel_internal.h"

static const scopes_view *const views[] = {
    &scopes__view_calls,
    &scopes__view_causes,
    &scopes__view_clocks,
    &scopes__view_communication,
    &scopes__view_critical_links,
    &scopes__view_critical_path,
    &scopes__view_delay_costs,
    &scopes__view_delays,
    &scopes__view_efficiency,
    &scopes__view_element_order,
    &scopes__view_hops,
    &scopes__view_last_arriver,
    &scopes__view_messages,
    &scopes__view_metrics,
    &scopes__view_pending,
    &scopes__view_deadlocks,
    &scopes__view_performance,
    &scopes__view_process,
    &scopes__view_regions,
    &scopes__view_remote_overhead,
    &scopes__view_scheduling,
    &scopes__view_signal_arrival,
    &scopes__view_signal_departure,
    &scopes__view_stages,
    &scopes__view_steps,
    &scopes__view_thread_wait,
    &scopes__view_tuples,
    &scopes__view_unmatched,
    &scopes__view_wait_states,
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

scopes_view_input scopes_view_input_of(const scopes_snapshot *snapshot)
{
    return (scopes_view_input){.map = snapshot->topology->map,
                               .topology = snapshot->topology,
                               .event_table = snapshot->event_table,
                               .clocks = snapshot->clocks,
                               .pending = snapshot->pending,
                               .run = snapshot->run,
                               .scheduling = snapshot->scheduling};
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

static bool is_communicator(const eventspace_run *run, const char *name)
{
    for (size_t i = 0; run && i < eventspace_run_process_count(run); i++) {
        for (size_t n = eventspace_run_own_count(run, i); n-- > 0;) {
            const eventspace_definition *own = eventspace_run_own_at(run, i, n);
            if (own->kind == EVENTSPACE_DEFINES_COMMUNICATOR &&
                strcmp(own->name, name) == 0)
                return true;
        }
    }
    return false;
}

/* In the map, or among what processes define. */
static bool is_there(const scopes_view_input *view_input)
{
    uint32_t ids = view_input->run ? eventspace_run_ids(view_input->run) : 0;

    if (paths_map_find_node(view_input->map, view_input->of) != PATHS_NONE)
        return true;
    for (uint32_t id = 0; id < ids; id++) {
        const eventspace_run_definition *defined =
            eventspace_run_definition_of(view_input->run, id);
        if (defined && strcmp(defined->name, view_input->of) == 0)
            return true;
    }
    return is_communicator(view_input->run, view_input->of);
}

static int check(const scopes_view *view, const scopes_view_input *view_input)
{
    if (view_input->each && !view->each)
        return pastset_fail(
            PASTSET_EINVAL,
            "the view %s has no sums: it always prints each row", view->name);
    if (view_input->threads && check_threads(view_input))
        return PASTSET_ENOENT;
    if (view_input->of && !is_there(view_input))
        return pastset_fail(PASTSET_ENOENT,
                            "there is no element, wrapper or region \"%s\"",
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

typedef struct several {
    scopes_table **out;
    const scopes_view *const *list;
    size_t *order; /* in which they are begun */
    const scopes_view_input *view_input;
} several;

static int make_one(size_t number, void *context)
{
    const several *s = context;
    size_t place = s->order[number];
    scopes_view_input view_input = *s->view_input;

    view_input.each = view_input.each && s->list[place]->each;
    return scopes_view_make(&s->out[place], s->list[place], &view_input);
}

static void put_in_order(several *s, size_t count)
{
    size_t placed = 0;

    for (int turn = -1; turn <= 1; turn++) {
        for (size_t i = 0; i < count; i++) {
            if (s->list[i]->turn == turn)
                s->order[placed++] = i;
        }
    }
}

int scopes_views_make(scopes_table **out, const scopes_view *const *list,
                      size_t count, const scopes_view_input *view_input)
{
    several s = {.out = out, .list = list, .view_input = view_input};
    int err;

    memset(out, 0, count * sizeof(*out));
    s.order = malloc((count + 1) * sizeof(*s.order));
    if (!s.order)
        return pastset_no_memory("for views");
    put_in_order(&s, count);
    scopes__memo_begin(view_input->event_table->memo);
    err = scopes__parallel(count, make_one, &s);
    scopes__memo_end(view_input->event_table->memo);
    free(s.order);
    for (size_t i = 0; i < count && err; i++) {
        scopes_table_destroy(out[i]);
        out[i] = NULL;
    }
    return err;
}
