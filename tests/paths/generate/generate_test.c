/* generate_test.c - path maps from application, cluster and placement, and the
 * trees of collectives in them. */
#include "paths/generate/generate.h"

#include "paths/map/attribute_types.h"
#include "tests/support/golden.h"

static paths_map *generate(const paths_generate_options *options)
{
    paths_map *map;

    check_status(paths_generate(&map, options), 0);
    return map;
}

/* Compares with a golden file, after a check. */
static void compare(paths_map *map, const char *name)
{
    paths_diagnostics diagnostics;

    check_status(paths_map_check(map, &diagnostics), 0);
    golden_compare(map_text(map), name);
    paths_map_destroy(map);
}

static void check_refused(const char *application, const char *cluster,
                          const char *placement, const char *why)
{
    paths_map *a = map_parse(application), *c = NULL, *p = NULL, *out;
    paths_generate_options options = {.application = a, .processes = 1};

    if (cluster)
        options.cluster = c = map_parse(cluster);
    if (placement)
        options.placement = p = map_parse(placement);
    check_status(paths_generate(&out, &options), PASTSET_EMAP);
    cr_assert_null(out);
    check_error(why);
    paths_map_destroy(a);
    paths_map_destroy(c);
    paths_map_destroy(p);
}

static const char *process_of(const paths_map *map, const char *node)
{
    uint32_t index = paths_map_find_node(map, node);

    cr_assert_neq(index, PATHS_NONE, "no %s", node);
    return map->processes[map->nodes[index].process].name;
}

Test(generate, places_threads_in_blocks_and_elements_with_their_readers,
     .timeout = 120)
{
    paths_map *a = map_read("paths/golden/application.dot");

    compare(
        generate(&(paths_generate_options){.application = a, .processes = 2}),
        "paths/golden/generated.dot");
    paths_map_destroy(a);
}

Test(generate, follows_the_placement_and_simulates_links, .timeout = 120)
{
    paths_map *a = map_read("paths/golden/application.dot");
    paths_map *c = map_read("paths/golden/cluster.dot");
    paths_map *p = map_read("paths/golden/placement.dot");

    compare(generate(&(paths_generate_options){
                .application = a, .cluster = c, .placement = p}),
            "paths/golden/generated_links.dot");
    paths_map_destroy(a);
    paths_map_destroy(c);
    paths_map_destroy(p);
}

Test(generate, needs_no_proxy_on_one_process, .timeout = 120)
{
    paths_map *a = map_read("paths/golden/application.dot");
    paths_map *map =
        generate(&(paths_generate_options){.application = a, .processes = 1});

    cr_assert_eq(map->node_count, a->node_count);
    cr_assert_eq(map->edge_count, a->edge_count);
    paths_map_destroy(a);
    paths_map_destroy(map);
}

Test(generate, spreads_threads_in_a_cycle, .timeout = 120)
{
    paths_map *a = map_read("paths/golden/application.dot");
    paths_map *map = generate(&(paths_generate_options){
        .application = a, .processes = 2, .spread = PATHS_CYCLIC});

    cr_assert_str_eq(process_of(map, "t0"), "h0");
    cr_assert_str_eq(process_of(map, "t1"), "h1");
    cr_assert_str_eq(process_of(map, "t2"), "h0");
    paths_map_destroy(a);
    paths_map_destroy(map);
}

Test(generate, puts_elements_with_their_writers, .timeout = 120)
{
    paths_map *a = map_read("paths/golden/application.dot");
    paths_map *map = generate(&(paths_generate_options){
        .application = a, .processes = 4, .home = PATHS_WITH_WRITER});

    cr_assert_str_eq(process_of(map, "up_3"), "h3", "t3 writes it");
    cr_assert_str_eq(process_of(map, "down_0"), "h0");
    paths_map_destroy(a);
    paths_map_destroy(map);
}

Test(generate, numbers_threads_that_have_no_numbers, .timeout = 120)
{
    paths_map *a = map_parse("digraph g { a [kind=thread]; b [kind=thread];"
                             "e [kind=element, type=i32]; a -> e; b -> e }");

    compare(
        generate(&(paths_generate_options){.application = a, .processes = 1}),
        "paths/golden/generated_numbers.dot");
    paths_map_destroy(a);
}

Test(generate, says_what_is_wrong_with_a_mapping, .timeout = 120)
{
    check_refused("digraph g {\n a }", NULL, NULL,
                  "test.dot:2: a: has no kind");
    check_refused("digraph g { p [kind=proxy] }", NULL, NULL,
                  "the wrappers are generated");
    check_refused("digraph g {\n subgraph cluster_h { t [kind=thread] } }",
                  NULL, NULL, "test.dot:2: t: is inside a process");
    check_refused("digraph g { t [kind=thread]; e [kind=element];\n e -> t }",
                  NULL, NULL, "test.dot:2: e: has an edge to t");
    check_refused("digraph g { t [kind=thread] }", "digraph c { }", NULL,
                  "there is no process in it");
    check_refused("digraph g { t [kind=thread] }", "digraph c { h }",
                  "digraph p {\n u -> h }",
                  "test.dot:2: u: the application has no thread");
    check_refused("digraph g { t [kind=thread] }", "digraph c { h }",
                  "digraph p { t -> i }", "which is not a process");
    check_refused("digraph g { t [kind=thread] }", "digraph c { h; i }",
                  "digraph p { t -> h; t -> i }", "placed twice, on h and i");
}

Test(generate, says_which_name_is_needed_twice, .timeout = 120)
{
    check_refused("digraph g { t [kind=thread]; e [kind=element];\n"
                  "t -> e [as=x];\n t -> e [as=x] }",
                  "digraph c { h; i }", "digraph p { t -> h; e -> i }",
                  "test.dot:3: t.x.proxy: this name is needed for two nodes");
}

