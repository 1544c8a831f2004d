/* draw_test.c - pictures of path maps. */
#include "viewer/draw/draw.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "eventspace/instrument.h"
#include "paths/generate/generate.h"
#include "tests/support/golden.h"

static char file[64];

static void begin(void)
{
    int fd;

    strcpy(file, "/tmp/es_draw_test.XXXXXX");
    fd = mkstemp(file);
    cr_assert_geq(fd, 0);
    close(fd);
}

static void end(void)
{
    unlink(file);
}

static void use(paths_map *map, uint32_t from, uint32_t to, const char *how)
{
    uint32_t edge = paths_map_add_edge(map, from, to);

    check_status(paths_attributes_set(&map->edges[edge].attributes, "use", how),
                 0);
}

static uint32_t add(paths_map *map, const char *kind, const char *prefix,
                    unsigned number)
{
    char name[32];

    snprintf(name, sizeof(name), "%s%u", prefix, number);
    return paths_map_add_node(map, PATHS_NONE, kind, name);
}

/* Threads in a row, each of which reads what the one before it writes. */
static paths_map *tunnel(unsigned threads, unsigned processes)
{
    paths_map *a, *map;
    uint32_t above = PATHS_NONE, results;

    check_status(paths_map_create(&a, "tunnel"), 0);
    results = paths_map_add_node(a, PATHS_NONE, "element", "results");
    for (unsigned i = 0; i < threads; i++) {
        uint32_t thread = add(a, "thread", "t", i);
        uint32_t down = add(a, "element", "down_", i);
        if (i > 0)
            use(a, thread, above, "read");
        use(a, thread, down, "write");
        use(a, thread, results, i > 0 ? "write" : "both");
        above = down;
    }
    check_status(
        paths_generate(&map, &(paths_generate_options){.application = a,
                                                       .processes = processes}),
        0);
    paths_map_destroy(a);
    return map;
}

/* Threads that sum up. */
static paths_map *sums(unsigned threads, unsigned processes, const char *shape)
{
    paths_map *a, *map;
    uint32_t total;

    check_status(paths_map_create(&a, "sums"), 0);
    total = paths_map_add_node(a, PATHS_NONE, "element", "total");
    for (unsigned i = 0; i < threads; i++)
        use(a, add(a, "thread", "t", i), total, "sum");
    check_status(
        paths_generate(&map, &(paths_generate_options){.application = a,
                                                       .processes = processes,
                                                       .shape = shape}),
        0);
    paths_map_destroy(a);
    return map;
}

static char *drawn(size_t *bytes)
{
    FILE *in = fopen(file, "r");
    char *text = calloc(1, 8 << 20);

    cr_assert_not_null(in);
    *bytes = fread(text, 1, (8 << 20) - 1, in);
    fclose(in);
    return text;
}

static void check_drawn(const paths_map *map, const char *format,
                        viewer_fold fold, const char *part)
{
    viewer_draw_options options = {
        .file = file, .format = format, .fold = fold};
    size_t bytes;
    char *text;

    check_status(viewer_draw(map, &options), 0);
    text = drawn(&bytes);
    cr_assert(memmem(text, bytes, part, strlen(part)), "no \"%s\" in it", part);
    free(text);
}

TestSuite(draw, .init = begin, .fini = end, .timeout = 120);

Test(draw, makes_each_format)
{
    paths_map *map = tunnel(4, 2);

    check_drawn(map, "svg", VIEWER_FOLD_AUTO, ">down_3<");
    check_drawn(map, "svg", VIEWER_FOLD_AUTO, "proxy (network)");
    check_drawn(map, "png", VIEWER_FOLD_AUTO, "PNG");
    check_drawn(map, "pdf", VIEWER_FOLD_AUTO, "%PDF");
    check_drawn(map, "dot", VIEWER_FOLD_AUTO, "subgraph cluster_h1");
    paths_map_destroy(map);
}

