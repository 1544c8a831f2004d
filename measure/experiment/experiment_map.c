/* experiment_map.c - the map that a run of an experiment goes by: the user's,
 * with processes bound to processors, put into namespaces, or with links that
 * are simulated. */
#include "measure/experiment/experiment_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "eventspace/instrument.h"
#include "pastset/status.h"
#include "paths/map/map.h"

static int place_process(const experiment_setup *s, paths_map *map, uint32_t i)
{
    paths_attributes *a = &map->processes[i].attributes;
    int err = paths_attributes_set(a, "affinity", s->nodes[i].processors);
    if (err || !s->testbed)
        return err;
    err = paths_attributes_set(a, "netns",
                               measure_testbed_namespace(s->testbed, i));
    if (!err)
        err = paths_attributes_set(a, "address",
                                   measure_testbed_address(s->testbed, i));
    return err;
}

/* --- simulated links --- */

/* 0: not limited. The last condition that names it counts. */
static double rate_of(const experiment_setup *s,
                      const experiment_conditions *conditions, uint32_t a,
                      uint32_t b)
{
    double rate = s->options->base_rate;
    for (size_t i = 0; conditions && i < conditions->count; i++)
        if (predict_condition_of_link(&conditions->items[i].is, a, b))
            rate = conditions->items[i].is.wire.bandwidth;
    return rate;
}

/* The process that a proxy leads to; PATHS_NONE when the node is none. */
static uint32_t leads_to(const paths_map *map, const paths_map_node *node)
{
    if (strcmp(node->type, "proxy") != 0 || node->out_count == 0)
        return PATHS_NONE;
    return map->nodes[map->edges[node->out[0]].to].process;
}

static int add_delay(paths_map *out, const paths_map_node *proxy, double rate,
                     uint32_t *delay)
{
    char name[512], text[32];
    snprintf(name, sizeof(name), "%s.experiment", proxy->name);
    snprintf(text, sizeof(text), "%.0fbit", rate * 8);
    *delay = paths_map_add_node(out, proxy->process, "delay", name);
    if (*delay == PATHS_NONE)
        return pastset_no_memory("for the map");
    return paths_attributes_set(&out->nodes[*delay].attributes, "bandwidth",
                                text);
}

/* Nodes keep their indexes: delays come behind all of them. */
static int copy_nodes(paths_map *out, const paths_map *map)
{
    int err = 0;
    for (uint32_t i = 0; i < map->node_count && !err; i++) {
        const paths_map_node *node = &map->nodes[i];
        uint32_t at =
            paths_map_add_node(out, node->process, node->type, node->name);
        if (at != i)
            return pastset_no_memory("for the map");
        err = paths_attributes_copy(&out->nodes[at].attributes,
                                    &node->attributes);
    }
    return err;
}

static int add_edge(paths_map *out, uint32_t from, uint32_t to,
                    const paths_attributes *attributes)
{
    uint32_t at = paths_map_add_edge(out, from, to);
    if (at == PATHS_NONE)
        return pastset_no_memory("for the map");
    return attributes
               ? paths_attributes_copy(&out->edges[at].attributes, attributes)
               : 0;
}

static int copy_edges(const experiment_setup *s, paths_map *out,
                      const paths_map *map,
                      const experiment_conditions *conditions)
{
    int err = 0;
    for (uint32_t i = 0; i < map->edge_count && !err; i++) {
        const paths_map_edge *edge = &map->edges[i];
        const paths_map_node *to = &map->nodes[edge->to];
        uint32_t other = leads_to(map, to), delay;
        double rate = 0;
        if (other != PATHS_NONE && other != to->process)
            rate = rate_of(s, conditions, to->process, other);
        if (rate <= 0) {
            err = add_edge(out, edge->from, edge->to, &edge->attributes);
            continue;
        }
        err = add_delay(out, to, rate, &delay);
        if (!err)
            err = add_edge(out, edge->from, delay, &edge->attributes);
        if (!err)
            err = add_edge(out, delay, edge->to, NULL);
    }
    return err;
}

static int simulate(const experiment_setup *s, paths_map **map,
                    const experiment_conditions *conditions)
{
    paths_map *out = NULL;
    int err = paths_map_copy_processes(&out, *map);
    if (!err)
        err = copy_nodes(out, *map);
    if (!err)
        err = copy_edges(s, out, *map, conditions);
    if (err) {
        paths_map_destroy(out);
        return err;
    }
    paths_map_destroy(*map);
    *map = out;
    return 0;
}

/* --- the map --- */

static int instrument(paths_map **map, bool collectors)
{
    eventspace_instrument_options options = {
        .collectors =
            collectors ? EVENTSPACE_ALL_COLLECTORS : EVENTSPACE_NO_COLLECTORS};
    paths_map *out = NULL;
    int err = eventspace_instrument(&out, *map, &options);
    if (err)
        return err;
    paths_map_destroy(*map);
    *map = out;
    return 0;
}

int measure__experiment_map_write(const experiment_setup *s, const char *name,
                                  const experiment_conditions *conditions,
                                  bool collectors, char file[EXPERIMENT_PATH])
{
    paths_map *map = NULL;
    int err = paths_map_read(&map, s->options->map);
    snprintf(file, EXPERIMENT_PATH, "%s/%s.dot", s->folder, name);
    for (uint32_t i = 0; !err && i < map->process_count; i++)
        err = place_process(s, map, i);
    if (err)
        goto done;
    err = instrument(&map, false);
    if (err)
        goto done;
    if (s->options->links == MEASURE_LINKS_DELAYS)
        err = simulate(s, &map, conditions);
    if (err)
        goto done;
    if (collectors)
        err = instrument(&map, true);
    if (err)
        goto done;
    err = paths_map_save(map, file);
done:
    paths_map_destroy(map);
    return err ? pastset_fail_while(err, "the map of the experiment") : 0;
}