Test(generate, reads_mappings_from_files, .timeout = 120)
{
    paths_map *map;

    check_status(
        paths_mapping_read(&map, golden_file("paths/golden/cluster.dot")), 0);
    cr_assert_eq(map->node_count, 3);
    paths_map_destroy(map);
    check_status(paths_mapping_read(&map, "/nowhere"), PASTSET_EIO);
}

/* --- trees ---
 *
 * Of an element, `total`, that the threads t0, t1 ... use collectively. */

static paths_map *together(unsigned threads, const char *use,
                           const char *element)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    paths_map *map;

    fprintf(file, "digraph g { total [kind=element, type=u64%s];\n", element);
    for (unsigned i = 0; i < threads; i++)
        fprintf(file, "t%u [kind=thread];\n", i);
    for (unsigned i = 0; i < threads; i++)
        fprintf(file, "t%u -> total [as=sum, use=%s];\n", i, use);
    fprintf(file, "}");
    fclose(file);
    map = map_parse(text);
    free(text);
    return map;
}

/* The map of an application, which is freed. It passes the check. */
static paths_map *tree(paths_map *application, paths_generate_options options)
{
    paths_diagnostics diagnostics;
    paths_map *map;

    options.application = application;
    map = generate(&options);
    check_status(paths_map_check(map, &diagnostics), 0);
    paths_map_destroy(application);
    return map;
}

static paths_map *tree_on(unsigned processes, unsigned threads,
                          const char *element)
{
    return tree(together(threads, "sum", element),
                (paths_generate_options){.processes = processes});
}

static paths_map *tree_over(const char *cluster, paths_map *application,
                            const char *placement)
{
    paths_map *c = map_parse(cluster);
    paths_map *p = placement ? map_parse(placement) : NULL;
    paths_map *map = tree(
        application, (paths_generate_options){.cluster = c, .placement = p});

    paths_map_destroy(c);
    paths_map_destroy(p);
    return map;
}

/* The inputs of a node in the order of the edges, whatever carries them: from
 * which threads and wrappers of trees the edges come, and ">" for each delay
 * and proxy between. */
static void check_inputs(const paths_map *map, const char *name,
                         const char *expected)
{
    uint32_t index = paths_map_find_node(map, name);
    char text[1000] = "";

    cr_assert_neq(index, PATHS_NONE, "no %s", name);
    for (uint32_t i = 0; i < map->nodes[index].in_count; i++) {
        uint32_t from = map->edges[map->nodes[index].in[i]].from;
        const char *carried = "";
        while (strcmp(map->nodes[from].type, "proxy") == 0 ||
               strcmp(map->nodes[from].type, "delay") == 0) {
            carried = strcmp(map->nodes[from].type, "delay") == 0 ? ">>" : ">";
            from = map->edges[map->nodes[from].in[0]].from;
        }
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s",
                 text[0] ? " " : "", map->nodes[from].name, carried);
    }
    cr_assert_str_eq(text, expected, "%s has the inputs %s", name, text);
}

static void check_absent(const paths_map *map, const char *name)
{
    cr_assert_eq(paths_map_find_node(map, name), PATHS_NONE, "%s", name);
}

static const char *attribute(const paths_map *map, const char *node,
                             const char *key)
{
    uint32_t index = paths_map_find_node(map, node);

    cr_assert_neq(index, PATHS_NONE, "no %s", node);
    return paths_node_get(&map->nodes[index], key);
}

Test(trees, are_one_wrapper_on_one_process, .timeout = 120)
{
    paths_map *map = tree_on(1, 4, "");

    check_inputs(map, "total.sum", "t0 t1 t2 t3");
    check_inputs(map, "total", "total.sum");
    cr_assert_eq(map->node_count, 6);
    cr_assert_str_eq(map->nodes[paths_map_find_node(map, "total.sum")].type,
                     "sum");
    paths_map_destroy(map);
    map = tree_on(1, 1, "");
    check_inputs(map, "total.sum", "t0");
    paths_map_destroy(map);
}

Test(trees, come_together_on_each_process, .timeout = 120)
{
    paths_map *map = tree_on(2, 8, "");

    check_inputs(map, "total.sum.h0", "t0 t1 t2 t3");
    check_inputs(map, "total.sum.h1", "t4 t5 t6 t7");
    check_inputs(map, "total.sum", "total.sum.h0 total.sum.h1>");
    cr_assert_str_eq(process_of(map, "total.sum.h1"), "h1");
    cr_assert_str_eq(process_of(map, "total.sum.h1.proxy"), "h1");
    cr_assert_str_eq(process_of(map, "total.sum"), "h0");
    cr_assert_str_eq(process_of(map, "total"), "h0", "with the first thread");
    paths_map_destroy(map);
}

Test(trees, have_no_partial_of_one_thread, .timeout = 120)
{
    paths_map *map = tree_on(4, 4, "");

    check_inputs(map, "total.sum", "t0 t1> t2> t3>");
    cr_assert_str_eq(process_of(map, "t3.sum.proxy"), "h3");
    paths_map_destroy(map);
}

Test(trees, stand_with_their_element, .timeout = 120)
{
    paths_map *map = tree_over("digraph c { a; b; c }", together(4, "sum", ""),
                               "digraph p { t0 -> a; t1 -> a; t2 -> a;"
                               "t3 -> b; total -> c }");

    check_inputs(map, "total.sum.a", "t0 t1 t2");
    check_inputs(map, "total.sum", "total.sum.a> t3>");
    cr_assert_str_eq(process_of(map, "total.sum"), "c");
    paths_map_destroy(map);
    map = tree_over("digraph c { a; b }", together(2, "sum", ""),
                    "digraph p { t0 -> a; t1 -> a; total -> b }");
    check_inputs(map, "total.sum.a", "t0 t1");
    check_inputs(map, "total.sum", "total.sum.a>");
    paths_map_destroy(map);
}

