/* replay.c - actors go through their steps; what happens next.
 *
 * Three kinds of moments: an actor has computed (the places know when), has
 * slept, or its message has come (one heap for both). At each of them one actor
 * goes on until it has to wait again. Two at the same moment go in a fixed
 * order: first those of the heap, in the order in which they were put there,
 * then places by their number; so a replay gives the same figures each time. */
#include "predict/replay/replay.h"

#include <stdlib.h>

#include "pastset/status.h"
#include "predict/replay/replay_eevdf_internal.h"
#include "predict/replay/replay_internal.h"

typedef struct actor_state {
    double rested; /* when it last computed, or began */
    size_t step;   /* steps that it has begun */
} actor_state;

typedef struct node_state {
    replay_place *place;
    double slowness; /* 1 by its speed */
    double credit;   /* of its scheduler model, ns */
    double need;     /* of its actors so far, ns */
    double present;  /* sum of the times that they computed, up to `now` */
    double now;
    double end;
    double served; /* when the last one who only serves was done */
    predict_waiting waiting;
    uint32_t computing;
    uint32_t serving; /* who only serve, among these */
} node_state;

/* A message's place in `came`: when it comes; or, before it was sent, who waits
 * for it, below 0. */
#define NOT_SENT (-1.0)

static double awaited_by(uint32_t actor)
{
    return -2.0 - actor;
}

typedef struct replay_state {
    const predict_scenario *scenario;
    const predict_profile *profile;
    double now;
    replay_heap moments;
    replay_processors processors;
    replay_link *links;
    node_state *nodes;
    actor_state *actors;
    uint32_t *threads; /* by actor */
    double *came;      /* by message */
    size_t ended;
    double wall;
    uint64_t events;
} replay_state;

/* --- steps --- */

/* Brings the sum of a node's computing times up to now. */
static void count_present(node_state *node, double now)
{
    node->present += node->computing * (now - node->now);
    node->now = now;
}

/* For how long an actor that begins to compute is served before others. */
static double credit_of(const replay_state *r, uint32_t index,
                        const node_state *node, double left)
{
    double rested = r->actors[index].rested, credit;

    if (node->place->load <= 0)
        return 0;
    if (predict__replay_serves(r->profile, &r->profile->actors[index]))
        rested = node->serving ? r->now : node->served;
    credit = fmin((r->now - rested) / node->place->load, node->credit);
    return fmax(credit, left);
}

static int compute(replay_state *r, uint32_t index, double need, double left)
{
    const predict_actor *actor = &r->profile->actors[index];
    node_state *node = &r->nodes[actor->node];
    double credit = credit_of(r, index, node, left);
    uint32_t place = r->scenario->places[actor->node];
    int err;

    count_present(node, r->now);
    node->computing++;
    node->serving += predict__replay_serves(r->profile, actor);
    node->need += need;
    if (node->place->eevdf)
        err = predict__replay_eevdf_begin(node->place->eevdf, r->now,
                                          r->threads[index], index, need);
    else
        err = predict__replay_place_begin(node->place, r->now, index, need,
                                          credit);
    predict__replay_processors_settle(&r->processors, place);
    return err;
}

static void computed(replay_state *r, uint32_t index)
{
    const predict_actor *actor = &r->profile->actors[index];
    node_state *node = &r->nodes[actor->node];

    count_present(node, r->now);
    node->computing--;
    r->actors[index].rested = r->now;
    if (predict__replay_serves(r->profile, actor)) {
        node->serving--;
        node->served = r->now;
    }
}

static int send(replay_state *r, uint32_t index)
{
    double *came = &r->came[index], before = *came;

    *came = predict__replay_links_send(r->links, r->profile,
                                       &r->profile->messages[index], r->now);
    if (before == NOT_SENT)
        return 0;
    return predict__replay_heap_push(&r->moments, *came, 0,
                                     (uint32_t)(-2.0 - before));
}

