/* topology_test.c - hops, collective sites and tops: of figure 3, of generated
 * trees, and of maps that were written by hand. */
#include <stdlib.h>

#include "eventspace/instrument.h"
#include "scopes/causality/topology.h"
#include "tests/support/check.h"
#include "tests/support/mapping.h"

#define FIGURE3 TEST_SOURCE_DIR "/../examples/figure3/figure3.dot"

static paths_map *map;
static scopes_topology *topology;

static void clean(void)
{
    scopes_topology_destroy(topology);
    paths_map_destroy(map);
}

TestSuite(topology, .timeout = 120, .fini = clean);

static void parse(const char *text)
{
    check_status(paths_map_parse(&map, text, strlen(text), "test.dot"), 0);
}

static void make(const char *text)
{
    parse(text);
    check_status(scopes_topology_create(&topology, map), 0);
}

static void make_figure3(void)
{
    check_status(paths_map_read(&map, FIGURE3), 0);
    check_status(scopes_topology_create(&topology, map), 0);
}

/* A generated map with 12 threads, instrumented. */
static void make_tree(const char *shape, unsigned fanout,
                      eventspace_collectors collectors)
{
    eventspace_instrument_options options = {.collectors = collectors};
    char *application = mapping_of(12, "sum", "f64", "");
    char *text = mapping_map(application, 4, shape, fanout);
    paths_map *bare;

    check_status(paths_map_parse(&bare, text, strlen(text), "tree.dot"), 0);
    check_status(eventspace_instrument(&map, bare, &options), 0);
    check_status(scopes_topology_create(&topology, map), 0);
    paths_map_destroy(bare);
    free(text);
    free(application);
}

/* --- asking --- */

static uint32_t node(const char *name)
{
    uint32_t found = paths_map_find_node(map, name);

    cr_assert_neq(found, PATHS_NONE, "no node %s", name);
    return found;
}

static uint32_t id_of(uint32_t index)
{
    const char *text = paths_node_get(&map->nodes[index], "id");

    return text ? (uint32_t)strtoul(text, NULL, 10) : PATHS_NONE;
}

static const scopes_site *site(const char *name)
{
    for (uint32_t i = 0; i < topology->site_count; i++) {
        if (topology->sites[i].node == node(name))
            return &topology->sites[i];
    }
    return NULL;
}

static void check_ids(const scopes_ids *ids, uint32_t count,
                      const uint32_t *want)
{
    cr_assert_eq(ids->count, count, "%u, not %u", ids->count, count);
    for (uint32_t i = 0; i < count; i++)
        cr_assert_eq(ids->ids[i], want[i], "at %u: %u, not %u", i, ids->ids[i],
                     want[i]);
}

#define check_list(list, ...)                                                  \
    check_ids(&(list), sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),   \
              (uint32_t[]){__VA_ARGS__})

static void check_hop(uint32_t upper, uint32_t lower, const char *name,
                      const char *element, bool remote)
{
    const scopes_hop *hop = &topology->hops[upper];

    cr_assert_eq(hop->upper, upper);
    cr_assert_eq(hop->lower, lower, "of %u: %u", upper, hop->lower);
    cr_assert_str_eq(hop->name, name);
    cr_assert_eq(hop->element, node(element));
    cr_assert_eq(hop->remote, remote, "of %u", upper);
}

/* --- figure 3 --- */

Test(topology, figure_3_has_ten_hops)
{
    make_figure3();
    cr_assert_eq(topology->collectors, 11);
    cr_assert_eq(topology->hops[0].upper, PATHS_NONE);
    check_hop(1, 7, "sum1", "element1", false);
    check_hop(2, 7, "sum1", "element1", false);
    check_hop(3, 9, "sum2", "element1", false);
    check_hop(4, 9, "sum2", "element1", false);
    check_hop(5, PATHS_NONE, "element2", "element2", false);
    check_hop(6, PATHS_NONE, "element2", "element2", false);
    check_hop(7, 10, "sum3", "element1", false);
    check_hop(8, 10, "sum3", "element1", false);
    check_hop(9, 8, "proxy", "element1", true);
    check_hop(10, PATHS_NONE, "element1", "element1", false);
    cr_assert_eq(topology->hops[7].collective, node("sum3"));
    cr_assert_eq(topology->hops[7].proxy, PATHS_NONE);
    cr_assert_eq(topology->hops[9].proxy, node("proxy"));
    cr_assert_eq(topology->hops[9].collective, PATHS_NONE);
    check_list(topology->above[7], 1, 2);
    check_list(topology->above[8], 9);
    check_list(topology->above[10], 7, 8);
    cr_assert_eq(topology->above[5].count, 0);
    check_list(topology->lowest[node("element1")], 10);
    check_list(topology->lowest[node("element2")], 5, 6);
}

