/* generate.c - application + cluster + placement = path map.
 *
 * Hosts are copied first, then each thread and element is given its host and
 * copied to it, then each use of an element becomes a path. What stands on a
 * path depends on the two hosts alone: nothing where they are one, otherwise
 * a proxy on the thread's host, and a delay before it where the link between
 * the two is to be simulated. */
#include "paths/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/map_internal.h"
#include "pastset/status.h"

typedef struct generator {
    const paths_generate_options *options;
    const paths_map *application;
    paths_map *map;
    uint32_t *hosts; /* of each node of the application; PATHS_NONE: not yet */
    uint32_t *made;  /* node of the map for each node of the application */
} generator;

static int out_of_memory(void)
{
    return pastset_fail(PASTSET_ENOMEM, "no memory to generate a path map");
}

static int set(paths_attributes *attributes, const char *key, const char *value)
{
    return paths_attributes_set(attributes, key, value);
}

/* --- hosts --- */

static int add_host(generator *g, const char *name, unsigned line,
                    const paths_map *from)
{
    uint32_t index = paths_map_add_host(g->map, name);

    if (index == PATHS_NONE && paths_map_find_host(g->map, name) != PATHS_NONE)
        return paths__fail_at(from, line, name,
                              "there are two hosts of this "
                              "name");
    if (index == PATHS_NONE)
        return out_of_memory();
    return set(&g->map->hosts[index].attributes, "label", name);
}

static int count_hosts(generator *g)
{
    char name[16];
    int err = 0;

    if (g->options->hosts == 0)
        return pastset_fail(PASTSET_EMAP,
                            "no hosts: give a cluster mapping, or their "
                            "number");
    for (uint32_t i = 0; i < g->options->hosts && !err; i++) {
        snprintf(name, sizeof(name), "h%u", i);
        err = add_host(g, name, 0, g->application);
    }
    return err;
}

/* A misspelt attribute would otherwise be without effect, and nobody would
 * find out. `known` ends with NULL. */
static int check_attributes(const paths_map *map, unsigned line,
                            const char *name,
                            const paths_attributes *attributes,
                            const char *const *known)
{
    for (size_t i = 0; i < attributes->count; i++) {
        const char *key = attributes->items[i].key;
        const char *const *k = known;

        while (*k && strcmp(*k, key) != 0)
            k++;
        if (!*k && !paths__attribute_draws(key))
            return paths__fail_at(map, line, name,
                                  "has an unknown attribute, %s: there are %s "
                                  "%s%s%s",
                                  key, known[0], known[1],
                                  known[2] ? " and " : "",
                                  known[2] ? known[2] : "");
    }
    return 0;
}

/* A host of the map is a node of the cluster mapping, with its attributes. */
static int copy_host(generator *g, const paths_map *cluster,
                     const paths_map_node *node)
{
    static const char *const known[] = {"address", "polling", NULL};
    paths_attributes *attributes;
    int err = check_attributes(cluster, node->line, node->name,
                               &node->attributes, known);

    if (!err)
        err = add_host(g, node->name, node->line, cluster);
    if (err)
        return err;
    attributes = &g->map->hosts[g->map->host_count - 1].attributes;
    err = paths_attributes_copy(attributes, &node->attributes);
    if (!err && node->host != PATHS_NONE)
        err = set(attributes, "cluster", cluster->hosts[node->host].name);
    return err;
}

static int make_hosts(generator *g)
{
    static const char *const known[] = {"simulate", "latency", "bandwidth",
                                        NULL};
    const paths_map *cluster = g->options->cluster;
    int err = 0;

    if (!cluster)
        return count_hosts(g);
    if (cluster->node_count == 0)
        return paths__fail_at(cluster, 0, "",
                              "there is no host in it: write "
                              "one node for each");
    for (uint32_t i = 0; i < cluster->node_count && !err; i++)
        err = copy_host(g, cluster, &cluster->nodes[i]);
    for (uint32_t i = 0; i < cluster->edge_count && !err; i++)
        err = check_attributes(cluster, cluster->edges[i].line,
                               cluster->nodes[cluster->edges[i].from].name,
                               &cluster->edges[i].attributes, known);
    return err;
}

