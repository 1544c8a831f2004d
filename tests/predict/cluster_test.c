/* cluster_test.c - cluster files: machines, the ways between them, and writing
 * what was measured. */
#include "predict/cluster/cluster.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/generate/generate.h"
#include "predict/cluster/cluster_internal.h"
#include "predict/profile/profile.h"
#include "predict/register_conditions.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

static predict_cluster *read_text(const char *text)
{
    predict_cluster *cluster;

    check_status(
        predict__cluster_parse(&cluster, text, strlen(text), "now.dot"), 0);
    return cluster;
}

static const predict_machine *machine(const predict_cluster *c,
                                      const char *name)
{
    uint32_t index = predict_cluster_find(c, name);

    cr_assert_neq(index, PREDICT_NONE, "no machine %s", name);
    return &c->machines[index];
}

static predict_wire wire(const predict_cluster *c, const char *from,
                         const char *to)
{
    return c->wires[(size_t)predict_cluster_find(c, from) * c->machine_count +
                    predict_cluster_find(c, to)];
}

static void check_wire(predict_wire w, double latency_s, double bandwidth)
{
    cr_assert_float_eq(w.latency_s, latency_s, 1e-12, "%g, not %g", w.latency_s,
                       latency_s);
    cr_assert_float_eq(w.bandwidth, bandwidth, 1e-6, "%g, not %g", w.bandwidth,
                       bandwidth);
}

/* --- machines --- */

Test(cluster, reads_the_conditions_of_machines, .timeout = 120)
{
    predict_cluster *c = read_text(
        "digraph { subgraph cluster_n { a [load=0.5, law=credit, speed=2,"
        " address=\"10.0.0.1\"]; } b [load=3, law=\"bounded:6ms\"]; }");

    cr_assert_eq(c->machine_count, 2);
    cr_assert_eq(machine(c, "a")->load, 0.5);
    cr_assert(isinf(machine(c, "a")->scheduler.credit_s));
    cr_assert_eq(machine(c, "a")->speed, 2);
    cr_assert_eq(machine(c, "b")->load, 3);
    cr_assert_float_eq(machine(c, "b")->scheduler.credit_s, 0.006, 1e-12);
    predict_cluster_destroy(c);
}

Test(cluster, takes_a_machine_without_conditions_as_idle, .timeout = 120)
{
    predict_cluster *c = read_text("digraph { a; }");

    cr_assert_eq(machine(c, "a")->load, 0);
    cr_assert_eq(machine(c, "a")->speed, 1);
    cr_assert_eq(machine(c, "a")->scheduler.credit_s, 0);
    cr_assert_eq(c->processors[machine(c, "a")->place], 1);
    cr_assert_eq(predict_cluster_find(c, "b"), PREDICT_NONE);
    predict_cluster_destroy(c);
}

Test(cluster, a_machine_may_say_that_it_is_one, .timeout = 120)
{
    predict_cluster *c = read_text("digraph { a [kind=machine, load=2]; b; }");

    cr_assert_eq(c->machine_count, 2);
    cr_assert_eq(machine(c, "a")->load, 2);
    predict_cluster_destroy(c);
}

Test(cluster, machines_of_one_place_share_its_processors, .timeout = 120)
{
    predict_cluster *c = read_text(
        "digraph { a [place=m]; b; c [place=m, processors=4]; d [place=k]; }");

    cr_assert_eq(machine(c, "a")->place, machine(c, "c")->place);
    cr_assert_neq(machine(c, "a")->place, machine(c, "b")->place);
    cr_assert_neq(machine(c, "b")->place, machine(c, "d")->place);
    cr_assert_eq(c->place_count, 3);
    cr_assert_eq(c->processors[machine(c, "a")->place], 4);
    cr_assert_eq(c->processors[machine(c, "b")->place], 1);
    predict_cluster_destroy(c);
}

/* --- ways --- */

static void check_way(const predict_cluster *c, const char *from,
                      const char *to, const char *wanted)
{
    uint32_t way[16];
    char text[256] = "";
    uint32_t count = predict_cluster_way(c, predict_cluster_find(c, from),
                                         predict_cluster_find(c, to), way);

    while (count--) {
        const predict_cable *link = &c->links[way[count]];
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s-%s ",
                 c->nodes[link->from], c->nodes[link->to]);
    }
    cr_assert_str_eq(text, wanted, "%s to %s: %s", from, to, text);
}

