/* replay_slow.c - each actor has a remainder; at each moment all rates are
 * worked out anew, and all remainders are made smaller by what passed until
 * something happens. No heaps, no virtual times. Seconds throughout. */
#include "tests/predict/replay_slow.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum what { READY, COMPUTING, ASLEEP, WAITING, OVER };

typedef struct slow_actor {
    enum what what;
    size_t step;
    double need;   /* COMPUTING: processor time that is missing */
    double credit; /* and for how much of it it goes first */
    double until;  /* ASLEEP */
    double rested;
    bool serves;
} slow_actor;

typedef struct slow_state {
    const predict_scenario *s;
    const predict_profile *p;
    slow_actor *actors;
    double *came;    /* by message; INFINITY: not sent */
    double *free_at; /* two per link */
    double *served;  /* by node */
    double now;
    slow_replay out;
} slow_state;

static uint32_t place_of(const slow_state *x, size_t actor)
{
    return x->s->places[x->p->actors[actor].node];
}

static double load_of(const slow_state *x, uint32_t place)
{
    double load = 0;
    for (size_t i = 0; i < x->p->node_count; i++) {
        if (x->s->places[i] == place)
            load += x->s->loads[i];
    }
    return load;
}

static bool first(const slow_actor *a)
{
    return a->what == COMPUTING && a->credit > 0;
}

/* Of the processors of its place, what an actor has now. */
static double rate_of(const slow_state *x, size_t actor)
{
    uint32_t place = place_of(x, actor);
    double processors = x->s->processors[place], m = 0, n = 0, each;

    for (size_t i = 0; i < x->p->actor_count; i++) {
        if (place_of(x, i) == place) {
            m += first(&x->actors[i]);
            n += x->actors[i].what == COMPUTING && !first(&x->actors[i]);
        }
    }
    if (first(&x->actors[actor]))
        each = processors / m;
    else
        each = fmax(0, processors - m) / (n + load_of(x, place));
    return fmin(1, each);
}

static bool somebody_serves(const slow_state *x, uint32_t node)
{
    for (size_t i = 0; i < x->p->actor_count; i++) {
        if (x->p->actors[i].node == node && x->actors[i].serves &&
            x->actors[i].what == COMPUTING)
            return true;
    }
    return false;
}

static void begin(slow_state *x, size_t index, double ns)
{
    slow_actor *a = &x->actors[index];
    uint32_t node = x->p->actors[index].node;
    double load = load_of(x, x->s->places[node]), rested = a->rested;

    if (a->serves)
        rested = somebody_serves(x, node) ? x->now : x->served[node];
    if (load > 0 && x->now > rested)
        a->credit =
            fmin((x->now - rested) / load, x->s->schedulers[node].credit_s);
    a->need = ns * 1e-9 / x->s->speeds[node];
    a->what = COMPUTING;
    x->out.computing_s[node] += a->need;
    x->out.shared_s[node] -= a->need;
}

static void send(slow_state *x, uint32_t index)
{
    const predict_message *m = &x->p->messages[index];
    double carry = 0, latency = 0, start = x->now;

    for (size_t i = 0; i < x->p->link_count && m->from != m->to; i++) {
        const predict_link *l = &x->p->links[i];
        double *free_at = &x->free_at[2 * i + (m->from == l->b)];
        if (!(l->a == m->from && l->b == m->to) &&
            !(l->b == m->from && l->a == m->to))
            continue;
        start = fmax(x->now, *free_at);
        x->out.queued_s[i] += start - x->now;
        if (!isnan(x->s->wires[i].bandwidth))
            carry = (double)m->bytes / x->s->wires[i].bandwidth;
        if (!isnan(x->s->wires[i].latency_s))
            latency = x->s->wires[i].latency_s;
        *free_at = start + carry;
    }
    x->came[index] = start + carry + latency;
}

static void step(slow_state *x, size_t index)
{
    slow_actor *a = &x->actors[index];
    const predict_actor *actor = &x->p->actors[index];
    const predict_step *s = &x->p->steps[actor->step + a->step];

    if (a->step == actor->steps) {
        a->what = OVER;
        x->out.wall_s = fmax(x->out.wall_s, x->now);
        x->out.end_s[actor->node] = fmax(x->out.end_s[actor->node], x->now);
        return;
    }
    a->step++;
    if (s->kind == PREDICT_SEND)
        send(x, s->message);
    else if (s->kind == PREDICT_RECEIVE)
        a->what = WAITING;
    else if (s->kind == PREDICT_SLEEP) {
        a->what = ASLEEP;
        a->until = x->now + (double)s->ns * 1e-9;
        a->credit = 0;
    } else if (s->ns > 0)
        begin(x, index, (double)s->ns);
}

