/* scenario_test.c - conditions as texts. */
#include "predict/cluster/scenario.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdlib.h>

/* Four nodes, two of which share a place; links 0-1 (measured), 0-3, 1-2. */
static predict_profile *profile_make(void)
{
    predict_profile *p = predict_profile_create("test");
    predict_profile_add_place(p, "0-1", 2);
    predict_profile_add_place(p, "2", 1);
    predict_profile_add_node(p, "n0", 1);
    predict_profile_add_node(p, "n1", 0);
    predict_profile_add_node(p, "big-box", 0);
    predict_profile_add_node(p, "n1-big", 1);
    cr_assert_eq(predict_profile_add_link(p, 0, 1), 0);
    p->links[0].latency_s = 1e-4;
    p->links[0].bandwidth = 1e7;
    predict_profile_add_link(p, 1, 2);
    predict_profile_add_link(p, 0, 3);
    p->wall_ns = 1000000000;
    return p;
}

static predict_profile *profile;
static predict_scenario *scenario;

static void begin(void)
{
    profile = profile_make();
    check_status(
        predict_scenario_create(&scenario, profile, PREDICT_SCHEDULER_FAIR), 0);
}

static void end(void)
{
    predict_scenario_destroy(scenario);
    predict_profile_destroy(profile);
}

TestSuite(scenario, .init = begin, .fini = end, .timeout = 120);

Test(scenario, begins_as_it_was_measured)
{
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(scenario->loads[i], 0);
        cr_expect_eq(scenario->speeds[i], 1);
        cr_expect_eq(scenario->schedulers[i].credit_s, 0);
    }
    cr_expect_eq(scenario->wires[0].latency_s, 1e-4);
    cr_expect_eq(scenario->old[0].bandwidth, 1e7);
    cr_expect(isnan(scenario->wires[1].bandwidth));
}

Test(scenario, nodes_of_one_place_share_its_processors)
{
    cr_expect_eq(scenario->places[0], scenario->places[3]);
    cr_expect_eq(scenario->places[1], scenario->places[2]);
    cr_expect_neq(scenario->places[0], scenario->places[1]);
    cr_expect_eq(scenario->processors[scenario->places[0]], 1);
    cr_expect_eq(scenario->processors[scenario->places[1]], 2);
}

Test(scenario, a_node_gets_load_law_and_speed)
{
    check_status(
        predict_scenario_node(scenario, "n1:load=1.5,law=credit,speed=0.5"), 0);
    cr_expect_eq(scenario->loads[1], 1.5);
    cr_expect(isinf(scenario->schedulers[1].credit_s));
    cr_expect_eq(scenario->speeds[1], 0.5);
    cr_expect_eq(scenario->loads[0], 0);
    check_status(predict_scenario_node(scenario, "n1:law=bounded:6ms"), 0);
    cr_expect_eq(scenario->schedulers[1].credit_s, 0.006);
    cr_expect_eq(scenario->loads[1], 1.5, "what was told before stays");
}

Test(scenario, a_law_is_replaced_as_a_whole)
{
    check_status(predict_scenario_node(scenario, "*:law=eevdf:2ms"), 0);
    cr_expect_eq(scenario->schedulers[2].slice_s, 2e-3);
    check_status(predict_scenario_node(scenario, "n0:law=fair"), 0);
    check_status(predict_scenario_node(scenario, "n1:law=credit"), 0);
    cr_expect_eq(scenario->schedulers[0].slice_s, 0);
    cr_expect_eq(scenario->schedulers[1].slice_s, 0);
    cr_expect_eq(scenario->schedulers[2].slice_s, 2e-3);
}

Test(scenario, eevdf_has_the_slice_of_the_machine_that_was_profiled)
{
    predict_scenario *own;

    profile->slice_ns = 1400000;
    check_status(
        predict_scenario_create(&own, profile, PREDICT_SCHEDULER_DEFAULT), 0);
    cr_expect_float_eq(own->schedulers[0].slice_s, 1.4e-3, 1e-12);
    check_status(predict_scenario_node(own, "n0:law=eevdf:2ms"), 0);
    cr_expect_float_eq(own->schedulers[0].slice_s, 2e-3, 1e-12);
    check_status(predict_scenario_node(own, "n0:law=eevdf"), 0);
    cr_expect_float_eq(own->schedulers[0].slice_s, 1.4e-3, 1e-12);
    predict_scenario_destroy(own);
    profile->slice_ns = 0;
    check_status(predict_scenario_node(scenario, "n0:law=eevdf"), 0);
    cr_expect_float_eq(scenario->schedulers[0].slice_s, 2.8e-3, 1e-12);
}

