/* profile_test.c - what is added to a profile, what it refuses, and the sums
 * of a node. */
#include "predict/profile/profile.h"

#include <math.h>

#include "tests/predict/some_profile.h"
#include "tests/support/check.h"

/* Two nodes on a processor each. */
static predict_profile *two_nodes(void)
{
    predict_profile *p = predict_profile_create("two");
    cr_assert(p);
    cr_assert_eq(predict_profile_add_place(p, "0", 1), 0);
    cr_assert_eq(predict_profile_add_place(p, "1", 1), 1);
    cr_assert_eq(predict_profile_add_node(p, "n0", 0), 0);
    cr_assert_eq(predict_profile_add_node(p, "n1", 1), 1);
    p->wall_ns = 10000000000;
    return p;
}

static void add_messages(predict_profile *p, uint32_t from, uint32_t to,
                         uint64_t bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cr_assert(predict_profile_add_message(
                      p, (predict_message){0, bytes, from, to}) >= 0);
}

Test(profile, finds_nodes_and_links_in_any_order, .timeout = 120)
{
    predict_profile *p = predict_profile_create("many");
    predict_profile_add_place(p, "0", 1);
    for (char name[2] = "a"; name[0] <= 'j'; name[0]++)
        predict_profile_add_node(p, name, 0);
    cr_assert_eq(predict_profile_find_node(p, "j"), 9);
    cr_assert_eq(predict_profile_find_node(p, "k"), PREDICT_NONE);
    cr_assert_eq(predict_profile_find_link(p, 0, 1), PREDICT_NONE);
    for (uint32_t i = 0; i < 10; i++)
        for (uint32_t k = 0; k < 10; k++)
            if ((i + 3 * k) % 4 && i != k)
                predict_profile_add_link(p, 9 - i, k);
    for (uint32_t i = 0; i < 10; i++) {
        for (uint32_t k = i + 1; k < 10; k++) {
            bool there = (9 - i + 3 * k) % 4 || (9 - k + 3 * i) % 4;
            uint32_t at = predict_profile_find_link(p, i, k);
            (void)there;
            cr_assert_eq(predict_profile_find_link(p, k, i), at);
            if (at == PREDICT_NONE)
                continue;
            cr_assert(p->links[at].a == i && p->links[at].b == k);
            cr_assert_eq(predict_profile_add_link(p, k, i), (int64_t)at);
            cr_assert(isnan(p->links[at].latency_s) &&
                      isnan(p->links[at].bandwidth) && p->links[at].busy == 0);
        }
    }
    check_status(predict_profile_check(p), 0);
    predict_profile_destroy(p);
}

Test(profile, refuses_what_is_not_there, .timeout = 120)
{
    predict_profile *p = two_nodes();
    check_status((int)predict_profile_add_node(p, "n2", 2), PASTSET_EINVAL);
    check_error("no place 2");
    check_status((int)predict_profile_add_link(p, 0, 2), PASTSET_EINVAL);
    check_error("no node 2");
    check_status((int)predict_profile_add_link(p, 1, 1), PASTSET_EINVAL);
    check_error("n1 has no link to itself");
    check_status(
        (int)predict_profile_add_message(p, (predict_message){0, 1, 2, 0}),
        PASTSET_EINVAL);
    check_status((int)predict_profile_add_phase(p, 2, (predict_phase){0}),
                 PASTSET_EINVAL);
    check_status((int)predict_profile_add_actor(p, 2, 0), PASTSET_EINVAL);
    check_status((int)predict_profile_add_step(p, (predict_step){0}),
                 PASTSET_EINVAL);
    check_error("an actor first");
    check_status((int)predict_profile_add_place(p, "x", 0), PASTSET_EINVAL);
    check_status(predict_profile_check(p), 0);
    predict_profile_destroy(p);
}

