/* wrappers.c - see wrappers.h. */
#include "tests/paths/wrappers/wrappers.h"
#include "paths/map/map.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- what all stages of a type on a process share: where they count --- */

static int counts_take(void *state, paths_process *process, void *context)
{
    wrapper_counts **counts = state;

    (void)process;
    *counts = context;
    return context ? 0
                   : pastset_fail(PASTSET_EINVAL, "there is nothing to count "
                                                  "in: see wrappers_contexts");
}

static wrapper_counts *counts_of(paths_stage *stage)
{
    return *(wrapper_counts **)paths_stage_process_state(stage);
}

/* --- plus: changes what it passes on --- */

typedef struct copied {
    void *original;
    int32_t tuple[];
} copied;

static int plus_down(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    copied *copy;

    atomic_fetch_add(&counts_of(stage)->down, 1);
    *note = 0;
    if (op->verb != PASTSET_WRITE)
        return PATHS_PASS;
    copy = malloc(sizeof(*copy) + op->bytes + sizeof(int32_t));
    if (!copy)
        return pastset_fail(PASTSET_ENOMEM, "plus: no memory");
    memcpy(copy->tuple, op->tuple, op->bytes);
    copy->tuple[0]++;
    copy->original = op->tuple; /* belongs to the thread: not changed */
    op->tuple = copy->tuple;
    *note = (uint64_t)(uintptr_t)copy;
    return PATHS_PASS;
}

static int plus_up(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    copied *copy = (copied *)(uintptr_t)*note;
    int32_t value;

    atomic_fetch_add(&counts_of(stage)->up, 1);
    if (copy) {
        op->tuple = copy->original;
        free(copy);
    } else if (op->status == 0) {
        memcpy(&value, op->tuple, sizeof(value));
        value++;
        memcpy(op->tuple, &value, sizeof(value));
    }
    return PATHS_PASS;
}

static const paths_wrapper_type plus_type = {
    .name = "plus",
    .process_bytes = sizeof(wrapper_counts *),
    .process_init = counts_take,
    .down = plus_down,
    .up = plus_up,
};

/* --- pairs: holds one until another comes --- */

typedef struct pairs {
    pthread_mutex_t lock;
    paths_operation *waiting; /* under the lock */
} pairs;

static int pairs_init(paths_stage *stage)
{
    pairs *p = paths_stage_state(stage);
    pthread_mutex_init(&p->lock, NULL);
    return 0;
}

static void pairs_fini(paths_stage *stage)
{
    pairs *p = paths_stage_state(stage);
    pthread_mutex_destroy(&p->lock);
}

/* The other half, when it is there; else `op` becomes the first half, unless
 * it does not want to wait. */
static paths_operation *meet(pairs *p, paths_operation *op, bool waits)
{
    paths_operation *first;

    pthread_mutex_lock(&p->lock);
    first = p->waiting;
    p->waiting = first || !waits ? NULL : op;
    pthread_mutex_unlock(&p->lock);
    return first;
}

static int pairs_down(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    paths_operation *first = meet(paths_stage_state(stage), op, !op->nowait);

    (void)note;
    if (!first)
        return op->nowait ? PASTSET_EAGAIN : PATHS_HOLD;
    paths_resume(first, PATHS_PASS);
    return PATHS_PASS;
}

static int pairs_up(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    paths_operation *first = meet(paths_stage_state(stage), op, true);

    (void)note;
    if (!first)
        return PATHS_HOLD;
    paths_resume(first, 0);
    return PATHS_PASS;
}

static bool pairs_drop(paths_stage *stage, paths_operation *op)
{
    pairs *p = paths_stage_state(stage);
    bool ours;

    pthread_mutex_lock(&p->lock);
    ours = p->waiting == op;
    if (ours)
        p->waiting = NULL;
    pthread_mutex_unlock(&p->lock);
    if (ours)
        atomic_fetch_add(&counts_of(stage)->dropped, 1);
    return ours;
}

static const paths_wrapper_type pairs_type = {
    .name = "pairs",
    .state_bytes = sizeof(pairs),
    .process_bytes = sizeof(wrapper_counts *),
    .process_init = counts_take,
    .init = pairs_init,
    .fini = pairs_fini,
    .down = pairs_down,
    .drop = pairs_drop,
};

