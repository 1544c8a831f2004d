/* map_additions_test.c - runs whose processes have added to the map what they
 * are made of: they are read like runs whose whole map was there before, while
 * they grow, and what is wrong in one of them is said. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "eventspace/collect/scheduling.h"
#include "eventspace/define/map_additions.h"
#include "eventspace/run/run.h"
#include "eventspace/run/run_map.h"
#include "eventspace/run/run_writer.h"
#include "pastset/request.h"
#include "pastset/space.h"
#include "scopes/reading/reading_internal.h"
#include "scopes/reading/snapshot.h"
#include "scopes/reading/tail_reader.h"
#include "scopes/views/view.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/memory.h"
#include "tests/support/scratch.h"
#include "tests/viewer/otf2_make.h"
#include "viewer/export/export_internal.h"
#include "viewer/live/top_internal.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define RANKS 3
#define STEPS 20
#define US INT64_C(1000)

static void begin(void)
{
    scratch_make();
}

TestSuite(additions, .timeout = 300, .init = begin, .fini = scratch_remove);

/* --- a run whose map was there before: what ranks said to each other --- */

/* In each step a message goes around, and all meet. */
static void run_make(const char *name)
{
    char *trace = strdup(scratch_file("%s.trace", name));
    otf2_make *m = otf2_make_begin(trace, RANKS, NULL);

    for (int64_t i = 0; i < STEPS; i++) {
        for (uint32_t r = 0; r < RANKS; r++) {
            int64_t at = (1000 * i + 10 * r) * US;
            otf2_call_send(m, r, at, at + 5 * US, (r + 1) % RANKS, 7);
            otf2_call_receive(m, r, at + 100 * US,
                              at + (150 + 40 * (r % 2)) * US,
                              (r + RANKS - 1) % RANKS, 7);
            otf2_call_collective(m, r, at + (300 + 20 * r) * US,
                                 (1000 * i + 400) * US, "MPI_Barrier",
                                 OTF2_COLLECTIVE_OP_BARRIER,
                                 OTF2_UNDEFINED_UINT32);
            otf2_enter(m, r, at + 500 * US, "MPI_Comm_rank");
            otf2_leave(m, r, at + 501 * US, "MPI_Comm_rank");
        }
    }
    otf2_make_end(m);
    free(command_run(0, 60, EVENTSPACE, "import",
                     scratch_file("%s.trace/trace.otf2", name), "--output",
                     scratch_file("%s", name), NULL));
    free(trace);
}

/* --- the same, defined by its processes --- */

typedef struct rewriting {
    eventspace_run *from;
    const paths_map *map;
    eventspace_run_writer *writer;
    pastset_element *definitions;
    uint32_t process, next;  /* the next id */
    uint32_t *own;           /* ids of nodes; UINT32_MAX: none yet */
    uint32_t *collectors;    /* by id: what they become */
    uint32_t collector_next; /* of this process */
    uint32_t (*ranks)[RANKS];
} rewriting;

static void define(rewriting *r, eventspace_definition what,
                   const eventspace_attributes *attributes)
{
    what.attributes = attributes->text;
    what.attribute_bytes = attributes->bytes;
    check_status(eventspace_definition_write(r->definitions, &what), 0);
}

static void add_number(eventspace_attributes *to, const char *key,
                       uint32_t number)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", number);
    check_status(eventspace_attributes_add(to, key, text, false), 0);
}

static uint32_t kind_of(const paths_map_node *node)
{
    if (node->kind == PATHS_THREAD)
        return EVENTSPACE_DEFINES_THREAD;
    if (node->kind == PATHS_ELEMENT)
        return EVENTSPACE_DEFINES_ELEMENT;
    return strcmp(node->type, "collector") == 0 ? EVENTSPACE_DEFINES_COLLECTOR
                                                : EVENTSPACE_DEFINES_WRAPPER;
}

static uint32_t rank_of(const rewriting *r)
{
    return (*r->ranks)[r->process];
}

/* What the node has, but with ids that a process can give by itself. */
static void node_attributes(rewriting *r, uint32_t node,
                            eventspace_attributes *out)
{
    const paths_map_node *n = &r->map->nodes[node];
    uint32_t kind = kind_of(n), id;

    for (size_t i = 0; i < n->attributes.count; i++) {
        const paths_attribute *a = &n->attributes.items[i];
        if (kind != EVENTSPACE_DEFINES_COLLECTOR || strcmp(a->key, "id") != 0) {
            check_status(
                eventspace_attributes_add(out, a->key, a->value, false), 0);
            continue;
        }
        id = r->collector_next++ * RANKS + rank_of(r);
        r->collectors[strtoul(a->value, NULL, 10)] = id;
        add_number(out, "id", id);
    }
    if (kind == EVENTSPACE_DEFINES_WRAPPER)
        check_status(eventspace_attributes_add(out, "kind", n->type, false), 0);
    if (kind == EVENTSPACE_DEFINES_WRAPPER ||
        kind == EVENTSPACE_DEFINES_ELEMENT) {
        check_status(eventspace_attributes_add(out, "key", n->name, false), 0);
        check_status(
            eventspace_attributes_add(
                out, "process", r->map->processes[n->process].name, false),
            0);
    }
}

static void node_define(rewriting *r, uint32_t node)
{
    eventspace_attributes attributes = {0};
    const paths_map_node *n = &r->map->nodes[node];

    if (r->own[node] != UINT32_MAX)
        return;
    r->own[node] = r->next++;
    node_attributes(r, node, &attributes);
    define(r,
           (eventspace_definition){kind_of(n), r->own[node],
                                   EVENTSPACE_NO_PARENT, n->name, NULL, 0},
           &attributes);
    free(attributes.text);
}