/* Each of these spoils a profile that is right. */
#define SPOILT(change, says)                                                   \
    do {                                                                       \
        predict_profile *p = two_nodes();                                      \
        predict_profile_add_link(p, 0, 1);                                     \
        predict_profile_add_phase(p, 0, (predict_phase){0, 5, 5});             \
        predict_profile_add_phase(p, 0, (predict_phase){10, 5, 5});            \
        add_messages(p, 0, 1, 100, 2);                                         \
        predict_profile_add_actor(p, 0, 0);                                    \
        predict_profile_add_step(p, (predict_step){0, PREDICT_NONE, 7});       \
        predict_profile_add_step(p, (predict_step){PREDICT_SEND, 0, 0});       \
        predict_profile_add_step(p, (predict_step){PREDICT_SEND, 1, 0});       \
        predict_profile_add_actor(p, 1, 0);                                    \
        predict_profile_add_step(p, (predict_step){PREDICT_RECEIVE, 1, 0});    \
        check_status(predict_profile_check(p), 0);                             \
        change;                                                                \
        check_status(predict_profile_check(p), PASTSET_EINVAL);                \
        check_error(says);                                                     \
        predict_profile_destroy(p);                                            \
    } while (0)

Test(profile, check_names_what_is_wrong, .timeout = 120)
{
    SPOILT(p->wall_ns = -1, "time of the run");
    SPOILT(p->places[1].processors = 0, "place \"1\" has no processors");
    SPOILT(p->nodes[1].place = 2, "n1: there is no place 2");
    SPOILT(p->nodes[1].name[1] = '0', "two nodes have the name \"n0\"");
    SPOILT(p->nodes[0].kernel_ns = -5, "node n0");
    SPOILT(p->nodes[0].phases[1].busy_ns = -5, "phase 1");
    SPOILT(p->nodes[0].phases[0].start_ns = 11, "begins before");
    SPOILT(p->links[0].b = 2, "link 0");
    SPOILT(p->links[0].latency_s = -1, "link n0-n1");
    SPOILT(p->links[0].bandwidth = 0, "link n0-n1");
    SPOILT(p->links[0].busy = 1.5, "link n0-n1");
    SPOILT(p->links[0].busy = NAN, "link n0-n1");
    SPOILT(p->messages[1].to = 9, "message 1");
    SPOILT(p->messages[0].at_ns = 1, "message 1 was sent at 0");
    SPOILT(p->messages[0].at_ns = -1, "message 0");
    SPOILT(p->actors[1].node = 2, "actor 1");
    SPOILT(p->actors[1].start_ns = -2, "actor 1");
    SPOILT(p->actors[1].steps = 2, "actor 1");
    SPOILT(p->actors[0].steps = 2, "belong to no actor");
    SPOILT(p->actors[1].step = 4, "actor 1");
    SPOILT(p->steps[0].kind = 4, "step 0");
    SPOILT(p->steps[0].ns = -1, "step 0");
    SPOILT(p->steps[1].message = 2, "message 2; there are 2");
    SPOILT(p->steps[1].message = 1, "message 1 is sent twice");
    SPOILT(p->steps[3].ns = -1, "had been there for -1 ns");
    SPOILT(p->steps[3].kind = PREDICT_SEND, "node n1 sends message 1");
    SPOILT(p->messages[1].from = 1, "node n0 sends message 1");
    SPOILT(p->steps[2].kind = PREDICT_COMPUTE, "message 1 is sent by no actor");
}

Test(profile, any_profile_that_is_added_rightly_is_right, .timeout = 120)
{
    for (uint64_t seed = 0; seed < 50; seed++)
        predict_profile_destroy(some_profile(seed, seed * 3, seed % 2));
}

/* Paper 000, 3.2: 1000 messages of 7,000 bytes, L = 400 us, B = 70 Mbit/s:
 * each takes 400 us + 800 us. */
