/* regions_test.c - the parts that a program names, in its trace: against what
 * the program measures itself; after a kill, archived, and damaged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/define/definition_internal.h"
#include "eventspace/instrument.h"
#include "pastset/space.h"
#include "tests/scopes/fake_run.h"
#include "tests/scopes/sums_map.h"
#include "tests/scopes/told.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define APP TEST_BINARY_DIR "/regions_app"
#define ROUNDS 300

TestSuite(regions, .init = scratch_make, .fini = scratch_remove,
          .timeout = 300);

static char *app_run(const char *more, const char *rounds)
{
    return command_run(0, 60, EVENTSPACE, "run", scratch_file("map.dot"),
                       "--output", scratch_file("run"), "--replace",
                       more ? more : "--", more ? "--" : APP,
                       more ? APP : rounds, more ? rounds : NULL, NULL);
}

typedef struct measured {
    long long times, least_ns, most_ns;
} measured;

static measured said(const char *output, unsigned thread, const char *region)
{
    measured m = {0};
    char wanted[50];
    const char *line;

    snprintf(wanted, sizeof(wanted), "| %u %s ", thread, region);
    line = strstr(output, wanted);
    cr_assert_not_null(line, "%s: it said %s", wanted, output);
    cr_assert_eq(sscanf(line + strlen(wanted), "%lld %lld %lld", &m.times,
                        &m.least_ns, &m.most_ns),
                 3);
    return m;
}

/* A clock and a counter, and a stamp that is not ordered with either. */
#define SLACK_NS(times) (100 * (times) + 20000)

static void check_sums(told *t, const char *output)
{
    static const char *const names[] = {"round", "compute", "add"};
    scopes_table *table = told_view(t, "regions");
    scopes_table *threads = told_view(t, "communication");

    cr_assert_eq(scopes_table_rows(table), 3 * 4);
    for (unsigned thread = 0; thread < 3; thread++) {
        char name[10];
        size_t row;
        snprintf(name, sizeof(name), "t%u", thread);
        for (size_t i = 0; i < 3; i++) {
            measured m = said(output, thread, names[i]);
            int64_t total_ns;
            row = table_row(table, "region", names[i], "thread", name, NULL);
            total_ns = table_integer(table, row, "total_ns");
            cr_expect_eq(table_integer(table, row, "count"), ROUNDS);
            cr_expect_str_eq(table_text(table, row, "kind"), "region");
            cr_expect(total_ns >= m.least_ns - SLACK_NS(m.times) &&
                          total_ns <= m.most_ns + SLACK_NS(m.times),
                      "%s of %s: %ld ns is not in %lld ... %lld", names[i],
                      name, (long)total_ns, m.least_ns, m.most_ns);
        }
        row = table_row(table, "region", "done", "thread", name, NULL);
        cr_expect_str_eq(table_text(table, row, "kind"), "mark");
        cr_expect_eq(table_integer(table, row, "count"), ROUNDS);
        cr_expect_eq(table_integer(table, row, "total_ns"), 0);
        /* All operations lie in "add", and none in "compute". */
        row = table_row(table, "region", "compute", "thread", name, NULL);
        cr_expect_eq(table_integer(table, row, "communicating_ns"), 0);
        for (size_t i = 0; i < 3; i += 2) {
            row = table_row(table, "region", names[i], "thread", name, NULL);
            cr_expect_eq(table_integer(table, row, "communicating_ns"),
                         table_integer(threads, thread, "communicating_ns"));
        }
    }
    scopes_table_destroy(table);
    scopes_table_destroy(threads);
}

