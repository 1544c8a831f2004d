/* collective.c - operations that meet: the rounds of a collective wrapper.
 *
 * In each round one operation comes by each way in. Those that come early are
 * held; the last one goes on with the round's tuple in place of its own, and
 * is called the carrier. When it comes up the round is complete: the result
 * lies in the buffer, everybody is released, and the next round begins. Nobody
 * can be in the next round before that, and the buffer is written only when
 * all have come to the next round, so when nobody reads the last result any
 * more: one buffer is enough.
 *
 * As usual. A thread that comes early leaves its contribution in its own cache
 * line, adds itself to `state` and waits at the gate; the last one combines
 * all, and opens the gate with one store. No lock is taken. Operations that
 * cannot wait there (of other hosts, of paths_start, carriers of other
 * collectives) are entered in the host's list of held ones, and released one
 * by one.
 *
 * An error. STATE_SLOW in `state` sends all who come later to the lock. A round
 * fails by an operation that brings an error, or that is withdrawn (its time
 * is up, its host is gone). That one becomes the carrier and takes the error
 * down, so that the collectives below fail too; when it comes up all who are
 * there get it. Whoever has not come yet owes a contribution (`owes`): when he
 * comes he gets the last error instead, and takes part again when he owes none.
 * So each way in counts the same rounds.
 *
 * For good. When a host has died or a thread has ended that the rounds need,
 * the collective is closed: all who are there, and all who will come, get that
 * error at once. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/wrappers/builtin_internal.h"
#include "pastset/line.h"
#include "paths/wrappers/collective_internal.h"

/* `state`: how many have come, what they brought, how many of them do not wait
 * at the gate, and whether it takes the lock to come. With this in one word the
 * last one need not look at everybody's contribution for it. */
#define STATE_COME 0x00000fffu
#define STATE_SLOW 0x00001000u
#define STATE_BRINGS 0x00002000u /* somebody brings a tuple; */
#define STATE_WANTS 0x00004000u  /* wants a result; */
#define STATE_TIMED 0x00008000u  /* has a deadline */
#define STATE_OTHER 0x00100000u
#define STATE_OTHERS 0xfff00000u

#define ROUND_PENDING 1 /* status of a contribution */

/* A collective further down gives its own contributors that much longer, so
 * that the one who is nearest to who is late is the one to name him. */
#define DEADLINE_SLACK_NS 300000000

static bool is_present(const collective *c, const contribution *in)
{
    /* Acquire: pairs with the release in contribute(). */
    return atomic_load_explicit(&in->round, memory_order_acquire) ==
           paths_gate_value(&c->gate) + 1;
}

static bool all_have_come(const collective *c, uint32_t state)
{
    return (state & STATE_COME) == c->count;
}

static const char *name_of(const collective *c)
{
    return paths_stage_node(c->stage)->name;
}

/* --- the carrier --- */