Test(draw, gives_the_same_picture_as_before)
{
    viewer_draw_options options = {
        .file = file, .format = "dot", .fold = VIEWER_FOLD_ALWAYS};
    paths_map *map = tunnel(8, 2), *all;
    size_t bytes;

    check_status(
        eventspace_instrument(&all, map,
                              &(eventspace_instrument_options){
                                  .collectors = EVENTSPACE_ALL_COLLECTORS}),
        0);
    check_status(viewer_draw(all, &options), 0);
    golden_compare(drawn(&bytes), "viewer/golden/folded.dot");
    paths_map_destroy(map);
    paths_map_destroy(all);
}

Test(draw, folds_large_maps_only)
{
    paths_map *small = tunnel(16, 4), *middle = tunnel(32, 4);
    paths_map *large = tunnel(332, 40);

    check_drawn(small, "svg", VIEWER_FOLD_AUTO, ">t11<");
    check_drawn(small, "svg", VIEWER_FOLD_ALWAYS, "3 threads");
    check_drawn(middle, "svg", VIEWER_FOLD_AUTO, "7 threads");
    check_drawn(middle, "svg", VIEWER_FOLD_NEVER, ">t17<");
    check_drawn(large, "svg", VIEWER_FOLD_AUTO, "38 processes");
    paths_map_destroy(small);
    paths_map_destroy(middle);
    paths_map_destroy(large);
}

/* --- where things stand --- */

static char *svg_of(const paths_map *map, viewer_fold fold, bool collector_ids)
{
    viewer_draw_options options = {
        .file = "map.svg", .fold = fold, .collector_ids = collector_ids};
    size_t bytes;
    char *text, *out;

    check_status(viewer_draw_text(&text, &bytes, map, &options), 0);
    out = malloc(bytes + 1); /* the text has no end of its own */
    cr_assert_not_null(out);
    memcpy(out, text, bytes);
    out[bytes] = 0;
    free(text);
    return out;
}

static double number_after(const char *text, const char *key)
{
    const char *found = text ? strstr(text, key) : NULL;

    cr_assert_not_null(found, "no %s", key);
    return strtod(found + strlen(key), NULL);
}

static const char *titled(const char *svg, const char *name)
{
    char title[64];
    const char *found;

    snprintf(title, sizeof(title), "<title>%s</title>", name);
    found = strstr(svg, title);
    cr_assert_not_null(found, "%s is not drawn", name);
    return found;
}

/* The middle of a thread's ellipse, down from the top. */
static double thread_y(const char *svg, const char *name)
{
    return number_after(titled(svg, name), " cy=\"");
}

static double thread_x(const char *svg, const char *name)
{
    return number_after(titled(svg, name), " cx=\"");
}

/* Of the upper left text in a process's box: its name. */
static double process_y(const char *svg, const char *name)
{
    return number_after(titled(svg, name), " y=\"");
}

/* One column of threads by their numbers, one box of a process below the
 * other. */
static void check_order(const char *svg, unsigned count, unsigned processes)
{
    for (unsigned i = 1; i < count; i++) {
        char above[16], name[16];
        snprintf(above, sizeof(above), "t%u", i - 1);
        snprintf(name, sizeof(name), "t%u", i);
        cr_expect_gt(thread_y(svg, name), thread_y(svg, above), "%s", name);
        cr_expect_float_eq(thread_x(svg, name), thread_x(svg, above), 0.1);
    }
    for (unsigned i = 1; i < processes; i++) {
        char above[24], name[24];
        snprintf(above, sizeof(above), "cluster_h%u", i - 1);
        snprintf(name, sizeof(name), "cluster_h%u", i);
        cr_expect_gt(process_y(svg, name), process_y(svg, above), "%s", name);
    }
}

static paths_map *instrumented(paths_map *map)
{
    paths_map *out;

    check_status(
        eventspace_instrument(&out, map,
                              &(eventspace_instrument_options){
                                  .collectors = EVENTSPACE_ALL_COLLECTORS}),
        0);
    paths_map_destroy(map);
    return out;
}

