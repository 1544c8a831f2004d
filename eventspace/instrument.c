/* instrument.c - a copy of a path map, with collectors on its edges.
 *
 * The copy is made in two steps. First the ways of the map without its old
 * collectors are listed: an edge that leads to a collector goes on to where
 * the collector leads. Then each way becomes one edge, or two with a collector
 * between. The edges of the copy stand in the order of those of the map, so
 * that collectors get the same ids each time. */
#include "eventspace/instrument.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/element.h"
#include "pastset/status.h"
#include "paths/map/map.h"

#define TRACE_CAPACITY 262144u
#define PATH_NODES_MAX (4 * PATHS_STAGES_MAX) /* that are named by path */

/* An edge of the map without collectors. */
typedef struct way {
    uint32_t edge; /* of the map, whose attributes it keeps */
    uint32_t from, to;
} way;

/* What is known of a node that is kept. */
typedef struct stage {
    uint32_t copy;  /* its node in the copy */
    uint32_t way;   /* the first that leaves it; PATHS_NONE */
    uint32_t paths; /* paths that pass it */
    uint32_t path;  /* the way with which the first of these begins */
    uint32_t above; /* collectors above it on that path */
    bool proxied;   /* a proxy stands above it on that path */
} stage;

typedef struct work {
    const eventspace_instrument_options *options;
    const paths_map *map;
    paths_map *copy;
    way *ways;
    size_t way_count;
    stage *stages;
    uint32_t next_id;
} work;

static int out_of_memory(void)
{
    return pastset_no_memory("to instrument a path map");
}

static bool is_collector(const paths_map_node *node)
{
    return strcmp(node->type, "collector") == 0;
}

/* --- the map without its collectors --- */

/* Where an edge leads when collectors are passed by; PATHS_NONE when they
 * lead nowhere or in a circle. */
static uint32_t behind_collectors(const paths_map *map, uint32_t edge)
{
    uint32_t at = map->edges[edge].to;

    for (uint32_t i = 0; i <= PATH_NODES_MAX; i++) {
        const paths_map_node *node = &map->nodes[at];
        if (!is_collector(node))
            return at;
        if (node->out_count == 0)
            break;
        at = map->edges[node->out[0]].to;
    }
    return PATHS_NONE;
}

static int list_ways(work *w)
{
    const paths_map *map = w->map;

    w->ways = calloc((size_t)map->edge_count + 1, sizeof(*w->ways));
    if (!w->ways)
        return out_of_memory();
    for (uint32_t i = 0; i < map->edge_count; i++) {
        uint32_t from = map->edges[i].from;
        uint32_t to = behind_collectors(map, i);
        if (is_collector(&map->nodes[from]) || to == PATHS_NONE)
            continue;
        if (w->stages[from].way == PATHS_NONE)
            w->stages[from].way = (uint32_t)w->way_count;
        w->ways[w->way_count++] = (way){i, from, to};
    }
    return 0;
}

static int copy_nodes(work *w)
{
    const paths_map *map = w->map;

    w->stages = calloc((size_t)map->node_count + 1, sizeof(*w->stages));
    if (!w->stages)
        return out_of_memory();
    for (uint32_t i = 0; i < map->node_count; i++) {
        const paths_map_node *node = &map->nodes[i];
        stage *s = &w->stages[i];
        s->copy = s->way = s->path = PATHS_NONE;
        if (is_collector(node))
            continue;
        s->copy =
            paths_map_add_node(w->copy, node->process, node->type, node->name);
        if (s->copy == PATHS_NONE)
            return out_of_memory();
        w->copy->nodes[s->copy].line = node->line;
        w->copy->nodes[s->copy].second_process = node->second_process;
        if (paths_attributes_copy(&w->copy->nodes[s->copy].attributes,
                                  &node->attributes) != 0)
            return PASTSET_ENOMEM;
    }
    return 0;
}

/* --- which path passes where --- */

/* Collectors of all kinds. */
static eventspace_collectors
most_of(const eventspace_instrument_options *options)
{
    return options->detail > options->collectors ? options->detail
                                                 : options->collectors;
}

/* Walks down the path that begins with a way, and leaves at each stage what
 * the names of the collectors need. */