/* --- the application --- */

static int check_node(const generator *g, const paths_map_node *node)
{
    if (node->kind == PATHS_WRAPPER && !node->type[0])
        return paths__fail_at(g->application, node->line, node->name,
                              "has no kind: write kind=thread or "
                              "kind=element");
    if (node->kind == PATHS_WRAPPER)
        return paths__fail_at(g->application, node->line, node->name,
                              "kind=%s: an application mapping holds threads "
                              "and elements; the wrappers are generated",
                              node->type);
    if (node->host != PATHS_NONE)
        return paths__fail_at(g->application, node->line, node->name,
                              "stands in a host: say where it goes in the "
                              "placement, with %s -> HOST",
                              node->name);
    return 0;
}

static int check_edge(const generator *g, const paths_map_edge *edge)
{
    const paths_map *a = g->application;
    const paths_map_node *from = &a->nodes[edge->from];
    const paths_map_node *to = &a->nodes[edge->to];

    if (from->kind == PATHS_THREAD && to->kind == PATHS_ELEMENT)
        return 0;
    return paths__fail_at(a, edge->line, from->name,
                          "has an edge to %s: edges lead from a thread to an "
                          "element, also where it is read (use=read)",
                          to->name);
}

static int check_application(const generator *g)
{
    const paths_map *a = g->application;
    int err = 0;

    for (uint32_t i = 0; i < a->node_count && !err; i++)
        err = check_node(g, &a->nodes[i]);
    for (uint32_t i = 0; i < a->edge_count && !err; i++)
        err = check_edge(g, &a->edges[i]);
    return err;
}

/* --- placement --- */

static int place(generator *g, const paths_map_edge *edge)
{
    const paths_map *p = g->options->placement;
    const char *what = p->nodes[edge->from].name;
    const char *where = p->nodes[edge->to].name;
    uint32_t node = paths_map_find_node(g->application, what);
    uint32_t host = paths_map_find_host(g->map, where);

    if (node == PATHS_NONE)
        return paths__fail_at(p, edge->line, what,
                              "the application has no thread or element of "
                              "this name");
    if (host == PATHS_NONE)
        return paths__fail_at(p, edge->line, what,
                              "is placed on %s, which is no host of the "
                              "cluster",
                              where);
    if (g->hosts[node] != PATHS_NONE && g->hosts[node] != host)
        return paths__fail_at(p, edge->line, what,
                              "is placed twice, on %s and %s",
                              g->map->hosts[g->hosts[node]].name, where);
    g->hosts[node] = host;
    return 0;
}

/* Threads that were not placed, by their number, or, where they have none, by
 * their order. */
static void spread(generator *g)
{
    const paths_map *a = g->application;
    uint64_t threads = paths_map_threads(a), hosts = g->map->host_count;
    uint64_t at = 0;

    for (uint32_t i = 0; i < a->node_count; i++) {
        const char *text = paths_node_get(&a->nodes[i], "number");
        uint64_t number = at;
        if (a->nodes[i].kind != PATHS_THREAD)
            continue;
        at++;
        if (g->hosts[i] != PATHS_NONE)
            continue;
        if (!text || paths_parse_number(text, &number) != 0 ||
            number >= threads)
            number = at - 1;
        g->hosts[i] = (uint32_t)(g->options->spread == PATHS_CYCLIC
                                     ? number % hosts
                                     : number * hosts / threads);
    }
}

static bool is_use(const paths_map_edge *edge, const char *use)
{
    const char *text = paths_attributes_get(&edge->attributes, "use");

    return !text || strcmp(text, use) == 0 || strcmp(text, "both") == 0;
}

/* The host of the first thread that uses the element as the option says, else
 * of the first that uses it at all, else the first host. */
