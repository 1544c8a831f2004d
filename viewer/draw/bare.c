/* bare.c - a path map without its collectors: an edge leads to what stands
 * below them. */
#include "viewer/draw/measures_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

static int no_memory(void)
{
    return pastset_no_memory("to draw a path map");
}

static bool is_collector(const paths_map_node *node)
{
    return strcmp(node->type, "collector") == 0;
}

static uint32_t *indexes(uint32_t count)
{
    uint32_t *list = malloc(((size_t)count + 1) * sizeof(*list));

    for (uint32_t i = 0; list && i < count; i++)
        list[i] = PATHS_NONE;
    return list;
}

static int add_node(viewer__bare *b, uint32_t index)
{
    const paths_map_node *node = &b->whole->nodes[index];
    uint32_t added;

    if (is_collector(node))
        return 0;
    added = paths_map_add_node(b->map, node->process, node->type, node->name);
    if (added == PATHS_NONE)
        return no_memory();
    b->nodes[index] = added;
    b->origins[added] = index;
    return paths_attributes_copy(&b->map->nodes[added].attributes,
                                 &node->attributes);
}

/* What stands at the end of an edge, below the collectors on it; PATHS_NONE
 * when nothing does. */
static uint32_t below(const paths_map *map, uint32_t edge, uint32_t *collector)
{
    uint32_t node = map->edges[edge].to;

    *collector = PATHS_NONE;
    for (uint32_t i = 0; is_collector(&map->nodes[node]); i++) {
        if (*collector == PATHS_NONE)
            *collector = node;
        if (map->nodes[node].out_count == 0 || i == PATHS_PATH_NODES)
            return PATHS_NONE;
        node = map->edges[map->nodes[node].out[0]].to;
    }
    return node;
}

static int add_edge(viewer__bare *b, uint32_t index)
{
    const paths_map_edge *edge = &b->whole->edges[index];
    uint32_t collector, to = below(b->whole, index, &collector), added;

    if (b->nodes[edge->from] == PATHS_NONE || to == PATHS_NONE)
        return 0;
    added = paths_map_add_edge(b->map, b->nodes[edge->from], b->nodes[to]);
    if (added == PATHS_NONE)
        return no_memory();
    b->edges[index] = added;
    b->collectors[added] = collector;
    return paths_attributes_copy(&b->map->edges[added].attributes,
                                 &edge->attributes);
}

int viewer__bare_init(viewer__bare *out, const paths_map *map)
{
    viewer__bare b = {.whole = map,
                      .nodes = indexes(map->node_count),
                      .edges = indexes(map->edge_count),
                      .origins = indexes(map->node_count),
                      .collectors = indexes(map->edge_count)};
    int err = paths_map_copy_processes(&b.map, map);

    if (!err && (!b.nodes || !b.edges || !b.origins || !b.collectors))
        err = no_memory();
    for (uint32_t i = 0; i < map->node_count && !err; i++)
        err = add_node(&b, i);
    for (uint32_t i = 0; i < map->edge_count && !err; i++)
        err = add_edge(&b, i);
    if (err)
        viewer__bare_fini(&b);
    *out = b;
    return err;
}

void viewer__bare_fini(viewer__bare *bare)
{
    paths_map_destroy(bare->map);
    free(bare->nodes);
    free(bare->edges);
    free(bare->origins);
    free(bare->collectors);
    *bare = (viewer__bare){0};
}
