/* map.c - making, copying and searching path maps.
 *
 * Processes and nodes are found by name through two open-addressing tables of
 * 32-bit indexes, so that a map of thousands of nodes is built in linear
 * time. The names themselves stand in the arrays only. */
#include <stdlib.h>
#include <string.h>

#include "paths/map/map_internal.h"
#include "pastset/status.h"
#include "pastset/array.h"

/* A slot holds an index plus one; 0 is empty. */
typedef struct table {
    uint32_t *slots;
    uint32_t capacity; /* a power of two, or 0; at most half of it is taken */
    uint32_t used;
} table;

struct paths_map_index {
    table processes, nodes;
};

/* Gives the name of the process or node with this index. */
typedef const char *name_of(const paths_map *map, uint32_t index);

uint64_t paths__hash(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}

/* --- the index --- */

static const char *process_name(const paths_map *map, uint32_t index)
{
    return map->processes[index].name;
}

static const char *node_name(const paths_map *map, uint32_t index)
{
    return map->nodes[index].name;
}

/* The slot where `name` is, or where it belongs. */
static uint32_t *table_slot(const table *t, const paths_map *map, name_of *get,
                            const char *name)
{
    uint64_t at = paths__hash(PATHS__HASH, name, strlen(name));

    for (;; at++) {
        uint32_t *slot = &t->slots[at & (t->capacity - 1)];
        if (*slot == 0 || strcmp(get(map, *slot - 1), name) == 0)
            return slot;
    }
}

static uint32_t table_find(const table *t, const paths_map *map, name_of *get,
                           const char *name)
{
    return t->capacity ? *table_slot(t, map, get, name) - 1 : PATHS_NONE;
}

/* Makes room for one more. */
static bool table_reserve(table *t, const paths_map *map, name_of *get)
{
    table bigger = {NULL, t->capacity ? 2 * t->capacity : 16, t->used};

    if (t->used < t->capacity / 2)
        return true;
    bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
    if (!bigger.slots)
        return false;
    for (uint32_t i = 0; i < t->used; i++)
        *table_slot(&bigger, map, get, get(map, i)) = i + 1;
    free(t->slots);
    *t = bigger;
    return true;
}

static void table_add(table *t, const paths_map *map, name_of *get,
                      uint32_t index)
{
    *table_slot(t, map, get, get(map, index)) = index + 1;
    t->used++;
}

uint32_t paths_map_find_process(const paths_map *map, const char *name)
{
    return table_find(&map->index->processes, map, process_name, name);
}

bool paths_map_has_succession(const paths_map *map)
{
    const char *succession =
        paths_attributes_get(&map->attributes, "succession");

    return !succession || strcmp(succession, "false") != 0;
}

bool paths_map_restarts(const paths_map *map)
{
    const char *restart = paths_attributes_get(&map->attributes, "restart");

    return restart && strcmp(restart, "true") == 0;
}

uint32_t paths_map_find_node(const paths_map *map, const char *name)
{
    return table_find(&map->index->nodes, map, node_name, name);
}

/* --- ranks --- */

typedef struct ranking {
    const paths_map *map;
    name_of *name;
} ranking;

static int by_name(const void *a, const void *b, void *argument)
{
    const ranking *r = argument;

    return strcmp(r->name(r->map, *(const uint32_t *)a),
                  r->name(r->map, *(const uint32_t *)b));
}

static void rank(ranking r, uint32_t *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = i;
    qsort_r(out, count, sizeof(*out), by_name, &r);
}

void paths_map_rank(const paths_map *map, uint32_t *out)
{
    rank((ranking){map, node_name}, out, map->node_count);
}

void paths_map_rank_processes(const paths_map *map, uint32_t *out)
{
    rank((ranking){map, process_name}, out, map->process_count);
}

/* --- making --- */

int paths_map_create(paths_map **out, const char *name)
{
    paths_map *map = calloc(1, sizeof(*map));

    *out = NULL;
    if (map) {
        map->name = strdup(name);
        map->file = strdup("");
        map->index = calloc(1, sizeof(*map->index));
    }
    if (!map || !map->name || !map->file || !map->index) {
        paths_map_destroy(map);
        return pastset_no_memory("for a path map");
    }
    *out = map;
    return 0;
}

static void node_free(paths_map_node *node)
{
    free(node->name);
    free(node->type);
    free(node->out);
    free(node->in);
    paths__attributes_clear(&node->attributes);
}

