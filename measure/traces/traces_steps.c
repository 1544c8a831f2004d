/* traces_steps.c - the steps of one operation in one process, from a collector
 * down to where it leaves the process or meets others, and up again.
 *
 * What it took beyond what others told it is known from the collectors: of a
 * message, the time between the collectors on both sides; after it was
 * released, the time until it came up. As far as a processor was needed for
 * that it is COMPUTE, the rest is SLEEP, which stands right behind the RECEIVE
 * (predict_profile_set_wires looks for it there). */
#include "measure/traces/traces_internal.h"

#include <stdlib.h>

#include "pastset/array.h"

#define LONG_NS 1000000 /* who takes so long at an element has waited there */

/* --- adding --- */

/* Room for one more; false: there is none, now or before. */
static bool grow(traces *t, void **items, size_t count, size_t bytes)
{
    void *more = t->err ? NULL : pastset_array_grow(*items, count, bytes);

    if (more)
        *items = more;
    else if (!t->err)
        t->err = measure__traces_no_memory();
    return more != NULL;
}

static void add_step(traces *t, predict_step step)
{
    void *steps = t->steps;

    if (!grow(t, &steps, t->step_count, sizeof(step)))
        return;
    t->steps = steps;
    t->steps[t->step_count++] = step;
    t->actors[t->actor_count - 1].steps++;
}

void measure__traces_actor(traces *t, uint32_t process, int64_t start_ns)
{
    void *actors = t->actors;

    if (!grow(t, &actors, t->actor_count, sizeof(*t->actors)))
        return;
    t->actors = actors;
    t->actors[t->actor_count++] = (traces_actor){
        .process = process, .start_ns = start_ns < 0 ? 0 : start_ns};
}

/* Time after time of one kind is one. */
static void add_time(traces *t, predict_step_kind kind, int64_t ns)
{
    predict_step *last = NULL;

    if (ns <= 0 || t->err)
        return;
    if (t->actors[t->actor_count - 1].steps)
        last = &t->steps[t->step_count - 1];
    if (last && last->kind == (uint32_t)kind)
        last->ns += ns;
    else
        add_step(t, (predict_step){kind, PREDICT_NONE, ns});
}

void measure__traces_compute(traces *t, int64_t ns)
{
    add_time(t, PREDICT_COMPUTE, ns);
}

void measure__traces_sleep(traces *t, int64_t ns)
{
    add_time(t, PREDICT_SLEEP, ns);
}

void measure__traces_send(traces *t, size_t message, int64_t at_ns,
                          uint64_t bytes, uint32_t from, uint32_t to)
{
    traces_message *m = &t->messages[message];

    if (m->sent) /* damaged traces: two of the same name */
        return;
    m->sent = true;
    m->at_ns = at_ns < 0 ? 0 : at_ns;
    m->bytes = bytes;
    m->from = from;
    m->to = to;
    add_step(t, (predict_step){PREDICT_SEND, (uint32_t)message, 0});
}

void measure__traces_receive_early(traces *t, size_t message, int64_t early_ns)
{
    add_step(t, (predict_step){PREDICT_RECEIVE, (uint32_t)message, early_ns});
}

void measure__traces_receive(traces *t, size_t message)
{
    measure__traces_receive_early(t, message, 0);
}

int64_t measure__traces_cpu(const traces *t, uint32_t process, uint32_t thread,
                            int64_t from_ns, int64_t to_ns)
{
    int64_t ns;

    if (!t->times.cpu || to_ns <= from_ns)
        return 0;
    ns = t->times.cpu(t->times.context, process, thread, from_ns + t->start_ns,
                      to_ns + t->start_ns);
    if (ns < 0)
        return 0;
    return ns < to_ns - from_ns ? ns : to_ns - from_ns;
}

int64_t measure__traces_others_cpu(const traces *t, uint32_t process,
                                   uint32_t thread, int64_t from_ns,
                                   int64_t to_ns, int64_t max_ns)
{
    const traces_process *h = &t->processes[process];
    int64_t ns = 0;

    for (uint32_t i = 0; i < h->runner_count && ns < max_ns; i++) {
        const traces_runner *r = &h->runners[i];
        if (r->process != process || r->thread != thread)
            ns += measure__traces_cpu(t, r->process, r->thread, from_ns, to_ns);
    }
    return ns < max_ns ? ns : max_ns;
}

