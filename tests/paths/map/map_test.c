/* map_test.c - path maps: reading, writing, changing, checking. */
#include "paths/map/map.h"
#include "paths/map/map_internal.h"
#include "paths/wrappers/wrapper.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/golden.h"

static void check_refused(const char *text, const char *why)
{
    paths_map *map;

    check_status(paths_map_parse(&map, text, strlen(text), "test.dot"),
                 PASTSET_EMAP);
    cr_assert_null(map);
    check_error(why);
}

/* The first diagnostic about a map is this one. */
static void check_diagnostic(const char *text, const char *what)
{
    paths_map *map = map_parse(text);
    paths_diagnostics diagnostics;

    check_status(paths_map_check(map, &diagnostics), PASTSET_EMAP);
    check_error(what);
    paths_diagnostics_clear(&diagnostics);
    paths_map_destroy(map);
}

#define PROCESS(body) "digraph g {\nsubgraph cluster_h {\n" body "\n}\n}\n"
#define THREAD "t [kind=thread, number=0];"
#define ELEMENT "e [kind=element, type=i32];"

/* --- reading --- */

Test(map, keeps_the_order_of_the_file, .timeout = 120)
{
    paths_map *map = map_parse("digraph g {\n b; a;\n subgraph cluster_y {"
                               "c; }\n subgraph cluster_x { d; }\n"
                               " c -> a;\n a -> d;\n b -> c;\n}");

    cr_assert_eq(map->node_count, 4);
    cr_assert_str_eq(map->nodes[0].name, "b");
    cr_assert_str_eq(map->nodes[1].name, "a");
    cr_assert_str_eq(map->processes[0].name, "y");
    cr_assert_str_eq(map->processes[1].name, "x");
    cr_assert_str_eq(map->nodes[map->edges[0].from].name, "c");
    cr_assert_str_eq(map->nodes[map->edges[2].from].name, "b");
    cr_assert_eq(map->nodes[0].process, PATHS_NONE);
    cr_assert_eq(map->nodes[2].process, 0);
    paths_map_destroy(map);
}

Test(map, knows_the_lines, .timeout = 120)
{
    /* Without semicolons a parser is in the next line when it knows. */
    paths_map *map = map_parse("digraph g {\n"
                               "  a -> b\n"
                               "  b -> c\n"
                               "\n"
                               "  subgraph cluster_h {\n"
                               "    a [kind=thread]\n"
                               "    b\n"
                               "  }\n"
                               "}\n");

    cr_assert_eq(map->edges[0].line, 2);
    cr_assert_eq(map->edges[1].line, 3);
    cr_assert_eq(map->nodes[0].line, 6, "declared there");
    cr_assert_eq(map->nodes[1].line, 2, "named there first");
    cr_assert_eq(map->nodes[2].line, 3);
    cr_assert_eq(map->processes[0].line, 5);
    paths_map_destroy(map);
}

Test(map, keeps_two_edges_between_the_same_nodes, .timeout = 120)
{
    paths_map *map = map_parse("digraph g { a -> b [as=x]; a -> b [as=y]; }");

    cr_assert_eq(map->edge_count, 2);
    cr_assert_eq(map->nodes[0].out_count, 2);
    cr_assert_str_eq(paths_attributes_get(&map->edges[1].attributes, "as"),
                     "y");
    paths_map_destroy(map);
}

Test(map, understands_edges_of_groups, .timeout = 120)
{
    paths_map *map = map_parse("digraph g { {a b} -> {c d e}; }");

    cr_assert_eq(map->edge_count, 6);
    paths_map_destroy(map);
}

Test(map, takes_defaults_of_the_graph_over_to_the_nodes, .timeout = 120)
{
    paths_map *map = map_parse("digraph g { address=\"10.0.0.1\"; "
                               "node [kind=element, shape=box]; a; "
                               "subgraph cluster_h { b; } }");

    cr_assert_eq(map->nodes[0].kind, PATHS_ELEMENT);
    cr_assert_eq(map->nodes[0].attributes.count, 0, "shape is for drawing");
    cr_assert_str_eq(paths_attributes_get(&map->node_defaults, "shape"), "box");
    cr_assert_str_eq(
        paths_attributes_get(&map->processes[0].attributes, "address"),
        "10.0.0.1");
    paths_map_destroy(map);
}

