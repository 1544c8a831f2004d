/* generate_tree.c - the trees of wrappers of collectives.
 *
 * A tree begins with one input for each thread that takes part, in the order
 * of their numbers. Wrappers put inputs together and are inputs themselves,
 * at the place of the first of theirs, until one wrapper, the root, is left:
 *
 *   flat          all threads come to the root
 *   hierarchical  threads of one process come together there, then the
 *                 processes of one machine, then those of one cluster, then
 *                 all at the root
 *   binomial      as MPI reduces: the thread of rank r, lowest bit b, comes to
 *                 rank r - b, and the root stands at rank 0
 *
 * Inputs of a wrapper keep that order, and so do the edges of the map: sums
 * are computed in the order of the edges. */
#include "paths/generate/generate_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/map/map_internal.h"
#include "pastset/status.h"
#include "paths/map/map.h"

/* A thread, or a wrapper that has all of its inputs. */
typedef struct input {
    uint32_t node;             /* of the map */
    const paths_map_edge *use; /* of a thread: its edge; NULL for wrappers */
} input;

typedef struct tree {
    paths__generator *g;
    const paths_map_node *element; /* of the application */
    uint32_t bottom;               /* the element's node of the map */
    const char *use;
    char *root; /* name of the root: "<element>.<use>" */
    paths__shape shape;
    uint32_t fanout; /* 0: no limit */
    input *inputs;
    uint32_t count;
} tree;

static uint32_t process_of(const tree *t, uint32_t node)
{
    return t->g->map->nodes[node].process;
}

/* --- wrappers --- */

/* Funnels: `dot` draws the map as it is, too. */
static int dress(paths_attributes *attributes)
{
    static const char *const looks[][2] = {{"shape", "trapezium"},
                                           {"orientation", "270"},
                                           {"style", "filled"},
                                           {"fillcolor", "#c8e6c0"}};
    int err = 0;

    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]) && !err; i++)
        err = paths_attributes_set(attributes, looks[i][0], looks[i][1]);
    return err;
}

static char *name_part(const char *name, const char *part)
{
    char *out;

    return asprintf(&out, "%s.%s", name, part) < 0 ? NULL : out;
}

/* Takes the name, which is NULL when there was no memory for it. */
static int add_wrapper(tree *t, uint32_t process, char *name, uint32_t *out)
{
    const char *const *key = &paths__tree_attributes[PATHS__TREE_COPIED];
    paths_attributes *attributes;
    int err = name ? paths__generate_wrapper(t->g, process, t->use, name,
                                             t->element->line, out)
                   : paths__generate_no_memory();

    free(name);
    if (err)
        return err;
    attributes = &t->g->map->nodes[*out].attributes;
    for (; *key && !err; key++) {
        const char *value = paths_node_get(t->element, *key);
        if (value)
            err = paths_attributes_set(attributes, *key, value);
    }
    return err ? err : dress(attributes);
}

static int connect(tree *t, const input *from, uint32_t wrapper)
{
    return paths__generate_way(t->g, from->node, from->use, wrapper);
}

/* --- fan-out --- */

/* "total.sum.h0.3", or "total.sum.3" above the root. A number is left out when
 * that name is taken: a process may be called 3. */
static char *name_above(const tree *t, uint32_t wrapper, uint32_t *number)
{
    const char *below = t->g->map->nodes[wrapper].name;
    bool taken = true;
    char *name = NULL;

    while (taken) {
        free(name);
        if (asprintf(&name, "%s.%u", below, ++*number) < 0)
            return NULL;
        taken = paths_map_find_node(t->g->map, name) != PATHS_NONE;
    }
    return name;
}

/* Puts `count` inputs, which come to one wrapper in the end, together in a
 * wrapper on the process of the first. */
static int add_above(tree *t, const input *inputs, uint32_t count,
                     uint32_t wrapper, uint32_t *number, input *out)
{
    input made = {PATHS_NONE, NULL};
    int err = add_wrapper(t, process_of(t, inputs[0].node),
                          name_above(t, wrapper, number), &made.node);

    for (uint32_t i = 0; i < count && !err; i++)
        err = connect(t, &inputs[i], made.node);
    *out = made;
    return err;
}

/* Makes groups of consecutive inputs, as few as the fan-out allows and of
 * nearly the same size, and of each group one input. */
static int narrow(tree *t, input *inputs, uint32_t *count, uint32_t wrapper,
                  uint32_t *number)
{
    uint32_t groups = *count / t->fanout + (*count % t->fanout != 0);
    uint32_t at = 0;
    int err = 0;

    for (uint32_t i = 0; i < groups && !err; i++) {
        uint32_t size = *count / groups + (i < *count % groups);
        if (size == 1)
            inputs[i] = inputs[at];
        else
            err = add_above(t, &inputs[at], size, wrapper, number, &inputs[i]);
        at += size;
    }
    *count = groups;
    return err;
}

