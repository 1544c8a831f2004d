/* bind.c - makes the stages, elements and threads of one host from its map. */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/engine/host_internal.h"
#include "paths/engine/processors_internal.h"
#include "paths/map/map_internal.h"
#include "paths/net/address.h"
#include "paths/wrappers/builtin_internal.h"
#include "paths/wrappers/collective_tree_internal.h"

static pastset_policy policy_of(const paths_map_node *node)
{
    const char *policy = paths_node_get(node, "policy");

    if (policy && strcmp(policy, "discard") == 0)
        return PASTSET_DISCARD;
    if (policy && strcmp(policy, "grow") == 0)
        return PASTSET_GROW;
    return PASTSET_BLOCK;
}

static int element_make(paths_host *host, uint32_t node, pastset_element **out)
{
    const paths_map_node *n = &host->map->nodes[node];
    pastset_type type;
    pastset_element_options options = {
        .name = n->name,
        .type = &type,
        .policy = policy_of(n),
        .single_writer = paths__collective_writes_alone(host->map, node)};
    int err = paths__element_type_of(host->map, node, &type);

    if (!err)
        err = paths_node_number(host->map, n, "capacity", 1024,
                                &options.capacity);
    if (!err)
        err = pastset_element_create(out, host->space, &options);
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

static int stage_make(paths_host *host, uint32_t node)
{
    const paths_map_node *n = &host->map->nodes[node];
    const paths_wrapper_type *type = type_of(n);
    paths_stage *stage = calloc(1, sizeof(*stage));
    int err;

    if (!stage)
        return pastset_fail(PASTSET_ENOMEM, "no memory for stage \"%s\"",
                            n->name);
    host->stages[node] = stage;
    if (!type)
        return pastset_fail(PASTSET_EMAP,
                            "\"%s\": this program has not registered a "
                            "wrapper type \"%s\"",
                            n->name, n->type);
    stage->type = type;
    stage->host = host;
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
            return pastset_fail(PASTSET_ENOMEM, "no memory for stage \"%s\"",
                                n->name);
    }
    err = paths__type_state_get(host, type, &stage->host_state);
    if (!err && type->source)
        err = paths__source_init(stage);
    if (!err && n->kind == PATHS_ELEMENT)
        err = element_make(host, node, &stage->element);
    return err;
}

/* A node that joins has a stage for each way in. */
static int ports_make(paths_host *host, paths_stage *stage)
{
    const paths_map_node *n = &host->map->nodes[stage->node];

    if (!stage->joins)
        return 0;
    stage->ports = calloc((size_t)n->in_count + 1, sizeof(*stage->ports));
    if (!stage->ports)
        return pastset_fail(PASTSET_ENOMEM, "no memory for stage \"%s\"",
                            n->name);
    for (uint32_t i = 0; i < n->in_count; i++) {
        stage->ports[i] = *stage;
        stage->ports[i].ports = NULL;
        stage->ports[i].input = i;
    }
    return 0;
}

/* Where an edge leads in, when that is on this host. */
static void entry_make(paths_host *host, uint32_t edge)
{
    const paths_map *map = host->map;
    const paths_map_node *to = &map->nodes[map->edges[edge].to];
    paths_stage *stage = host->stages[map->edges[edge].to];
    uint32_t input = 0;

    if (!stage)
        return;
    while (to->in[input] != edge)
        input++;
    host->entries[edge] = stage->ports ? &stage->ports[input] : stage;
    if (map->nodes[map->edges[edge].from].host != host->self)
        host->entries[edge]->entry = stage->entry = true;
}

/* Connects a stage to the one that follows, here or on another host. */
static void stage_join(paths_host *host, paths_stage *stage)
{
    const paths_map *map = host->map;
    const paths_map_node *n = &map->nodes[stage->node];

    if (n->out_count == 0)
        return;
    stage->leads = paths__collective_root(map, stage->node) != stage->node;
    stage->far_node = map->edges[n->out[0]].to;
    stage->far_host = map->nodes[stage->far_node].host;
    stage->next = host->entries[n->out[0]];
    for (uint32_t i = 0; stage->ports && i < n->in_count; i++) {
        stage->ports[i].leads = stage->leads;
        stage->ports[i].far_node = stage->far_node;
        stage->ports[i].far_host = stage->far_host;
        stage->ports[i].next = stage->next;
    }
}

/* Does the network loop run the proxies below this stage? It does when
 * operations of other hosts come by here, or when the stage holds them. */
static void mark_loop_links(paths_host *host, paths_stage *stage)
{
    /* Any wrapper may hold, by paths_resume_after if not by itself; and what
     * was held is carried on by the loop. Collectives are told by it who has
     * left. */
    bool carried = stage->entry || !stage->proxy ||
                   paths__leads_to_collective(host->map, stage->node);

    for (; carried && stage; stage = stage->next) {
        if (stage->proxy)
            host->peers[stage->far_host].loop_needs = true;
    }
}

static int threads_make(paths_host *host)
{
    const paths_map *map = host->map;
    uint32_t at = 0;

    host->map_threads = paths_map_threads(map);
    for (uint32_t i = 0; i < map->node_count; i++)
        host->thread_count += map->nodes[i].kind == PATHS_THREAD &&
                              map->nodes[i].host == host->self;
    host->threads = calloc(host->thread_count + 1, sizeof(*host->threads));
    if (!host->threads)
        return pastset_fail(PASTSET_ENOMEM, "no memory for threads");
    for (uint32_t i = 0; i < map->node_count; i++) {
        const paths_map_node *n = &map->nodes[i];
        paths_thread *thread = &host->threads[at];
        uint64_t number = 0;
        int err;

        if (n->kind != PATHS_THREAD || n->host != host->self)
            continue;
        err = paths_node_number(map, n, "number", 0, &number);
        if (err)
            return err;
        thread->executor.number = ++at;
        thread->executor.thread = thread;
        thread->executor.host = host;
        thread->host = host;
        thread->node = n;
        thread->number = (uint32_t)number;
        thread->event_fd = -1;
        thread->links = calloc(host->host_count, sizeof(*thread->links));
        if (!thread->links)
            return pastset_fail(PASTSET_ENOMEM, "no memory for threads");
    }
    return 0;
}