Test(map, refuses_what_is_no_directed_graph, .timeout = 120)
{
    check_refused("", "test.dot: there is no graph in it");
    check_refused("graph g { a -- b }", "undirected");
    check_refused("strict digraph g { a -> b }", "strict");
    check_refused("digraph a {}\ndigraph b {}", "test.dot:2: ");
}

Test(map, tells_the_line_of_a_syntax_error, .timeout = 120)
{
    check_refused("digraph g {\n a -> b;\n c -> ;\n}",
                  "test.dot:3: syntax error near ';'");
    check_refused("digraph g {\n a [x=\"\n\n}", "test.dot:2: this string");
    check_refused("digraph g {\n /* \n\n}", "test.dot:2: this comment");
    check_refused("digraph g {\n a\n", "test.dot:3: the graph has no end");
}

Test(map, reads_well_after_an_error, .timeout = 120)
{
    check_refused("digraph g { a [x= }", "syntax error");
    paths_map_destroy(map_parse("digraph g { a }"));
}

Test(map, refuses_what_would_hurt_the_parser, .timeout = 120)
{
    paths_map *map;
    char text[4096] = "digraph g { ";

    check_status(paths_map_parse(&map, "digraph\0{}", 10, "test.dot"),
                 PASTSET_EMAP);
    check_error("a zero byte");
    check_refused("digraph g { @ }", "@ must stand in quotes");
    check_refused("digraph g { \"%a\" }", "must not begin with %");
    check_refused("digraph g { <a> }", "write names in quotes");
    memset(text + 12, '{', 100);
    check_refused(text, "nested more than 32 deep");
}

/* One statement, a -> b1 -> ... -> b`count`. */
static char *chain_of(int count)
{
    char *text = malloc(64 + (size_t)count * 16);
    size_t used = (size_t)sprintf(text, "digraph g { a");

    for (int i = 1; i <= count; i++)
        used += (size_t)sprintf(text + used, " -> b%d", i);
    sprintf(text + used, "; }");
    return text;
}

Test(map, takes_256_edges_in_one_statement_and_no_more, .timeout = 120)
{
    char *max = chain_of(256), *more = chain_of(257);
    paths_map *map = map_parse(max);

    cr_assert_eq(map->edge_count, 256);
    cr_assert_eq(map->node_count, 257);
    check_refused(more, "more than 256 edges in one statement");
    paths_map_destroy(map);
    free(max);
    free(more);
}

/* A group of 5,000 nodes, between `front` and `behind`. */
static void check_product(const char *front, const char *behind)
{
    char *text = malloc(1 << 20);
    size_t used = (size_t)sprintf(text, "digraph g { %s", front);

    for (int i = 0; i < 5000; i++)
        used += (size_t)sprintf(text + used, "n%d;", i);
    sprintf(text + used, "%s }", behind);
    check_refused(text, "more than 4,194,304 edges");
    free(text);
}

Test(map, refuses_products_of_groups, .timeout = 120)
{
    check_product("subgraph s {", "} subgraph s {} -> subgraph s {};");
    check_product("subgraph s {", "} -> subgraph s {};");
    check_product("subgraph s {", "} {subgraph s {}} -> {subgraph s {}};");
    check_product("subgraph s {} -> subgraph s {", "} -> subgraph s {};");
}

#define MANY_KEYS 500

/* So many nodes, and one of them with all of these attributes; comments are
 * behind each. */
static char *keyed(int nodes, const char *comment)
{
    size_t each = 16 + strlen(comment);
    char *text = malloc((size_t)nodes * each + MANY_KEYS * 16 + 64);
    size_t used = (size_t)sprintf(text, "digraph g { a [");

    for (int i = 0; i < MANY_KEYS; i++)
        used += (size_t)sprintf(text + used, "k%d=1,", i);
    used += (size_t)sprintf(text + used, "k=1];\n");
    for (int i = 0; i < nodes; i++)
        used += (size_t)sprintf(text + used, "n%d;%s\n", i, comment);
    sprintf(text + used, "}");
    return text;
}