static void carry_back(collective *c, const carried *before)
{
    operation *o = c->carrier;

    if (!c->swapped)
        return;
    o->op.deadline_ns = before->deadline_ns;
    o->op.verb = before->verb;
    o->op.tuple = before->tuple;
    o->op.result = before->result;
    o->op.bytes = before->bytes;
    o->op.room = before->room;
    o->room = before->room_of;
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
static void carry(collective *c, operation *o, carried *before, uint32_t state)
{
    c->carrier = o;
    c->swapped = true;
    *before = (carried){.verb = o->op.verb,
                        .tuple = o->op.tuple,
                        .result = o->op.result,
                        .bytes = o->op.bytes,
                        .room = o->op.room,
                        .deadline_ns = o->op.deadline_ns,
                        .room_of = o->room};
    if (state & STATE_TIMED)
        o->op.deadline_ns = earliest(c) + DEADLINE_SLACK_NS;
    o->room = NULL;
    o->op.tuple = o->op.result = c->buffer;
    o->op.bytes = c->bytes;
    o->op.room = c->room;
    if (!(state & STATE_BRINGS) && c->family != FAMILY_BARRIER) {
        o->op.bytes = c->room;
    } else {
        o->op.verb = state & STATE_WANTS ? PASTSET_EXCHANGE : PASTSET_WRITE;
    }
}

/* --- releasing --- */

/* The text of the round's error, in place of one of its own. */
static void text_take(operation *o, contribution *in)
{
    free(o->text);
    o->text = in->text;
    in->text = NULL;
}

/* Those of the list, linked by next_released, outside of all locks. */
static void release_others(collective *c, operation *list, int status)
{
    while (list) {
        operation *o = list;
        contribution *in = &c->inputs[o->stage->input];
        int own = status;

        list = o->next_released;
        if (status < 0) {
            text_take(o, in);
        } else {
            own = paths__collective_deliver(c, o->stage->input, o);
        }
        paths__complete(o, own);
    }
}

/* Sends those who come to the lock. Under the lock. False: all have come, the
 * round is on its way. */
static bool slow_set(collective *c)
{
    uint32_t state = atomic_load(&c->state);

    while (!all_have_come(c, state)) {
        if (atomic_compare_exchange_weak(&c->state, &state, state | STATE_SLOW))
            return true;
    }
    return false;
}

static void close_now(collective *c);

/* A complete round whose result is in the buffer. */
static void release(collective *c)
{
    uint32_t state = atomic_load_explicit(&c->state, memory_order_relaxed);
    operation *list = NULL;

    for (uint32_t i = c->count; (state & STATE_OTHERS) && i-- > 0;) {
        contribution *in = &c->inputs[i];
        if (in->gated || in->op == c->carrier)
            continue;
        in->op->next_released = list;
        list = in->op;
    }
    c->carrier = NULL;
    /* Relaxed: the gate's store publishes it. Nobody else writes it while a
     * round is on its way. */
    atomic_store_explicit(&c->state, 0, memory_order_relaxed);
    paths__collective_show(c);
    paths_gate_open(&c->gate);
    release_others(c, list, 0);
    paths_gate_wake(&c->gate);
    /* The gate has a fence: either this is seen here, or the new state by who
     * closed it meanwhile. */
    if (__builtin_expect(atomic_load_explicit(&c->closed, memory_order_relaxed),
                         0))
        close_now(c);
}

/* Everybody who is there gets an error. Under the lock, which it gives back.
 * `carrier` goes up by itself. */
static void release_failed(collective *c, int status, const char *text,
                           const operation *carrier)
{
    operation *list = NULL;

    for (uint32_t i = c->count; i-- > 0;) {
        contribution *in = &c->inputs[i];
        if (c->failing ? !in->member : !is_present(c, in))
            continue;
        in->member = false;
        in->status = status;
        if (in->op == carrier)
            continue;
        free(in->text);
        in->text = strdup(text);
        if (in->gated)
            continue;
        in->op->next_released = list;
        list = in->op;
    }
    c->failing = false;
    c->carrier = NULL;
    if (!c->closed) {
        free(c->why_text);
        c->why_text = strdup(text);
        c->why = status;
    }
    atomic_store(&c->state, c->late || c->closed ? STATE_SLOW : 0);
    paths_gate_open(&c->gate);
    pthread_mutex_unlock(&c->lock);
    release_others(c, list, status);
    paths_gate_wake(&c->gate);
}

/* --- failing --- */

/* The text of a failure becomes that of the operation that brings it down. */
static void text_set(operation *o, const char *text)
{
    free(o->text);
    o->text = strdup(text);
}

/* For this round, or already for the one after it. */
static bool has_come(const contribution *in, uint32_t round)
{
    uint32_t its = atomic_load(&in->round);

    return its == round || its == round + 1;
}

/* The round fails, and `o`, which came by `own` (NULL: it is not of the round),
 * takes the error down. Under the lock. False: too late, the round is on its
 * way, or it fails already. */
static bool fail(collective *c, operation *o, const contribution *own)
{
    /* Before the state is looked at: a round that is being released has a new
     * state already and its gate not open yet, or opens it any moment. Then
     * all have come for this round, or even for the next. */
    uint32_t round = paths_gate_value(&c->gate) + 1, missing = 0;

    if (c->failing || c->closed || !slow_set(c))
        return false;
    /* One look at each: who comes after it finds the lock, and is late. */
    for (uint32_t i = 0; i < c->count; i++) {
        contribution *in = &c->inputs[i];
        in->member = has_come(in, round);
        missing += !in->member;
    }
    if (missing == 0) {
        /* Or the last one is about to be counted; he finds the lock. */
        for (uint32_t i = 0; i < c->count; i++)
            c->inputs[i].member = false;
        if (!c->late)
            atomic_fetch_and(&c->state, ~STATE_SLOW);
        return false;
    }
    c->failing = true;
    c->carrier = o;
    c->swapped = false;
    for (uint32_t i = 0; i < c->count; i++) {
        contribution *in = &c->inputs[i];
        if (in->member || in == own)
            continue;
        c->late += in->owes == 0;
        in->owes += in->owes < UINT16_MAX;
    }
    return true;
}

/* Names those who had not come when the round failed. Under the lock. */
static void missing(const collective *c, char *out, size_t room)
{
    const paths_map *map = c->stage->host->map;
    uint32_t left = 0;
    size_t used = 0;

    *out = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        char name[200];
        int length;
        if (c->inputs[i].member)
            continue;
        paths__collective_name(map, c->stage->node, i, name, sizeof(name));
        length = used + 300 < room ? snprintf(out + used, room - used, "%s%s",
                                              used ? ", " : "", name)
                                   : 0;
        used += (size_t)length;
        left += length == 0;
    }
    if (left)
        snprintf(out + used, room - used, " and %u more", left);
}

