/* collective.c - operations that meet: the rounds of a collective wrapper.
 *
 * In each round one operation comes by each way in. Those that come early are
 * held; the last one goes on with the round's tuple in place of its own, and
 * is called the representative. When it comes up the round is complete: the
 * result lies in the buffer, everybody is released, and the next round begins.
 * Nobody can be in the next round before that, and the buffer is written only
 * when all have come to the next round, so when nobody reads the last result
 * any more: one buffer is enough.
 *
 * As usual. A thread that comes early leaves its contribution in its own cache
 * line, adds itself to `state` and waits at the gate; the last one combines
 * all, and opens the gate with one store. No lock is taken. Operations that
 * cannot wait there (of other processes, of paths_start, representatives of
 * other collectives) are entered in the process's list of held ones, and
 * released one by one.
 *
 * Which round. `state` carries the number of the round that it counts, and
 * whoever adds himself says for which he does: a round may have failed, and
 * the next begun, between his look at it and his exchange. What a round is,
 * is told by `state` alone. The gate is opened a moment later, so that its
 * value is the round's number less one, or (while a round is being released)
 * less two.
 *
 * An error. STATE_SLOW in `state` sends all who come later to the lock, and
 * collective_fail.c tells what happens there.
 *
 * The model collective.pml has all of this: the exchange, the gate, failing,
 * debts, lateness and closing. Who changes one changes the other. */
#include <sched.h>
#include <stdlib.h>

#include "paths/wrappers/collective_internal.h"
#include "pastset/line.h"
#include "pastset/schedule.h"

/* A collective further down gives its own contributors that much longer, so
 * that the one who is nearest to who is late is the one to name him. */
#define DEADLINE_SLACK_NS 300000000

/* --- the representative --- */

static void carry_back(collective *c, const carried *before)
{
    operation *o = c->representative;

    if (!c->swapped)
        return;
    o->op.deadline_ns = before->deadline_ns;
    o->op.verb = before->verb;
    o->op.tuple = before->tuple;
    o->op.result = before->result;
    o->op.bytes = before->bytes;
    o->op.capacity = before->capacity;
    o->capacity = before->capacity_of;
}

/* The earliest deadline of all who are there. */
static int64_t earliest(const collective *c)
{
    int64_t earliest = 0;

    for (uint32_t i = 0; i < c->count; i++) {
        int64_t due = c->inputs[i].due_ns;
        if (due && (!earliest || due < earliest))
            earliest = due;
    }
    return earliest;
}

/* Gives the last one the round's tuple; where nobody wants a result it is
 * written, and where nobody brought anything all have come to read. */
static void carry(collective *c, operation *o, carried *before, uint64_t state)
{
    c->representative = o;
    c->swapped = true;
    *before = (carried){.verb = o->op.verb,
                        .tuple = o->op.tuple,
                        .result = o->op.result,
                        .bytes = o->op.bytes,
                        .capacity = o->op.capacity,
                        .deadline_ns = o->op.deadline_ns,
                        .capacity_of = o->capacity};
    if (state & STATE_TIMED)
        o->op.deadline_ns = earliest(c) + DEADLINE_SLACK_NS;
    o->capacity = NULL;
    o->op.tuple = o->op.result = c->buffer;
    o->op.bytes = c->bytes;
    o->op.capacity = c->capacity;
    if (!(state & STATE_BRINGS) && c->family != FAMILY_BARRIER) {
        o->op.bytes = c->capacity;
    } else {
        o->op.verb = state & STATE_WANTS ? PASTSET_EXCHANGE : PASTSET_WRITE;
    }
}

/* --- releasing --- */

/* Those of a complete round who do not wait at the gate. */
static operation *others(collective *c)
{
    operation *list = NULL;

    for (uint32_t i = c->count; i-- > 0;) {
        contribution *in = &c->inputs[i];
        if (in->gated || in->op == c->representative)
            continue;
        in->op->next_released = list;
        list = in->op;
    }
    return list;
}

static void others_release(collective *c, operation *list)
{
    while (list) {
        operation *o = list;
        list = o->next_released;
        paths__complete(o, paths__collective_deliver(c, o->stage->input, o));
    }
}