/* Those who serve, and are called for a message, sleep. */
static predict_waiting waiting_of(const replay_state *r, uint32_t index)
{
    const predict_actor *actor = &r->profile->actors[index];

    return predict__replay_serves(r->profile, actor)
               ? PREDICT_SLEEPS
               : r->nodes[actor->node].waiting;
}

/* The actor begins to look for a message, or has found it (-1). */
static void poll(replay_state *r, uint32_t index, int more)
{
    uint32_t place = r->scenario->places[r->profile->actors[index].node];
    replay_place *its = &r->processors.places[place];

    if (waiting_of(r, index) == PREDICT_SLEEPS)
        return;
    if (!its->eevdf && waiting_of(r, index) == PREDICT_SPINS)
        predict__replay_place_spin(its, r->now, more);
    else if (its->eevdf && more > 0)
        predict__replay_eevdf_poll(its->eevdf, r->now, r->threads[index]);
    predict__replay_processors_settle(&r->processors, place);
}

/* Whether the actor may go on at once; if not, it will be called. */
static bool receive(replay_state *r, uint32_t index, uint32_t message, int *err)
{
    double *came = &r->came[message];

    if (*came == NOT_SENT)
        *came = awaited_by(index);
    else if (*came > r->now)
        *err = predict__replay_heap_push(&r->moments, *came, 0, index);
    else
        return true;
    return false;
}

static void end(replay_state *r, uint32_t index)
{
    node_state *node = &r->nodes[r->profile->actors[index].node];

    r->ended++;
    node->end = r->now; /* time never goes back */
    r->wall = r->now;
}

/* Of one who looks for messages: in a call, where it uses the processor, even
 * if it is not known for what; or so short that others took the processor. */
#define SHORT_NS 50000

static bool is_busy(const replay_state *r, uint32_t index,
                    const predict_step *step, bool is_first)
{
    return waiting_of(r, index) != PREDICT_SLEEPS &&
           (step->ns < SHORT_NS ||
            (!is_first && (step[-1].kind == PREDICT_SEND ||
                           step[-1].kind == PREDICT_RECEIVE)));
}

/* The processor time that a step takes; 0: it needs none. In calls it is not
 * known to be more where the processor is slower. */
static double need_of(const replay_state *r, uint32_t index,
                      const predict_step *step, bool is_first)
{
    double slowness = r->nodes[r->profile->actors[index].node].slowness;

    if (step->kind == PREDICT_COMPUTE)
        return (double)step->ns * slowness;
    return is_busy(r, index, step, is_first) ? (double)step->ns : 0;
}

/* An actor's steps up to the next one that takes time. `left` of its credit. */
static int go_on(replay_state *r, uint32_t index, double left)
{
    const predict_actor *actor = &r->profile->actors[index];
    const predict_step *steps = r->profile->steps + actor->step;
    actor_state *state = &r->actors[index];
    int err = 0;

    while (state->step < actor->steps) {
        const predict_step *step = &steps[state->step++];
        if (step->kind == PREDICT_SEND)
            err = send(r, step->message);
        else if (step->kind == PREDICT_RECEIVE) {
            if (!receive(r, index, step->message, &err)) {
                poll(r, index, 1);
                return err;
            }
        } else if (step->ns > 0) {
            double need = need_of(r, index, step, step == steps);
            if (need > 0)
                return compute(r, index, need, left);
            return predict__replay_heap_push(
                &r->moments, r->now + (double)step->ns, 0, index);
        }
        if (err)
            return err;
    }
    end(r, index);
    return 0;
}

/* --- moments --- */

static int next_computed(replay_state *r, uint32_t index)
{
    replay_place *place = &r->processors.places[index];
    double left = 0;
    int err = 0;
    uint32_t actor;

    r->now = place->next;
    actor = predict__replay_place_end(place, &left, &err);
    if (!err && actor != PREDICT_NONE) {
        computed(r, actor);
        err = go_on(r, actor, left);
    }
    predict__replay_processors_settle(&r->processors, index);
    return err;
}