/* "compute" and "add" follow each other in "round", and "done" comes behind. */
static void check_order(told *t)
{
    scopes_table *table;
    int64_t until = INT64_MIN;

    t->view_input.each = true;
    table = told_view(t, "regions");
    cr_assert_eq(scopes_table_rows(table), 3 * 4 * ROUNDS);
    for (size_t row = 0; row < 3 * 4 * ROUNDS; row++) {
        static const char *const order[] = {"round", "compute", "add", "done"};
        static const int64_t depths[] = {0, 1, 1, 0};
        cr_assert_eq(table_integer(table, row, "number"),
                     (int64_t)(row / (4 * ROUNDS)));
        cr_assert_str_eq(table_text(table, row, "region"), order[row % 4]);
        cr_assert_eq(table_integer(table, row, "depth"), depths[row % 4]);
        if (row % (4 * ROUNDS) == 0)
            until = INT64_MIN;
        cr_assert_geq(table_integer(table, row, "start_ns"), until);
        if (row % 4)
            until = table_integer(table, row, "end_ns");
        if (row % 4 == 2)
            cr_assert_leq(until, table_integer(table, row - 2, "end_ns"));
    }
    scopes_table_destroy(table);
    t->view_input.each = false;
}

Test(regions, last_as_long_as_the_program_measures)
{
    char *output;
    told t;

    sums_map_make(true);
    output = app_run(NULL, "300");
    told_run(&t, scratch_file("run"));
    check_sums(&t, output);
    check_order(&t);
    cr_expect_eq(t.event_table->strange, 0);
    /* Names that were refused are not defined. */
    for (uint32_t id = 0; id < eventspace_run_ids(t.run); id++) {
        const eventspace_run_definition *found =
            eventspace_run_definition_of(t.run, id);
        cr_expect(!found || strlen(found->name) < 8);
    }
    t.view_input.of = "add";
    scopes_table *table = told_view(&t, "regions");
    cr_expect_eq(scopes_table_rows(table), 3);
    scopes_table_destroy(table);
    table = told_view(&t, "tuples");
    cr_expect_eq(scopes_table_rows(table), 3 * ROUNDS);
    cr_expect_str_eq(table_text(table, 0, "verb"), "region");
    scopes_table_destroy(table);
    told_end(&t);
    free(output);
}

/* All readers count, save and gather them as other events. */
Test(regions, are_counted_and_archived_as_other_events)
{
    char *output;
    eventspace_events events;
    told t;

    sums_map_make(true);
    output = app_run("--archive", "300");
    told_run(&t, scratch_file("run"));
    check_status(eventspace_run_events(t.run, SIZE_MAX, &events), 0);
    cr_expect_eq(events.lost, 0);
    cr_expect_eq(t.event_table->ledger.read, events.recorded);
    cr_expect_geq(events.recorded, 3 * (4 + 1) * ROUNDS);
    check_sums(&t, output);
    told_end(&t);

    /* Also where the archives alone are left. */
    cr_assert_eq(unlink(scratch_file("run/h0.space")), 0);
    cr_assert_eq(unlink(scratch_file("run/h1.space")), 0);
    told_run(&t, scratch_file("run"));
    cr_expect_eq(t.event_table->strange, 0);
    check_sums(&t, output);
    told_end(&t);
    free(output);
}

/* Clocks that differ are aligned by operations only. */
Test(regions, are_shown_when_counters_differ)
{
    char *map, *output, *at;

    sums_map_make(true);
    map = command_run(0, 60, "cat", scratch_file("map.dot"), NULL);
    at = strstr(map, "subgraph cluster_h1 {");
    cr_assert_not_null(at);
    at += strlen("subgraph cluster_h1 {");
    cr_assert_gt(asprintf(&output, "%.*s counter_offset=\"3s\"; %s",
                          (int)(at - map), map, at),
                 0);
    scratch_write("map.dot", output);
    free(output);
    free(map);
    free(app_run(NULL, "20"));
    output = command_run(0, 60, COMMAND_QUIET, EVENTSPACE, "view",
                         scratch_file("run"), "regions", "--detail",
                         "--format=csv", NULL);
    at = output;
    for (size_t i = 0; i < 1 + 3 * 4 * 20; i++) {
        at = strchr(at, '\n');
        cr_assert_not_null(at++);
    }
    cr_assert_str_empty(at);
    free(output);
    free(command_run(0, 60, EVENTSPACE, "clock", scratch_file("run"), NULL));
}

