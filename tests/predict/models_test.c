/* models_test.c - properties of the formulas, on many random numbers, and what
 * they refuse. The published numbers are in table1_test.c. */
#include "predict/models/models.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MANY 2000

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b) + 1e-9);
}

/* From 0 to `max`, now and then exactly 0. */
static double some(double max)
{
    return rand() % 10 == 0 ? 0 : max * rand() / RAND_MAX;
}

static predict_scheduler some_scheduler(void)
{
    switch (rand() % 3) {
    case 0:
        return PREDICT_SCHEDULER_CREDIT;
    case 1:
        return PREDICT_SCHEDULER_FAIR;
    default:
        return (predict_scheduler){.credit_s = some(0.1)};
    }
}

static predict_times some_times(void)
{
    return (predict_times){some(10), some(10), some(10)};
}

static predict_wire some_wire(void)
{
    return (predict_wire){some(0.01), 1e4 + some(1e8)};
}

static double sum(predict_times t)
{
    return t.comp_s + t.comm_s + t.idle_s;
}

/* --- one node --- */

Test(models, a_node_without_load_takes_as_long_as_before, .timeout = 120)
{
    for (int i = 0; i < MANY; i++) {
        double factor = 0, busy = 0.001 + some(1), idle = some(1);
        check_status(
            predict_node_by_phases(&factor, busy, idle, 0, some_scheduler()),
            0);
        cr_assert_eq(factor, 1);
        check_status(
            predict_node_by_totals(&factor, busy, idle, 0, some_scheduler()),
            0);
        cr_assert_eq(factor, 1);
    }
}

Test(models, more_load_never_makes_a_node_faster, .timeout = 120)
{
    for (int i = 0; i < MANY; i++) {
        double busy = 0.001 + some(1), idle = some(1), load = some(4);
        predict_scheduler scheduler = some_scheduler();
        double less = 0, more = 0;
        check_status(predict_node_by_phases(&less, busy, idle, load, scheduler),
                     0);
        check_status(predict_node_by_phases(&more, busy, idle, load + some(2),
                                            scheduler),
                     0);
        cr_assert_geq(less, 1);
        cr_assert(more >= less - 1e-12);
        cr_assert(less <= 1 + load + 1e-12, "more than its share is lost");
    }
}

Test(models, credit_is_the_best_law_and_fair_the_worst, .timeout = 120)
{
    for (int i = 0; i < MANY; i++) {
        double busy = 0.001 + some(1), idle = some(1), load = some(4);
        double credit = 0, some_other = 0, fair = 0;
        predict_node_by_phases(&credit, busy, idle, load,
                               PREDICT_SCHEDULER_CREDIT);
        predict_node_by_phases(&some_other, busy, idle, load, some_scheduler());
        predict_node_by_phases(&fair, busy, idle, load, PREDICT_SCHEDULER_FAIR);
        cr_assert(credit <= some_other + 1e-12 && some_other <= fair + 1e-12);
        cr_assert(near(credit, fmax(1, (load + 1) * busy / (busy + idle))));
        cr_assert(near(fair, 1 + load * busy / (busy + idle)));
    }
}

Test(models, a_sequence_of_equal_phases_is_as_their_average, .timeout = 120)
{
    for (int i = 0; i < MANY; i++) {
        predict_span spans[7];
        predict_scheduler scheduler = some_scheduler();
        double load = some(4), factor = 0, time_s = 0;
        spans[0] = (predict_span){0.001 + some(1), some(1)};
        for (int j = 1; j < 7; j++)
            spans[j] = spans[0];
        check_status(predict_node_by_phases(&factor, spans[0].busy_s,
                                            spans[0].idle_s, load, scheduler),
                     0);
        check_status(
            predict_node_by_sequence(&time_s, spans, 7, load, scheduler), 0);
        cr_assert(
            near(time_s, factor * 7 * (spans[0].busy_s + spans[0].idle_s)));
    }
}

/* 001, 3.2: "long intervals of low CPU usage and long intervals of high CPU
 * usage ... have to be computed separately and combined". */
Test(models, phases_of_different_kind_cost_more_than_their_average,
     .timeout = 120)
{
    predict_span spans[] = {{10, 1}, {1, 10}};
    double time_s = 0, average = 0;
    predict_node_by_sequence(&time_s, spans, 2, 1, PREDICT_SCHEDULER_CREDIT);
    predict_node_by_totals(&average, 11, 11, 1, PREDICT_SCHEDULER_CREDIT);
    cr_expect(near(time_s, 20 + 11)); /* 2 * 10, and 11 as before */
    cr_expect_eq(average, 1);
}

/* --- links --- */