/* The message that a waiting actor waits for. */
static double *awaited(slow_state *x, size_t index)
{
    size_t at = x->p->actors[index].step + x->actors[index].step - 1;
    return &x->came[x->p->steps[at].message];
}

/* Everybody goes on who can, until nobody can. */
static void settle(slow_state *x)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t i = 0; i < x->p->actor_count; i++) {
            slow_actor *a = &x->actors[i];
            if (a->what == ASLEEP && a->until <= x->now)
                a->what = READY;
            if (a->what == WAITING && *awaited(x, i) <= x->now)
                a->what = READY;
            while (a->what == READY) {
                step(x, i);
                changed = true;
            }
        }
    }
}

/* How long until something happens to an actor. */
static double missing(slow_state *x, size_t i, double rate)
{
    slow_actor *a = &x->actors[i];

    if (a->what == ASLEEP)
        return a->until - x->now;
    if (a->what == WAITING)
        return *awaited(x, i) - x->now;
    if (a->what != COMPUTING || rate <= 0)
        return INFINITY;
    return (first(a) ? fmin(a->need, a->credit) : a->need) / rate;
}

static void pass(slow_state *x, size_t i, double rate, double time)
{
    slow_actor *a = &x->actors[i];
    uint32_t node = x->p->actors[i].node;

    if (a->what != COMPUTING)
        return;
    x->out.shared_s[node] += time;
    a->need -= rate * time;
    a->credit -= first(a) ? rate * time : 0;
    if (a->credit < 1e-13)
        a->credit = 0;
    if (a->need > 1e-13)
        return;
    a->what = READY;
    a->rested = x->now;
    if (a->serves)
        x->served[node] = x->now;
}

static bool proceed(slow_state *x, double *rates)
{
    double min = INFINITY;

    for (size_t i = 0; i < x->p->actor_count; i++) {
        rates[i] = rate_of(x, i);
        min = fmin(min, missing(x, i, rates[i]));
    }
    if (isinf(min))
        return false;
    /* What is due by then has come by then, for all rounding. */
    for (size_t i = 0; i < x->p->actor_count; i++) {
        if (x->actors[i].what == ASLEEP &&
            x->actors[i].until < x->now + min + 1e-13)
            x->actors[i].until = 0;
        if (x->actors[i].what == WAITING &&
            *awaited(x, i) < x->now + min + 1e-13)
            *awaited(x, i) = 0;
    }
    x->now += min;
    for (size_t i = 0; i < x->p->actor_count; i++)
        pass(x, i, rates[i], min);
    return true;
}

static void init(slow_state *x)
{
    const predict_profile *p = x->p;

    x->actors = calloc(p->actor_count, sizeof(*x->actors));
    x->came = calloc(p->message_count + 1, sizeof(*x->came));
    x->free_at = calloc(2 * p->link_count + 1, sizeof(*x->free_at));
    x->served = calloc(p->node_count, sizeof(*x->served));
    x->out.computing_s = calloc(p->node_count, sizeof(double));
    x->out.shared_s = calloc(p->node_count, sizeof(double));
    x->out.end_s = calloc(p->node_count, sizeof(double));
    x->out.queued_s = calloc(p->link_count + 1, sizeof(double));
    for (size_t i = 0; i < p->message_count; i++)
        x->came[i] = INFINITY;
    for (size_t i = 0; i < p->actor_count; i++) {
        slow_actor *a = &x->actors[i];
        const predict_actor *actor = &p->actors[i];
        a->serves =
            actor->steps > 0 && p->steps[actor->step].kind == PREDICT_RECEIVE;
        a->what = a->serves ? READY : ASLEEP;
        a->until = a->rested = (double)actor->start_ns * 1e-9;
    }
}

slow_replay slow_replay_run(const predict_scenario *scenario)
{
    slow_state x = {.s = scenario, .p = scenario->profile};
    double *rates = calloc(x.p->actor_count, sizeof(*rates));

    init(&x);
    do
        settle(&x);
    while (proceed(&x, rates));
    for (size_t i = 0; i < x.p->actor_count; i++)
        x.out.stuck += x.actors[i].what != OVER;
    free(rates);
    free(x.actors);
    free(x.came);
    free(x.free_at);
    free(x.served);
    return x.out;
}

void slow_replay_free(slow_replay *slow)
{
    free(slow->computing_s);
    free(slow->shared_s);
    free(slow->end_s);
    free(slow->queued_s);
}
