/* windtunnel_run_test.c - the whole, from outside: maps, runs and what is left
 * of them, with the programs as they are installed. */
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "paths/map/map.h"
#include "pastset/waiter.h"
#include "tests/support/check.h"
#include "tests/support/counting_app.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define WINDTUNNEL TEST_BINARY_DIR "/windtunnel"
#define COUNTING TEST_BINARY_DIR "/../tests/counting_app"

TestSuite(run, .init = scratch_make, .fini = scratch_remove, .timeout = 600);

/* --- maps --- */

typedef struct tunnel {
    const char *width, *height, *threads, *steps;
} tunnel;

static const tunnel small = {"128", "96", "8", "60"};

/* The mapping of the application, in a file. */
static const char *mapping_make(const tunnel *t)
{
    char *text =
        command_run(0, 20, WINDTUNNEL, "mapping", "--width", t->width,
                    "--height", t->height, "--threads", t->threads, NULL);
    const char *file = scratch_write("application.dot", text);
    free(text);
    return file;
}

/* A map of options of `map generate` and `map instrument`. A "" is none. */
typedef struct map_options {
    const char *cluster, *placement; /* texts */
    const char *processes, *spread, *elements;
    const char *collectors, *trace_per, *trace_policy, *trace_size;
} map_options;

static const char *or_else(const char *value, const char *otherwise)
{
    return value ? value : otherwise;
}

static const char *map_make(const tunnel *t, const map_options *o)
{
    const char *application = mapping_make(t);
    const char *generated = scratch_file("generated.dot");
    const char *map = scratch_file("map.dot");
    const char *cluster =
        o->cluster ? scratch_write("cluster.dot", o->cluster) : NULL;
    const char *placement = scratch_write(
        "placement.dot", or_else(o->placement, "digraph nothing {}"));

    free(command_run(0, 20, EVENTSPACE, "map", "generate", "-a", application,
                     cluster ? "--cluster" : "--processes",
                     or_else(cluster, o->processes), "--placement", placement,
                     "--spread", or_else(o->spread, "block"), "--elements",
                     or_else(o->elements, "reader"), "-o", generated, NULL));
    free(command_run(0, 20, EVENTSPACE, "map", "instrument", "--collectors",
                     or_else(o->collectors, "all"), "--trace-per",
                     or_else(o->trace_per, "thread"), "--trace-policy",
                     or_else(o->trace_policy, "grow"), "--trace-size",
                     or_else(o->trace_size, "64k"), "-o", map, generated,
                     NULL));
    free(command_run(0, 20, EVENTSPACE, "map", "check", map, NULL));
    return map;
}

/* --- what a run is to have done --- */

/* How often the thread at the beginning of an edge uses its path. */
static uint64_t operations_of(const paths_map *map, uint32_t edge,
                              uint64_t steps)
{
    const char *as = paths_attributes_get(&map->edges[edge].attributes, "as");

    cr_assert_not_null(as);
    if (strcmp(as, "results") == 0)
        return 1;
    if (strcmp(as, "all_results") == 0)
        return paths_map_threads(map);
    return steps;
}

/* Adds the operations of a path to each of its collectors. */
static uint64_t count_path(const paths_map *map, uint32_t edge,
                           uint64_t operations, uint64_t *of_collector)
{
    uint32_t nodes[64];
    size_t length = paths_map_walk(map, edge, nodes, 64);
    uint64_t sum = 0;

    cr_assert_gt(length, 0);
    for (size_t i = 0; i < length; i++) {
        const paths_map_node *node = &map->nodes[nodes[i]];
        uint64_t id;
        if (strcmp(node->type, "collector") != 0)
            continue;
        check_status(paths_node_number(map, node, "id", UINT64_MAX, &id), 0);
        cr_assert_lt(id, map->node_count);
        of_collector[id] += operations;
        sum += operations;
    }
    return sum;
}

/* The events that map and steps imply, in all and of each collector. */
static uint64_t events_expected(const paths_map *map, uint64_t steps,
                                uint64_t *of_collector)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < map->edge_count; i++) {
        if (map->nodes[map->edges[i].from].kind == PATHS_THREAD)
            sum +=
                count_path(map, i, operations_of(map, i, steps), of_collector);
    }
    return sum;
}

static json_t *info(const char *run)
{
    char *text =
        command_run(0, 30, EVENTSPACE, "info", "--format", "json", run, NULL);
    json_error_t problem;
    json_t *facts = json_loads(text, 0, &problem);

    cr_assert_not_null(facts, "%s: %s", problem.text, text);
    free(text);
    return facts;
}

