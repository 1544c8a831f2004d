/* bind.c - makes the stages, elements and threads of one host from its map. */
#include <stdlib.h>
#include <string.h>

#include "paths/host_internal.h"
#include "paths/wrappers/builtin_internal.h"

int paths__element_type_of(const paths_map *map, uint32_t node,
                           pastset_type *out)
{
    const char *text = paths_node_get(&map->nodes[node], "type");
    int err = pastset_type_parse(out, text ? text : "");

    return err ? pastset_fail_while(err, "element \"%s\"",
                                    map->nodes[node].name)
               : 0;
}

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
        .name = n->name, .type = &type, .policy = policy_of(n)};
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
    /* The two built-in ones enter the list themselves, when they must. */
    stage->holds = type->drop && type != &paths__element_type &&
                   type != &paths__proxy_type;
    if (type->state_bytes) {
        stage->state = calloc(1, type->state_bytes);
        if (!stage->state)
            return pastset_fail(PASTSET_ENOMEM, "no memory for stage \"%s\"",
                                n->name);
    }
    return n->kind == PATHS_ELEMENT ? element_make(host, node, &stage->element)
                                    : 0;
}

/* Connects a stage to the one that follows, here or on another host. */
static void stage_join(paths_host *host, paths_stage *stage)
{
    const paths_map *map = host->map;
    const paths_map_node *n = &map->nodes[stage->node];

    for (uint32_t i = 0; i < n->in_count; i++) {
        uint32_t from = map->edges[n->in[i]].from;
        if (map->nodes[from].host != host->self)
            stage->entry = true;
    }
    if (n->out_count == 0)
        return;
    stage->far_node = map->edges[n->out[0]].to;
    stage->far_host = map->nodes[stage->far_node].host;
    stage->next = host->stages[stage->far_node];
}

static bool is_proxy(const paths_stage *stage)
{
    return stage->type == &paths__proxy_type;
}

/* Does the network loop run the proxies below this stage? It does when
 * operations of other hosts come by here, or when the stage holds them. */
static void mark_loop_links(paths_host *host, paths_stage *stage)
{
    /* Any wrapper may hold, by paths_resume_after if not by itself; and what
     * was held is carried on by the loop. */
    bool carried = stage->entry || !is_proxy(stage);

    for (; carried && stage; stage = stage->next) {
        if (is_proxy(stage))
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

        if (map->nodes[i].kind != PATHS_ELEMENT)
            continue;
        err = paths__element_type_of(map, i, &type);
        if (err)
            return err;
        if (type.max_bytes > host->largest_bytes)
            host->largest_bytes = type.max_bytes;
    }
    return 0;
}

int paths__bind(paths_host *host)
{
    const paths_map *map = host->map;
    int err;

    host->stages = calloc(map->node_count + 1, sizeof(*host->stages));
    host->peers = calloc(host->host_count, sizeof(*host->peers));
    if (!host->stages || !host->peers)
        return pastset_fail(PASTSET_ENOMEM, "no memory for the stages");
    err = largest_find(host);
    if (!err)
        err = threads_make(host);
    for (uint32_t i = 0; i < map->node_count && !err; i++) {
        if (map->nodes[i].host == host->self &&
            map->nodes[i].kind != PATHS_THREAD)
            err = stage_make(host, i);
    }
    for (uint32_t i = 0; i < map->node_count && !err; i++) {
        if (host->stages[i])
            stage_join(host, host->stages[i]);
    }
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
        free(stage);
    }
    free(host->stages);
    for (uint32_t i = 0; host->threads && i < host->thread_count; i++)
        paths__thread_fini(&host->threads[i]);
    free(host->threads);
    free(host->peers);
}

void *paths_stage_state(paths_stage *stage)
{
    return stage->state;
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

char *paths__describe(const paths_map *map, uint32_t edge)
{
    uint32_t nodes[PATHS_PATH_NODES];
    size_t count = paths_map_walk(map, edge, nodes, PATHS_PATH_NODES);
    const paths_map_node *thread = &map->nodes[map->edges[edge].from];
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    if (!out)
        return NULL;
    fputs(thread->name, out);
    for (size_t i = 0; i < count; i++) {
        const paths_map_node *n = &map->nodes[nodes[i]];
        bool shown = strcmp(n->type, "collector") != 0; /* they are many */
        if (shown)
            fprintf(out, " -> %s",
                    n->kind == PATHS_ELEMENT ? n->name : n->type);
        if (i + 1 == count && n->host != thread->host)
            fprintf(out, " on %s", map->hosts[n->host].name);
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