/* What the lock is to say of it: an error for the one who came. */
static int refused(const collective *c)
{
    return pastset_fail(
        c->why, "%s", c->why_text ? c->why_text : pastset_status_text(c->why));
}

static void pay(collective *c, contribution *in)
{
    if (--in->owes == 0 && --c->late == 0 && !c->failing && !c->closed)
        atomic_fetch_and(&c->state, ~STATE_SLOW);
}

/* Is there anybody to be told an error of this input by `text`? */
static int say(const collective *c, uint32_t input, int status)
{
    char name[200], text[700];

    snprintf(text, sizeof(text), "%s", pastset_error());
    paths__collective_name(c->stage->host->map, c->stage->node, input, name,
                           sizeof(name));
    return pastset_fail(status, "\"%s\": %s: %s", name_of(c), name, text);
}

/* --- coming --- */

/* Returns the number of the round. */
static uint32_t contribute(collective *c, contribution *in, operation *o)
{
    uint32_t round = paths_gate_value(&c->gate) + 1;

    in->op = o;
    in->status = ROUND_PENDING;
    in->due_ns = o->op.deadline_ns;
    o->gate_value = round - 1;
    /* Release: who sees the number sees the rest. */
    atomic_store_explicit(&in->round, round, memory_order_release);
    return round;
}

/* `gated` is asked for, since by now the contribution may be another's. */
static int wait_here(collective *c, operation *o, bool gated)
{
    if (gated)
        o->gate = &c->gate;
    return PATHS_HOLD; /* others: they may be complete and gone by now */
}

/* What a contribution does to the state. */
static uint32_t state_with(uint32_t state, const contribution *in, bool gated)
{
    state += gated ? 1 : 1 + STATE_OTHER;
    if (in->brings)
        state |= STATE_BRINGS;
    if (in->wants)
        state |= STATE_WANTS;
    if (in->due_ns)
        state |= STATE_TIMED;
    return state;
}

/* All have come, and `o` was the last. */
static int go_on(collective *c, paths_stage *stage, operation *o,
                 uint32_t state)
{
    int r;

    if (c->element)
        pastset_element_expect(c->element);
    r = paths__collective_combine(c, stage->input);
    if (r) {
        say(c, stage->input, r);
        text_set(o, pastset_error());
        o->op.status = r;
        c->carrier = o;
        c->swapped = false;
    } else {
        carry(c, o, &c->inputs[stage->input].carried, state);
    }
    return PATHS_PASS;
}

