/* collective_fail.c - rounds that fail, those who are late, and the end of all
 * rounds. All of it under the collective's lock, but for operations that are
 * completed after it.
 *
 * A round fails by an operation that brings an error, or that is withdrawn (its
 * time is up, its process is gone). That one becomes the representative and
 * takes the error down, so that the collectives below fail too; when it comes
 * up all who are there get it. Whoever has not come yet owes a contribution
 * (`owes`): when he comes he gets the last error instead, and takes part again
 * when he owes none. So each way in counts the same rounds.
 *
 * Who is there. STATE_SLOW is set first; from then on nobody adds himself to
 * `state` but under the lock. A contribution may be written already though, and
 * its way on the way to the lock. Who fails the round takes one look at each:
 * it is of the round if its number is there and it owes nothing. Whoever comes
 * to the lock finds out (`member`, `failed_round`) whether he was seen; he then
 * waits, or is complete already. Whoever owes has come to be refused, and is
 * not of the round whatever number he wrote.
 *
 * For good. When a process has died or a thread has ended that the rounds need,
 * the collective is closed: all who are there, and all who will come, get that
 * error at once. */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/net/loop_link_internal.h"
#include "paths/wrappers/collective_internal.h"
#include "pastset/schedule.h"

static const char *name_of(const collective *c)
{
    return paths_stage_node(c->stage)->name;
}

/* Of the round, as far as who fails it can tell. */
static bool has_come(const contribution *in, uint32_t round)
{
    /* Acquire: pairs with the release in collective_contribute(). */
    return atomic_load_explicit(&in->round, memory_order_acquire) == round &&
           in->owes == 0;
}

/* Sends those who come to the lock, and gives the round. False: all have come,
 * the round is on its way. */
static bool slow_set(collective *c, uint32_t *round)
{
    uint64_t state = atomic_load(&c->state);

    do {
        if (all_have_come(c, state))
            return false;
    } while (
        !atomic_compare_exchange_weak(&c->state, &state, state | STATE_SLOW));
    *round = state_round(state);
    /* Who released the last round may have told the new state, and not yet
     * opened the gate: that is his to do, and comes at once. Acquire: whoever
     * is at that gate still may find it open by the next opening, which is to
     * show him that result too. */
    while (atomic_load_explicit(&c->gate.value, memory_order_acquire) + 1 !=
           *round)
        sched_yield();
    return true;
}

/* Nobody is late, so nothing is in the way any more. */
static void slow_unset(collective *c)
{
    if (!c->late && !c->failing && !c->closed)
        atomic_fetch_and(&c->state, ~(uint64_t)STATE_SLOW);
}

/* --- releasing --- */

static void others_release(operation *list, int status)
{
    while (list) {
        operation *o = list;
        list = o->next_released;
        pastset_fail(status, "%s", pastset_status_text(status)); /* no text? */
        paths__complete(o, status);
    }
}

/* Takes from each who is there his part in the round; those who do not wait at
 * the gate become a list. `representative` goes up by itself. */
static operation *members_take(collective *c, uint32_t round, int status,
                               const char *text,
                               const operation *representative)
{
    operation *list = NULL;

    for (uint32_t i = c->count; i-- > 0;) {
        contribution *in = &c->inputs[i];
        char **place;
        if (c->failing ? !in->member : !has_come(in, round))
            continue;
        in->member = false;
        in->failed_round = round;
        in->status = status;
        if (in->op == representative)
            continue;
        place = in->gated ? &in->text : &in->op->text;
        free(*place);
        *place = strdup(text);
        if (in->gated)
            continue;
        in->op->next_released = list;
        list = in->op;
    }
    return list;
}