Test(draw, puts_processes_and_threads_in_their_order)
{
    static const char *const shapes[] = {"hierarchical", "flat", "binomial"};

    for (size_t i = 0; i < 4; i++) {
        paths_map *map = i < 3 ? sums(32, 4, shapes[i]) : tunnel(32, 4);
        char *svg = svg_of(map, VIEWER_FOLD_NEVER, false);

        check_order(svg, 32, 4);
        free(svg);
        map = instrumented(map);
        svg = svg_of(map, VIEWER_FOLD_NEVER, false);
        check_order(svg, 32, 4);
        free(svg);
        paths_map_destroy(map);
    }
}

/* The map may have them in any other order. */
Test(draw, orders_threads_by_their_numbers)
{
    static const char text[] =
        "digraph m { subgraph cluster_h0 {"
        "  t2 [kind=thread, number=2]; t10 [kind=thread, number=10];"
        "  t0 [kind=thread, number=0]; e [kind=element, type=u64]; }"
        " subgraph cluster_h1 { t3 [kind=thread, number=3];"
        "  t1 [kind=thread, number=1]; p [kind=proxy]; }"
        " t10 -> e [use=write]; t2 -> e [use=read]; t0 -> e [use=write];"
        " t1 -> p [use=write]; p -> e; }";
    paths_map *map;
    char *svg;

    check_status(paths_map_parse(&map, text, sizeof(text) - 1, "m.dot"), 0);
    svg = svg_of(map, VIEWER_FOLD_AUTO, false);
    cr_expect_lt(thread_y(svg, "t0"), thread_y(svg, "t2"));
    cr_expect_lt(thread_y(svg, "t2"), thread_y(svg, "t10"));
    cr_expect_lt(thread_y(svg, "t10"), thread_y(svg, "t1"));
    cr_expect_lt(thread_y(svg, "t1"), thread_y(svg, "t3"));
    free(svg);
    paths_map_destroy(map);
}

/* What orders the threads is not to be seen. */
Test(draw, draws_no_edge_that_the_map_does_not_have)
{
    paths_map *map = sums(4, 2, NULL);
    char *svg = svg_of(map, VIEWER_FOLD_NEVER, false);
    uint32_t edges = 0;

    for (const char *at = svg; (at = strstr(at, "class=\"edge\"")); at++)
        edges++;
    cr_expect_eq(edges, map->edge_count);
    free(svg);
    paths_map_destroy(map);
}

static void check_not_drawn(const paths_map *map, const char *part)
{
    viewer_draw_options options = {.file = file, .format = "dot"};
    size_t bytes;
    char *text;

    check_status(viewer_draw(map, &options), 0);
    text = drawn(&bytes);
    cr_assert_null(strstr(text, part), "\"%s\" is in it", part);
    free(text);
}

#define IN_COLLECTIVE "<td>takes part in a collective&nbsp;"

Test(draw, says_in_the_legend_what_each_arrow_does)
{
    paths_map *map = sums(4, 2, "flat");

    check_drawn(map, "dot", VIEWER_FOLD_AUTO, IN_COLLECTIVE);
    check_not_drawn(map, "<td>writes&nbsp;");
    paths_map_destroy(map);
    map = tunnel(4, 2);
    check_drawn(map, "dot", VIEWER_FOLD_AUTO, "<td>writes&nbsp;");
    check_drawn(map, "dot", VIEWER_FOLD_AUTO, "<td>reads&nbsp;");
    check_drawn(map, "dot", VIEWER_FOLD_AUTO, "<td>both&nbsp;");
    check_not_drawn(map, IN_COLLECTIVE);
    paths_map_destroy(map);
}

/* What a map that is generated keeps there, nobody asked for. */
Test(draw, says_of_an_element_of_collectives_its_type_alone)
{
    paths_map *map = sums(4, 2, "hierarchical");
    uint32_t total = paths_map_find_node(map, "total");

    check_status(
        paths_attributes_set(&map->nodes[total].attributes, "type", "f64[1]"),
        0);
    cr_assert_str_eq(paths_node_get(&map->nodes[total], "policy"), "discard");
    check_drawn(map, "dot", VIEWER_FOLD_AUTO, "label=\"total\\nf64[1]\"");
    paths_map_destroy(map);
}