static uint32_t home(const generator *g, const paths_map_node *element)
{
    const paths_map *a = g->application;
    const char *use = g->options->home == PATHS_WITH_WRITER ? "write" : "read";

    for (uint32_t i = 0; i < element->in_count; i++) {
        const paths_map_edge *edge = &a->edges[element->in[i]];
        if (is_use(edge, use))
            return g->hosts[edge->from];
    }
    return element->in_count ? g->hosts[a->edges[element->in[0]].from] : 0;
}

static int place_all(generator *g)
{
    const paths_map *a = g->application, *p = g->options->placement;
    int err = 0;

    for (uint32_t i = 0; p && i < p->edge_count && !err; i++)
        err = place(g, &p->edges[i]);
    if (err)
        return err;
    spread(g);
    for (uint32_t i = 0; i < a->node_count; i++) {
        if (g->hosts[i] == PATHS_NONE)
            g->hosts[i] = home(g, &a->nodes[i]);
    }
    return 0;
}

/* --- nodes --- */

static int add_node(generator *g, uint32_t host, const char *kind,
                    const char *name, unsigned line, uint32_t *out)
{
    *out = paths_map_add_node(g->map, host, kind, name);
    if (*out != PATHS_NONE)
        return 0;
    if (paths_map_find_node(g->map, name) == PATHS_NONE)
        return out_of_memory();
    return paths__fail_at(g->application, line, name,
                          "this name is needed for two nodes of the path map: "
                          "give each path of a thread another as=NAME, or "
                          "rename the thread or element");
}

static int copy_node(generator *g, uint32_t index, uint32_t number,
                     bool numbered)
{
    const paths_map_node *node = &g->application->nodes[index];
    paths_attributes *attributes;
    char text[16];
    int err = add_node(g, g->hosts[index], node->type, node->name, node->line,
                       &g->made[index]);

    if (err)
        return err;
    attributes = &g->map->nodes[g->made[index]].attributes;
    err = paths_attributes_copy(attributes, &node->attributes);
    if (!err && node->kind == PATHS_ELEMENT &&
        !paths_attributes_get(attributes, "shape"))
        err = set(attributes, "shape", "box");
    if (!err && node->kind == PATHS_THREAD && !numbered) {
        snprintf(text, sizeof(text), "%u", number);
        err = set(attributes, "number", text);
    }
    return err;
}

/* Threads are numbered in their order when none of them has a number. */
static bool is_numbered(const paths_map *a)
{
    for (uint32_t i = 0; i < a->node_count; i++) {
        if (a->nodes[i].kind == PATHS_THREAD &&
            paths_node_get(&a->nodes[i], "number"))
            return true;
    }
    return false;
}

static int copy_nodes(generator *g)
{
    const paths_map *a = g->application;
    bool numbered = is_numbered(a);
    uint32_t threads = 0;
    int err = 0;

    for (uint32_t i = 0; i < a->node_count && !err; i++) {
        err = copy_node(g, i, threads, numbered);
        threads += a->nodes[i].kind == PATHS_THREAD;
    }
    return err;
}

/* --- paths --- */

/* The link between two hosts if it is to be simulated. An edge of the cluster
 * mapping stands for both directions, unless there is one for the other. */
