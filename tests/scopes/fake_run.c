/* fake_run.c - the files of a run, without a run. */
#include "tests/scopes/fake_run.h"

#include "eventspace/run/run_writer.h"
#include "pastset/element.h"
#include "pastset/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 4096

typedef struct fake_process {
    pastset_space *space;
    eventspace_state state;
    const char *text;
} fake_process;

struct fake_run {
    const char *directory;
    const paths_map *map;
    fake_process *processes;
    pastset_element **traces; /* by collector id; NULL until the first event */
    uint64_t last;            /* the latest end of an event */
};

static int open_process(fake_run *run, uint32_t i)
{
    char path[NAME_BYTES];
    snprintf(path, sizeof(path), "%s/%s.space", run->directory,
             run->map->processes[i].name);
    pastset_space_options options = {.path = path};
    run->processes[i].state = EVENTSPACE_FINISHED;
    run->processes[i].text = "";
    return pastset_space_create(&run->processes[i].space, &options);
}

fake_run *fake_run_begin(const char *directory, const paths_map *map)
{
    char path[NAME_BYTES];
    fake_run *run = calloc(1, sizeof(*run));
    run->directory = directory;
    run->map = map;
    run->processes = calloc(map->process_count, sizeof(*run->processes));
    run->traces = calloc(map->node_count, sizeof(*run->traces));
    snprintf(path, sizeof(path), "%s/pathmap.dot", directory);
    int err = paths_map_save(map, path);
    for (uint32_t i = 0; i < map->process_count && !err; i++)
        err = open_process(run, i);
    return err ? NULL : run;
}

static const paths_map_node *collector_node(const paths_map *map, uint32_t id)
{
    for (uint32_t i = 0; i < map->node_count; i++) {
        const char *text = paths_node_get(&map->nodes[i], "id");
        if (text && strtoul(text, NULL, 10) == id)
            return &map->nodes[i];
    }
    return NULL;
}

/* The trace element of a collector, which others may have made already. */
static pastset_element *trace_of(fake_run *run, uint32_t collector)
{
    const paths_map *map = run->map;
    const paths_map_node *node = collector_node(map, collector);
    const char *name = paths_node_get(node, "trace");
    const char *capacity =
        paths_attributes_get(&map->attributes, "trace_capacity");
    const char *policy = paths_attributes_get(&map->attributes, "trace_policy");
    pastset_space *space = run->processes[node->process].space;
    pastset_element *element = pastset_space_find(space, name);
    pastset_type type;
    if (element || pastset_type_parse(&type, EVENTSPACE_TRACE_TYPE))
        return element;
    pastset_element_options options = {
        .name = name,
        .type = &type,
        .policy = policy && strcmp(policy, "discard") == 0 ? PASTSET_DISCARD
                                                           : PASTSET_GROW,
        .capacity = capacity ? strtoull(capacity, NULL, 10) : 262144,
        .single_writer = true,
    };
    return pastset_element_create(&element, space, &options) ? NULL : element;
}

int fake_run_event(fake_run *run, const eventspace_trace *event)
{
    pastset_element **trace = &run->traces[event->collector];
    if (!*trace)
        *trace = trace_of(run, event->collector);
    if (!*trace)
        return PASTSET_EINVAL;
    if (event->end > run->last)
        run->last = event->end;
    return eventspace_run_writer_trace(*trace, event);
}

int fake_run_event_in(fake_run *run, uint32_t process, const char *trace,
                      const eventspace_trace *event)
{
    pastset_space *space = run->processes[process].space;
    pastset_element *element = pastset_space_find(space, trace);
    pastset_type type;
    pastset_element_options options = {.name = trace,
                                       .type = &type,
                                       .policy = PASTSET_GROW,
                                       .capacity = 262144,
                                       .single_writer = true};
    int err = element ? 0 : pastset_type_parse(&type, EVENTSPACE_TRACE_TYPE);
    if (!err && !element)
        err = pastset_element_create(&element, space, &options);
    return err ? err : eventspace_run_writer_trace(element, event);
}

int fake_run_note(fake_run *run, uint32_t process, uint32_t executor,
                  const paths_executor_note *note)
{
    char name[64];
    pastset_space *space = run->processes[process].space;
    pastset_type type;
    pastset_element_options options = {.name = name,
                                       .type = &type,
                                       .policy = PASTSET_DISCARD,
                                       .capacity = 3,
                                       .single_writer = true};
    snprintf(name, sizeof(name), "~executor.%u", executor);
    pastset_element *element = pastset_space_find(space, name);
    int err = element ? 0 : pastset_type_parse(&type, PATHS_EXECUTOR_TYPE);
    if (!err && !element)
        err = pastset_element_create(&element, space, &options);
    return err ? err
               : pastset_write(element, note, sizeof(*note), PASTSET_NOWAIT,
                               NULL);
}

int fake_run_scheduling(fake_run *run, uint32_t process,
                        const eventspace_scheduling *tuple)
{
    pastset_space *space = run->processes[process].space;
    pastset_element *element =
        pastset_space_find(space, EVENTSPACE_SCHEDULING_NAME);
    pastset_type type;
    pastset_element_options options = {.name = EVENTSPACE_SCHEDULING_NAME,
                                       .type = &type,
                                       .policy = PASTSET_DISCARD,
                                       .capacity = 1000};
    int err =
        element ? 0 : pastset_type_parse(&type, EVENTSPACE_SCHEDULING_TYPE);
    if (!err && !element)
        err = pastset_element_create(&element, space, &options);
    return err ? err
               : pastset_write(element, tuple, sizeof(*tuple), PASTSET_NOWAIT,
                               NULL);
}