Test(draw, writes_ids_into_collectors_when_asked)
{
    paths_map *map = instrumented(sums(4, 2, NULL));
    char *plain = svg_of(map, VIEWER_FOLD_NEVER, false);
    char *with_ids = svg_of(map, VIEWER_FOLD_NEVER, true);

    for (uint32_t i = 0; i < map->node_count; i++) {
        const char *id = paths_node_get(&map->nodes[i], "id");
        char text[32];
        if (strcmp(map->nodes[i].type, "collector") != 0)
            continue;
        snprintf(text, sizeof(text), ">%s<", id);
        cr_expect_null(strstr(plain, text), "%s", text);
        cr_expect_not_null(strstr(with_ids, text), "%s", text);
        cr_expect_lt(
            number_after(titled(plain, map->nodes[i].name), " rx=\""),
            number_after(titled(with_ids, map->nodes[i].name), " rx=\""));
    }
    free(plain);
    free(with_ids);
    paths_map_destroy(map);
}

/* Six threads use six elements: only where it is other than that an arrow says
 * how many it stands for. */
Test(draw, says_how_many_only_where_that_is_not_clear)
{
    paths_map *map = tunnel(8, 1);
    char *svg = svg_of(map, VIEWER_FOLD_ALWAYS, false);

    cr_expect_not_null(strstr(svg, "7 threads"));
    cr_expect_not_null(strstr(svg, "7 elements"));
    cr_expect_null(strstr(svg, "×7"));
    cr_expect_not_null(strstr(svg, "×6"));
    free(svg);
    paths_map_destroy(map);
}

Test(draw, draws_collectives_as_funnels)
{
    paths_map *map = sums(4, 2, NULL);

    check_drawn(map, "svg", VIEWER_FOLD_AUTO, ">collective");
    check_drawn(map, "dot", VIEWER_FOLD_AUTO,
                "\"total.sum.h1\" [kind=sum, color=\"#2e7d32\", "
                "fillcolor=\"#c8e6c0\"");
    check_drawn(map, "dot", VIEWER_FOLD_AUTO, "shape=trapezium");
    check_drawn(map, "dot", VIEWER_FOLD_AUTO,
                "t0 -> \"total.sum.h0\" [use=sum, color=\"#2e7d32\", "
                "dir=forward, style=solid]");
    check_drawn(map, "dot", VIEWER_FOLD_AUTO,
                "\"total.sum\" -> total [color=\"#2e7d32\", dir=forward");
    paths_map_destroy(map);
}

Test(draw, folds_trees)
{
    static const char *const shapes[] = {"hierarchical", "flat", "binomial"};
    static const char *const parts[] = {"sum × 39", "proxy × 312", "sum × 156"};

    for (size_t i = 0; i < 3; i++) {
        paths_map *map = sums(320, 40, shapes[i]);
        check_drawn(map, "dot", VIEWER_FOLD_AUTO, parts[i]);
        check_drawn(map, "dot", VIEWER_FOLD_AUTO, "39 processes");
        paths_map_destroy(map);
    }
}

Test(draw, folds_processes_where_there_are_many)
{
    paths_map *few = sums(48, 12, NULL), *many = sums(52, 13, NULL);

    check_drawn(few, "dot", VIEWER_FOLD_ALWAYS, "label=\"process h11\"");
    check_drawn(many, "dot", VIEWER_FOLD_ALWAYS, "(12 processes)");
    paths_map_destroy(few);
    paths_map_destroy(many);
}

Test(draw, draws_maps_that_are_wrong)
{
    paths_map *map = map_read("paths/golden/wrong.dot");

    check_drawn(map, "svg", VIEWER_FOLD_NEVER, "nowhere");
    check_drawn(map, "svg", VIEWER_FOLD_ALWAYS, "nowhere");
    paths_map_destroy(map);
}

