/* stage.c - what a stage, and whoever has a process, can ask. */
#include "paths/engine/process_internal.h"

void *paths_stage_state(paths_stage *stage)
{
    return stage->state;
}

void paths_stage_does(paths_stage *stage,
                      int (*down)(paths_stage *stage, paths_operation *op,
                                  uint64_t *note),
                      int (*up)(paths_stage *stage, paths_operation *op,
                                uint64_t *note))
{
    stage->down = down;
    stage->up = up;
}

void *paths_stage_process_state(paths_stage *stage)
{
    return stage->process_state;
}

uint32_t paths_stage_input(const paths_stage *stage)
{
    return stage->input;
}

const paths_map_node *paths_stage_node(const paths_stage *stage)
{
    return &stage->process->map->nodes[stage->node];
}

const paths_map *paths_stage_map(const paths_stage *stage)
{
    return stage->process->map;
}

paths_process *paths_stage_process(const paths_stage *stage)
{
    return stage->process;
}

pastset_space *paths_process_space(paths_process *process)
{
    return process->space;
}

uint32_t paths_process_executors(const paths_process *process)
{
    return process->thread_count + 1;
}

const char *paths_process_name(const paths_process *process)
{
    return process_name(process, process->self);
}