/* A complete round whose result is in the buffer. */
static void release(collective *c, bool some_others)
{
    uint64_t state = atomic_load_explicit(&c->state, memory_order_relaxed);
    operation *list = some_others ? others(c) : NULL;

    c->representative = NULL;
    /* Release: whoever comes to the next round by a way whose contribution
     * was looked at here overwrites it. Nobody else writes the state while a
     * round is on its way. */
    atomic_store_explicit(&c->state, state_of(state_round(state) + 1, 0),
                          memory_order_release);
    PASTSET_POINT("collective.release");
    paths__collective_show(c);
    paths_gate_open(&c->gate);
    PASTSET_POINT("collective.others");
    others_release(c, list);
    paths_gate_wake(&c->gate);
    /* The gate has a fence: either this is seen here, or the new state by who
     * closed it meanwhile. */
    if (__builtin_expect(atomic_load_explicit(&c->closed, memory_order_relaxed),
                         0))
        paths__collective_close_now(c);
}

/* A way whose operation does not wait at the gate may bring its next one while
 * the last round is still being given out, and its result must stay so long. */
static void wait_for_release(const collective *c)
{
    /* Acquire: pairs with the release in complete(). */
    while (__builtin_expect(
        atomic_load_explicit(&c->releasing, memory_order_acquire), 0))
        sched_yield();
}

/* The round's representative has come up with its result. */
static int complete(collective *c, paths_stage *stage, operation *o)
{
    bool some_others =
        atomic_load_explicit(&c->state, memory_order_relaxed) & STATE_OTHERS;

    if (some_others)
        atomic_store_explicit(&c->releasing, true, memory_order_relaxed);
    paths__collective_came(c);
    release(c, some_others);
    /* Its own part last: until it comes again nobody changes the result. */
    o->op.status = paths__collective_deliver_representative(c, stage->input, o);
    if (o->op.status)
        paths__keep_text(o, o->op.status);
    if (some_others)
        atomic_store_explicit(&c->releasing, false, memory_order_release);
    return PATHS_PASS;
}

/* --- coming --- */

/* What a contribution says in the state. Asked for before it is made: from then
 * on it may be failed, and the next one by its way be on its way in. */
static uint64_t flags_of(const contribution *in, const operation *o)
{
    return (in->brings ? STATE_BRINGS : 0) | (in->wants ? STATE_WANTS : 0) |
           (o->op.deadline_ns ? STATE_TIMED : 0);
}

static uint64_t state_with(uint64_t state, uint64_t flags, bool gated)
{
    return (state | flags) + (gated ? 1 : 1 + STATE_OTHER);
}

/* All have come, and `o` was the last. */
static int go_on(collective *c, paths_stage *stage, operation *o,
                 uint64_t state)
{
    int r;

    wait_for_release(c);
    if (c->element)
        pastset_element_expect(c->element);
    r = paths__collective_combine(c, stage->input);
    if (r) {
        paths__collective_say(c, stage->input, r);
        paths__replace_text(o, r);
        o->op.status = r;
        c->representative = o;
        c->swapped = false;
    } else {
        carry(c, o, &c->inputs[stage->input].carried, state);
    }
    return PATHS_PASS;
}

/* Has the contribution to this round been seen by who failed it, or fails it?
 * Under the lock. Where it has, the operation may be complete and gone, and the
 * next one by this way have written its round already, or be about to; and that
 * one may have failed in turn. */
static bool was_seen(const collective *c, const contribution *in,
                     uint32_t round)
{
    return in->failed_round == round || (c->failing && in->member) ||
           atomic_load_explicit(&in->round, memory_order_relaxed) != round;
}

/* Coming, under the lock. `round` is the one for which it has contributed, and
 * may have failed meanwhile. `left`: see paths__unhold_again(). */