void measure__traces_finish(traces *t, uint32_t process, uint32_t thread,
                            int64_t from_ns, int64_t wall_ns)
{
    int64_t cpu_ns;

    if (wall_ns <= from_ns)
        return;
    cpu_ns = measure__traces_cpu(t, process, thread, from_ns, wall_ns);
    measure__traces_compute(t, cpu_ns);
    /* What comes after the last of all is for nobody to wait for. */
    if (from_ns >= t->last_ns)
        measure__traces_sleep(t, wall_ns - from_ns - cpu_ns);
}

/* --- where it goes --- */

/* The lowest event of the operation in this process. */
static traces_spot bottom_of(const traces *t, uint32_t stream, uint32_t event)
{
    for (int depth = 0; depth < PATHS_PATH_NODES; depth++) {
        const traces_stream *l = &t->streams[stream];
        if (l->kind != TRACES_LOCAL || l->below[event] == TRACES_NONE)
            break;
        event = l->below[event];
        stream = l->lower;
    }
    return (traces_spot){stream, event};
}

static bool leads_on(const traces_stream *l, uint32_t event)
{
    return l->below && l->below[event] != TRACES_NONE;
}

static size_t message_of(const traces *t, traces_spot at, uint32_t which)
{
    const traces_stream *l = &t->streams[at.stream];

    return l->messages +
           (l->kind == TRACES_ELEMENT ? 3 : 2) * (size_t)at.event + which;
}

/* --- over a hop --- */

static int64_t min(int64_t a, int64_t b)
{
    int64_t less = a < b ? a : b;

    return less > 0 ? less : 0;
}

/* What is computed for a message takes longer while others use the processor,
 * by as much as they do. The replay finds that by itself, so it is no part of
 * what the message waits. */
static void leave_sharing(traces *t, traces_spot at, const traces_hop *times)
{
    const traces_stream *l = &t->streams[at.stream];
    uint32_t below = l->below[at.event], far = t->streams[l->lower].process;
    traces_message *request = &t->messages[message_of(t, at, 0)];
    traces_message *reply = request + 1;
    int64_t end_ns = measure__traces_end(t, l->lower, below), ns;

    ns = measure__traces_others_cpu(
        t, far, PATHS_NONE, measure__traces_start(t, at.stream, at.event),
        measure__traces_start(t, l->lower, below), request->service_ns);
    request->wait_ns = min(request->wait_ns, request->wait_ns - ns);
    ns = measure__traces_others_cpu(t, far, PATHS_NONE, end_ns,
                                    measure__traces_end(t, at.stream, at.event),
                                    reply->service_ns);
    ns += measure__traces_others_cpu(
        t, l->process, scopes_event_at(l->events, at.event)->thread, end_ns,
        measure__traces_end(t, at.stream, at.event), times->after);
    reply->wait_ns = min(reply->wait_ns, reply->wait_ns - ns);
}

traces_hop measure__traces_divide(traces *t, traces_spot at, int64_t cpu_ns)
{
    const traces_stream *l = &t->streams[at.stream];
    uint32_t below = l->below[at.event];
    traces_message *request = &t->messages[message_of(t, at, 0)];
    traces_message *reply = request + 1;
    int64_t there = measure__traces_start(t, l->lower, below) -
                    measure__traces_start(t, at.stream, at.event);
    int64_t back = measure__traces_end(t, at.stream, at.event) -
                   measure__traces_end(t, l->lower, below);
    traces_hop times;

    times.before = min(cpu_ns / 2, there);
    request->service_ns = min(request->loop_ns, there - times.before);
    request->wait_ns = there - times.before - request->service_ns;
    reply->service_ns = min(reply->loop_ns, back);
    times.after = min(cpu_ns - times.before, back - reply->service_ns);
    reply->wait_ns = back - reply->service_ns - times.after;
    if (t->times.cpu)
        leave_sharing(t, at, &times);
    return times;
}