/* Each node has a slot for each attribute: a long text may have more of them.
 */
Test(map, bounds_attributes_by_the_length_of_the_text, .timeout = 120)
{
    char *brief = keyed(40000, ""), *more;
    paths__scan *scan;

    check_refused(brief, "too many different attributes for this number");
    free(brief);
    brief = keyed(40000, "/* a comment of a line, as people write them */");
    check_status(paths__scan_create(&scan, brief, strlen(brief), "test.dot"),
                 0);
    paths__scan_destroy(scan);
    free(brief);
    more = keyed(140000, "/* a comment that is longer than what it is of, as "
                         "there are some, and people who write them */");
    check_refused(more, "too many different attributes for this number");
    free(more);
}

Test(map, says_which_file_cannot_be_read, .timeout = 120)
{
    paths_map *map;

    check_status(paths_map_read(&map, "/nowhere/map.dot"), PASTSET_EIO);
    check_error("/nowhere/map.dot: cannot open it");
    check_status(paths_map_read(&map, "/tmp"), PASTSET_EIO);
}

/* --- writing --- */

Test(map, writes_each_piece_of_syntax, .timeout = 120)
{
    paths_map *map = map_read("paths/golden/syntax.dot");

    golden_compare(map_text(map), "paths/golden/syntax_written.dot");
    paths_map_destroy(map);
}

Test(map, writes_what_it_reads_the_same_again, .timeout = 120)
{
    paths_map *map = map_read("paths/golden/syntax.dot");
    char *text = map_text(map), *text_again;
    paths_map *again = map_parse(text);

    text_again = map_text(again);
    cr_assert_str_eq(text_again, text);
    cr_assert_eq(paths_map_digest(again), paths_map_digest(map));
    free(text);
    free(text_again);
    paths_map_destroy(map);
    paths_map_destroy(again);
}