Test(scenario, a_star_is_all_nodes)
{
    check_status(predict_scenario_node(scenario, "*:load=2"), 0);
    check_status(predict_scenario_node(scenario, "big-box:load=0"), 0);
    cr_expect_eq(scenario->loads[0], 2);
    cr_expect_eq(scenario->loads[2], 0);
    cr_expect_eq(scenario->loads[3], 2);
}

Test(scenario, a_link_gets_bandwidth_and_latency_in_any_order)
{
    check_status(
        predict_scenario_link(scenario, "n0-n1:latency=400us,bandwidth=10mbit"),
        0);
    cr_expect_eq(scenario->wires[0].bandwidth, 1.25e6);
    cr_expect_eq(scenario->wires[0].latency_s, 4e-4);
    cr_expect_eq(scenario->old[0].bandwidth, 1e7);
    check_status(predict_scenario_link(scenario, "n1-n0:latency=2ms"), 0);
    cr_expect_eq(scenario->wires[0].bandwidth, 1.25e6);
    cr_expect_eq(scenario->wires[0].latency_s, 2e-3);
    check_status(
        predict_scenario_link(scenario, "n1-n0:bandwidth=1MB,latency=1s"), 0);
    cr_expect_eq(scenario->wires[0].bandwidth, 1e6);
    cr_expect_eq(scenario->wires[0].latency_s, 1);
}

Test(scenario, a_link_gets_its_flow_and_loses_it_with_another_bandwidth)
{
    check_status(predict_scenario_link(
                     scenario,
                     "n0-n1:latency=9us,bandwidth=13mbit,rate=8mbit,burst=1600,"
                     "alone=20us"),
                 0);
    cr_expect_eq(scenario->flows[0].rate, 1e6);
    cr_expect_eq(scenario->flows[0].burst, 1600);
    cr_expect_eq(scenario->flows[0].latency_s, 2e-5);
    cr_expect_eq(scenario->flows[1].rate, 0);
    check_status(predict_scenario_link(scenario, "n0-n1:bandwidth=8mbit"), 0);
    cr_expect_eq(scenario->flows[0].rate, 0);
    check_status(
        predict_scenario_link(scenario, "n0-n1:bandwidth=8mbit,burst=x"),
        PASTSET_EINVAL);
}

Test(scenario, a_star_is_all_links)
{
    check_status(predict_scenario_link(scenario, "*:bandwidth=8mbit"), 0);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(scenario->wires[i].bandwidth, 1e6);
    cr_expect_eq(scenario->wires[0].latency_s, 1e-4);
    cr_expect(isnan(scenario->wires[1].latency_s));
}

Test(scenario, names_may_have_dashes_in_them)
{
    check_status(predict_scenario_link(scenario, "big-box-n1:bandwidth=8mbit"),
                 0);
    cr_expect_eq(scenario->wires[2].bandwidth, 1e6);
    check_status(predict_scenario_link(scenario, "n0-n1-big:bandwidth=16mbit"),
                 0);
    cr_expect_eq(scenario->wires[1].bandwidth, 2e6);
    cr_expect_eq(scenario->wires[0].bandwidth, 1e7);
}

Test(scenario, a_name_that_can_be_two_links_is_refused)
{
    predict_profile_add_node(profile, "box", 0);
    predict_profile_add_node(profile, "n0-big", 0);
    check_status(predict_scenario_link(scenario, "n0-big-box:bandwidth=8mbit"),
                 PASTSET_EINVAL);
    check_error("n0-big-box");
}

Test(scenario, a_link_that_is_not_used_makes_no_difference)
{
    check_status(predict_scenario_link(scenario,
                                       "n1-n1-big:latency=1ms,bandwidth=8mbit"),
                 0);
    cr_expect_eq(scenario->unused, 1);
    cr_expect_eq(scenario->wires[0].bandwidth, 1e7);
    cr_expect(isnan(scenario->wires[1].bandwidth));
    cr_expect(isnan(scenario->wires[2].bandwidth));
}