/* The largest tuple that may come by, for the limit on frames. */
static int largest_find(paths_host *host)
{
    const paths_map *map = host->map;

    for (uint32_t i = 0; i < map->node_count; i++) {
        pastset_type type;
        int err;

        if (!paths_node_is_end(&map->nodes[i]))
            continue;
        err = paths__element_type_of(map, i, &type);
        if (err)
            return err;
        if (type.max_bytes > host->largest_bytes)
            host->largest_bytes = type.max_bytes;
    }
    return 0;
}

/* Hosts may have read their nodes in another order, so that on the wire a node
 * is its rank by name. */
static int numbers_make(paths_host *host)
{
    const paths_map *map = host->map;
    host->numbers = calloc((size_t)map->node_count + 1, sizeof(uint32_t));
    host->numbered = calloc((size_t)map->node_count + 1, sizeof(uint32_t));
    if (!host->numbers || !host->numbered)
        return pastset_fail(PASTSET_ENOMEM, "no memory for the stages");
    paths_map_rank(map, host->numbered);
    for (uint32_t i = 0; i < map->node_count; i++)
        host->numbers[host->numbered[i]] = i;
    return 0;
}

/* The machine of a host, as far as the map says: its address without a port. */
static void machine_of(const paths_map_host *host, char *out, size_t capacity)
{
    const char *text = paths_attributes_get(&host->attributes, "address");
    paths_address address;

    snprintf(out, capacity, "127.0.0.1");
    if (text && *text && paths_address_parse(&address, text) == 0)
        getnameinfo((const struct sockaddr *)&address.socket, address.bytes,
                    out, (socklen_t)capacity, NULL, 0, NI_NUMERICHOST);
}

/* Are there more threads on this machine than it has processors for? Hosts of
 * one address are on one machine. If there is one processor, the network loop
 * needs it too. */
static bool is_oversubscribed(const paths_host *host)
{
    const paths_map *map = host->map;
    char here[NI_MAXHOST], there[NI_MAXHOST];
    uint32_t threads = 0, processors = paths_processors_count();

    machine_of(&map->hosts[host->self], here, sizeof(here));
    for (uint32_t i = 0; i < map->host_count; i++) {
        machine_of(&map->hosts[i], there, sizeof(there));
        for (uint32_t k = 0; strcmp(here, there) == 0 && k < map->node_count;
             k++)
            threads +=
                map->nodes[k].kind == PATHS_THREAD && map->nodes[k].host == i;
    }
    return threads > processors || (processors == 1 && map->host_count > 1);
}

/* Stages, and how they follow each other. */
static int stages_make(paths_host *host)
{
    const paths_map *map = host->map;
    int err = 0;

    for (uint32_t i = 0; i < map->node_count && !err; i++) {
        if (map->nodes[i].host == host->self &&
            map->nodes[i].kind != PATHS_THREAD)
            err = stage_make(host, i);
        if (!err && host->stages[i])
            err = ports_make(host, host->stages[i]);
    }
    for (uint32_t i = 0; i < map->edge_count && !err; i++)
        entry_make(host, i);
    for (uint32_t i = 0; i < map->node_count && !err; i++) {
        if (host->stages[i])
            stage_join(host, host->stages[i]);
    }
    return err;
}

int paths__bind(paths_host *host)
{
    const paths_map *map = host->map;
    int err;

    host->stages = calloc((size_t)map->node_count + 1, sizeof(*host->stages));
    host->entries = calloc((size_t)map->edge_count + 1, sizeof(*host->entries));
    host->peers = calloc(host->host_count, sizeof(*host->peers));
    host->ended_threads = calloc((size_t)map->node_count + 1, sizeof(bool));
    if (!host->stages || !host->entries || !host->peers || !host->ended_threads)
        return pastset_fail(PASTSET_ENOMEM, "no memory for the stages");
    host->oversubscribed = is_oversubscribed(host);
    err = largest_find(host);
    if (!err)
        err = paths__uses_make(host);
    if (!err)
        err = numbers_make(host);
    if (!err)
        err = threads_make(host);
    if (!err)
        err = paths__executors_make(host);
    if (!err)
        err = stages_make(host);
    for (uint32_t i = 0; i < map->node_count && !err; i++) {
        paths_stage *stage = host->stages[i];
        if (!stage)
            continue;
        mark_loop_links(host, stage);
        if (stage->type->init)
            err = stage->type->init(stage);
        stage->ready = !err;
        if (err)
            pastset_fail_while(err, "stage \"%s\"", map->nodes[i].name);
    }
    return err;
}

void paths__unbind(paths_host *host)
{
    for (uint32_t i = 0; host->stages && i < host->map->node_count; i++) {
        paths_stage *stage = host->stages[i];
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
    paths__type_states_fini(host);
    free(host->stages);
    free(host->entries);
    free(host->numbers);
    free(host->numbered);
    free(host->verbs);
    for (uint32_t i = 0; host->threads && i < host->thread_count; i++)
        paths__thread_fini(&host->threads[i]);
    free(host->threads);
    for (uint32_t i = 0; host->peers && i < host->host_count; i++)
        free(host->peers[i].why);
    free(host->peers);
    free(host->ended_threads);
}