Test(map, keeps_any_name, .timeout = 120)
{
    static const char *const names[] = {
        "node", "Graph", "",      "a b",    "1",  "-1.5",     "1a",
        "a\"b", "a\\b",  "a\\\\", "x -> y", "//", "\xc3\xa9", "<b>",
        "a\nb", "_",     ".5",    "1.",     "-",
    };
    paths_map *map, *again;
    char *text;

    check_status(paths_map_create(&map, "digraph"), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        paths_map_add_node(map, PATHS_NONE, "element", names[i]);
    text = map_text(map);
    again = map_parse(text);
    cr_assert_eq(again->node_count, map->node_count);
    for (uint32_t i = 0; i < map->node_count; i++)
        cr_assert_str_eq(again->nodes[i].name, names[i]);
    free(text);
    paths_map_destroy(map);
    paths_map_destroy(again);
}

Test(map, saves_to_a_file_or_leaves_the_old_one, .timeout = 120)
{
    char file[] = "/tmp/es_map_test.XXXXXX";
    paths_map *map = map_parse("digraph g { a -> b }"), *again;

    close(mkstemp(file));
    check_status(paths_map_save(map, file), 0);
    check_status(paths_map_read(&again, file), 0);
    cr_assert_eq(again->edge_count, 1);
    check_status(paths_map_save(map, "/nowhere/map.dot"), PASTSET_EIO);
    check_error("/nowhere/map.dot");
    unlink(file);
    paths_map_destroy(map);
    paths_map_destroy(again);
}

/* --- changing --- */

Test(map, refuses_names_that_are_taken, .timeout = 120)
{
    paths_map *map;

    check_status(paths_map_create(&map, "g"), 0);
    cr_assert_eq(paths_map_add_process(map, "h"), 0);
    cr_assert_eq(paths_map_add_process(map, "h"), PATHS_NONE);
    cr_assert_eq(paths_map_add_node(map, 0, "thread", "t"), 0);
    cr_assert_eq(paths_map_add_node(map, 0, "element", "t"), PATHS_NONE);
    cr_assert_eq(paths_map_add_node(map, 7, "element", "e"), PATHS_NONE);
    cr_assert_eq(paths_map_add_edge(map, 0, 1), PATHS_NONE);
    paths_map_destroy(map);
}

Test(map, finds_each_of_many_nodes, .timeout = 120)
{
    char name[32];
    paths_map *map;

    check_status(paths_map_create(&map, "g"), 0);
    for (unsigned i = 0; i < 10000; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        cr_assert_eq(paths_map_add_node(map, PATHS_NONE, "element", name), i);
    }
    for (unsigned i = 0; i < 10000; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        cr_assert_eq(paths_map_find_node(map, name), i);
    }
    cr_assert_eq(paths_map_find_node(map, "n10000"), PATHS_NONE);
    paths_map_destroy(map);
}

Test(map, copies_all_of_a_map, .timeout = 120)
{
    paths_map *map = map_read("paths/golden/syntax.dot"), *copy;
    char *text = map_text(map), *copy_text;

    check_status(paths_map_copy(&copy, map), 0);
    copy_text = map_text(copy);
    cr_assert_str_eq(copy_text, text);
    cr_assert_str_eq(copy->file, map->file);
    cr_assert_eq(copy->nodes[0].line, map->nodes[0].line);
    free(text);
    free(copy_text);
    paths_map_destroy(map);
    paths_map_destroy(copy);
}

Test(map, walks_from_a_thread_to_its_element, .timeout = 120)
{
    paths_map *map = map_parse(PROCESS(THREAD ELEMENT "d [kind=delay];"
                                                      "t -> d; d -> e;"));
    uint32_t nodes[4];

    cr_assert_eq(paths_map_walk(map, 0, nodes, 4), 2);
    cr_assert_eq(nodes[1], paths_map_find_node(map, "e"));
    cr_assert_eq(paths_map_walk(map, 0, nodes, 1), 0, "no room");
    cr_assert_eq(paths_map_threads(map), 1);
    paths_map_destroy(map);
}

Test(map, replaces_and_removes_attributes, .timeout = 120)
{
    paths_attributes list = {NULL, 0};

    check_status(paths_attributes_set(&list, "a", "1"), 0);
    check_status(paths_attributes_set(&list, "b", "2"), 0);
    check_status(paths_attributes_set(&list, "a", "3"), 0);
    cr_assert_str_eq(paths_attributes_get(&list, "a"), "3");
    check_status(paths_attributes_set(&list, "a", NULL), 0);
    cr_assert_null(paths_attributes_get(&list, "a"));
    cr_assert_eq(list.count, 1);
    check_status(paths_attributes_set(&list, "b", NULL), 0);
    free(list.items);
}

/* --- numbers --- */

Test(map, reads_numbers_with_units, .timeout = 120)
{
    static const struct {
        int (*parse)(const char *text, uint64_t *out);
        const char *text;
        uint64_t value;
    } good[] = {
        {paths_parse_number, "1024", 1024},
        {paths_parse_number, "64k", 64000},
        {paths_parse_number, "256Ki", 262144},
        {paths_parse_number, "18446744073709551615", UINT64_MAX},
        {paths_parse_duration, "400us", 400000},
        {paths_parse_duration, "1.5ms", 1500000},
        {paths_parse_duration, "0.000000001s", 1},
        {paths_parse_duration, "2 s", 2000000000},
        {paths_parse_duration, "0", 0},
        {paths_parse_rate, "10mbit", 1250000},
        {paths_parse_rate, "1.5kbit", 187},
        {paths_parse_rate, "125MB", 125000000},
    };

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        uint64_t value;
        check_status(good[i].parse(good[i].text, &value), 0);
        cr_assert_eq(value, good[i].value, "%s", good[i].text);
    }
}

Test(map, refuses_what_is_no_number, .timeout = 120)
{
    static const char *const bad[] = {
        "",
        "k",
        "-1",
        "1.",
        ".5",
        "1x",
        "1e3",
        " 1",
        "0x10",
        "18446744073709551616",
        "18446744073709551615k",
        "1,5",
    };
    uint64_t value;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        check_status(paths_parse_number(bad[i], &value), PASTSET_EINVAL);
    check_status(paths_parse_duration("400", &value), PASTSET_EINVAL);
    check_error("a number and a unit");
    check_status(paths_parse_rate("10", &value), PASTSET_EINVAL);
}

