/* selection.c - which nodes, ways, threads and events a view is to tell of. */
#include "scopes/views/view_internal.h"

#include <string.h>

bool scopes__is_of(const scopes_view_input *view_input, uint32_t node)
{
    return !view_input->of ||
           (node != PATHS_NONE &&
            strcmp(view_input->map->nodes[node].name, view_input->of) == 0);
}

bool scopes__way_is_of(const scopes_view_input *view_input, uint32_t edge)
{
    const paths_map *map = view_input->map;
    uint32_t nodes[PATHS_PATH_NODES];
    size_t count;

    if (!view_input->of || scopes__is_of(view_input, map->edges[edge].from))
        return true;
    count = paths_map_walk(map, edge, nodes, PATHS_PATH_NODES);
    for (size_t i = 0; i < count; i++) {
        if (scopes__is_of(view_input, nodes[i]))
            return true;
    }
    return false;
}

/* Follows the way from a collector down to the next one, or to its end. */
bool scopes__stage_is_of(const scopes_view_input *view_input, uint32_t node)
{
    const paths_map *map = view_input->map;

    if (scopes__is_of(view_input, node))
        return true;
    for (uint32_t i = 0; i < PATHS_PATH_NODES; i++) {
        if (map->nodes[node].out_count == 0)
            return false;
        node = map->edges[map->nodes[node].out[0]].to;
        if (strcmp(map->nodes[node].type, "collector") == 0)
            return false;
        if (scopes__is_of(view_input, node))
            return true;
    }
    return false;
}

bool scopes__thread_is_of(const scopes_view_input *view_input, uint32_t thread)
{
    const paths_map_node *node =
        &view_input->map->nodes[view_input->topology->threads[thread]];

    if (!scopes__has_thread(view_input, thread))
        return false;
    for (uint32_t i = 0; i < node->out_count; i++) {
        if (scopes__way_is_of(view_input, node->out[i]))
            return true;
    }
    return !view_input->of;
}

static int
named_series(const scopes_view_input *view_input,
             const eventspace_run_definition *what, const scopes_series *series,
             int (*each)(const scopes__named_event *event, void *context),
             void *context)
{
    const scopes_clocks *clocks = view_input->clocks;
    int err = 0;

    for (size_t i = 0; i < series->count && !err; i++) {
        const eventspace_trace *event = scopes_event_at(series->events, i);
        scopes__named_event named = {
            what, event,
            scopes_clocks_ns(clocks, series->process, event->start),
            scopes_clocks_ns(clocks, series->process, event->end)};
        if (event->thread < view_input->topology->thread_count &&
            scopes__has_thread(view_input, event->thread))
            err = each(&named, context);
    }
    return err;
}

int scopes__named_events(const scopes_view_input *view_input, bool metrics,
                         int (*each)(const scopes__named_event *event,
                                     void *context),
                         void *context)
{
    const scopes_event_table *events = view_input->event_table;
    int err = 0;

    for (uint32_t id = 0; id < events->collectors && !err; id++) {
        const scopes_series *series = scopes_event_series(events, id);
        const eventspace_run_definition *what =
            series->count && view_input->run
                ? eventspace_run_definition_of(view_input->run, id)
                : NULL;
        if (what && (what->kind == EVENTSPACE_DEFINES_METRIC) == metrics &&
            (!view_input->of || strcmp(view_input->of, what->name) == 0))
            err = named_series(view_input, what, series, each, context);
    }
    return err;
}
