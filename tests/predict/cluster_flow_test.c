/* cluster_flow_test.c - links of cluster files whose flow is known: rate, burst
 * and alone; and that choosing goes by them. */
#include "predict/cluster/cluster.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/generate/generate.h"
#include "predict/choose/choose.h"
#include "predict/cluster/cluster_internal.h"
#include "tests/predict/ring.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"
#include "predict/choose/choose_internal.h"

static predict_cluster *read_text(const char *text)
{
    predict_cluster *cluster;

    check_status(
        predict__cluster_parse(&cluster, text, strlen(text), "now.dot"), 0);
    return cluster;
}

static void check_flow(const predict_cluster *c, const char *from,
                       const char *to, predict_flow want)
{
    const predict_flow *got;

    cr_assert_not_null(c->flows);
    got = &c->flows[(size_t)predict_cluster_find(c, from) * c->machine_count +
                    predict_cluster_find(c, to)];
    cr_assert_float_eq(got->rate, want.rate, 1e-6, "%s-%s: rate %g, not %g",
                       from, to, got->rate, want.rate);
    cr_assert_float_eq(got->burst, want.burst, 1e-6, "%s-%s: burst %g, not %g",
                       from, to, got->burst, want.burst);
    cr_assert_float_eq(got->latency_s, want.latency_s, 1e-15,
                       "%s-%s: alone %g, not %g", from, to, got->latency_s,
                       want.latency_s);
}

/* --- reading --- */

Test(cluster_flow, is_read_in_the_units_of_conditions, .timeout = 120)
{
    predict_cluster *c = read_text(
        "digraph { a -> b [latency=\"9us\", bandwidth=\"13mbit\","
        " rate=\"9.6mbit\", burst=1600, alone=\"20us\"];"
        " b -> c [latency=\"9us\", bandwidth=\"13mbit\"];"
        " c -> a [latency=\"9us\", bandwidth=\"13mbit\", rate=\"80kbit\"]; }");

    check_flow(c, "a", "b", (predict_flow){1.2e6, 1600, 20e-6});
    check_flow(c, "b", "a", (predict_flow){1.2e6, 1600, 20e-6});
    check_flow(c, "b", "c", (predict_flow){0, 0, 0});
    check_flow(c, "c", "a", (predict_flow){1e4, 0, 9e-6});
    cr_assert_float_eq(c->wires[1].bandwidth, 13e6 / 8, 1e-6);
    predict_cluster_destroy(c);
}

Test(cluster_flow, is_none_where_the_file_tells_none, .timeout = 120)
{
    predict_cluster *c =
        read_text("digraph { a -> b [latency=\"9us\", bandwidth=\"1mbit\"]; }");

    cr_assert_null(c->flows);
    predict_cluster_destroy(c);
}

Test(cluster_flow, of_a_way_is_that_of_its_narrowest_link, .timeout = 120)
{
    predict_cluster *c = read_text(
        "digraph { a; b; c; x [kind=switch]; y [kind=switch];"
        " a -> x [latency=\"10us\", bandwidth=\"20mbit\", rate=\"16mbit\","
        "         burst=5000, alone=\"3us\"];"
        " x -> y [latency=\"20us\", bandwidth=\"80mbit\"];"
        " y -> b [latency=\"30us\", bandwidth=\"9mbit\", rate=\"8mbit\","
        "         burst=700, alone=\"4us\"];"
        " y -> c [latency=\"40us\", bandwidth=\"4mbit\"]; }");

    check_flow(c, "a", "b", (predict_flow){1e6, 700, 27e-6});
    check_flow(c, "b", "a", (predict_flow){1e6, 700, 27e-6});
    check_flow(c, "a", "c", (predict_flow){0, 0, 0});
    cr_assert_float_eq(c->wires[2].latency_s, 70e-6, 1e-12);
    predict_cluster_destroy(c);
}

/* --- what is refused --- */

