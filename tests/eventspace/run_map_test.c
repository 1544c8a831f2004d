/* run_map_test.c - the map of a run as definitions: what is written is what
 * Graphviz's file says, each part of it that is damaged is said, and what is
 * whole is there. */
#include "eventspace/run/run_map.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "check.h"
#include "eventspace/define/definition_internal.h"
#include "eventspace/define/map_definitions.h"
#include "eventspace/run/run_writer.h"
#include "pastset/space.h"
#include "tests/support/golden.h"

static const char sample[] =
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

    check_status(paths_map_parse(&map, sample, strlen(sample), "given"), 0);
    return map;
}

static void run_make(void)
{
    paths_map *map = map_given();

    directory_make();
    check_status(eventspace_run_map_save(test_directory, map), 0);
    paths_map_destroy(map);
}

TestSuite(run_map, .timeout = 120, .init = run_make, .fini = directory_remove);

static char problem[EVENTSPACE_RUN_PROBLEM];

/* The text of the map that is read; the problem is in `problem`. */
static char *read_text(uint32_t *nodes)
{
    paths_map *map;
    char *text;

    check_status(eventspace_run_map_read(&map, test_directory, problem,
                                         sizeof(problem), nodes),
                 0);
    text = map_text(map);
    paths_map_destroy(map);
    return text;
}