void paths_map_destroy(paths_map *map)
{
    if (!map)
        return;
    if (map->references > 0) {
        map->references--;
        return;
    }
    for (uint32_t i = 0; i < map->process_count; i++) {
        free(map->processes[i].name);
        paths__attributes_clear(&map->processes[i].attributes);
    }
    for (uint32_t i = 0; i < map->node_count; i++)
        node_free(&map->nodes[i]);
    for (uint32_t i = 0; i < map->edge_count; i++)
        paths__attributes_clear(&map->edges[i].attributes);
    paths__attributes_clear(&map->attributes);
    paths__attributes_clear(&map->node_defaults);
    paths__attributes_clear(&map->edge_defaults);
    if (map->index) {
        free(map->index->processes.slots);
        free(map->index->nodes.slots);
    }
    free(map->index);
    free(map->processes);
    free(map->nodes);
    free(map->edges);
    free(map->name);
    free(map->file);
    free(map);
}

/* Who refers to a map only reads it; that it counts them is its own matter. */
static paths_map *own(const paths_map *map)
{
    return (paths_map *)(uintptr_t)map;
}

const paths_map *paths_map_ref(const paths_map *map)
{
    own(map)->references++;
    return map;
}

void paths_map_unref(const paths_map *map)
{
    paths_map_destroy(own(map));
}

uint32_t paths_map_add_process(paths_map *map, const char *name)
{
    uint32_t index = map->process_count;
    paths_map_process process = {.name = NULL};
    paths_map_process *processes;

    if (index >= PATHS_NONE / 4 ||
        paths_map_find_process(map, name) != PATHS_NONE ||
        !table_reserve(&map->index->processes, map, process_name))
        return PATHS_NONE;
    processes = pastset_array_grow(map->processes, index, sizeof(process));
    if (!processes)
        return PATHS_NONE;
    map->processes = processes;
    process.name = strdup(name);
    if (!process.name)
        return PATHS_NONE;
    processes[index] = process;
    map->process_count++;
    table_add(&map->index->processes, map, process_name, index);
    return index;
}

static paths_kind kind_of(const char *type)
{
    if (strcmp(type, "thread") == 0)
        return PATHS_THREAD;
    return strcmp(type, "element") == 0 ? PATHS_ELEMENT : PATHS_WRAPPER;
}

uint32_t paths_map_add_node(paths_map *map, uint32_t process, const char *type,
                            const char *name)
{
    uint32_t index = map->node_count;
    paths_map_node node = {.process = process, .second_process = PATHS_NONE};
    paths_map_node *nodes;

    if (index >= PATHS_NONE / 4 ||
        (process != PATHS_NONE && process >= map->process_count) ||
        paths_map_find_node(map, name) != PATHS_NONE ||
        !table_reserve(&map->index->nodes, map, node_name))
        return PATHS_NONE;
    nodes = pastset_array_grow(map->nodes, index, sizeof(node));
    if (!nodes)
        return PATHS_NONE;
    map->nodes = nodes;
    node.kind = kind_of(type);
    node.name = strdup(name);
    node.type = strdup(type);
    if (!node.name || !node.type) {
        node_free(&node);
        return PATHS_NONE;
    }
    nodes[index] = node;
    map->node_count++;
    table_add(&map->index->nodes, map, node_name, index);
    return index;
}

uint32_t paths_map_add_edge(paths_map *map, uint32_t from, uint32_t to)
{
    uint32_t index = map->edge_count;
    paths_map_edge *edges;
    paths_map_node *a, *b;
    uint32_t *list;

    if (index >= PATHS_NONE / 4 || from >= map->node_count ||
        to >= map->node_count)
        return PATHS_NONE;
    edges = pastset_array_grow(map->edges, index, sizeof(*edges));
    if (!edges)
        return PATHS_NONE;
    map->edges = edges;
    a = &map->nodes[from];
    b = &map->nodes[to];
    list = pastset_array_grow(a->out, a->out_count, sizeof(*list));
    if (!list)
        return PATHS_NONE;
    a->out = list;
    list = pastset_array_grow(b->in, b->in_count, sizeof(*list));
    if (!list)
        return PATHS_NONE;
    b->in = list;
    edges[index] = (paths_map_edge){.from = from, .to = to};
    a->out[a->out_count++] = index;
    b->in[b->in_count++] = index;
    map->edge_count++;
    return index;
}

/* --- copying --- */

