/* traces_serve.c - what is done for others, each by an actor of its own: a
 * request of another host, the round of a collective, an operation whose
 * thread does something else meanwhile.
 *
 * A round's actor needs all contributions, whoever came last: under other
 * conditions that may be another one than in the run that was recorded. */
#include "measure/traces/traces_internal.h"

static void divide_all(traces *t, uint32_t id)
{
    for (uint32_t e = 0; e < t->streams[id].count; e++) {
        if (t->streams[id].below[e] != TRACES_NONE)
            traces__divide(t, (traces_spot){id, e}, 0);
    }
}

int traces__serve_prepare(traces *t)
{
    int err = traces__loops(t);

    for (uint32_t id = 0; id < t->topology->collectors && !err; id++) {
        if (t->streams[id].kind == TRACES_REMOTE)
            divide_all(t, id);
    }
    return err;
}

/* --- requests --- */

static void serve(traces *t, const traces_stream *l, uint32_t event)
{
    uint32_t below = l->below[event], far = t->streams[l->lower].host;
    size_t request = l->messages + 2 * (size_t)event, reply = request + 1;
    const traces_message *there = &t->messages[request];
    const traces_message *back = &t->messages[reply];
    uint32_t stream = (uint32_t)(l - t->streams);

    traces__actor(t, far, traces__start(t, l->lower, below));
    traces__receive(t, request);
    traces__sleep(t, there->wait_ns);
    traces__compute(t, there->service_ns);
    traces__pass(t, l->lower, below, PATHS_NONE);
    traces__compute(t, back->service_ns);
    traces__send(t, reply, traces__end(t, l->lower, below) + back->service_ns,
                 traces__reply_bytes(t, stream, event), far, l->host);
    traces__compute(t, there->loop_ns - there->service_ns + back->loop_ns -
                           back->service_ns);
}

static void serve_stream(traces *t, uint32_t id)
{
    const traces_stream *l = &t->streams[id];

    for (uint32_t e = 0; e < l->count; e++) {
        if (l->below[e] != TRACES_NONE)
            serve(t, l, e);
    }
}

/* --- rounds --- */

/* Gives when the last of them came; INT64_MIN: there are none. */
static int64_t receive_all(traces *t, const scopes_rounds *rounds, uint32_t r)
{
    const uint32_t *events = &rounds->events[(size_t)r * rounds->inputs];
    int64_t last_ns = INT64_MIN;

    for (uint32_t i = 0; i < rounds->inputs; i++) {
        uint32_t id = rounds->site->inputs.ids[i];
        int64_t ns;
        if (events[i] == SCOPES_MISSING)
            continue;
        ns = traces__start(t, id, events[i]);
        last_ns = ns > last_ns ? ns : last_ns;
        traces__receive(t, t->streams[id].messages + 2 * (size_t)events[i]);
    }
    return last_ns;
}

static void send_all(traces *t, const scopes_rounds *rounds, uint32_t r,
                     int64_t at_ns)
{
    const uint32_t *events = &rounds->events[(size_t)r * rounds->inputs];
    uint32_t host = rounds->site->host;

    for (uint32_t i = 0; i < rounds->inputs; i++) {
        uint32_t id = rounds->site->inputs.ids[i];
        if (events[i] != SCOPES_MISSING)
            traces__send(t, t->streams[id].messages + 2 * (size_t)events[i] + 1,
                         at_ns, 0, host, host);
    }
}

static void meet(traces *t, const scopes_rounds *rounds, uint32_t r)
{
    uint32_t lower = rounds->site->lower;
    bool goes_on = lower != PATHS_NONE && t->streams[lower].count;
    uint32_t below = goes_on ? rounds->below[r] : TRACES_NONE;
    int64_t start_ns = goes_on ? traces__start(t, lower, below) : 0, last_ns;

    traces__actor(t, rounds->site->host, start_ns);
    last_ns = receive_all(t, rounds, r);
    if (goes_on) {
        if (last_ns != INT64_MIN)
            traces__compute(t, start_ns - last_ns);
        traces__pass(t, lower, below, PATHS_NONE);
        last_ns = traces__end(t, lower, below);
    }
    send_all(t, rounds, r, last_ns);
}

/* --- operations that their threads began --- */

static void go_alone(traces *t, traces_spot at)
{
    const traces_stream *l = &t->streams[at.stream];
    size_t message = l->messages + 3 * (size_t)at.event;

    traces__actor(t, l->host, traces__start(t, at.stream, at.event));
    traces__receive(t, message + 1);
    traces__at_element(t, at);
    traces__send(t, message + 2, traces__end(t, at.stream, at.event), 0,
                 l->host, l->host);
}

void traces__serve_all(traces *t)
{
    for (uint32_t id = 0; id < t->topology->collectors; id++) {
        if (t->streams[id].kind == TRACES_REMOTE)
            serve_stream(t, id);
    }
    for (uint32_t m = 0; m < t->topology->site_count; m++) {
        for (uint32_t r = 0; r < t->rounds[m]->count; r++)
            meet(t, t->rounds[m], r);
    }
    for (size_t i = 0; i < t->spot_count; i++)
        go_alone(t, t->spots[i]);
}
