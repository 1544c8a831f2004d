/* generate_processes.c - the processes of a generated map, the links between,
 * and their machines. */
#include "paths/generate/generate_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/map/attribute_types.h"
#include "paths/map/map_internal.h"
#include "paths/map/networks_internal.h"
#include "paths/net/address.h"
#include "pastset/status.h"
#include "paths/map/map.h"

typedef paths__generator generator;

/* Attributes of a machine that are read here. */
#define OWN 4

static int set(paths_attributes *attributes, const char *key, const char *value)
{
    return paths_attributes_set(attributes, key, value);
}

static int add_process(generator *g, const char *name, unsigned line,
                       const paths_map *from)
{
    uint32_t index = paths_map_add_process(g->map, name);

    if (index == PATHS_NONE &&
        paths_map_find_process(g->map, name) != PATHS_NONE)
        return paths__fail_at(from, line, name,
                              "there are two processes of this name");
    if (index == PATHS_NONE)
        return paths__generate_no_memory();
    return set(&g->map->processes[index].attributes, "label", name);
}

static int count_processes(generator *g)
{
    char name[16];
    int err = 0;

    if (g->options->processes == 0)
        return pastset_fail(PASTSET_EMAP,
                            "no processes: give a cluster mapping, or their "
                            "number");
    for (uint32_t i = 0; i < g->options->processes && !err; i++) {
        snprintf(name, sizeof(name), "h%u", i);
        err = add_process(g, name, 0, g->application);
    }
    return err;
}

/* "a, b and c". */
static const char *listed(char *out, size_t capacity, const char *const *words)
{
    size_t used = 0;

    for (size_t i = 0; words[i] && used < capacity; i++)
        used += (size_t)snprintf(out + used, capacity - used, "%s%s",
                                 i == 0         ? ""
                                 : words[i + 1] ? ", "
                                                : " and ",
                                 words[i]);
    return out;
}

/* A misspelt attribute would otherwise be without effect, and nobody would
 * find out. `known` ends with NULL. */
static int check_attributes(const paths_map *map, unsigned line,
                            const char *name,
                            const paths_attributes *attributes,
                            const char *const *known)
{
    char text[120];

    for (size_t i = 0; i < attributes->count; i++) {
        const char *key = attributes->items[i].key;
        const char *const *k = known;

        while (*k && strcmp(*k, key) != 0)
            k++;
        if (!*k && !paths__attribute_draws(key))
            return paths__fail_at(map, line, name,
                                  "has an unknown attribute, %s: there are %s",
                                  key, listed(text, sizeof(text), known));
    }
    return 0;
}

bool paths__generate_is_switch(const paths_map_node *node)
{
    return strcmp(node->type, "switch") == 0;
}

static int check_machine(const paths_map *cluster, const paths_map_node *node)
{
    const char *known[OWN + PATHS__ATTRIBUTE_TYPES_MAX + 1] = {
        "address", "polling", "encrypt", "networks"};
    const paths_attribute_type *type;
    size_t count = OWN;

    for (size_t i = 0; (type = paths_attribute_at(i)); i++) {
        if (type->of_machines)
            known[count++] = type->name;
    }
    return check_attributes(cluster, node->line, node->name, &node->attributes,
                            known);
}

/* A process of the map is a node of the cluster mapping, with its attributes,
 * but for those that are of machines only. */
static int copy_machine(paths_attributes *out, const paths_map_node *node)
{
    const paths_attribute_type *type;
    int err = paths_attributes_copy(out, &node->attributes);

    for (size_t i = 0; (type = paths_attribute_at(i)) && !err; i++) {
        if (!type->of_processes)
            err = set(out, type->name, NULL);
    }
    return err;
}

static int copy_process(generator *g, const paths_map *cluster,
                        const paths_map_node *node)
{
    paths_attributes *attributes;
    int err = check_machine(cluster, node);

    if (!err)
        err = add_process(g, node->name, node->line, cluster);
    if (err)
        return err;
    attributes = &g->map->processes[g->map->process_count - 1].attributes;
    err = copy_machine(attributes, node);
    if (!err && node->process != PATHS_NONE)
        err =
            set(attributes, "cluster", cluster->processes[node->process].name);
    return err;
}