static uint64_t number(const json_t *facts, const char *key)
{
    const json_t *value = json_object_get(facts, key);
    cr_assert(json_is_integer(value), "%s", key);
    return (uint64_t)json_integer_value(value);
}

static const char *string(const json_t *facts, const char *key)
{
    const char *value = json_string_value(json_object_get(facts, key));
    cr_assert_not_null(value, "%s", key);
    return value;
}

typedef struct events {
    uint64_t expected, recorded, present, lost, spilled;
} events;

/* Of each collector: as expected, when nothing was lost. */
static void check_collectors(const json_t *facts, const uint64_t *expected)
{
    size_t i;
    const json_t *collector;

    json_array_foreach(json_object_get(facts, "collectors"), i, collector)
        cr_expect_eq(
            number(collector, "events"), expected[number(collector, "id")],
            "collector %s: %" PRIu64 " events", string(collector, "collector"),
            number(collector, "events"));
}

static events check_events(const char *run, uint64_t steps)
{
    paths_map *map;
    json_t *facts = info(run);
    const json_t *total = json_object_get(facts, "total");
    events e;
    uint64_t *of_collector;

    check_status(paths_map_read(&map, scratch_file("run/pathmap.dot")), 0);
    of_collector = calloc(map->node_count, sizeof(*of_collector));
    e.expected = events_expected(map, steps, of_collector);
    e.recorded = number(total, "events_recorded");
    e.present = number(total, "events_present");
    e.lost = number(total, "events_lost");
    e.spilled = number(total, "events_spilled");
    cr_expect_str_eq(string(total, "state"), "finished");
    cr_expect_eq(e.recorded, e.expected,
                 "%" PRIu64 " events recorded, not %" PRIu64, e.recorded,
                 e.expected);
    cr_expect_eq(e.lost, e.recorded - e.present);
    if (e.lost == 0)
        check_collectors(facts, of_collector);
    free(of_collector);
    paths_map_destroy(map);
    json_decref(facts);
    return e;
}

/* The lattice of `windtunnel single`, byte by byte. */
static void check_lattice(const tunnel *t, const char *run)
{
    char file[512];
    size_t want_bytes, got_bytes;
    char *want, *got;

    free(command_run(0, 60, WINDTUNNEL, "single", "--width", t->width,
                     "--height", t->height, "--steps", t->steps, "--output",
                     scratch_file("single"), NULL));
    want = file_read(scratch_file("single/lattice.bin"), &want_bytes);
    snprintf(file, sizeof(file), "%s/lattice.bin", run);
    got = file_read(file, &got_bytes);
    cr_assert_eq(got_bytes, want_bytes);
    cr_assert_gt(want_bytes, 1000);
    cr_expect(memcmp(got, want, want_bytes) == 0, "another lattice");
    free(want);
    free(got);
}

/* Runs the tunnel under a map: the same lattice as ever, no event lost. */
static events run_tunnel(const tunnel *t, const map_options *o)
{
    const char *map = map_make(t, o), *run = scratch_file("run");

    free(command_run(0, 120, EVENTSPACE, "run", map, "--output", run, "--",
                     WINDTUNNEL, "--steps", t->steps, NULL));
    check_lattice(t, run);
    return check_events(run, (uint64_t)atoi(t->steps));
}

static void check_run(const map_options *o)
{
    events e = run_tunnel(&small, o);

    cr_expect_eq(e.lost, 0);
    cr_expect_eq(e.present, e.expected);
}

/* --- the same binary, the same lattice, other maps --- */

Test(run, gives_the_same_lattice_on_one_process)
{
    check_run(&(map_options){.processes = "1", .collectors = "none"});
}

Test(run, gives_the_same_lattice_with_blocks_of_threads_on_two_processes)
{
    check_run(&(map_options){.processes = "2"});
}

Test(run, gives_the_same_lattice_with_threads_dealt_to_three_processes)
{
    check_run(&(map_options){
        .processes = "3", .spread = "cyclic", .collectors = "threads"});
}

Test(run, gives_the_same_lattice_with_elements_at_their_writers)
{
    check_run(&(map_options){.processes = "3",
                             .spread = "cyclic",
                             .elements = "writer",
                             .trace_per = "collector"});
}

Test(run, gives_the_same_lattice_with_elements_and_threads_moved)
{
    check_run(&(map_options){
        .processes = "4",
        .placement = "digraph moved { results -> h3; up_1 -> h2;\n"
                     "down_0 -> h2; up_5 -> h3; down_4 -> h0; t3 -> h0;\n"
                     "t0 -> h1; t7 -> h1; }\n"});
}