Test(trees, keep_the_order_of_threads_that_are_spread_in_a_cycle,
     .timeout = 120)
{
    paths_map *map =
        tree(together(5, "sum", ""),
             (paths_generate_options){.processes = 2, .spread = PATHS_CYCLIC});

    check_inputs(map, "total.sum.h0", "t0 t2 t4");
    check_inputs(map, "total.sum.h1", "t1 t3");
    check_inputs(map, "total.sum", "total.sum.h0 total.sum.h1>");
    paths_map_destroy(map);
}

Test(trees, go_by_the_numbers_of_threads, .timeout = 120)
{
    static const char *const text =
        "digraph g { total [kind=element, type=u64];"
        "a [kind=thread, number=2]; b [kind=thread, number=0];"
        "c [kind=thread, number=3]; d [kind=thread, number=1];"
        "a -> total [use=sum]; c -> total [use=sum];"
        "d -> total [use=sum]; b -> total [use=sum] }";
    paths_map *map =
        tree(map_parse(text), (paths_generate_options){.processes = 1});

    check_inputs(map, "total.sum", "b d a c");
    paths_map_destroy(map);
    map = tree(map_parse(text), (paths_generate_options){.processes = 2});
    cr_assert_str_eq(process_of(map, "total"), "h0");
    check_inputs(map, "total.sum.h0", "b d");
    check_inputs(map, "total.sum", "total.sum.h0 total.sum.h1>");
    paths_map_destroy(map);
}

#define TWO_CLUSTERS                                                           \
    "digraph c { subgraph cluster_north { n0; n1 }"                            \
    "subgraph cluster_south { s0; s1 }"                                        \
    "n0 -> s0 [latency=\"5ms\", simulate=true];"                               \
    "n1 -> s0 [latency=\"5ms\", simulate=true] }"

Test(trees, come_together_in_each_cluster, .timeout = 120)
{
    paths_map *map = tree_over(TWO_CLUSTERS, together(8, "sum", ""), NULL);

    check_inputs(map, "total.sum.north", "total.sum.n0 total.sum.n1>");
    check_inputs(map, "total.sum.south", "total.sum.s0 total.sum.s1>");
    check_inputs(map, "total.sum", "total.sum.north total.sum.south>>");
    cr_assert_str_eq(process_of(map, "total.sum.south.delay"), "s0");
    cr_assert_str_eq(attribute(map, "total.sum.south.delay", "latency"), "5ms");
    paths_map_destroy(map);
}

Test(trees, come_together_at_the_process_of_the_element_in_its_cluster,
     .timeout = 120)
{
    paths_map *map = tree_over(TWO_CLUSTERS, together(4, "sum", ""),
                               "digraph p { total -> n1 }");

    check_inputs(map, "total.sum.north", "t0> t1");
    check_inputs(map, "total.sum.south", "t2 t3>");
    check_inputs(map, "total.sum", "total.sum.north total.sum.south>>");
    cr_assert_str_eq(process_of(map, "total.sum.north"), "n1");
    paths_map_destroy(map);
}

Test(trees, have_no_partial_of_the_only_cluster, .timeout = 120)
{
    paths_map *map = tree_over("digraph c { subgraph cluster_north { a; b } }",
                               together(4, "sum", ""), NULL);

    check_inputs(map, "total.sum", "total.sum.a total.sum.b>");
    check_absent(map, "total.sum.north");
    paths_map_destroy(map);
    map = tree_over(TWO_CLUSTERS, together(4, "sum", ""),
                    "digraph p { t0 -> s0; t1 -> s0; t2 -> s1; t3 -> s1 }");
    check_inputs(map, "total.sum", "total.sum.s0 total.sum.s1>");
    paths_map_destroy(map);
}

Test(trees, take_a_process_of_no_cluster_for_one, .timeout = 120)
{
    paths_map *map =
        tree_over("digraph c { x; subgraph cluster_north { a; b } }",
                  together(3, "sum", ""), NULL);

    check_inputs(map, "total.sum.north", "t1 t2>");
    check_inputs(map, "total.sum", "t0 total.sum.north>");
    paths_map_destroy(map);
}

Test(trees, have_names_of_their_own_for_clusters_called_like_processes,
     .timeout = 120)
{
    paths_map *map = tree_over("digraph c { subgraph cluster_a { a; b }"
                               "subgraph cluster_c { c; d } }",
                               together(8, "sum", ""), NULL);

    check_inputs(map, "total.sum.cluster_a", "total.sum.a total.sum.b>");
    check_inputs(map, "total.sum", "total.sum.cluster_a total.sum.cluster_c>");
    paths_map_destroy(map);
}

Test(trees, are_flat_where_that_is_said, .timeout = 120)
{
    paths_map *map = tree_on(2, 4, ", shape=flat");

    check_inputs(map, "total.sum", "t0 t1 t2> t3>");
    cr_assert_str_eq(process_of(map, "t2.sum.proxy"), "h1");
    paths_map_destroy(map);
}

Test(trees, are_binomial_where_that_is_said, .timeout = 120)
{
    paths_map *map = tree_on(4, 8, ", shape=binomial");

    check_inputs(map, "total.sum", "t0 t1 total.sum.t2> total.sum.t4>");
    check_inputs(map, "total.sum.t2", "t2 t3");
    check_inputs(map, "total.sum.t4", "t4 t5 total.sum.t6>");
    check_inputs(map, "total.sum.t6", "t6 t7");
    cr_assert_str_eq(process_of(map, "total.sum.t6"), "h3");
    paths_map_destroy(map);
    map = tree_on(1, 7, ", shape=binomial");
    check_inputs(map, "total.sum", "t0 t1 total.sum.t2 total.sum.t4");
    check_inputs(map, "total.sum.t4", "t4 t5 t6");
    check_absent(map, "total.sum.t6");
    paths_map_destroy(map);
    map = tree_on(1, 1, ", shape=binomial");
    check_inputs(map, "total.sum", "t0");
    paths_map_destroy(map);
}

