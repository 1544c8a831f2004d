/* cluster.c - a cluster in memory, and what is said of its file. */
#include "predict/cluster/cluster.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "predict/cluster/cluster_internal.h"
#include "predict/profile/profile.h"

void predict_cluster_destroy(predict_cluster *cluster)
{
    if (!cluster)
        return;
    for (uint32_t i = 0; cluster->machines && i < cluster->machine_count; i++)
        free(cluster->machines[i].name);
    free(cluster->machines);
    free(cluster->processors);
    free(cluster->wires);
    free(cluster->flows);
    for (uint32_t i = 0; cluster->nodes && i < cluster->node_count; i++)
        free(cluster->nodes[i]);
    free(cluster->nodes);
    free(cluster->node_of);
    free(cluster->links);
    free(cluster->last_links);
    free(cluster);
}

uint32_t predict_cluster_find(const predict_cluster *cluster,
                              const char *machine)
{
    for (uint32_t i = 0; i < cluster->machine_count; i++) {
        if (strcmp(cluster->machines[i].name, machine) == 0)
            return i;
    }
    return PREDICT_NONE;
}

uint32_t predict_cluster_way(const predict_cluster *cluster, uint32_t from,
                             uint32_t to, uint32_t *out)
{
    const uint32_t *last =
        &cluster->last_links[(size_t)from * cluster->node_count];
    uint32_t count = 0;

    for (uint32_t at = cluster->node_of[to]; at != cluster->node_of[from];) {
        const predict_cable *link;
        if (last[at] == PREDICT_NONE)
            return 0;
        out[count++] = last[at];
        link = &cluster->links[last[at]];
        at = link->from == at ? link->to : link->from;
    }
    return count;
}

int predict__cluster_fail(const paths_map *map, unsigned line, const char *name,
                          const char *format, ...)
{
    char text[512], number[16] = "";
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (line)
        snprintf(number, sizeof(number), ":%u", line);
    return pastset_fail(PASTSET_EFORMAT, "%.250s%s: %.200s: %s", map->file,
                        number, name, text);
}