int fake_run_message(fake_run *run, uint32_t process, uint32_t thread,
                     const eventspace_message *tuple)
{
    char name[64];
    pastset_space *space = run->processes[process].space;
    pastset_element *element;
    pastset_type type;
    pastset_element_options options = {.name = name,
                                       .type = &type,
                                       .policy = PASTSET_GROW,
                                       .capacity = 1000,
                                       .single_writer = true};
    int err;
    snprintf(name, sizeof(name), EVENTSPACE_MESSAGES_PREFIX "%u", thread);
    element = pastset_space_find(space, name);
    err = element ? 0 : pastset_type_parse(&type, EVENTSPACE_MESSAGE_TYPE);
    if (!err && !element)
        err = pastset_element_create(&element, space, &options);
    return err ? err
               : pastset_write(element, tuple, sizeof(*tuple), PASTSET_NOWAIT,
                               NULL);
}

int fake_run_define(fake_run *run, uint32_t process, const void *bytes,
                    size_t count)
{
    pastset_space *space = run->processes[process].space;
    pastset_element *element =
        pastset_space_find(space, EVENTSPACE_DEFINITIONS_NAME);
    pastset_type type;
    pastset_element_options options = {.name = EVENTSPACE_DEFINITIONS_NAME,
                                       .type = &type,
                                       .policy = PASTSET_GROW,
                                       .capacity = EVENTSPACE_DEFINITIONS_MAX,
                                       .on_demand = true};
    int err =
        element ? 0 : pastset_type_parse(&type, EVENTSPACE_DEFINITIONS_TYPE);
    if (!err && !element)
        err = pastset_element_create(&element, space, &options);
    return err ? err
               : pastset_write(element, bytes, count, PASTSET_NOWAIT, NULL);
}

static uint32_t rank_of(const paths_map *map, uint32_t node)
{
    uint32_t rank = 0;
    for (uint32_t i = 0; i < map->node_count; i++)
        rank += strcmp(map->nodes[i].name, map->nodes[node].name) < 0;
    return rank;
}

static uint32_t first_node(const paths_map *map, const paths_map_node *thread,
                           const char *as)
{
    for (uint32_t i = 0; i < thread->out_count; i++) {
        const paths_map_edge *edge = &map->edges[thread->out[i]];
        const char *name = paths_attributes_get(&edge->attributes, "as");
        if (name && strcmp(name, as) == 0)
            return edge->to;
    }
    return 0;
}

paths_executor_note fake_activity(const paths_map *map, const char *thread,
                                  paths_activity activity, uint64_t since)
{
    const paths_map_node *node = &map->nodes[paths_map_find_node(map, thread)];
    return (paths_executor_note){
        .since = FAKE_START + since,
        .at = FAKE_START + since,
        .thread = (uint32_t)atoi(paths_node_get(node, "number")),
        .first = PATHS_NONE,
        .stage = PATHS_NONE,
        .peer = PATHS_NONE,
        .peer_thread = PATHS_NONE,
        .activity = (uint16_t)activity};
}

paths_executor_note fake_waiting(const paths_map *map, const char *thread,
                                 const char *as, const char *stage,
                                 uint16_t verb, uint32_t sequence,
                                 uint64_t since)
{
    const paths_map_node *node = &map->nodes[paths_map_find_node(map, thread)];
    paths_executor_note note = fake_activity(map, thread, PATHS_WAITING, since);
    note.first = rank_of(map, first_node(map, node, as));
    note.stage = rank_of(map, paths_map_find_node(map, stage));
    note.verb = verb;
    note.sequence = sequence;
    return note;
}

void fake_run_ended(fake_run *run, uint32_t process, eventspace_state state,
                    const char *text)
{
    run->processes[process].state = state;
    run->processes[process].text = text;
}

static int end_process(fake_run *run, uint32_t i)
{
    const fake_process *process = &run->processes[i];
    uint64_t end = FAKE_START + UINT64_C(10000000000);
    char path[NAME_BYTES];
    eventspace_meta meta = {
        .pid = (uint32_t)getpid(),
        .tick_hz = 1e9,
        .start_tick = FAKE_START,
        .start_wall_ns = UINT64_C(1700000000) * 1000000000u,
        .end_tick = run->last > end ? run->last : end,
        .threads = 1,
        .state = process->state,
    };
    snprintf(meta.eventspace, sizeof(meta.eventspace), "fake");
    snprintf(meta.tick_source, sizeof(meta.tick_source), "fake");
    snprintf(meta.process, sizeof(meta.process), "%s",
             run->map->processes[i].name);
    snprintf(meta.text, sizeof(meta.text), "%s", process->text);
    snprintf(path, sizeof(path), "%s/%s.meta", run->directory,
             run->map->processes[i].name);
    pastset_space_close(process->space);
    return eventspace_meta_save(&meta, path);
}

int fake_run_end(fake_run *run)
{
    int err = 0;
    for (uint32_t i = 0; i < run->map->process_count && !err; i++)
        err = end_process(run, i);
    free(run->processes);
    free(run->traces);
    free(run);
    return err;
}

uint32_t fake_collector(const paths_map *map, const char *thread,
                        const char *as)
{
    uint32_t index = paths_map_find_node(map, thread);
    const paths_map_node *node = &map->nodes[index];
    for (uint32_t i = 0; i < node->out_count; i++) {
        const paths_map_edge *edge = &map->edges[node->out[i]];
        const char *name = paths_attributes_get(&edge->attributes, "as");
        const char *id = paths_node_get(&map->nodes[edge->to], "id");
        if (name && strcmp(name, as) == 0 && id)
            return (uint32_t)strtoul(id, NULL, 10);
    }
    return UINT32_MAX;
}
