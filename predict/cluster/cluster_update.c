/* cluster_update.c - writing what was measured into a cluster file.
 *
 * The file is read as a graph, changed, and written as one: what stands in it
 * stays, but for comments and the order of attributes. It is written beside and
 * renamed (paths_map_save), so that whoever reads it meanwhile sees the old one
 * or the new one. */
#include <string.h>
#include <unistd.h>

#include "paths/generate/generate.h"
#include "pastset/status.h"
#include "predict/cluster/cluster.h"
#include "predict/cluster/cluster_internal.h"

static int no_memory(void)
{
    return pastset_no_memory("to change a cluster file");
}

static int node_of(paths_map *map, const char *name, uint32_t *out)
{
    uint32_t node = paths_map_find_node(map, name);

    if (node == PATHS_NONE)
        node = paths_map_add_node(map, PATHS_NONE, "", name);
    *out = node;
    return node == PATHS_NONE ? no_memory() : 0;
}

static uint32_t find_edge(const paths_map *map, uint32_t from, uint32_t to)
{
    const paths_map_node *node = &map->nodes[from];

    for (uint32_t i = 0; i < node->out_count; i++) {
        if (map->edges[node->out[i]].to == to)
            return node->out[i];
    }
    return PATHS_NONE;
}

/* The edge of a link: one for this direction if there is, else one for the
 * other, which stands for both. */
static int edge_of(paths_map *map, uint32_t from, uint32_t to, uint32_t *out)
{
    uint32_t edge = find_edge(map, from, to);

    if (edge == PATHS_NONE)
        edge = find_edge(map, to, from);
    if (edge == PATHS_NONE)
        edge = paths_map_add_edge(map, from, to);
    *out = edge;
    return edge == PATHS_NONE ? no_memory() : 0;
}

static int apply(paths_map *map, const predict_cluster_change *change)
{
    paths_attributes *attributes;
    uint32_t from, to, edge;
    int err = node_of(map, change->machine, &from);

    if (err)
        return err;
    attributes = &map->nodes[from].attributes;
    if (change->to) {
        err = node_of(map, change->to, &to);
        if (!err)
            err = edge_of(map, from, to, &edge);
        if (err)
            return err;
        attributes = &map->edges[edge].attributes;
    }
    return paths_attributes_set(attributes, change->key, change->value);
}

static int open_or_make(paths_map **out, const char *file)
{
    char text[1024];
    int err;

    if (access(file, F_OK) != 0)
        return paths_map_create(out, "cluster");
    err = paths_mapping_read(out, file);
    if (err != PASTSET_EMAP)
        return err;
    snprintf(text, sizeof(text), "%s", pastset_error());
    return pastset_fail(PASTSET_EFORMAT, "%s", text);
}

int predict_cluster_update(const char *file,
                           const predict_cluster_change *changes, size_t count)
{
    paths_map *map;
    int err = open_or_make(&map, file);

    if (err)
        return err;
    for (size_t i = 0; i < count && !err; i++)
        err = apply(map, &changes[i]);
    if (!err)
        err = paths_map_save(map, file);
    paths_map_destroy(map);
    return err;
}
