/* proxy.c - the way to a stage on another process.
 *
 * A thread sends its operation over its own link and waits for the reply
 * there: two system calls, no other thread. Operations that the loop carries
 * go over the loop's link to that process. */
#include "paths/net/link_internal.h"
#include "paths/net/loop_link_internal.h"
#include "paths/wrappers/builtin_internal.h"
#include "paths/wrappers/collectives_internal.h"

/* What no element of the map takes would be more than a frame may have. */
static int check_size(const paths_stage *stage, const paths_operation *op)
{
    uint32_t max = stage->process->largest_bytes;

    if (op->status)
        return 0; /* it brings an error, and no tuple */
    if (brings_tuple(op) && op->bytes > max)
        return pastset_fail(PASTSET_ETYPE,
                            "a tuple of %zu bytes does not fit: the elements "
                            "of this map take at most %u",
                            op->bytes, max);
    if (op->verb != PASTSET_WRITE && op->pattern && op->pattern->bytes > max)
        return pastset_fail(PASTSET_EINVAL,
                            "a pattern of %u bytes does not fit: the tuples of "
                            "this map have at most %u",
                            op->pattern->bytes, max);
    return 0;
}

/* The process below never hears of it: collectives there would take the next
 * one by this way for it. Of a process that has died they are told by
 * others. */
static int not_sent(paths_stage *stage, operation *o, int err)
{
    paths__keep_text(o, err);
    if (err != PASTSET_EHOST)
        paths__collective_lost_step(stage, o, err);
    return err;
}

static int proxy_down(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    operation *o = operation_of(op);
    paths_thread *thread = paths__current ? paths__current->thread : NULL;
    int err = check_size(stage, op);

    (void)note;
    if (err && !stage->leads)
        return err;
    if (atomic_load_explicit(&stage->left, memory_order_relaxed))
        return pastset_fail(PASTSET_ECANCELED,
                            "process %s: no more rounds over this path",
                            process_name(stage->process, stage->far_process));
    if (err) { /* the others there must know that it does not contribute */
        op->status = err;
        paths__keep_text(o, err);
    }
    /* What others wait for too is not left to when its thread polls next. */
    if (thread && o->home == thread && !o->left &&
        !(o->asynchronous && o->carry_depth <= PATHS_STAGES_MAX)) {
        if (!thread->links[stage->far_process]) {
            err = paths__link_open(thread, stage->far_process);
            if (err)
                return not_sent(stage, o, err);
        }
        err = paths__link_send(thread->links[stage->far_process], o, stage);
        return err ? not_sent(stage, o, err) : PATHS_HOLD;
    }
    err = paths__hold(o);
    if (!err)
        err = paths__loop_link_send(stage->process, o, stage);
    return err < 0 ? not_sent(stage, o, err) : err;
}

static bool proxy_drop(paths_stage *stage, paths_operation *op)
{
    return paths__loop_link_forget(stage->process, operation_of(op));
}

static void proxy_check(const paths_map *map, const paths_map_node *node,
                        paths_diagnostics *diagnostics)
{
    const paths_map_node *far;

    if (node->out_count != 1)
        return; /* complained about already */
    far = &map->nodes[map->edges[node->out[0]].to];
    if (far->process == node->process)
        paths_node_diagnose(
            diagnostics, node,
            "a proxy between stages of one process: take it out, or "
            "move \"%s\" to another process",
            far->name);
}

const paths_wrapper_type paths__proxy_type = {
    .name = "proxy",
    .check = proxy_check,
    .down = proxy_down,
    .drop = proxy_drop,
};
