/* gone.c - a process has died: what cannot go on without it ends, the rest
 * does.
 *
 * What ends: operations that are on their way to it (their connections break),
 * the rounds of collectives in whose trees it has a part, reads of elements to
 * which nobody is left to write, and writes to full elements from which nobody
 * is left to read. Each with an error that names the process. A thread that has
 * ended is not left either: once a process has died, processes tell each other
 * of those too (member.c). */
#include <stdio.h>
#include <string.h>

#include "paths/engine/process_internal.h"
#include "paths/wrappers/collective_tree_internal.h"
#include "paths/wrappers/collectives_internal.h"

/* Does the way from a thread to an element still exist? */
static bool way_lives(const paths_process *process, uint32_t edge)
{
    const paths_map *map = process->map;
    uint32_t nodes[PATHS_PATH_NODES];
    size_t count = paths_map_walk(map, edge, nodes, PATHS_PATH_NODES);

    if (process->peers[map->nodes[map->edges[edge].from].process].dead)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (process->peers[map->nodes[nodes[i]].process].dead)
            return false;
        for (uint32_t k = 0; k < process->process_count; k++) {
            if (process->peers[k].dead && paths__joins(&map->nodes[nodes[i]]) &&
                paths__collective_touches(map, nodes[i], k))
                return false; /* there are no rounds any more */
        }
    }
    return count > 0;
}

static bool is_use(const paths_map_edge *edge, bool writes)
{
    const char *use = paths_attributes_get(&edge->attributes, "use");

    if (!use || !*use || strcmp(use, "both") == 0)
        return true;
    return writes != (strcmp(use, "read") == 0); /* collectives write too */
}

/* Who used an element, and who is left of them. */
typedef struct users {
    bool readers, writers, living_readers, living_writers;
} users;

static users users_of(const paths_process *process, uint32_t element)
{
    const paths_map *map = process->map;
    users u = {false, false, false, false};

    for (uint32_t i = 0; i < map->edge_count; i++) {
        uint32_t nodes[PATHS_PATH_NODES];
        const paths_map_edge *edge = &map->edges[i];
        bool lives;
        size_t count;
        if (map->nodes[edge->from].kind != PATHS_THREAD)
            continue;
        count = paths_map_walk(map, i, nodes, PATHS_PATH_NODES);
        if (count == 0 || nodes[count - 1] != element)
            continue;
        lives = !process->ended_threads[edge->from] && way_lives(process, i);
        u.readers |= is_use(edge, false);
        u.writers |= is_use(edge, true);
        u.living_readers |= lives && is_use(edge, false);
        u.living_writers |= lives && is_use(edge, true);
    }
    return u;
}

static bool waits_in_vain(const operation *o, const void *stage)
{
    return o->stage == stage && !o->rising && is_orphaned(o->stage, &o->op);
}

static void element_look(paths_process *process, paths_stage *stage,
                         const char *why)
{
    users u = users_of(process, stage->node);
    uint8_t orphaned = 0;

    if (u.writers && !u.living_writers)
        orphaned |= ORPHANED_READS;
    if (u.readers && !u.living_readers)
        orphaned |= ORPHANED_WRITES;
    if (!orphaned)
        return;
    /* Whoever begins to wait now looks at this after it is in the list. */
    atomic_store(&stage->orphaned, orphaned);
    paths__end_those(process, waits_in_vain, stage, PASTSET_EHOST, why);
}

static void elements_look(paths_process *process, const char *why)
{
    for (uint32_t i = 0; i < process->map->node_count; i++) {
        if (process->stages[i] && process->stages[i]->element)
            element_look(process, process->stages[i], why);
    }
}

void paths__gone(paths_process *process, uint32_t gone, const char *why)
{
    char text[sizeof(process->loss)];

    if (process->peers[gone].dead)
        return;
    pthread_mutex_lock(&process->failure_lock);
    snprintf(process->loss, sizeof(process->loss), "%s", why);
    snprintf(text, sizeof(text), "%s", why);
    process->peers[gone].why = strdup(text);
    pthread_mutex_unlock(&process->failure_lock);
    process->peers[gone].dead_ms = uv_now(&process->loop);
    atomic_store(&process->peers[gone].dead, true);
    process->bereaved = true;
    paths__collectives_gone(process, gone, text);
    elements_look(process, text);
}

void paths__gone_ended(paths_process *process, uint32_t node)
{
    char text[sizeof(process->loss)];

    process->ended_threads[node] = true;
    pthread_mutex_lock(&process->failure_lock);
    memcpy(text, process->loss, sizeof(text));
    pthread_mutex_unlock(&process->failure_lock);
    elements_look(process, text);
}
