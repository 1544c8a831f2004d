/* generate_test.c - path maps from application, cluster and placement. */
#include "paths/generate.h"

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
    paths_complaints complaints;

    check_status(paths_map_check(map, &complaints), 0);
    golden_compare(map_text(map), name);
    paths_map_destroy(map);
}

static void check_refused(const char *application, const char *cluster,
                          const char *placement, const char *why)
{
    paths_map *a = map_parse(application), *c = NULL, *p = NULL, *out;
    paths_generate_options options = {.application = a, .hosts = 1};

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

static const char *host_of(const paths_map *map, const char *node)
{
    uint32_t index = paths_map_find_node(map, node);

    cr_assert_neq(index, PATHS_NONE, "no %s", node);
    return map->hosts[map->nodes[index].host].name;
}

Test(generate, places_threads_in_blocks_and_elements_with_their_readers,
     .timeout = 5)
{
    paths_map *a = map_read("paths/golden/application.dot");

    compare(generate(&(paths_generate_options){.application = a, .hosts = 2}),
            "paths/golden/generated.dot");
    paths_map_destroy(a);
}

Test(generate, follows_the_placement_and_simulates_links, .timeout = 5)
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

Test(generate, needs_no_proxy_on_one_host, .timeout = 5)
{
    paths_map *a = map_read("paths/golden/application.dot");
    paths_map *map =
        generate(&(paths_generate_options){.application = a, .hosts = 1});

    cr_assert_eq(map->node_count, a->node_count);
    cr_assert_eq(map->edge_count, a->edge_count);
    paths_map_destroy(a);
    paths_map_destroy(map);
}

Test(generate, spreads_threads_in_a_cycle, .timeout = 5)
{
    paths_map *a = map_read("paths/golden/application.dot");
    paths_map *map = generate(&(paths_generate_options){
        .application = a, .hosts = 2, .spread = PATHS_CYCLIC});

    cr_assert_str_eq(host_of(map, "t0"), "h0");
    cr_assert_str_eq(host_of(map, "t1"), "h1");
    cr_assert_str_eq(host_of(map, "t2"), "h0");
    paths_map_destroy(a);
    paths_map_destroy(map);
}

Test(generate, puts_elements_with_their_writers, .timeout = 5)
{
    paths_map *a = map_read("paths/golden/application.dot");
    paths_map *map = generate(&(paths_generate_options){
        .application = a, .hosts = 4, .home = PATHS_WITH_WRITER});

    cr_assert_str_eq(host_of(map, "up_3"), "h3", "t3 writes it");
    cr_assert_str_eq(host_of(map, "down_0"), "h0");
    paths_map_destroy(a);
    paths_map_destroy(map);
}

Test(generate, numbers_threads_that_have_no_numbers, .timeout = 5)
{
    paths_map *a = map_parse("digraph g { a [kind=thread]; b [kind=thread];"
                             "e [kind=element, type=i32]; a -> e; b -> e }");

    compare(generate(&(paths_generate_options){.application = a, .hosts = 1}),
            "paths/golden/generated_numbers.dot");
    paths_map_destroy(a);
}

Test(generate, says_what_is_wrong_with_a_mapping, .timeout = 5)
{
    check_refused("digraph g {\n a }", NULL, NULL,
                  "test.dot:2: a: has no kind");
    check_refused("digraph g { p [kind=proxy] }", NULL, NULL,
                  "the wrappers are generated");
    check_refused("digraph g {\n subgraph cluster_h { t [kind=thread] } }",
                  NULL, NULL, "test.dot:2: t: stands in a host");
    check_refused("digraph g { t [kind=thread]; e [kind=element];\n e -> t }",
                  NULL, NULL, "test.dot:2: e: has an edge to t");
    check_refused("digraph g { t [kind=thread] }", "digraph c { }", NULL,
                  "there is no host in it");
    check_refused("digraph g { t [kind=thread] }", "digraph c { h }",
                  "digraph p {\n u -> h }",
                  "test.dot:2: u: the application has no thread");
    check_refused("digraph g { t [kind=thread] }", "digraph c { h }",
                  "digraph p { t -> i }", "which is no host");
    check_refused("digraph g { t [kind=thread] }", "digraph c { h; i }",
                  "digraph p { t -> h; t -> i }", "placed twice, on h and i");
}

Test(generate, says_which_name_is_needed_twice, .timeout = 5)
{
    check_refused("digraph g { t [kind=thread]; e [kind=element];\n"
                  "t -> e [as=x];\n t -> e [as=x] }",
                  "digraph c { h; i }", "digraph p { t -> h; e -> i }",
                  "test.dot:3: t.x.proxy: this name is needed for two nodes");
}

Test(generate, reads_mappings_from_files, .timeout = 5)
{
    paths_map *map;

    check_status(
        paths_mapping_read(&map, golden_file("paths/golden/cluster.dot")), 0);
    cr_assert_eq(map->node_count, 3);
    paths_map_destroy(map);
    check_status(paths_mapping_read(&map, "/nowhere"), PASTSET_EIO);
}
