/* traces_steps.c - the steps of one operation on one host, from a collector
 * down to where it leaves the host or meets others, and up again.
 *
 * What it took beyond what others told it is known from the collectors: of a
 * message, the time between the collectors on both sides; after it was
 * released, the time until it came up. As far as a processor was needed for
 * that it is COMPUTE, the rest is SLEEP, which stands right behind the RECEIVE
 * (predict_profile_set_wire looks for it there). */
#include "measure/traces_internal.h"

#include <stdlib.h>

#define LONG_NS 1000000 /* who takes so long at an element has waited there */

/* --- adding --- */

static int add_step(traces *t, predict_step step)
{
    if (t->step_count == t->step_room) {
        size_t room = t->step_room ? 2 * t->step_room : 4096;
        predict_step *more = realloc(t->steps, room * sizeof(*more));
        if (!more)
            return traces__no_memory();
        t->steps = more;
        t->step_room = room;
    }
    t->steps[t->step_count++] = step;
    t->actors[t->actor_count - 1].steps++;
    return 0;
}

int traces__actor(traces *t, uint32_t host, int64_t start_ns)
{
    if (t->actor_count == t->actor_room) {
        size_t room = t->actor_room ? 2 * t->actor_room : 4096;
        traces_actor *more = realloc(t->actors, room * sizeof(*more));
        if (!more)
            return traces__no_memory();
        t->actors = more;
        t->actor_room = room;
    }
    t->actors[t->actor_count++] =
        (traces_actor){.host = host, .start_ns = start_ns < 0 ? 0 : start_ns};
    return 0;
}

/* Time after time of one kind is one. */
static int add_time(traces *t, predict_step_kind kind, int64_t ns)
{
    const traces_actor *actor = &t->actors[t->actor_count - 1];
    predict_step *last = actor->steps ? &t->steps[t->step_count - 1] : NULL;

    if (ns <= 0)
        return 0;
    if (last && last->kind == (uint32_t)kind) {
        last->ns += ns;
        return 0;
    }
    return add_step(t, (predict_step){kind, PREDICT_NONE, ns});
}

int traces__compute(traces *t, int64_t ns)
{
    return add_time(t, PREDICT_COMPUTE, ns);
}

int traces__sleep(traces *t, int64_t ns)
{
    return add_time(t, PREDICT_SLEEP, ns);
}

int traces__send(traces *t, size_t message, int64_t at_ns, uint64_t bytes,
                 uint32_t from, uint32_t to)
{
    traces_message *m = &t->messages[message];

    if (m->sent) /* damaged traces: two of the same name */
        return 0;
    m->sent = true;
    m->at_ns = at_ns < 0 ? 0 : at_ns;
    m->bytes = bytes;
    m->from = from;
    m->to = to;
    return add_step(t, (predict_step){PREDICT_SEND, (uint32_t)message, 0});
}

int traces__receive(traces *t, size_t message)
{
    return add_step(t, (predict_step){PREDICT_RECEIVE, (uint32_t)message, 0});
}

int64_t traces__cpu(const traces *t, uint32_t host, uint32_t thread,
                    int64_t from_ns, int64_t to_ns)
{
    int64_t ns;

    if (!t->cpu || to_ns <= from_ns)
        return 0;
    ns = t->cpu(t->context, host, thread, from_ns + t->start_ns,
                to_ns + t->start_ns);
    if (ns < 0)
        return 0;
    return ns < to_ns - from_ns ? ns : to_ns - from_ns;
}

int64_t traces__others_cpu(const traces *t, uint32_t host, uint32_t thread,
                           int64_t from_ns, int64_t to_ns, int64_t most_ns)
{
    const traces_host *h = &t->hosts[host];
    int64_t ns = 0;

    for (uint32_t i = 0; i < h->runner_count && ns < most_ns; i++) {
        const traces_runner *r = &h->runners[i];
        if (r->host != host || r->thread != thread)
            ns += traces__cpu(t, r->host, r->thread, from_ns, to_ns);
    }
    return ns < most_ns ? ns : most_ns;
}