static void edge_define(rewriting *r, uint32_t edge)
{
    eventspace_attributes attributes = {0};
    const paths_map_edge *e = &r->map->edges[edge];

    for (size_t i = 0; i < e->attributes.count; i++)
        check_status(
            eventspace_attributes_add(&attributes, e->attributes.items[i].key,
                                      e->attributes.items[i].value, false),
            0);
    add_number(&attributes, "to", r->own[e->to]);
    define(r,
           (eventspace_definition){EVENTSPACE_DEFINES_EDGE, r->next++,
                                   r->own[e->from], "", NULL, 0},
           &attributes);
    free(attributes.text);
}

static void path_define(rewriting *r, uint32_t edge)
{
    bool is_new;

    do {
        uint32_t to = r->map->edges[edge].to;
        is_new = r->own[to] == UINT32_MAX;
        node_define(r, to);
        edge_define(r, edge);
        if (is_new && r->map->nodes[to].out_count)
            edge = r->map->nodes[to].out[0];
        else
            break;
    } while (true);
}

static void process_define(rewriting *r)
{
    for (uint32_t i = 0; i < r->map->node_count; i++)
        r->own[i] = UINT32_MAX;
    r->next = r->collector_next = 0;
    check_status(eventspace_run_writer_element(
                     &r->definitions, r->writer, EVENTSPACE_DEFINITIONS_NAME,
                     EVENTSPACE_DEFINITIONS_TYPE, 1000),
                 0);
    for (uint32_t i = 0; i < r->map->node_count; i++) {
        const paths_map_node *n = &r->map->nodes[i];
        if (n->kind != PATHS_THREAD || n->process != r->process)
            continue;
        node_define(r, i);
        for (uint32_t k = 0; k < n->out_count; k++)
            path_define(r, n->out[k]);
    }
}

static int stream_copy(const eventspace_stream *given, void *context)
{
    rewriting *r = context;
    eventspace_stream stream = *given;
    eventspace_trace events[256];
    pastset_element *to;
    uint64_t index = 0;
    size_t count;

    check_status(eventspace_run_writer_element(&to, r->writer, stream.name,
                                               EVENTSPACE_TRACE_TYPE, 1000),
                 0);
    while (eventspace_stream_read(&stream, &index, events, 256, &count) == 0) {
        for (size_t i = 0; i < count; i++) {
            if (r->collectors)
                events[i].collector = r->collectors[events[i].collector];
            check_status(eventspace_run_writer_trace(to, &events[i]), 0);
        }
        index += count;
    }
    return 0;
}

/* Begins and ends of threads. */
static void lives_copy(rewriting *r)
{
    pastset_element *to,
        *from = pastset_space_find(
            eventspace_run_process_at(r->from, r->process)->space,
            EVENTSPACE_SCHEDULING_NAME);
    pastset_cursor cursor = {0};
    eventspace_scheduling tuple;
    size_t bytes = sizeof(tuple);

    if (!from)
        return;
    check_status(eventspace_run_writer_element(&to, r->writer,
                                               EVENTSPACE_SCHEDULING_NAME,
                                               EVENTSPACE_SCHEDULING_TYPE, 100),
                 0);
    while (pastset_read_next(from, &cursor, &tuple, &bytes, PASTSET_NOWAIT) ==
           0)
        check_status(
            pastset_write(to, &tuple, sizeof(tuple), PASTSET_NOWAIT, NULL), 0);
}

/* With `whole`: by that map, which says everything; else by definitions. */
static void rewrite(eventspace_run *from, const char *name,
                    const paths_map *whole)
{
    uint32_t ranks[RANKS], ranked[RANKS];
    rewriting r = {
        .from = from, .map = eventspace_run_map(from), .ranks = &ranks};
    paths_map *base;

    check_status(paths_map_copy_processes(&base, r.map), 0);
    cr_assert_eq(r.map->process_count, RANKS);
    paths_map_rank_processes(r.map, ranked);
    for (uint32_t i = 0; i < RANKS; i++)
        ranks[ranked[i]] = i;
    r.own = calloc(r.map->node_count + 1, sizeof(*r.own));
    if (!whole)
        r.collectors = calloc(r.map->node_count + 1, sizeof(*r.collectors));
    check_status(eventspace_run_writer_open(&r.writer, scratch_file("%s", name),
                                            whole ? whole : base, false),
                 0);
    for (r.process = 0; r.process < RANKS; r.process++) {
        eventspace_meta meta = eventspace_run_process_at(from, r.process)->meta;
        check_status(eventspace_run_writer_begin(r.writer, r.process, 64 << 20),
                     0);
        if (!whole)
            process_define(&r);
        check_status(
            eventspace_run_streams_each(from, r.process, stream_copy, &r), 0);
        lives_copy(&r);
        check_status(eventspace_run_writer_end(r.writer), 0);
        meta.map_digest = 0;
        check_status(eventspace_run_writer_meta(r.writer, r.process, &meta), 0);
    }
    eventspace_run_writer_close(r.writer, true);
    paths_map_destroy(base);
    free(r.own);
    free(r.collectors);
}

/* --- comparing --- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines in an order that does not depend on that of the map. */
static char *lines_sorted(char *text)
{
    char *lines[1000], *out = calloc(1, strlen(text) + 2);
    size_t count = 0;

    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        cr_assert_lt(count, 1000);
        lines[count++] = line;
    }
    qsort(lines, count, sizeof(*lines), by_text);
    for (size_t i = 0; i < count; i++)
        strcat(strcat(out, lines[i]), "\n");
    free(text);
    return out;
}

static char *view(const char *run, const char *name)
{
    return command_run(0, 60, COMMAND_QUIET, EVENTSPACE, "view",
                       scratch_file("%s", run), name, "--format=csv", NULL);
}

