/* traces_serve.c - what is done for others, each by an actor of its own: a
 * request of another process, the round of a collective, an operation whose
 * thread does something else meanwhile.
 *
 * A round's actor needs all contributions, whoever came last: under other
 * conditions that may be another one than in the run that was recorded. */
#include "measure/traces/traces_internal.h"

static void divide_all(traces *t, uint32_t id)
{
    for (uint32_t e = 0; e < t->streams[id].count; e++) {
        if (t->streams[id].below[e] != TRACES_NONE)
            measure__traces_divide(t, (traces_spot){id, e}, 0);
    }
}

int measure__traces_serve_prepare(traces *t)
{
    int err = measure__traces_loops(t);

    for (uint32_t id = 0; id < t->topology->collectors && !err; id++) {
        if (t->streams[id].kind == TRACES_REMOTE)
            divide_all(t, id);
    }
    return err;
}

/* --- requests --- */

static void serve(traces *t, const traces_stream *l, uint32_t event)
{
    uint32_t below = l->below[event], far = t->streams[l->lower].process;
    size_t request = l->messages + 2 * (size_t)event, reply = request + 1;
    const traces_message *there = &t->messages[request];
    const traces_message *back = &t->messages[reply];
    uint32_t stream = (uint32_t)(l - t->streams);

    measure__traces_actor(t, far, measure__traces_start(t, l->lower, below));
    measure__traces_receive(t, request);
    measure__traces_sleep(t, there->wait_ns);
    measure__traces_compute(t, there->service_ns);
    measure__traces_pass(t, l->lower, below, PATHS_NONE);
    measure__traces_compute(t, back->service_ns);
    measure__traces_send(
        t, reply, measure__traces_end(t, l->lower, below) + back->service_ns,
        measure__traces_reply_bytes(t, stream, event), far, l->process);
    measure__traces_compute(t, there->loop_ns - there->service_ns +
                                   back->loop_ns - back->service_ns);
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
        ns = measure__traces_start(t, id, events[i]);
        last_ns = ns > last_ns ? ns : last_ns;
        measure__traces_receive(t, t->streams[id].messages +
                                       2 * (size_t)events[i]);
    }
    return last_ns;
}

static void send_all(traces *t, const scopes_rounds *rounds, uint32_t r,
                     int64_t at_ns)
{
    const uint32_t *events = &rounds->events[(size_t)r * rounds->inputs];
    uint32_t process = rounds->site->process;

    for (uint32_t i = 0; i < rounds->inputs; i++) {
        uint32_t id = rounds->site->inputs.ids[i];
        if (events[i] != SCOPES_MISSING)
            measure__traces_send(
                t, t->streams[id].messages + 2 * (size_t)events[i] + 1, at_ns,
                0, process, process);
    }
}

static void meet(traces *t, const scopes_rounds *rounds, uint32_t r)
{
    uint32_t lower = rounds->site->lower;
    bool goes_on = lower != PATHS_NONE && t->streams[lower].count;
    uint32_t below = goes_on ? rounds->below[r] : TRACES_NONE;
    int64_t start_ns = goes_on ? measure__traces_start(t, lower, below) : 0,
            last_ns;

    measure__traces_actor(t, rounds->site->process, start_ns);
    last_ns = receive_all(t, rounds, r);
    if (goes_on) {
        if (last_ns != INT64_MIN)
            measure__traces_compute(t, start_ns - last_ns);
        measure__traces_pass(t, lower, below, PATHS_NONE);
        last_ns = measure__traces_end(t, lower, below);
    }
    send_all(t, rounds, r, last_ns);
}

/* --- operations that their threads began --- */

static void go_alone(traces *t, traces_spot at)
{
    const traces_stream *l = &t->streams[at.stream];
    size_t message = l->messages + 3 * (size_t)at.event;

    measure__traces_actor(t, l->process,
                          measure__traces_start(t, at.stream, at.event));
    measure__traces_receive(t, message + 1);
    measure__traces_at_element(t, at);
    measure__traces_send(t, message + 2,
                         measure__traces_end(t, at.stream, at.event), 0,
                         l->process, l->process);
}

void measure__traces_serve_all(traces *t)
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