Test(run, gives_the_same_lattice_over_slow_links)
{
    check_run(&(map_options){
        .cluster = "digraph slow { subgraph cluster_a { h0; h1; }\n"
                   "subgraph cluster_b { h2; }\n"
                   "h0 -> h1 [latency=\"300us\", simulate=true];\n"
                   "h1 -> h2 [latency=\"1ms\", bandwidth=\"10mbit\",\n"
                   "simulate=true]; }\n"});
}

Test(run, gives_the_same_lattice_with_a_trace_for_each_collector)
{
    check_run(&(map_options){.processes = "2", .trace_per = "collector"});
}

/* --- traces that are too small --- */

/* One stream for each collector of a thread, which holds 20 of its events. */
Test(run, tells_exactly_what_small_traces_have_discarded)
{
    events e = run_tunnel(&small, &(map_options){.processes = "2",
                                                 .collectors = "threads",
                                                 .trace_per = "collector",
                                                 .trace_policy = "discard",
                                                 .trace_size = "20"});
    /* The 28 paths between neighbours have 60 operations each, 8 paths with
     * a result have one, and one path reads these. */
    cr_expect_eq(e.expected, 28 * 60 + 8 + 8);
    cr_expect_eq(e.lost, 28 * 40, "%" PRIu64 " lost", e.lost);
    cr_expect_eq(e.present, 28 * 20 + 8 + 8);
}

Test(run, loses_nothing_when_small_traces_block)
{
    events e = run_tunnel(&small, &(map_options){.processes = "2",
                                                 .trace_policy = "block",
                                                 .trace_size = "64"});

    cr_expect_eq(e.lost, 0);
    cr_expect_eq(e.present, e.expected);
    cr_expect_gt(e.spilled, 0);
    cr_expect_eq(access(scratch_file("run/h0.drained"), R_OK), 0);
    cr_expect_eq(access(scratch_file("run/h1.drained"), R_OK), 0);
}

/* --- many threads --- */

static void check_drawing(const char *map, const char *name)
{
    const char *file = scratch_file("%s", name);
    char *picture;

    free(command_run(0, 60, EVENTSPACE, "map", "draw", map, "-o", file, NULL));
    picture = file_read(file, NULL);
    check_says(picture, "</svg>");
    free(picture);
}

Test(run, has_332_threads_on_20_processes)
{
    const tunnel large = {"128", "332", "332", "20"};
    events e = run_tunnel(&large, &(map_options){.processes = "20"});

    cr_expect_eq(e.lost, 0);
    cr_expect_eq(e.present, e.expected);
    cr_expect_gt(e.expected, 332 * 20 * 4);
    check_drawing(scratch_file("map.dot"), "drawn.svg");
}

Test(run, draws_maps_that_graphviz_accepts)
{
    const tunnel large = {"1024", "512", "32", "1"};
    const char *map = map_make(&large, &(map_options){.processes = "4"});
    char *picture;

    check_drawing(map, "drawn.svg");
    picture = command_run(0, 60, "dot", "-Tsvg", map, NULL);
    check_says(picture, "</svg>");
    free(picture);
}

/* --- a process is killed --- */

/* Threads 2 i and 2 i + 1 of the ring are on process i. */
static const char *ring_make(int processes)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    int count = 2 * processes;
    const char *file;

    fprintf(out, "digraph ring {\n");
    for (int i = 0; i < count; i++)
        fprintf(out,
                "t%d [kind=thread, number=%d];\n"
                "e%d [kind=element, type=u64, capacity=4];\n"
                "t%d -> e%d [as=out, use=write];\n"
                "t%d -> e%d [as=in, use=read];\n",
                i, i, i, i, (i + 1) % count, i, i);
    fprintf(out, "}\n");
    fclose(out);
    file = scratch_write("ring.dot", text);
    free(text);
    return file;
}

static void counts_reach(const counting *all, int threads, uint64_t count)
{
    int64_t until = pastset_now_ns() + (int64_t)timeout(120) * 1000000000;

    for (int i = 0; i < threads; i++) {
        while (atomic_load(&all->threads[i].in) < count) {
            cr_assert_lt(pastset_now_ns(), until, "the ring does not turn");
            usleep(500);
        }
    }
}

static uint64_t events_of(const json_t *facts, const char *name)
{
    size_t i;
    const json_t *collector;

    json_array_foreach(json_object_get(facts, "collectors"), i, collector)
    {
        if (strcmp(string(collector, "collector"), name) == 0)
            return number(collector, "events");
    }
    cr_assert_fail("no collector %s", name);
    return 0;
}

/* Each operation that was counted has left its event; the last one may have
 * done so before it was counted. */