Test(topology, figure_3_has_three_meetings_with_the_root_first)
{
    const scopes_site *root, *here, *there;

    make_figure3();
    cr_assert_eq(topology->site_count, 3);
    root = site("sum3"), here = site("sum1"), there = site("sum2");
    cr_assert_eq(root, &topology->sites[0]);
    cr_assert_eq(root->parent, PATHS_NONE);
    cr_assert_eq(root->depth, 0);
    cr_assert_eq(root->lower, 10);
    check_list(root->inputs, 7, 8);
    check_list(here->inputs, 1, 2);
    check_list(there->inputs, 3, 4);
    cr_assert_eq(here->lower, 7);
    cr_assert_eq(there->lower, 9);
    cr_assert_eq(here->parent, 0);
    cr_assert_eq(there->parent, 0);
    cr_assert_eq(here->parent_input, 0);
    cr_assert_eq(there->parent_input, 1);
    cr_assert_eq(there->depth, 1);
    cr_assert_eq(there->process, paths_map_find_process(map, "B"));
    cr_assert_eq(there->element, node("element1"));
    cr_assert(!root->shared && !here->shared && !there->shared);
}

Test(topology, figure_3_has_six_tops)
{
    make_figure3();
    cr_assert_eq(topology->top_count, 6);
    cr_assert_eq(topology->thread_count, 5);
    cr_assert_eq(topology->tops[3].thread, 3);
    cr_assert_eq(topology->tops[3].collector, 4);
    cr_assert_str_eq(topology->tops[3].name, "total");
    cr_assert_eq(&topology->sites[topology->tops[3].site], site("sum2"));
    cr_assert_eq(topology->tops[3].input, 1);
    cr_assert_eq(topology->tops[4].thread, 3);
    cr_assert_eq(topology->tops[4].collector, 5);
    cr_assert_eq(topology->tops[4].site, PATHS_NONE);
    cr_assert_eq(topology->tops[4].element, node("element2"));
    cr_assert_eq(scopes_topology_input(topology, 0, 0), 0);
    cr_assert_eq(scopes_topology_input(topology, 0, 3), 1);
    cr_assert_eq(scopes_topology_input(topology, 0, 4), PATHS_NONE);
    cr_assert_str_eq(scopes_topology_thread_name(topology, 4), "thread5");
    cr_assert_str_eq(scopes_topology_collector_name(topology, 9), "EC9");
    cr_assert_str_eq(scopes_topology_collector_name(topology, 0), "");
    cr_assert_str_eq(scopes_topology_collector_name(topology, PATHS_NONE), "");
    cr_assert_str_eq(scopes_topology_process_name(topology, PATHS_NONE), "");
}

/* --- generated trees, checked by walking down each path --- */

/* What a path passes is what ways tell of it. Gives the collective sites
 * passed. */
static uint32_t check_path(uint32_t top_index)
{
    const scopes_top *top = &topology->tops[top_index];
    uint32_t nodes[PATHS_PATH_NODES], sites = 0, last = PATHS_NONE;
    size_t count = paths_map_walk(map, top->edge, nodes, PATHS_PATH_NODES);

    cr_assert_eq(top->element, nodes[count - 1]);
    for (size_t i = 0; i < count; i++) {
        uint32_t id = id_of(nodes[i]);
        const scopes_site *m;
        if (id != PATHS_NONE && last != PATHS_NONE)
            cr_assert_eq(topology->hops[last].lower, id);
        if (id != PATHS_NONE)
            last = id;
        if (strcmp(map->nodes[nodes[i]].type, "sum") != 0)
            continue;
        m = site(map->nodes[nodes[i]].name);
        if (!m)
            continue; /* one with the next */
        uint32_t number = (uint32_t)(m - topology->sites);
        uint32_t input = scopes_topology_input(topology, number, top->thread);
        cr_assert_lt(input, m->inputs.count);
        cr_assert_eq(m->inputs.ids[input], last);
        if (sites++ == 0)
            cr_assert_eq(top->site, number);
    }
    cr_assert_eq(topology->hops[last].lower, PATHS_NONE);
    return sites;
}

