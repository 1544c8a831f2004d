/* topology_sites.c - the collective wrappers of a map, and how threads come to
 * them.
 *
 * A collective site's inputs are found by going up from it, over every edge,
 * until there is a collector or a thread. Where another collective stands
 * before that, its inputs are the collective site's. What was found is kept by
 * collector, so that the way down from a thread, or from another collective
 * site, needs only be followed to the first collector above a collective site.
 */
#include "scopes/causality/topology_internal.h"

#include <stdlib.h>

#include "pastset/status.h"

#define DEEPEST 4096 /* nodes above each other without a collector */

typedef scopes__topology_maker maker;

/* The first collector below a node; PATHS_NONE. */
static uint32_t collector_below(const maker *m, uint32_t node)
{
    uint32_t at = m->next[node];

    while (at != PATHS_NONE && m->ids[at] == PATHS_NONE)
        at = m->next[at];
    return at == PATHS_NONE ? PATHS_NONE : m->ids[at];
}

/* The lowest collective that follows a node (or is it) without a collector in
 * between. */
static uint32_t lowest_collective(const maker *m, uint32_t node)
{
    uint32_t lowest = PATHS_NONE;

    for (uint32_t at = node; at != PATHS_NONE && m->ids[at] == PATHS_NONE;
         at = m->next[at]) {
        if (m->joins[at])
            lowest = at;
    }
    return lowest;
}

/* --- collective sites --- */

/* Where a collective site stands in its tree. */
typedef struct place {
    uint32_t node, root, depth;
} place;

static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;

    if (x->root != y->root)
        return x->root < y->root ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

static place place_of(const maker *m, uint32_t node)
{
    place found = {node, node, 0};
    uint32_t at = m->next[node];

    for (; at != PATHS_NONE; at = m->next[at]) {
        if (m->joins[at] && lowest_collective(m, at) == at) {
            found.root = at;
            found.depth++;
        }
    }
    return found;
}

/* Notes where each collective site stands, parents before their children. */
static int places_make(maker *m)
{
    const paths_map *map = m->map;
    place *places = malloc((map->node_count + 1u) * sizeof(*places));
    uint32_t count = 0;

    if (!places)
        return scopes__topology_no_memory();
    for (uint32_t i = 0; i < map->node_count; i++) {
        if (m->joins[i] && lowest_collective(m, i) == i)
            places[count++] = place_of(m, i);
    }
    qsort(places, count, sizeof(*places), by_place);
    m->topology->sites = calloc(count + 1u, sizeof(*m->topology->sites));
    if (!m->topology->sites) {
        free(places);
        return scopes__topology_no_memory();
    }
    m->topology->site_count = count;
    for (uint32_t i = 0; i < count; i++) {
        m->at[places[i].node] = i;
        m->topology->sites[i].node = places[i].node;
        m->topology->sites[i].depth = places[i].depth;
    }
    free(places);
    return 0;
}

/* Goes up over an edge, to the collectors or threads from which it is
 * reached. */
static int inputs_add(maker *m, uint32_t number, uint32_t edge, uint32_t depth)
{
    uint32_t from = m->map->edges[edge].from;
    const paths_map_node *node = &m->map->nodes[from];
    scopes_ids *inputs = &m->topology->sites[number].inputs;
    uint32_t id = m->ids[from];
    int err = 0;

    if (id != PATHS_NONE || node->kind == PATHS_THREAD) {
        if (id != PATHS_NONE) {
            m->site[id] = number;
            m->input[id] = inputs->count;
        } else {
            m->by_edge[edge] = inputs->count;
        }
        return scopes__topology_add(inputs, id);
    }
    if (depth == DEEPEST)
        return pastset_fail(PASTSET_EMAP,
                            "%s:%u: %s: more than %d stages stand above each "
                            "other",
                            m->map->file, node->line, node->name, DEEPEST);
    for (uint32_t i = 0; i < node->in_count && !err; i++)
        err = inputs_add(m, number, node->in[i], depth + 1);
    return err;
}

