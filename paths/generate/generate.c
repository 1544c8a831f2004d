/* generate.c - application + cluster + placement = path map.
 *
 *     generate.c        checks, placement, nodes, and the whole
 *     generate_processes.c  processes and links
 *     generate_uses.c   the words of uses, and what elements say of trees
 *     generate_tree.c   trees of collectives
 *     generate_way.c    nodes, and what stands between two of them
 *
 * Processes are copied first, then each thread and element is given its process
 * and copied to it, then each use of an element becomes a path, and all
 * collective uses of one a tree. */
#include "paths/generate/generate_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/map/map_internal.h"
#include "paths/map/networks_internal.h"
#include "pastset/status.h"
#include "paths/map/map.h"

typedef paths__generator generator;

static int set(paths_attributes *attributes, const char *key, const char *value)
{
    return paths_attributes_set(attributes, key, value);
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
    if (node->process != PATHS_NONE)
        return paths__fail_at(g->application, node->line, node->name,
                              "is inside a process: place it in the placement, "
                              "with %s -> PROCESS",
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
                          "element, even to read it (use=read)",
                          to->name);
}

static int check_application(generator *g)
{
    const paths_map *a = g->application;
    int err = 0;

    for (uint32_t i = 0; i < a->node_count && !err; i++)
        err = check_node(g, &a->nodes[i]);
    for (uint32_t i = 0; i < a->edge_count && !err; i++)
        err = check_edge(g, &a->edges[i]);
    return err ? err : paths__generate_uses(g);
}

/* --- placement --- */

static int place(generator *g, const paths_map_edge *edge)
{
    const paths_map *p = g->options->placement;
    const char *what = p->nodes[edge->from].name;
    const char *where = p->nodes[edge->to].name;
    uint32_t node = paths_map_find_node(g->application, what);
    uint32_t process = paths_map_find_process(g->map, where);

    if (node == PATHS_NONE)
        return paths__fail_at(p, edge->line, what,
                              "the application has no thread or element of "
                              "this name");
    if (process == PATHS_NONE)
        return paths__fail_at(
            p, edge->line, what,
            "is placed on %s, which is not a process of the cluster", where);
    if (g->processes[node] != PATHS_NONE && g->processes[node] != process)
        return paths__fail_at(
            p, edge->line, what, "is placed twice, on %s and %s",
            g->map->processes[g->processes[node]].name, where);
    g->processes[node] = process;
    return 0;
}

/* Threads are numbered in their order when none of them has a number. Where
 * numbers are wrong or missing, which the check of the map will tell, the
 * order has to do. */
static void number(generator *g)
{
    const paths_map *a = g->application;
    uint64_t threads = paths_map_threads(a), at = 0;

    for (uint32_t i = 0; i < a->node_count; i++) {
        const char *text = paths_node_get(&a->nodes[i], "number");
        uint64_t said;
        if (a->nodes[i].kind != PATHS_THREAD)
            continue;
        g->numbers[i] = at++;
        if (text && paths_parse_number(text, &said) == 0 && said < threads)
            g->numbers[i] = said;
    }
}

/* Threads that were not placed, by their number. */
static void spread(generator *g)
{
    const paths_map *a = g->application;
    uint64_t threads = paths_map_threads(a), processes = g->map->process_count;

    for (uint32_t i = 0; i < a->node_count; i++) {
        if (a->nodes[i].kind == PATHS_THREAD && g->processes[i] == PATHS_NONE)
            g->processes[i] =
                (uint32_t)(g->options->spread == PATHS_CYCLIC
                               ? g->numbers[i] % processes
                               : g->numbers[i] * processes / threads);
    }
}

static bool is_use(const paths_map_edge *edge, const char *use)
{
    const char *text = paths_attributes_get(&edge->attributes, "use");

    return !text || strcmp(text, use) == 0 || strcmp(text, "both") == 0;
}

/* The process of the lowest-numbered thread that takes part in a collective. */
static uint32_t home_of_collective(const generator *g,
                                   const paths_map_node *element)
{
    const paths_map *a = g->application;
    uint32_t first = PATHS_NONE;

    for (uint32_t i = 0; i < element->in_count; i++) {
        const paths_map_edge *edge = &a->edges[element->in[i]];
        if (paths__collective_use(edge) &&
            (first == PATHS_NONE || g->numbers[edge->from] < g->numbers[first]))
            first = edge->from;
    }
    return g->processes[first];
}

/* The process of the first thread that uses the element as the option says,
 * else of the first that uses it at all, else the first process. */
static uint32_t home(const generator *g, const paths_map_node *element)
{
    const paths_map *a = g->application;
    const char *use = g->options->home == PATHS_WITH_WRITER ? "write" : "read";

    for (uint32_t i = 0; i < element->in_count; i++) {
        const paths_map_edge *edge = &a->edges[element->in[i]];
        if (is_use(edge, use))
            return g->processes[edge->from];
    }
    return element->in_count ? g->processes[a->edges[element->in[0]].from] : 0;
}

static int place_all(generator *g)
{
    const paths_map *a = g->application, *p = g->options->placement;
    int err = 0;

    for (uint32_t i = 0; p && i < p->edge_count && !err; i++)
        err = place(g, &p->edges[i]);
    if (err)
        return err;
    number(g);
    spread(g);
    for (uint32_t i = 0; i < a->node_count; i++) {
        if (g->processes[i] == PATHS_NONE)
            g->processes[i] = g->uses[i] ? home_of_collective(g, &a->nodes[i])
                                         : home(g, &a->nodes[i]);
    }
    return 0;
}

/* --- nodes --- */

