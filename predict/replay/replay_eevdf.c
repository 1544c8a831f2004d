/* replay_eevdf.c - one processor, its threads and a load, by the rules of the
 * scheduler of Linux.
 *
 * Each of those who are ready has a virtual time `v`, which goes on while it
 * runs, by 1/weight, and a deadline, one slice later than when it was last set.
 * V is the average of all v, by weight. Who is behind V, or at it, is eligible.
 *
 *   Choosing    Of the eligible ones, the one with the earliest deadline. Who
 *               runs stays, as long as it is eligible and has not reached the
 *               deadline that it had when it was chosen ("run to parity").
 *   When        As someone wakes up, and then only if it would be chosen, or if
 *               the one who runs has used up its slice; when who runs blocks;
 *               and at ticks, all 4 ms, if its slice is used up. So one that
 *               wakes up and is not chosen waits for the next tick, even if
 *               what it needs is very short.
 *   Polling     Who looks for a message all the time runs on without getting
 *               anywhere. If it yields whenever there is none, it gives up what
 *               is left of its slice: v becomes the deadline, and that one
 *               slice later (from 6.18 on). To yield does not help one of
 *               another session than the load; but as the scheduler looks each
 *               time, it loses the processor when its slice is over, and not at
 *               the tick after that.
 *   Sleeping    Who blocks takes its lag, V - v, along, be it ahead or behind,
 *               but not more than two slices or a tick; and has as much when it
 *               comes back, however long that takes.
 *
 * By the last rule a thread that is alone with the load loses load * busy, as
 * was measured for phases of 1.5 ms and more, after any idle time. (The kernel
 * also lets who is ahead pay by waiting in the queue while it sleeps. With that
 * rule this simulation was 11 to 16 % of load * busy off, for 2 and 3 processes
 * of load, without it 3 %; for whole programs it made no difference. So it is
 * left out.)
 *
 * These are the rules of kernel/sched/fair.c (6.12 to 6.18, as it is set by
 * default, 250 ticks per second), as far as they matter for threads of one
 * weight; and, where the load is of another session, by the weights of the two.
 * What is left out: several processors and moves among them, groups in groups,
 * priorities, the time that a change of threads takes.
 *
 * While no thread is ready nothing is due: ticks are made up for when one
 * begins. V is worked out by a pass over all who are ready; those are few. */
#include "predict/replay/replay_eevdf_internal.h"

#include <stdlib.h>

#include "pastset/status.h"
#include "predict/replay/replay_internal.h"

#define TICK_NS 4e6
/* In one tick of so many, something else wakes up and is done at once; then the
 * scheduler looks who is to run, too. */
#define TICKS_OF_OTHERS 8
/* Ticks that are made up for at most: enough for the load to take turns. */
#define MAX_TICKS 64
/* Virtual times are compared as if they were whole nanoseconds. */
#define ROUNDING_NS 1.0

typedef struct entity {
    double v, deadline, weight;
    double parity;      /* it is not interrupted before this v */
    double lag;         /* while it is not in the queue */
    replay_heap actors; /* of a thread, first come, first served */
    double need;        /* of the first of them */
    bool ready;         /* a thread that has not blocked yet */
    bool polls;         /* and waits by looking */
    bool gives_up;      /* when its slice is over, and it does */
    predict_waiting waiting;
} entity;

struct replay_eevdf {
    double slice;
    entity *entities; /* threads, then the load */
    uint32_t count;
    uint32_t *queue; /* those who are ready, and the load */
    uint32_t queued;
    uint32_t busy;    /* threads among these that do not poll */
    uint32_t running; /* entity */
    double now, next_tick;
    double other;    /* something else wakes up then; INFINITY: not before it */
    uint64_t random; /* 0: nothing does */
};

/* --- virtual time --- */

/* V, from the v of who is first, so that it stays exact. */
static double average(const replay_eevdf *q, double *weight)
{
    double base = q->queued ? q->entities[q->queue[0]].v : 0, sum = 0;

    *weight = 0;
    for (uint32_t i = 0; i < q->queued; i++) {
        const entity *e = &q->entities[q->queue[i]];
        sum += e->weight * (e->v - base);
        *weight += e->weight;
    }
    return *weight > 0 ? base + sum / *weight : 0;
}

static double lag_of(const replay_eevdf *q, const entity *e)
{
    double weight, max = fmax(2 * q->slice, TICK_NS) / e->weight;
    double lag = average(q, &weight) - e->v;

    return fmax(-max, fmin(max, lag));
}

static void renew(const replay_eevdf *q, entity *e)
{
    e->deadline = e->v + q->slice / e->weight;
}

/* Brings who runs up to now. */
static void run_on(replay_eevdf *q, double now)
{
    double passed = now - q->now;
    entity *e;

    q->now = now;
    if (q->running == PREDICT_NONE)
        return;
    e = &q->entities[q->running];
    e->v += passed / e->weight;
    e->need -= passed;
}

