/* bind.c - makes the stages, elements and threads of one process from its
 * map. */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/engine/process_internal.h"
#include "paths/engine/processors_internal.h"
#include "paths/map/map_internal.h"
#include "paths/net/address.h"
#include "paths/wrappers/builtin_internal.h"
#include "paths/wrappers/collective_tree_internal.h"

static int element_make(paths_process *process, uint32_t node,
                        pastset_element **out)
{
    const paths_map_node *n = &process->map->nodes[node];
    pastset_type type;
    pastset_element_options options = {
        .name = n->name,
        .type = &type,
        .policy = paths_node_policy(n),
        .single_writer = paths__collective_writes_alone(process->map, node)};
    int err = paths__element_type_of(process->map, node, &type);

    if (!err)
        err = paths_node_number(process->map, n, "capacity", 1024,
                                &options.capacity);
    if (!err)
        err = pastset_element_create(out, process->space, &options);
    return err;
}

static int pass_down(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    (void)stage;
    (void)op;
    (void)note;
    return PATHS_PASS;
}

static const paths_wrapper_type *type_of(const paths_map_node *node)
{
    return node->kind == PATHS_ELEMENT ? &paths__element_type
                                       : paths_wrapper_find(node->type);
}

static int stage_make(paths_process *process, uint32_t node)
{
    const paths_map_node *n = &process->map->nodes[node];
    const paths_wrapper_type *type = type_of(n);
    paths_stage *stage = calloc(1, sizeof(*stage));
    int err;

    if (!stage)
        return pastset_no_memory("for stage \"%s\"", n->name);
    process->stages[node] = stage;
    if (!type)
        return pastset_fail(PASTSET_EMAP,
                            "\"%s\": this program has not registered a "
                            "wrapper type \"%s\"",
                            n->name, n->type);
    stage->type = type;
    stage->process = process;
    stage->node = node;
    stage->down = type->down ? type->down : pass_down;
    stage->up = type->up;
    stage->joins = type->joins;
    stage->proxy = type == &paths__proxy_type;
    /* These enter the list themselves, when they must. */
    stage->holds = type->drop && !type->joins && type != &paths__element_type &&
                   !stage->proxy;
    if (type->state_bytes) {
        stage->state = paths__state_alloc(type->state_bytes);
        if (!stage->state)
            return pastset_no_memory("for stage \"%s\"", n->name);
    }
    err = paths__type_state_get(process, type, &stage->process_state);
    if (!err && type->source)
        err = paths__source_init(stage);
    if (!err && n->kind == PATHS_ELEMENT)
        err = element_make(process, node, &stage->element);
    return err;
}

/* A node that joins has a stage for each way in. */
static int ports_make(paths_process *process, paths_stage *stage)
{
    const paths_map_node *n = &process->map->nodes[stage->node];

    if (!stage->joins)
        return 0;
    stage->ports = calloc((size_t)n->in_count + 1, sizeof(*stage->ports));
    if (!stage->ports)
        return pastset_no_memory("for stage \"%s\"", n->name);
    for (uint32_t i = 0; i < n->in_count; i++) {
        stage->ports[i] = *stage;
        stage->ports[i].ports = NULL;
        stage->ports[i].input = i;
    }
    return 0;
}

/* Where an edge leads in, when that is on this process. */
static void entry_make(paths_process *process, uint32_t edge)
{
    const paths_map *map = process->map;
    const paths_map_node *to = &map->nodes[map->edges[edge].to];
    paths_stage *stage = process->stages[map->edges[edge].to];
    uint32_t input = 0;

    if (!stage)
        return;
    while (to->in[input] != edge)
        input++;
    process->entries[edge] = stage->ports ? &stage->ports[input] : stage;
    if (map->nodes[map->edges[edge].from].process != process->self)
        process->entries[edge]->entry = stage->entry = true;
}

