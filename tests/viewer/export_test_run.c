/* export_test_run.c - makes run directories that are hard to export.
 *
 *     export_test_run DIRECTORY none|one|many|long
 *
 * `none` has no event, `one` a single one, and `long` 200,000 of them. `many`
 * has a region with quotes and a line break in its name, one whose name is not
 * UTF-8, a mark in it, one that ends after what lies around it, as it cannot,
 * operations of one thread that overlap, an event of a collector that is not in
 * the map, one of a thread that is not, one that ends before it has begun, one
 * of no length, and two regions that nothing defines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "eventspace/define/definition_internal.h"
#include "eventspace/instrument.h"
#include "paths/generate/generate.h"
#include "pastset/status.h"
#include "pastset/verb.h"
#include "tests/scopes/fake_run.h"

static const char application[] =
    "digraph hard {\n"
    "  t0 [kind=thread, number=0];\n"
    "  \"t1 \\\"x\\\",<y>\" [kind=thread, number=1];\n"
    "  total [kind=element, type=\"u64[1]\"];\n"
    "  t0 -> total [use=sum, as=total];\n"
    "  \"t1 \\\"x\\\",<y>\" -> total [use=sum];\n"
    "}\n";

static void check(int err, const char *what)
{
    if (!err)
        return;
    fprintf(stderr, "%s: %s\n", what, pastset_error());
    exit(1);
}

static paths_map *make_map(void)
{
    paths_map *applied, *plain, *map;
    paths_generate_options options = {.processes = 2};
    eventspace_instrument_options instrument = {.collectors =
                                                    EVENTSPACE_ALL_COLLECTORS};

    check(paths_map_parse(&applied, application, strlen(application),
                          "application"),
          "the map");
    options.application = applied;
    check(paths_generate(&plain, &options), "generating");
    check(eventspace_instrument(&map, plain, &instrument), "instrumenting");
    paths_map_destroy(applied);
    paths_map_destroy(plain);
    return map;
}

static void add(fake_run *run, uint32_t collector, uint32_t thread,
                uint32_t sequence, uint16_t operation, uint64_t start_us,
                uint64_t end_us)
{
    eventspace_trace event = {.start = FAKE_START + start_us * 1000,
                              .end = FAKE_START + end_us * 1000,
                              .collector = collector,
                              .thread = thread,
                              .sequence = sequence,
                              .bytes = 8,
                              .operation = operation};
    bool is_part = operation == EVENTSPACE_TRACE_REGION ||
                   operation == EVENTSPACE_TRACE_MARK || collector > 1000;

    check(is_part ? fake_run_event_in(run, 0, EVENTSPACE_REGIONS_NAME, &event)
                  : fake_run_event(run, &event),
          "an event");
}

/* The id behind those of the collectors. */
static uint32_t base_of(const paths_map *map)
{
    uint32_t base = 0;

    for (uint32_t i = 0; i < map->node_count; i++) {
        const char *id = paths_node_get(&map->nodes[i], "id");
        uint32_t number = id ? (uint32_t)strtoul(id, NULL, 10) + 1 : 0;
        base = number > base ? number : base;
    }
    return base;
}

static uint32_t define(fake_run *run, uint32_t id, uint32_t kind,
                       const char *name)
{
    eventspace_definition definition = {kind, id,   EVENTSPACE_NO_PARENT,
                                        name, NULL, 0};
    char bytes[EVENTSPACE_DEFINITION_BYTES];
    size_t at = 0;

    check(
        fake_run_define(run, 0, bytes,
                        eventspace__definition_encode(bytes, &at, &definition)),
        "a definition");
    return id;
}

static void add_many(fake_run *run, const paths_map *map, uint32_t top)
{
    uint32_t base = base_of(map), processes = map->process_count;
    uint32_t outer, inner, mark;

    outer = define(run, base, EVENTSPACE_DEFINES_REGION, "a \"b\"\\\n\tc,d");
    inner = define(run, base + processes, EVENTSPACE_DEFINES_REGION,
                   "\xff\xc3( \xe2\x82 end");
    mark = define(run, base + 2 * processes, EVENTSPACE_DEFINES_MARK, "mark");
    add(run, inner, 0, 1, EVENTSPACE_TRACE_REGION, 200, 900);
    add(run, outer, 0, 2, EVENTSPACE_TRACE_REGION, 100, 800);
    add(run, mark, 0, 3, EVENTSPACE_TRACE_MARK, 300, 300);
    add(run, top, 0, 1, PASTSET_EXCHANGE, 400, 600);
    add(run, top, 0, 2, PASTSET_EXCHANGE, 450, 700);
    add(run, top, 0, 3, PASTSET_EXCHANGE, 500, 500);
    add(run, top, 0, 4, PASTSET_EXCHANGE, 720, 710);
    add(run, top, 7777, 5, PASTSET_EXCHANGE, 730, 740);
    add(run, top, 0, 6, 999, 750, 760);
    add(run, 99999, 0, 7, PASTSET_EXCHANGE, 770, 780);
    add(run, 5000, 0, 4, EVENTSPACE_TRACE_REGION, 1000, 1100);
    add(run, 5001, 0, 5, EVENTSPACE_TRACE_REGION, 1100, 1200);
}

int main(int argc, char **argv)
{
    const char *what = argc == 3 ? argv[2] : "none";
    paths_map *map = make_map();
    uint32_t top = fake_collector(map, "t0", "total");
    fake_run *run;

    mkdir(argv[1], 0777);
    run = fake_run_begin(argv[1], map);
    check(run ? 0 : 1, "the run");
    if (strcmp(what, "one") == 0)
        add(run, top, 0, 1, PASTSET_EXCHANGE, 10, 20);
    for (uint32_t i = 0; strcmp(what, "long") == 0 && i < 200000; i++)
        add(run, top, 0, i + 1, PASTSET_EXCHANGE, 10 * i, 10 * i + 5);
    if (strcmp(what, "many") == 0)
        add_many(run, map, top);
    check(fake_run_end(run), "the end");
    paths_map_destroy(map);
    return 0;
}