static void send_request(traces *t, traces_spot at, int64_t later_ns)
{
    const traces_stream *l = &t->streams[at.stream];

    measure__traces_send(t, message_of(t, at, 0),
                         measure__traces_start(t, at.stream, at.event) +
                             later_ns,
                         measure__traces_request_bytes(t, at.stream, at.event),
                         l->process, t->streams[l->lower].process);
}

static void receive_reply(traces *t, traces_spot at)
{
    size_t reply = message_of(t, at, 1);

    measure__traces_receive(t, reply);
    measure__traces_sleep(t, t->messages[reply].wait_ns);
}

static void over_hop(traces *t, traces_spot at, int64_t cpu_ns)
{
    traces_hop times = measure__traces_divide(t, at, cpu_ns);

    measure__traces_compute(t, times.before);
    send_request(t, at, times.before);
    receive_reply(t, at);
    measure__traces_compute(t, times.after);
}

/* --- after it was released --- */

static void after(traces *t, traces_spot at, uint32_t thread, int64_t from_ns,
                  bool held)
{
    int64_t to_ns = measure__traces_end(t, at.stream, at.event);
    int64_t all_ns = to_ns > from_ns ? to_ns - from_ns : 0, cpu_ns;

    if (t->times.cpu && thread != PATHS_NONE)
        cpu_ns = measure__traces_cpu(t, t->streams[at.stream].process, thread,
                                     from_ns, to_ns);
    else
        cpu_ns = held || all_ns > LONG_NS ? 0 : all_ns;
    measure__traces_sleep(t, all_ns - cpu_ns);
    measure__traces_compute(t, cpu_ns);
}

/* --- at a collective --- */

/* When its round's result was there. */
static int64_t round_end(const traces *t, traces_spot at)
{
    const traces_stream *l = &t->streams[at.stream];
    const scopes_rounds *rounds = t->rounds[l->site];
    uint32_t r = l->below[at.event], lower = rounds->site->lower;
    int64_t end_ns = INT64_MIN;

    if (lower != PATHS_NONE && t->streams[lower].count)
        return measure__traces_end(t, lower, rounds->below[r]);
    for (uint32_t i = 0; i < rounds->inputs; i++) {
        uint32_t e = rounds->events[(size_t)r * rounds->inputs + i];
        int64_t ns;
        if (e == SCOPES_MISSING)
            continue;
        ns = measure__traces_start(t, rounds->site->inputs.ids[i], e);
        end_ns = ns > end_ns ? ns : end_ns;
    }
    return end_ns;
}

static void contribute(traces *t, traces_spot at)
{
    uint32_t process = t->streams[at.stream].process;

    measure__traces_send(t, message_of(t, at, 0),
                         measure__traces_start(t, at.stream, at.event), 0,
                         process, process);
}

static void in_round(traces *t, traces_spot at, uint32_t thread)
{
    int64_t own_ns = measure__traces_start(t, at.stream, at.event);
    int64_t end_ns = round_end(t, at);

    contribute(t, at);
    measure__traces_receive(t, message_of(t, at, 1));
    after(t, at, thread, end_ns > own_ns ? end_ns : own_ns, true);
}

/* --- at an element --- */

static void release_others(traces *t, traces_spot at)
{
    const traces_stream *l = &t->streams[at.stream];
    uint32_t message = l->release ? l->release[at.event] : TRACES_NONE;

    for (; message != TRACES_NONE; message = t->messages[message].next)
        measure__traces_send(t, message,
                             measure__traces_start(t, at.stream, at.event), 0,
                             l->process, l->process);
}

/* When it could go on there. */
static int64_t element_end(const traces *t, traces_spot at, bool *held)
{
    scopes_cause cause = scopes_causes_of(t->causes, at.stream, at.event);
    int64_t own_ns = measure__traces_start(t, at.stream, at.event),
            other_ns = own_ns;

    if (cause.collector != PATHS_NONE)
        other_ns = measure__traces_start(t, cause.collector, cause.event);
    *held = other_ns > own_ns;
    return *held ? other_ns : own_ns;
}