/* Leads the inputs, which are changed, to the wrapper. */
static int join(tree *t, input *inputs, uint32_t count, uint32_t wrapper)
{
    uint32_t number = 0;
    int err = 0;

    while (t->fanout && count > t->fanout && !err)
        err = narrow(t, inputs, &count, wrapper, &number);
    for (uint32_t i = 0; i < count && !err; i++)
        err = connect(t, &inputs[i], wrapper);
    return err;
}

/* --- hierarchical --- */

/* The places where inputs come together at one level of the hierarchy. */
typedef struct level {
    uint32_t (*place)(const tree *t, uint32_t process); /* below `places` */
    char *(*name)(const tree *t, uint32_t process);
} level;

/* Clusters are numbered as in the cluster mapping, whose nodes are the
 * processes.
 */
static uint32_t clusters(const tree *t)
{
    const paths_map *cluster = t->g->options->cluster;

    return cluster ? cluster->process_count : 0;
}

static uint32_t places(const tree *t)
{
    return clusters(t) + t->g->map->process_count;
}

static uint32_t place_process(const tree *t, uint32_t process)
{
    (void)t;
    return process;
}

static char *name_process(const tree *t, uint32_t process)
{
    return name_part(t->root, t->g->map->processes[process].name);
}

static uint32_t place_machine(const tree *t, uint32_t process)
{
    return t->g->machines[process];
}

/* Called after its first process, whose own wrapper is called like that. */
static char *name_machine(const tree *t, uint32_t process)
{
    const char *first = t->g->map->processes[t->g->machines[process]].name;
    char *name;

    return asprintf(&name, "%s.machine_%s", t->root, first) < 0 ? NULL : name;
}

/* A process that is in no cluster is one by itself. */
static uint32_t place_cluster(const tree *t, uint32_t process)
{
    const paths_map *cluster = t->g->options->cluster;

    uint32_t place =
        cluster ? paths__generate_machine(t->g, process)->process : PATHS_NONE;

    if (place != PATHS_NONE)
        return place;
    return clusters(t) + process;
}

/* A cluster may be called like a process. */
static char *name_cluster(const tree *t, uint32_t process)
{
    const paths_map *cluster = t->g->options->cluster;
    const char *part =
        cluster->processes[paths__generate_machine(t->g, process)->process]
            .name;
    char *name;

    if (paths_map_find_process(t->g->map, part) == PATHS_NONE)
        return name_part(t->root, part);
    return asprintf(&name, "%s.cluster_%s", t->root, part) < 0 ? NULL : name;
}

/* Makes one input of a group of one place, by a wrapper on the process of the
 * first, or the element's if that is at this place. None is needed for one
 * input, nor where the root itself would stand beside it with no other. */
static int add_partial(tree *t, const level *l, input *group, uint32_t *size,
                       uint32_t count)
{
    uint32_t home = process_of(t, t->bottom),
             process = process_of(t, group[0].node);
    input made = {PATHS_NONE, NULL};
    int err;

    if (l->place(t, process) == l->place(t, home))
        process = home;
    if (*size == 1 || (*size == count && process == home))
        return 0;
    err = add_wrapper(t, process, l->name(t, process), &made.node);
    if (!err)
        err = join(t, group, *size, made.node);
    group[0] = made;
    *size = 1;
    return err;
}

/* Lists, for each place, the inputs there: `first` of a place, `next` of an
 * input. */
static void list_places(const tree *t, const level *l, uint32_t *first,
                        uint32_t *last, uint32_t *next)
{
    for (uint32_t i = 0; i < places(t); i++)
        first[i] = PATHS_NONE;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t place = l->place(t, process_of(t, t->inputs[i].node));
        if (first[place] == PATHS_NONE)
            first[place] = i;
        else
            next[last[place]] = i;
        last[place] = i;
        next[i] = PATHS_NONE;
    }
}

/* Puts the inputs of each place together, at the place of the first. */
static int climb_lists(tree *t, const level *l, const uint32_t *first,
                       const uint32_t *next, input *out)
{
    uint32_t made = 0;
    int err = 0;

    for (uint32_t i = 0; i < t->count && !err; i++) {
        uint32_t size = 0;
        if (first[l->place(t, process_of(t, t->inputs[i].node))] != i)
            continue;
        for (uint32_t k = i; k != PATHS_NONE; k = next[k])
            out[made + size++] = t->inputs[k];
        err = add_partial(t, l, &out[made], &size, t->count);
        made += size;
    }
    memcpy(t->inputs, out, made * sizeof(*out));
    t->count = made;
    return err;
}

static int climb(tree *t, const level *l)
{
    uint32_t *first = malloc(places(t) * sizeof(*first));
    uint32_t *last = malloc(places(t) * sizeof(*last));
    uint32_t *next = malloc(t->count * sizeof(*next));
    input *out = malloc(t->count * sizeof(*out));
    int err;

    if (first && last && next && out) {
        list_places(t, l, first, last, next);
        err = climb_lists(t, l, first, next, out);
    } else {
        err = paths__generate_no_memory();
    }
    free(first);
    free(last);
    free(next);
    free(out);
    return err;
}