Test(trees, lead_from_rank_0_to_an_element_elsewhere, .timeout = 120)
{
    paths_map *map = tree_over(
        "digraph c { a; b }", together(4, "sum", ", shape=binomial"),
        "digraph p { t0 -> a; t1 -> a; t2 -> a; t3 -> a; total -> b }");

    check_inputs(map, "total.sum", "t0 t1 total.sum.t2");
    check_inputs(map, "total", "total.sum>");
    cr_assert_str_eq(process_of(map, "total.sum"), "a");
    paths_map_destroy(map);
}

Test(trees, are_no_wider_than_their_fanout, .timeout = 120)
{
    paths_map *map = tree_on(1, 10, ", fanout=4");

    check_inputs(map, "total.sum.1", "t0 t1 t2 t3");
    check_inputs(map, "total.sum.2", "t4 t5 t6");
    check_inputs(map, "total.sum.3", "t7 t8 t9");
    check_inputs(map, "total.sum", "total.sum.1 total.sum.2 total.sum.3");
    paths_map_destroy(map);
    map = tree_on(2, 10, ", fanout=2");
    check_inputs(map, "total.sum.h1.1", "t5 t6");
    check_inputs(map, "total.sum.h1.2", "t7 t8");
    check_inputs(map, "total.sum.h1.3", "total.sum.h1.1 total.sum.h1.2");
    check_inputs(map, "total.sum.h1", "total.sum.h1.3 t9");
    check_inputs(map, "total.sum", "total.sum.h0 total.sum.h1>");
    paths_map_destroy(map);
}

Test(trees, stand_at_the_first_of_their_inputs_where_they_are_wide,
     .timeout = 120)
{
    paths_map *map = tree_on(4, 4, ", shape=flat, fanout=2");

    check_inputs(map, "total.sum.1", "t0 t1>");
    check_inputs(map, "total.sum.2", "t2 t3>");
    check_inputs(map, "total.sum", "total.sum.1 total.sum.2>");
    cr_assert_str_eq(process_of(map, "total.sum.2"), "h2");
    paths_map_destroy(map);
    map = tree_over("digraph c { 1; 2; 3; 4 }",
                    together(8, "sum", ", fanout=2"), NULL);
    check_inputs(map, "total.sum.5", "total.sum.1 total.sum.2>");
    check_inputs(map, "total.sum", "total.sum.5 total.sum.6>");
    paths_map_destroy(map);
}

Test(trees, take_their_shape_from_the_options_too, .timeout = 120)
{
    paths_generate_options flat = {.processes = 2, .shape = "flat"};
    paths_generate_options wide = {.processes = 1, .fanout = 2};
    paths_map *map = tree(together(4, "sum", ""), flat);

    check_inputs(map, "total.sum", "t0 t1 t2> t3>");
    paths_map_destroy(map);
    map = tree(together(4, "sum", ", shape=hierarchical"), flat);
    check_inputs(map, "total.sum", "total.sum.h0 total.sum.h1>");
    paths_map_destroy(map);
    map = tree(together(4, "sum", ", shape=flat"), wide);
    check_inputs(map, "total.sum", "total.sum.1 total.sum.2");
    paths_map_destroy(map);
    map = tree(together(4, "sum", ", fanout=3"), wide);
    check_inputs(map, "total.sum", "total.sum.1 total.sum.2");
    check_inputs(map, "total.sum.1", "t0 t1");
    paths_map_destroy(map);
    map = tree(together(8, "sum", ", shape=binomial"), wide);
    check_inputs(map, "total.sum", "t0 t1 total.sum.t2 total.sum.t4");
    paths_map_destroy(map);
}

Test(trees, take_their_shape_from_the_default_of_all_nodes, .timeout = 120)
{
    paths_map *map =
        tree(map_parse("digraph g { node [shape=flat];"
                       "t0 [kind=thread]; t1 [kind=thread];"
                       "e [kind=element, type=u64];"
                       "t0 -> e [use=sum]; t1 -> e [use=sum] }"),
             (paths_generate_options){.processes = 1, .shape = "binomial"});

    check_inputs(map, "e.sum", "t0 t1");
    cr_assert_eq(map->node_defaults.count, 0);
    cr_assert_str_eq(attribute(map, "e", "shape"), "box");
    paths_map_destroy(map);
}

Test(trees, leave_spectators_and_plain_paths_alone, .timeout = 120)
{
    paths_map *map = tree(
        map_parse("digraph g { e [kind=element, type=u64];"
                  "other [kind=element, type=u64];"
                  "t0 [kind=thread]; t1 [kind=thread]; t2 [kind=thread];"
                  "t3 [kind=thread]; t0 -> other; t2 -> e [as=see, use=read];"
                  "t1 -> e [use=max]; t3 -> other [use=read];"
                  "t3 -> e [use=max] }"),
        (paths_generate_options){.processes = 2});

    check_inputs(map, "e.max", "t1 t3>");
    check_inputs(map, "e", "t2> e.max");
    check_inputs(map, "other", "t0 t3>");
    cr_assert_str_eq(process_of(map, "e"), "h0", "with t1");
    paths_map_destroy(map);
}

Test(trees, give_their_attributes_to_their_wrappers, .timeout = 120)
{
    paths_map *map =
        tree_on(2, 4, ", deadline=\"2s\", waiting=sleep, fanout=2");

    cr_assert_str_eq(attribute(map, "total.sum", "deadline"), "2s");
    cr_assert_str_eq(attribute(map, "total.sum.h1", "deadline"), "2s");
    cr_assert_str_eq(attribute(map, "total.sum.h1", "waiting"), "sleep");
    cr_assert_str_eq(attribute(map, "total.sum", "label"), "sum");
    cr_assert_null(attribute(map, "total.sum", "fanout"));
    cr_assert_null(attribute(map, "total", "deadline"));
    cr_assert_null(attribute(map, "total", "waiting"));
    cr_assert_null(attribute(map, "total", "fanout"));
    cr_assert_null(attribute(map, "total.sum.h1.proxy", "deadline"));
    cr_assert_str_eq(attribute(map, "total", "policy"), "discard");
    paths_map_destroy(map);
    map = tree_on(1, 4, ", policy=grow");
    cr_assert_str_eq(attribute(map, "total", "policy"), "grow");
    paths_map_destroy(map);
}