static void check_refused(const char *attributes, const char *why)
{
    predict_cluster *c;
    char text[300];

    snprintf(text, sizeof(text),
             "digraph {\na; b;\na -> b [latency=\"1us\", bandwidth=\"1mbit\", "
             "%s]; }",
             attributes);
    check_status(predict__cluster_parse(&c, text, strlen(text), "now.dot"),
                 PASTSET_EFORMAT);
    cr_assert_null(c);
    check_error("now.dot:3: link a -> b: ");
    check_error(why);
}

Test(cluster_flow, that_is_wrong_is_told_with_its_link, .timeout = 120)
{
    check_refused("rate=fast", "rate: \"fast\" is not a rate");
    check_refused("rate=\"-1mbit\"", "rate: \"-1mbit\" is not a rate");
    check_refused("rate=\"0bit\"", "rate is zero");
    check_refused("rate=\"1mbit\", burst=\"-1\"",
                  "burst=\"-1\" is not a number");
    check_refused("rate=\"1mbit\", burst=nan", "burst=\"nan\" is not a number");
    check_refused("rate=\"1mbit\", burst=inf", "burst=\"inf\" is not a number");
    check_refused("rate=\"1mbit\", burst=\"1.2.3\"",
                  "is not a number of bytes");
    check_refused("rate=\"1mbit\", burst=99999999999999999999", "to 1e+15");
    check_refused("rate=\"1mbit\", alone=soon", "alone: \"soon\" is not a dur");
    check_refused("burst=1600", "has burst but no rate");
    check_refused("alone=\"1us\"", "has alone but no rate");
}

/* --- writing --- */

Test(cluster_flow, is_written_and_taken_out_again, .init = scratch_make,
     .fini = scratch_remove, .timeout = 120)
{
    const predict_cluster_change put[] = {
        {"b", "a", "rate", "9.6mbit"}, /* is in it as a -> b */
        {"b", "a", "burst", "1600"},
        {"b", "a", "alone", "20us"},
    };
    const predict_cluster_change take[] = {{"a", "b", "rate", NULL},
                                           {"a", "b", "burst", NULL},
                                           {"a", "b", "alone", NULL},
                                           {"a", "b", "never", NULL}};
    const char *file =
        scratch_write("now.dot", "digraph { a -> b [latency=\"9us\", "
                                 "bandwidth=\"13mbit\", color=red]; }\n");
    predict_cluster *c;
    paths_map *map;

    check_status(predict_cluster_update(file, put, 3), 0);
    check_status(predict_cluster_read(&c, file), 0);
    check_flow(c, "a", "b", (predict_flow){1.2e6, 1600, 20e-6});
    predict_cluster_destroy(c);
    check_status(predict_cluster_update(file, take, 4), 0);
    check_status(predict_cluster_read(&c, file), 0);
    cr_assert_null(c->flows);
    cr_assert_float_eq(c->wires[1].bandwidth, 13e6 / 8, 1e-6);
    predict_cluster_destroy(c);
    check_status(paths_mapping_read(&map, file), 0);
    cr_assert_eq(map->edges[0].attributes.count, 3);
    paths_map_destroy(map);
}

/* --- choosing --- */

/* Two nodes that send each other small messages, which fit into a burst. */
static const ring small = {.nodes = 2,
                           .rounds = 50,
                           .busy_ns = {20000000, 20000000},
                           .bytes = {4000, 4000},
                           .actors = true};

/* By L and B the link c-d is better: 4.1 ms a message, not 8.02 ms; but a-b
 * carries those of 4,000 bytes at once, as each comes after a rest of 20 ms. */
static const char *const two_links =
    "digraph { a -> b [latency=\"20us\", bandwidth=\"4mbit\"%s];"
    " c -> d [latency=\"100us\", bandwidth=\"8mbit\"]; }";

static predict_choice *choose_by(const char *flow, const predict_profile *p)
{
    char text[400];
    predict_choose_options options = {.max = 1000};
    predict_cluster *c;
    predict_choice *choice;

    snprintf(text, sizeof(text), two_links, flow);
    c = read_text(text);
    check_status(predict_choose(&choice, p, c, &options), 0);
    cr_assert_str_eq(choice->model, "replay");
    cr_assert_eq(choice->tried, 4);
    predict_cluster_destroy(c);
    return choice;
}

