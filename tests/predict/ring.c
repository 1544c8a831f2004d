/* ring.c - a program of n nodes in a ring. */
#include "tests/predict/ring.h"

#include <stdio.h>

#include "tests/support/check.h"

#define LATENCY_S 100e-6
#define BANDWIDTH 12.5e6

/* How long each round takes: the slowest node and its message. */
static int64_t round_ns(const ring *r)
{
    int64_t max = 0;

    for (uint32_t i = 0; i < r->nodes; i++) {
        int64_t ns =
            r->busy_ns[i] +
            (int64_t)(1e9 * (LATENCY_S + (double)r->bytes[i] / BANDWIDTH));
        if (ns > max)
            max = ns;
    }
    return max;
}

static void add_node(predict_profile *p, const ring *r, uint32_t i)
{
    char name[16];
    predict_node *node;

    snprintf(name, sizeof(name), "n%u", i);
    predict_profile_add_place(p, name, 1);
    predict_profile_add_node(p, name, i);
    node = &p->nodes[i];
    node->threads = 1;
    node->end_ns = p->wall_ns;
    node->kernel_ns = node->probed_ns = r->rounds * r->busy_ns[i];
    for (uint32_t k = 0; k < r->rounds; k++)
        predict_profile_add_phase(p, i,
                                  (predict_phase){k * round_ns(r),
                                                  r->busy_ns[i],
                                                  round_ns(r) - r->busy_ns[i]});
}

static void add_links(predict_profile *p, const ring *r)
{
    for (uint32_t i = 0; i < r->nodes; i++) {
        uint32_t next = (i + 1) % r->nodes;
        int64_t link = predict_profile_add_link(p, i < next ? i : next,
                                                i < next ? next : i);
        cr_assert_geq(link, 0);
        p->links[link].latency_s = LATENCY_S;
        p->links[link].bandwidth = BANDWIDTH;
    }
    for (uint32_t k = 0; k < r->rounds; k++) {
        for (uint32_t i = 0; i < r->nodes; i++)
            predict_profile_add_message(
                p, (predict_message){k * round_ns(r), r->bytes[i], i,
                                     (i + 1) % r->nodes});
    }
}

static void add_actor(predict_profile *p, const ring *r, uint32_t i)
{
    uint32_t before = (i + r->nodes - 1) % r->nodes;

    predict_profile_add_actor(p, i, 0);
    for (uint32_t k = 0; k < r->rounds; k++) {
        predict_profile_add_step(
            p, (predict_step){PREDICT_COMPUTE, PREDICT_NONE, r->busy_ns[i]});
        predict_profile_add_step(
            p, (predict_step){PREDICT_SEND, k * r->nodes + i, 0});
        predict_profile_add_step(
            p, (predict_step){PREDICT_RECEIVE, k * r->nodes + before, 0});
    }
}

predict_profile *ring_profile(const ring *r)
{
    predict_profile *p = predict_profile_create("ring");

    cr_assert_not_null(p);
    p->wall_ns = r->rounds * round_ns(r);
    p->interval_ns = 20000000;
    for (uint32_t i = 0; i < r->nodes; i++)
        add_node(p, r, i);
    add_links(p, r);
    for (uint32_t i = 0; r->actors && i < r->nodes; i++)
        add_actor(p, r, i);
    check_status(predict_profile_check(p), 0);
    return p;
}