static void check_whole(const char *what_is_wrong)
{
    paths_map *map = map_given();
    uint32_t nodes;
    char *expected = map_text(map), *text = read_text(&nodes);

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

/* Writes tuples as the definitions, without the one at `left_out`. */
static void write_tuples(const tuples *all, size_t left_out,
                         pastset_policy policy, uint64_t capacity)
{
    pastset_type type;
    pastset_space_options space_options = {.path = in_directory("definitions")};
    pastset_element_options options = {.name = EVENTSPACE_DEFINITIONS_NAME,
                                       .type = &type,
                                       .policy = policy,
                                       .capacity = capacity};
    pastset_space *space;
    pastset_element *element;

    check_status(pastset_space_create(&space, &space_options), 0);
    check_status(pastset_type_parse(&type, EVENTSPACE_DEFINITIONS_TYPE), 0);
    check_status(pastset_element_create(&element, space, &options), 0);
    for (size_t i = 0; i < all->count; i++) {
        if (i != left_out)
            check_status(pastset_write(element, all->bytes[i], all->sizes[i],
                                       PASTSET_NOWAIT, NULL),
                         0);
    }
    pastset_space_close(space);
}

static void tuples_given(tuples *all)
{
    paths_map *map = map_given();

    all->count = 0;
    check_status(eventspace_map_define(map, tuples_add, all), 0);
    paths_map_destroy(map);
}

/* Writes the definitions again, without the one at `left_out`. */
static void write_without(size_t left_out)
{
    static tuples all;

    tuples_given(&all);
    write_tuples(&all, left_out, PASTSET_GROW, 64);
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

/* Makes the length impossible that stands before a tuple. */
static void spoil(size_t which)
{
    static unsigned char bytes[1 << 20];
    static tuples all;
    FILE *stream = fopen(in_directory("definitions"), "r+b");
    size_t count;
    unsigned char *at;

    tuples_given(&all);
    cr_assert_not_null(stream);
    count = fread(bytes, 1, sizeof(bytes), stream);
    at = memmem(bytes, count, all.bytes[which], all.sizes[which]);
    cr_assert_not_null(at);
    fseek(stream, at - bytes - 8, SEEK_SET);
    cr_assert_eq(fwrite("\xff\xff\xff\xff", 1, 4, stream), 4);
    fclose(stream);
}

/* Of 5 nodes and 4 edges. */
static void check_kept(void (*lose)(size_t which))
{
    static const uint32_t nodes[DEFINITIONS] = {5, 5, 5, 2, 3, 4, 4,
                                                4, 4, 4, 5, 5, 5, 5};
    static const uint32_t edges[DEFINITIONS] = {4, 4, 4, 1, 2, 3, 2,
                                                2, 2, 3, 3, 3, 3, 3};
    paths_map *map;
    uint32_t all_nodes;

    cr_assert_eq(unlink(in_directory("pathmap.dot")), 0);
    for (size_t i = 0; i < DEFINITIONS; i++) {
        write_without(DEFINITIONS);
        lose(i);
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

Test(run_map, keeps_what_does_not_need_what_is_missing)
{
    check_kept(write_without);
}

Test(run_map, keeps_what_does_not_need_what_cannot_be_read)
{
    check_kept(spoil);
}

/* --- what no writer writes --- */

static void add(tuples *t, uint32_t kind, uint32_t id, const char *name,
                const char *attributes, size_t attribute_bytes)
{
    eventspace_definition one = {kind,
                                 id,
                                 kind == EVENTSPACE_DEFINES_PROCESS ||
                                         kind == EVENTSPACE_DEFINES_MAP
                                     ? EVENTSPACE_NO_PARENT
                                     : 0,
                                 name,
                                 attributes,
                                 attribute_bytes};

    tuples_add(&one, t);
}

/* Reads these alone. The caller destroys the map. */
static paths_map *read_alone(const tuples *t, pastset_policy policy,
                             uint64_t capacity, uint32_t *nodes)
{
    paths_map *map;

    unlink(in_directory("pathmap.dot"));
    write_tuples(t, SIZE_MAX, policy, capacity);
    check_status(eventspace_run_map_read(&map, test_directory, problem,
                                         sizeof(problem), nodes),
                 0);
    return map;
}

/* Two files put together, and definitions that are there once more. */
Test(run_map, says_what_is_there_twice)
{
    static const struct {
        uint32_t kind, id;
        const char *name, *attributes, *said;
        size_t bytes;
    } more[] = {
        {EVENTSPACE_DEFINES_MAP, 2, "other", NULL, "\"other\" is defined twice",
         0},
        {EVENTSPACE_DEFINES_PROCESS, 0, "h1", NULL, "\"h1\": its id", 0},
        {EVENTSPACE_DEFINES_PROCESS, 1, "h0", NULL, "\"h0\" is defined twice",
         0},
        {EVENTSPACE_DEFINES_PROCESS, 1, "h1", NULL,
         "1 definitions are too many", 0},
        {EVENTSPACE_DEFINES_PROCESS, 1, "h1", "\"a\0x\0\"a\0y",
         "\"a\" is there twice", 10},
        {EVENTSPACE_DEFINES_ELEMENT, 0, "e", NULL, "\"e\": its id", 0},
    };
    static tuples t;
    uint32_t nodes;

    for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
        paths_map *map;
        t.count = 0;
        add(&t, EVENTSPACE_DEFINES_MAP, 2, "one", NULL, 0);
        add(&t, EVENTSPACE_DEFINES_PROCESS, 0, "h0", NULL, 0);
        add(&t, EVENTSPACE_DEFINES_ELEMENT, 0, "x", NULL, 0);
        add(&t, more[i].kind, more[i].id, more[i].name, more[i].attributes,
            more[i].bytes);
        map = read_alone(&t, PASTSET_GROW, 64, &nodes);
        cr_expect(strstr(problem, more[i].said), "%s", problem);
        cr_expect_str_eq(map->name, "one");
        cr_expect_str_eq(map->processes[0].name, "h0");
        paths_map_destroy(map);
    }
}

/* Readers have tables of as many nodes as the map had: a file that pretends to
 * have lost many does not make them large. */
Test(run_map, takes_no_id_beyond_what_can_be_read)
{
    static tuples t;
    uint32_t nodes;
    paths_map *map;

    t.count = 0;
    for (uint32_t i = 0; i < 63; i++)
        add(&t, EVENTSPACE_DEFINES_PROCESS, i, "h", NULL, 0);
    add(&t, EVENTSPACE_DEFINES_ELEMENT, 60, "e", NULL, 0);
    map = read_alone(&t, PASTSET_DISCARD, 8, &nodes);
    cr_expect_eq(nodes, 0, "%u", nodes);
    cr_expect(strstr(problem, "its id cannot be right"), "%s", problem);
    paths_map_destroy(map);
}

/* --- what is odd, and no mistake --- */

static uint32_t random_below(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1103515245 + 12345;
    return (*seed >> 16) % below;
}

/* A text between quotes. Names must not begin with %. */
static void odd_text(FILE *out, uint32_t *seed)
{
    static const char *const pieces[] = {
        "a",  "B", "_",    "0",    ".",  " ", "\\\"",  "\\\\",  "\\n",
        "\n", "é", "\xff", "\\\n", "<",  ">", "&amp;", "node",  "{",
        "}",  ";", "=",    "/*",   "//", "#", "\x01",  "graph", "->"};

    fputc('"', out);
    for (uint32_t i = random_below(seed, 6); i > 0; i--)
        fputs(pieces[random_below(seed, sizeof(pieces) / sizeof(*pieces))],
              out);
    fputc('"', out);
}

static void odd_attributes(FILE *out, uint32_t *seed, const char *kind)
{
    static const char *const keys[] = {"id",    "label",  "note", "address",
                                       "\"\"",  "as",     "kind", "\"node\"",
                                       "trace", "\"a b\""};
    static const char *const values[] = {"<a <b>c</b>>", "<>", "\"\"", "1.5",
                                         "thread"};

    fprintf(out, " [%s", kind);
    for (uint32_t i = random_below(seed, 4); i > 0; i--) {
        fprintf(out, " %s=", keys[random_below(seed, 10)]);
        if (random_below(seed, 3) == 0)
            fputs(values[random_below(seed, 5)], out);
        else
            odd_text(out, seed);
    }
    fputs("];\n", out);
}

static char *odd_map(uint32_t *seed)
{
    static const char *const kinds[] = {"kind=thread", "kind=element",
                                        "kind=collector", "kind=sum", ""};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fputs("digraph ", out);
    odd_text(out, seed);
    fputs(" {\nnode", out);
    odd_attributes(out, seed, "");
    for (uint32_t p = 0; p < 3; p++) {
        fprintf(out, "subgraph \"cluster_%s\" {\n",
                p ? p == 1 ? "h" : "a b" : "");
        fputs("node", out);
        odd_attributes(out, seed, "");
        for (uint32_t i = random_below(seed, 4); i > 0; i--) {
            fprintf(out, "\"n%u", i + 10 * p);
            fputs("\"+", out);
            odd_text(out, seed);
            odd_attributes(out, seed, kinds[random_below(seed, 5)]);
        }
        fputs("}\n", out);
    }
    for (uint32_t i = random_below(seed, 4); i > 0; i--) {
        odd_text(out, seed);
        fputs(random_below(seed, 3) ? " -> " : ":p -> ", out);
        odd_text(out, seed);
        odd_attributes(out, seed, "");
    }
    fputs("}\n", out);
    fclose(out);
    return text;
}

/* Whatever Graphviz reads is the same from definitions. */
Test(run_map, defines_all_that_graphviz_reads)
{
    uint32_t seed = 1, nodes, tried = 0;

    for (int i = 0; i < 300; i++) {
        char *given = odd_map(&seed), *expected, *text;
        paths_map *map, *dot;
        if (paths_map_parse(&map, given, strlen(given), "odd") == 0) {
            check_status(eventspace_run_map_save(test_directory, map), 0);
            check_status(paths_map_read(&dot, in_directory("pathmap.dot")), 0);
            cr_assert_eq(unlink(in_directory("pathmap.dot")), 0);
            expected = map_text(dot);
            text = read_text(&nodes);
            cr_assert_str_empty(problem, "%s: %s", given, problem);
            cr_assert_str_eq(text, expected);
            paths_map_destroy(dot);
            paths_map_destroy(map);
            free(expected);
            free(text);
            tried++;
        }
        free(given);
    }
    cr_assert_gt(tried, 200, "%u", tried);
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

/* Of a launcher that was killed while it wrote them. */
Test(run_map, drafts_are_not_in_the_way)
{
    static const char *const drafts[] = {"sub/pathmap.dot.7.tmp",
                                         "sub/pathmap.dot.7.tmp.7.new",
                                         "sub/definitions.7.tmp"};
    paths_map *map = map_given();
    eventspace_run_writer *writer;

    cr_assert_eq(mkdir(in_directory("sub"), 0700), 0);
    for (size_t i = 0; i < sizeof(drafts) / sizeof(*drafts); i++)
        file_write(in_directory(drafts[i]), "x", 1);
    check_status(
        eventspace_run_writer_open(&writer, in_directory("sub"), map, false),
        0);
    eventspace_run_writer_close(writer, true);
    check_status(
        eventspace_run_writer_open(&writer, in_directory("sub"), map, true), 0);
    for (size_t i = 0; i < sizeof(drafts) / sizeof(*drafts); i++)
        cr_expect_neq(access(in_directory(drafts[i]), F_OK), 0, "%s is left",
                      drafts[i]);
    eventspace_run_writer_close(writer, true);
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