Test(scenario, what_is_not_there_is_named)
{
    check_status(predict_scenario_node(scenario, "n7:load=1"), PASTSET_ENOENT);
    check_error("n7");
    check_error("n0, n1, big-box, n1-big");
    check_status(predict_scenario_link(scenario, "n0-n7:bandwidth=1mbit"),
                 PASTSET_ENOENT);
    check_error("n0-n7");
    check_status(predict_scenario_link(scenario, "n0:bandwidth=1mbit"),
                 PASTSET_ENOENT);
    check_status(predict_scenario_link(scenario, "n0-n0:bandwidth=1mbit"),
                 PASTSET_EINVAL);
}

Test(scenario, texts_that_are_no_conditions_are_refused_and_change_nothing)
{
    static const char *const nodes[] = {"",
                                        "n0",
                                        "n0:",
                                        ":load=1",
                                        "n0:load=",
                                        "n0:load=-1",
                                        "n0:load=nan",
                                        "n0:load=inf",
                                        "n0:load=1x",
                                        "n0:speed=0",
                                        "n0:bandwidth=10mbit",
                                        "n0:law=no",
                                        "n0:load",
                                        "n0:load=1,,",
                                        "n0:load=1,x=2",
                                        "n0:load=1.2.3"};
    static const char *const links[] = {"",
                                        "n0-n1",
                                        "n0-n1:",
                                        "n0-n1:bandwidth=-10mbit",
                                        "n0-n1:bandwidth=0mbit",
                                        "n0-n1:bandwidth=10",
                                        "n0-n1:bandwidth=10mbit,",
                                        "n0-n1:load=1",
                                        "n0-n1:latency=-1ms",
                                        "n0-n1:busy=1",
                                        "n0-n1:bandwidth=10mbit,1parsec"};
    for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++)
        cr_expect_eq(predict_scenario_node(scenario, nodes[i]), PASTSET_EINVAL,
                     "\"%s\"", nodes[i]);
    for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
        cr_expect_eq(predict_scenario_link(scenario, links[i]), PASTSET_EINVAL,
                     "\"%s\"", links[i]);
    cr_expect_eq(scenario->loads[0], 0);
    cr_expect_eq(scenario->wires[0].bandwidth, 1e7);
    cr_expect_eq(scenario->wires[0].latency_s, 1e-4);
}

Test(scenario, long_texts_are_refused)
{
    char text[2000];
    memset(text, 'n', sizeof(text));
    strcpy(text + 1900, ":load=1");
    check_status(predict_scenario_node(scenario, text), PASTSET_EINVAL);
}

Test(scenario, a_wire_is_set_in_the_profile)
{
    check_status(predict_wire_set(
                     profile, "*:latency=150us,bandwidth=100mbit,busy=0.25"),
                 0);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(profile->links[i].bandwidth, 1.25e7);
        cr_expect_eq(profile->links[i].latency_s, 150e-6);
        cr_expect_eq(profile->links[i].busy, 0.25);
    }
    check_status(predict_wire_set(profile, "*:busy=1.5"), PASTSET_EINVAL);
    check_error("busy share");
}

Test(scenario, what_a_wire_does_not_tell_stays)
{
    predict_link *link = &profile->links[0];
    check_status(predict_wire_set(
                     profile, "n0-n1:latency=9us,bandwidth=13mbit,rate=8mbit,"
                              "burst=1600,alone=20us"),
                 0);
    check_status(predict_wire_set(profile, "n0-n1:busy=0.5"), 0);
    cr_expect_eq(link->busy, 0.5);
    cr_expect_eq(link->bandwidth, 13e6 / 8);
    cr_expect_eq(link->latency_s, 9e-6);
    cr_expect_eq(link->flow.rate, 1e6);
    check_status(predict_wire_set(profile, "n0-n1:bandwidth=8mbit"), 0);
    cr_expect_eq(link->bandwidth, 1e6);
    cr_expect_eq(link->latency_s, 9e-6);
    cr_expect_eq(link->busy, 0.5);
    cr_expect_eq(link->flow.rate, 0, "another bandwidth is another flow");
    cr_expect(isnan(profile->links[1].bandwidth));
}