/* Where the run is gathered to, its definitions are too. */
Test(regions, are_gathered_with_their_names)
{
    char *output;
    told t;

    sums_map_make(true);
    output = app_run(NULL, "300");
    free(command_run(0, 60, EVENTSPACE, "scope", scratch_file("run"),
                     "--output", scratch_file("mirror"), NULL));
    told_run(&t, scratch_file("mirror"));
    cr_expect_eq(t.event_table->strange, 0);
    check_sums(&t, output);
    check_order(&t);
    told_end(&t);

    /* And where mirrors are merged. */
    free(command_run(0, 60, EVENTSPACE, "scope", scratch_file("run"),
                     "--output", scratch_file("mirror2"), NULL));
    free(command_run(0, 60, EVENTSPACE, "merge", scratch_file("mirror"),
                     scratch_file("mirror2"), "--output",
                     scratch_file("merged"), NULL));
    cr_expect_eq(access(scratch_file("merged/definitions"), F_OK), 0);
    told_run(&t, scratch_file("merged"));
    cr_expect_eq(t.event_table->strange, 0);
    check_sums(&t, output);
    told_end(&t);
    free(output);
}

/* A name of any length is gathered, also one that needs several tuples. */
Test(regions, long_names_are_gathered)
{
    static char name[1000];
    unsigned char tuple[EVENTSPACE_DEFINITION_BYTES];
    eventspace_definition region = {
        EVENTSPACE_DEFINES_REGION, 0, EVENTSPACE_NO_PARENT, name, NULL, 0};
    eventspace_trace event = {.start = FAKE_START,
                              .end = FAKE_START + 5,
                              .sequence = 1,
                              .operation = EVENTSPACE_TRACE_REGION};
    size_t at = 0, bytes;
    eventspace_run *run;
    fake_run *fake;
    paths_map *map;

    memset(name, 'n', sizeof(name) - 1);
    sums_map_make(true);
    check_status(paths_map_read(&map, scratch_file("map.dot")), 0);
    cr_assert_eq(mkdir(scratch_file("fake"), 0700), 0);
    fake = fake_run_begin(scratch_file("fake"), map);
    cr_assert_not_null(fake);
    for (uint32_t i = 0; i < map->node_count; i++)
        region.id += strcmp(map->nodes[i].type, "collector") == 0;
    while ((bytes = eventspace__definition_encode(tuple, &at, &region)) > 0)
        check_status(fake_run_define(fake, 0, tuple, bytes), 0);
    event.collector = region.id;
    check_status(fake_run_event_in(fake, 0, EVENTSPACE_REGIONS_NAME, &event),
                 0);
    check_status(fake_run_end(fake), 0);
    free(command_run(0, 60, EVENTSPACE, "scope", scratch_file("fake"),
                     "--output", scratch_file("mirror"), NULL));
    check_status(eventspace_run_open(&run, scratch_file("mirror")), 0);
    cr_assert_not_null(eventspace_run_definition_of(run, region.id));
    cr_expect_str_eq(eventspace_run_definition_of(run, region.id)->name, name);
    eventspace_run_close(run);
    paths_map_destroy(map);
}

/* A run goes on: what a process has named after the run was opened has its
 * name with the first event. */
Test(regions, later_names_are_known_with_their_events)
{
    struct {
        uint32_t kind, id, parent, zero;
        char name[4];
    } region = {EVENTSPACE_DEFINES_REGION, 0, EVENTSPACE_NO_PARENT, 0, "new"};
    eventspace_trace event = {.start = FAKE_START,
                              .end = FAKE_START + 5,
                              .sequence = 1,
                              .operation = EVENTSPACE_TRACE_REGION};
    scopes_event_table *events;
    scopes_source *source;
    eventspace_run *run;
    fake_run *fake;
    paths_map *map;

    sums_map_make(true);
    check_status(paths_map_read(&map, scratch_file("map.dot")), 0);
    cr_assert_eq(mkdir(scratch_file("fake"), 0700), 0);
    fake = fake_run_begin(scratch_file("fake"), map);
    cr_assert_not_null(fake);
    check_status(eventspace_run_open(&run, scratch_file("fake")), 0);
    check_status(scopes_source_open(&source, run), 0);
    region.id = event.collector = eventspace_run_ids(run);
    check_status(fake_run_define(fake, 0, &region, 16 + 3), 0);
    check_status(fake_run_event_in(fake, 0, EVENTSPACE_REGIONS_NAME, &event),
                 0);
    check_status(scopes_event_table_load(&events, source, NULL), 0);
    cr_expect_eq(events->ledger.read, 1);
    cr_expect_eq(events->strange, 0);
    cr_expect_eq(scopes_event_series(events, region.id)->count, 1);
    scopes_event_table_destroy(events);
    scopes_source_close(source);
    eventspace_run_close(run);
    check_status(fake_run_end(fake), 0);
    paths_map_destroy(map);
}