static void follow(work *w, uint32_t begin)
{
    bool all = most_of(w->options) == EVENTSPACE_ALL_COLLECTORS;
    uint32_t at = begin, above = 1;
    bool proxied = false;

    for (int i = 0; i < PATH_NODES_MAX && at != PATHS_NONE; i++) {
        uint32_t node = w->ways[at].to;
        stage *s = &w->stages[node];
        if (s->paths++ == 0) {
            s->path = begin;
            s->above = above;
            s->proxied = proxied;
        }
        if (w->map->nodes[node].kind != PATHS_WRAPPER)
            break;
        proxied |= strcmp(w->map->nodes[node].type, "proxy") == 0;
        above += all;
        at = s->way;
    }
}

static void follow_all(work *w)
{
    for (size_t i = 0; i < w->way_count; i++) {
        if (w->map->nodes[w->ways[i].from].kind == PATHS_THREAD)
            follow(w, (uint32_t)i);
    }
}

/* The path that a way belongs to, as the way that begins it; PATHS_NONE when
 * it belongs to several, or to none. */
static uint32_t path_of(const work *w, uint32_t index)
{
    uint32_t from = w->ways[index].from;

    if (w->map->nodes[from].kind == PATHS_THREAD)
        return index;
    return w->stages[from].paths == 1 ? w->stages[from].path : PATHS_NONE;
}

/* The name by which the thread opens the path. */
static const char *path_name(const work *w, uint32_t begin)
{
    const char *as = paths_attributes_get(
        &w->map->edges[w->ways[begin].edge].attributes, "as");
    uint32_t node = w->ways[begin].to;

    for (int i = 0; !as && i < PATH_NODES_MAX; i++) {
        if (w->map->nodes[node].kind != PATHS_WRAPPER ||
            w->stages[node].way == PATHS_NONE)
            break;
        node = w->ways[w->stages[node].way].to;
    }
    return as ? as : w->map->nodes[node].name;
}

/* --- collectors --- */

static char *collector_name(const work *w, uint32_t index)
{
    const way *here = &w->ways[index];
    const paths_map_node *from = &w->map->nodes[here->from];
    uint32_t path = path_of(w, index), position = 1;
    char *name;
    int length;

    if (path == PATHS_NONE) {
        length = asprintf(&name, "%s.ec", from->name);
    } else {
        if (from->kind != PATHS_THREAD)
            position += w->stages[here->from].above;
        length = asprintf(&name, "%s.%s.ec%u",
                          w->map->nodes[w->ways[path].from].name,
                          path_name(w, path), position);
    }
    return length < 0 ? NULL : name;
}

/* Adds the node of a collector. Where its name is taken, as in a map that
 * the check complains about, it gets a number behind it. */
static uint32_t add_collector(work *w, uint32_t index)
{
    uint32_t process = w->map->nodes[w->ways[index].to].process;
    uint32_t node = PATHS_NONE;
    char *name = collector_name(w, index), *other;

    if (name && paths_map_find_node(w->copy, name) != PATHS_NONE) {
        if (asprintf(&other, "%s~%u", name, w->next_id) < 0)
            other = NULL;
        free(name);
        name = other;
    }
    if (name)
        node = paths_map_add_node(w->copy, process, "collector", name);
    free(name);
    return node;
}

/* Above the first proxy a path is passed by its own thread alone. */
static int set_trace(work *w, uint32_t index, paths_map_node *collector)
{
    uint32_t path = path_of(w, index), from = w->ways[index].from;
    const char *of = collector->name;
    char *name;
    int err;

    if (w->options->trace_per == EVENTSPACE_TRACE_PER_THREAD) {
        bool own = path != PATHS_NONE &&
                   strcmp(w->map->nodes[from].type, "proxy") != 0 &&
                   !w->stages[from].proxied;
        if (own)
            of = w->map->nodes[w->ways[path].from].name;
        else if (collector->process != PATHS_NONE)
            of = w->copy->processes[collector->process].name;
    }
    if (asprintf(&name, "trace.%s", of) < 0)
        return out_of_memory();
    err = paths_attributes_set(&collector->attributes, "trace", name);
    free(name);
    return err;
}