static void compare(const char *left, const char *right, const char *name)
{
    char *a = lines_sorted(view(left, name));
    char *b = lines_sorted(view(right, name));

    cr_assert(strchr(a, '\n'), "%s is empty", name);
    cr_assert_str_eq(a, b, "%s: %s and %s differ:\n%s\n%s", name, left, right,
                     a, b);
    free(a);
    free(b);
}

static eventspace_run *run_open(const char *name)
{
    eventspace_run *run;

    check_status(eventspace_run_open(&run, scratch_file("%s", name)), 0);
    return run;
}

static void check_no_problem(const eventspace_run *run)
{
    for (size_t i = 0; i < eventspace_run_process_count(run); i++)
        cr_assert_str_eq(eventspace_run_process_at(run, i)->problem, "");
}

Test(additions, are_read_as_a_map_that_was_there_before)
{
    /* Those that show no ids. */
    static const char *const named[] = {
        "communication", "steps",  "waits-for",   "last-arriver",
        "critical-path", "delays", "thread-wait", "element-order"};
    eventspace_run *given, *added;

    run_make("given");
    given = run_open("given");
    rewrite(given, "added", NULL);
    added = run_open("added");
    check_no_problem(added);
    cr_assert_eq(eventspace_run_map(added)->node_count,
                 eventspace_run_map(given)->node_count);
    cr_assert_eq(eventspace_run_map(added)->edge_count,
                 eventspace_run_map(given)->edge_count);
    rewrite(added, "whole", eventspace_run_map(added));
    for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
        compare("given", "added", named[i]);
    for (size_t i = 0; scopes_view_at(i); i++)
        compare("added", "whole", scopes_view_at(i)->name);
    eventspace_run_close(given);
    eventspace_run_close(added);
}

/* What was added is added once, wherever definitions go. */
Test(additions, go_with_their_events)
{
    eventspace_run *given, *run;

    run_make("given");
    given = run_open("given");
    rewrite(given, "added", NULL);
    eventspace_run_close(given);
    free(command_run(0, 60, EVENTSPACE, "scope", scratch_file("added"),
                     "--output", scratch_file("mirror"), NULL));
    free(command_run(
        0, 60, "sh", "-c",
        "cd $0 && cp -r added one && cp -r added two && rm one/rank_0.* && "
        "rm two/rank_[12].*",
        scratch_file("."), NULL));
    free(command_run(0, 60, EVENTSPACE, "merge", scratch_file("one"),
                     scratch_file("two"), "--output", scratch_file("merged"),
                     NULL));
    free(command_run(0, 60, EVENTSPACE, "pack", scratch_file("added"),
                     "--output", scratch_file("packed.tar.zst"), NULL));
    for (size_t i = 0; i < 2; i++) {
        static const char *const names[] = {"mirror", "merged"};
        run = run_open(names[i]);
        check_no_problem(run);
        eventspace_run_close(run);
    }
    for (size_t i = 0; scopes_view_at(i); i++) {
        const char *name = scopes_view_at(i)->name;
        if (strcmp(name, "pending") == 0)
            continue; /* a mirror does not tell what is under way */
        compare("added", "mirror", name);
        compare("added", "merged", name);
        compare("added", "packed.tar.zst", name);
    }
}

/* --- while it grows --- */

/* What a process is seen to define, one after the other. */
typedef struct growing {
    pastset_space *space;
    pastset_element *definitions, *stream;
    uint32_t next;
} growing;

static uint32_t grow_with(growing *g, uint32_t kind, uint32_t parent,
                          const char *name,
                          const eventspace_attributes *attributes)
{
    eventspace_definition what = {kind, g->next,          parent,
                                  name, attributes->text, attributes->bytes};

    check_status(eventspace_definition_write(g->definitions, &what), 0);
    return g->next++;
}

static uint32_t grow(growing *g, uint32_t kind, uint32_t parent,
                     const char *name, const char *key, const char *value,
                     const char *key2, const char *value2)
{
    eventspace_attributes attributes = {0};
    uint32_t id;

    if (key)
        check_status(eventspace_attributes_add(&attributes, key, value, false),
                     0);
    if (key2)
        check_status(
            eventspace_attributes_add(&attributes, key2, value2, false), 0);
    id = grow_with(g, kind, parent, name, &attributes);
    free(attributes.text);
    return id;
}

static uint32_t grow_edge(growing *g, uint32_t from, uint32_t to)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", to);
    return grow(g, EVENTSPACE_DEFINES_EDGE, from, "", "to", text, NULL, NULL);
}

/* A thread with a collector above an element. */
static void grow_path(growing *g, const char *number, const char *id,
                      const char *element)
{
    uint32_t thread = grow(g, EVENTSPACE_DEFINES_THREAD, EVENTSPACE_NO_PARENT,
                           "main", "number", number, NULL, NULL);
    uint32_t collector =
        grow(g, EVENTSPACE_DEFINES_COLLECTOR, EVENTSPACE_NO_PARENT, "call",
             "id", id, "trace", "trace");
    uint32_t end = grow(g, EVENTSPACE_DEFINES_ELEMENT, EVENTSPACE_NO_PARENT,
                        element, "key", element, "type", "u64");

    grow_edge(g, thread, collector);
    grow_edge(g, collector, end);
}

/* Ids of regions lie between those of collectors. */
static void grow_region(growing *g, uint32_t id, const char *name)
{
    uint32_t next = g->next;

    g->next = id;
    grow(g, EVENTSPACE_DEFINES_REGION, EVENTSPACE_NO_PARENT, name, NULL, NULL,
         NULL, NULL);
    g->next = next;
}