static int copy_processes(paths_map *copy, const paths_map *map)
{
    for (uint32_t i = 0; i < map->process_count; i++) {
        const paths_map_process *process = &map->processes[i];
        if (paths_map_add_process(copy, process->name) == PATHS_NONE)
            return PASTSET_ENOMEM;
        copy->processes[i].line = process->line;
        if (paths_attributes_copy(&copy->processes[i].attributes,
                                  &process->attributes) != 0)
            return PASTSET_ENOMEM;
    }
    return 0;
}

static int copy_nodes(paths_map *copy, const paths_map *map)
{
    for (uint32_t i = 0; i < map->node_count; i++) {
        const paths_map_node *node = &map->nodes[i];
        if (paths_map_add_node(copy, node->process, node->type, node->name) ==
            PATHS_NONE)
            return PASTSET_ENOMEM;
        copy->nodes[i].second_process = node->second_process;
        copy->nodes[i].line = node->line;
        if (paths_attributes_copy(&copy->nodes[i].attributes,
                                  &node->attributes) != 0)
            return PASTSET_ENOMEM;
    }
    return 0;
}

static int copy_edges(paths_map *copy, const paths_map *map)
{
    for (uint32_t i = 0; i < map->edge_count; i++) {
        const paths_map_edge *edge = &map->edges[i];
        if (paths_map_add_edge(copy, edge->from, edge->to) == PATHS_NONE)
            return PASTSET_ENOMEM;
        copy->edges[i].line = edge->line;
        if (paths_attributes_copy(&copy->edges[i].attributes,
                                  &edge->attributes) != 0)
            return PASTSET_ENOMEM;
    }
    return 0;
}

int paths_map_copy_processes(paths_map **out, const paths_map *map)
{
    paths_map *copy;
    char *file = strdup(map->file);
    int err = file ? paths_map_create(&copy, map->name) : PASTSET_ENOMEM;

    *out = NULL;
    if (err) {
        free(file);
        return pastset_fail(err, "no memory for a copy of a path map");
    }
    free(copy->file);
    copy->file = file;
    if (paths_attributes_copy(&copy->attributes, &map->attributes) ||
        paths_attributes_copy(&copy->node_defaults, &map->node_defaults) ||
        paths_attributes_copy(&copy->edge_defaults, &map->edge_defaults) ||
        copy_processes(copy, map)) {
        paths_map_destroy(copy);
        return pastset_no_memory("for a copy of a path map");
    }
    *out = copy;
    return 0;
}

int paths_map_copy(paths_map **out, const paths_map *map)
{
    paths_map *copy;
    int err = paths_map_copy_processes(&copy, map);

    *out = NULL;
    if (err)
        return err;
    if (copy_nodes(copy, map) || copy_edges(copy, map)) {
        paths_map_destroy(copy);
        return pastset_no_memory("for a copy of a path map");
    }
    *out = copy;
    return 0;
}

/* --- asking --- */

bool paths_node_is_end(const paths_map_node *node)
{
    return node->kind == PATHS_ELEMENT ||
           (node->kind == PATHS_WRAPPER && node->out_count == 0 &&
            paths_node_get(node, "type"));
}

size_t paths_map_walk(const paths_map *map, uint32_t edge, uint32_t *nodes,
                      size_t capacity)
{
    for (size_t count = 0; count < capacity;) {
        uint32_t at = map->edges[edge].to;
        const paths_map_node *node = &map->nodes[at];
        nodes[count++] = at;
        if (paths_node_is_end(node))
            return count;
        if (node->kind == PATHS_THREAD || node->out_count == 0)
            return 0;
        edge = node->out[0];
    }
    return 0;
}

const char *paths__path_name(const paths_map *map, uint32_t edge)
{
    uint32_t nodes[8 * PATHS_STAGES_MAX];
    const char *as = paths_attributes_get(&map->edges[edge].attributes, "as");
    size_t count;

    if (as)
        return as;
    count = paths_map_walk(map, edge, nodes, sizeof(nodes) / sizeof(nodes[0]));
    return map->nodes[count ? nodes[count - 1] : map->edges[edge].to].name;
}

uint32_t paths_map_processes(const paths_map *map)
{
    return map->process_count;
}

const char *paths_node_name(const paths_map_node *node)
{
    return node->name;
}

uint32_t paths_map_threads(const paths_map *map)
{
    uint32_t threads = 0;

    for (uint32_t i = 0; i < map->node_count; i++)
        threads += map->nodes[i].kind == PATHS_THREAD;
    return threads;
}
