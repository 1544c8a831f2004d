/* collective_make.c - making and unmaking collective wrappers; their types. */
#include <stdlib.h>
#include <string.h>

#include "paths/map/map_internal.h"
#include "paths/wrappers/builtin_internal.h"
#include "paths/wrappers/collective_internal.h"

static int places_make(collective *c)
{
    const paths_map *map = c->stage->process->map;
    const paths_map_node *node = paths_stage_node(c->stage);

    c->places = calloc(c->count, sizeof(*c->places));
    c->places_count = calloc(c->count, sizeof(*c->places_count));
    if (!c->places || !c->places_count)
        return pastset_no_memory("for a collective");
    for (uint32_t i = 0; i < c->count; i++) {
        collective_leaves own;
        int err = paths__collective_leaves(
            map, paths__collective_source(map, node->in[i]), &own);
        for (uint32_t k = 0, at = 0; k < own.count && !err; k++) {
            while (c->leaves.numbers[at] != own.numbers[k])
                at++;
            own.numbers[k] = at;
        }
        c->places[i] = own.numbers;
        c->places_count[i] = own.count;
        if (err)
            return err;
    }
    return 0;
}

static int tree_read(collective *c)
{
    const paths_map *map = c->stage->process->map;
    uint32_t root = paths__collective_root(map, c->stage->node);
    collective_leaves all = {NULL, 0};
    int err = paths__element_type_of(
        map, paths__collective_element(map, c->stage->node), &c->type);

    if (!err)
        err = paths__collective_leaves(map, c->stage->node, &c->leaves);
    if (!err)
        err = paths__collective_leaves(map, root, &all);
    free(all.numbers);
    if (err)
        return err;
    c->is_root = root == c->stage->node;
    c->participants = all.count;
    c->block_bytes = c->type.max_bytes / all.count;
    if (c->family == FAMILY_ALLTOALL)
        c->block_bytes /= all.count;
    return c->family >= FAMILY_SCATTER ? places_make(c) : 0;
}

static int buffers_make(collective *c)
{
    c->capacity = c->type.max_bytes;
    c->is_small = c->capacity <= sizeof(collective_shown(c)->small) &&
                  c->family < FAMILY_SCATTER;
    c->buffer = c->capacity <= sizeof(c->work) && c->family != FAMILY_ALLTOALL
                    ? c->work
                    : malloc(c->capacity);
    if (c->family == FAMILY_ALLTOALL && c->is_root)
        c->turned = malloc(c->capacity);
    c->inputs = aligned_alloc(64, c->count * sizeof(*c->inputs));
    if (!c->buffer || !c->inputs ||
        (c->family == FAMILY_ALLTOALL && c->is_root && !c->turned))
        return pastset_no_memory("for a collective");
    memset(c->inputs, 0, c->count * sizeof(*c->inputs));
    return 0;
}

static int reduction_find(collective *c, const paths_map_node *node)
{
    const char *function = paths_node_get(node, "function");

    c->reduction = paths__collective_reduction(node->type);
    if (c->family != FAMILY_REDUCE || c->reduction)
        return 0;
    c->reduction = function ? paths_reduction_find(function) : NULL;
    if (c->reduction)
        return 0;
    return pastset_fail(PASTSET_ENOENT,
                        "function=%s: this program has not registered such a "
                        "reduction",
                        function ? function : "");
}

static void waiting_choose(collective *c, const paths_map_node *node)
{
    const char *text = paths_node_get(node, "waiting");

    c->gate.waiting =
        c->stage->process->oversubscribed ? PATHS_WAIT_YIELD : PATHS_WAIT_SPIN;
    if (!text || !*text)
        return;
    c->gate.waiting = strcmp(text, "spin") == 0    ? PATHS_WAIT_SPIN
                      : strcmp(text, "yield") == 0 ? PATHS_WAIT_YIELD
                                                   : PATHS_WAIT_SLEEP;
    c->gate.for_ever = c->gate.waiting != PATHS_WAIT_SLEEP;
}

static void collective_fini(paths_stage *stage)
{
    collective *c = stage->state;

    for (uint32_t i = 0; c->places && i < c->count; i++)
        free(c->places[i]);
    for (uint32_t i = 0; c->inputs && i < c->count; i++)
        free(c->inputs[i].text);
    free(c->places);
    free(c->places_count);
    free(c->leaves.numbers);
    free(c->why_text);
    free(c->turned);
    if (c->buffer != c->work)
        free(c->buffer);
    free(c->inputs);
    pthread_mutex_destroy(&c->lock);
}

/* Elements have been made, and stages joined, when wrappers are made ready. */
static pastset_element *element_below(const paths_stage *stage)
{
    while (stage->next && !stage->element)
        stage = stage->next;
    return stage->element;
}

static int collective_init(paths_stage *stage)
{
    collective *c = stage->state;
    const paths_map *map = paths_stage_map(stage);
    const paths_map_node *node = paths_stage_node(stage);
    int err;

    pthread_mutex_init(&c->lock, NULL);
    pastset_fence_init();
    atomic_init(&c->state, state_of(1, 0));
    c->stage = stage;
    c->count = node->in_count;
    c->family = (collective_family)paths__collective_family(node->type);
    waiting_choose(c, node);
    c->element = element_below(stage);
    err = paths_node_duration(map, node, "deadline", 0, &c->deadline_ns);
    if (err)
        goto failed;
    err = reduction_find(c, node);
    if (err)
        goto failed;
    err = tree_read(c);
    if (err)
        goto failed;
    err = buffers_make(c);
    if (err)
        goto failed;
    return 0;
failed:
    collective_fini(stage);
    return err;
}

static const char *const attributes[] = {"deadline", "waiting", NULL};
static const char *const reduce_attributes[] = {"deadline", "waiting",
                                                "function", NULL};

#define COLLECTIVE(kind, own)                                                  \
    const paths_wrapper_type paths__##kind##_type = {                          \
        .name = #kind,                                                         \
        .state_bytes = sizeof(collective),                                     \
        .attributes = own,                                                     \
        .check = paths__collective_check,                                      \
        .init = collective_init,                                               \
        .fini = collective_fini,                                               \
        .down = paths__collective_down,                                        \
        .up = paths__collective_up,                                            \
        .drop = paths__collective_drop,                                        \
        .joins = true,                                                         \
    }

COLLECTIVE(sum, attributes);
COLLECTIVE(min, attributes);
COLLECTIVE(max, attributes);
COLLECTIVE(product, attributes);
COLLECTIVE(and, attributes);
COLLECTIVE(or, attributes);
COLLECTIVE(xor, attributes);
COLLECTIVE(reduce, reduce_attributes);
COLLECTIVE(barrier, attributes);
COLLECTIVE(broadcast, attributes);
COLLECTIVE(scatter, attributes);
COLLECTIVE(gather, attributes);
COLLECTIVE(alltoall, attributes);