/* Everybody who is there gets an error. Gives the lock back. */
static void release_failed(collective *c, int status, const char *text,
                           const operation *representative)
{
    uint32_t round = state_round(atomic_load(&c->state));
    operation *list = members_take(c, round, status, text, representative);

    c->failing = false;
    c->representative = NULL;
    if (!c->closed) {
        free(c->why_text);
        c->why_text = strdup(text);
        c->why = status;
    }
    atomic_store(&c->state,
                 state_of(round + 1, c->late || c->closed ? STATE_SLOW : 0));
    PASTSET_POINT("collective.failed");
    paths_gate_open(&c->gate);
    pthread_mutex_unlock(&c->lock);
    PASTSET_POINT("collective.failed_others");
    others_release(list, status);
    paths_gate_wake(&c->gate);
}

void paths__collective_failed(collective *c, const operation *o)
{
    pthread_mutex_lock(&c->lock);
    release_failed(c, o->op.status,
                   o->text ? o->text : pastset_status_text(o->op.status), o);
}

/* --- failing --- */

/* One look at each: who comes after it finds the lock, and is late. Gives how
 * many have not come. */
static uint32_t members_find(collective *c, uint32_t round)
{
    uint32_t missing = 0;

    for (uint32_t i = 0; i < c->count; i++) {
        contribution *in = &c->inputs[i];
        in->member = has_come(in, round);
        missing += !in->member;
    }
    return missing;
}

/* Whoever is not of the round that fails owes it a contribution. */
static void debts_make(collective *c, const contribution *own)
{
    for (uint32_t i = 0; i < c->count; i++) {
        contribution *in = &c->inputs[i];
        if (in->member || in == own)
            continue;
        c->late += in->owes == 0;
        in->owes++;
    }
}

/* The round fails, and `o` takes the error down. `own`: its contribution (NULL:
 * it is not of the round). `there`: who must have come to that round by the
 * same way (NULL: nobody). False: too late, the round is on its way or over, or
 * it fails already. */
static bool fail(collective *c, operation *o, const contribution *own,
                 const operation *there)
{
    const contribution *in = &c->inputs[o->stage->input];
    uint32_t round;

    if (c->failing || c->closed || !slow_set(c, &round))
        return false;
    PASTSET_POINT("collective.fail");
    /* From here on the round stays the same. Where no one is missing the last
     * one is about to be counted; he finds the lock. */
    if ((there && !(has_come(in, round) && in->op == there)) ||
        members_find(c, round) == 0) {
        for (uint32_t i = 0; i < c->count; i++)
            c->inputs[i].member = false;
        slow_unset(c);
        return false;
    }
    c->failing = true;
    c->representative = o;
    c->swapped = false;
    debts_make(c, own);
    return true;
}

/* Names those who had not come when the round failed. */
static void missing(const collective *c, char *out, size_t capacity)
{
    const paths_map *map = c->stage->process->map;
    uint32_t left = 0;
    size_t used = 0;

    *out = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        char name[200];
        int length;
        if (c->inputs[i].member)
            continue;
        paths__collective_name(map, c->stage->node, i, name, sizeof(name));
        length = used + 300 < capacity
                     ? snprintf(out + used, capacity - used, "%s%s",
                                used ? ", " : "", name)
                     : 0;
        used += (size_t)length;
        left += length == 0;
    }
    if (left)
        snprintf(out + used, capacity - used, " and %u more", left);
}

/* The text of a failure becomes that of the operation that brings it down. */
static void text_set(operation *o, const char *text)
{
    free(o->text);
    o->text = strdup(text);
}

/* One contribution less is owed. Under the lock. */
static void pay(collective *c, contribution *in)
{
    if (--in->owes == 0 && --c->late == 0)
        slow_unset(c);
}

int paths__collective_refuse(collective *c, contribution *in)
{
    uint32_t round;

    if (in->owes)
        pay(c, in);
    /* Who closes it may not have come that far, and the next operation by this
     * way must not be counted in the round that this one was to be in. */
    if (c->closed)
        slow_set(c, &round);
    /* It is of no round. Any round is far from this one, and from the next. */
    atomic_store(&in->round, state_round(atomic_load(&c->state)) - 2);
    return pastset_fail(
        c->why, "%s", c->why_text ? c->why_text : pastset_status_text(c->why));
}

