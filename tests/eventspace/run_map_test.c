/* run_map_test.c - the map of a run as definitions: what is written is what
 * Graphviz's file says, each part of it that is damaged is said, and what is
 * whole is there. */
#include "eventspace/run/run_map.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "check.h"
#include "eventspace/define/definition_internal.h"
#include "eventspace/define/map_definitions.h"
#include "pastset/space.h"

static const char map_text[] =
    "digraph sample {\n"
    "  trace_policy=grow; label=<a <b>bold</b> one>;\n"
    "  node [shape=box]; edge [color=gray];\n"
    "  subgraph cluster_h0 {\n"
    "    address=\"127.0.0.1:7000\";\n"
    "    t0 [kind=thread, number=0];\n"
    "    \"t0.e.ec1\" [kind=collector, id=0, trace=\"trace.t0\", shape=\"\"];\n"
    "    \"t0 \\\"é\\\" proxy\" [kind=proxy, note=\"a = \\\"b\\\"\"];\n"
    "  }\n"
    "  subgraph cluster_h1 {\n"
    "    \"t0.e.ec3\" [kind=collector, id=1, trace=\"trace.h1\"];\n"
    "    e [kind=element, type=\"u64\", label=<<i>e</i>>];\n"
    "  }\n"
    "  t0 -> \"t0.e.ec1\" [as=e, use=write, color=red];\n"
    "  \"t0.e.ec1\" -> \"t0 \\\"é\\\" proxy\";\n"
    "  \"t0 \\\"é\\\" proxy\" -> \"t0.e.ec3\" [label=<x>];\n"
    "  \"t0.e.ec3\" -> e;\n"
    "}\n";

static paths_map *map_given(void)
{
    paths_map *map;

    check_status(paths_map_parse(&map, map_text, strlen(map_text), "given"), 0);
    return map;
}

static char *text_of(const paths_map *map)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    check_status(paths_map_write(map, file), 0);
    fclose(file);
    return text;
}

static void run_make(void)
{
    paths_map *map = map_given();

    directory_make();
    check_status(eventspace_run_map_save(test_directory, map), 0);
    paths_map_destroy(map);
}

TestSuite(run_map, .timeout = 120, .init = run_make, .fini = directory_remove);

static char problem[512];

/* The text of the map that is read; the problem is in `problem`. */
static char *read_text(uint32_t *nodes)
{
    paths_map *map;
    char *text;

    check_status(eventspace_run_map_read(&map, test_directory, problem,
                                         sizeof(problem), nodes),
                 0);
    text = text_of(map);
    paths_map_destroy(map);
    return text;
}

static void check_whole(const char *what_is_wrong)
{
    paths_map *map = map_given();
    uint32_t nodes;
    char *expected = text_of(map), *text = read_text(&nodes);

    cr_assert_str_eq(text, expected);
    cr_assert_eq(nodes, 5);
    cr_assert(what_is_wrong ? strstr(problem, what_is_wrong) != NULL
                            : problem[0] == 0,
              "%s", problem);
    paths_map_destroy(map);
    free(expected);
    free(text);
}

/* Neither source needs the other. */
Test(run_map, is_the_same_from_definitions_and_from_graphviz)
{
    check_whole(NULL);
    cr_assert_eq(unlink(in_directory("pathmap.dot")), 0);
    check_whole(NULL);
    cr_assert_eq(eventspace_run_is_there(test_directory), 0);
    run_make();
    cr_assert_eq(unlink(in_directory("definitions")), 0);
    check_whole(NULL);
}

Test(run_map, is_the_definitions_where_both_are_there)
{
    file_write(in_directory("pathmap.dot"), "digraph { a; }", 14);
    check_whole(NULL);
}

/* All the definitions as tuples, as they are written. */
typedef struct tuples {
    unsigned char bytes[64][EVENTSPACE_DEFINITION_BYTES];
    size_t sizes[64], count;
} tuples;

static int tuples_add(const eventspace_definition *one, void *context)
{
    tuples *t = context;
    size_t at = 0, bytes;

    while ((bytes = eventspace__definition_encode(t->bytes[t->count], &at,
                                                  one)) > 0)
        t->sizes[t->count++] = bytes;
    return 0;
}

/* Writes the definitions again, without the one at `left_out`. */
static void write_without(size_t left_out)
{
    static tuples all;
    pastset_type type;
    pastset_space_options space_options = {.path = in_directory("definitions")};
    pastset_element_options options = {.name = EVENTSPACE_DEFINITIONS_NAME,
                                       .type = &type,
                                       .policy = PASTSET_GROW,
                                       .capacity = 64};
    pastset_space *space;
    pastset_element *element;
    paths_map *map = map_given();

    all.count = 0;
    check_status(eventspace_map_define(map, tuples_add, &all), 0);
    paths_map_destroy(map);
    check_status(pastset_space_create(&space, &space_options), 0);
    check_status(pastset_type_parse(&type, EVENTSPACE_DEFINITIONS_TYPE), 0);
    check_status(pastset_element_create(&element, space, &options), 0);
    for (size_t i = 0; i < all.count; i++) {
        if (i != left_out)
            check_status(pastset_write(element, all.bytes[i], all.sizes[i],
                                       PASTSET_NOWAIT, NULL),
                         0);
    }
    pastset_space_close(space);
}

