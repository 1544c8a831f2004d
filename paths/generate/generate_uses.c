/* generate_uses.c - what the application mapping says about uses: their
 * words, and what an element says about its tree of wrappers. */
#include "paths/generate/generate_internal.h"

#include <stdlib.h>
#include <string.h>

#include "paths/map/map_internal.h"
#include "paths/wrappers/collective_kinds_internal.h"
#include "pastset/status.h"
#include "paths/map/map.h"

typedef paths__generator generator;

#define COLLECTIVES                                                            \
    "sum, min, max, product, and, or, xor, reduce, barrier, broadcast, "       \
    "gather, scatter and alltoall"

static const char *const plain[] = {"read", "write", "both"};
static const char *const shapes[] = {"hierarchical", "flat", "binomial"};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

const char *const paths__tree_attributes[] = {"shape",    "fanout",  "function",
                                              "deadline", "waiting", NULL};

/* The place of a word in a list; its length when it is not there. */
static size_t find(const char *const *list, size_t count, const char *word)
{
    size_t i = 0;

    while (i < count && strcmp(list[i], word) != 0)
        i++;
    return i;
}

bool paths_is_collective(const char *use)
{
    return paths__collective_family(use) >= 0;
}

paths__shape paths__shape_of(const char *word)
{
    return (paths__shape)find(shapes, COUNT(shapes), word);
}

/* --- the edges --- */

const char *paths__collective_use(const paths_map_edge *edge)
{
    const char *use = paths_attributes_get(&edge->attributes, "use");

    return use && paths_is_collective(use) ? use : NULL;
}

static int refuse_other(const generator *g, const paths_map_edge *edge)
{
    const paths_map *a = g->application;
    const paths_map_node *element = &a->nodes[edge->to];
    const paths_map_edge *first = NULL;

    for (uint32_t i = 0; i < element->in_count && !first; i++) {
        if (paths__collective_use(&a->edges[element->in[i]]))
            first = &a->edges[element->in[i]];
    }
    return paths__fail_at(a, edge->line, a->nodes[edge->from].name,
                          "takes part in %s with use=%s, but %s with use=%s "
                          "(line %u): all must have the same use",
                          element->name, paths__collective_use(edge),
                          a->nodes[first->from].name, g->uses[edge->to],
                          first->line);
}

static int take_edge(generator *g, const paths_map_edge *edge)
{
    const paths_map *a = g->application;
    const char *use = paths_attributes_get(&edge->attributes, "use");

    if (!use || find(plain, COUNT(plain), use) < COUNT(plain))
        return 0;
    if (!paths_is_collective(use))
        return paths__fail_at(a, edge->line, a->nodes[edge->from].name,
                              "use=%s of %s is not known: choose read, write, "
                              "both, or one of the collectives " COLLECTIVES,
                              use, a->nodes[edge->to].name);
    if (g->uses[edge->to] && strcmp(g->uses[edge->to], use) != 0)
        return refuse_other(g, edge);
    g->uses[edge->to] = use;
    return 0;
}

/* --- the elements --- */

static int check_plain(const generator *g, const paths_map_node *element)
{
    for (const char *const *key = paths__tree_attributes; *key; key++) {
        const char *value = paths_node_get(element, *key);
        /* Other shapes are Graphviz's. */
        if (value && (strcmp(*key, "shape") != 0 ||
                      paths__shape_of(value) != PATHS__NO_SHAPE))
            return paths__fail_at(g->application, element->line, element->name,
                                  "has %s=%s, but no thread uses it "
                                  "collectively, as in use=sum",
                                  *key, value);
    }
    return 0;
}

static int check_function(const generator *g, const paths_map_node *element,
                          const char *use)
{
    bool reduce = strcmp(use, "reduce") == 0;
    const char *function = paths_node_get(element, "function");

    if (reduce && !function)
        return paths__fail_at(g->application, element->line, element->name,
                              "has no function: use=reduce calls one of the "
                              "program, so write function=NAME");
    if (!reduce && function)
        return paths__fail_at(g->application, element->line, element->name,
                              "has function=%s, which goes with use=reduce, "
                              "not with use=%s",
                              function, use);
    return 0;
}

int paths__generate_uses(generator *g)
{
    const paths_map *a = g->application;
    int err = 0;

    for (uint32_t i = 0; i < a->edge_count && !err; i++)
        err = take_edge(g, &a->edges[i]);
    for (uint32_t i = 0; i < a->node_count && !err; i++) {
        if (a->nodes[i].kind == PATHS_ELEMENT)
            err = g->uses[i] ? check_function(g, &a->nodes[i], g->uses[i])
                             : check_plain(g, &a->nodes[i]);
    }
    return err;
}

/* --- the shape and fan-out of a tree --- */

/* What the element says, or the default of all nodes if it is such a word: a
 * drawing attribute that all nodes inherit is not at the node. */
static const char *own_shape(const generator *g, const paths_map_node *element)
{
    const char *own = paths_node_get(element, "shape");
    const char *all =
        paths_attributes_get(&g->application->node_defaults, "shape");

    if (own)
        return own;
    return all && paths__shape_of(all) != PATHS__NO_SHAPE ? all : NULL;
}

static int choose_fanout(const generator *g, const paths_map_node *element,
                         bool binomial, uint32_t *out)
{
    const paths_map *a = g->application;
    uint64_t fanout = 0;
    int err = paths_node_number(a, element, "fanout", 0, &fanout);

    *out = 0;
    if (err)
        return err;
    if (!paths_node_get(element, "fanout")) {
        *out = binomial ? 0 : g->options->fanout;
        return 0;
    }
    if (fanout < 2 || fanout > UINT32_MAX)
        return paths__fail_at(
            a, element->line, element->name,
            "fanout=%s: a wrapper must be allowed 2 or more inputs",
            paths_node_get(element, "fanout"));
    if (binomial)
        return paths__fail_at(a, element->line, element->name,
                              "has a fanout and the shape binomial, which does "
                              "not take one: remove one of them");
    *out = (uint32_t)fanout;
    return 0;
}

int paths__generate_shape(const generator *g, const paths_map_node *element,
                          paths__shape *shape, uint32_t *fanout)
{
    const char *word = own_shape(g, element);

    if (!word)
        word = g->options->shape ? g->options->shape : "hierarchical";
    *shape = paths__shape_of(word);
    if (*shape == PATHS__NO_SHAPE)
        return paths__fail_at(g->application, element->line, element->name,
                              "shape=%s: choose flat, hierarchical or binomial",
                              word);
    return choose_fanout(g, element, *shape == PATHS__BINOMIAL, fanout);
}

int paths__generate_check(const paths_generate_options *options)
{
    paths__shape shape =
        options->shape ? paths__shape_of(options->shape) : PATHS__HIERARCHICAL;

    if (shape == PATHS__NO_SHAPE)
        return pastset_fail(
            PASTSET_EINVAL,
            "the shape '%.60s' is not one of flat, hierarchical, binomial",
            options->shape);
    if (options->fanout == 1)
        return pastset_fail(
            PASTSET_EINVAL,
            "a fan-out of 1: a wrapper must be allowed 2 or more inputs");
    if (options->fanout && shape == PATHS__BINOMIAL)
        return pastset_fail(PASTSET_EINVAL,
                            "the shape binomial does not take a fan-out");
    return 0;
}