/* Each wrapper has as many inputs as edges, and its parent is before it. */
static void check_tree(void)
{
    uint32_t sums = 0;

    for (uint32_t i = 0; i < map->node_count; i++)
        sums += strcmp(map->nodes[i].type, "sum") == 0;
    cr_assert_eq(topology->site_count, sums);
    for (uint32_t i = 0; i < topology->site_count; i++) {
        const scopes_site *m = &topology->sites[i];
        cr_assert_eq(m->inputs.count, map->nodes[m->node].in_count);
        cr_assert_eq(m->parent == PATHS_NONE, i == 0);
        if (i > 0)
            cr_assert_lt(m->parent, i);
        if (i > 0)
            cr_assert_eq(m->depth, topology->sites[m->parent].depth + 1);
    }
    cr_assert_eq(topology->top_count, 12);
    for (uint32_t i = 0; i < topology->top_count; i++)
        cr_assert_eq(check_path(i),
                     topology->sites[topology->tops[i].site].depth + 1);
}

Test(topology, a_flat_tree_has_one_meeting_for_all)
{
    make_tree("flat", 0, EVENTSPACE_ALL_COLLECTORS);
    cr_assert_eq(topology->site_count, 1);
    cr_assert_eq(topology->sites[0].inputs.count, 12);
    check_tree();
}

Test(topology, a_hierarchical_tree_has_one_for_each_process_and_the_root)
{
    make_tree("hierarchical", 0, EVENTSPACE_ALL_COLLECTORS);
    cr_assert_eq(topology->site_count, 5);
    check_tree();
}

Test(topology, a_tree_of_small_fanout_is_deep)
{
    make_tree("flat", 2, EVENTSPACE_ALL_COLLECTORS);
    cr_assert_gt(topology->sites[topology->site_count - 1].depth, 2);
    check_tree();
}

Test(topology, a_binomial_tree_has_threads_and_partials_at_one_wrapper)
{
    make_tree("binomial", 0, EVENTSPACE_ALL_COLLECTORS);
    check_tree();
}

Test(topology, with_collectors_at_the_threads_only_a_tree_is_one_meeting)
{
    const char *shapes[] = {"flat", "hierarchical", "binomial"};

    for (int i = 0; i < 3; i++) {
        make_tree(shapes[i], 0, EVENTSPACE_THREAD_COLLECTORS);
        cr_assert_eq(topology->site_count, 1);
        cr_assert_eq(topology->sites[0].node, node("all.sum"));
        cr_assert_eq(topology->sites[0].lower, PATHS_NONE);
        cr_assert_eq(topology->sites[0].inputs.count, 12);
        for (uint32_t t = 0; t < 12; t++) {
            uint32_t input = scopes_topology_input(topology, 0, t);
            cr_assert_eq(topology->sites[0].inputs.ids[input],
                         topology->tops[t].collector);
        }
        if (i < 2)
            clean();
    }
}

Test(topology, without_any_collector_there_are_still_meetings_and_tops)
{
    make_tree("hierarchical", 0, EVENTSPACE_NO_COLLECTORS);
    cr_assert_eq(topology->collectors, 0);
    cr_assert_eq(topology->site_count, 1);
    for (uint32_t t = 0; t < 12; t++) {
        uint32_t input = scopes_topology_input(topology, 0, t);
        cr_assert_lt(input, 12);
        cr_assert_eq(topology->sites[0].inputs.ids[input], PATHS_NONE);
        cr_assert_eq(topology->tops[t].collector, PATHS_NONE);
        for (uint32_t other = 0; other < t; other++)
            cr_assert_neq(scopes_topology_input(topology, 0, other), input);
    }
}

/* --- by hand --- */