Test(models, an_equal_link_changes_nothing, .timeout = 120)
{
    for (int i = 0; i < MANY; i++) {
        predict_wire wire = some_wire();
        double added_s = 1, r = 0;
        uint64_t size = (uint64_t)some(1e6);
        check_status(predict_link_added(&added_s, wire, wire, some(1e6), 100),
                     0);
        cr_assert_eq(added_s, 0);
        wire.latency_s += 1e-6;
        check_status(predict_comm_ratio(&r, &wire, &wire, &size, 1), 0);
        cr_assert_eq(r, 1);
    }
}

Test(models, message_by_message_is_as_the_exact_average, .timeout = 120)
{
    for (int i = 0; i < 200; i++) {
        uint64_t sizes[50];
        double bytes = 0, each = 0, average = 1;
        predict_wire old = some_wire(), now = some_wire();
        for (int j = 0; j < 50; j++) {
            sizes[j] = (uint64_t)some(1e6);
            bytes += (double)sizes[j];
        }
        check_status(predict_link_added_each(&each, old, now, sizes, 50), 0);
        check_status(predict_link_added(&average, old, now, bytes / 50, 50), 0);
        cr_assert(fabs(each - average) <= 1e-9 * (1 + fabs(each)));
    }
}

Test(models, r_is_what_all_messages_take_by_what_they_took, .timeout = 120)
{
    const predict_wire old[] = {{0.001, 1e6}, {0.002, 1e6}};
    const predict_wire now[] = {{0.001, 1e5}, {0.010, 1e6}};
    const uint64_t sizes[] = {9000, 18000};
    double r = 0;
    check_status(predict_comm_ratio(&r, old, now, sizes, 2), 0);
    /* 10 ms and 20 ms became 91 ms and 28 ms. */
    cr_expect(near(r, 119.0 / 30));
    check_status(predict_comm_ratio(&r, NULL, NULL, NULL, 0), 0);
    cr_expect_eq(r, 1);
}

Test(models, a_better_link_takes_time_away, .timeout = 120)
{
    double added_s = 0;
    predict_link_added(&added_s, (predict_wire){0.002, 1e6},
                       (predict_wire){0.001, 2e6}, 1000, 10);
    cr_expect(near(added_s, -0.015));
}

/* --- one of each --- */

Test(models, node_and_link_without_load_is_the_link, .timeout = 120)
{
    for (int i = 0; i < MANY; i++) {
        predict_times t = some_times();
        double added = some(5), time_s = 0;
        t.comp_s += 0.1;
        check_status(predict_node_and_link(&time_s, t, added, some(1), 0,
                                           some_scheduler(), 10),
                     0);
        cr_assert(near(time_s, sum(t) + added));
    }
}

Test(models, node_and_link_without_a_changed_link_is_the_node, .timeout = 120)
{
    for (int i = 0; i < MANY; i++) {
        predict_times t = some_times();
        predict_scheduler scheduler = some_scheduler();
        double load = some(3), time_s = 0, factor = 0;
        t.comp_s += 0.1;
        check_status(
            predict_node_and_link(&time_s, t, 0, 1, load, scheduler, 1), 0);
        check_status(predict_node_by_totals(&factor, t.comp_s + t.comm_s,
                                            t.idle_s, load, scheduler),
                     0);
        cr_assert(near(time_s, factor * sum(t)));
    }
}

Test(models, communication_that_sleeps_is_not_slowed_by_the_load,
     .timeout = 120)
{
    predict_times t = {4, 2, 1};
    double polls = 0, sleeps = 0;
    predict_node_and_link(&polls, t, 3, 1, 1, PREDICT_SCHEDULER_FAIR, 1);
    predict_node_and_link(&sleeps, t, 3, 0, 1, PREDICT_SCHEDULER_FAIR, 1);
    cr_expect(near(polls, 10 + 9)); /* busy: 4 + 2 + 3 */
    cr_expect(near(sleeps, 10 + 4));
}

/* --- bounds --- */

Test(models, bounds_are_in_order_and_grow, .timeout = 120)
{
    for (int i = 0; i < MANY; i++) {
        predict_times t = some_times();
        double k = some(4), r = 0.1 + some(9), more = some(2);
        predict_bounds b, c;
        check_status(predict_all_nodes(&b, t, k), 0);
        cr_assert(b.lower_s <= b.upper_s + 1e-9);
        cr_assert(b.lower_s >= sum(t) - 1e-9);
        check_status(predict_all_nodes(&c, t, k + more), 0);
        cr_assert(c.lower_s >= b.lower_s && c.upper_s >= b.upper_s);
        check_status(predict_all_links(&b, t, r), 0);
        cr_assert(b.lower_s <= b.upper_s);
        check_status(predict_all_links(&c, t, r + more), 0);
        cr_assert(c.lower_s >= b.lower_s - 1e-9 &&
                  c.upper_s >= b.upper_s - 1e-9);
        check_status(predict_nodes_and_links(&b, t, k, r), 0);
        cr_assert(b.lower_s <= b.upper_s + 1e-9);
        check_status(predict_nodes_and_links(&c, t, k + more, r), 0);
        cr_assert(c.lower_s >= b.lower_s - 1e-9 &&
                  c.upper_s >= b.upper_s - 1e-9);
    }
}

