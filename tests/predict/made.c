/* made.c - random profiles come from a run of a random program: threads do one
 * thing after another, in an order in which nobody waits for ever. */
#include "tests/predict/made.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/check.h"

static void added(int64_t status)
{
    cr_assert_geq(status, 0, "%s", pastset_error());
}

predict_profile *made_profile(uint32_t nodes)
{
    predict_profile *profile = predict_profile_create("made");
    char name[32];

    cr_assert_not_null(profile);
    for (uint32_t i = 0; i < nodes; i++) {
        snprintf(name, sizeof(name), "%u", i);
        added(predict_profile_add_place(profile, name, 1));
        snprintf(name, sizeof(name), "n%u", i);
        added(predict_profile_add_node(profile, name, i));
    }
    return profile;
}

void made_link(predict_profile *profile, uint32_t a, uint32_t b,
               double latency_s, double bandwidth)
{
    int64_t link = predict_profile_add_link(profile, a, b);

    added(link);
    profile->links[link].latency_s = latency_s;
    profile->links[link].bandwidth = bandwidth;
}

uint32_t made_message(predict_profile *profile, uint32_t from, uint32_t to,
                      uint64_t bytes)
{
    int64_t message = predict_profile_add_message(
        profile,
        (predict_message){(int64_t)profile->message_count, bytes, from, to});
    added(message);
    return (uint32_t)message;
}

void made_actor(predict_profile *profile, uint32_t node, int64_t start_ns)
{
    added(predict_profile_add_actor(profile, node, start_ns));
}

static void add_step(predict_profile *profile, uint32_t kind, uint32_t message,
                     int64_t ns)
{
    added(predict_profile_add_step(profile, (predict_step){kind, message, ns}));
}

void made_compute(predict_profile *profile, int64_t ns)
{
    add_step(profile, PREDICT_COMPUTE, PREDICT_NONE, ns);
}

void made_sleep(predict_profile *profile, int64_t ns)
{
    add_step(profile, PREDICT_SLEEP, PREDICT_NONE, ns);
}

void made_send(predict_profile *profile, uint32_t message)
{
    add_step(profile, PREDICT_SEND, message, 0);
}

void made_receive(predict_profile *profile, uint32_t message)
{
    add_step(profile, PREDICT_RECEIVE, message, 0);
}

/* --- at random --- */

double made_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

uint64_t made_below(uint64_t *seed, uint64_t max)
{
    return (uint64_t)(made_random(seed) * (double)max);
}

#define MAX_STEPS 200
#define MAX_ACTORS 64
#define MAX_THREADS 6

/* Steps that are yet to be put into a profile: there, those of an actor follow
 * one another. */
typedef struct sketch {
    predict_profile *profile;
    uint64_t *seed;
    struct {
        uint32_t node;
        int64_t start_ns;
        predict_step steps[MAX_STEPS];
        size_t count;
    } actors[MAX_ACTORS];
    size_t count, threads;
} sketch;

static int64_t some_time(uint64_t *seed)
{
    /* From 2 us to 2 ms, and hardly ever one twice. */
    return (int64_t)(2000 * pow(1000, made_random(seed)) +
                     made_random(seed) * 997);
}

static void draw(sketch *s, size_t actor, uint32_t kind, uint32_t message)
{
    bool takes_time = kind == PREDICT_COMPUTE || kind == PREDICT_SLEEP;
    int64_t ns = takes_time ? some_time(s->seed) : 0;

    cr_assert_lt(s->actors[actor].count, (size_t)MAX_STEPS);
    s->actors[actor].steps[s->actors[actor].count++] =
        (predict_step){kind, message, ns};
}

/* At least one byte: one of none that waits for another to leave would come at
 * the same moment as that. */
static uint32_t draw_message(sketch *s, size_t from, size_t to)
{
    return made_message(s->profile, s->actors[from].node, s->actors[to].node,
                        1 + made_below(s->seed, 4) * 1000);
}

/* One thread sends to another, who takes it some time later in its steps. */
static void draw_plain(sketch *s, size_t from)
{
    size_t to = made_below(s->seed, s->threads);
    uint32_t message;

    message = draw_message(s, from, to);
    draw(s, from, PREDICT_SEND, message);
    if (made_below(s->seed, 8) == 0)
        return; /* nobody ever takes it */
    if (made_below(s->seed, 2))
        draw(s, to, PREDICT_COMPUTE, PREDICT_NONE);
    draw(s, to, PREDICT_RECEIVE, message);
    draw(s, to, PREDICT_COMPUTE, PREDICT_NONE);
}

