/* traces_serve.c - what is done for others, each by an actor of its own: a
 * request of another host, the round of a collective, an operation whose
 * thread does something else meanwhile.
 *
 * A round's actor needs all contributions, whoever came last: under other
 * conditions that may be another one than in the run that was recorded. */
#include "measure/traces_internal.h"

static void divide_all(traces *t, uint32_t id)
{
    for (uint32_t e = 0; e < t->lanes[id].count; e++) {
        if (t->lanes[id].below[e] != TRACES_NONE)
            traces__divide(t, (traces_spot){id, e}, 0);
    }
}

int traces__serve_prepare(traces *t)
{
    int err = traces__loops(t);

    for (uint32_t id = 0; id < t->ways->collectors && !err; id++) {
        if (t->lanes[id].kind == TRACES_REMOTE)
            divide_all(t, id);
    }
    return err;
}

/* --- requests --- */

static int serve(traces *t, const traces_lane *l, uint32_t event)
{
    uint32_t below = l->below[event], far = t->lanes[l->lower].host;
    size_t request = l->messages + 2 * (size_t)event, reply = request + 1;
    const traces_message *there = &t->messages[request];
    const traces_message *back = &t->messages[reply];
    uint32_t lane = (uint32_t)(l - t->lanes);
    int err = traces__actor(t, far, traces__start(t, l->lower, below));

    if (!err)
        err = traces__receive(t, request);
    if (!err)
        err = traces__sleep(t, there->wait_ns);
    if (!err)
        err = traces__compute(t, there->service_ns);
    if (!err)
        err = traces__pass(t, l->lower, below, PATHS_NONE);
    if (!err)
        err = traces__compute(t, back->service_ns);
    if (!err)
        err = traces__send(t, reply,
                           traces__end(t, l->lower, below) + back->service_ns,
                           traces__reply_bytes(t, lane, event), far, l->host);
    if (err)
        return err;
    return traces__compute(t, there->loop_ns - there->service_ns +
                                  back->loop_ns - back->service_ns);
}

static int serve_lane(traces *t, uint32_t id)
{
    const traces_lane *l = &t->lanes[id];
    int err = 0;

    for (uint32_t e = 0; e < l->count && !err; e++) {
        if (l->below[e] != TRACES_NONE)
            err = serve(t, l, e);
    }
    return err;
}

/* --- rounds --- */

static int receive_all(traces *t, const scopes_rounds *rounds, uint32_t r,
                       int64_t *last_ns)
{
    const uint32_t *events = &rounds->events[(size_t)r * rounds->inputs];
    int err = 0;

    *last_ns = INT64_MIN;
    for (uint32_t i = 0; i < rounds->inputs && !err; i++) {
        uint32_t id = rounds->meeting->inputs.ids[i];
        int64_t ns;
        if (events[i] == SCOPES_MISSING)
            continue;
        ns = traces__start(t, id, events[i]);
        *last_ns = ns > *last_ns ? ns : *last_ns;
        err = traces__receive(t, t->lanes[id].messages + 2 * (size_t)events[i]);
    }
    return err;
}

static int send_all(traces *t, const scopes_rounds *rounds, uint32_t r,
                    int64_t at_ns)
{
    const uint32_t *events = &rounds->events[(size_t)r * rounds->inputs];
    uint32_t host = rounds->meeting->host;
    int err = 0;

    for (uint32_t i = 0; i < rounds->inputs && !err; i++) {
        uint32_t id = rounds->meeting->inputs.ids[i];
        if (events[i] != SCOPES_MISSING)
            err = traces__send(
                t, t->lanes[id].messages + 2 * (size_t)events[i] + 1, at_ns, 0,
                host, host);
    }
    return err;
}

static int meet(traces *t, const scopes_rounds *rounds, uint32_t r)
{
    uint32_t lower = rounds->meeting->lower;
    bool goes_on = lower != PATHS_NONE && t->lanes[lower].count;
    int64_t last_ns;
    int err = traces__actor(t, rounds->meeting->host, 0);

    if (!err)
        err = receive_all(t, rounds, r, &last_ns);
    if (!err && goes_on) {
        uint32_t below = rounds->below[r];
        int64_t start_ns = traces__start(t, lower, below);
        t->actors[t->actor_count - 1].start_ns = start_ns < 0 ? 0 : start_ns;
        if (last_ns != INT64_MIN)
            err = traces__compute(t, start_ns - last_ns);
        if (!err)
            err = traces__pass(t, lower, below, PATHS_NONE);
        last_ns = traces__end(t, lower, below);
    }
    return err ? err : send_all(t, rounds, r, last_ns);
}

/* --- operations that their threads began --- */

static int go_alone(traces *t, traces_spot at)
{
    const traces_lane *l = &t->lanes[at.lane];
    size_t message = l->messages + 3 * (size_t)at.event;
    int err = traces__actor(t, l->host, traces__start(t, at.lane, at.event));

    if (!err)
        err = traces__receive(t, message + 1);
    if (!err)
        err = traces__at_element(t, at);
    return err ? err
               : traces__send(t, message + 2, traces__end(t, at.lane, at.event),
                              0, l->host, l->host);
}

int traces__serve_all(traces *t)
{
    int err = 0;

    for (uint32_t id = 0; id < t->ways->collectors && !err; id++) {
        if (t->lanes[id].kind == TRACES_REMOTE)
            err = serve_lane(t, id);
    }
    for (uint32_t m = 0; m < t->ways->meeting_count && !err; m++) {
        for (uint32_t r = 0; r < t->rounds[m]->count && !err; r++)
            err = meet(t, t->rounds[m], r);
    }
    for (size_t i = 0; i < t->spot_count && !err; i++)
        err = go_alone(t, t->spots[i]);
    return err;
}