Test(cluster, knows_the_links_of_a_way, .timeout = 120)
{
    predict_cluster *c = read_text(
        "digraph { s [kind=switch]; t [kind=switch]; a; b; c; d; alone;"
        "edge [latency=\"10us\", bandwidth=\"10mbit\"];"
        "a -> s; s -> t; t -> b; t -> c; c -> t [bandwidth=\"1mbit\"];"
        "b -> c [latency=\"1ms\"]; c -> d; }");

    check_way(c, "a", "b", "s-a s-t t-b ");
    check_way(c, "b", "a", "t-b s-t s-a ");
    check_way(c, "a", "c", "s-a s-t t-c ");
    check_way(c, "b", "c", "b-c "); /* what was measured between the two */
    check_way(c, "a", "d", "");     /* machines do not forward */
    check_way(c, "a", "a", "");
    check_way(c, "a", "alone", "");
    cr_assert_eq(c->link_count, 6);
    for (uint32_t i = 0; i < c->link_count; i++)
        cr_assert_float_eq(c->links[i].bandwidth,
                           strcmp(c->nodes[c->links[i].to], "c") == 0 &&
                                   strcmp(c->nodes[c->links[i].from], "t") == 0
                               ? 125000
                               : 1250000,
                           1);
    predict_cluster_destroy(c);
}

/* --- links --- */

Test(cluster, a_link_is_of_both_directions, .timeout = 120)
{
    predict_cluster *c = read_text(
        "digraph { a -> b [latency=\"400us\", bandwidth=\"10mbit\"]; }");

    check_wire(wire(c, "a", "b"), 400e-6, 1.25e6);
    check_wire(wire(c, "b", "a"), 400e-6, 1.25e6);
    predict_cluster_destroy(c);
}

Test(cluster, a_link_of_the_other_direction_has_its_own_numbers, .timeout = 120)
{
    predict_cluster *c =
        read_text("digraph { a -> b [latency=\"400us\", bandwidth=\"10mbit\"];"
                  " b -> a [latency=\"1ms\", bandwidth=\"8mbit\"]; }");

    check_wire(wire(c, "a", "b"), 400e-6, 1.25e6);
    check_wire(wire(c, "b", "a"), 1e-3, 1e6);
    predict_cluster_destroy(c);
}

Test(cluster, a_way_over_switches_adds_latencies_and_has_the_least_bandwidth,
     .timeout = 120)
{
    predict_cluster *c =
        read_text("digraph { a; b; x [kind=switch]; y [kind=switch];"
                  " a -> x [latency=\"10us\", bandwidth=\"80mbit\"];"
                  " x -> y [latency=\"20us\", bandwidth=\"8mbit\"];"
                  " b -> y [latency=\"30us\", bandwidth=\"80mbit\"]; }");

    cr_assert_eq(c->machine_count, 2);
    check_wire(wire(c, "a", "b"), 60e-6, 1e6);
    check_wire(wire(c, "b", "a"), 60e-6, 1e6);
    predict_cluster_destroy(c);
}

Test(cluster, machines_do_not_forward, .timeout = 120)
{
    predict_cluster *c =
        read_text("digraph { a -> b [latency=\"1us\", bandwidth=\"8mbit\"];"
                  " b -> c [latency=\"1us\", bandwidth=\"8mbit\"]; }");

    cr_assert_eq(wire(c, "a", "c").bandwidth, 0);
    cr_assert_gt(wire(c, "a", "b").bandwidth, 0);
    predict_cluster_destroy(c);
}

Test(cluster, a_link_between_two_machines_goes_before_switches, .timeout = 120)
{
    predict_cluster *c =
        read_text("digraph { x [kind=switch];"
                  " a -> x [latency=\"1us\", bandwidth=\"80mbit\"];"
                  " b -> x [latency=\"1us\", bandwidth=\"80mbit\"];"
                  " a -> b [latency=\"1ms\", bandwidth=\"8mbit\"]; }");

    check_wire(wire(c, "a", "b"), 1e-3, 1e6);
    predict_cluster_destroy(c);
}

