/* run_grow.c - the map of a run that is open: what it was before anybody ran,
 * and what processes have added since; and the tables that are made of it.
 *
 * When something was added, the map is made anew of all that is defined, so it
 * depends on that alone, and not on who looked when. Maps that somebody refers
 * to stay as they are: a topology does, and what is made by it. */
#include <stdlib.h>
#include <string.h>

#include "eventspace/collect/trace.h"
#include "eventspace/define/map_additions.h"
#include "eventspace/run/run_internal.h"
#include "pastset/status.h"

/* --- tables --- */

static bool is_collector(const paths_map_node *node)
{
    return strcmp(node->type, "collector") == 0;
}

int eventspace__name_compare(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* How many ids there may be: of a damaged base as many as the whole had nodes.
 */
static uint32_t ids_max(const eventspace_run *run)
{
    uint32_t ids = eventspace_map_ids(run->map);

    return ids > run->nodes ? ids : run->nodes;
}

static int collector_enter(eventspace_run *run, uint32_t i, uint32_t max)
{
    const paths_map_node *node = &run->map->nodes[i];
    const char *trace = paths_node_get(node, "trace");
    uint64_t id;
    int err = paths_node_number(run->map, node, "id", UINT64_MAX, &id);

    if (err)
        return err;
    if (id >= max)
        return pastset_fail(PASTSET_EMAP,
                            "%s:%u: %s: a collector needs an id below the "
                            "number of nodes; make the map again with "
                            "`eventspace map instrument`",
                            run->map->file, node->line, node->name);
    run->traces[run->trace_count++] = trace ? trace : node->name;
    run->collectors[id] = i;
    if (id >= run->collector_count)
        run->collector_count = (uint32_t)id + 1;
    return 0;
}

static void tables_drop(eventspace_run *run)
{
    free(run->traces);
    free(run->collectors);
    run->traces = NULL;
    run->collectors = NULL;
    run->trace_count = 0;
    run->collector_count = 0;
}

int eventspace__run_tables(eventspace_run *run)
{
    const paths_map *map = run->map;
    uint32_t collectors = 0, max = ids_max(run);
    int err = 0;

    tables_drop(run);
    for (uint32_t i = 0; i < map->node_count; i++)
        collectors += is_collector(&map->nodes[i]);
    run->traces = calloc(collectors + 1u, sizeof(run->traces[0]));
    run->collectors = calloc(max + 1u, sizeof(run->collectors[0]));
    if (!run->traces || !run->collectors)
        return pastset_fail_while(
            pastset_no_memory("for the tables of %u collectors", collectors),
            "%s", run->directory);
    for (uint32_t i = 0; i < max; i++)
        run->collectors[i] = PATHS_NONE;
    for (uint32_t i = 0; i < map->node_count && !err; i++)
        if (is_collector(&map->nodes[i]))
            err = collector_enter(run, i, max);
    run->traces[run->trace_count++] = EVENTSPACE_REGIONS_NAME;
    qsort(run->traces, run->trace_count, sizeof(run->traces[0]),
          eventspace__name_compare);
    return err;
}

/* --- growing --- */

/* What the map cannot have is said once. */
static int take_process(eventspace_map_additions *additions,
                        process_files *files)
{
    int err = 0;

    for (size_t i = 0; i < files->own_count && err != PASTSET_ENOMEM; i++) {
        own_definition *own = &files->own[i];
        if (!eventspace_is_addition(own->shown.kind))
            continue;
        err = eventspace_map_additions_take(additions, &own->shown);
        if (err != PASTSET_EFORMAT || own->is_refused)
            continue;
        own->is_refused = true;
        eventspace_definition_damaged(&files->definitions, "%s",
                                      pastset_error());
    }
    return err == PASTSET_ENOMEM ? err : 0;
}

static int additions_make(eventspace_run *run, paths_map *map,
                          const uint32_t *ranked)
{
    eventspace_map_additions *additions;
    int err = eventspace_map_additions_begin(&additions, map);

    for (uint32_t rank = 0; rank < map->process_count && !err; rank++) {
        eventspace_map_additions_by(additions, rank);
        err = take_process(additions, &run->processes[ranked[rank]]);
    }
    if (!err)
        err = eventspace_map_additions_end(additions, run->added_ids);
    eventspace_map_additions_destroy(additions);
    return err;
}

int eventspace__run_map_grow(eventspace_run *run, const uint32_t *ranked)
{
    paths_map *map;
    int err = paths_map_copy(&map, run->base);

    if (err)
        return err;
    err = additions_make(run, map, ranked);
    if (err) {
        paths_map_destroy(map);
        return err;
    }
    if (run->map != run->base)
        paths_map_unref(run->map);
    run->map = map;
    err = eventspace__run_tables(run);
    run->is_outgrown = err != 0; /* then the next time */
    return err;
}