static void lower_find(const maker *m, scopes_site *site)
{
    uint32_t at = site->node;

    site->lower = collector_below(m, site->node);
    if (site->lower == PATHS_NONE)
        return;
    do {
        at = m->next[at];
        site->shared |= m->map->nodes[at].in_count > 1;
    } while (m->ids[at] == PATHS_NONE);
}

/* The last collector before the next collective site is that collective site's
 * input. */
static void parent_find(const maker *m, scopes_site *site)
{
    uint32_t id = site->lower;

    site->parent = site->parent_input = PATHS_NONE;
    while (id != PATHS_NONE && m->site[id] == PATHS_NONE)
        id = m->topology->hops[id].lower;
    if (id == PATHS_NONE)
        return;
    site->parent = m->site[id];
    site->parent_input = m->input[id];
}

int scopes__topology_sites(maker *m)
{
    int err = places_make(m);

    for (uint32_t i = 0; i < m->topology->site_count && !err; i++) {
        scopes_site *site = &m->topology->sites[i];
        const paths_map_node *node = &m->map->nodes[site->node];
        site->process = node->process;
        site->element = scopes__topology_element(m, site->node);
        for (uint32_t k = 0; k < node->in_count && !err; k++)
            err = inputs_add(m, i, node->in[k], 0);
        lower_find(m, site);
    }
    for (uint32_t i = 0; i < m->topology->site_count && !err; i++)
        parent_find(m, &m->topology->sites[i]);
    return err;
}

/* --- tops --- */

/* By the rule of paths_open. */
static const char *top_name(const scopes_topology *topology,
                            const scopes_top *top)
{
    const paths_map *map = topology->map;
    const char *as =
        paths_attributes_get(&map->edges[top->edge].attributes, "as");
    uint32_t nodes[PATHS_PATH_NODES];
    size_t count;

    if (as || top->element != PATHS_NONE)
        return as ? as : scopes_topology_node_name(topology, top->element);
    count = paths_map_walk(map, top->edge, nodes, PATHS_PATH_NODES);
    return count ? map->nodes[nodes[count - 1]].name : ""; /* a source */
}

/* Where the path comes to its first collective site. */
static void top_meet(const maker *m, scopes_top *top)
{
    uint32_t at = m->map->edges[top->edge].to, last = PATHS_NONE;

    for (; at != PATHS_NONE && !m->joins[at]; at = m->next[at]) {
        if (m->ids[at] != PATHS_NONE)
            last = m->ids[at];
    }
    if (at == PATHS_NONE)
        return;
    top->site = m->at[lowest_collective(m, at)];
    top->input = last != PATHS_NONE ? m->input[last] : m->by_edge[top->edge];
}

static void tops_of(maker *m, uint32_t thread)
{
    scopes_topology *topology = m->topology;
    const paths_map_node *node = &m->map->nodes[topology->threads[thread]];

    for (uint32_t i = 0; i < node->out_count; i++) {
        scopes_top *top = &topology->tops[topology->top_count++];
        uint32_t first = m->map->edges[node->out[i]].to;
        *top = (scopes_top){thread,     node->out[i], m->ids[first], PATHS_NONE,
                            PATHS_NONE, PATHS_NONE,   NULL};
        top->element = scopes__topology_element(m, first);
        top->name = top_name(topology, top);
        top_meet(m, top);
    }
}

int scopes__topology_tops(maker *m)
{
    scopes_topology *topology = m->topology;
    size_t count = 0;

    for (uint32_t i = 0; i < topology->thread_count; i++)
        count += m->map->nodes[topology->threads[i]].out_count;
    topology->tops = calloc(count + 1, sizeof(*topology->tops));
    if (!topology->tops)
        return scopes__topology_no_memory();
    for (uint32_t i = 0; i < topology->thread_count; i++)
        tops_of(m, i);
    return 0;
}