/* --- random graphs, by another algorithm --- */

#define NODES 14
#define MACHINES 5

typedef struct cost {
    unsigned latency_us, links, bandwidth; /* bandwidth 0: there is no way */
} cost;

static bool is_less(cost a, cost b)
{
    if (!a.bandwidth || !b.bandwidth)
        return a.bandwidth > b.bandwidth;
    if (a.latency_us != b.latency_us)
        return a.latency_us < b.latency_us;
    if (a.links != b.links)
        return a.links < b.links;
    return a.bandwidth > b.bandwidth;
}

static unsigned random_next(unsigned *state, unsigned below)
{
    *state = *state * 1103515245u + 12345u;
    return (*state >> 16) % below;
}

/* Few different latencies, so that many ways are equally long. The machines are
 * the first nodes. */
static char *random_graph(unsigned *state, cost costs[NODES][NODES])
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    memset(costs, 0, sizeof(cost) * NODES * NODES);
    fprintf(file, "digraph {\n");
    for (unsigned i = 0; i < NODES; i++)
        fprintf(file, "n%u%s;\n", i, i < MACHINES ? "" : " [kind=switch]");
    for (unsigned i = 0; i < NODES; i++) {
        for (unsigned j = 0; j < i; j++) {
            cost c = {random_next(state, 4), 1, 1 + random_next(state, 9)};
            if ((i < MACHINES && j < MACHINES) || random_next(state, 4))
                continue;
            costs[i][j] = costs[j][i] = c;
            fprintf(file, "n%u -> n%u [latency=\"%uus\", bandwidth=\"%uB\"];\n",
                    i, j, c.latency_us, c.bandwidth);
        }
    }
    fprintf(file, "}\n");
    fclose(file);
    return text;
}

/* Floyd and Warshall, over switches only. */
static void all_ways(cost c[NODES][NODES])
{
    for (unsigned k = MACHINES; k < NODES; k++) {
        for (unsigned i = 0; i < NODES; i++) {
            for (unsigned j = 0; j < NODES; j++) {
                cost a = c[i][k], b = c[k][j], sum;
                if (i == j || !a.bandwidth || !b.bandwidth)
                    continue;
                sum = (cost){a.latency_us + b.latency_us, a.links + b.links,
                             a.bandwidth < b.bandwidth ? a.bandwidth
                                                       : b.bandwidth};
                if (is_less(sum, c[i][j]))
                    c[i][j] = sum;
            }
        }
    }
}

Test(cluster, routes_are_those_that_floyd_and_warshall_find, .timeout = 120)
{
    cost costs[NODES][NODES];
    unsigned state = 1, ways = 0;

    for (int round = 0; round < 200; round++) {
        char *text = random_graph(&state, costs);
        predict_cluster *c = read_text(text);
        all_ways(costs);
        for (unsigned i = 0; i < MACHINES * MACHINES; i++) {
            cost want = costs[i / MACHINES][i % MACHINES];
            if (i / MACHINES == i % MACHINES)
                continue;
            ways += want.bandwidth > 0;
            check_wire(c->wires[i], want.bandwidth ? want.latency_us * 1e-6 : 0,
                       want.bandwidth);
        }
        predict_cluster_destroy(c);
        free(text);
    }
    cr_assert_gt(ways, 1000);
}

/* --- what is refused --- */

static void check_refused(const char *text, const char *why)
{
    predict_cluster *c;

    check_status(predict__cluster_parse(&c, text, strlen(text), "now.dot"),
                 PASTSET_EFORMAT);
    cr_assert_null(c);
    check_error(why);
}