static int come_slowly(collective *c, paths_stage *stage, operation *o,
                       uint32_t round, bool gated, bool left)
{
    contribution *in = &c->inputs[stage->input];
    uint64_t old, flags, state = 0;
    int r;

    PASTSET_POINT("collective.slow");
    pthread_mutex_lock(&c->lock);
    old = atomic_load(&c->state);
    if (was_seen(c, in, round)) {
        r = collective_wait_here(c, o, gated);
    } else if (c->failing && in->owes <= 1) {
        r = paths__collective_join_failing(c, in, o);
    } else if (c->closed || in->owes) {
        r = paths__collective_refuse(c, in);
    } else {
        flags = flags_of(in, o);
        collective_contribute(
            in, o, state_round(old)); /* others have failed meanwhile */
        do {
            state = state_with(old, flags, gated);
        } while (!atomic_compare_exchange_weak(&c->state, &old, state));
        r = all_have_come(c, state) ? PATHS_PASS
                                    : collective_wait_here(c, o, gated);
    }
    pthread_mutex_unlock(&c->lock);
    if (r == PATHS_HOLD)
        return r;
    if (!gated)
        paths__unhold_again(o, left);
    return r == PATHS_PASS ? go_on(c, stage, o, state) : r;
}

/* Takes its part in a round: what it brings has been taken. */
static int come(collective *c, paths_stage *stage, operation *o, bool gated)
{
    contribution *in = &c->inputs[stage->input];
    bool left = o->left;
    uint64_t old, state, own, flags = flags_of(in, o);
    int r = gated ? 0 : paths__hold(o);

    if (r)
        return paths__collective_come_wrongly(c, stage, o, r);
    in->gated = gated;
    /* Acquire: pairs with the release in release(). */
    old = atomic_load_explicit(&c->state, memory_order_acquire);
    own = state_of(state_round(old), 0);
    PASTSET_POINT("collective.look");
    collective_contribute(in, o, state_round(old));
    PASTSET_POINT("collective.contribute");
    do {
        /* The round for which it comes, and nothing in the way. */
        if (__builtin_expect((old ^ own) & (STATE_ROUND | STATE_SLOW), 0))
            return come_slowly(c, stage, o, state_round(own), gated, left);
        state = state_with(old, flags, gated);
        /* Acquire and release: the last one sees all contributions. */
    } while (!atomic_compare_exchange_weak_explicit(
        &c->state, &old, state, memory_order_acq_rel, memory_order_relaxed));
    if (!all_have_come(c, state))
        return collective_wait_here(c, o, gated);
    if (!gated)
        paths__unhold_again(o, left);
    return go_on(c, stage, o, state);
}

int paths__collective_down(paths_stage *stage, paths_operation *op,
                           uint64_t *note)
{
    collective *c = stage->state;
    operation *o = operation_of(op);
    int r;

    (void)note;
    pastset_line_expect(&c->state);
    if (__builtin_expect(may_be_present(c, &c->inputs[stage->input]), 0) &&
        paths__collective_is_second(c, stage, o, &r))
        return r;
    if (__builtin_expect(op->status != 0, 0))
        return paths__collective_come_with_error(c, stage, o);
    r = paths__collective_take(c, stage->input, op);
    if (__builtin_expect(r != 0, 0))
        return paths__collective_come_wrongly(c, stage, o, r);
    if (c->deadline_ns && !op->deadline_ns)
        op->deadline_ns = pastset_now_ns() + (int64_t)c->deadline_ns;
    return come(c, stage, o, waits_at_gate(o));
}

/* --- the representative comes up --- */

int paths__collective_up(paths_stage *stage, paths_operation *op,
                         uint64_t *note)
{
    collective *c = stage->state;
    operation *o = operation_of(op);
    bool exchange, read;

    (void)note;
    if (c->representative != o)
        return PATHS_PASS;
    exchange = op->verb == PASTSET_EXCHANGE;
    read = !exchange && op->verb != PASTSET_WRITE;
    if (c->swapped && !op->status) {
        if (exchange || read)
            c->bytes = exchange ? op->capacity : op->bytes;
        c->index = op->index;
        c->lost = op->lost;
    }
    carry_back(c, &c->inputs[stage->input].carried);
    if (!op->status)
        return complete(c, stage, o);
    paths__collective_failed(c, o);
    return PATHS_PASS;
}

int paths__collective_opened(paths_stage *stage, operation *o)
{
    collective *c = stage->state;
    contribution *in = &c->inputs[stage->input];

    if (in->status == ROUND_PENDING)
        return paths__collective_deliver(c, stage->input, o);
    free(o->text);
    o->text = in->text;
    in->text = NULL;
    if (!o->text) /* there was no memory for it */
        pastset_fail(in->status, "%s", pastset_status_text(in->status));
    return in->status;
}