/* Connects a stage to the one that follows, here or on another process. */
static void stage_join(paths_process *process, paths_stage *stage)
{
    const paths_map *map = process->map;
    const paths_map_node *n = &map->nodes[stage->node];

    if (n->out_count == 0)
        return;
    stage->leads = paths__collective_root(map, stage->node) != stage->node;
    stage->far_node = map->edges[n->out[0]].to;
    stage->far_process = map->nodes[stage->far_node].process;
    stage->next = process->entries[n->out[0]];
    for (uint32_t i = 0; stage->ports && i < n->in_count; i++) {
        stage->ports[i].leads = stage->leads;
        stage->ports[i].far_node = stage->far_node;
        stage->ports[i].far_process = stage->far_process;
        stage->ports[i].next = stage->next;
    }
}

/* Does the network loop run the proxies below this stage? It does when
 * operations of other processes come by here, or when the stage holds them. */
static void mark_loop_links(paths_process *process, paths_stage *stage)
{
    /* Any wrapper may hold, by paths_resume_after if not by itself; and what
     * was held is carried on by the loop. Collectives are told by it who has
     * left. */
    bool carried = stage->entry || !stage->proxy ||
                   paths__leads_to_collective(process->map, stage->node);

    for (; carried && stage; stage = stage->next) {
        if (stage->proxy)
            process->peers[stage->far_process].loop_needs = true;
    }
}

static int threads_make(paths_process *process)
{
    const paths_map *map = process->map;
    uint32_t at = 0;

    process->map_threads = paths_map_threads(map);
    for (uint32_t i = 0; i < map->node_count; i++)
        process->thread_count += map->nodes[i].kind == PATHS_THREAD &&
                                 map->nodes[i].process == process->self;
    process->threads =
        calloc(process->thread_count + 1, sizeof(*process->threads));
    if (!process->threads)
        return pastset_no_memory("for threads");
    for (uint32_t i = 0; i < map->node_count; i++) {
        const paths_map_node *n = &map->nodes[i];
        paths_thread *thread = &process->threads[at];
        uint64_t number = 0;
        int err;

        if (n->kind != PATHS_THREAD || n->process != process->self)
            continue;
        err = paths_node_number(map, n, "number", 0, &number);
        if (err)
            return err;
        thread->executor.number = ++at;
        thread->executor.thread = thread;
        thread->executor.process = process;
        thread->process = process;
        thread->node = n;
        thread->number = (uint32_t)number;
        thread->event_fd = -1;
        thread->links = calloc(process->process_count, sizeof(*thread->links));
        if (!thread->links)
            return pastset_no_memory("for threads");
    }
    return 0;
}

/* The largest tuple that may come by, for the limit on frames. */
static int largest_find(paths_process *process)
{
    const paths_map *map = process->map;

    for (uint32_t i = 0; i < map->node_count; i++) {
        pastset_type type;
        int err;

        if (!paths_node_is_end(&map->nodes[i]))
            continue;
        err = paths__element_type_of(map, i, &type);
        if (err)
            return err;
        if (type.max_bytes > process->largest_bytes)
            process->largest_bytes = type.max_bytes;
    }
    return 0;
}

/* Processes may have read their nodes in another order, so that on the wire a
 * node is its rank by name. */
static int numbers_make(paths_process *process)
{
    const paths_map *map = process->map;
    process->numbers = calloc((size_t)map->node_count + 1, sizeof(uint32_t));
    process->numbered = calloc((size_t)map->node_count + 1, sizeof(uint32_t));
    if (!process->numbers || !process->numbered)
        return pastset_no_memory("for the stages");
    paths_map_rank(map, process->numbered);
    for (uint32_t i = 0; i < map->node_count; i++)
        process->numbers[process->numbered[i]] = i;
    return 0;
}

/* The machine of a process, as far as the map says: its address without a
 * port. */
static void machine_of(const paths_map_process *process, char *out,
                       size_t capacity)
{
    const char *text = paths_attributes_get(&process->attributes, "address");
    paths_address address;

    snprintf(out, capacity, "127.0.0.1");
    if (text && *text && paths_address_parse(&address, text) == 0)
        getnameinfo((const struct sockaddr *)&address.socket, address.bytes,
                    out, (socklen_t)capacity, NULL, 0, NI_NUMERICHOST);
}

