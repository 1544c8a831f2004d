/* collective_tree.c - whose contributions come by which way, from the map. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/wrappers/collective_kinds_internal.h"
#include "paths/wrappers/collective_tree_internal.h"
#include "paths/wrappers/registry_internal.h"

bool paths__joins(const paths_map_node *node)
{
    const paths_wrapper_type *own;

    if (node->kind != PATHS_WRAPPER)
        return false;
    own = paths__registry_find(node->type);
    return own ? own->joins : paths__collective_family(node->type) >= 0;
}

uint32_t paths__collective_source(const paths_map *map, uint32_t edge)
{
    uint32_t at = map->edges[edge].from;

    /* Bounded, since maps are looked at before they are known to be trees. */
    for (uint32_t i = 0; i < map->node_count; i++) {
        const paths_map_node *node = &map->nodes[at];
        if (node->kind == PATHS_THREAD || paths__joins(node))
            return at;
        if (node->in_count != 1)
            return PATHS_NONE;
        at = map->edges[node->in[0]].from;
    }
    return PATHS_NONE;
}

uint32_t paths__collective_root(const paths_map *map, uint32_t node)
{
    uint32_t at = node, root = node;

    for (uint32_t i = 0; i < map->node_count && map->nodes[at].out_count; i++) {
        at = map->edges[map->nodes[at].out[0]].to;
        if (paths__joins(&map->nodes[at]))
            root = at;
    }
    return root;
}

bool paths__leads_to_collective(const paths_map *map, uint32_t node)
{
    return paths__joins(&map->nodes[paths__collective_root(map, node)]);
}

int paths__collective_read_bytes(const paths_map *map, uint32_t node,
                                 const pastset_type *type, uint32_t *out)
{
    uint32_t root = paths__collective_root(map, node);
    collective_leaves all;
    int err;

    *out = type->max_bytes;
    if (!paths__joins(&map->nodes[root]) ||
        paths__collective_family(map->nodes[root].type) != FAMILY_SCATTER)
        return 0;
    err = paths__collective_leaves(map, root, &all);
    if (!err)
        *out = type->max_bytes / all.count;
    free(all.numbers);
    return err;
}

uint32_t paths__collective_element(const paths_map *map, uint32_t node)
{
    uint32_t at = node;

    for (uint32_t i = 0; i < map->node_count && map->nodes[at].out_count; i++)
        at = map->edges[map->nodes[at].out[0]].to;
    return paths_node_is_end(&map->nodes[at]) ? at : PATHS_NONE;
}

/* Does nothing but its rounds' writes come out of it, one at a time? Not where
 * all may have come to read, and then take by a pattern; and a program's own
 * type that joins may let several by. */
static bool writes_by_turns(const paths_map_node *node)
{
    int family = paths__joins(node) ? paths__collective_family(node->type) : -1;

    return family >= 0 && family != FAMILY_BROADCAST &&
           family != FAMILY_SCATTER;
}

bool paths__collective_writes_alone(const paths_map *map, uint32_t element)
{
    uint32_t process = map->nodes[element].process, at = element;
    const paths_wrapper_type *type;

    for (uint32_t i = 0; i < map->node_count; i++) {
        if (map->nodes[at].in_count != 1)
            return false;
        at = map->edges[map->nodes[at].in[0]].from;
        if (writes_by_turns(&map->nodes[at]))
            return map->nodes[at].process == process;
        type = paths__registry_find(map->nodes[at].type); /* none is built in */
        if (!type || !type->observes)
            return false;
    }
    return false;
}

/* --- leaves --- */

static int leaf_add(const paths_map *map, uint32_t node, collective_leaves *out)
{
    uint64_t number = 0;
    int err = paths_node_number(map, &map->nodes[node], "number", 0, &number);

    if (err)
        return err;
    out->numbers[out->count++] = (uint32_t)number;
    return 0;
}