/* --- where it goes --- */

traces_spot traces__bottom(const traces *t, uint32_t lane, uint32_t event)
{
    for (int depth = 0; depth < PATHS_PATH_NODES; depth++) {
        const traces_lane *l = &t->lanes[lane];
        if (l->kind != TRACES_LOCAL || l->below[event] == TRACES_NONE)
            break;
        event = l->below[event];
        lane = l->lower;
    }
    return (traces_spot){lane, event};
}

static bool leads_on(const traces_lane *l, uint32_t event)
{
    return l->below && l->below[event] != TRACES_NONE;
}

static size_t message_of(const traces *t, traces_spot at, uint32_t which)
{
    const traces_lane *l = &t->lanes[at.lane];

    return l->messages +
           (l->kind == TRACES_ELEMENT ? 3 : 2) * (size_t)at.event + which;
}

/* --- over a hop --- */

static int64_t least(int64_t a, int64_t b)
{
    int64_t less = a < b ? a : b;

    return less > 0 ? less : 0;
}

/* What is computed for a message takes longer while others use the processor,
 * by as much as they do. The replay finds that by itself, so it is no part of
 * what the message waits. */
static void leave_sharing(traces *t, traces_spot at, const traces_hop *times)
{
    const traces_lane *l = &t->lanes[at.lane];
    uint32_t below = l->below[at.event], far = t->lanes[l->lower].host;
    traces_message *request = &t->messages[message_of(t, at, 0)];
    traces_message *reply = request + 1;
    int64_t end_ns = traces__end(t, l->lower, below), ns;

    ns = traces__others_cpu(
        t, far, PATHS_NONE, traces__start(t, at.lane, at.event),
        traces__start(t, l->lower, below), request->service_ns);
    request->wait_ns = least(request->wait_ns, request->wait_ns - ns);
    ns = traces__others_cpu(t, far, PATHS_NONE, end_ns,
                            traces__end(t, at.lane, at.event),
                            reply->service_ns);
    ns += traces__others_cpu(t, l->host, l->events[at.event].thread, end_ns,
                             traces__end(t, at.lane, at.event), times->after);
    reply->wait_ns = least(reply->wait_ns, reply->wait_ns - ns);
}

traces_hop traces__divide(traces *t, traces_spot at, int64_t cpu_ns)
{
    const traces_lane *l = &t->lanes[at.lane];
    uint32_t below = l->below[at.event];
    traces_message *request = &t->messages[message_of(t, at, 0)];
    traces_message *reply = request + 1;
    int64_t there =
        traces__start(t, l->lower, below) - traces__start(t, at.lane, at.event);
    int64_t back =
        traces__end(t, at.lane, at.event) - traces__end(t, l->lower, below);
    traces_hop times;

    times.before = least(cpu_ns / 2, there);
    request->service_ns = least(request->loop_ns, there - times.before);
    request->wait_ns = there - times.before - request->service_ns;
    reply->service_ns = least(reply->loop_ns, back);
    times.after = least(cpu_ns - times.before, back - reply->service_ns);
    reply->wait_ns = back - reply->service_ns - times.after;
    if (t->cpu)
        leave_sharing(t, at, &times);
    return times;
}

static int send_request(traces *t, traces_spot at, int64_t later_ns)
{
    const traces_lane *l = &t->lanes[at.lane];

    return traces__send(t, message_of(t, at, 0),
                        traces__start(t, at.lane, at.event) + later_ns,
                        traces__request_bytes(t, at.lane, at.event), l->host,
                        t->lanes[l->lower].host);
}

static int receive_reply(traces *t, traces_spot at)
{
    size_t reply = message_of(t, at, 1);
    int err = traces__receive(t, reply);

    return err ? err : traces__sleep(t, t->messages[reply].wait_ns);
}