/* Whether who runs has had its slice, so that others should be looked at. */
static bool has_had_its_slice(replay_eevdf *q)
{
    entity *e;
    bool had;

    if (q->running == PREDICT_NONE)
        return true;
    e = &q->entities[q->running];
    had = e->v >= e->deadline;
    if (had)
        renew(q, e);
    return q->queued > 1 && (had || e->v >= e->parity);
}

/* --- the queue --- */

static void take_out(replay_eevdf *q, uint32_t index)
{
    uint32_t i = 0;

    while (q->queue[i] != index)
        i++;
    q->queue[i] = q->queue[--q->queued];
}

/* So that it has its lag still when it is among them. */
static void put_in(replay_eevdf *q, uint32_t index)
{
    entity *e = &q->entities[index];
    double weight;

    e->v = average(q, &weight);
    if (weight > 0)
        e->v -= e->lag * (weight + e->weight) / weight;
    renew(q, e);
    q->queue[q->queued++] = index;
}

static bool is_before(const replay_eevdf *q, uint32_t a, uint32_t b)
{
    double first = q->entities[a].deadline, second;

    if (b == PREDICT_NONE)
        return true;
    second = q->entities[b].deadline;
    return first < second || (first == second && a < b);
}

/* Who is to run. There is always one who is eligible. */
static uint32_t choose(const replay_eevdf *q)
{
    double weight, eligible = average(q, &weight) + ROUNDING_NS;
    const entity *running =
        q->running == PREDICT_NONE ? NULL : &q->entities[q->running];
    bool stays = running && running->v <= eligible;
    uint32_t best = PREDICT_NONE;

    if (stays && running->v < running->parity)
        return q->running;
    for (uint32_t i = 0; i < q->queued; i++) {
        uint32_t index = q->queue[i];
        if (index != q->running && q->entities[index].v <= eligible &&
            is_before(q, index, best))
            best = index;
    }
    if (stays && (best == PREDICT_NONE ||
                  running->deadline < q->entities[best].deadline))
        return q->running;
    return best;
}

static void let_run(replay_eevdf *q, uint32_t next)
{
    if (next != q->running && next != PREDICT_NONE)
        q->entities[next].parity = q->entities[next].deadline;
    q->running = next;
}

/* Who is behind by so many slices has to yield more than once. */
#define MOST_YIELDS 4

/* Whoever runs and finds nothing lets others go first, until there is one who
 * has something to do, or all have yielded. */
static void yield_on(replay_eevdf *q)
{
    for (uint32_t i = MOST_YIELDS; i < MOST_YIELDS * q->queued; i++) {
        entity *e = &q->entities[q->running];
        if (!e->polls || e->waiting != PREDICT_YIELDS || e->gives_up)
            return;
        e->v = fmax(e->v, e->deadline);
        renew(q, e);
        let_run(q, choose(q));
    }
}

static void switch_over(replay_eevdf *q)
{
    let_run(q, choose(q));
    if (q->running != PREDICT_NONE)
        yield_on(q);
}

/* --- what happens --- */

/* Of threads that look for what others do, it matters who has a processor at
 * the same time. By ticks alone that would never change. */
static void others_set(replay_eevdf *q)
{
    q->other = INFINITY;
    if (q->random == 0)
        return;
    q->random ^= q->random << 13; /* xorshift, 13 7 17 */
    q->random ^= q->random >> 7;
    q->random ^= q->random << 17;
    if (q->random % TICKS_OF_OTHERS == 0)
        q->other = q->next_tick -
                   TICK_NS * (double)(q->random >> 40) / (double)(1 << 24);
}

/* One that polls and yields, of another session than the load, has the
 * scheduler look again when its slice is over. */
static double slice_end(const replay_eevdf *q)
{
    const entity *e;

    if (q->running == PREDICT_NONE || q->queued < 2)
        return INFINITY;
    e = &q->entities[q->running];
    if (!e->polls || !e->gives_up)
        return INFINITY;
    return e->parity - e->v > ROUNDING_NS
               ? q->now + (e->parity - e->v) * e->weight
               : q->now;
}

/* When the scheduler looks next who is to run, if nobody wakes up or blocks. */
static double next_look(const replay_eevdf *q)
{
    return fmin(fmin(q->next_tick, q->other), slice_end(q));
}

static void look(replay_eevdf *q)
{
    double at = next_look(q);

    if (at == slice_end(q)) { /* exactly, where rounding left it before */
        entity *e = &q->entities[q->running];
        e->v = fmax(e->v, e->parity - (at - q->now) / e->weight);
    }
    run_on(q, at);
    if (at == q->next_tick) {
        q->next_tick += TICK_NS;
        others_set(q);
    } else if (at == q->other) {
        q->other = INFINITY;
    }
    if (has_had_its_slice(q))
        switch_over(q);
    /* Chosen once more, it has another slice. */
    if (slice_end(q) <= q->now)
        q->entities[q->running].parity = q->entities[q->running].deadline;
}

