/* topology_make.c - from a path map to hops, collective sites and tops.
 *
 * Below a thread each node has one way down, so that all of them form a forest
 * whose roots are elements. Everything here is found by walking down that
 * forest, and a collective site's inputs by walking up from it, once over each
 * edge. Maps may come from files that nobody has checked: ways that lead in a
 * circle or part, ids that are given twice or far too high, and collectors that
 * stand on no process are refused. */
#include "scopes/causality/topology_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/define/map_additions.h"
#include "pastset/status.h"
#include "paths/wrappers/wrapper.h"
#include "scopes/causality/numbers_internal.h"
#include "scopes/memory/memory_internal.h"

typedef scopes__topology_maker maker;

static bool is_collector(const paths_map_node *node)
{
    return node->kind == PATHS_WRAPPER && strcmp(node->type, "collector") == 0;
}

static bool is_collective(const paths_map_node *node)
{
    const paths_wrapper_type *type =
        node->kind == PATHS_WRAPPER ? paths_wrapper_find(node->type) : NULL;

    return type && type->joins;
}

/* --- nodes --- */

static void nodes_link(maker *m)
{
    const paths_map *map = m->map;

    for (uint32_t i = 0; i < map->node_count; i++) {
        const paths_map_node *node = &map->nodes[i];
        m->joins[i] = is_collective(node);
        if (node->kind == PATHS_WRAPPER && node->out_count)
            m->next[i] = map->edges[node->out[0]].to;
    }
}

/* Each way down is followed until it comes to a node that was seen before:
 * one of the same way is a circle. */
static int circles_refuse(maker *m)
{
    const paths_map *map = m->map;
    uint32_t *seen = scopes__numbers_make(map->node_count); /* by which way */
    int err = 0;

    if (!seen)
        return scopes__topology_no_memory();
    for (uint32_t i = 0; i < map->node_count && !err; i++) {
        uint32_t at = i;
        while (at != PATHS_NONE && seen[at] == PATHS_NONE) {
            seen[at] = i;
            at = m->next[at];
        }
        if (at != PATHS_NONE && seen[at] == i)
            err = pastset_fail(
                PASTSET_EMAP, "%s:%u: %s: the path from here leads back to it",
                map->file, map->nodes[at].line, map->nodes[at].name);
    }
    scopes__free(seen);
    return err;
}

/* Where ways part and meet again, going up from a collective site would take
 * twice as long with each such pair of edges. */
static int partings_refuse(const paths_map *map, const paths_map_node *node)
{
    if (node->kind == PATHS_THREAD ||
        node->out_count <= (node->kind == PATHS_WRAPPER))
        return 0;
    return pastset_fail(PASTSET_EMAP, "%s:%u: %s: %u edges leave it, of %s",
                        map->file, node->line, node->name, node->out_count,
                        node->kind == PATHS_WRAPPER ? "which a path has one"
                                                    : "an element");
}

static int collector_note(maker *m, uint32_t index)
{
    const paths_map *map = m->map;
    const paths_map_node *node = &map->nodes[index];
    uint64_t id;
    int err = paths_node_number(map, node, "id", UINT64_MAX, &id);

    if (err)
        return err;
    if (node->process >= map->process_count)
        return pastset_fail(PASTSET_EMAP,
                            "%s:%u: %s: a collector that is in no process",
                            map->file, node->line, node->name);
    if (id >= eventspace_map_ids(map) || m->topology->nodes[id] != PATHS_NONE)
        return pastset_fail(PASTSET_EMAP,
                            "%s:%u: %s: a collector needs an id of its own, "
                            "below the number of nodes; make the map again "
                            "with `eventspace map instrument`",
                            map->file, node->line, node->name);
    m->ids[index] = (uint32_t)id;
    m->topology->nodes[id] = index;
    if (id >= m->topology->collectors)
        m->topology->collectors = (uint32_t)id + 1;
    return 0;
}

static int thread_note(maker *m, uint32_t index)
{
    const paths_map *map = m->map;
    const paths_map_node *node = &map->nodes[index];
    uint64_t number;
    int err = paths_node_number(map, node, "number", UINT64_MAX, &number);

    if (err)
        return err;
    if (number >= m->topology->thread_count ||
        m->topology->threads[number] != PATHS_NONE)
        return pastset_fail(PASTSET_EMAP,
                            "%s:%u: %s: threads must be numbered from 0 to "
                            "%u, each number once",
                            map->file, node->line, node->name,
                            m->topology->thread_count - 1);
    m->topology->threads[number] = index;
    return 0;
}

static int nodes_note(maker *m)
{
    const paths_map *map = m->map;
    int err = circles_refuse(m);

    for (uint32_t i = 0; i < map->node_count && !err; i++) {
        err = partings_refuse(map, &map->nodes[i]);
        if (err)
            break;
        if (map->nodes[i].kind == PATHS_THREAD)
            err = thread_note(m, i);
        else if (is_collector(&map->nodes[i]))
            err = collector_note(m, i);
    }
    return err;
}