/* In the order of the map: map, defaults, 2 processes, 5 nodes, 4 edges. */
#define DEFINITIONS 14
#define FIRST_PROCESS 3
#define FIRST_NODE 5
#define FIRST_EDGE 10

Test(run_map, recovers_what_is_missing_from_graphviz)
{
    for (size_t i = 0; i < DEFINITIONS; i++) {
        write_without(i);
        check_whole("the map is read from pathmap.dot");
    }
    write_without(DEFINITIONS);
    check_whole(NULL);
}

/* Of 5 nodes and 4 edges. */
Test(run_map, keeps_what_does_not_need_what_is_missing)
{
    static const uint32_t nodes[DEFINITIONS] = {5, 5, 5, 2, 3, 4, 4,
                                                4, 4, 4, 5, 5, 5, 5};
    static const uint32_t edges[DEFINITIONS] = {4, 4, 4, 1, 2, 3, 2,
                                                2, 2, 3, 3, 3, 3, 3};
    paths_map *map;
    uint32_t all_nodes;

    cr_assert_eq(unlink(in_directory("pathmap.dot")), 0);
    for (size_t i = 0; i < DEFINITIONS; i++) {
        write_without(i);
        check_status(eventspace_run_map_read(&map, test_directory, problem,
                                             sizeof(problem), &all_nodes),
                     0);
        cr_expect(strstr(problem, "missing"), "%zu: %s", i, problem);
        cr_expect(strstr(problem, "is left out"), "%zu: %s", i, problem);
        cr_expect_eq(map->node_count, nodes[i], "%zu: %u nodes", i,
                     map->node_count);
        cr_expect_eq(map->edge_count, edges[i], "%zu: %u edges", i,
                     map->edge_count);
        cr_expect_geq(all_nodes, map->node_count);
        paths_map_destroy(map);
    }
}

/* Cut anywhere, and bytes turned: never a crash, never a map without a word. */
Test(run_map, survives_any_damage_of_the_file)
{
    unsigned char bytes[65536];
    size_t count;
    int fd = open(in_directory("definitions"), O_RDONLY);
    uint32_t seed = 1, nodes;
    paths_map *map;

    count = (size_t)read(fd, bytes, sizeof(bytes));
    close(fd);
    cr_assert(count > 4096 && count < sizeof(bytes));
    cr_assert_eq(unlink(in_directory("pathmap.dot")), 0);
    for (size_t i = 0; i < 400; i++) {
        size_t at = (seed = seed * 1103515245 + 12345) % count;
        unsigned char before = bytes[at];
        int err;
        bytes[at] ^= (unsigned char)(1 + i % 255);
        file_write(in_directory("definitions"), bytes, i % 4 ? count : at);
        err = eventspace_run_map_read(&map, test_directory, problem,
                                      sizeof(problem), &nodes);
        cr_expect(!err || *pastset_error());
        if (!err && i % 4 == 0)
            cr_expect(map->node_count == 5 || *problem);
        if (!err)
            paths_map_destroy(map);
        bytes[at] = before;
    }
}

Test(run_map, leaves_the_old_one_where_it_cannot_be_written)
{
    paths_map *map = map_given();

    check_status(eventspace_run_map_save(in_directory("none"), map),
                 PASTSET_EIO);
    check_error("none");
    cr_assert_eq(mkdir(in_directory("sub"), 0700), 0);
    cr_assert_eq(mkdir(in_directory("sub/definitions"), 0700), 0);
    cr_assert_neq(eventspace_run_map_save(in_directory("sub"), map), 0);
    check_error("definitions");
    cr_assert_eq(rmdir(in_directory("sub/definitions")), 0);
    cr_assert_eq(rmdir(in_directory("sub")), 0, "a draft is left");
    paths_map_destroy(map);
}

/* Text that needs several tuples, or none. */
Test(run_map, defines_texts_of_any_length)
{
    static char value[3000];
    paths_map *map, *again;
    uint32_t nodes;
    char *text;

    for (size_t length = 0; length < sizeof(value); length += 1 + length / 7) {
        memset(value, 'x', length);
        value[length] = 0;
        check_status(paths_map_create(&map, ""), 0);
        cr_assert_eq(paths_map_add_process(map, "h0"), 0);
        cr_assert_eq(paths_map_add_node(map, 0, "proxy", "n"), 0);
        check_status(
            paths_attributes_set(&map->nodes[0].attributes, "note", value), 0);
        check_status(eventspace_run_map_save(test_directory, map), 0);
        cr_assert_eq(unlink(in_directory("pathmap.dot")), 0);
        text = read_text(&nodes);
        cr_assert_str_empty(problem);
        check_status(paths_map_parse(&again, text, strlen(text), "again"), 0);
        if (length)
            cr_assert_str_eq(paths_node_get(&again->nodes[0], "note"), value);
        paths_map_destroy(again);
        paths_map_destroy(map);
        free(text);
    }
}