static int over_hop(traces *t, traces_spot at, int64_t cpu_ns)
{
    traces_hop times = traces__divide(t, at, cpu_ns);
    int err = traces__compute(t, times.before);

    if (!err)
        err = send_request(t, at, times.before);
    if (!err)
        err = receive_reply(t, at);
    return err ? err : traces__compute(t, times.after);
}

/* --- after it was released --- */

static int after(traces *t, traces_spot at, uint32_t thread, int64_t from_ns,
                 bool held)
{
    int64_t to_ns = traces__end(t, at.lane, at.event);
    int64_t all_ns = to_ns > from_ns ? to_ns - from_ns : 0, cpu_ns;
    int err;

    if (t->cpu && thread != PATHS_NONE)
        cpu_ns = traces__cpu(t, t->lanes[at.lane].host, thread, from_ns, to_ns);
    else
        cpu_ns = held || all_ns > LONG_NS ? 0 : all_ns;
    err = traces__sleep(t, all_ns - cpu_ns);
    return err ? err : traces__compute(t, cpu_ns);
}

/* --- at a collective --- */

/* When its round's result was there. */
static int64_t round_end(const traces *t, traces_spot at)
{
    const traces_lane *l = &t->lanes[at.lane];
    const scopes_rounds *rounds = t->rounds[l->meeting];
    uint32_t r = l->below[at.event], lower = rounds->meeting->lower;
    int64_t end_ns = INT64_MIN;

    if (lower != PATHS_NONE && t->lanes[lower].count)
        return traces__end(t, lower, rounds->below[r]);
    for (uint32_t i = 0; i < rounds->inputs; i++) {
        uint32_t e = rounds->events[(size_t)r * rounds->inputs + i];
        int64_t ns;
        if (e == SCOPES_MISSING)
            continue;
        ns = traces__start(t, rounds->meeting->inputs.ids[i], e);
        end_ns = ns > end_ns ? ns : end_ns;
    }
    return end_ns;
}

static int contribute(traces *t, traces_spot at)
{
    uint32_t host = t->lanes[at.lane].host;

    return traces__send(t, message_of(t, at, 0),
                        traces__start(t, at.lane, at.event), 0, host, host);
}

static int in_round(traces *t, traces_spot at, uint32_t thread)
{
    int64_t own_ns = traces__start(t, at.lane, at.event);
    int64_t end_ns = round_end(t, at);
    int err = contribute(t, at);

    if (!err)
        err = traces__receive(t, message_of(t, at, 1));
    return err ? err
               : after(t, at, thread, end_ns > own_ns ? end_ns : own_ns, true);
}

/* --- at an element --- */

static int release_others(traces *t, traces_spot at)
{
    const traces_lane *l = &t->lanes[at.lane];
    uint32_t message = l->release ? l->release[at.event] : TRACES_NONE;
    int err = 0;

    for (; message != TRACES_NONE && !err; message = t->messages[message].next)
        err = traces__send(t, message, traces__start(t, at.lane, at.event), 0,
                           l->host, l->host);
    return err;
}

/* When it could go on there. */
static int64_t element_end(const traces *t, traces_spot at, bool *held)
{
    scopes_cause cause = scopes_causes_of(t->causes, at.lane, at.event);
    int64_t own_ns = traces__start(t, at.lane, at.event), other_ns = own_ns;

    if (cause.collector != PATHS_NONE)
        other_ns = traces__start(t, cause.collector, cause.event);
    *held = other_ns > own_ns;
    return *held ? other_ns : own_ns;
}

int traces__at_element(traces *t, traces_spot at)
{
    int err = 0;

    if (scopes_causes_of(t->causes, at.lane, at.event).collector != PATHS_NONE)
        err = traces__receive(t, message_of(t, at, 0));
    return err ? err : release_others(t, at);
}