Test(trees, give_a_barrier_its_type, .timeout = 120)
{
    paths_map *map =
        tree(map_parse("digraph g { t0 [kind=thread]; t1 [kind=thread];"
                       "step [kind=element]; t0 -> step [use=barrier];"
                       "t1 -> step [use=barrier] }"),
             (paths_generate_options){.processes = 2});

    check_inputs(map, "step.barrier", "t0 t1>");
    cr_assert_str_eq(attribute(map, "step", "type"), "bytes[1]");
    paths_map_destroy(map);
    map = tree(together(2, "barrier", ""),
               (paths_generate_options){.processes = 1});
    cr_assert_str_eq(attribute(map, "total", "type"), "u64");
    paths_map_destroy(map);
}

Test(trees, name_the_function_of_a_reduction, .timeout = 120)
{
    paths_map *map = tree(together(4, "reduce", ", function=merge"),
                          (paths_generate_options){.processes = 2});

    cr_assert_str_eq(attribute(map, "total.reduce.h1", "function"), "merge");
    cr_assert_str_eq(attribute(map, "total.reduce", "function"), "merge");
    cr_assert_null(attribute(map, "total", "function"));
    paths_map_destroy(map);
}

Test(trees, look_the_same_each_time, .timeout = 120)
{
    static const struct {
        const char *shape, *golden;
    } all[] = {
        {"hierarchical", "paths/golden/generated_hierarchical.dot"},
        {"flat", "paths/golden/generated_flat.dot"},
        {"binomial", "paths/golden/generated_binomial.dot"},
    };
    paths_map *c = map_parse(TWO_CLUSTERS);

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        paths_map *a = map_read("paths/golden/collective.dot");
        compare(generate(&(paths_generate_options){
                    .application = a, .cluster = c, .shape = all[i].shape}),
                all[i].golden);
        paths_map_destroy(a);
    }
    paths_map_destroy(c);
}

#define THREADS_AND_ELEMENT(attributes)                                        \
    "digraph g { t [kind=thread]; u [kind=thread]; v [kind=thread];\n"         \
    "e [kind=element, type=u64" attributes "];\n"

Test(trees, say_what_is_wrong_with_a_collective, .timeout = 120)
{
    check_refused(THREADS_AND_ELEMENT("") "t -> e [use=sum];\n"
                                          "u -> e [use=min] }",
                  NULL, NULL,
                  "test.dot:4: u: takes part in e with use=min, but t with "
                  "use=sum (line 3)");
    check_refused(THREADS_AND_ELEMENT("") "t -> e [use=summ] }", NULL, NULL,
                  "test.dot:3: t: use=summ of e is not known");
    check_refused(THREADS_AND_ELEMENT("") "t -> e [use=sum];\n"
                                          "t -> e [as=again, use=sum] }",
                  NULL, NULL, "test.dot:4: t: takes part in e twice");
    check_refused(THREADS_AND_ELEMENT(", shape=round") "t -> e [use=sum] }",
                  NULL, NULL, "test.dot:2: e: shape=round: choose flat");
    check_refused(THREADS_AND_ELEMENT(", fanout=1") "t -> e [use=sum] }", NULL,
                  NULL, "test.dot:2: e: fanout=1: a wrapper must be allowed");
    check_refused(THREADS_AND_ELEMENT(", fanout=few") "t -> e [use=sum] }",
                  NULL, NULL, "test.dot:2: e: ");
    check_refused(
        THREADS_AND_ELEMENT(", fanout=3, shape=binomial") "t -> e [use=sum] }",
        NULL, NULL, "test.dot:2: e: has a fanout and the shape");
    check_refused(THREADS_AND_ELEMENT("") "t -> e [use=reduce] }", NULL, NULL,
                  "test.dot:2: e: has no function: use=reduce calls");
    check_refused(THREADS_AND_ELEMENT(", function=f") "t -> e [use=sum] }",
                  NULL, NULL, "test.dot:2: e: has function=f, which goes with");
    check_refused(THREADS_AND_ELEMENT(", shape=flat") "t -> e [use=read] }",
                  NULL, NULL,
                  "test.dot:2: e: has shape=flat, but no thread uses it");
    check_refused(THREADS_AND_ELEMENT(", deadline=\"1s\"") "t -> e }", NULL,
                  NULL, "test.dot:2: e: has deadline=1s, but no thread");
}

Test(trees, refuse_options_that_do_not_exist, .timeout = 120)
{
    static const struct {
        paths_generate_options options;
        const char *why;
    } all[] = {
        {{.processes = 1, .shape = "star"},
         "the shape 'star' is not one of flat"},
        {{.processes = 1, .fanout = 1}, "a fan-out of 1"},
        {{.processes = 1, .fanout = 2, .shape = "binomial"},
         "does not take a fan-out"},
    };
    paths_map *a = together(2, "sum", ""), *out;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        paths_generate_options options = all[i].options;
        options.application = a;
        check_status(paths_generate(&out, &options), PASTSET_EINVAL);
        cr_assert_null(out);
        check_error(all[i].why);
    }
    paths_map_destroy(a);
}

Test(trees, say_which_name_is_needed_twice, .timeout = 120)
{
    check_refused(
        THREADS_AND_ELEMENT("") "\"e.sum\" [kind=element, type=u64];\n"
                                "t -> \"e.sum\"; t -> e [use=sum] }",
        NULL, NULL, "e.sum: this name is needed for two nodes");
}

/* --- trees of any application --- */

static uint32_t seed;