Test(cluster, tells_which_machine_is_wrong, .timeout = 120)
{
    check_refused("digraph {\na [load=-1]; }", "now.dot:2: a: load=\"-1\"");
    check_refused("digraph { a [load=nan]; }", "is not a number");
    check_refused("digraph { a [load=inf]; }", "is not a number");
    check_refused("digraph { a [speed=0]; }", "above 0");
    check_refused("digraph { a [law=unfair]; }", "a: law: \"unfair\"");
    check_refused("digraph { a [processors=0]; }", "a: processors");
    check_refused("digraph { a [processors=1.5]; }", "not a whole number");
    check_refused("digraph { a [place=m, processors=1];"
                  " b [place=m, processors=2]; }",
                  "b: says that the place m has 2");
    check_refused("digraph { t0 [kind=thread]; }", "is this a path map");
    check_refused("digraph {\n\na [kind=host]; }",
                  "now.dot:3: a: kind=host is called kind=machine now");
    check_refused("digraph { x [kind=switch]; }", "no machine in it");
    check_refused("graph { a; }", "undirected");
    check_refused("digraph { a [;] }", "syntax error");
    check_refused("digraph { a", "a } is missing");
}

Test(cluster, tells_which_link_is_wrong, .timeout = 120)
{
    check_refused("digraph { a -> b [latency=\"1us\"]; }",
                  "link a -> b: has no bandwidth");
    check_refused("digraph { a -> b [bandwidth=\"1mbit\"]; }",
                  "link a -> b: has no latency");
    check_refused("digraph { a -> b [latency=\"1us\", bandwidth=\"0bit\"]; }",
                  "link a -> b: bandwidth is zero");
    check_refused("digraph { a -> b [latency=\"-1us\", bandwidth=\"1bit\"]; }",
                  "link a -> b: latency: \"-1us\" is not a duration");
    check_refused("digraph { a -> b [latency=\"1us\", bandwidth=\"-1mbit\"]; }",
                  "link a -> b: bandwidth: \"-1mbit\" is not a rate");
}

Test(cluster, refuses_more_machines_than_it_can_hold, .timeout = 120)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    fprintf(file, "digraph {\n");
    for (int i = 0; i <= PREDICT__MACHINES_MAX; i++)
        fprintf(file, "h%d;\n", i);
    fprintf(file, "}\n");
    fclose(file);
    check_refused(text, "at most 2000 are supported");
    free(text);
}

Test(cluster, tells_that_there_is_no_such_file, .timeout = 120)
{
    predict_cluster *c;

    check_status(predict_cluster_read(&c, "/no/such/file.dot"), PASTSET_EIO);
    check_error("/no/such/file.dot");
}

/* --- writing --- */

TestSuite(cluster_update, .init = scratch_make, .fini = scratch_remove,
          .timeout = 120);

Test(cluster_update, makes_a_file_that_gives_the_numbers)
{
    const predict_cluster_change changes[] = {
        {"a", NULL, "load", "1.5"},
        {"a", "b", "latency", "200us"},
        {"a", "b", "bandwidth", "16mbit"},
    };
    const char *file = scratch_file("now.dot");
    predict_cluster *c;

    check_status(predict_cluster_update(file, changes, 3), 0);
    check_status(predict_cluster_read(&c, file), 0);
    cr_assert_eq(c->machine_count, 2);
    cr_assert_eq(machine(c, "a")->load, 1.5);
    check_wire(wire(c, "b", "a"), 200e-6, 2e6);
    predict_cluster_destroy(c);
}