Test(models, nothing_changed_gives_the_dedicated_time, .timeout = 120)
{
    for (int i = 0; i < MANY; i++) {
        predict_times t = some_times();
        predict_bounds nodes, links, both;
        predict_all_nodes(&nodes, t, 0);
        predict_all_links(&links, t, 1);
        predict_nodes_and_links(&both, t, 0, 1);
        cr_assert(near(nodes.lower_s, sum(t)) && near(nodes.upper_s, sum(t)));
        cr_assert(near(links.lower_s, sum(t)) && near(links.upper_s, sum(t)));
        cr_assert(near(both.lower_s, sum(t)) && near(both.upper_s, sum(t)));
    }
}

Test(models, both_is_each_where_the_other_is_not_changed, .timeout = 120)
{
    for (int i = 0; i < MANY; i++) {
        predict_times t = some_times();
        double k = some(4), r = 0.1 + some(9);
        predict_bounds one, both;
        predict_all_nodes(&one, t, k);
        predict_nodes_and_links(&both, t, k, 1);
        cr_assert(near(one.lower_s, both.lower_s) &&
                  near(one.upper_s, both.upper_s));
        predict_all_links(&one, t, r);
        predict_nodes_and_links(&both, t, 0, r);
        cr_assert(near(one.lower_s, both.lower_s) &&
                  near(one.upper_s, both.upper_s));
    }
}

/* --- refused --- */

#define refused(call, name)                                                    \
    do {                                                                       \
        check_status(call, PASTSET_EINVAL);                                    \
        check_error(name);                                                     \
    } while (0)

Test(models, numbers_that_make_no_sense_are_refused_by_name, .timeout = 120)
{
    const predict_scheduler fair = PREDICT_SCHEDULER_FAIR;
    const predict_wire good = {0.001, 1e6};
    const predict_span span = {1, NAN};
    const uint64_t size = 10;
    predict_bounds b;
    double out;
    refused(predict_node_by_phases(&out, -1, 1, 1, fair), "busy phase");
    refused(predict_node_by_phases(&out, 1, NAN, 1, fair), "idle phase");
    refused(predict_node_by_phases(&out, 0, 0, 1, fair), "busy phase");
    refused(predict_node_by_phases(&out, 1, 1, -1, fair), "load");
    refused(predict_node_by_phases(&out, 1, 1, 1,
                                   (predict_scheduler){.credit_s = NAN}),
            "law");
    refused(predict_node_by_totals(&out, INFINITY, 1, 1, fair), "busy time");
    refused(predict_node_by_totals(&out, 1, -2, 1, fair), "idle time");
    refused(predict_node_by_sequence(&out, &span, 1, 1, fair), "idle phase");
    refused(predict_link_added(&out, (predict_wire){-1, 1e6}, good, 1, 1),
            "latency of the old link");
    refused(predict_link_added(&out, good, (predict_wire){0, 0}, 1, 1),
            "bandwidth of the changed link");
    refused(predict_link_added(&out, good, (predict_wire){0, -5}, 1, 1),
            "bandwidth of the changed link is -5");
    refused(predict_link_added(&out, (predict_wire){NAN, NAN}, good, 1, 1),
            "latency of the old link is nan");
    refused(predict_link_added(&out, good, good, -1, 1), "size");
    refused(predict_link_added(&out, good, good, 1, NAN), "number of messages");
    refused(
        predict_link_added_each(&out, good, (predict_wire){0, NAN}, &size, 1),
        "bandwidth");
    refused(predict_comm_ratio(&out, &good, &(predict_wire){-1, 1}, &size, 1),
            "latency of the changed");
    refused(predict_all_nodes(&b, (predict_times){-1, 0, 0}, 1), "computation");
    refused(predict_all_nodes(&b, (predict_times){1, NAN, 0}, 1),
            "communication");
    refused(predict_all_nodes(&b, (predict_times){1, 0, 0}, -1), "load");
    refused(predict_all_links(&b, (predict_times){1, 0, -1}, 1), "idle");
    refused(predict_all_links(&b, (predict_times){1, 0, 0}, 0), "ratio");
    refused(predict_nodes_and_links(&b, (predict_times){1, 0, 0}, NAN, 1),
            "load");
    refused(predict_node_and_link(&out, (predict_times){1, 1, 1}, NAN, 1, 1,
                                  fair, 1),
            "link adds");
    refused(predict_node_and_link(&out, (predict_times){1, 1, 1}, 1, 1.5, 1,
                                  fair, 1),
            "busy share");
    refused(predict_node_and_link(&out, (predict_times){1, 1, 1}, 1, 1, 1, fair,
                                  -1),
            "phases");
}