static const paths_wrapper_type pairs_up_type = {
    .name = "pairs_up",
    .state_bytes = sizeof(pairs),
    .process_bytes = sizeof(wrapper_counts *),
    .process_init = counts_take,
    .init = pairs_init,
    .fini = pairs_fini,
    .up = pairs_up,
    .drop = pairs_drop,
};

/* --- handover: a source that holds reads until somebody writes --- */

#define READS_MAX 64

typedef struct handover {
    pthread_mutex_t lock;
    paths_operation
        *reads[READS_MAX]; /* under the lock; the first come first */
    size_t count;
} handover;

static int handover_init(paths_stage *stage)
{
    handover *h = paths_stage_state(stage);
    pthread_mutex_init(&h->lock, NULL);
    return 0;
}

static void handover_fini(paths_stage *stage)
{
    handover *h = paths_stage_state(stage);
    pthread_mutex_destroy(&h->lock);
}

/* Takes out the read, or (NULL) the first; NULL: it is not there. Whoever has
 * taken it is the only one who resumes it. */
static paths_operation *read_take(handover *h, const paths_operation *op)
{
    paths_operation *taken = NULL;

    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->count && !taken; i++) {
        if (op && h->reads[i] != op)
            continue;
        taken = h->reads[i];
        memmove(h->reads + i, h->reads + i + 1,
                (--h->count - i) * sizeof(taken));
    }
    pthread_mutex_unlock(&h->lock);
    return taken;
}

static int read_answer(paths_operation *read, const paths_operation *written)
{
    void *room;
    int err;

    if (*(const unsigned char *)written->tuple == HANDOVER_FAILS)
        return pastset_fail(PASTSET_EAPP, "it was handed a failure");
    err = paths_answer_room(read, written->bytes, &room);
    if (!err)
        memcpy(room, written->tuple, written->bytes);
    return err;
}

static int read_hold(handover *h, paths_operation *op)
{
    bool holds;

    pthread_mutex_lock(&h->lock);
    holds = !op->nowait && h->count < READS_MAX;
    if (holds)
        h->reads[h->count++] = op;
    pthread_mutex_unlock(&h->lock);
    return holds ? PATHS_HOLD : PASTSET_EAGAIN;
}

static int handover_down(paths_stage *stage, paths_operation *op,
                         uint64_t *note)
{
    wrapper_counts *counts = counts_of(stage); /* it may be gone afterwards */
    handover *h = paths_stage_state(stage);
    paths_operation *first;
    int r;

    (void)note;
    if (op->verb != PASTSET_WRITE) {
        r = read_hold(h, op);
        if (r == PATHS_HOLD)
            atomic_fetch_add(&counts->held, 1);
        return r;
    }
    first = read_take(h, NULL);
    if (!first)
        return PASTSET_EAGAIN;
    paths_resume(first, read_answer(first, op));
    return 0;
}

static bool handover_drop(paths_stage *stage, paths_operation *op)
{
    bool ours = read_take(paths_stage_state(stage), op) != NULL;

    if (ours)
        atomic_fetch_add(&counts_of(stage)->dropped, 1);
    return ours;
}

static const char *const handover_attributes[] = {"type", NULL};

static const paths_wrapper_type handover_type = {
    .name = "handover",
    .state_bytes = sizeof(handover),
    .process_bytes = sizeof(wrapper_counts *),
    .attributes = handover_attributes,
    .process_init = counts_take,
    .init = handover_init,
    .fini = handover_fini,
    .down = handover_down,
    .drop = handover_drop,
    .source = true,
};

void wrappers_register(void)
{
    paths_wrapper_register(&plus_type);
    paths_wrapper_register(&pairs_type);
    paths_wrapper_register(&pairs_up_type);
    paths_wrapper_register(&handover_type);
}

const paths_wrapper_context *wrappers_contexts(wrapper_counts *counts)
{
    static paths_wrapper_context contexts[] = {{"plus", NULL},
                                               {"pairs", NULL},
                                               {"pairs_up", NULL},
                                               {"handover", NULL},
                                               {NULL, NULL}};

    for (paths_wrapper_context *c = contexts; c->type; c++)
        c->context = counts;
    return contexts;
}