/* --- the shapes --- */

static int lay_flat(tree *t)
{
    input root = {PATHS_NONE, NULL};
    int err =
        add_wrapper(t, process_of(t, t->bottom), strdup(t->root), &root.node);

    if (!err)
        err = join(t, t->inputs, t->count, root.node);
    return err ? err : connect(t, &root, t->bottom);
}

static int lay_hierarchy(tree *t)
{
    static const level by_process = {place_process, name_process};
    static const level by_machine = {place_machine, name_machine};
    static const level by_cluster = {place_cluster, name_cluster};
    int err = climb(t, &by_process);

    if (!err)
        err = climb(t, &by_machine);
    if (!err)
        err = climb(t, &by_cluster);
    return err ? err : lay_flat(t);
}

/* How far from rank r its children may be: below its lowest bit. */
static uint64_t reach(uint64_t rank)
{
    return rank ? rank & -rank : UINT64_MAX;
}

static int lay_rank(tree *t, const input *own, uint32_t rank)
{
    uint32_t wrapper = t->inputs[rank].node;
    int err = connect(t, own, wrapper);

    for (uint64_t far = 1; far < reach(rank) && rank + far < t->count && !err;
         far *= 2)
        err = connect(t, &t->inputs[rank + far], wrapper);
    return err;
}

/* First the wrappers, of all ranks that have children, then their inputs. */
static int lay_binomial(tree *t)
{
    input *own = malloc(t->count * sizeof(*own));
    int err = own ? 0 : paths__generate_no_memory();

    if (own)
        memcpy(own, t->inputs, t->count * sizeof(*own));
    for (uint32_t r = 0; r < t->count && !err; r += 2) {
        const char *thread = t->g->map->nodes[own[r].node].name;
        t->inputs[r].use = NULL;
        if (r == 0 || r + 1 < t->count)
            err = add_wrapper(t, process_of(t, own[r].node),
                              r ? name_part(t->root, thread) : strdup(t->root),
                              &t->inputs[r].node);
        else
            t->inputs[r] = own[r];
    }
    for (uint32_t r = 0; r < t->count && !err; r += 2) {
        if (!t->inputs[r].use)
            err = lay_rank(t, &own[r], r);
    }
    if (!err)
        err = connect(t, &t->inputs[0], t->bottom);
    free(own);
    return err;
}

/* --- who takes part --- */

typedef struct ranked {
    uint64_t number;
    const paths_map_edge *use;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->use->from > y->use->from) - (x->use->from < y->use->from);
}

static int refuse_twice(const tree *t, const paths_map_edge *use)
{
    const paths_map *a = t->g->application;

    return paths__fail_at(a, use->line, a->nodes[use->from].name,
                          "takes part in %s twice: a thread has one path to "
                          "a collective",
                          t->element->name);
}

/* The inputs are the threads, in the order of their numbers. */
static int take_threads(tree *t, ranked *list)
{
    const paths_map *a = t->g->application;

    for (uint32_t i = 0; i < t->element->in_count; i++) {
        const paths_map_edge *use = &a->edges[t->element->in[i]];
        if (paths__collective_use(use))
            list[t->count++] = (ranked){t->g->numbers[use->from], use};
    }
    qsort(list, t->count, sizeof(*list), compare_ranked);
    for (uint32_t i = 0; i < t->count; i++) {
        if (i && list[i].use->from == list[i - 1].use->from)
            return refuse_twice(t, list[i].use);
        t->inputs[i] = (input){t->g->made[list[i].use->from], list[i].use};
    }
    return 0;
}

static int lay(tree *t)
{
    switch (t->shape) {
    case PATHS__FLAT:
        return lay_flat(t);
    case PATHS__BINOMIAL:
        return lay_binomial(t);
    default:
        return lay_hierarchy(t);
    }
}

int paths__generate_tree(paths__generator *g, uint32_t element)
{
    const paths_map_node *node = &g->application->nodes[element];
    tree t = {.g = g,
              .element = node,
              .bottom = g->made[element],
              .use = g->uses[element],
              .root = name_part(node->name, g->uses[element])};
    ranked *list = malloc(node->in_count * sizeof(*list));
    int err = paths__generate_shape(g, node, &t.shape, &t.fanout);

    t.inputs = malloc(node->in_count * sizeof(*t.inputs));
    if (err)
        goto done;
    if (!list || !t.inputs || !t.root) {
        err = paths__generate_no_memory();
        goto done;
    }
    err = take_threads(&t, list);
    if (err)
        goto done;
    err = lay(&t);
done:
    free(list);
    free(t.inputs);
    free(t.root);
    return err;
}
