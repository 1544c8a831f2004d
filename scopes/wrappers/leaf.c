/* leaf.c - what the wrappers of a leaf ask of their map and their process: how
 * large a message may be, and which run it is about. */
#include "scopes/wrappers/leaf_internal.h"

#include <string.h>

#include "eventspace/run/run_map.h"

int scopes__leaf_process_init(void *state, paths_process *process,
                              void *context)
{
    leaf_home *home = state;

    home->process = process;
    if (context)
        memcpy(&home->leaf, context, sizeof(home->leaf));
    return 0;
}

/* The source at the end of the way down from a stage. */
static const paths_map_node *source_of(paths_stage *stage)
{
    const paths_map *map = paths_stage_map(stage);
    const paths_map_node *node = paths_stage_node(stage);

    while (node->out_count)
        node = &map->nodes[map->edges[node->out[0]].to];
    return node;
}

int scopes__leaf_largest(paths_stage *stage, size_t *out)
{
    const paths_map_node *source = source_of(stage);
    const char *text = paths_node_get(source, "type");
    pastset_type type;
    int err = pastset_type_parse(&type, text ? text : "");

    if (!err && (!type.variable || type.max_bytes < GATHER_MESSAGE_MIN))
        err = pastset_fail(PASTSET_EMAP,
                           "%s: the messages of a gather tree are bytes[%u] or "
                           "more",
                           source->name, GATHER_MESSAGE_MIN);
    *out = err ? 0 : type.max_bytes;
    return err;
}

const char *scopes__leaf_run(paths_stage *stage)
{
    const leaf_home *home = paths_stage_process_state(stage);
    const char *run = paths_node_get(source_of(stage), "run");

    return run ? run : home->leaf.run;
}

paths_map *scopes__leaf_map(paths_stage *stage)
{
    const char *run = scopes__leaf_run(stage);
    paths_map *app = NULL;
    char problem[EVENTSPACE_RUN_PROBLEM];
    uint32_t nodes;

    if (run)
        eventspace_run_map_read(&app, run, problem, sizeof(problem), &nodes);
    return app;
}