static int set_collector(work *w, uint32_t index, paths_map_node *collector)
{
    char id[16];
    int err;

    snprintf(id, sizeof(id), "%u", w->next_id++);
    err = paths_attributes_set(&collector->attributes, "id", id);
    if (!err)
        err = set_trace(w, index, collector);
    /* A dot in plain Graphviz drawings, where its name would be too much. */
    return err ? err
               : paths_attributes_set(&collector->attributes, "shape", "point");
}

static int add_edge(work *w, uint32_t from, uint32_t to,
                    const paths_map_edge *like)
{
    uint32_t edge = paths_map_add_edge(w->copy, from, to);

    if (edge == PATHS_NONE)
        return out_of_memory();
    if (!like)
        return 0;
    w->copy->edges[edge].line = like->line;
    return paths_attributes_copy(&w->copy->edges[edge].attributes,
                                 &like->attributes);
}

static bool is_among(const work *w, uint32_t index,
                     eventspace_collectors collectors)
{
    switch (collectors) {
    case EVENTSPACE_ALL_COLLECTORS:
        return true;
    case EVENTSPACE_THREAD_COLLECTORS:
        return w->map->nodes[w->ways[index].from].kind == PATHS_THREAD;
    default:
        return false;
    }
}

static int copy_way(work *w, uint32_t index)
{
    const way *here = &w->ways[index];
    const paths_map_edge *edge = &w->map->edges[here->edge];
    uint32_t from = w->stages[here->from].copy;
    uint32_t to = w->stages[here->to].copy;
    uint32_t node;
    int err;

    if (!is_among(w, index, most_of(w->options)))
        return add_edge(w, from, to, edge);
    node = add_collector(w, index);
    if (node == PATHS_NONE)
        return out_of_memory();
    err = set_collector(w, index, &w->copy->nodes[node]);
    if (!err && !is_among(w, index, w->options->collectors))
        err = paths_attributes_set(&w->copy->nodes[node].attributes, "detail",
                                   "1");
    if (!err)
        err = add_edge(w, from, node, edge);
    return err ? err : add_edge(w, node, to, NULL);
}

static int copy_ways(work *w)
{
    int err = 0;

    for (size_t i = 0; i < w->way_count && !err; i++)
        err = copy_way(w, (uint32_t)i);
    return err;
}

/* --- the graph --- */

static const char *policy_of(const eventspace_instrument_options *options)
{
    return options->trace_policy ? options->trace_policy : "discard";
}

static int check_options(const eventspace_instrument_options *options)
{
    const char *policy = policy_of(options);
    pastset_policy found;

    if (pastset_policy_parse(&found, policy) == 0)
        return 0;
    return pastset_fail(PASTSET_EINVAL,
                        "trace policy \"%.60s\": choose grow, discard or block",
                        policy);
}

static int set_graph(work *w)
{
    const eventspace_instrument_options *o = w->options;
    bool any = most_of(o) != EVENTSPACE_NO_COLLECTORS;
    paths_attributes *attributes = &w->copy->attributes;
    char capacity[32];
    int err;

    snprintf(capacity, sizeof(capacity), "%llu",
             (unsigned long long)(o->trace_capacity ? o->trace_capacity
                                                    : TRACE_CAPACITY));
    err = paths_attributes_set(attributes, "trace_capacity",
                               any ? capacity : NULL);
    if (!err)
        err = paths_attributes_set(attributes, "trace_policy",
                                   any ? policy_of(o) : NULL);
    if (!err)
        err = paths_attributes_set(attributes, "trace_prefault",
                                   !any          ? NULL
                                   : o->prefault ? "true"
                                                 : "false");
    return err;
}

int eventspace_instrument(paths_map **out, const paths_map *map,
                          const eventspace_instrument_options *options)
{
    work w = {.options = options, .map = map};
    int err = check_options(options);

    *out = NULL;
    if (err)
        goto done;
    err = paths_map_copy_processes(&w.copy, map);
    if (err)
        goto done;
    err = set_graph(&w);
    if (err)
        goto done;
    err = copy_nodes(&w);
    if (err)
        goto done;
    err = list_ways(&w);
    if (err)
        goto done;
    follow_all(&w);
    err = copy_ways(&w);
done:
    free(w.ways);
    free(w.stages);
    if (err)
        paths_map_destroy(w.copy);
    else
        *out = w.copy;
    return err;
}
