/* some_profile.c - random profiles, and comparing them. */
#include "tests/predict/some_profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/check.h"

static uint64_t next(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Numbers of all sizes, so that all lengths of packed numbers come up. */
static uint64_t any(uint64_t *state, unsigned most_bits)
{
    uint64_t bits = next(state) % (most_bits + 1);
    return bits ? next(state) >> (64 - bits) : 0;
}

static double maybe(uint64_t *state, double value)
{
    return next(state) % 4 ? value * (double)(1 + next(state) % 1000) : NAN;
}

static void add_nodes(predict_profile *p, uint64_t *s, uint32_t nodes)
{
    uint32_t places = 1 + (uint32_t)(next(s) % 3);
    char name[40];
    for (uint32_t i = 0; i < places; i++) {
        snprintf(name, sizeof(name), "%u", i);
        predict_profile_add_place(p, name, 1 + (uint32_t)any(s, 8));
    }
    for (uint32_t i = 0; i < nodes; i++) {
        snprintf(name, sizeof(name), "node-%u%.*s", i, (int)(next(s) % 20),
                 "\xc3\xa4 name that is long");
        predict_profile_add_node(p, name, (uint32_t)(next(s) % places));
        predict_node *n = &p->nodes[i];
        n->threads = (uint32_t)any(s, 32);
        n->start_ns = (int64_t)any(s, 40);
        n->end_ns = (int64_t)any(s, 56);
        n->probed_ns = (int64_t)any(s, 40);
        n->kernel_ns = (int64_t)any(s, 40);
        n->waited_ns = (int64_t)any(s, 40);
        n->switches = any(s, 64);
        n->waiting = (uint32_t)(next(s) % PREDICT_WAITINGS);
        n->session = (uint32_t)any(s, 3);
        int64_t at = 0;
        for (uint64_t k = next(s) % 40; k > 0; k--) {
            predict_phase phase = {at, (int64_t)any(s, 40),
                                   (int64_t)any(s, 40)};
            predict_profile_add_phase(p, i, phase);
            at += phase.busy_ns + phase.idle_ns;
        }
    }
}

static void add_actors(predict_profile *p, uint64_t *s)
{
    for (uint32_t n = 0; n < p->node_count; n++) {
        predict_profile_add_actor(p, n, (int64_t)any(s, 30));
        for (uint32_t m = 0; m < p->message_count; m++) {
            uint32_t kind = (uint32_t)(next(s) % 3);
            if (kind < 2)
                predict_profile_add_step(
                    p, (predict_step){kind, PREDICT_NONE, (int64_t)any(s, 56)});
            if (p->messages[m].from == n)
                predict_profile_add_step(p, (predict_step){PREDICT_SEND, m, 0});
            if (p->messages[m].to == n)
                predict_profile_add_step(p,
                                         (predict_step){PREDICT_RECEIVE, m, 0});
        }
        if (next(s) % 2)
            predict_profile_add_actor(p, n, 0); /* without steps */
    }
}

predict_profile *some_profile(uint64_t seed, size_t messages, bool actors)
{
    uint64_t state = seed;
    uint32_t nodes = 1 + (uint32_t)(next(&state) % 5);
    predict_profile *p = predict_profile_create("some program --with this");
    int64_t at = 0;
    cr_assert(p);
    p->wall_ns = (int64_t)any(&state, 50);
    p->interval_ns = 20000000;
    p->exact_phases = next(&state) % 2;
    p->lost_packets = any(&state, 64);
    p->others_ppm = next(&state) % 1000001;
    p->slice_ns = 10000 + next(&state) % 990001;
    add_nodes(p, &state, nodes);
    for (size_t i = 0; i < messages; i++) {
        predict_message m = {at, any(&state, 40), 0, 0};
        m.from = (uint32_t)(next(&state) % nodes);
        m.to = (uint32_t)(next(&state) % nodes);
        predict_profile_add_message(p, m);
        if (m.from != m.to)
            predict_profile_add_link(p, m.from, m.to);
        at += (int64_t)any(&state, 30);
    }
    for (size_t i = 0; i < p->link_count; i++) {
        p->links[i].latency_s = maybe(&state, 1e-6);
        p->links[i].bandwidth = maybe(&state, 1e5);
        p->links[i].busy = (double)(next(&state) % 1001) / 1000;
    }
    if (actors)
        add_actors(p, &state);
    check_status(predict_profile_check(p), 0);
    return p;
}

static bool same_real(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void check_same_nodes(const predict_profile *a, const predict_profile *b)
{
    for (size_t i = 0; i < a->place_count; i++) {
        cr_assert_str_eq(a->places[i].name, b->places[i].name);
        cr_assert_eq(a->places[i].processors, b->places[i].processors);
    }
    for (size_t i = 0; i < a->node_count; i++) {
        const predict_node *x = &a->nodes[i], *y = &b->nodes[i];
        cr_assert_str_eq(x->name, y->name);
        cr_assert(x->place == y->place && x->threads == y->threads &&
                  x->start_ns == y->start_ns && x->end_ns == y->end_ns &&
                  x->probed_ns == y->probed_ns &&
                  x->kernel_ns == y->kernel_ns &&
                  x->waited_ns == y->waited_ns && x->switches == y->switches &&
                  x->waiting == y->waiting && x->session == y->session);
        cr_assert_eq(x->phase_count, y->phase_count);
        for (size_t k = 0; k < x->phase_count; k++)
            cr_assert(x->phases[k].start_ns == y->phases[k].start_ns &&
                      x->phases[k].busy_ns == y->phases[k].busy_ns &&
                      x->phases[k].idle_ns == y->phases[k].idle_ns);
    }
    for (size_t i = 0; i < a->link_count; i++) {
        const predict_link *x = &a->links[i], *y = &b->links[i];
        cr_assert(x->a == y->a && x->b == y->b &&
                  same_real(x->latency_s, y->latency_s) &&
                  same_real(x->bandwidth, y->bandwidth) && x->busy == y->busy);
    }
}

static void check_same_steps(const predict_profile *a, const predict_profile *b)
{
    for (size_t i = 0; i < a->message_count; i++) {
        const predict_message *x = &a->messages[i], *y = &b->messages[i];
        cr_assert(x->at_ns == y->at_ns && x->bytes == y->bytes &&
                  x->from == y->from && x->to == y->to);
    }
    for (size_t i = 0; i < a->actor_count; i++) {
        const predict_actor *x = &a->actors[i], *y = &b->actors[i];
        cr_assert(x->node == y->node && x->start_ns == y->start_ns &&
                  x->step == y->step && x->steps == y->steps);
    }
    for (size_t i = 0; i < a->step_count; i++) {
        const predict_step *x = &a->steps[i], *y = &b->steps[i];
        cr_assert(x->kind == y->kind && x->message == y->message &&
                  x->ns == y->ns);
    }
}

void check_same_profile(const predict_profile *a, const predict_profile *b)
{
    cr_assert_str_eq(a->command, b->command);
    cr_assert_str_eq(a->source, b->source);
    cr_assert_eq(a->wall_ns, b->wall_ns);
    cr_assert_eq(a->interval_ns, b->interval_ns);
    cr_assert_eq(a->exact_phases, b->exact_phases);
    cr_assert_eq(a->lost_packets, b->lost_packets);
    cr_assert_eq(a->others_ppm, b->others_ppm);
    cr_assert_eq(a->slice_ns, b->slice_ns);
    cr_assert_eq(a->place_count, b->place_count);
    cr_assert_eq(a->node_count, b->node_count);
    cr_assert_eq(a->link_count, b->link_count);
    cr_assert_eq(a->message_count, b->message_count);
    cr_assert_eq(a->actor_count, b->actor_count);
    cr_assert_eq(a->step_count, b->step_count);
    check_same_nodes(a, b);
    check_same_steps(a, b);
}
