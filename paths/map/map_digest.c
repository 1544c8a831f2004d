/* map_digest.c - one number for all that the processes of a run must agree on.
 *
 * Each thing of the map is hashed by itself, and the sum of all hashes is the
 * digest: the order in which they stand does not matter then. */
#include <string.h>

#include "paths/map/map_internal.h"
#include "paths/wrappers/wrapper.h"

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return paths__hash(hash, text, strlen(text) + 1);
}

/* Spreads a hash over all bits (the end of MurmurHash3), so that sums of
 * FNV-1a hashes do not cancel each other out. */
static uint64_t mix(uint64_t hash)
{
    hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
    hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53u;
    return hash ^ (hash >> 33);
}

/* A wrapper type may call an attribute as Graphviz does; then it counts. */
static bool counts(const paths_wrapper_type *type, const char *key)
{
    if (!paths__attribute_draws(key))
        return true;
    for (size_t i = 0; type && type->attributes && type->attributes[i]; i++) {
        if (strcmp(type->attributes[i], key) == 0)
            return true;
    }
    return false;
}

static uint64_t digest_attribute(const paths_attribute *item,
                                 const paths_wrapper_type *type)
{
    if (!item->value[0] || !counts(type, item->key))
        return 0;
    return mix(hash_text(hash_text(PATHS__HASH, item->key), item->value));
}

static uint64_t digest_attributes(const paths_attributes *attributes,
                                  const paths_wrapper_type *type)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < attributes->count; i++)
        sum += digest_attribute(&attributes->items[i], type);
    return sum;
}

static uint64_t hash_attributes(uint64_t hash, uint64_t attributes)
{
    return mix(paths__hash(hash, &attributes, sizeof(attributes)));
}

static uint64_t digest_node(const paths_map *map, const paths_map_node *node)
{
    uint64_t hash = hash_text(PATHS__HASH, "node");
    const paths_wrapper_type *type =
        node->kind == PATHS_WRAPPER ? paths_wrapper_find(node->type) : NULL;

    hash = hash_text(hash, node->name);
    hash = hash_text(hash, node->type);
    if (node->process != PATHS_NONE)
        hash = hash_text(hash, map->processes[node->process].name);
    return hash_attributes(hash, digest_attributes(&node->attributes, type));
}

static uint64_t digest_edge(const paths_map *map, const paths_map_edge *edge)
{
    uint64_t hash = hash_text(PATHS__HASH, "edge");

    hash = hash_text(hash, map->nodes[edge->from].name);
    hash = hash_text(hash, map->nodes[edge->to].name);
    return hash_attributes(hash, digest_attributes(&edge->attributes, NULL));
}

/* A process that says what the whole graph says cannot be told, in DOT, from
 * one that says nothing. */
static uint64_t digest_process(const paths_map *map,
                               const paths_map_process *process)
{
    uint64_t hash = hash_text(hash_text(PATHS__HASH, "host"), process->name);
    uint64_t sum = 0;

    for (size_t i = 0; i < process->attributes.count; i++) {
        const paths_attribute *item = &process->attributes.items[i];
        const char *inherited =
            paths_attributes_get(&map->attributes, item->key);
        if (strcmp(item->key, "address") != 0 &&
            (!inherited || strcmp(inherited, item->value) != 0))
            sum += digest_attribute(item, NULL);
    }
    return hash_attributes(hash, sum);
}

uint64_t paths_map_digest(const paths_map *map)
{
    uint64_t sum = hash_attributes(hash_text(PATHS__HASH, map->name),
                                   digest_attributes(&map->attributes, NULL));

    for (uint32_t i = 0; i < map->process_count; i++)
        sum += digest_process(map, &map->processes[i]);
    for (uint32_t i = 0; i < map->node_count; i++)
        sum += digest_node(map, &map->nodes[i]);
    for (uint32_t i = 0; i < map->edge_count; i++)
        sum += digest_edge(map, &map->edges[i]);
    return sum;
}