static void check_counted(const json_t *facts, int thread, const char *path,
                          uint64_t counted)
{
    char name[64];
    uint64_t found;

    snprintf(name, sizeof(name), "t%d.%s.ec1", thread, path);
    found = events_of(facts, name);
    cr_expect(found == counted || found == counted + 1,
              "%s: %" PRIu64 " events, %" PRIu64 " operations", name, found,
              counted);
}

static const json_t *process_of(const json_t *facts, const char *name)
{
    size_t i;
    const json_t *process;

    json_array_foreach(json_object_get(facts, "processes"), i, process)
    {
        if (strcmp(string(process, "process"), name) == 0)
            return process;
    }
    cr_assert_fail("no process %s", name);
    return NULL;
}

/* What is left of the run can be looked at. */
static void check_remains(const char *run)
{
    char *text =
        command_run(0, 30, EVENTSPACE, "view", run, "communication", NULL);
    check_says(text, "t2");
    free(text);
    free(command_run(0, 60, EVENTSPACE, "report", run, "-o",
                     scratch_file("report.html"), NULL));
    text = file_read(scratch_file("report.html"), NULL);
    check_says(text, "</html>");
    free(text);
}

static void check_killed(const char *run, const counting *all)
{
    json_t *facts = info(run);
    const json_t *dead = process_of(facts, "h1");

    cr_expect_str_eq(string(dead, "state"), "killed");
    check_says(string(dead, "text"), "signal 9");
    for (int i = 0; i < 6; i++) {
        check_counted(facts, i, "out", all->threads[i].out);
        check_counted(facts, i, "in", all->threads[i].in);
    }
    for (int i = 0; i <= 2; i += 2) {
        const json_t *process = process_of(facts, i ? "h2" : "h0");
        cr_expect_str_eq(string(process, "state"), "failed");
        check_says(string(process, "text"), "process h1 died");
        check_says(string(process, "text"), "over path \"");
    }
    json_decref(facts);
}

static void kill_in_the_middle(const char *collectors, const char *policy,
                               const char *size)
{
    const char *counts = scratch_file("counts"), *run = scratch_file("run");
    const char *map = scratch_file("map.dot"), *made = scratch_file("made.dot");
    counting *all = counting_make(counts);
    command p;

    cr_assert_not_null(all);
    free(command_run(0, 20, EVENTSPACE, "map", "generate", "-a", ring_make(3),
                     "--processes", "3", "-o", made, NULL));
    free(command_run(0, 20, EVENTSPACE, "map", "instrument", "--collectors",
                     collectors, "--trace-policy", policy, "--trace-size", size,
                     "-o", map, made, NULL));
    /* They see for themselves that h1 has died: nobody ends them meanwhile,
     * however long a busy machine takes for it. */
    command_start(&p, EVENTSPACE, "run", map, "--output", run, "--grace",
                  "600s", "--", COUNTING, counts, NULL);
    counts_reach(all, 6, 500);
    cr_assert_gt(all->threads[2].pid, 0);
    cr_assert_eq(all->threads[2].pid, all->threads[3].pid);
    cr_assert_eq(kill(all->threads[2].pid, SIGKILL), 0);
    command_wait(&p, 60);
    cr_expect_eq(p.exit_code, 128 + SIGKILL);
    check_says(p.output, "process h1: killed by signal 9");
    check_says(p.output, "process h1 died");
    check_says(p.output, "over path \"");
    command_free(&p);
    check_killed(run, all);
    check_remains(run);
    munmap(all, sizeof(*all));
}

Test(run, names_a_process_that_was_killed_and_keeps_its_events)
{
    kill_in_the_middle("all", "grow", "4M");
}

Test(run, keeps_the_events_of_a_killed_process_that_were_drained)
{
    kill_in_the_middle("threads", "block", "64");
}

Test(run, ends_well_when_a_ring_stops)
{
    const char *counts = scratch_file("counts"), *run = scratch_file("run");
    counting *all = counting_make(counts);
    command p;

    cr_assert_not_null(all);
    /* One thread that writes to itself can stop at any time. */
    scratch_write("one.dot",
                  "digraph one { subgraph cluster_h0 {\n"
                  "t0 [kind=thread, number=0];\n"
                  "e [kind=element, type=u64, capacity=4]; }\n"
                  "t0 -> e [as=out, use=write]; t0 -> e [as=in, use=read];\n"
                  "}\n");
    command_start(&p, EVENTSPACE, "run", scratch_file("one.dot"), "--output",
                  run, "--", COUNTING, counts, NULL);
    counts_reach(all, 1, 1000);
    atomic_store(&all->stop, true);
    command_wait(&p, 20);
    cr_expect_eq(p.exit_code, 0, "%s", p.output);
    command_free(&p);
    munmap(all, sizeof(*all));
}