Test(cluster_flow, decides_where_a_burst_goes_through_at_once, .timeout = 120)
{
    predict_profile *p = ring_profile(&small);
    predict_choice *without = choose_by("", p);
    predict_choice *with =
        choose_by(", rate=\"3.2mbit\", burst=5000, alone=\"50us\"", p);
    predict_choice *little =
        choose_by(", rate=\"3.2mbit\", burst=100, alone=\"50us\"", p);

    cr_assert_geq(without->placements[0].machines[0], 2, "not c and d");
    cr_assert_lt(with->placements[0].machines[0], 2, "not a and b");
    cr_assert_geq(little->placements[0].machines[0], 2, "not c and d");
    /* Both compute, then both wait for a message. */
    cr_assert_float_eq(with->placements[0].time_s, 50 * (20e-3 + 50e-6), 1e-9,
                       "%.9f", with->placements[0].time_s);
    cr_assert_float_eq(without->placements[0].time_s, 50 * (20e-3 + 4.1e-3),
                       1e-9, "%.9f", without->placements[0].time_s);
    predict_choice_destroy(without);
    predict_choice_destroy(with);
    predict_choice_destroy(little);
    predict_profile_destroy(p);
}

/* What was measured of the profile's own link is not that of the cluster. */
Test(cluster_flow, of_the_profile_does_not_count_on_other_links, .timeout = 120)
{
    predict_profile *p = ring_profile(&small);
    predict_cluster *c =
        read_text("digraph { a -> b [latency=\"9us\", bandwidth=\"1mbit\"];"
                  " a -> c [latency=\"9us\", bandwidth=\"1mbit\","
                  " rate=\"8kbit\", burst=7, alone=\"1us\"]; }");
    predict_scenario *s;

    p->links[0].flow = (predict_flow){11e6, 4000, 100e-6};
    check_status(predict_placement_scenario(&s, p, c, (uint32_t[]){0, 1}), 0);
    cr_assert_eq(s->flows[0].rate, 0);
    predict_scenario_destroy(s);
    check_status(predict_placement_scenario(&s, p, c, (uint32_t[]){2, 0}), 0);
    cr_assert_eq(s->flows[0].rate, 1000);
    cr_assert_eq(s->flows[0].burst, 7);
    predict_scenario_destroy(s);
    predict_cluster_destroy(c);
    predict_profile_destroy(p);
}

/* Messages that are longer than the burst, each after a rest: what the scenario
 * says of the link makes their time what it is on the two directions. */
Test(cluster_flow, that_differs_by_direction_keeps_the_time_of_messages,
     .timeout = 120)
{
    ring r = {.nodes = 2,
              .rounds = 10,
              .busy_ns = {1000000, 1000000},
              .bytes = {9000, 4000}};
    predict_profile *p = ring_profile(&r);
    predict_cluster *c =
        read_text("digraph { a -> b [latency=\"2ms\", bandwidth=\"80kbit\","
                  " rate=\"40kbit\", burst=3000, alone=\"1ms\"];"
                  " b -> a [latency=\"4ms\", bandwidth=\"8kbit\"]; }");
    double want = 10 * (1e-3 + (9000 - 3000) / 5e3) + 10 * (4e-3 + 4000 / 1e3);
    double got = 0;
    predict_scenario *s;
    predict_flow flow;

    check_status(predict_placement_scenario(&s, p, c, (uint32_t[]){0, 1}), 0);
    flow = s->flows[0];
    for (size_t i = 0; i < p->message_count; i++)
        got += flow.latency_s +
               ((double)p->messages[i].bytes - flow.burst) / flow.rate;
    cr_assert_float_eq(got, want, 1e-9, "%g, not %g", got, want);
    predict_scenario_destroy(s);
    predict_cluster_destroy(c);
    predict_profile_destroy(p);
}