/* The load, those who poll, or nobody, since the last thread blocked. */
static void make_up(replay_eevdf *q, double now)
{
    double ticks =
        floor((now - q->next_tick) / TICK_NS) - (q->queued > 0 ? MAX_TICKS : 0);

    if (ticks > 0) {
        q->next_tick += ticks * TICK_NS;
        q->other += ticks * TICK_NS;
        q->now += ticks * TICK_NS;
    }
    while (next_look(q) <= now)
        look(q);
}

static void block(replay_eevdf *q)
{
    entity *e = &q->entities[q->running];

    e->ready = false;
    q->busy--;
    e->lag = lag_of(q, e);
    take_out(q, q->running);
    q->running = PREDICT_NONE;
    switch_over(q);
}

static void catch_up(replay_eevdf *q, double now)
{
    if (q->busy == 0)
        make_up(q, now);
    run_on(q, now);
}

static void wake(replay_eevdf *q, uint32_t thread)
{
    bool others = has_had_its_slice(q);

    q->entities[thread].ready = true;
    put_in(q, thread);
    if (others || choose(q) == thread)
        switch_over(q);
}

void predict__replay_eevdf_poll(replay_eevdf *q, double now, uint32_t thread)
{
    entity *e = &q->entities[thread];

    if (e->waiting == PREDICT_SLEEPS || e->polls || e->actors.count > 0)
        return;
    catch_up(q, now);
    e->polls = true;
    if (!e->ready) {
        wake(q, thread);
        return;
    }
    q->busy--;
    if (q->running == thread)
        yield_on(q);
}

int predict__replay_eevdf_begin(replay_eevdf *q, double now, uint32_t thread,
                                uint32_t actor, double need)
{
    entity *e = &q->entities[thread];

    catch_up(q, now);
    if (e->actors.count == 0)
        e->need = need;
    q->busy += !e->ready || e->polls;
    e->polls = false;
    if (!e->ready)
        wake(q, thread);
    if (q->running != thread && q->running != PREDICT_NONE)
        yield_on(q);
    return predict__replay_heap_push(&e->actors, 0, need, actor);
}

double predict__replay_eevdf_next(const replay_eevdf *q)
{
    const entity *e;
    double done;

    if (q->busy == 0)
        return INFINITY;
    e = &q->entities[q->running];
    if (!e->ready || e->polls) /* it is of the load, or nobody waits for it */
        return next_look(q);
    /* Without an actor it blocks, once all else of this moment is done. */
    done = e->actors.count > 0 ? q->now + fmax(0, e->need) : q->now;
    return fmin(done, next_look(q));
}

uint32_t predict__replay_eevdf_end(replay_eevdf *q)
{
    double next = predict__replay_eevdf_next(q);
    entity *e = &q->entities[q->running];
    replay_entry done;

    if (next == next_look(q)) {
        look(q);
        return PREDICT_NONE;
    }
    if (e->actors.count == 0) {
        block(q);
        return PREDICT_NONE;
    }
    run_on(q, next);
    done = predict__replay_heap_pop(&e->actors);
    if (e->actors.count > 0)
        e->need = e->actors.entries[0].rest;
    return done.actor;
}

/* --- begin and end --- */

void predict__replay_eevdf_set(replay_eevdf *q, uint32_t thread,
                               const replay_manner *how)
{
    entity *e = &q->entities[thread];

    e->weight = how->weight;
    e->waiting = how->waiting;
    e->gives_up = how->waiting == PREDICT_YIELDS && how->is_apart;
    if (how->waiting != PREDICT_SLEEPS)
        q->random = how->seed;
}

static void add_load(replay_eevdf *q, double load, uint32_t threads)
{
    for (uint32_t i = 0; i < q->count; i++)
        q->entities[i].weight = 1;
    for (uint32_t i = threads; i < q->count; i++) {
        q->entities[i].weight = fmin(1, load - (i - threads));
        q->entities[i].need = INFINITY;
        put_in(q, i);
    }
    switch_over(q);
}

int predict__replay_eevdf_create(replay_eevdf **out, double slice, double load,
                                 uint32_t threads)
{
    uint32_t count = threads + (uint32_t)ceil(load);
    replay_eevdf *q = calloc(1, sizeof(*q));

    *out = q;
    if (q) {
        q->entities = calloc(count, sizeof(*q->entities));
        q->queue = calloc(count, sizeof(*q->queue));
    }
    if (!q || !q->entities || !q->queue) {
        predict__replay_eevdf_destroy(q);
        *out = NULL;
        return pastset_no_memory("for a processor with %u threads and a "
                                 "load of %g",
                                 threads, load);
    }
    q->slice = slice;
    q->count = count;
    q->running = PREDICT_NONE;
    q->next_tick = TICK_NS;
    q->other = INFINITY;
    add_load(q, load, threads);
    return 0;
}

void predict__replay_eevdf_destroy(replay_eevdf *q)
{
    if (!q)
        return;
    for (uint32_t i = 0; i < q->count; i++)
        predict__replay_heap_fini(&q->entities[i].actors);
    free(q->entities);
    free(q->queue);
    free(q);
}