/* Unless the application map says something else. */
static int preset(paths_attributes *attributes, const char *key,
                  const char *value)
{
    return paths_attributes_get(attributes, key) ? 0
                                                 : set(attributes, key, value);
}

static int copy_element(generator *g, uint32_t index)
{
    const char *use = g->uses[index];
    paths_attributes *attributes = &g->map->nodes[g->made[index]].attributes;
    const char *const *key = paths__tree_attributes;
    int err = 0;

    if (!use)
        return preset(attributes, "shape", "box");
    for (; *key && !err; key++)
        err = set(attributes, *key, NULL);
    if (err)
        return err;
    err = preset(attributes, "policy", "discard");
    if (err)
        return err;
    /* The last results, not the usual 1024: a gathered tuple may be large. */
    err = preset(attributes, "capacity", "16");
    if (err)
        return err;
    if (strcmp(use, "barrier") == 0)
        err = preset(attributes, "type", "bytes[1]");
    if (err)
        return err;
    return preset(attributes, "shape", "box");
}

static int copy_node(generator *g, uint32_t index, bool numbered)
{
    const paths_map_node *node = &g->application->nodes[index];
    paths_attributes *attributes;
    char text[24];
    int err = paths__generate_node(g, g->processes[index], node->type,
                                   node->name, node->line, &g->made[index]);

    if (err)
        return err;
    attributes = &g->map->nodes[g->made[index]].attributes;
    err = paths_attributes_copy(attributes, &node->attributes);
    if (!err && node->kind == PATHS_ELEMENT)
        err = copy_element(g, index);
    if (!err && node->kind == PATHS_THREAD && !numbered) {
        snprintf(text, sizeof(text), "%llu",
                 (unsigned long long)g->numbers[index]);
        err = set(attributes, "number", text);
    }
    return err;
}

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
    int err = 0;

    for (uint32_t i = 0; i < a->node_count && !err; i++)
        err = copy_node(g, i, numbered);
    return err;
}

/* A tree comes where the first of its uses stands. */
static int add_paths(generator *g)
{
    const paths_map *a = g->application;
    bool *laid = calloc((size_t)a->node_count + 1, sizeof(*laid));
    int err = laid ? 0 : paths__generate_no_memory();

    for (uint32_t i = 0; i < a->edge_count && !err; i++) {
        const paths_map_edge *use = &a->edges[i];
        if (!paths__collective_use(use))
            err = paths__generate_way(g, g->made[use->from], use,
                                      g->made[use->to]);
        else if (!laid[use->to])
            err = paths__generate_tree(g, use->to);
        if (paths__collective_use(use))
            laid[use->to] = true;
    }
    free(laid);
    return err;
}

/* --- all of it --- */

/* The shape of trees is said at the elements, or here for all. */
static int copy_node_defaults(generator *g)
{
    const paths_attributes *defaults = &g->application->node_defaults;
    const char *shape = paths_attributes_get(defaults, "shape");
    int err = paths_attributes_copy(&g->map->node_defaults, defaults);

    if (!err && shape && paths__shape_of(shape) != PATHS__NO_SHAPE)
        err = set(&g->map->node_defaults, "shape", NULL);
    return err;
}

/* Machines say it for all of them at once on their graph, too. */
static int encrypt_take(generator *g)
{
    const paths_map *cluster = g->options->cluster;
    const char *encrypt =
        cluster ? paths_attributes_get(&cluster->attributes, "encrypt") : NULL;

    return encrypt ? set(&g->map->attributes, "encrypt", encrypt) : 0;
}

static int make_graph(generator *g)
{
    const paths_map *a = g->application;
    int err = paths_map_create(&g->map, a->name);

    if (err)
        return err;
    err = paths_attributes_copy(&g->map->attributes, &a->attributes);
    if (!err)
        err = encrypt_take(g);
    if (err)
        return err;
    err = preset(&g->map->attributes, "rankdir", "LR");
    if (err)
        return err;
    err = copy_node_defaults(g);
    if (err)
        return err;
    return paths_attributes_copy(&g->map->edge_defaults, &a->edge_defaults);
}

static int make_arrays(generator *g)
{
    size_t count = (size_t)g->application->node_count + 1;

    g->processes = malloc(count * sizeof(*g->processes));
    g->made = calloc(count, sizeof(*g->made));
    g->numbers = calloc(count, sizeof(*g->numbers));
    g->uses = calloc(count, sizeof(*g->uses));
    if (!g->processes || !g->made || !g->numbers || !g->uses)
        return paths__generate_no_memory();
    for (size_t i = 0; i < count; i++)
        g->processes[i] = PATHS_NONE;
    return 0;
}

static int make_map(generator *g)
{
    int err = make_arrays(g);

    if (err)
        return err;
    err = check_application(g);
    if (err)
        return err;
    err = make_graph(g);
    if (err)
        return err;
    err = paths__generate_processes(g);
    if (!err)
        err = paths__generate_networks(g);
    if (!err)
        err = paths__generate_machines(g);
    if (err)
        return err;
    err = place_all(g);
    if (err)
        return err;
    err = copy_nodes(g);
    if (err)
        return err;
    return add_paths(g);
}

int paths_generate(paths_map **out, const paths_generate_options *options)
{
    generator g = {.options = options, .application = options->application};
    int err = paths__generate_check(options);

    *out = NULL;
    if (!err)
        err = make_map(&g);
    free(g.processes);
    free(g.made);
    free(g.numbers);
    free(g.uses);
    free(g.machines);
    paths__networks_destroy(g.networks);
    if (err)
        paths_map_destroy(g.map);
    else
        *out = g.map;
    return err;
}
