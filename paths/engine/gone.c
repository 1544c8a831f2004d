/* gone.c - a host has died: what cannot go on without it ends, the rest does.
 *
 * What ends: operations that are on their way to it (their connections break),
 * the rounds of collectives in whose trees it has a part, reads of elements to
 * which nobody is left to write, and writes to full elements from which nobody
 * is left to read. Each with an error that names the host. A thread that has
 * ended is not left either: once a host has died, hosts tell each other of
 * those too (member.c). */
#include <stdio.h>
#include <string.h>

#include "paths/engine/host_internal.h"
#include "paths/wrappers/collective_tree_internal.h"
#include "paths/wrappers/collectives_internal.h"

/* Does the way from a thread to an element still exist? */
static bool way_lives(const paths_host *host, uint32_t edge)
{
    const paths_map *map = host->map;
    uint32_t nodes[PATHS_PATH_NODES];
    size_t count = paths_map_walk(map, edge, nodes, PATHS_PATH_NODES);

    if (host->peers[map->nodes[map->edges[edge].from].host].dead)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (host->peers[map->nodes[nodes[i]].host].dead)
            return false;
        for (uint32_t k = 0; k < host->host_count; k++) {
            if (host->peers[k].dead && paths__joins(&map->nodes[nodes[i]]) &&
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

static users users_of(const paths_host *host, uint32_t element)
{
    const paths_map *map = host->map;
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
        lives = !host->ended_threads[edge->from] && way_lives(host, i);
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

static void element_look(paths_host *host, paths_stage *stage, const char *why)
{
    users u = users_of(host, stage->node);
    uint8_t orphaned = 0;

    if (u.writers && !u.living_writers)
        orphaned |= ORPHANED_READS;
    if (u.readers && !u.living_readers)
        orphaned |= ORPHANED_WRITES;
    if (!orphaned)
        return;
    /* Whoever begins to wait now looks at this after it is in the list. */
    atomic_store(&stage->orphaned, orphaned);
    paths__end_those(host, waits_in_vain, stage, PASTSET_EHOST, why);
}

static void elements_look(paths_host *host, const char *why)
{
    for (uint32_t i = 0; i < host->map->node_count; i++) {
        if (host->stages[i] && host->stages[i]->element)
            element_look(host, host->stages[i], why);
    }
}

void paths__gone(paths_host *host, uint32_t gone, const char *why)
{
    char text[sizeof(host->loss)];

    if (host->peers[gone].dead)
        return;
    pthread_mutex_lock(&host->failure_lock);
    snprintf(host->loss, sizeof(host->loss), "%s", why);
    snprintf(text, sizeof(text), "%s", why);
    host->peers[gone].why = strdup(text);
    pthread_mutex_unlock(&host->failure_lock);
    atomic_store(&host->peers[gone].dead, true);
    host->bereaved = true;
    paths__collectives_gone(host, gone, text);
    elements_look(host, text);
}

void paths__gone_ended(paths_host *host, uint32_t node)
{
    char text[sizeof(host->loss)];

    host->ended_threads[node] = true;
    pthread_mutex_lock(&host->failure_lock);
    memcpy(text, host->loss, sizeof(text));
    pthread_mutex_unlock(&host->failure_lock);
    elements_look(host, text);
}