/* Numbers of another run would mean something else here. */
Test(regions, files_of_another_run_are_said_to_be)
{
    char *said;

    sums_map_make(true);
    free(app_run(NULL, "5"));
    free(command_run(0, 60, "cp", "-r", scratch_file("run"),
                     scratch_file("other"), NULL));
    free(command_run(0, 60, EVENTSPACE, "map", "instrument",
                     scratch_file("plain.dot"), "--collectors=threads",
                     "--output", scratch_file("map.dot"), NULL));
    free(app_run(NULL, "5"));
    free(command_run(0, 60, "cp", scratch_file("run/h0.meta"),
                     scratch_file("run/h0.space"), scratch_file("other"),
                     NULL));
    said = command_run(0, 60, EVENTSPACE, "view", scratch_file("other"),
                       "regions", NULL);
    cr_expect(strstr(said, "process h0: it ran by another path map"), "%s",
              said);
    cr_expect_null(strstr(said, "process h1"), "%s", said);
    free(said);
}

/* Nothing is recorded, and nothing is in the way. */
Test(regions, cost_nothing_without_collectors)
{
    char *output;
    eventspace_run *run;
    size_t count;

    sums_map_make(false);
    output = command_run(0, 60, EVENTSPACE, "run", scratch_file("map.dot"),
                         "--output", scratch_file("run"), "--", APP, "20",
                         "unrecorded", NULL);
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    count = pastset_space_count(eventspace_run_process_at(run, 0)->space);
    for (size_t i = 0; i < count; i++) {
        const char *name = pastset_element_name(
            pastset_space_at(eventspace_run_process_at(run, 0)->space, i));
        cr_expect(name[0] != '~' || strncmp(name, "~executor", 9) == 0, "%s",
                  name);
    }
    eventspace_run_close(run);
    free(output);
}

/* Makes the length impossible that stands before the definition of `name`. */
static void spoil_length(const char *file, const char *name)
{
    static char bytes[1 << 20];
    FILE *stream = fopen(file, "r+b");
    size_t count;
    char *at;

    cr_assert_not_null(stream);
    count = fread(bytes, 1, sizeof(bytes), stream);
    at = memmem(bytes, count, name, strlen(name));
    cr_assert_not_null(at);
    fseek(stream, at - bytes - 16 - 8, SEEK_SET);
    cr_assert_eq(fwrite("\xff\xff\xff\xff", 1, 4, stream), 4);
    fclose(stream);
}