static uint32_t any(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

typedef struct setting {
    unsigned threads, processes, elements, fanouts[3];
    const char *uses[3];
    paths_map *application, *cluster, *placement;
} setting;

/* Types that the participants, any number of them, can share out. */
static void add_element(setting *s, FILE *file, unsigned index, unsigned count)
{
    static const char *const uses[] = {
        "sum", "min",     "max",       "product", "and",     "or",
        "xor", "barrier", "broadcast", "gather",  "scatter", "alltoall"};
    static const char *const shapes[] = {"", ", shape=flat", ", shape=binomial",
                                         ", shape=hierarchical"};
    unsigned use = any(12), shape = any(4);
    unsigned fields = use < 9 ? 1 : use < 11 ? count : count * count;

    s->uses[index] = uses[use];
    s->fanouts[index] = shape != 2 && any(2) ? 2 + any(4) : 0;
    fprintf(file, "e%u [kind=element, type=\"u64[%u]\"%s", index, fields,
            shapes[shape]);
    if (s->fanouts[index])
        fprintf(file, ", fanout=%u", s->fanouts[index]);
    fprintf(file, "];\n");
}

/* Every thread takes part in each element, plainly or not at all; at least
 * one collectively. */
static void add_uses(setting *s, FILE *file, unsigned index)
{
    bool takes[40];
    unsigned count = 1, first = any(s->threads);

    for (unsigned i = 0; i < s->threads; i++) {
        takes[i] = i == first || any(3);
        count += takes[i] && i != first;
    }
    add_element(s, file, index, count);
    for (unsigned i = 0; i < s->threads; i++) {
        if (takes[i])
            fprintf(file, "t%u -> e%u [use=%s];\n", i, index, s->uses[index]);
        else
            fprintf(file, "t%u -> e%u [use=read];\n", i, index);
    }
}

static paths_map *any_application(setting *s)
{
    unsigned shift = any(s->threads);
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    paths_map *map;

    fprintf(file, "digraph g {\n");
    for (unsigned i = 0; i < s->threads; i++)
        fprintf(file, "t%u [kind=thread, number=%u];\n", i,
                (i + shift) % s->threads);
    for (unsigned i = 0; i < s->elements; i++)
        add_uses(s, file, i);
    fprintf(file, "}\n");
    fclose(file);
    map = map_parse(text);
    free(text);
    return map;
}

static paths_map *any_cluster(const setting *s)
{
    unsigned clusters = any(4);
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    paths_map *map;

    fprintf(file, "digraph c {\n");
    for (unsigned i = 0; i < s->processes; i++) {
        unsigned cluster = any(clusters + 1);
        if (cluster == clusters)
            fprintf(file, "h%u;\n", i);
        else
            fprintf(file, "subgraph cluster_%u { h%u }\n", cluster, i);
    }
    for (unsigned i = 0; i < s->processes; i++)
        fprintf(file, "h%u -> h%u [simulate=true, latency=\"1ms\"];\n", i,
                any(s->processes));
    fprintf(file, "}\n");
    fclose(file);
    map = map_parse(text);
    free(text);
    return map;
}

static paths_map *any_placement(const setting *s)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    paths_map *map;

    fprintf(file, "digraph p {\n");
    for (unsigned i = 0; i < s->threads; i++) {
        if (any(2))
            fprintf(file, "t%u -> h%u;\n", i, any(s->processes));
    }
    for (unsigned i = 0; i < s->elements; i++) {
        if (any(2))
            fprintf(file, "e%u -> h%u;\n", i, any(s->processes));
    }
    fprintf(file, "}\n");
    fclose(file);
    map = map_parse(text);
    free(text);
    return map;
}

/* The lowest number of a thread that comes to the node, and how many come.
 * The inputs of a wrapper must be in that order. */
static uint64_t lowest(const paths_map *map, uint32_t index, unsigned *count)
{
    const paths_map_node *node = &map->nodes[index];
    uint64_t first = UINT64_MAX, before = 0, number = 0;

    if (node->kind == PATHS_THREAD) {
        check_status(paths_node_number(map, node, "number", 0, &number), 0);
        ++*count;
        return number;
    }
    cr_assert_gt(node->in_count, 0, "%s", node->name);
    for (uint32_t i = 0; i < node->in_count; i++) {
        number = lowest(map, map->edges[node->in[i]].from, count);
        cr_assert(i == 0 || number > before, "the order of %s", node->name);
        first = number < first ? number : first;
        before = number;
    }
    return first;
}

static void check_tree(const setting *s, const paths_map *map, unsigned index)
{
    unsigned count = 0, wanted = 0;
    char name[60];
    uint32_t root;

    snprintf(name, sizeof(name), "e%u.%s", index, s->uses[index]);
    root = paths_map_find_node(map, name);
    cr_assert_neq(root, PATHS_NONE, "no %s", name);
    lowest(map, root, &count);
    for (uint32_t i = 0; i < s->application->edge_count; i++) {
        const paths_map_edge *edge = &s->application->edges[i];
        const paths_map_node *to = &s->application->nodes[edge->to];
        wanted +=
            to->name[1] - '0' == (int)index &&
            paths_is_collective(paths_attributes_get(&edge->attributes, "use"));
    }
    cr_assert_eq(count, wanted, "%u of %u threads come to %s", count, wanted,
                 name);
    for (uint32_t i = 0; i < map->node_count; i++) {
        const paths_map_node *node = &map->nodes[i];
        if (node->kind != PATHS_WRAPPER ||
            strncmp(node->name, name, strlen(name)) != 0 ||
            strcmp(node->type, s->uses[index]) != 0)
            continue;
        cr_assert(i == root || node->in_count > 1, "%s", node->name);
        cr_assert(!s->fanouts[index] || node->in_count <= s->fanouts[index],
                  "%s has %u inputs", node->name, node->in_count);
    }
}

