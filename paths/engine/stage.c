/* stage.c - what a stage, and whoever has a host, can ask. */
#include "paths/engine/host_internal.h"

void *paths_stage_state(paths_stage *stage)
{
    return stage->state;
}

void *paths_stage_host_state(paths_stage *stage)
{
    return stage->host_state;
}

uint32_t paths_stage_input(const paths_stage *stage)
{
    return stage->input;
}

const paths_map_node *paths_stage_node(const paths_stage *stage)
{
    return &stage->host->map->nodes[stage->node];
}

const paths_map *paths_stage_map(const paths_stage *stage)
{
    return stage->host->map;
}

paths_host *paths_stage_host(const paths_stage *stage)
{
    return stage->host;
}

pastset_space *paths_host_space(paths_host *host)
{
    return host->space;
}

uint32_t paths_host_executors(const paths_host *host)
{
    return host->thread_count + 1;
}

const char *paths_host_name(const paths_host *host)
{
    return host_name(host, host->self);
}