/* It has waited for a message, and not only slept. */
static bool has_waited(const replay_state *r, uint32_t index)
{
    size_t step = r->actors[index].step;

    return step > 0 &&
           r->profile->steps[r->profile->actors[index].step + step - 1].kind ==
               PREDICT_RECEIVE;
}

/* Who looks for a message has to run to find it. */
#define LOOK_NS 1.0

static int next_moment(replay_state *r)
{
    replay_entry entry = predict__replay_heap_pop(&r->moments);
    uint32_t index = entry.actor;

    r->now = entry.key;
    if (waiting_of(r, index) == PREDICT_SLEEPS || !has_waited(r, index))
        return go_on(r, index, 0);
    poll(r, index, -1);
    r->actors[index].rested = r->now; /* it has not */
    return compute(r, index, LOOK_NS, 0);
}

/* Beyond it, adding a tick of a scheduler to a time would not change it. */
#define LATEST_NS 1e21

static int run(replay_state *r)
{
    for (;; r->events++) {
        uint32_t place = predict__replay_processors_next(&r->processors);
        double next = r->processors.places[place].next;
        bool is_moment =
            r->moments.count > 0 && r->moments.entries[0].key <= next;
        int err;
        if (!is_moment && next == INFINITY)
            return 0;
        if (!((is_moment ? r->moments.entries[0].key : next) <= LATEST_NS))
            return pastset_fail(PASTSET_EINVAL,
                                "the program would take longer than 30,000 "
                                "years: links or processors are too slow to "
                                "be replayed");
        err = is_moment ? next_moment(r) : next_computed(r, place);
        if (err)
            return err;
    }
}

/* Who serves waits from the beginning; the others begin at their time. */
static int start(replay_state *r)
{
    int err = 0;

    for (size_t i = 0; i < r->profile->actor_count && !err; i++) {
        const predict_actor *actor = &r->profile->actors[i];
        r->actors[i].rested = (double)actor->start_ns;
        if (predict__replay_serves(r->profile, actor))
            err = go_on(r, (uint32_t)i, 0);
        else
            err = predict__replay_heap_push(
                &r->moments, (double)actor->start_ns, 0, (uint32_t)i);
    }
    return err;
}

/* --- conditions --- */

static int check_node(const predict_scenario *scenario, size_t i)
{
    const char *name = scenario->profile->nodes[i].name;
    double load = scenario->loads[i], speed = scenario->speeds[i];

    if (!(load >= 0) || isinf(load))
        return pastset_fail(PASTSET_EINVAL,
                            "node %s: a load of %g: it must be 0 or more", name,
                            load);
    if (!(speed > 0) || isinf(speed))
        return pastset_fail(PASTSET_EINVAL,
                            "node %s: a speed of %g: it must be above 0", name,
                            speed);
    if (!(scenario->schedulers[i].credit_s >= 0) ||
        !(scenario->schedulers[i].slice_s >= 0))
        return pastset_fail(PASTSET_EINVAL,
                            "node %s: its law has a credit of %g s and "
                            "a slice of %g s",
                            name, scenario->schedulers[i].credit_s,
                            scenario->schedulers[i].slice_s);
    if (scenario->waiting[i] >= PREDICT_WAITINGS)
        return pastset_fail(PASTSET_EINVAL,
                            "node %s: there is no way of waiting with the "
                            "number %u",
                            name, scenario->waiting[i]);
    if (scenario->places[i] >= scenario->profile->node_count ||
        scenario->processors[scenario->places[i]] == 0)
        return pastset_fail(PASTSET_EINVAL,
                            "node %s: its place %u has no processor", name,
                            scenario->places[i]);
    return 0;
}