/* t0 has a collector at its top only, t1 behind the delay only, t2 none. */
static const char some_collectors[] =
    "digraph some {"
    "  subgraph cluster_a {"
    "    t0 [kind=thread, number=0]; t1 [kind=thread, number=1];"
    "    t2 [kind=thread, number=2];"
    "    e0 [kind=collector, id=3]; d0 [kind=delay, latency=\"1ms\"];"
    "    d1 [kind=delay, latency=\"1ms\"]; e1 [kind=collector, id=1];"
    "    s [kind=sum]; d2 [kind=delay, latency=\"1ms\"]; p [kind=proxy];"
    "  }"
    "  subgraph cluster_b {"
    "    r [kind=sum]; e2 [kind=collector, id=5]; t3 [kind=thread, number=3];"
    "    x [kind=element, type=i64];"
    "  }"
    "  t0 -> e0; e0 -> d0; d0 -> s; t1 -> d1; d1 -> e1; e1 -> s; t2 -> s;"
    "  s -> d2; d2 -> p; p -> r; t3 -> r; r -> e2; e2 -> x;"
    "}";

Test(topology, delays_and_stages_without_collectors_are_passed_by)
{
    make(some_collectors);
    cr_assert_eq(topology->site_count, 1); /* s is one with r */
    cr_assert_eq(topology->sites[0].node, node("r"));
    check_list(topology->sites[0].inputs, 3, 1, PATHS_NONE, PATHS_NONE);
    check_hop(3, 5, "d0 > s > d2 > p > r", "x", true);
    check_hop(1, 5, "s > d2 > p > r", "x", true);
    check_hop(5, PATHS_NONE, "x", "x", false);
    cr_assert_eq(topology->hops[3].collective, node("r"));
    cr_assert_eq(topology->hops[3].proxy, node("p"));
    cr_assert_eq(topology->tops[0].collector, 3);
    cr_assert_eq(topology->tops[1].collector, PATHS_NONE); /* not at its top */
    for (uint32_t t = 0; t < 4; t++) {
        cr_assert_eq(topology->tops[t].site, 0);
        cr_assert_eq(topology->tops[t].input, t);
        cr_assert_eq(scopes_topology_input(topology, 0, t), t);
    }
}

Test(topology, that_only_join_are_no_meeting)
{
    make("digraph joins { subgraph cluster_a {"
         "  t0 [kind=thread, number=0]; t1 [kind=thread, number=1];"
         "  c0 [kind=collector, id=0]; c1 [kind=collector, id=1];"
         "  d [kind=delay, latency=\"1ms\"]; c2 [kind=collector, id=2];"
         "  x [kind=element, type=i64]; } "
         "  t0 -> c0; t1 -> c1; c0 -> d; c1 -> d; d -> c2; c2 -> x; }");
    cr_assert_eq(topology->site_count, 0);
    check_list(topology->above[2], 0, 1);
    check_hop(0, 2, "d", "x", false);
    cr_assert_eq(topology->tops[0].site, PATHS_NONE);
}

Test(topology, that_join_a_collective_s_way_down_are_told)
{
    make("digraph joins { subgraph cluster_a {"
         "  t0 [kind=thread, number=0]; t1 [kind=thread, number=1];"
         "  c0 [kind=collector, id=0]; c1 [kind=collector, id=1];"
         "  s [kind=sum]; c2 [kind=collector, id=2];"
         "  x [kind=element, type=i64, policy=discard]; } "
         "  t0 -> c0; c0 -> s; s -> c2; t1 -> c1; c1 -> c2; c2 -> x; }");
    cr_assert_eq(topology->site_count, 1);
    cr_assert(topology->sites[0].shared);
    cr_assert_str_eq(topology->hops[1].name, "");
    cr_assert_eq(scopes_topology_input(topology, 0, 1), PATHS_NONE);
}

Test(topology, of_wrappers_that_nobody_knows_here_are_followed_too)
{
    make("digraph own { wrappers=shout; subgraph cluster_a {"
         "  t0 [kind=thread, number=0]; c0 [kind=collector, id=0];"
         "  w [kind=shout]; x [kind=element, type=i64]; } "
         "  t0 -> c0 [as=loud]; c0 -> w; w -> x; }");
    check_hop(0, PATHS_NONE, "w", "x", false);
    cr_assert_str_eq(topology->tops[0].name, "loud");
}

/* --- what is refused --- */

Test(topology, that_end_in_a_source_are_called_by_its_name)
{
    make("digraph c { graph [wrappers=clock];"
         "subgraph cluster_a { t0 [kind=thread, number=0];"
         "tick [kind=clock, type=i64]; c0 [kind=collector, id=0]; }"
         "t0 -> c0 [use=read]; c0 -> tick; }");
    cr_assert_eq(topology->top_count, 1);
    cr_assert_str_eq(topology->tops[0].name, "tick");
    cr_assert_eq(topology->tops[0].element, PATHS_NONE);
}