int paths__collective_say(const collective *c, uint32_t input, int status)
{
    char name[200], text[700];

    snprintf(text, sizeof(text), "%s", pastset_error());
    paths__collective_name(c->stage->process->map, c->stage->node, input, name,
                           sizeof(name));
    return pastset_fail(status, "\"%s\": %s: %s", name_of(c), name, text);
}

/* --- coming with an error --- */

int paths__collective_join_failing(collective *c, contribution *in,
                                   operation *o)
{
    bool gated = in->gated;

    collective_contribute(in, o, state_round(atomic_load(&c->state)));
    in->member = true;
    if (in->owes)
        pay(c, in);
    return collective_wait_here(c, o, gated);
}

/* Comes with an error: that of a collective above, or its own mistake. */
static int come_spoilt(collective *c, paths_stage *stage, operation *o,
                       int status)
{
    contribution *in = &c->inputs[stage->input];
    bool left = o->left, gated = waits_at_gate(o);
    bool may_wait = gated || paths__hold(o) == 0;
    int r;

    in->gated = gated;
    PASTSET_POINT("collective.spoilt");
    pthread_mutex_lock(&c->lock);
    if (c->failing && in->owes <= 1 && may_wait) {
        r = paths__collective_join_failing(c, in, o);
    } else if (c->closed) {
        r = paths__collective_refuse(c, in);
    } else if (in->owes) { /* its own error is that of a round long failed */
        pay(c, in);
        r = status;
    } else if (c->failing) { /* for it too; it may not wait for that one */
        r = status;
    } else {
        /* It cannot be too late: this way has not come yet. */
        o->op.status = status;
        fail(c, o, in, NULL);
        r = PATHS_PASS;
    }
    pthread_mutex_unlock(&c->lock);
    if (r != PATHS_HOLD && !gated && may_wait)
        paths__unhold_again(o, left);
    return r;
}

int paths__collective_come_wrongly(collective *c, paths_stage *stage,
                                   operation *o, int r)
{
    paths__collective_say(c, stage->input, r);
    text_set(o, pastset_error());
    return come_spoilt(c, stage, o, r);
}

int paths__collective_come_with_error(collective *c, paths_stage *stage,
                                      operation *o)
{
    const paths_map *map = paths_stage_map(stage);
    const paths_map_node *node = paths_stage_node(stage);
    uint32_t source = paths__collective_source(map, node->in[stage->input]);

    if (map->nodes[source].kind == PATHS_THREAD) {
        pastset_fail(o->op.status, "%s",
                     o->text ? o->text : pastset_status_text(o->op.status));
        return paths__collective_come_wrongly(c, stage, o, o->op.status);
    }
    return come_spoilt(c, stage, o, o->op.status);
}