static int leaves_add(const paths_map *map, uint32_t node, uint32_t depth,
                      uint32_t max, collective_leaves *out)
{
    const paths_map_node *n = &map->nodes[node];
    int err = 0;

    if (n->kind == PATHS_THREAD)
        return out->count < max
                   ? leaf_add(map, node, out)
                   : pastset_fail(PASTSET_EMAP, "its paths are not a tree");
    if (depth > map->node_count)
        return pastset_fail(PASTSET_EMAP, "its path leads back to itself");
    for (uint32_t i = 0; i < n->in_count && !err; i++) {
        uint32_t source = paths__collective_source(map, n->in[i]);
        err = source == PATHS_NONE
                  ? pastset_fail(PASTSET_EMAP, "several paths join before it")
                  : leaves_add(map, source, depth + 1, max, out);
    }
    return err;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int paths__collective_leaves(const paths_map *map, uint32_t node,
                             collective_leaves *out)
{
    /* A thread that comes twice is complained about: room for that. */
    uint32_t max = 2 * paths_map_threads(map) + 1;
    int err;

    out->count = 0;
    out->numbers = calloc(max, sizeof(*out->numbers));
    if (!out->numbers)
        return pastset_no_memory("for a tree");
    err = leaves_add(map, node, 0, max, out);
    qsort(out->numbers, out->count, sizeof(*out->numbers), ascending);
    return err;
}

/* --- who has a part in it --- */

/* Does the way down from a wrapper or element come by `root`? */
static bool comes_by(const paths_map *map, uint32_t at, uint32_t root)
{
    for (uint32_t i = 0; i <= map->node_count; i++) {
        if (at == root)
            return true;
        if (!map->nodes[at].out_count)
            return false;
        at = map->edges[map->nodes[at].out[0]].to;
    }
    return false;
}

static bool takes_part(const paths_map *map, uint32_t node, uint32_t root)
{
    const paths_map_node *n = &map->nodes[node];

    for (uint32_t i = 0; i < n->out_count; i++) {
        if (comes_by(map, map->edges[n->out[i]].to, root))
            return true;
    }
    return comes_by(map, root, node); /* it is the root, or below it */
}

bool paths__collective_touches(const paths_map *map, uint32_t node,
                               uint32_t process)
{
    uint32_t root = paths__collective_root(map, node);

    for (uint32_t i = 0; i < map->node_count; i++) {
        if (map->nodes[i].process == process && takes_part(map, i, root))
            return true;
    }
    return false;
}

/* "of thread 3", "of threads 4 to 7", "of 4 threads from 1 to 7" */
static void leaves_name(const collective_leaves *leaves, char *out,
                        size_t capacity)
{
    uint32_t first = leaves->numbers[0];
    uint32_t last = leaves->numbers[leaves->count - 1];

    if (leaves->count == 1)
        snprintf(out, capacity, "of thread number %u", first);
    else if (last - first + 1 == leaves->count)
        snprintf(out, capacity, "of threads number %u to %u", first, last);
    else
        snprintf(out, capacity, "of %u threads, numbers %u to %u",
                 leaves->count, first, last);
}

void paths__collective_name(const paths_map *map, uint32_t node, uint32_t input,
                            char *out, size_t capacity)
{
    uint32_t source = paths__collective_source(map, map->nodes[node].in[input]);
    const paths_map_node *n = &map->nodes[source];
    collective_leaves leaves = {NULL, 0};
    const char *process = map->processes[n->process].name;
    char whose[80] = "";

    if (n->kind == PATHS_THREAD) {
        snprintf(out, capacity, "thread %s (process %s)", n->name, process);
        return;
    }
    if (paths__collective_leaves(map, source, &leaves) == 0 && leaves.count)
        leaves_name(&leaves, whose, sizeof(whose));
    snprintf(out, capacity, "\"%s\" on process %s (%s)", n->name, process,
             whose);
    free(leaves.numbers);
}
