/* delay.c - a slower link on one machine: latency plus bytes / bandwidth.
 *
 * Each pass is held for `latency`; a pass that carries a tuple (down for a
 * write, up for a read, both for an exchange, with what it brings and what it
 * gets) also for its length divided by `bandwidth`, and passes of one stage do
 * not overtake each other while they use the link. */
#include <pthread.h>

#include "paths/engine/process_internal.h"
#include "paths/wrappers/builtin_internal.h"

typedef struct delay {
    uint64_t latency_ns;
    uint64_t bytes_s; /* 0: no limit */
    pthread_mutex_t lock;
    int64_t free_ns[2]; /* down, up: when the link is free; under the lock */
} delay;

static int delay_init(paths_stage *stage)
{
    delay *d = paths_stage_state(stage);
    const paths_map *map = paths_stage_map(stage);
    const paths_map_node *node = paths_stage_node(stage);
    int err = paths_node_duration(map, node, "latency", 0, &d->latency_ns);

    if (!err)
        err = paths_node_rate(map, node, "bandwidth", 0, &d->bytes_s);
    if (!err)
        pthread_mutex_init(&d->lock, NULL);
    return err;
}

static void delay_fini(paths_stage *stage)
{
    delay *d = paths_stage_state(stage);
    pthread_mutex_destroy(&d->lock);
}

/* Sends `bytes` over the link; returns how long from now until they are
 * there. */
static uint64_t transfer(delay *d, int direction, size_t bytes)
{
    int64_t now = pastset_now_ns();
    int64_t until;

    if (!d->bytes_s)
        return d->latency_ns;
    pthread_mutex_lock(&d->lock);
    if (d->free_ns[direction] < now)
        d->free_ns[direction] = now;
    d->free_ns[direction] +=
        (int64_t)((double)bytes * 1e9 / (double)d->bytes_s);
    until = d->free_ns[direction];
    pthread_mutex_unlock(&d->lock);
    return (uint64_t)(until - now) + d->latency_ns;
}

static int delay_down(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    delay *d = paths_stage_state(stage);
    bool brings = op->verb == PASTSET_WRITE || op->verb == PASTSET_EXCHANGE;

    (void)note;
    return paths_resume_after(op, transfer(d, 0, brings ? op->bytes : 0));
}

static int delay_up(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    delay *d = paths_stage_state(stage);
    size_t bytes = op->verb == PASTSET_WRITE || op->status ? 0
                   : op->verb == PASTSET_EXCHANGE          ? op->capacity
                                                           : op->bytes;

    (void)note;
    return paths_resume_after(op, transfer(d, 1, bytes));
}

static void delay_check(const paths_map *map, const paths_map_node *node,
                        paths_diagnostics *diagnostics)
{
    uint64_t value;

    if (paths_node_duration(map, node, "latency", 0, &value) != 0)
        paths_node_diagnose(diagnostics, node,
                            "latency=\"%s\": write a number and us, ms or s",
                            paths_node_get(node, "latency"));
    if (paths_node_rate(map, node, "bandwidth", 0, &value) != 0 ||
        (paths_node_get(node, "bandwidth") && value == 0))
        paths_node_diagnose(
            diagnostics, node,
            "bandwidth=\"%s\": write a number above 0 and kbit, "
            "mbit, gbit or MB",
            paths_node_get(node, "bandwidth"));
    if (!paths_node_get(node, "latency") && !paths_node_get(node, "bandwidth"))
        paths_node_diagnose(diagnostics, node,
                            "it delays nothing: give it latency or bandwidth");
}

static const char *const delay_attributes[] = {"latency", "bandwidth", NULL};

const paths_wrapper_type paths__delay_type = {
    .name = "delay",
    .state_bytes = sizeof(delay),
    .attributes = delay_attributes,
    .check = delay_check,
    .init = delay_init,
    .fini = delay_fini,
    .down = delay_down,
    .up = delay_up,
};