static pastset_element *element_make(pastset_space *space, const char *name,
                                     const char *type_text)
{
    pastset_type type;
    pastset_element_options options = {.name = name,
                                       .type = &type,
                                       .policy = PASTSET_GROW,
                                       .capacity = 10000,
                                       .single_writer = true};
    pastset_element *element;

    check_status(pastset_type_parse(&type, type_text), 0);
    check_status(pastset_element_create(&element, space, &options), 0);
    return element;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Two processes "a" and "b" of which a map says nothing else, and which run. */
static void grow_begin(growing *both)
{
    static const char *const names[] = {"a", "b"};
    const char *directory = scratch_file("live");
    eventspace_run_writer *writer;
    paths_map *map;

    check_status(paths_map_create(&map, "grown"), 0);
    for (int i = 0; i < 2; i++)
        paths_map_add_process(map, names[i]);
    check_status(eventspace_run_writer_open(&writer, directory, map, false), 0);
    for (uint32_t i = 0; i < 2; i++) {
        eventspace_meta meta = {.tick_hz = 1e9,
                                .pid = (uint32_t)getpid(),
                                .state = EVENTSPACE_RUNNING,
                                .tick_source = "test",
                                .start_wall_ns = now_ns(),
                                .start_tick = 1};
        char file[300];
        pastset_space_options options = {.path = file, .max_bytes = 1 << 24};
        snprintf(meta.counter, sizeof(meta.counter), "test %s", names[i]);
        snprintf(file, sizeof(file), "%s/%s.space", directory, names[i]);
        check_status(pastset_space_create(&both[i].space, &options), 0);
        both[i].definitions =
            element_make(both[i].space, EVENTSPACE_DEFINITIONS_NAME,
                         EVENTSPACE_DEFINITIONS_TYPE);
        both[i].stream =
            element_make(both[i].space, "trace", EVENTSPACE_TRACE_TYPE);
        both[i].next = 0;
        check_status(eventspace_run_writer_meta(writer, i, &meta), 0);
    }
    eventspace_run_writer_close(writer, true);
    paths_map_destroy(map);
}

static void grow_end(growing *both)
{
    pastset_space_close(both[0].space);
    pastset_space_close(both[1].space);
}

static void put_operation(growing *g, uint32_t collector, uint32_t thread,
                          uint32_t i, uint8_t operation)
{
    eventspace_trace event = {.start = 100 + i,
                              .end = 101 + i,
                              .collector = collector,
                              .thread = thread,
                              .sequence = i,
                              .operation = operation};

    check_status(eventspace_run_writer_trace(g->stream, &event), 0);
}

static void put(growing *g, uint32_t collector, uint32_t thread, uint32_t i)
{
    put_operation(g, collector, thread, i, PASTSET_WRITE);
}

Test(additions, are_there_as_soon_as_their_tuples)
{
    scopes_snapshot_options all = SCOPES_SNAPSHOT_ALL;
    scopes_snapshot *snapshot;
    const paths_map *before, *then;
    eventspace_run *run;
    growing both[2];

    grow_begin(both);
    run = run_open("live");
    before = eventspace_run_map(run);
    cr_assert_eq(before->node_count, 0);
    check_status(scopes_snapshot_take(&snapshot, run, &all), 0);

    grow_path(&both[0], "0", "0", "to b");
    put(&both[0], 0, 0, 1);
    check_status(scopes_snapshot_again(snapshot), 0);
    then = eventspace_run_map(run);
    cr_assert_eq(then->node_count, 3);
    cr_assert_eq(snapshot->topology->map, then);
    cr_assert_eq(snapshot->event_table->map, then);
    cr_assert_eq(scopes_event_series(snapshot->event_table, 0)->count, 1);
    cr_assert_eq(snapshot->event_table->strange, 0);
    cr_assert_eq(before->node_count, 0,
                 "the map that others have is as it was");

    /* The same element; and a second thread of b, of which a has none. */
    grow_path(&both[1], "1", "1", "to b");
    grow_path(&both[1], "3", "3", "other");
    put(&both[1], 1, 1, 1);
    put(&both[1], 3, 3, 1);
    check_status(scopes_snapshot_again(snapshot), 0);
    then = eventspace_run_map(run);
    cr_assert_eq(paths_map_threads(then), 4);
    cr_assert_neq(paths_map_find_node(then, "thread 2 (absent)"), PATHS_NONE);
    cr_assert_eq(then->nodes[paths_map_find_node(then, "to b")].in_count, 2);
    cr_assert_eq(scopes_event_series(snapshot->event_table, 3)->count, 1);
    cr_assert_eq(snapshot->event_table->strange, 0);
    cr_assert_eq(snapshot->topology->thread_count, 4);
    check_no_problem(run);
    scopes_snapshot_destroy(snapshot);
    eventspace_run_close(run);
    grow_end(both);
}

/* By the map of a look, what was added since is left out, and nothing is
 * strange but what is. */
Test(additions, may_be_left_to_the_next_look)
{
    scopes_event_table *table;
    scopes_source *source;
    eventspace_run *run;
    const paths_map *early;
    growing both[2];

    grow_begin(both);
    grow_path(&both[1], "1", "1", "to b");
    put(&both[1], 1, 1, 1);
    run = run_open("live");
    early = paths_map_ref(eventspace_run_map(run));
    check_status(scopes_source_open(&source, run), 0);
    grow_path(&both[0], "0", "0", "to b");
    put(&both[0], 0, 0, 1);
    put(&both[0], 77, 0, 2);
    put(&both[1], 1, 1, 2);
    check_status(scopes__event_table_load_by(&table, source, NULL, early), 0);
    cr_assert_eq(table->map, early);
    cr_assert_eq(table->strange, 1);
    cr_assert_eq(scopes_event_series(table, 0)->count, 0);
    cr_assert_eq(scopes_event_series(table, 1)->count, 2);
    cr_assert_eq(early->nodes[scopes_event_series(table, 1)->node].process, 1);
    scopes_event_table_destroy(table);
    check_status(scopes_event_table_load(&table, source, NULL), 0);
    cr_assert_neq(table->map, early);
    cr_assert_eq(table->strange, 1);
    cr_assert_eq(scopes_event_series(table, 0)->count, 1);
    scopes_event_table_destroy(table);
    scopes_source_close(source);
    paths_map_unref(early);
    eventspace_run_close(run);
    grow_end(both);
}

/* Defines as fast as it can, and traces each. */
static void grow_fast(growing *g)
{
    char text[16];

    for (uint32_t i = 0; i < 8000; i++) {
        snprintf(text, sizeof(text), "%u", 2 * i);
        grow(g, EVENTSPACE_DEFINES_COLLECTOR, EVENTSPACE_NO_PARENT, "c", "id",
             text, "trace", "trace");
        put(g, 2 * i, 0, i + 1);
    }
}

Test(additions, however_fast_do_not_keep_from_looking)
{
    scopes_snapshot_options all = SCOPES_SNAPSHOT_ALL;
    scopes_snapshot *snapshot;
    eventspace_run *run;
    growing both[2];
    pid_t child, ended;
    int status;

    grow_begin(both);
    run = run_open("live");
    child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        grow_fast(&both[0]);
        _exit(0);
    }
    check_status(scopes_snapshot_take(&snapshot, run, &all), 0);
    do {
        ended = waitpid(child, &status, WNOHANG);
        check_status(scopes_snapshot_again(snapshot), 0);
        cr_assert_eq(snapshot->event_table->strange, 0);
        cr_assert_eq(snapshot->event_table->map, snapshot->topology->map);
    } while (ended == 0);
    cr_assert_eq(status, 0);
    cr_assert_eq(snapshot->topology->collectors, 15999);
    cr_assert_eq(snapshot->event_table->ledger.read, 8000);
    cr_assert_eq(scopes_event_series(snapshot->event_table, 15998)->count, 1);
    scopes_snapshot_destroy(snapshot);
    eventspace_run_close(run);
    grow_end(both);
}

