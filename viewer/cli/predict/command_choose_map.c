/* command_choose_map.c - eventspace choose --map: which threads are on a node,
 * and a placement of them. */
#include "viewer/cli/predict/command_choose.h"

#include <stdlib.h>
#include <string.h>

#include "paths/generate/generate.h"
#include "paths/map/units.h"
#include "pastset/status.h"

/* --- which threads are on which node --- */

/* Which node of the profile a process of the map was; PREDICT_NONE. */
static uint32_t node_of_process(const predict_profile *profile,
                                const char *name)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (strcmp(profile->nodes[i].name, name) == 0)
            return i;
    return PREDICT_NONE;
}

static int thread_take(choose_arguments *a, const predict_profile *profile,
                       const paths_map *map, const paths_map_node *node)
{
    const char *number = paths_attributes_get(&node->attributes, "number");
    const char *process = map->processes[node->process].name;
    uint32_t at = node_of_process(profile, process);
    uint64_t n;

    if (!number || paths_parse_number(number, &n) || n >= a->thread_count)
        return pastset_fail(PASTSET_EMAP,
                            "%.250s: thread %s has no number below %u",
                            map->file, node->name, a->thread_count);
    if (at == PREDICT_NONE)
        return pastset_fail(PASTSET_ENOENT,
                            "%.250s: process %s is no node of the profile: is "
                            "this the map of the run that was measured?",
                            map->file, process);
    if (a->node_of[n] != PREDICT_NONE)
        return pastset_fail(PASTSET_EMAP,
                            "%.250s: thread %s has the number of another one",
                            map->file, node->name);
    a->node_of[n] = at;
    a->threads_on[at]++;
    return 0;
}

static int threads_take(choose_arguments *a, const predict_profile *profile,
                        const paths_map *map)
{
    int err = 0;

    for (uint32_t i = 0; i < map->node_count; i++)
        a->thread_count += map->nodes[i].kind == PATHS_THREAD;
    a->node_of = calloc(a->thread_count + (size_t)1, sizeof(*a->node_of));
    a->threads_on = calloc(profile->node_count + 1, sizeof(*a->threads_on));
    if (!a->node_of || !a->threads_on)
        return pastset_no_memory("to choose");
    for (uint32_t i = 0; i < a->thread_count; i++)
        a->node_of[i] = PREDICT_NONE;
    for (uint32_t i = 0; i < map->node_count && !err; i++)
        if (map->nodes[i].kind == PATHS_THREAD)
            err = thread_take(a, profile, map, &map->nodes[i]);
    for (size_t i = 0; i < profile->node_count && !err; i++)
        if (a->threads_on[i] == 0)
            err = pastset_fail(PASTSET_ENOENT,
                               "%.250s: no thread is in process %s, which the "
                               "profile has",
                               map->file, profile->nodes[i].name);
    return err;
}

int cli_choose_threads_read(choose_arguments *a, const predict_profile *profile)
{
    paths_map *map;
    int err = paths_map_read(&map, cli_input(a->map));

    if (err)
        return err;
    err = threads_take(a, profile, map);
    paths_map_destroy(map);
    return err;
}

/* --- the placement file --- */

static int place_node(paths_map *placement, const char *name, uint32_t machine)
{
    uint32_t from = paths_map_add_node(placement, PATHS_NONE, "", name);

    if (from == PATHS_NONE ||
        paths_map_add_edge(placement, from, machine) == PATHS_NONE)
        return pastset_no_memory("for a placement");
    return 0;
}

/* Threads and elements of the process that was a node of the profile go to
 * the machine that was chosen for it. */
static int place_process(paths_map *placement, const paths_map *map,
                         const char *name, const char *to)
{
    uint32_t was = paths_map_find_process(map, name);
    uint32_t machine = paths_map_add_node(placement, PATHS_NONE, "", to);
    int err = 0;

    if (was == PATHS_NONE)
        return pastset_fail(PASTSET_ENOENT,
                            "%.250s: there is no process %s, which the profile "
                            "has: is this the map of the run that was "
                            "measured?",
                            map->file, name);
    if (machine == PATHS_NONE)
        return pastset_fail(PASTSET_EINVAL,
                            "machine %s: something else in the map has this "
                            "name, so a placement file would be ambiguous",
                            to);
    for (uint32_t i = 0; i < map->node_count && !err; i++) {
        const paths_map_node *node = &map->nodes[i];
        if (node->process == was && node->kind != PATHS_WRAPPER)
            err = place_node(placement, node->name, machine);
    }
    return err;
}

int cli_choose_placement_write(const chosen *c)
{
    const uint32_t *machines = c->choice->placements[0].machines;
    paths_map *map, *placement = NULL;
    int err = paths_map_read(&map, cli_input(c->a->map));

    if (err)
        return err;
    err = paths_map_create(&placement, "placement");
    for (uint32_t i = 0; i < c->choice->nodes && !err; i++)
        err = place_process(placement, map, c->profile->nodes[i].name,
                            c->cluster->machines[machines[i]].name);
    if (!err)
        err = paths_map_save(placement, c->a->output);
    paths_map_destroy(map);
    paths_map_destroy(placement);
    return err;
}