/* It takes part in a round that is failing: it gets that error too. */
static int join_failing(collective *c, contribution *in, operation *o)
{
    bool gated = in->gated;

    contribute(c, in, o);
    in->member = true;
    if (in->owes)
        pay(c, in);
    return wait_here(c, o, gated);
}

/* Coming, under the lock. `round` is the one for which it has contributed, and
 * may have failed meanwhile, in which case there may be another contribution
 * by this way already. `left`: see paths__unhold_again(). */
static int come_slowly(collective *c, paths_stage *stage, operation *o,
                       uint32_t round, bool gated, bool left)
{
    contribution *in = &c->inputs[stage->input];
    uint32_t old, state = 0;
    int r;

    pthread_mutex_lock(&c->lock);
    if (atomic_load(&in->round) != round || in->status != ROUND_PENDING ||
        (c->failing && in->member)) {
        r = wait_here(c, o, gated); /* it was seen, before we came here */
    } else if (c->failing && in->owes <= 1) {
        r = join_failing(c, in, o);
    } else if (c->closed || in->owes) {
        if (in->owes)
            pay(c, in);
        atomic_store(&in->round, 0);
        r = refused(c);
    } else {
        contribute(c, in, o); /* perhaps anew: rounds have failed meanwhile */
        old = atomic_load(&c->state);
        do {
            state = state_with(old, in, gated);
        } while (!atomic_compare_exchange_weak(&c->state, &old, state));
        r = all_have_come(c, state) ? PATHS_PASS : wait_here(c, o, gated);
    }
    pthread_mutex_unlock(&c->lock);
    if (r == PATHS_HOLD)
        return r;
    if (!gated)
        paths__unhold_again(o, left);
    return r == PATHS_PASS ? go_on(c, stage, o, state) : r;
}

/* A thread that waits for this operation alone can wait at the gate. Not one
 * that goes on for another collective: who releases it can release those who
 * wait there at once, without waking it first. */
static bool waits_at_gate(const operation *o)
{
    return o->home && paths__current == &o->home->executor &&
           !o->asynchronous && !o->left && o->carry_depth > PATHS_STAGES_MAX &&
           o->home->under_way == 0;
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
    pthread_mutex_lock(&c->lock);
    if (c->failing && in->owes <= 1 && may_wait) {
        r = join_failing(c, in, o);
    } else if (c->closed) {
        r = refused(c);
    } else if (in->owes) { /* its own error is that of a round long failed */
        pay(c, in);
        r = status;
    } else if (c->failing) { /* for it too; it may not wait for that one */
        r = status;
    } else {
        /* It cannot be too late: this way has not come yet. */
        o->op.status = status;
        fail(c, o, in);
        r = PATHS_PASS;
    }
    pthread_mutex_unlock(&c->lock);
    if (r != PATHS_HOLD && !gated && may_wait)
        paths__unhold_again(o, left);
    return r;
}

/* Its own mistake, told by this thread's error text. */
static int come_wrongly(collective *c, paths_stage *stage, operation *o, int r)
{
    say(c, stage->input, r);
    text_set(o, pastset_error());
    return come_spoilt(c, stage, o, r);
}

/* An error from above: where it is not that of a collective, whose text says
 * whose it is, but of a thread's own way, it is told here. */
static int come_with_error(collective *c, paths_stage *stage, operation *o)
{
    const paths_map *map = paths_stage_map(stage);
    const paths_map_node *node = paths_stage_node(stage);
    uint32_t source = paths__collective_source(map, node->in[stage->input]);

    if (map->nodes[source].kind == PATHS_THREAD) {
        pastset_fail(o->op.status, "%s",
                     o->text ? o->text : pastset_status_text(o->op.status));
        return come_wrongly(c, stage, o, o->op.status);
    }
    return come_spoilt(c, stage, o, o->op.status);
}