/* Threads of a top, and their operations. */
static void check_top(viewer_top *top, uint32_t threads, uint32_t of_last)
{
    check_status(viewer_top_pull(top), 0);
    cr_assert_eq(top->thread_count, threads);
    cr_assert_eq(top->strange, 0);
    if (threads)
        cr_assert_eq(top->threads[threads - 1].sequence, of_last);
}

Test(additions, are_watched_as_they_come)
{
    viewer_top *top;
    growing both[2];

    grow_begin(both);
    check_status(viewer_top_open(&top, scratch_file("live"), NULL), 0);
    check_top(top, 0, 0);
    grow_path(&both[0], "0", "0", "to b");
    put(&both[0], 0, 0, 1);
    check_top(top, 1, 1);
    put(&both[0], 0, 0, 2);
    check_top(top, 1, 2);
    grow_path(&both[1], "1", "1", "to b");
    put(&both[1], 1, 1, 7);
    check_top(top, 2, 7);
    cr_assert_eq(top->threads[0].sequence, 2);
    viewer_top_close(top);
    grow_end(both);
}

/* What comes between a look at the map and one at the tuples is in the next. */
Test(additions, are_not_strange_to_who_watches)
{
    eventspace_trace events[] = {
        {.start = 100,
         .end = 101,
         .collector = 2,
         .thread = 2,
         .sequence = 1,
         .operation = PASTSET_WRITE},
        {.start = 102,
         .end = 103,
         .collector = 4,
         .thread = 0,
         .sequence = 2,
         .operation = EVENTSPACE_TRACE_REGION},
        {.start = 104, .end = 105, .collector = 77, .thread = 0}};
    scopes_batch batch = {.stream = "other", .events = events, .count = 2};
    viewer_top *top;
    growing both[2];

    grow_begin(both);
    grow_path(&both[0], "0", "0", "to b");
    check_status(viewer_top_open(&top, scratch_file("live"), NULL), 0);
    grow_path(&both[0], "2", "2", "to b");
    grow_region(&both[0], 4, "part");
    check_status(viewer__top_take(top, &batch), 0);
    cr_assert_eq(top->strange, 0);
    batch.index = 2;
    batch.events = &events[2];
    batch.count = 1;
    check_status(viewer__top_take(top, &batch), 0);
    cr_assert_eq(top->strange, 1);
    put(&both[0], 2, 2, 1);
    put_operation(&both[0], 4, 2, 7, EVENTSPACE_TRACE_REGION);
    check_top(top, 3, 1);
    viewer_top_close(top);
    grow_end(both);
}

/* Waits for what a command that goes on is to print. */
static void wait_for_text(const command *c, const char *text)
{
    char output[1 << 16];
    uint64_t end = now_ns() + timeout(60) * UINT64_C(1000000000);
    ssize_t bytes;

    do {
        bytes = pread(c->output_fd, output, sizeof(output) - 1, 0);
        cr_assert_geq(bytes, 0);
        output[bytes] = 0;
        cr_assert_lt(now_ns(), end, "no \"%s\" in %s", text, output);
    } while (!strstr(output, text));
}

Test(additions, count_where_clocks_are_followed)
{
    command clock;
    growing both[2];

    grow_begin(both);
    command_start(&clock, EVENTSPACE, "clock", scratch_file("live"), "--follow",
                  "10ms", "--format", "csv", NULL);
    wait_for_text(&clock, "b,wall clock,");
    grow_path(&both[0], "0", "0", "to b");
    grow_path(&both[1], "1", "1", "to b");
    grow_path(&both[0], "2", "2", "to a");
    grow_path(&both[1], "3", "3", "to a");
    put_operation(&both[0], 0, 0, 1, PASTSET_WRITE);
    put_operation(&both[1], 1, 1, 2, PASTSET_TAKE);
    put_operation(&both[1], 3, 3, 3, PASTSET_WRITE);
    put_operation(&both[0], 2, 2, 4, PASTSET_TAKE);
    wait_for_text(&clock, "b,exchanges,a,");
    kill(clock.pid, SIGTERM);
    command_wait(&clock, 60);
    command_free(&clock);
    grow_end(both);
}