Test(profile, time_divides_as_the_papers_say, .timeout = 120)
{
    predict_profile *p = two_nodes();
    predict_sums s;
    int64_t link = predict_profile_add_link(p, 0, 1);
    add_messages(p, 0, 1, 7000, 600);
    add_messages(p, 1, 0, 7000, 400);
    add_messages(p, 1, 1, 999999, 50); /* within a node: no link */
    p->nodes[0].kernel_ns = 6000000000;
    p->links[link].latency_s = 400e-6;
    p->links[link].bandwidth = 70e6 / 8;
    p->links[link].busy = 1;
    predict_profile_add_phase(p, 0, (predict_phase){0, 1000000, 500000});
    predict_profile_add_phase(p, 0, (predict_phase){1, 3000000, 1500000});
    s = predict_profile_sums(p, 0);
    cr_assert_eq(s.messages, 1000);
    cr_assert_float_eq(s.message_bytes, 7000, 1e-9);
    cr_assert_float_eq(s.wall_s, 10, 1e-9);
    cr_assert_float_eq(s.busy_s, 6, 1e-9);
    cr_assert_float_eq(s.comm_s, 1.2, 1e-9);
    cr_assert_float_eq(s.comp_s, 4.8, 1e-9);
    cr_assert_float_eq(s.idle_s, 4, 1e-9);
    cr_assert_eq(s.phases, 2);
    cr_assert_float_eq(s.busy_phase_s, 0.002, 1e-12);
    cr_assert_float_eq(s.idle_phase_s, 0.001, 1e-12);
    cr_assert(!s.cut);
    p->links[link].busy = 0.25;
    s = predict_profile_sums(p, 0);
    cr_assert_float_eq(s.comp_s, 5.7, 1e-9);
    cr_assert_float_eq(s.idle_s, 3.1, 1e-9);
    p->links[link].bandwidth = NAN;
    s = predict_profile_sums(p, 0);
    cr_assert_float_eq(s.comm_s, 0, 1e-12);
    cr_assert_float_eq(s.comp_s, 6, 1e-9);
    cr_assert_eq(s.messages, 1000);
    predict_profile_destroy(p);
}

Test(profile, sums_that_would_be_less_than_nothing_are_cut, .timeout = 120)
{
    predict_profile *p = two_nodes();
    predict_sums s;
    int64_t link = predict_profile_add_link(p, 0, 1);
    add_messages(p, 0, 1, 1000, 6);
    p->links[link].bandwidth = 1000;
    p->links[link].latency_s = 0;
    p->nodes[0].kernel_ns = 6000000000;
    /* 6 s of comm with half of it busy and 6 s of busy: comp 3, idle 1. */
    p->links[link].busy = 0.5;
    s = predict_profile_sums(p, 0);
    cr_assert_float_eq(s.idle_s, 1, 1e-9);
    cr_assert(!s.cut);
    /* A sleeping processor: 6 s busy and 6 s of comm do not fit into 10. */
    p->links[link].busy = 0;
    s = predict_profile_sums(p, 0);
    cr_assert(s.cut);
    cr_assert_float_eq(s.comp_s, 6, 1e-9);
    cr_assert_float_eq(s.comm_s, 4, 1e-9);
    cr_assert_float_eq(s.idle_s, 0, 1e-9);
    /* More of comm than there is busy time. */
    p->links[link].busy = 1;
    p->nodes[0].kernel_ns = 2000000000;
    s = predict_profile_sums(p, 0);
    cr_assert(s.cut);
    cr_assert_float_eq(s.comp_s, 0, 1e-9);
    cr_assert_float_eq(s.comm_s, 6, 1e-9);
    cr_assert_float_eq(s.idle_s, 4, 1e-9);
    /* More processor time than one processor has: two threads. */
    p->nodes[1].kernel_ns = 15000000000;
    p->links[link].bandwidth = NAN;
    s = predict_profile_sums(p, 1);
    cr_assert_float_eq(s.busy_s, 10, 1e-9);
    cr_assert_float_eq(s.comp_s, 10, 1e-9);
    predict_profile_destroy(p);
}

Test(profile, parts_always_sum_up_to_the_whole, .timeout = 120)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        predict_profile *p = some_profile(seed, 30, false);
        for (uint32_t i = 0; i < p->node_count; i++) {
            predict_sums s = predict_profile_sums(p, i);
            double sum = s.comp_s + s.comm_s + s.idle_s;
            cr_assert(s.comp_s >= 0 && s.comm_s >= 0 && s.idle_s >= 0,
                      "seed %u", (unsigned)seed);
            cr_assert(fabs(sum - s.wall_s) <= 1e-9 * s.wall_s, "seed %u",
                      (unsigned)seed);
        }
        predict_profile_destroy(p);
    }
}