/* Each path of a thread passes wrappers of its use, and only these. */
static void check_walks(const paths_map *map)
{
    for (uint32_t i = 0; i < map->edge_count; i++) {
        const paths_map_edge *edge = &map->edges[i];
        const char *use = paths_attributes_get(&edge->attributes, "use");
        uint32_t nodes[PATHS_PATH_NODES];
        size_t count, passed = 0;
        if (map->nodes[edge->from].kind != PATHS_THREAD)
            continue;
        count = paths_map_walk(map, i, nodes, PATHS_PATH_NODES);
        cr_assert_gt(count, 0);
        for (size_t k = 0; k < count; k++) {
            if (paths_is_collective(map->nodes[nodes[k]].type)) {
                cr_assert_str_eq(map->nodes[nodes[k]].type, use);
                passed++;
            }
        }
        cr_assert_eq(passed > 0, paths_is_collective(use), "use=%s", use);
    }
}

static void check_any_map(const setting *s)
{
    paths_generate_options options = {.application = s->application,
                                      .cluster = s->cluster,
                                      .placement = s->placement,
                                      .spread = any(2)};
    paths_map *map = generate(&options), *again = generate(&options);
    char *text = map_text(map), *same = map_text(again);
    paths_diagnostics diagnostics;

    check_status(paths_map_check(map, &diagnostics), 0);
    check_walks(map);
    for (unsigned i = 0; i < s->elements; i++)
        check_tree(s, map, i);
    cr_assert_str_eq(text, same);
    free(text);
    free(same);
    paths_map_destroy(map);
    paths_map_destroy(again);
}

Test(trees, lead_every_thread_to_its_element, .timeout = 60)
{
    for (seed = 0; seed < 400; seed++) {
        uint32_t this = seed;
        setting s = {0};
        s.threads = 1 + any(40);
        s.processes = 1 + any(8);
        s.elements = 1 + any(3);
        s.application = any_application(&s);
        s.cluster = any_cluster(&s);
        s.placement = any_placement(&s);
        check_any_map(&s);
        paths_map_destroy(s.application);
        paths_map_destroy(s.cluster);
        paths_map_destroy(s.placement);
        seed = this;
    }
}

/* --- attributes of upper layers --- */

static int colour_check(const char *value)
{
    return strcmp(value, "red") == 0
               ? 0
               : pastset_fail(PASTSET_EINVAL, "colour=%s: it is red", value);
}

static const paths_attribute_type colour = {.name = "colour",
                                            .of_processes = true,
                                            .of_machines = true,
                                            .check = colour_check},
                                  age = {.name = "age", .of_machines = true};

static void register_both(void)
{
    check_status(paths_attribute_register(&colour), 0);
    check_status(paths_attribute_register(&age), 0);
}

Test(generate, takes_the_attributes_that_upper_layers_register, .timeout = 120)
{
    const char *application = "digraph { t [kind=thread];"
                              " e [kind=element, type=i32]; t -> e; }";
    paths_map *a = map_parse(application);
    paths_map *c = map_parse("digraph { h [colour=blue, age=7]; }");
    paths_generate_options options = {.application = a, .cluster = c};
    paths_diagnostics diagnostics;
    paths_map *map;

    check_refused(application, "digraph { h [colour=red]; }", NULL,
                  "h: has an unknown attribute, colour: there are address, "
                  "polling, encrypt and networks");
    register_both();
    paths_attributes_set(&c->attributes, "encrypt", "always");
    map = generate(&options);
    cr_expect_str_eq(paths_attributes_get(&map->attributes, "encrypt"),
                     "always");
    cr_expect_str_eq(
        paths_attributes_get(&map->processes[0].attributes, "colour"), "blue");
    cr_expect_null(paths_attributes_get(&map->processes[0].attributes, "age"));
    check_status(paths_map_check(map, &diagnostics), PASTSET_EMAP);
    cr_assert_eq(diagnostics.count, 1);
    cr_expect_str_eq(diagnostics.items[0].node, "h");
    cr_expect_str_eq(diagnostics.items[0].text, "colour=blue: it is red");
    paths_diagnostics_clear(&diagnostics);
    paths_map_destroy(map);
    paths_map_destroy(a);
    paths_map_destroy(c);
}

Test(generate, takes_one_attribute_of_a_name, .timeout = 120)
{
    static const paths_attribute_type other = {.name = "age"},
                                      none = {.name = NULL},
                                      own = {.name = "polling"};

    register_both();
    register_both();
    check_status(paths_attribute_register(&other), PASTSET_EEXIST);
    check_status(paths_attribute_register(&none), PASTSET_EINVAL);
    check_status(paths_attribute_register(&own), PASTSET_EEXIST);
    cr_expect_eq(paths_attribute_at(0), &colour);
    cr_expect_eq(paths_attribute_at(1), &age);
    cr_expect_null(paths_attribute_at(2));
}

/* --- gateways and machines --- */

static paths_map *generated(const char *application, const char *cluster,
                            const char *placement)
{
    paths_map *a = map_parse(application), *c = map_parse(cluster),
              *p = map_parse(placement);
    paths_map *map = generate(&(paths_generate_options){
        .application = a, .cluster = c, .placement = p});

    paths_map_destroy(a);
    paths_map_destroy(c);
    paths_map_destroy(p);
    return map;
}

static const char *attribute_of(const paths_map *map, const char *process,
                                const char *key)
{
    uint32_t index = paths_map_find_process(map, process);

    cr_assert_neq(index, PATHS_NONE, "no %s", process);
    return paths_attributes_get(&map->processes[index].attributes, key);
}

/* The node behind this one, which has no other. */
static const char *behind(const paths_map *map, const char *node)
{
    uint32_t index = paths_map_find_node(map, node);

    cr_assert_neq(index, PATHS_NONE, "no %s", node);
    cr_assert_eq(map->nodes[index].out_count, 1);
    return map->nodes[map->edges[map->nodes[index].out[0]].to].name;
}