static const paths_map_edge *link_between(const generator *g, uint32_t from,
                                          uint32_t to)
{
    const paths_map *cluster = g->options->cluster;
    const paths_map_node *node;

    /* The hosts of the map are the nodes of the cluster mapping. */
    node = &cluster->nodes[from];
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

static bool is_simulated(const paths_map_edge *edge)
{
    const char *text =
        edge ? paths_attributes_get(&edge->attributes, "simulate") : NULL;

    return text && strcmp(text, "true") == 0;
}

/* Adds a wrapper named "<thread>.<as>.<kind>" behind `*last`. The edge from
 * the thread carries the attributes of the use. */
static int add_wrapper(generator *g, const paths_map_edge *use,
                       const char *kind, uint32_t *last)
{
    const paths_map *a = g->application;
    const char *as = paths_attributes_get(&use->attributes, "as");
    uint32_t node = PATHS_NONE, edge;
    char *name;
    int err;

    if (asprintf(&name, "%s.%s.%s", a->nodes[use->from].name,
                 as ? as : a->nodes[use->to].name, kind) < 0)
        return out_of_memory();
    err = add_node(g, g->hosts[use->from], kind, name, use->line, &node);
    free(name);
    if (err)
        return err;
    err = set(&g->map->nodes[node].attributes, "label", kind);
    edge = paths_map_add_edge(g->map, *last, node);
    if (edge == PATHS_NONE)
        return out_of_memory();
    if (!err && *last == g->made[use->from])
        err = paths_attributes_copy(&g->map->edges[edge].attributes,
                                    &use->attributes);
    *last = node;
    return err;
}

static int add_delay(generator *g, const paths_map_edge *use,
                     const paths_map_edge *link, uint32_t *last)
{
    static const char *const keys[] = {"latency", "bandwidth"};
    int err = add_wrapper(g, use, "delay", last);

    for (size_t i = 0; i < 2 && !err; i++) {
        const char *value = paths_attributes_get(&link->attributes, keys[i]);
        if (value)
            err = set(&g->map->nodes[*last].attributes, keys[i], value);
    }
    return err;
}

static int add_path(generator *g, const paths_map_edge *use)
{
    uint32_t from = g->hosts[use->from], to = g->hosts[use->to];
    uint32_t last = g->made[use->from], edge;
    const paths_map_edge *link = NULL;
    int err = 0;

    if (from != to && g->options->cluster)
        link = link_between(g, from, to);
    if (is_simulated(link))
        err = add_delay(g, use, link, &last);
    if (!err && from != to)
        err = add_wrapper(g, use, "proxy", &last);
    if (err)
        return err;
    edge = paths_map_add_edge(g->map, last, g->made[use->to]);
    if (edge == PATHS_NONE)
        return out_of_memory();
    if (last == g->made[use->from])
        err = paths_attributes_copy(&g->map->edges[edge].attributes,
                                    &use->attributes);
    return err;
}

static int add_paths(generator *g)
{
    int err = 0;

    for (uint32_t i = 0; i < g->application->edge_count && !err; i++)
        err = add_path(g, &g->application->edges[i]);
    return err;
}

static int make_graph(generator *g)
{
    const paths_map *a = g->application;
    int err = paths_map_create(&g->map, a->name);

    if (!err)
        err = paths_attributes_copy(&g->map->attributes, &a->attributes);
    if (!err && !paths_attributes_get(&a->attributes, "rankdir"))
        err = set(&g->map->attributes, "rankdir", "LR");
    if (!err)
        err = paths_attributes_copy(&g->map->node_defaults, &a->node_defaults);
    if (!err)
        err = paths_attributes_copy(&g->map->edge_defaults, &a->edge_defaults);
    return err;
}

static int make_arrays(generator *g)
{
    uint32_t count = g->application->node_count;

    g->hosts = malloc(((size_t)count + 1) * sizeof(*g->hosts));
    g->made = calloc((size_t)count + 1, sizeof(*g->made));
    if (!g->hosts || !g->made)
        return out_of_memory();
    for (uint32_t i = 0; i < count; i++)
        g->hosts[i] = PATHS_NONE;
    return 0;
}

int paths_generate(paths_map **out, const paths_generate_options *options)
{
    generator g = {.options = options, .application = options->application};
    int err = check_application(&g);

    *out = NULL;
    if (!err)
        err = make_graph(&g);
    if (!err)
        err = make_arrays(&g);
    if (!err)
        err = make_hosts(&g);
    if (!err)
        err = place_all(&g);
    if (!err)
        err = copy_nodes(&g);
    if (!err)
        err = add_paths(&g);
    free(g.hosts);
    free(g.made);
    if (err)
        paths_map_destroy(g.map);
    else
        *out = g.map;
    return err;
}