/* The one before it, by the same way, is still here. */
static int come_twice(collective *c, paths_stage *stage, operation *o)
{
    int r;

    pastset_fail(PASTSET_EINVAL,
                 "it contributed again before the round was complete");
    r = say(c, stage->input, PASTSET_EINVAL);
    pthread_mutex_lock(&c->lock);
    if (is_present(c, &c->inputs[stage->input]) && fail(c, o, NULL)) {
        text_set(o, pastset_error());
        o->op.status = r;
        r = PATHS_PASS;
    }
    pthread_mutex_unlock(&c->lock);
    return r;
}

static int collective_down(paths_stage *stage, paths_operation *op,
                           uint64_t *note)
{
    collective *c = stage->state;
    operation *o = operation_of(op);
    contribution *in = &c->inputs[stage->input];
    bool left = o->left, gated;
    uint32_t old, state, round;
    int r;

    (void)note;
    pastset_line_expect(&c->state);
    if (__builtin_expect(is_present(c, in), 0))
        return come_twice(c, stage, o);
    if (__builtin_expect(op->status != 0, 0))
        return come_with_error(c, stage, o);
    r = paths__collective_take(c, stage->input, op);
    if (__builtin_expect(r != 0, 0))
        return come_wrongly(c, stage, o, r);
    if (c->deadline_ns && !op->deadline_ns)
        op->deadline_ns = pastset_now_ns() + (int64_t)c->deadline_ns;
    gated = in->gated = waits_at_gate(o);
    if (!gated) {
        r = paths__hold(o);
        if (r)
            return come_wrongly(c, stage, o, r);
    }
    round = contribute(c, in, o);
    old = atomic_load_explicit(&c->state, memory_order_relaxed);
    do {
        if (__builtin_expect(old & STATE_SLOW, 0))
            return come_slowly(c, stage, o, round, gated, left);
        state = state_with(old, in, gated);
        /* Acquire and release: the last one sees all contributions. */
    } while (!atomic_compare_exchange_weak_explicit(
        &c->state, &old, state, memory_order_acq_rel, memory_order_relaxed));
    if (!all_have_come(c, state))
        return wait_here(c, o, gated);
    if (!gated)
        paths__unhold_again(o, left);
    return go_on(c, stage, o, state);
}

/* --- the carrier comes up --- */

static int collective_up(paths_stage *stage, paths_operation *op,
                         uint64_t *note)
{
    collective *c = stage->state;
    operation *o = operation_of(op);
    bool exchange, read;

    (void)note;
    if (c->carrier != o)
        return PATHS_PASS;
    exchange = op->verb == PASTSET_EXCHANGE;
    read = !exchange && op->verb != PASTSET_WRITE;
    if (c->swapped && !op->status) {
        if (exchange || read)
            c->bytes = exchange ? op->room : op->bytes;
        c->index = op->index;
        c->lost = op->lost;
    }
    carry_back(c, &c->inputs[stage->input].carried);
    if (op->status) {
        pthread_mutex_lock(&c->lock);
        release_failed(c, op->status,
                       o->text ? o->text : pastset_status_text(op->status), o);
        return PATHS_PASS;
    }
    paths__collective_came(c);
    release(c);
    /* Its own part last: until it comes again nobody changes the result. */
    op->status = paths__collective_deliver(c, stage->input, o);
    if (op->status)
        paths__keep_text(o, op->status);
    return PATHS_PASS;
}

int paths__collective_opened(paths_stage *stage, operation *o)
{
    collective *c = stage->state;
    contribution *in = &c->inputs[stage->input];

    if (in->status == ROUND_PENDING)
        return paths__collective_deliver(c, stage->input, o);
    text_take(o, in);
    return in->status;
}

