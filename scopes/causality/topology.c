/* topology.c - a map as its collectors see it: what is asked of it, and its
 * end. topology_make.c and topology_sites.c make it. */
#include "scopes/causality/topology_internal.h"

#include <stdlib.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"

int scopes__topology_no_memory(void)
{
    return scopes__no_room("for the ways of a map");
}

int scopes__topology_add(scopes_ids *list, uint32_t id)
{
    uint32_t *more = pastset_array_grow(list->ids, list->count, sizeof(*more));

    if (!more)
        return scopes__topology_no_memory();
    list->ids = more;
    list->ids[list->count++] = id;
    return 0;
}

static void lists_free(scopes_ids *lists, uint32_t count)
{
    for (uint32_t i = 0; lists && i < count; i++)
        free(lists[i].ids);
    free(lists);
}

void scopes_topology_destroy(scopes_topology *topology)
{
    if (!topology)
        return;
    for (uint32_t i = 0; topology->hops && i < topology->collectors; i++)
        free(topology->hops[i].name);
    for (uint32_t i = 0; i < topology->site_count; i++)
        free(topology->sites[i].inputs.ids);
    lists_free(topology->above, topology->collectors);
    lists_free(topology->lowest, topology->map->node_count);
    paths_map_unref(topology->map);
    free(topology->hops);
    scopes__free(topology->nodes);
    free(topology->sites);
    free(topology->tops);
    scopes__free(topology->threads);
    free(topology);
}

/* The first top of a thread, by bisection: they are in the order of threads. */
static uint32_t first_top(const scopes_topology *topology, uint32_t thread)
{
    uint32_t low = 0, high = topology->top_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (topology->tops[middle].thread < thread)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* From the first collective site of each of the thread's paths down to this
 * one. */
uint32_t scopes_topology_input(const scopes_topology *topology, uint32_t site,
                               uint32_t thread)
{
    for (uint32_t i = first_top(topology, thread);
         i < topology->top_count && topology->tops[i].thread == thread; i++) {
        uint32_t at = topology->tops[i].site, input = topology->tops[i].input;
        for (; at != PATHS_NONE && at != site; at = topology->sites[at].parent)
            input = topology->sites[at].parent_input;
        if (at != PATHS_NONE)
            return input;
    }
    return PATHS_NONE;
}

const char *scopes_topology_node_name(const scopes_topology *topology,
                                      uint32_t node)
{
    return node < topology->map->node_count ? topology->map->nodes[node].name
                                            : "";
}

const char *scopes_topology_process_name(const scopes_topology *topology,
                                         uint32_t process)
{
    return process < topology->map->process_count
               ? topology->map->processes[process].name
               : "";
}

const char *scopes_topology_thread_name(const scopes_topology *topology,
                                        uint32_t thread)
{
    return thread < topology->thread_count
               ? scopes_topology_node_name(topology, topology->threads[thread])
               : "";
}

const char *scopes_topology_collector_name(const scopes_topology *topology,
                                           uint32_t id)
{
    return id < topology->collectors
               ? scopes_topology_node_name(topology, topology->nodes[id])
               : "";
}