Test(draw, refuses_formats_it_does_not_know)
{
    paths_map *map = tunnel(2, 1);
    viewer_draw_options options = {.file = "map.gif"};

    check_status(viewer_draw(map, &options), PASTSET_EINVAL);
    check_error("choose svg, png, pdf or dot");
    options.file = "/nowhere/map.svg";
    check_status(viewer_draw(map, &options), PASTSET_ENOENT);
    check_error("/nowhere/map.svg");
    paths_map_destroy(map);
}

/* Of somebody else's map nothing leads away from the picture. */
Test(draw, keeps_no_links_and_no_files_of_others)
{
    static const char text[] =
        "digraph m { URL=\"http://evil.example/g\"; fontpath=\"/evil\";"
        " node [href=\"http://evil.example/d\", image=\"/evil.png\"];"
        " edge [labelURL=\"http://evil.example/e\"];"
        " subgraph cluster_h0 { URL=\"http://evil.example/h\";"
        "  t [kind=thread, number=0, URL=\"http://evil.example/n\","
        "     shapefile=\"/evil.ps\"];"
        "  e [kind=element, type=u64, image=\"/evil.png\"]; }"
        " t -> e [use=write, headhref=\"http://evil.example/i\","
        "         label=<<b>a</b> <img src=\"/evil.png\"/>>]; }";
    viewer_draw_options options = {.file = "map.svg",
                                   .fold = VIEWER_FOLD_NEVER};
    const char *const formats[] = {"svg", "dot"};
    paths_map *map;

    check_status(paths_map_parse(&map, text, sizeof(text) - 1, "evil.dot"), 0);
    for (size_t i = 0; i < 2; i++) {
        size_t bytes;
        char *drawn_text;
        options.format = formats[i];
        check_status(viewer_draw_text(&drawn_text, &bytes, map, &options), 0);
        cr_expect_null(memmem(drawn_text, bytes, "evil", 4), "%.*s", (int)bytes,
                       drawn_text);
        free(drawn_text);
    }
    paths_map_destroy(map);
}

static void check_left(const char *text)
{
    size_t bytes;
    char *there = drawn(&bytes);

    cr_expect_str_eq(there, text);
    free(there);
}

/* What cannot be written leaves what was there, and no half of anything. */
Test(draw, leaves_the_old_picture_when_there_is_no_room)
{
    paths_map *map = tunnel(8, 2);
    viewer_draw_options options = {.file = file, .format = "dot"};
    struct rlimit before, small = {1000, RLIM_INFINITY};
    char part[128];
    FILE *old = fopen(file, "w");

    fputs("old", old);
    fclose(old);
    snprintf(part, sizeof(part), "%s.%ld.part", file, (long)getpid());
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    cr_expect_neq(viewer_draw(map, &options), 0);
    setrlimit(RLIMIT_FSIZE, &before);
    check_error(file);
    check_error("File too large");
    check_left("old");
    cr_expect_neq(access(part, F_OK), 0);
    paths_map_destroy(map);
}

/* /dev/full is a disk without room that everybody has. */
Test(draw, says_that_the_disk_is_full)
{
    paths_map *map = tunnel(2, 1);
    viewer_draw_options options = {.file = "/dev/full", .format = "png"};

    check_status(viewer_draw(map, &options), PASTSET_ENOSPC);
    check_error("/dev/full: No space left on device");
    paths_map_destroy(map);
}

/* Whatever stands where the new file is made is somebody else's. */
Test(draw, follows_no_link)
{
    paths_map *map = tunnel(2, 1);
    viewer_draw_options options = {.file = file, .format = "dot"};
    char part[128], victim[128];

    snprintf(part, sizeof(part), "%s.%ld.part", file, (long)getpid());
    snprintf(victim, sizeof(victim), "%s.victim", file);
    cr_assert_eq(symlink(victim, part), 0);
    check_status(viewer_draw(map, &options), PASTSET_EEXIST);
    cr_expect_neq(access(victim, F_OK), 0);
    unlink(part);
    check_status(viewer_draw(map, &options), 0);
    paths_map_destroy(map);
}