Test(cluster_update, keeps_what_it_does_not_change)
{
    const predict_cluster_change changes[] = {
        {"n0", NULL, "load", "2"},
        {"new", NULL, "law", "credit"},
        {"n1", "n0", "bandwidth", "8mbit"}, /* is in it as n0 -> n1 */
    };
    const char *file = scratch_write(
        "now.dot",
        "digraph machines { // whose\n"
        " subgraph cluster_north { n0 [address=\"10.0.0.1:7000\", load=1]; }\n"
        " n1 [speed=2, color=red]; x [kind=switch];\n"
        " n0 -> n1 [latency=\"5ms\", bandwidth=\"10mbit\", simulate=true];\n"
        "}\n");
    paths_map *map;
    predict_cluster *c;
    uint32_t n0, n1;

    check_status(predict_cluster_update(file, changes, 3), 0);
    check_status(predict_cluster_read(&c, file), 0);
    cr_assert_eq(c->machine_count, 3);
    cr_assert_eq(machine(c, "n0")->load, 2);
    cr_assert_eq(machine(c, "n1")->speed, 2);
    cr_assert(isinf(machine(c, "new")->scheduler.credit_s));
    check_wire(wire(c, "n0", "n1"), 5e-3, 1e6);
    predict_cluster_destroy(c);

    check_status(paths_mapping_read(&map, file), 0);
    n0 = paths_map_find_node(map, "n0");
    n1 = paths_map_find_node(map, "n1");
    cr_assert_str_eq(map->name, "machines");
    cr_assert_eq(map->edge_count, 1);
    cr_assert_str_eq(map->processes[map->nodes[n0].process].name, "north");
    cr_assert_str_eq(paths_node_get(&map->nodes[n0], "address"),
                     "10.0.0.1:7000");
    cr_assert_str_eq(paths_node_get(&map->nodes[n1], "color"), "red");
    cr_assert_str_eq(
        paths_attributes_get(&map->edges[0].attributes, "simulate"), "true");
    paths_map_destroy(map);
}

Test(cluster_update, leaves_a_file_alone_that_it_cannot_read)
{
    const predict_cluster_change change = {"a", NULL, "load", "1"};
    const char *file = scratch_write("now.dot", "digraph { a -> ");
    char *text;
    size_t bytes;

    check_status(predict_cluster_update(file, &change, 1), PASTSET_EFORMAT);
    check_error("now.dot");
    text = file_read(file, &bytes);
    cr_assert_str_eq(text, "digraph { a -> ");
    free(text);
}

Test(cluster_update, tells_that_it_cannot_write)
{
    const predict_cluster_change change = {"a", NULL, "load", "1"};

    check_status(predict_cluster_update("/no/such/folder/now.dot", &change, 1),
                 PASTSET_EIO);
    check_error("/no/such/folder/now.dot");
}

Test(cluster_update, path_maps_are_generated_from_the_same_file)
{
    const char *file = scratch_write(
        "now.dot",
        "digraph { a [load=1, law=fair, speed=1, processors=2, place=m];"
        " b; x [kind=switch];"
        " a -> x [latency=\"1us\", bandwidth=\"1mbit\"];"
        " b -> x [latency=\"1us\", bandwidth=\"1mbit\"]; }");
    const char *application = "digraph { t0 [kind=thread]; t1 [kind=thread];"
                              " e [kind=element, type=i32];"
                              " t0 -> e [use=write]; t1 -> e [use=read]; }";
    paths_generate_options options = {0};
    paths_map *cluster, *threads, *map;

    check_status(predict_register(), 0);
    check_status(paths_mapping_read(&cluster, file), 0);
    check_status(
        paths_map_parse(&threads, application, strlen(application), "app"), 0);
    options.application = threads;
    options.cluster = cluster;
    check_status(paths_generate(&map, &options), 0);
    cr_assert_eq(map->process_count, 2);
    for (const char *const *key =
             (const char *const[]){"load", "law", "speed", "processors",
                                   "place", NULL};
         *key; key++)
        cr_expect_null(
            paths_attributes_get(&map->processes[0].attributes, *key));
    paths_map_destroy(map);
    paths_map_destroy(threads);
    paths_map_destroy(cluster);
}

Test(cluster_update, path_maps_are_not_generated_with_a_misspelt_attribute)
{
    const char *file = scratch_write("now.dot", "digraph { a [lode=1]; }");
    const char *application = "digraph { t0 [kind=thread];"
                              " e [kind=element, type=i32]; t0 -> e; }";
    paths_generate_options options = {0};
    paths_map *cluster, *threads, *map;

    check_status(predict_register(), 0);
    check_status(paths_mapping_read(&cluster, file), 0);
    check_status(
        paths_map_parse(&threads, application, strlen(application), "app"), 0);
    options.application = threads;
    options.cluster = cluster;
    check_status(paths_generate(&map, &options), PASTSET_EMAP);
    check_error("a: has an unknown attribute, lode: there are address, "
                "polling, encrypt, networks, affinity, netns, load, law, "
                "speed, processors "
                "and place");
    paths_map_destroy(threads);
    paths_map_destroy(cluster);
}