bool paths__collective_is_second(collective *c, paths_stage *stage,
                                 operation *o, int *r)
{
    const contribution *in = &c->inputs[stage->input];
    bool second;

    pthread_mutex_lock(&c->lock);
    second = has_come(in, state_round(atomic_load(&c->state)));
    if (second) {
        pastset_fail(PASTSET_EINVAL,
                     "it contributed again before the round was complete");
        *r = paths__collective_say(c, stage->input, PASTSET_EINVAL);
        if (fail(c, o, NULL, in->op)) {
            text_set(o, pastset_error());
            o->op.status = *r;
            *r = PATHS_PASS;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return second;
}

/* --- withdrawing --- */

bool paths__collective_drop(paths_stage *stage, paths_operation *op)
{
    collective *c = stage->state;
    operation *o = operation_of(op);
    contribution *in = &c->inputs[stage->input];
    char text[1000];
    size_t used;
    bool dropped;

    pthread_mutex_lock(&c->lock);
    dropped = fail(c, o, in, o);
    if (dropped && op->deadline_ns && pastset_now_ns() >= op->deadline_ns) {
        used = (size_t)snprintf(
            text, sizeof(text),
            "\"%s\", round %" PRIu32 ": did not arrive in time: ", name_of(c),
            paths_gate_value(&c->gate) + 1);
        missing(c, text + used, sizeof(text) - used);
        text_set(o, text);
    }
    pthread_mutex_unlock(&c->lock);
    return dropped;
}

/* --- the end of all rounds --- */

/* Who is there gets the error, unless their round is on its way: then its
 * representative releases them, and sees that it is closed. */
void paths__collective_close_now(collective *c)
{
    char text[1100];
    uint32_t round;

    PASTSET_POINT("collective.close");
    pthread_mutex_lock(&c->lock);
    snprintf(text, sizeof(text), "%s",
             c->why_text ? c->why_text : pastset_status_text(c->why));
    if (c->failing || !slow_set(c, &round))
        pthread_mutex_unlock(&c->lock);
    else
        release_failed(c, c->why, text, NULL);
}

static void close_for(collective *c, int status, const char *text)
{
    bool before;

    pthread_mutex_lock(&c->lock);
    before = atomic_load(&c->closed);
    if (!before) {
        free(c->why_text);
        c->why_text = strdup(text);
        c->why = status;
        atomic_store(&c->closed, true);
    }
    pthread_mutex_unlock(&c->lock);
    /* Pairs with the fence of the gate in release(). */
    pastset_fence_rarely();
    if (!before)
        paths__collective_close_now(c);
}

static collective *collective_of(const paths_stage *stage)
{
    /* A program may have types that join too. */
    return stage && stage->joins &&
                   paths__collective_family(stage->type->name) >= 0
               ? stage->state
               : NULL;
}

void paths__collectives_end(paths_process *process)
{
    int status = paths__process_failure(process);
    char text[1100];

    snprintf(text, sizeof(text), "%s", pastset_error());
    for (uint32_t i = 0; i < process->map->node_count; i++) {
        collective *c = collective_of(process->stages[i]);
        if (c && c->inputs)
            close_for(c, status, text);
    }
}

void paths__collectives_gone(paths_process *process, uint32_t gone,
                             const char *why)
{
    for (uint32_t i = 0; i < process->map->node_count; i++) {
        collective *c = collective_of(process->stages[i]);
        if (c && paths__collective_touches(process->map, i, gone))
            close_for(c, PASTSET_EHOST, why);
    }
}

/* Has one of the collectives on this way been closed as a process died? */
static bool is_lost(const paths_stage *stage)
{
    bool lost = false;

    for (; stage && !lost; stage = stage->next) {
        collective *c = collective_of(stage);
        if (!c)
            continue;
        pthread_mutex_lock(&c->lock);
        lost = c->closed && c->why == PASTSET_EHOST;
        pthread_mutex_unlock(&c->lock);
    }
    return lost;
}

/* From the far end up: who is released here may end in turn, and is not to be
 * told of there before. */
static void left(paths_stage *stage, const char *why)
{
    if (!stage)
        return;
    left(stage->next, why);
    if (collective_of(stage)) {
        close_for(stage->state, PASTSET_ECANCELED, why);
    } else if (stage->proxy) {
        if (stage->leads) /* others have ways of no rounds through it */
            atomic_store(&stage->left, true);
        paths__loop_link_left(stage, why);
    }
}

void paths__collective_lost_step(paths_stage *proxy, const operation *o,
                                 int err)
{
    const paths_process *process = proxy->process;
    char why[700];

    if (!proxy->leads || atomic_load(&process->failed))
        return;
    snprintf(
        why, sizeof(why),
        "process %s did not answer process %s at \"%s\" (%s): it is not known "
        "which round a contribution from there would belong to",
        process_name(process, proxy->far_process), paths_process_name(process),
        paths_stage_node(proxy)->name, pastset_status_text(err));
    paths__collective_left(o && o->path ? o->path->first : proxy, why);
}

void paths__collective_left(paths_stage *stage, const char *why)
{
    /* Else the coordinator tells all who have a part in it of the process, by
     * another connection, and this must not come first: it is no cause. */
    if (!is_lost(stage))
        left(stage, why);
}