Test(map, says_which_node_has_no_number, .timeout = 120)
{
    paths_map *map = map_parse("digraph g {\n d [latency=fast]\n}");
    uint64_t value;

    check_status(paths_node_duration(map, map->nodes, "latency", 7, &value),
                 PASTSET_EMAP);
    check_error("test.dot:2: d: latency: \"fast\" is not a duration");
    check_status(paths_node_duration(map, map->nodes, "other", 7, &value), 0);
    cr_assert_eq(value, 7);
    paths_map_destroy(map);
}

/* --- the digest --- */

static uint64_t digest_of(const char *text)
{
    paths_map *map = map_parse(text);
    uint64_t digest = paths_map_digest(map);

    paths_map_destroy(map);
    return digest;
}

Test(map, has_a_digest_of_what_processes_must_agree_on, .timeout = 120)
{
    uint64_t digest = digest_of("digraph g { subgraph cluster_h { "
                                "address=\"10.0.0.1\"; a [kind=delay, "
                                "latency=\"1s\", shape=box]; b } a -> b }");

    cr_assert_eq(digest,
                 digest_of("digraph g { b; subgraph cluster_h { b; "
                           "a [latency=\"1s\", kind=delay]; } "
                           "rankdir=LR; a -> b }"),
                 "neither order, nor drawing, nor addresses");
    cr_assert_neq(digest, digest_of("digraph g { subgraph cluster_h { "
                                    "a [kind=delay, latency=\"2s\"]; b } "
                                    "a -> b }"));
    cr_assert_neq(digest,
                  digest_of("digraph g { subgraph cluster_h { "
                            "a [kind=delay, latency=\"1s\"]; } "
                            "a -> b }"),
                  "b in no process");
    cr_assert_neq(digest, digest_of("digraph g { subgraph cluster_h { "
                                    "a [kind=delay, latency=\"1s\"]; b } "
                                    "b -> a }"));
}

/* --- checking --- */

Test(map, has_nothing_against_a_good_map, .timeout = 120)
{
    paths_map *map = map_read("paths/golden/generated.dot");
    paths_diagnostics diagnostics;

    check_status(paths_map_check(map, &diagnostics), 0);
    cr_assert_eq(diagnostics.count, 0);
    paths_map_destroy(map);
}

/* As a collector's, which is of a layer above. */
static void keep_names(void)
{
    static const paths_wrapper_type tracer = {.name = "tracer",
                                              .element_prefix = "trace."};

    check_status(paths_wrapper_register(&tracer), 0);
}

Test(map, complains_about_all_that_is_wrong, .init = keep_names, .timeout = 120)
{
    paths_map *map = map_read("paths/golden/wrong.dot");
    paths_diagnostics diagnostics;
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    check_status(paths_map_check(map, &diagnostics), PASTSET_EMAP);
    for (size_t i = 0; i < diagnostics.count; i++)
        fprintf(file, "%u: %s: %s\n", diagnostics.items[i].line,
                diagnostics.items[i].node, diagnostics.items[i].text);
    fclose(file);
    golden_compare(text, "paths/golden/wrong.txt");
    paths_diagnostics_clear(&diagnostics);
    paths_map_destroy(map);
}

Test(map, names_the_wrappers_that_there_are, .timeout = 120)
{
    check_diagnostic(PROCESS(THREAD ELEMENT "w [kind=wat]; t -> w -> e"),
                     "test.dot:3: w: kind=wat is not known: choose thread, "
                     "element, or one of the wrappers proxy");
}

Test(map, complains_about_a_map_without_threads, .timeout = 120)
{
    check_diagnostic("digraph g { }", "test.dot: there is no thread");
}

Test(map, complains_about_threads_that_are_numbered_wrongly, .timeout = 120)
{
    check_diagnostic(PROCESS("t [kind=thread];" ELEMENT "t -> e"),
                     "t: has no number");
    check_diagnostic(PROCESS("t [kind=thread, number=1];" ELEMENT "t -> e"),
                     "number=1: threads are numbered 0 to 0");
    check_diagnostic(
        PROCESS(THREAD "u [kind=thread, number=0];" ELEMENT "t -> e; u -> e"),
        "u: number=0: thread t has that number too");
}