/* --- hops --- */

static int name_add(char **name, const char *more)
{
    char *longer = NULL;

    if (asprintf(&longer, "%s%s%s", *name, **name ? " > " : "", more) < 0)
        return scopes__topology_no_memory();
    free(*name);
    *name = longer;
    return 0;
}

/* What stands between a collector and the next one. */
static int hop_walk(const maker *m, scopes_hop *hop, uint32_t from)
{
    uint32_t at = m->next[from];
    int err = 0;

    hop->name = strdup("");
    if (!hop->name)
        return scopes__topology_no_memory();
    for (; at != PATHS_NONE && !err; at = m->next[at]) {
        const paths_map_node *node = &m->map->nodes[at];
        hop->lower = m->ids[at];
        if (hop->lower != PATHS_NONE)
            break;
        if (m->joins[at])
            hop->collective = at;
        else if (strcmp(node->type, "proxy") == 0)
            hop->proxy = at;
        if (node->kind == PATHS_WRAPPER || !*hop->name)
            err = name_add(&hop->name, node->name);
    }
    return err;
}

static int hop_make(maker *m, uint32_t id)
{
    scopes_topology *topology = m->topology;
    scopes_hop *hop = &topology->hops[id];
    uint32_t node = topology->nodes[id], end;
    int err;

    *hop = (scopes_hop){PATHS_NONE, PATHS_NONE, PATHS_NONE, PATHS_NONE,
                        PATHS_NONE, false,      NULL};
    if (node == PATHS_NONE)
        return 0;
    hop->upper = id;
    hop->element = scopes__topology_element(m, node);
    err = hop_walk(m, hop, node);
    if (err)
        return err;
    end = hop->lower != PATHS_NONE ? topology->nodes[hop->lower] : hop->element;
    hop->remote = end != PATHS_NONE &&
                  m->map->nodes[end].process != m->map->nodes[node].process;
    if (hop->lower != PATHS_NONE)
        return scopes__topology_add(&topology->above[hop->lower], id);
    if (hop->element != PATHS_NONE)
        return scopes__topology_add(&topology->lowest[hop->element], id);
    return 0;
}

static int hops_make(maker *m)
{
    scopes_topology *topology = m->topology;
    int err = 0;

    topology->hops = calloc(topology->collectors + 1u, sizeof(*topology->hops));
    topology->above =
        calloc(topology->collectors + 1u, sizeof(*topology->above));
    if (!topology->hops || !topology->above)
        return scopes__topology_no_memory();
    for (uint32_t i = 0; i < topology->collectors && !err; i++)
        err = hop_make(m, i);
    return err;
}

/* --- all of it --- */

static int maker_init(maker *m)
{
    const paths_map *map = m->map;
    scopes_topology *topology = m->topology;
    uint32_t nodes = map->node_count, ids = eventspace_map_ids(map);

    m->next = scopes__numbers_make(nodes);
    m->ids = scopes__numbers_make(nodes);
    m->at = scopes__numbers_make(nodes);
    m->site = scopes__numbers_make(ids);
    m->input = scopes__numbers_make(ids);
    m->by_edge = scopes__numbers_make(map->edge_count);
    m->joins = calloc(nodes + 1u, sizeof(*m->joins));
    topology->thread_count = paths_map_threads(map);
    topology->threads = scopes__numbers_make(topology->thread_count);
    topology->nodes = scopes__numbers_make(ids);
    topology->lowest = calloc(nodes + 1u, sizeof(*topology->lowest));
    return m->next && m->ids && m->at && m->site && m->input && m->by_edge &&
                   m->joins && topology->threads && topology->nodes &&
                   topology->lowest
               ? 0
               : scopes__topology_no_memory();
}

static void maker_fini(maker *m)
{
    scopes__free(m->next);
    scopes__free(m->ids);
    scopes__free(m->at);
    scopes__free(m->site);
    scopes__free(m->input);
    scopes__free(m->by_edge);
    free(m->joins);
}

int scopes_topology_create(scopes_topology **out, const paths_map *map)
{
    maker m = {.map = map, .topology = calloc(1, sizeof(*m.topology))};
    int err;

    *out = NULL;
    if (!m.topology)
        return scopes__topology_no_memory();
    m.topology->map = paths_map_ref(map);
    err = maker_init(&m);
    if (err)
        goto done;
    nodes_link(&m);
    err = nodes_note(&m);
    if (err)
        goto done;
    err = hops_make(&m);
    if (err)
        goto done;
    err = scopes__topology_sites(&m);
    if (!err)
        err = scopes__topology_tops(&m);
done:
    maker_fini(&m);
    if (err)
        scopes_topology_destroy(m.topology);
    else
        *out = m.topology;
    return err;
}