Test(generate, lays_a_proxy_on_each_process_between, .timeout = 120)
{
    paths_map *map = generated("digraph a { t [kind=thread];"
                               "e [kind=element, type=u8];"
                               "t -> e [as=to, use=write]; }",
                               "digraph c { reach=links; s1 [kind=switch];"
                               "s2 [kind=switch]; h0 -> s1; s2 -> s1; h1 -> s2;"
                               "h1 -> h2; h2 -> h1; h3 -> h2;"
                               "h4 [networks=\"h2--h3\"]; }",
                               "digraph p { t -> h0; e -> h3; }");
    paths_diagnostics diagnostics;

    check_status(paths_map_check(map, &diagnostics), 0);
    cr_expect_str_eq(attribute_of(map, "h0", "networks"), "s1");
    cr_expect_str_eq(attribute_of(map, "h1", "networks"), "s1 h1--h2");
    cr_expect_str_eq(attribute_of(map, "h2", "networks"), "h1--h2 h2--h3");
    cr_expect_str_eq(attribute_of(map, "h4", "networks"), "h2--h3");
    cr_expect_str_eq(process_of(map, "t.to.proxy"), "h0");
    cr_expect_str_eq(behind(map, "t.to.proxy"), "t.to.proxy.h1");
    cr_expect_str_eq(process_of(map, "t.to.proxy.h1"), "h1");
    cr_expect_str_eq(behind(map, "t.to.proxy.h1"), "t.to.proxy.h2");
    cr_expect_str_eq(process_of(map, "t.to.proxy.h2"), "h2");
    cr_expect_str_eq(behind(map, "t.to.proxy.h2"), "e");
    paths_map_destroy(map);
}

Test(generate, refuses_links_that_lead_nowhere, .timeout = 120)
{
    const char *application = "digraph a { t [kind=thread];"
                              "e [kind=element, type=u8];"
                              "t -> e [as=to, use=write]; }";

    check_refused(application, "digraph c { reach=links; h0 -> h1; h2; }", NULL,
                  "h2: has no link");
    check_refused(application, "digraph c { reach=far; h0 -> h1; }", NULL,
                  "reach=far: choose all");
    check_refused(application, "digraph c { reach=links; h0 -> h1; h2 -> h3; }",
                  "digraph p { t -> h0; e -> h3; }",
                  "there is no way from process h0 to process h3");
    check_refused(application, "digraph c { rreach=links; h0 -> h1; }", NULL,
                  "has an attribute rreach; did you mean reach?");
}

/* Contributions of two processes on one machine become one there. */
Test(generate, combines_within_a_machine_first, .timeout = 120)
{
    paths_map *map = generated(
        "digraph a { t0 [kind=thread]; t1 [kind=thread]; t2 [kind=thread];"
        "t3 [kind=thread]; total [kind=element, type=i64];"
        "t0 -> total [use=sum]; t1 -> total [use=sum];"
        "t2 -> total [use=sum]; t3 -> total [use=sum]; }",
        "digraph c { h0 [address=\"10.0.0.1:7000\"];"
        "h1 [address=\"10.0.0.2:7000\"];"
        "h2 [address=\"10.0.0.2:7001\"];"
        "h3 [address=\"127.0.0.1\"]; }",
        "digraph p { t0 -> h0; t1 -> h1; t2 -> h2;"
        "t3 -> h3; total -> h0; }");
    paths_diagnostics diagnostics;
    uint32_t machine;

    check_status(paths_map_check(map, &diagnostics), 0);
    machine = paths_map_find_node(map, "total.sum.machine_h1");
    cr_assert_neq(machine, PATHS_NONE);
    cr_expect_str_eq(process_of(map, "total.sum.machine_h1"), "h1");
    cr_expect_eq(map->nodes[machine].in_count, 2);
    cr_expect_eq(paths_map_find_node(map, "total.sum.machine_h0"), PATHS_NONE);
    cr_expect_eq(paths_map_find_node(map, "total.sum.machine_h3"), PATHS_NONE);
    cr_expect_eq(map->nodes[paths_map_find_node(map, "total.sum")].in_count, 3);
    paths_map_destroy(map);
}

/* What would not be a name, or that of another network, is not used as one. */
Test(generate, tells_networks_of_strange_switches_apart, .timeout = 120)
{
    paths_map *map =
        generated("digraph a { t [kind=thread];"
                  "e [kind=element, type=u8];"
                  "t -> e [as=to, use=write]; }",
                  "digraph c { reach=links;"
                  "\"core 1\" [kind=switch]; \"a=b\" [kind=switch];"
                  "\"n0--n1\" [kind=switch]; n0 -> \"core 1\";"
                  "n1 -> \"core 1\"; n1 -> \"a=b\"; n2 -> \"a=b\";"
                  "n2 -> \"n0--n1\"; n3 -> \"n0--n1\"; }",
                  "digraph p { t -> n3; e -> n0; }");

    cr_expect_str_eq(behind(map, "t.to.proxy"), "t.to.proxy.n2");
    cr_expect_str_eq(behind(map, "t.to.proxy.n2"), "t.to.proxy.n1");
    cr_expect_str_eq(behind(map, "t.to.proxy.n1"), "e");
    paths_map_destroy(map);
}

/* Two private networks have the same addresses: that is not one machine. */
Test(generate, tells_machines_of_private_networks_apart, .timeout = 120)
{
    paths_map *map = generated(
        "digraph a { t0 [kind=thread]; t1 [kind=thread];"
        "total [kind=element, type=i64];"
        "t0 -> total [use=sum]; t1 -> total [use=sum]; }",

        "digraph c { f [address=\"129.1.0.1:7000\", networks=\"wan n s\"];"
        "n [address=\"10.0.0.2:7000\", networks=n];"
        "s [address=\"10.0.0.2:7000\", networks=s]; }",
        "digraph p { t0 -> n; t1 -> s; total -> f; }");
    paths_diagnostics diagnostics;

    check_status(paths_map_check(map, &diagnostics), 0);
    cr_expect_eq(paths_map_find_node(map, "total.sum.machine_n"), PATHS_NONE);
    paths_map_destroy(map);
}