Test(topology, that_lead_in_a_circle_are_refused)
{
    parse("digraph c { subgraph cluster_a { t0 [kind=thread, number=0];"
          "  a [kind=delay]; b [kind=sum]; } t0 -> a; a -> b; b -> a; }");
    check_status(scopes_topology_create(&topology, map), PASTSET_EMAP);
    check_error("leads back to it");
}

Test(topology, with_a_collector_s_id_given_twice_or_too_high_are_refused)
{
    const char *ids[] = {"1", "4000000000", "99999999999999999999", "-1", "x"};

    for (int i = 0; i < 5; i++) {
        char text[512];
        snprintf(text, sizeof(text),
                 "digraph c { subgraph cluster_a { t0 [kind=thread, number=0];"
                 " a [kind=collector, id=1]; b [kind=collector, id=\"%s\"];"
                 " x [kind=element, type=i64]; } t0 -> a; a -> b; b -> x; }",
                 ids[i]);
        parse(text);
        check_status(scopes_topology_create(&topology, map), PASTSET_EMAP);
        cr_assert_null(topology);
        paths_map_destroy(map);
        map = NULL;
    }
}

Test(topology, of_threads_without_numbers_of_their_own_are_refused)
{
    parse("digraph c { subgraph cluster_a { t0 [kind=thread, number=0];"
          " t1 [kind=thread, number=0]; x [kind=element, type=i64]; }"
          " t0 -> x; t1 -> x; }");
    check_status(scopes_topology_create(&topology, map), PASTSET_EMAP);
    check_error("numbered");
}

/* Else going up from s would take twice as long with each of them. */
Test(topology, that_part_are_refused)
{
    char text[8192];
    int at = snprintf(text, sizeof(text),
                      "digraph c { subgraph cluster_a {"
                      " t0 [kind=thread, number=0]; s [kind=sum];"
                      " x [kind=element, type=i64];");

    for (int i = 0; i <= 60; i++)
        at += snprintf(text + at, sizeof(text) - (size_t)at,
                       " d%d [kind=delay];", i);
    at += snprintf(text + at, sizeof(text) - (size_t)at,
                   " } t0 -> d0; d60 -> s; s -> x;");
    for (int i = 0; i < 120; i++)
        at += snprintf(text + at, sizeof(text) - (size_t)at, " d%d -> d%d;",
                       i / 2, i / 2 + 1);
    snprintf(text + at, sizeof(text) - (size_t)at, " }");
    parse(text);
    check_status(scopes_topology_create(&topology, map), PASTSET_EMAP);
    check_error("2 edges leave it");
}

Test(topology, that_go_on_behind_an_element_are_refused)
{
    parse("digraph c { subgraph cluster_a { t0 [kind=thread, number=0];"
          " s [kind=sum]; x [kind=element, type=i64];"
          " y [kind=element, type=i64]; } t0 -> x; x -> s; s -> y; }");
    check_status(scopes_topology_create(&topology, map), PASTSET_EMAP);
    check_error("1 edges leave it");
}

Test(topology, with_a_collector_on_no_process_are_refused)
{
    parse("digraph c { c0 [kind=collector, id=0]; subgraph cluster_a {"
          " t0 [kind=thread, number=0]; x [kind=element, type=i64]; }"
          " t0 -> c0; c0 -> x; }");
    check_status(scopes_topology_create(&topology, map), PASTSET_EMAP);
    check_error("in no process");
}

/* Processes that add to a map leave gaps between their ids. */
Test(topology, has_ids_beyond_the_number_of_nodes)
{
    make("digraph c { graph [collector_ids=60000]; subgraph cluster_a {"
         " t0 [kind=thread, number=0]; c0 [kind=collector, id=59999];"
         " t1 [kind=thread, number=1]; c1 [kind=collector, id=30000];"
         " s [kind=sum]; x [kind=element, type=i64]; }"
         " t0 -> c0; c0 -> s; t1 -> c1; c1 -> s; s -> x; }");
    cr_assert_eq(topology->collectors, 60000);
    cr_assert_eq(site("s")->inputs.count, 2);
    cr_assert_eq(site("s")->inputs.ids[0], 59999);
    cr_assert_eq(site("s")->inputs.ids[1], 30000);
    cr_assert_eq(topology->tops[0].input, 0);
    cr_assert_eq(topology->tops[1].input, 1);
}