int paths__generate_processes(generator *g)
{
    static const char *const known[] = {"simulate", "latency", "bandwidth",
                                        NULL};
    const paths_map *cluster = g->options->cluster;
    int err = 0;

    if (!cluster)
        return count_processes(g);
    if (cluster->node_count == 0)
        return paths__fail_at(cluster, 0, "",
                              "there is no process in it: write "
                              "one node for each");
    for (uint32_t i = 0; i < cluster->node_count && !err; i++) {
        if (!paths__generate_is_switch(&cluster->nodes[i]))
            err = copy_process(g, cluster, &cluster->nodes[i]);
    }
    for (uint32_t i = 0; i < cluster->edge_count && !err; i++)
        err = check_attributes(cluster, cluster->edges[i].line,
                               cluster->nodes[cluster->edges[i].from].name,
                               &cluster->edges[i].attributes, known);
    return err;
}

const paths_map_node *paths__generate_machine(const generator *g,
                                              uint32_t process)
{
    const paths_map *cluster = g->options->cluster;

    return &cluster->nodes[paths_map_find_node(
        cluster, g->map->processes[process].name)];
}

/* The link between two processes if it is to be simulated. An edge of the
 * cluster mapping stands for both directions, unless there is one for the
 * other. */
static const paths_map_edge *link_between(const generator *g, uint32_t from,
                                          uint32_t to)
{
    const paths_map *cluster = g->options->cluster;
    const paths_map_node *node = paths__generate_machine(g, from);

    to = (uint32_t)(paths__generate_machine(g, to) - cluster->nodes);
    for (uint32_t i = 0; i < node->out_count; i++) {
        if (cluster->edges[node->out[i]].to == to)
            return &cluster->edges[node->out[i]];
    }
    for (uint32_t i = 0; i < node->in_count; i++) {
        if (cluster->edges[node->in[i]].from == to)
            return &cluster->edges[node->in[i]];
    }
    return NULL;
}

const paths_map_edge *paths__generate_link(const generator *g, uint32_t from,
                                           uint32_t to)
{
    const paths_map_edge *edge =
        g->options->cluster ? link_between(g, from, to) : NULL;
    const char *text =
        edge ? paths_attributes_get(&edge->attributes, "simulate") : NULL;

    return text && strcmp(text, "true") == 0 ? edge : NULL;
}

/* --- machines --- */

typedef struct placed {
    struct sockaddr_storage at; /* with port 0 */
    uint32_t process;
} placed;

static int by_address(const void *left, const void *right)
{
    const placed *a = left, *b = right;
    int order = memcmp(&a->at, &b->at, sizeof(a->at));

    return order ? order
                 : (a->process > b->process) - (a->process < b->process);
}

/* False: its address does not say on which machine it is. */
static bool place_of(placed *out, const paths_map *map, uint32_t process)
{
    const char *text =
        paths_attributes_get(&map->processes[process].attributes, "address");
    paths_address address;

    *out = (placed){.process = process};
    if (!text || paths_address_parse(&address, text) != 0 ||
        paths_address_is_loopback(&address.socket))
        return false;
    paths_address_set_port(&address, 0);
    out->at = address.socket;
    return true;
}

int paths__generate_machines(generator *g)
{
    const paths_map *map = g->map;
    placed *all = calloc((size_t)map->process_count + 1, sizeof(*all));
    uint32_t count = 0;

    g->machines =
        malloc(((size_t)map->process_count + 1) * sizeof(*g->machines));
    if (!all || !g->machines) {
        free(all);
        return paths__generate_no_memory();
    }
    for (uint32_t i = 0; i < map->process_count; i++) {
        g->machines[i] = i;
        count += place_of(&all[count], map, i);
    }
    qsort(all, count, sizeof(*all), by_address);
    /* Private networks may use the same addresses. */
    for (uint32_t i = 1; i < count; i++) {
        uint32_t process = all[i].process, k = i;
        while (k-- > 0 &&
               memcmp(&all[i].at, &all[k].at, sizeof(all[i].at)) == 0) {
            if (!paths__networks_reach(g->networks, all[k].process, process))
                continue;
            g->machines[process] = g->machines[all[k].process];
            break;
        }
    }
    free(all);
    return 0;
}