Test(map, complains_about_elements_with_reserved_or_long_names,
     .init = keep_names, .timeout = 120)
{
    char text[512], name[129];

    check_diagnostic(PROCESS(THREAD "\"trace.t\" [kind=element, type=i32];"
                                    "t -> \"trace.t\""),
                     "choose another");
    check_diagnostic(PROCESS(THREAD "\"~executor.7\" [kind=element, type=i32];"
                                    "t -> \"~executor.7\""),
                     "are reserved");
    memset(name, 'e', 128);
    name[128] = 0;
    snprintf(text, sizeof(text),
             PROCESS(THREAD "%s [kind=element, type=i32];"
                            "t -> %s"),
             name, name);
    check_diagnostic(text, "at most 127 bytes");
}

Test(map, complains_about_types_that_differ, .timeout = 120)
{
    check_diagnostic(PROCESS(THREAD ELEMENT "t -> e [type=\"i64\"]"),
                     "test.dot:3: t -> e: expects tuples of type \"i64\"");
    check_diagnostic(PROCESS(THREAD "e [kind=element, type=\"u8[70000000]\"];"
                                    "t -> e"),
                     "e: type");
}

Test(map, complains_about_edges_that_cross_processes, .timeout = 120)
{
    check_diagnostic("digraph g { subgraph cluster_a { " THREAD " } "
                     "subgraph cluster_b { " ELEMENT " } t -> e }",
                     "from process a to process b without a proxy");
    check_diagnostic(PROCESS(THREAD ELEMENT "p [kind=proxy]; t -> p -> e"),
                     "p: a proxy between stages of one process");
}

Test(map, complains_about_paths_in_circles, .timeout = 120)
{
    check_diagnostic(PROCESS(THREAD ELEMENT
                             "a [kind=delay, latency=\"1us\"];"
                             "b [kind=delay, latency=\"1us\"]; t -> e;"
                             "a -> b; b -> a;"),
                     "a: its path leads back to itself: a -> b -> a");
}

Test(map, complains_about_too_many_stages, .timeout = 120)
{
    char text[8192] = "digraph g { subgraph cluster_h { " THREAD ELEMENT;

    for (int i = 0; i < 32; i++)
        sprintf(text + strlen(text),
                "w%d [kind=delay, latency=\"1us\"]; "
                "w%d -> %s%.0d;",
                i, i, i < 31 ? "w" : "e", i < 31 ? i + 1 : 0);
    strcat(text, "t -> w0 } }");
    check_diagnostic(text, "more than 32 stages in a row on process h");
}

Test(map, complains_about_processes_at_one_address, .timeout = 120)
{
    check_diagnostic("digraph g { subgraph cluster_a { address=\"[::1]:70\"; }"
                     "subgraph cluster_b { address=\"[::1]:70\"; } }",
                     "b: has the address and port of process a");
    check_diagnostic("digraph g { subgraph cluster_a { "
                     "address=\"10.0.0.1:70000\"; } }",
                     "is not an address");
}

Test(map, reads_and_checks_a_large_map_quickly, .timeout = 120)
{
    size_t capacity = 4 << 20, used;
    char *text = malloc(capacity);
    paths_map *map;
    paths_diagnostics diagnostics;
    clock_t begin;

    used = (size_t)sprintf(text, "digraph g { subgraph cluster_h {\n");
    for (int i = 0; i < 3000; i++)
        used += (size_t)sprintf(text + used,
                                "t%d [kind=thread, number=%d];\n"
                                "e%d [kind=element, type=\"u64[14]\"];\n"
                                "t%d -> e%d;\n",
                                i, i, i, i, i);
    used += (size_t)sprintf(text + used, "} }");
    begin = clock();
    check_status(paths_map_parse(&map, text, used, "test.dot"), 0);
    check_status(paths_map_check(map, &diagnostics), 0);
    cr_assert_lt(clock() - begin, 2 * CLOCKS_PER_SEC);
    paths_map_destroy(map);
    free(text);
}

Test(map, an_application_mapping_is_not_a_path_map)
{
    check_diagnostic("digraph g { t [kind=thread];"
                     " e [kind=element, type=i32]; t -> e; }",
                     "this is an application mapping. Make a path map of it "
                     "with `eventspace map generate --application=test.dot "
                     "--processes=N`");
}
