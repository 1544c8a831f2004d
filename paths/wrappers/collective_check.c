/* collective_check.c - what a map must not ask of a collective wrapper. */
#include <stdlib.h>
#include <string.h>

#include "paths/wrappers/builtin_internal.h"
#include "paths/wrappers/collective_internal.h"

static void check_attributes(const paths_map *map, const paths_map_node *node,
                             paths_diagnostics *diagnostics)
{
    const char *waiting = paths_node_get(node, "waiting");
    const char *function = paths_node_get(node, "function");
    uint64_t value;

    if (paths_node_duration(map, node, "deadline", 1, &value) != 0 ||
        value == 0)
        paths_node_diagnose(
            diagnostics, node,
            "deadline=\"%s\": write a number above 0 and us, ms or "
            "s, or leave it out",
            paths_node_get(node, "deadline"));
    if (waiting && *waiting && strcmp(waiting, "spin") != 0 &&
        strcmp(waiting, "yield") != 0 && strcmp(waiting, "sleep") != 0)
        paths_node_diagnose(diagnostics, node,
                            "waiting=%s: choose spin, yield or sleep", waiting);
    if (strcmp(node->type, "reduce") == 0 && !(function && *function))
        paths_node_diagnose(
            diagnostics, node,
            "say what it computes: function=NAME, a reduction that "
            "the program registers");
}

/* Each way in must be that of one thread or of one collective: else two would
 * contribute where one is counted. */
static bool check_ways(const paths_map *map, const paths_map_node *node,
                       paths_diagnostics *diagnostics)
{
    bool good = true;

    if (node->in_count == 0)
        paths_node_diagnose(diagnostics, node,
                            "no edge leads to it: no thread takes part in it");
    if (node->in_count > COLLECTIVE_INPUTS)
        paths_node_diagnose(
            diagnostics, node,
            "%u edges lead to it, and at most %d can: put wrappers "
            "of this kind between",
            node->in_count, COLLECTIVE_INPUTS);
    for (uint32_t i = 0; i < node->in_count; i++) {
        const paths_map_edge *edge = &map->edges[node->in[i]];
        if (paths__collective_source(map, node->in[i]) != PATHS_NONE)
            continue;
        paths_diagnose(diagnostics, edge->line, node->name,
                       "several paths join before they reach it through "
                       "\"%s\": each needs an edge of its own",
                       map->nodes[edge->from].name);
        good = false;
    }
    return good && node->in_count > 0 && node->in_count <= COLLECTIVE_INPUTS;
}

static void check_leaves(const paths_map *map, const paths_map_node *node,
                         const collective_leaves *leaves,
                         paths_diagnostics *diagnostics)
{
    for (uint32_t i = 1; i < leaves->count; i++) {
        if (leaves->numbers[i] != leaves->numbers[i - 1])
            continue;
        paths_node_diagnose(diagnostics, node,
                            "thread number %u reaches it on two paths, and "
                            "would wait for itself: remove one",
                            leaves->numbers[i]);
        return;
    }
    (void)map;
}

/* The kind of a wrapper that this one passes its rounds on to. */
static void check_next(const paths_map *map, const paths_map_node *node,
                       paths_diagnostics *diagnostics)
{
    uint32_t at = (uint32_t)(node - map->nodes);
    int own = paths__collective_family(node->type);

    for (uint32_t i = 0; i < map->node_count && map->nodes[at].out_count; i++) {
        const paths_map_node *next;
        at = map->edges[map->nodes[at].out[0]].to;
        next = &map->nodes[at];
        if (!paths__joins(next))
            continue;
        if (paths__collective_family(next->type) != own)
            paths_node_diagnose(diagnostics, node,
                                "is a %s, but passes its rounds on to \"%s\", "
                                "which is a %s: make both of the same kind",
                                node->type, next->name, next->type);
        return;
    }
}

static bool is_read(const paths_map_edge *edge)
{
    const char *use = paths_attributes_get(&edge->attributes, "use");

    return !use || strcmp(use, "read") == 0 || strcmp(use, "both") == 0;
}

/* Does a path lead past all collectives to the element, and read there? */
static bool is_read_plainly(const paths_map *map, uint32_t element)
{
    for (uint32_t i = 0; i < map->edge_count; i++) {
        uint32_t at = map->edges[i].to;
        bool joined = false;
        if (map->nodes[map->edges[i].from].kind != PATHS_THREAD ||
            !is_read(&map->edges[i]))
            continue;
        for (uint32_t k = 0; k < map->node_count; k++) {
            joined |= paths__joins(&map->nodes[at]);
            if (!map->nodes[at].out_count)
                break;
            at = map->edges[map->nodes[at].out[0]].to;
        }
        if (at == element && !joined)
            return true;
    }
    return false;
}

static void check_element(const paths_map *map, const paths_map_node *node,
                          uint32_t participants, paths_diagnostics *diagnostics)
{
    uint32_t index =
        paths__collective_element(map, (uint32_t)(node - map->nodes));
    const paths_map_node *element = &map->nodes[index];
    const char *problem;
    pastset_type type;

    if (index != PATHS_NONE && element->kind != PATHS_ELEMENT) {
        paths_node_diagnose(
            diagnostics, node,
            "leads to \"%s\", a source: its rounds need an element",
            element->name);
        return;
    }
    if (index == PATHS_NONE || !paths_node_get(element, "type") ||
        pastset_type_parse(&type, paths_node_get(element, "type")) != 0)
        return; /* complained about already */
    problem = paths__collective_type_problem(node->type, &type, participants);
    if (problem)
        paths_diagnose(diagnostics, element->line, element->name,
                       "its type is \"%s\", but \"%s\", a %s of %u threads, "
                       "leads to it: %s",
                       type.text, node->name, node->type, participants,
                       problem);
    if (paths_node_policy(element) == PASTSET_BLOCK &&
        !is_read_plainly(map, index))
        paths_diagnose(
            diagnostics, element->line, element->name,
            "each round of \"%s\" writes to it and no thread takes anything "
            "out, so it would be full and block: write policy=discard",
            node->name);
}

void paths__collective_check(const paths_map *map, const paths_map_node *node,
                             paths_diagnostics *diagnostics)
{
    uint32_t index = (uint32_t)(node - map->nodes);
    collective_leaves leaves = {NULL, 0};

    check_attributes(map, node, diagnostics);
    if (!check_ways(map, node, diagnostics))
        return;
    check_next(map, node, diagnostics);
    if (paths__collective_root(map, index) == index &&
        paths__collective_leaves(map, index, &leaves) == 0 && leaves.count) {
        check_leaves(map, node, &leaves, diagnostics);
        check_element(map, node, leaves.count, diagnostics);
    }
    free(leaves.numbers);
}