/* Its time is up, or nobody waits for it any more. */
static bool collective_drop(paths_stage *stage, paths_operation *op)
{
    collective *c = stage->state;
    operation *o = operation_of(op);
    contribution *in = &c->inputs[stage->input];
    char text[1000];
    size_t used;
    bool dropped;

    pthread_mutex_lock(&c->lock);
    dropped = is_present(c, in) && in->op == o && fail(c, o, in);
    if (dropped && op->deadline_ns && pastset_now_ns() >= op->deadline_ns) {
        used = (size_t)snprintf(
            text, sizeof(text),
            "\"%s\", round %" PRIu32 ": did not come in time: ", name_of(c),
            paths_gate_value(&c->gate) + 1);
        missing(c, text + used, sizeof(text) - used);
        text_set(o, text);
    }
    pthread_mutex_unlock(&c->lock);
    return dropped;
}

/* --- the end of all rounds --- */

/* Who is there gets the error, unless their round is on its way: then its
 * carrier releases them, and sees that it is closed. */
static void close_now(collective *c)
{
    char text[1100];

    pthread_mutex_lock(&c->lock);
    snprintf(text, sizeof(text), "%s",
             c->why_text ? c->why_text : pastset_status_text(c->why));
    if (c->failing || !slow_set(c))
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
    pastset_fence_rarely();
    if (!before)
        close_now(c);
}

static collective *collective_of(const paths_stage *stage)
{
    return stage && stage->joins ? stage->state : NULL;
}

void paths__collectives_end(paths_host *host)
{
    int status = paths__host_failure(host);
    char text[1100];

    snprintf(text, sizeof(text), "%s", pastset_error());
    for (uint32_t i = 0; i < host->map->node_count; i++) {
        collective *c = collective_of(host->stages[i]);
        if (c && c->inputs)
            close_for(c, status, text);
    }
}

void paths__collectives_gone(paths_host *host, uint32_t gone, const char *why)
{
    for (uint32_t i = 0; i < host->map->node_count; i++) {
        collective *c = collective_of(host->stages[i]);
        if (c && paths__collective_touches(host->map, i, gone))
            close_for(c, PASTSET_EHOST, why);
    }
}

/* From the far end up: who is released here may end in turn, and is not to be
 * told of there before. */
void paths__collective_left(paths_stage *stage, const char *why)
{
    if (!stage)
        return;
    paths__collective_left(stage->next, why);
    if (stage->joins)
        close_for(stage->state, PASTSET_ECANCELED, why);
    else if (stage->type == &paths__proxy_type)
        paths__serve_left(stage, why);
}

/* --- making --- */

static int places_make(collective *c)
{
    const paths_map *map = c->stage->host->map;
    const paths_map_node *node = paths_stage_node(c->stage);

    c->places = calloc(c->count, sizeof(*c->places));
    c->places_count = calloc(c->count, sizeof(*c->places_count));
    if (!c->places || !c->places_count)
        return pastset_fail(PASTSET_ENOMEM, "no memory for a collective");
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
    const paths_map *map = c->stage->host->map;
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
    c->room = c->type.max_bytes;
    c->is_small = c->room <= sizeof(collective_shown(c)->small) &&
                  c->family < FAMILY_SCATTER;
    c->buffer = c->room <= sizeof(c->work) && c->family != FAMILY_ALLTOALL
                    ? c->work
                    : malloc(c->room);
    if (c->family == FAMILY_ALLTOALL && c->is_root)
        c->turned = malloc(c->room);
    c->inputs = aligned_alloc(64, c->count * sizeof(*c->inputs));
    if (!c->buffer || !c->inputs ||
        (c->family == FAMILY_ALLTOALL && c->is_root && !c->turned))
        return pastset_fail(PASTSET_ENOMEM, "no memory for a collective");
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
        c->stage->host->crowded ? PATHS_WAIT_YIELD : PATHS_WAIT_SPIN;
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
    c->stage = stage;
    c->count = node->in_count;
    c->family = (collective_family)paths__collective_family(node->type);
    waiting_choose(c, node);
    c->element = element_below(stage);
    err = paths_node_duration(map, node, "deadline", 0, &c->deadline_ns);
    if (!err)
        err = reduction_find(c, node);
    if (!err)
        err = tree_read(c);
    if (!err)
        err = buffers_make(c);
    if (err)
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
        .down = collective_down,                                               \
        .up = collective_up,                                                   \
        .drop = collective_drop,                                               \
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