/* Are there more threads on this machine than it has processors for? Processes
 * of one address are on one machine. If there is one processor, the network
 * loop needs it too. */
static bool is_oversubscribed(const paths_process *process)
{
    const paths_map *map = process->map;
    char here[NI_MAXHOST], there[NI_MAXHOST];
    uint32_t threads = 0, processors = paths_processors_count();

    machine_of(&map->processes[process->self], here, sizeof(here));
    for (uint32_t i = 0; i < map->process_count; i++) {
        machine_of(&map->processes[i], there, sizeof(there));
        for (uint32_t k = 0; strcmp(here, there) == 0 && k < map->node_count;
             k++)
            threads += map->nodes[k].kind == PATHS_THREAD &&
                       map->nodes[k].process == i;
    }
    return threads > processors || (processors == 1 && map->process_count > 1);
}

/* Stages, and how they follow each other. */
static int stages_make(paths_process *process)
{
    const paths_map *map = process->map;
    int err = 0;

    for (uint32_t i = 0; i < map->node_count && !err; i++) {
        if (map->nodes[i].process == process->self &&
            map->nodes[i].kind != PATHS_THREAD)
            err = stage_make(process, i);
        if (!err && process->stages[i])
            err = ports_make(process, process->stages[i]);
    }
    for (uint32_t i = 0; i < map->edge_count && !err; i++)
        entry_make(process, i);
    for (uint32_t i = 0; i < map->node_count && !err; i++) {
        if (process->stages[i])
            stage_join(process, process->stages[i]);
    }
    return err;
}

int paths__bind(paths_process *process)
{
    const paths_map *map = process->map;
    int err;

    process->stages =
        calloc((size_t)map->node_count + 1, sizeof(*process->stages));
    process->entries =
        calloc((size_t)map->edge_count + 1, sizeof(*process->entries));
    process->peers = calloc(process->process_count, sizeof(*process->peers));
    process->ended_threads = calloc((size_t)map->node_count + 1, sizeof(bool));
    if (!process->stages || !process->entries || !process->peers ||
        !process->ended_threads)
        return pastset_no_memory("for the stages");
    process->oversubscribed = is_oversubscribed(process);
    err = largest_find(process);
    if (err)
        return err;
    err = paths__uses_make(process);
    if (err)
        return err;
    err = numbers_make(process);
    if (err)
        return err;
    err = threads_make(process);
    if (err)
        return err;
    err = paths__executors_make(process);
    if (err)
        return err;
    err = stages_make(process);
    if (err)
        return err;
    for (uint32_t i = 0; i < map->node_count; i++) {
        paths_stage *stage = process->stages[i];
        if (!stage)
            continue;
        mark_loop_links(process, stage);
        if (stage->type->init)
            err = stage->type->init(stage);
        stage->ready = !err;
        if (err)
            return pastset_fail_while(err, "stage \"%s\"", map->nodes[i].name);
    }
    return 0;
}

void paths__unbind(paths_process *process)
{
    for (uint32_t i = 0; process->stages && i < process->map->node_count; i++) {
        paths_stage *stage = process->stages[i];
        if (!stage)
            continue;
        if (stage->ready && stage->type->fini)
            stage->type->fini(stage);
        free(stage->state);
        free(stage->ports);
        if (stage->type && stage->type->source)
            paths__source_fini(stage);
        free(stage);
    }
    paths__type_states_fini(process);
    free(process->stages);
    free(process->entries);
    free(process->numbers);
    free(process->numbered);
    free(process->verbs);
    for (uint32_t i = 0; process->threads && i < process->thread_count; i++)
        paths__thread_fini(&process->threads[i]);
    free(process->threads);
    for (uint32_t i = 0; process->peers && i < process->process_count; i++) {
        free(process->peers[i].why);
        free(process->peers[i].lost);
    }
    free(process->peers);
    free(process->ended_threads);
}