/* What a damaged file defines is left out, and named. */
Test(regions, definitions_that_cannot_be_are_left_out)
{
    /* Ids count from the first that is no collector's. */
    struct {
        uint32_t kind, id, parent, zero;
        char name[4];
        size_t bytes;
    } all[] = {
        {1, 0, 0, 0, "", 16},               /* no name */
        {3, 0, 0, 0, "x", 17},              /* a kind that no process has */
        {1, UINT32_MAX, 0, 0, "x", 17},     /* a collector's */
        {1, 1, 0, 0, "x", 17},              /* another process's */
        {1, UINT32_MAX / 2, 0, 0, "x", 17}, /* beyond all */
        {1, 0, 0, 0, "a\0b", 19},
        {1, 0, 0, 0, "one", 19},
        {2, 0, 0, 0, "two", 19}, /* once more */
        {2, 4, 0, 0, "two", 19},
        {1, 2, 0, 0, "6th", 19}, /* not in order */
    };
    const eventspace_run_process *shown;
    paths_map *map;
    fake_run *fake;
    eventspace_run *run;
    uint32_t base;

    sums_map_make(true);
    free(app_run(NULL, "0"));
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    base = eventspace_run_ids(run);
    eventspace_run_close(run);
    check_status(paths_map_read(&map, scratch_file("map.dot")), 0);
    cr_assert_eq(mkdir(scratch_file("fake"), 0700), 0);
    fake = fake_run_begin(scratch_file("fake"), map);
    cr_assert_not_null(fake);
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        all[i].id += base;
        check_status(fake_run_define(fake, 0, &all[i], all[i].bytes), 0);
    }
    check_status(fake_run_end(fake), 0);
    check_status(eventspace_run_open(&run, scratch_file("fake")), 0);
    shown = eventspace_run_process_at(run, 0);
    cr_assert_eq(eventspace_run_ids(run), base + 5);
    cr_expect_str_eq(eventspace_run_definition_of(run, base)->name, "one");
    cr_expect_str_eq(eventspace_run_definition_of(run, base + 2)->name, "6th");
    cr_expect_str_eq(eventspace_run_definition_of(run, base + 4)->name, "two");
    cr_expect_null(eventspace_run_definition_of(run, base + 1));
    cr_expect(strstr(shown->problem, "of kind 3"), "%s", shown->problem);
    cr_expect(strstr(shown->problem, "\"two\""), "%s", shown->problem);
    eventspace_run_close(run);

    /* The others can be read. */
    spoil_length(scratch_file("fake/h0.space"), "one");
    check_status(eventspace_run_open(&run, scratch_file("fake")), 0);
    shown = eventspace_run_process_at(run, 0);
    cr_expect_eq(eventspace_run_ids(run), base + 5);
    cr_expect_str_eq(eventspace_run_definition_of(run, base)->name, "two");
    cr_expect_str_eq(eventspace_run_definition_of(run, base + 2)->name, "6th");
    cr_expect(strstr(shown->problem, "its definitions: 1 are missing"), "%s",
              shown->problem);
    eventspace_run_close(run);
    paths_map_destroy(map);
}

/* As many as there can be, the last first: looking at one after the other for
 * each would take hours. */
Test(regions, definitions_may_be_many_and_in_any_order)
{
    struct {
        uint32_t kind, id, parent, zero;
        char name[12];
    } one = {.kind = EVENTSPACE_DEFINES_REGION};
    const eventspace_run_definition *found;
    eventspace_run *run;
    paths_map *map;
    fake_run *fake;
    uint32_t base;

    sums_map_make(true);
    check_status(paths_map_read(&map, scratch_file("map.dot")), 0);
    base = 6; /* behind the collectors */
    cr_assert_eq(mkdir(scratch_file("fake"), 0700), 0);
    fake = fake_run_begin(scratch_file("fake"), map);
    cr_assert_not_null(fake);
    for (uint32_t i = EVENTSPACE_DEFINITIONS_MAX; i-- > 0;) {
        for (uint32_t process = 0; process < 2; process++) {
            one.id = base + 2 * i + process;
            snprintf(one.name, sizeof(one.name), "n%u", i);
            check_status(
                fake_run_define(fake, process, &one, 16 + strlen(one.name)), 0);
        }
    }
    check_status(fake_run_end(fake), 0);
    check_status(eventspace_run_open(&run, scratch_file("fake")), 0);
    cr_assert_eq(eventspace_run_ids(run),
                 base + 2 * EVENTSPACE_DEFINITIONS_MAX);
    for (uint32_t id = base; id < eventspace_run_ids(run); id++) {
        found = eventspace_run_definition_of(run, id);
        cr_assert_not_null(found);
        snprintf(one.name, sizeof(one.name), "n%u", (id - base) / 2);
        cr_assert_str_eq(found->name, one.name);
        cr_assert_eq(found->process, (id - base) % 2);
    }
    for (size_t i = 0; i < 2; i++)
        cr_assert_str_empty(eventspace_run_process_at(run, i)->problem);
    eventspace_run_close(run);
    paths_map_destroy(map);
}