static int set_nodes(replay_state *r)
{
    const predict_scenario *s = r->scenario;
    int err = predict__replay_processors_init(&r->processors,
                                              (uint32_t)r->profile->node_count);

    for (size_t i = 0; i < r->profile->node_count && !err; i++) {
        replay_place *place;
        err = check_node(s, i);
        if (err)
            break;
        place = &r->processors.places[s->places[i]];
        place->processors = s->processors[s->places[i]];
        place->load += s->loads[i];
        r->nodes[i] = (node_state){
            .place = place,
            .slowness = 1 / s->speeds[i],
            .credit = s->schedulers[i].credit_s * 1e9,
            .waiting = (predict_waiting)s->waiting[i],
        };
    }
    return err;
}

static void *zeroed(size_t count, size_t bytes)
{
    return calloc(count ? count : 1, bytes);
}

static int prepare(replay_state *r)
{
    const predict_profile *p = r->profile;
    int err;

    r->nodes = zeroed(p->node_count, sizeof(*r->nodes));
    r->links = zeroed(p->link_count, sizeof(*r->links));
    r->actors = zeroed(p->actor_count, sizeof(*r->actors));
    r->came = zeroed(p->message_count, sizeof(*r->came));
    if (!r->nodes || !r->links || !r->actors || !r->came)
        return pastset_no_memory("to replay %zu actors and %zu messages",
                                 p->actor_count, p->message_count);
    for (size_t i = 0; i < p->message_count; i++)
        r->came[i] = NOT_SENT;
    err = predict__replay_links_init(r->links, r->scenario);
    if (!err)
        err = set_nodes(r);
    if (!err)
        err = predict__replay_threads_assign(&r->threads, &r->processors,
                                             r->scenario);
    return err;
}

static void release(replay_state *r)
{
    predict__replay_heap_fini(&r->moments);
    predict__replay_processors_fini(&r->processors);
    free(r->nodes);
    free(r->links);
    free(r->actors);
    free(r->threads);
    free(r->came);
}

/* --- figures --- */

static int tell(predict_replay **out, replay_state *r)
{
    const predict_profile *p = r->profile;
    predict_replay *replay = calloc(1, sizeof(*replay));

    if (replay) {
        replay->nodes = zeroed(p->node_count, sizeof(*replay->nodes));
        replay->links = zeroed(p->link_count, sizeof(*replay->links));
    }
    if (!replay || !replay->nodes || !replay->links) {
        predict_replay_destroy(replay);
        return pastset_no_memory("for the figures of the replay");
    }
    replay->wall_s = r->wall / 1e9;
    replay->events = r->events;
    replay->stuck = p->actor_count - r->ended;
    for (size_t i = 0; i < p->node_count; i++) {
        node_state *node = &r->nodes[i];
        replay->nodes[i] = (predict_replay_node){
            .computing_s = node->need / 1e9,
            .shared_s = fmax(0, node->present - node->need) / 1e9,
            .end_s = node->end / 1e9,
        };
    }
    for (size_t i = 0; i < p->link_count; i++)
        replay->links[i] = (predict_replay_link){
            .messages = r->links[i].messages,
            .carrying_s = r->links[i].carrying / 1e9,
            .queued_s = r->links[i].queued / 1e9,
        };
    *out = replay;
    return 0;
}

int predict_replay_run(predict_replay **out, const predict_scenario *scenario)
{
    replay_state r = {.scenario = scenario, .profile = scenario->profile};
    int err;

    *out = NULL;
    if (r.profile->actor_count == 0)
        return pastset_fail(PASTSET_EINVAL,
                            "the profile has no actors: it does not show who "
                            "waited for whom, and cannot be replayed");
    if (r.profile->actor_count >= PREDICT_NONE)
        return pastset_fail(PASTSET_EINVAL, "%zu actors are too many to replay",
                            r.profile->actor_count);
    err = prepare(&r);
    if (err)
        goto done;
    err = start(&r);
    if (err)
        goto done;
    err = run(&r);
    if (err)
        goto done;
    err = tell(out, &r);
done:
    release(&r);
    return err;
}

void predict_replay_destroy(predict_replay *replay)
{
    if (!replay)
        return;
    free(replay->nodes);
    free(replay->links);
    free(replay);
}