/* A stream may be there before the collector that it is of, or after. */
static int batch_count(const scopes_batch *batch, void *context)
{
    size_t *count = context;

    *count += batch->count;
    return 0;
}

Test(additions, have_streams_that_are_followed)
{
    scopes_tail_reader *tail;
    eventspace_run *run;
    growing both[2];
    size_t count = 0;

    grow_begin(both);
    run = run_open("live");
    check_status(scopes_tail_reader_create(&tail, run, SIZE_MAX, NULL), 0);
    check_status(scopes_tail_reader_pull(tail, batch_count, &count, NULL), 0);
    grow_path(&both[0], "0", "0", "to b");
    put(&both[0], 0, 0, 1);
    check_status(scopes_tail_reader_pull(tail, batch_count, &count, NULL), 0);
    cr_assert_eq(count, 1, "the stream was there, and is defined now");

    grow(&both[1], EVENTSPACE_DEFINES_COLLECTOR, EVENTSPACE_NO_PARENT, "late",
         "id", "1", "trace", "late");
    both[1].stream = element_make(both[1].space, "late", EVENTSPACE_TRACE_TYPE);
    put(&both[1], 1, 1, 1);
    check_status(scopes_tail_reader_pull(tail, batch_count, &count, NULL), 0);
    cr_assert_eq(count, 2, "a new stream is of what was defined before it");
    scopes_tail_reader_destroy(tail);
    eventspace_run_close(run);
    grow_end(both);
}

/* What was said first counts, also where it was checked. */
Test(additions, have_each_attribute_once)
{
    growing both[2];
    eventspace_run *run;
    scopes_topology *topology;
    const paths_map *map;

    grow_begin(both);
    grow(&both[0], EVENTSPACE_DEFINES_COLLECTOR, EVENTSPACE_NO_PARENT, "c",
         "id", "0", "id", "4000000000");
    grow(&both[0], EVENTSPACE_DEFINES_THREAD, EVENTSPACE_NO_PARENT, "t",
         "number", "0", "number", "4000000000");
    run = run_open("live");
    map = eventspace_run_map(run);
    check_status(scopes_topology_create(&topology, map), 0);
    cr_assert_eq(topology->collectors, 1);
    cr_assert_eq(topology->thread_count, 1);
    scopes_topology_destroy(topology);
    eventspace_run_close(run);
    grow_end(both);
}

static char *rows_of(viewer__export *e)
{
    static viewer__text out;
    char *text;
    size_t bytes;

    out = (viewer__text){.file = open_memstream(&text, &bytes)};
    cr_assert(out.file);
    check_status(viewer__export_rows(e, false, &out), 0);
    check_status(viewer__put_end(&out), 0);
    fclose(out.file);
    return text;
}

static char *export_rows(eventspace_run *run)
{
    const viewer_export_options options = {.from_ns = INT64_MIN,
                                           .to_ns = INT64_MAX};
    viewer__export e;
    char *text;

    check_status(viewer__export_open(&e, run, &options), 0);
    text = rows_of(&e);
    viewer__export_close(&e);
    return text;
}

/* What comes while a run is exported has no name yet: it is in the next one. */
Test(additions, are_exported_when_they_have_names)
{
    const viewer_export_options options = {.from_ns = INT64_MIN,
                                           .to_ns = INT64_MAX};
    viewer__export e;
    eventspace_run *run;
    growing both[2];
    char *text;

    grow_begin(both);
    grow_path(&both[0], "0", "0", "to b");
    grow_region(&both[0], 2, "part");
    grow_path(&both[0], "2", "4", "to b");
    put(&both[0], 0, 0, 1);
    put_operation(&both[0], 2, 0, 2, EVENTSPACE_TRACE_REGION);
    run = run_open("live");
    check_status(viewer__export_open(&e, run, &options), 0);
    grow_path(&both[0], "4", "6", "to b");
    grow_region(&both[0], 8, "later");
    put(&both[0], 6, 4, 3);
    put_operation(&both[0], 8, 0, 4, EVENTSPACE_TRACE_REGION);
    put_operation(&both[0], 2, 4, 5, EVENTSPACE_TRACE_REGION);
    put(&both[0], 4, 2, 6);
    text = rows_of(&e);
    viewer__export_close(&e);
    cr_assert(strstr(text, "\n0,call,a,0,main,1,"), "%s", text);
    cr_assert(strstr(text, "\n2,part,a,0,main,2,"), "%s", text);
    cr_assert(strstr(text, "\n4,call (2),a,2,main (2),6,"), "%s", text);
    cr_assert(!strstr(text, "\n6,") && !strstr(text, "\n8,"), "%s", text);
    cr_assert(!strstr(text, "\n2,part,a,4"), "%s", text);
    free(text);
    text = export_rows(run);
    cr_assert(strstr(text, "\n6,call (3),a,4,main (3),3,"), "%s", text);
    cr_assert(strstr(text, "\n8,later,a,0,main,4,"), "%s", text);
    cr_assert(strstr(text, "\n2,part,a,4,main (3),5,"), "%s", text);
    free(text);
    eventspace_run_close(run);
    grow_end(both);
}

