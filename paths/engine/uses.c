/* uses.c - what a thread may do over a path, as the `use` of its edge says.
 *
 *     read    all that brings a tuple: the reads, observe and take
 *     write   write and exchange
 *     both, the kind of a collective, or none: all verbs. What a collective
 *             makes of them is its own affair
 *
 * An exchange is allowed only if something on the path can bring back more than
 * the thread's own tuple: a collective, or a wrapper of the program. Else a
 * forgotten use=sum would give a wrong result and no error.
 *
 * It is looked at twice: by the thread before an operation begins, and by each
 * process that gets one over the wire, since whoever sends it need not be one
 * of our programs, or not a right one. What comes by a proxy may be what any
 * thread may do whose path leads through it; a collective there sends one
 * operation for several threads, and that is one which some of them may do. */
#include <stdlib.h>
#include <string.h>

#include "paths/engine/process_internal.h"
#include "paths/wrappers/builtin_internal.h"

#define VERB(verb) (1u << (verb))
#define WRITES (VERB(PASTSET_WRITE) | VERB(PASTSET_EXCHANGE))

static bool brings_back(const paths_map_node *node)
{
    const paths_wrapper_type *type = paths_wrapper_find(node->type);

    return type && !type->observes && type != &paths__proxy_type &&
           type != &paths__delay_type;
}

static uint32_t use_verbs(const paths_map_edge *edge)
{
    const char *use = paths_attributes_get(&edge->attributes, "use");

    if (use && strcmp(use, "read") == 0)
        return ~WRITES;
    return use && strcmp(use, "write") == 0 ? WRITES : UINT32_MAX;
}

uint32_t paths__uses_verbs(const paths_map *map, const paths_map_edge *edge,
                           const uint32_t *nodes, size_t count)
{
    uint32_t verbs = use_verbs(edge);

    for (size_t i = 0; i < count; i++) {
        if (brings_back(&map->nodes[nodes[i]]))
            return verbs;
    }
    return verbs & ~VERB(PASTSET_EXCHANGE);
}

int paths__uses_make(paths_process *process)
{
    const paths_map *map = process->map;
    uint32_t nodes[PATHS_PATH_NODES];

    process->verbs =
        calloc((size_t)map->node_count + 1, sizeof(*process->verbs));
    if (!process->verbs)
        return pastset_no_memory("for the stages");
    for (uint32_t i = 0; i < map->edge_count; i++) {
        const paths_map_edge *edge = &map->edges[i];
        size_t count = map->nodes[edge->from].kind == PATHS_THREAD
                           ? paths_map_walk(map, i, nodes, PATHS_PATH_NODES)
                           : 0;
        uint32_t verbs = paths__uses_verbs(map, edge, nodes, count);
        while (count)
            process->verbs[nodes[--count]] |= verbs;
    }
    return 0;
}

/* Where the path ends. It has been opened, so it does. */
static const paths_map_node *end_of(const paths_map *map, uint32_t edge)
{
    uint32_t nodes[PATHS_PATH_NODES];
    size_t count = paths_map_walk(map, edge, nodes, PATHS_PATH_NODES);

    return &map->nodes[count ? nodes[count - 1] : map->edges[edge].to];
}

int paths__uses_refuse(const paths_path *path, unsigned verb)
{
    const paths_map *map = path->thread->process->map;
    const paths_map_edge *edge = &map->edges[path->edge];
    const paths_map_node *end = end_of(map, path->edge);

    if (is_allowed(use_verbs(edge), verb))
        return pastset_fail(
            PASTSET_EPERM,
            "exchange over path \"%s\" (%s): nothing on this path brings "
            "anything back; for the sum of all threads write %s -> %s "
            "[use=sum] "
            "in the application mapping, and generate the path map again; to "
            "write only, call paths_write",
            path->name, path->description, path->thread->node->name, end->name);
    return pastset_fail(
        PASTSET_EPERM,
        "%s over path \"%s\" (%s): the map lets thread %s use "
        "this path to %s \"%s\" with use=%s only; in the application "
        "mapping, write use=both on that edge if it may do both, or, "
        "for a sum of all threads, use=sum, and generate the path map again",
        pastset_verb_name(verb), path->name, path->description,
        path->thread->node->name,
        end->kind == PATHS_ELEMENT ? "element" : "source", end->name,
        paths_attributes_get(&edge->attributes, "use"));
}