void measure__traces_at_element(traces *t, traces_spot at)
{
    if (scopes_causes_of(t->causes, at.stream, at.event).collector !=
        PATHS_NONE)
        measure__traces_receive(t, message_of(t, at, 0));
    release_others(t, at);
}

static void in_element(traces *t, traces_spot at, uint32_t thread)
{
    bool held;
    int64_t from_ns = element_end(t, at, &held);

    measure__traces_at_element(t, at);
    after(t, at, thread, from_ns, held);
}

/* --- all of it --- */

void measure__traces_pass(traces *t, uint32_t stream, uint32_t event,
                          uint32_t thread)
{
    traces_spot at = bottom_of(t, stream, event);
    const traces_stream *l = &t->streams[at.stream];
    int64_t start_ns = measure__traces_start(t, stream, event);
    int64_t end_ns = measure__traces_end(t, stream, event);

    measure__traces_compute(t, measure__traces_start(t, at.stream, at.event) -
                                   start_ns);
    if (l->kind == TRACES_REMOTE && leads_on(l, at.event))
        over_hop(
            t, at,
            thread == PATHS_NONE
                ? 0
                : measure__traces_cpu(t, l->process, thread, start_ns, end_ns));
    else if (l->kind == TRACES_SITE && leads_on(l, at.event))
        in_round(t, at, thread);
    else if (l->kind == TRACES_ELEMENT)
        in_element(t, at, thread);
    else
        after(t, at, thread, measure__traces_start(t, at.stream, at.event),
              false);
    measure__traces_compute(t, end_ns -
                                   measure__traces_end(t, at.stream, at.event));
}

/* --- in two parts --- */

static void add_spot(traces *t, traces_spot at)
{
    void *spots = t->spots;

    if (!grow(t, &spots, t->spot_count, sizeof(at)))
        return;
    t->spots = spots;
    t->spots[t->spot_count++] = at;
}

void measure__traces_pass_begin(traces *t, uint32_t stream, uint32_t event)
{
    traces_spot at = bottom_of(t, stream, event);
    const traces_stream *l = &t->streams[at.stream];

    if (l->kind == TRACES_REMOTE && leads_on(l, at.event)) {
        measure__traces_divide(t, at, 0);
        send_request(t, at, 0);
    } else if (l->kind == TRACES_SITE && leads_on(l, at.event)) {
        contribute(t, at);
    } else if (l->kind == TRACES_ELEMENT) {
        measure__traces_send(t, message_of(t, at, 1),
                             measure__traces_start(t, at.stream, at.event), 0,
                             l->process, l->process);
        add_spot(t, at);
    }
}

/* Since when what it waited for was there. */
static int64_t came_ns(const traces *t, traces_spot at)
{
    const traces_stream *l = &t->streams[at.stream];
    bool held;

    if (l->kind == TRACES_SITE)
        return round_end(t, at);
    if (l->kind == TRACES_ELEMENT)
        return element_end(t, at, &held);
    return measure__traces_end(t, at.stream, at.event) -
           t->messages[message_of(t, at, 1)].wait_ns;
}

/* A result may have lain there while the thread did something else: that is no
 * part of what it waited for. */
void measure__traces_pass_end(traces *t, uint32_t stream, uint32_t event,
                              int64_t looked_ns)
{
    traces_spot at = bottom_of(t, stream, event);
    const traces_stream *l = &t->streams[at.stream];
    int64_t from_ns;

    if (l->kind == TRACES_LOCAL || l->kind == TRACES_NOTHING ||
        (l->kind != TRACES_ELEMENT && !leads_on(l, at.event)))
        return;
    from_ns = came_ns(t, at);
    if (from_ns < looked_ns)
        from_ns = looked_ns;
    measure__traces_receive(
        t, message_of(t, at, l->kind == TRACES_ELEMENT ? 2 : 1));
    measure__traces_sleep(t, measure__traces_end(t, at.stream, at.event) -
                                 from_ns);
}