/* A map goes when nobody refers to it any more. */
Test(additions, leave_no_maps_behind)
{
    scopes_topology *kept;
    eventspace_run *run;
    growing both[2];
    char text[16];

    grow_begin(both);
    run = run_open("live");
    grow_path(&both[0], "0", "0", "first");
    check_status(eventspace_run_refresh(run), 0);
    check_status(scopes_topology_create(&kept, eventspace_run_map(run)), 0);
    for (uint32_t i = 1; i < 2000; i++) {
        snprintf(text, sizeof(text), "%u", 2 * i);
        grow(&both[0], EVENTSPACE_DEFINES_COLLECTOR, EVENTSPACE_NO_PARENT, "c",
             "id", text, NULL, NULL);
        check_status(eventspace_run_refresh(run), 0);
        cr_assert_eq(eventspace_run_map(run)->node_count, 3 + i);
        cr_assert_eq(eventspace_run_map(run)->references, 0);
    }
    cr_assert_eq(kept->map->node_count, 3);
    eventspace_run_close(run);
    cr_assert_str_eq(kept->map->nodes[0].name, "main");
    scopes_topology_destroy(kept);
    grow_end(both);
}

/* --- without memory --- */

typedef struct looking {
    eventspace_run *run;
    viewer_top *top;
    scopes_snapshot *snapshot;
} looking;

static int refresh(void *context)
{
    return eventspace_run_refresh(((looking *)context)->run);
}

static int pull(void *context)
{
    return viewer_top_pull(((looking *)context)->top);
}

static int snapshot_again(void *context)
{
    return scopes_snapshot_again(((looking *)context)->snapshot);
}

static void check_complete(const eventspace_run *run, unsigned at)
{
    const paths_map *map = eventspace_run_map(run);
    const eventspace_run_definition *region =
        eventspace_run_definition_of(run, 2);

    check_no_problem(run);
    cr_assert_eq(map->node_count, 3, "allocation %u", at);
    cr_assert_eq(map->edge_count, 2, "allocation %u", at);
    cr_assert_neq(eventspace_run_collector(run, 0), PATHS_NONE, "allocation %u",
                  at);
    cr_assert(region && strcmp(region->name, "part") == 0, "allocation %u", at);
}

/* Whatever allocation fails: the next look takes what there is. */
static void fail_each(int (*call)(void *context))
{
    scopes_snapshot_options all = SCOPES_SNAPSHOT_ALL;
    bool failed = true;

    for (unsigned at = 1; failed; at++) {
        looking l;
        growing both[2];
        uint32_t next;
        int err;

        grow_begin(both);
        l.run = run_open("live");
        check_status(viewer_top_open(&l.top, scratch_file("live"), NULL), 0);
        check_status(scopes_snapshot_take(&l.snapshot, l.run, &all), 0);
        grow_path(&both[0], "0", "0", "to b");
        put(&both[0], 0, 0, 1);
        next = both[0].next;
        both[0].next = 2; /* the id of its tuples */
        grow(&both[0], EVENTSPACE_DEFINES_REGION, EVENTSPACE_NO_PARENT, "part",
             NULL, NULL, NULL, NULL);
        both[0].next = next;
        failed = memory_fails_at(at, call, &l, &err);
        if (!failed)
            check_status(err, 0);
        check_status(scopes_snapshot_again(l.snapshot), 0);
        check_complete(l.run, at);
        cr_assert_eq(scopes_event_series(l.snapshot->event_table, 0)->count, 1);
        check_top(l.top, 1, 1);
        scopes_snapshot_destroy(l.snapshot);
        viewer_top_close(l.top);
        eventspace_run_close(l.run);
        grow_end(both);
        free(command_run(0, 10, "rm", "-r", scratch_file("live"), NULL));
    }
}

Test(additions, are_taken_after_a_look_without_memory)
{
    fail_each(refresh);
    fail_each(pull);
    fail_each(snapshot_again);
}

/* --- what is wrong --- */

typedef void wrong(growing *both);

static void id_of_another(growing *both)
{
    grow(&both[0], EVENTSPACE_DEFINES_COLLECTOR, EVENTSPACE_NO_PARENT, "x",
         "id", "5", NULL, NULL);
}

static void id_twice(growing *both)
{
    grow(&both[0], EVENTSPACE_DEFINES_COLLECTOR, EVENTSPACE_NO_PARENT, "x",
         "id", "0", NULL, NULL);
}

static void id_too_high(growing *both)
{
    grow(&both[0], EVENTSPACE_DEFINES_COLLECTOR, EVENTSPACE_NO_PARENT, "x",
         "id", "4000000000", NULL, NULL);
}

static void id_missing(growing *both)
{
    grow(&both[0], EVENTSPACE_DEFINES_COLLECTOR, EVENTSPACE_NO_PARENT, "x",
         NULL, NULL, NULL, NULL);
}

static void edge_to_nowhere(growing *both)
{
    grow_edge(&both[0], 1, 77);
}

static void edge_from_an_element(growing *both)
{
    grow_edge(&both[0], 2, 1);
}

static void way_back(growing *both)
{
    uint32_t upper = grow(&both[0], EVENTSPACE_DEFINES_WRAPPER,
                          EVENTSPACE_NO_PARENT, "x", "kind", "sum", NULL, NULL);
    uint32_t lower = grow(&both[0], EVENTSPACE_DEFINES_WRAPPER,
                          EVENTSPACE_NO_PARENT, "y", "kind", "sum", NULL, NULL);

    grow_edge(&both[0], upper, lower);
    grow_edge(&both[0], lower, upper);
}

static void wrapper_that_is_a_thread(growing *both)
{
    grow(&both[0], EVENTSPACE_DEFINES_WRAPPER, EVENTSPACE_NO_PARENT, "x",
         "kind", "thread", "number", "0");
}

static void too_many_attributes(growing *both)
{
    eventspace_attributes attributes = {0};

    for (int i = 0; i <= 4096; i++)
        check_status(eventspace_attributes_add(&attributes, "k", "", false), 0);
    grow_with(&both[0], EVENTSPACE_DEFINES_ELEMENT, EVENTSPACE_NO_PARENT, "x",
              &attributes);
    free(attributes.text);
}