static int in_element(traces *t, traces_spot at, uint32_t thread)
{
    bool held;
    int64_t from_ns = element_end(t, at, &held);
    int err = traces__at_element(t, at);

    return err ? err : after(t, at, thread, from_ns, held);
}

/* --- all of it --- */

int traces__pass(traces *t, uint32_t lane, uint32_t event, uint32_t thread)
{
    traces_spot at = traces__bottom(t, lane, event);
    const traces_lane *l = &t->lanes[at.lane];
    int64_t start_ns = traces__start(t, lane, event);
    int64_t end_ns = traces__end(t, lane, event);
    int err =
        traces__compute(t, traces__start(t, at.lane, at.event) - start_ns);

    if (!err && l->kind == TRACES_REMOTE && leads_on(l, at.event))
        err = over_hop(t, at,
                       thread == PATHS_NONE
                           ? 0
                           : traces__cpu(t, l->host, thread, start_ns, end_ns));
    else if (!err && l->kind == TRACES_MEETING && leads_on(l, at.event))
        err = in_round(t, at, thread);
    else if (!err && l->kind == TRACES_ELEMENT)
        err = in_element(t, at, thread);
    else if (!err)
        err = after(t, at, thread, traces__start(t, at.lane, at.event), false);
    return err ? err
               : traces__compute(t, end_ns - traces__end(t, at.lane, at.event));
}

/* --- in two parts --- */

static int add_spot(traces *t, traces_spot at)
{
    if (t->spot_count == t->spot_room) {
        size_t room = t->spot_room ? 2 * t->spot_room : 64;
        traces_spot *more = realloc(t->spots, room * sizeof(*more));
        if (!more)
            return traces__no_memory();
        t->spots = more;
        t->spot_room = room;
    }
    t->spots[t->spot_count++] = at;
    return 0;
}

int traces__pass_begin(traces *t, uint32_t lane, uint32_t event)
{
    traces_spot at = traces__bottom(t, lane, event);
    const traces_lane *l = &t->lanes[at.lane];
    int err;

    if (l->kind == TRACES_REMOTE && leads_on(l, at.event)) {
        traces__divide(t, at, 0);
        return send_request(t, at, 0);
    }
    if (l->kind == TRACES_MEETING && leads_on(l, at.event))
        return contribute(t, at);
    if (l->kind != TRACES_ELEMENT)
        return 0;
    err =
        traces__send(t, message_of(t, at, 1),
                     traces__start(t, at.lane, at.event), 0, l->host, l->host);
    return err ? err : add_spot(t, at);
}

/* Since when what it waited for was there. */
static int64_t came_ns(const traces *t, traces_spot at)
{
    const traces_lane *l = &t->lanes[at.lane];
    bool held;

    if (l->kind == TRACES_MEETING)
        return round_end(t, at);
    if (l->kind == TRACES_ELEMENT)
        return element_end(t, at, &held);
    return traces__end(t, at.lane, at.event) -
           t->messages[message_of(t, at, 1)].wait_ns;
}

/* A result may have lain there while the thread did something else: that is no
 * part of what it waited for. */
int traces__pass_end(traces *t, uint32_t lane, uint32_t event,
                     int64_t looked_ns)
{
    traces_spot at = traces__bottom(t, lane, event);
    const traces_lane *l = &t->lanes[at.lane];
    int64_t from_ns;
    int err;

    if (l->kind == TRACES_LOCAL || l->kind == TRACES_NOTHING ||
        (l->kind != TRACES_ELEMENT && !leads_on(l, at.event)))
        return 0;
    from_ns = came_ns(t, at);
    if (from_ns < looked_ns)
        from_ns = looked_ns;
    err = traces__receive(t,
                          message_of(t, at, l->kind == TRACES_ELEMENT ? 2 : 1));
    return err ? err
               : traces__sleep(t, traces__end(t, at.lane, at.event) - from_ns);
}