/* One thread asks, and waits for the reply. */
static void draw_request(sketch *s, size_t from)
{
    size_t server = s->count++;
    uint32_t message;

    s->actors[server].node =
        (uint32_t)made_below(s->seed, s->profile->node_count);
    message = draw_message(s, from, server);
    draw(s, from, PREDICT_SEND, message);
    draw(s, server, PREDICT_RECEIVE, message);
    draw(s, server, PREDICT_COMPUTE, PREDICT_NONE);
    message = draw_message(s, server, from);
    draw(s, server, PREDICT_SEND, message);
    if (made_below(s->seed, 2))
        draw(s, server, PREDICT_COMPUTE, PREDICT_NONE);
    draw(s, from, PREDICT_RECEIVE, message);
    draw(s, from, PREDICT_COMPUTE, PREDICT_NONE);
}

static void draw_all(sketch *s)
{
    s->threads = s->count = 1 + made_below(s->seed, MAX_THREADS);
    for (size_t i = 0; i < s->threads; i++) {
        s->actors[i].node =
            (uint32_t)made_below(s->seed, s->profile->node_count);
        s->actors[i].start_ns = some_time(s->seed);
        draw(s, i, PREDICT_COMPUTE, PREDICT_NONE);
    }
    for (int i = 0; i < 40; i++) {
        size_t thread = made_below(s->seed, s->threads);
        switch (made_below(s->seed, 4)) {
        case 0:
            draw(s, thread, PREDICT_COMPUTE, PREDICT_NONE);
            break;
        case 1:
            draw(s, thread, PREDICT_SLEEP, PREDICT_NONE);
            break;
        case 2:
            draw_plain(s, thread);
            break;
        default:
            draw_request(s, thread);
        }
    }
}

predict_profile *made_random_profile(uint64_t *seed)
{
    uint32_t nodes = 1 + (uint32_t)made_below(seed, 5);
    sketch *s = calloc(1, sizeof(*s));
    predict_profile *profile = made_profile(nodes);

    s->profile = profile;
    s->seed = seed;
    for (uint32_t a = 0; a < nodes; a++) {
        for (uint32_t b = a + 1; b < nodes; b++) {
            if (made_below(seed, 4))
                made_link(profile, a, b, NAN, NAN);
        }
    }
    draw_all(s);
    for (size_t i = 0; i < s->count; i++) {
        made_actor(profile, s->actors[i].node, s->actors[i].start_ns);
        for (size_t j = 0; j < s->actors[i].count; j++)
            added(predict_profile_add_step(profile, s->actors[i].steps[j]));
    }
    free(s);
    check_status(predict_profile_check(profile), 0);
    return profile;
}

static predict_scheduler some_scheduler(uint64_t *seed)
{
    switch (made_below(seed, 3)) {
    case 0:
        return PREDICT_SCHEDULER_FAIR;
    case 1:
        return PREDICT_SCHEDULER_CREDIT;
    default:
        return (predict_scheduler){.credit_s = 0.001 * made_random(seed)};
    }
}

predict_scenario *made_random_scenario(const predict_profile *profile,
                                       uint64_t *seed)
{
    static const double loads[] = {0, 0, 0.37, 1, 2.5};
    predict_scenario *s;
    uint32_t places = 1 + (uint32_t)made_below(seed, profile->node_count);

    check_status(predict_scenario_create(&s, profile, PREDICT_SCHEDULER_FAIR),
                 0);
    for (size_t i = 0; i < profile->node_count; i++) {
        s->loads[i] = loads[made_below(seed, 5)];
        s->schedulers[i] = some_scheduler(seed);
        s->speeds[i] = 0.5 + made_random(seed);
        s->places[i] = (uint32_t)made_below(seed, places);
        s->processors[i] = 1 + (uint32_t)made_below(seed, 3);
    }
    for (size_t i = 0; i < profile->link_count; i++) {
        if (made_below(seed, 5)) {
            s->wires[i].latency_s = 0.0001 * made_random(seed);
            s->wires[i].bandwidth = 1e6 * (1 + 99 * made_random(seed));
        }
    }
    return s;
}