static void second_way_down(growing *both)
{
    uint32_t end = grow(&both[0], EVENTSPACE_DEFINES_ELEMENT,
                        EVENTSPACE_NO_PARENT, "x", "type", "u64", NULL, NULL);

    grow_edge(&both[0], 1, end);
}

static void key_of_another_kind(growing *both)
{
    grow(&both[1], EVENTSPACE_DEFINES_WRAPPER, EVENTSPACE_NO_PARENT, "x", "key",
         "to b", "kind", "sum");
}

static void number_of_another(growing *both)
{
    grow(&both[0], EVENTSPACE_DEFINES_THREAD, EVENTSPACE_NO_PARENT, "x",
         "number", "1", NULL, NULL);
}

static void number_that_is_none(growing *both)
{
    grow(&both[0], EVENTSPACE_DEFINES_THREAD, EVENTSPACE_NO_PARENT, "x",
         "number", "x", NULL, NULL);
}

static void number_again(growing *both)
{
    grow(&both[0], EVENTSPACE_DEFINES_THREAD, EVENTSPACE_NO_PARENT, "x",
         "number", "0", NULL, NULL);
}

static void number_too_high(growing *both)
{
    grow(&both[0], EVENTSPACE_DEFINES_THREAD, EVENTSPACE_NO_PARENT, "x",
         "number", "1000000", NULL, NULL);
}

static void process_of_no_run(growing *both)
{
    grow(&both[0], EVENTSPACE_DEFINES_ELEMENT, EVENTSPACE_NO_PARENT, "x",
         "process", "c", NULL, NULL);
}

static void thread_of_another(growing *both)
{
    grow(&both[0], EVENTSPACE_DEFINES_THREAD, EVENTSPACE_NO_PARENT, "x",
         "number", "2", "process", "b");
}

static void collector_as_a_wrapper(growing *both)
{
    grow(&both[0], EVENTSPACE_DEFINES_WRAPPER, EVENTSPACE_NO_PARENT, "x",
         "kind", "collector", "id", "4000000000");
}

static void no_name(growing *both)
{
    grow(&both[0], EVENTSPACE_DEFINES_ELEMENT, EVENTSPACE_NO_PARENT, "", NULL,
         NULL, NULL, NULL);
}

static void id_that_descends(growing *both)
{
    both[0].next = 1;
    grow(&both[0], EVENTSPACE_DEFINES_ELEMENT, EVENTSPACE_NO_PARENT, "x", NULL,
         NULL, NULL, NULL);
}

Test(additions, that_are_wrong_are_said_and_left_out)
{
    static wrong *const all[] = {id_of_another,
                                 id_twice,
                                 id_too_high,
                                 id_missing,
                                 edge_to_nowhere,
                                 edge_from_an_element,
                                 second_way_down,
                                 number_of_another,
                                 number_that_is_none,
                                 number_again,
                                 number_too_high,
                                 process_of_no_run,
                                 no_name,
                                 key_of_another_kind,
                                 id_that_descends,
                                 collector_as_a_wrapper,
                                 thread_of_another,
                                 way_back,
                                 too_many_attributes,
                                 wrapper_that_is_a_thread};

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        growing both[2];
        eventspace_run *run;
        scopes_topology *topology;
        const paths_map *map;
        char problems[1100];

        grow_begin(both);
        grow_path(&both[0], "0", "0", "to b");
        grow_path(&both[1], "1", "1", "to b");
        all[i](both);
        grow_path(&both[1], "3", "3", "behind it");
        run = run_open("live");
        map = eventspace_run_map(run);
        snprintf(problems, sizeof(problems), "%s%s",
                 eventspace_run_process_at(run, 0)->problem,
                 eventspace_run_process_at(run, 1)->problem);
        cr_assert_neq(problems[0], 0, "case %zu is not said", i);
        cr_assert_neq(paths_map_find_node(map, "behind it"), PATHS_NONE,
                      "case %zu", i);
        cr_assert_eq(map->nodes[paths_map_find_node(map, "to b")].in_count, 2,
                     "case %zu", i);
        /* It is said once, however often one looks. */
        check_status(eventspace_run_refresh(run), 0);
        check_status(scopes_topology_create(&topology, map), 0);
        cr_assert_eq(topology->collectors, 4);
        scopes_topology_destroy(topology);
        eventspace_run_close(run);
        grow_end(both);
        free(command_run(0, 10, "rm", "-r", scratch_file("live"), NULL));
    }
}

/* What was refused is right as soon as what it did not agree with is not. */
Test(additions, do_not_depend_on_who_looked_when)
{
    eventspace_run *early, *late;
    growing both[2];

    grow_begin(both);
    grow(&both[1], EVENTSPACE_DEFINES_WRAPPER, EVENTSPACE_NO_PARENT, "x", "key",
         "x", "kind", "sum");
    grow(&both[1], EVENTSPACE_DEFINES_ELEMENT, EVENTSPACE_NO_PARENT, "x", "key",
         "x", "type", "u64");
    grow(&both[1], EVENTSPACE_DEFINES_WRAPPER, EVENTSPACE_NO_PARENT, "up",
         "kind", "sum", NULL, NULL);
    grow_edge(&both[1], 2, 1);
    early = run_open("live");
    cr_assert_eq(eventspace_run_map(early)->edge_count, 0);
    grow(&both[0], EVENTSPACE_DEFINES_ELEMENT, EVENTSPACE_NO_PARENT, "x", "key",
         "x", "type", "u64");
    check_status(eventspace_run_refresh(early), 0);
    late = run_open("live");
    cr_assert_eq(eventspace_run_map(late)->edge_count, 1);
    cr_assert_eq(eventspace_run_map(early)->edge_count, 1);
    cr_assert_eq(paths_map_digest(eventspace_run_map(early)),
                 paths_map_digest(eventspace_run_map(late)));
    eventspace_run_close(early);
    eventspace_run_close(late);
    grow_end(both);
}
