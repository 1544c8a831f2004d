/* communication_test.c - the view of events made by hand, against numbers that
 * stand beside them. */
#include "scopes/causality/communication_times.h"

#include "eventspace/instrument.h"
#include "pastset/request.h"
#include "pastset/status.h"
#include "tests/scopes/fake_run.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"
#include "scopes/reading/reading_internal.h"

#include <stdlib.h>
#include <string.h>

TestSuite(communication, .init = scratch_make, .fini = scratch_remove);

/* Thread t0 uses the elements a and b; t1, on another process, a only. */
static const char plain_map[] =
    "digraph two {\n"
    "  subgraph cluster_h0 {\n"
    "    t0 [kind=thread, number=0];\n"
    "    a [kind=element, type=\"u8[8]\"];\n"
    "    b [kind=element, type=\"u8[8]\"];\n"
    "  }\n"
    "  subgraph cluster_h1 {\n"
    "    t1 [kind=thread, number=1];\n"
    "    \"t1.from_a.proxy\" [kind=proxy];\n"
    "  }\n"
    "  t0 -> a [as=to_a, use=write];\n"
    "  t0 -> b [use=write];\n"
    "  t1 -> \"t1.from_a.proxy\" [as=from_a, use=read];\n"
    "  \"t1.from_a.proxy\" -> a;\n"
    "}\n";

static paths_map *map_of(const char *text, eventspace_collectors collectors)
{
    paths_map *plain, *map;
    eventspace_instrument_options options = {.collectors = collectors};
    check_status(paths_map_parse(&plain, text, strlen(text), "test.dot"), 0);
    check_status(eventspace_instrument(&map, plain, &options), 0);
    paths_map_destroy(plain);
    return map;
}

/* A run without events, whose ticks are nanoseconds; and events beside it. */
typedef struct view_input {
    eventspace_run *run;
    scopes_topology *topology;
    scopes_communication *view;
    eventspace_trace events[64];
    size_t count;
    scopes_ledger ledger;
} view_input;

static view_input *begin(const char *text, eventspace_collectors collectors)
{
    view_input *s = calloc(1, sizeof(*s));
    paths_map *map = map_of(text, collectors);
    fake_run *fake = fake_run_begin(scratch_file("."), map);
    cr_assert_not_null(fake, "%s", pastset_error());
    check_status(fake_run_end(fake), 0);
    paths_map_destroy(map);
    check_status(eventspace_run_open(&s->run, scratch_file(".")), 0);
    check_status(
        scopes_topology_create(&s->topology, eventspace_run_map(s->run)), 0);
    return s;
}

static const scopes_communication *finish(view_input *s)
{
    scopes_event_table *event_table;
    scopes_clocks *clocks;
    check_status(scopes_event_table_create(&event_table, s->topology->map,
                                           s->events, s->count, &s->ledger),
                 0);
    check_status(scopes_clocks_create(&clocks, s->run, event_table, s->topology,
                                      SCOPES_CLOCK_HULL, PATHS_NONE),
                 0);
    check_status(scopes_communication_create(&s->view, s->topology, event_table,
                                             clocks, NULL, SCOPES_OPERATIONS),
                 0);
    scopes_clocks_destroy(clocks);
    scopes_event_table_destroy(event_table);
    return s->view;
}

static uint32_t collector_a(const view_input *s)
{
    return fake_collector(s->topology->map, "t0", "to_a");
}

/* The collector of the path that has no `as`: its edge is the second. */
static uint32_t collector_b(const view_input *s)
{
    const paths_map *map = s->topology->map;
    uint32_t t0 = paths_map_find_node(map, "t0");
    const paths_map_edge *edge = &map->edges[map->nodes[t0].out[1]];
    return (uint32_t)strtoul(paths_node_get(&map->nodes[edge->to], "id"), NULL,
                             10);
}

static void add(view_input *s, uint32_t thread, uint32_t collector,
                uint32_t sequence, uint64_t start_ns, uint64_t end_ns)
{
    s->events[s->count++] = (eventspace_trace){
        .start = FAKE_START + start_ns,
        .end = FAKE_START + end_ns,
        .collector = collector,
        .thread = thread,
        .sequence = sequence,
        .bytes = 8,
        .operation = PASTSET_WRITE,
    };
}

static void end(view_input *s)
{
    scopes_communication_destroy(s->view);
    scopes_topology_destroy(s->topology);
    eventspace_run_close(s->run);
    free(s);
}

Test(communication, sums_two_steps_of_a_thread, .timeout = 120)
{
    view_input *s = begin(plain_map, EVENTSPACE_ALL_COLLECTORS);
    uint32_t a = collector_a(s), b = collector_b(s);
    add(s, 0, b, 4, 240, 300); /* any order will do */
    add(s, 0, a, 1, 100, 150);
    add(s, 0, b, 2, 150, 160);
    add(s, 0, a, 3, 200, 230);
    const scopes_communication *view = finish(s);

    const scopes_thread *t0 = &view->threads[0];
    cr_assert_eq(t0->operations, 4);
    cr_assert_eq(t0->start_ns, 100);
    cr_assert_eq(t0->end_ns, 300);
    cr_assert_eq(t0->communicating_ns, 50 + 10 + 30 + 60);
    cr_assert_eq(t0->computing_ns, 40 + 10);
    cr_assert_eq(t0->lost, 0);
    cr_assert(t0->steps_known);
    cr_assert_eq(view->operations[t0->longest].start_ns, 240);
    cr_assert_eq(view->last_step, 2);

    cr_assert_eq(t0->steps, 2);
    const scopes_step *steps = &view->steps[t0->step];
    cr_assert_eq(steps[0].step, 1);
    cr_assert_eq(steps[0].communicating_ns, 60);
    cr_assert_eq(steps[0].computing_ns, 40);
    cr_assert_eq(steps[0].start_ns, 100);
    cr_assert_eq(steps[0].end_ns, 160);
    cr_assert_eq(steps[1].step, 2);
    cr_assert_eq(steps[1].operations, 2);
    cr_assert_eq(steps[1].communicating_ns, 90);
    cr_assert_eq(steps[1].computing_ns, 10);
    end(s);
}

Test(communication, sums_the_paths, .timeout = 120)
{
    view_input *s = begin(plain_map, EVENTSPACE_THREAD_COLLECTORS);
    add(s, 0, collector_a(s), 1, 0, 10);
    add(s, 0, collector_b(s), 2, 10, 15);
    add(s, 0, collector_a(s), 3, 20, 50);
    const scopes_communication *view = finish(s);

    cr_assert_eq(view->path_count, 3);
    cr_assert_str_eq(view->paths[0].name, "to_a");
    cr_assert_str_eq(view->paths[0].element, "a");
    cr_assert_eq(view->paths[0].operations, 2);
    cr_assert_eq(view->paths[0].bytes, 16);
    cr_assert_eq(view->paths[0].total_ns, 40);
    cr_assert_eq(view->paths[0].longest_ns, 30);
    cr_assert_str_eq(view->paths[1].name, "b");
    cr_assert_str_eq(view->paths[2].name, "from_a");
    cr_assert_str_eq(view->paths[2].element, "a");
    cr_assert_eq(view->paths[2].operations, 0);
    end(s);
}

Test(communication, counts_time_of_overlapping_operations_once, .timeout = 120)
{
    view_input *s = begin(plain_map, EVENTSPACE_THREAD_COLLECTORS);
    add(s, 0, collector_a(s), 1, 0, 100);
    add(s, 0, collector_b(s), 2, 50, 80);
    add(s, 0, collector_a(s), 3, 90, 120);
    add(s, 0, collector_a(s), 4, 150, 160);
    const scopes_communication *view = finish(s);

    cr_assert_eq(view->threads[0].communicating_ns, 130);
    cr_assert_eq(view->threads[0].computing_ns, 30);
    cr_assert_eq(view->threads[0].end_ns, 160);
    end(s);
}

Test(communication, a_path_that_is_used_rarely_does_not_go_back_a_step,
     .timeout = 120)
{
    view_input *s = begin(plain_map, EVENTSPACE_THREAD_COLLECTORS);
    uint32_t a = collector_a(s), b = collector_b(s);
    uint32_t used[] = {a, a, b, a, a, b};
    uint32_t steps[] = {1, 2, 2, 3, 4, 4};
    for (uint32_t i = 0; i < 6; i++)
        add(s, 0, used[i], i + 1, 10 * i, 10 * i + 4);
    const scopes_communication *view = finish(s);

    for (uint32_t i = 0; i < 6; i++)
        cr_assert_eq(view->operations[i].step, steps[i]);
    int64_t communicating_ns = 0, computing_ns = 0;
    cr_assert_eq(view->step_count, 4);
    for (size_t i = 0; i < view->step_count; i++) {
        cr_assert_eq(view->steps[i].step, i + 1);
        communicating_ns += view->steps[i].communicating_ns;
        computing_ns += view->steps[i].computing_ns;
    }
    cr_assert_eq(communicating_ns, view->threads[0].communicating_ns);
    cr_assert_eq(computing_ns, view->threads[0].computing_ns);
    end(s);
}

Test(communication, knows_the_step_after_losses_when_paths_take_turns,
     .timeout = 120)
{
    view_input *s = begin(plain_map, EVENTSPACE_THREAD_COLLECTORS);
    uint32_t a = collector_a(s), b = collector_b(s);
    uint32_t used[] = {b, a, b, a, b, a, a, a};
    uint32_t sequences[] = {6, 7, 8, 9, 10, 13, 14, 15};
    uint32_t steps[] = {3, 4, 4, 5, 5, 7, 8, 9};
    for (uint32_t i = 0; i < 8; i++)
        add(s, 0, used[i], sequences[i], 10 * i, 10 * i + 5);
    const scopes_communication *view = finish(s);

    cr_assert_eq(view->threads[0].lost, 7); /* 1 to 5, 11 and 12 */
    cr_assert(view->threads[0].steps_known);
    for (uint32_t i = 0; i < 8; i++)
        cr_assert_eq(view->operations[i].step, steps[i]);
    cr_assert_eq(view->last_step, 9);
    end(s);
}

Test(communication, says_when_steps_after_losses_are_not_known, .timeout = 120)
{
    view_input *s = begin(plain_map, EVENTSPACE_THREAD_COLLECTORS);
    add(s, 0, collector_a(s), 4, 0, 5);
    add(s, 0, collector_a(s), 5, 10, 15);
    add(s, 0, collector_b(s), 6, 20, 25);
    const scopes_communication *view = finish(s);

    cr_assert_eq(view->threads[0].lost, 3);
    cr_assert_not(view->threads[0].steps_known);
    cr_assert_eq(view->operations[1].step, 2);
    cr_assert_eq(view->operations[2].step, 2);
    end(s);
}

Test(communication, passes_over_events_that_no_thread_saw, .timeout = 120)
{
    view_input *s = begin(plain_map, EVENTSPACE_ALL_COLLECTORS);
    uint32_t top = fake_collector(s->topology->map, "t1", "from_a");
    for (uint32_t id = 0; id < 10; id++)
        add(s, 1, id, 1, 0, 5); /* also ids that the map does not have */
    add(s, 7, top, 1, 0, 5);    /* a thread that it does not have */
    const scopes_communication *view = finish(s);

    cr_assert_eq(view->operation_count, 1);
    cr_assert_str_eq(view->paths[view->operations[0].path].name, "from_a");
    end(s);
}

Test(communication, takes_an_end_before_its_start_for_the_start, .timeout = 120)
{
    view_input *s = begin(plain_map, EVENTSPACE_THREAD_COLLECTORS);
    add(s, 0, collector_a(s), 1, 100, 20);
    add(s, 0, collector_a(s), 2, 130, 140);
    const scopes_communication *view = finish(s);

    cr_assert_eq(view->threads[0].communicating_ns, 10);
    cr_assert_eq(view->threads[0].computing_ns, 30);
    end(s);
}

Test(communication, a_map_without_collectors_has_no_operations, .timeout = 120)
{
    view_input *s = begin(plain_map, EVENTSPACE_NO_COLLECTORS);
    add(s, 0, 0, 1, 0, 5);
    const scopes_communication *view = finish(s);

    cr_assert_eq(view->operation_count, 0);
    cr_assert_eq(view->thread_count, 2);
    cr_assert_eq(view->start_ns, 0);
    cr_assert_eq(view->end_ns, 0);
    cr_assert(view->threads[0].steps_known);
    end(s);
}

Test(communication, what_is_outside_of_a_window_is_not_missing, .timeout = 120)
{
    view_input *s = begin(plain_map, EVENTSPACE_THREAD_COLLECTORS);
    add(s, 0, collector_a(s), 41, 10, 15);
    add(s, 0, collector_b(s), 42, 20, 25);
    add(s, 0, collector_a(s), 45, 50, 55);
    s->ledger =
        (scopes_ledger){.recorded = 60, .read = 3, .filtered = 55, .lost = 2};
    const scopes_communication *view = finish(s);

    cr_assert_eq(view->threads[0].lost, 2); /* 43 and 44 */
    end(s);
}

/* Both threads come by one collector. */
static const char shared_map[] = "digraph shared {\n"
                                 "  subgraph cluster_h0 {\n"
                                 "    t0 [kind=thread, number=0];\n"
                                 "    t1 [kind=thread, number=1];\n"
                                 "    ec [kind=collector, id=0, trace=tr];\n"
                                 "    a [kind=element, type=\"u8[8]\"];\n"
                                 "  }\n"
                                 "  t0 -> ec [as=in, use=write];\n"
                                 "  t1 -> ec [as=in, use=write];\n"
                                 "  ec -> a;\n"
                                 "}\n";

Test(communication, tells_threads_apart_that_share_a_collector, .timeout = 120)
{
    view_input *s = calloc(1, sizeof(*s));
    paths_map *map;
    check_status(
        paths_map_parse(&map, shared_map, strlen(shared_map), "test.dot"), 0);
    fake_run *fake = fake_run_begin(scratch_file("."), map);
    check_status(fake_run_end(fake), 0);
    paths_map_destroy(map);
    check_status(eventspace_run_open(&s->run, scratch_file(".")), 0);
    check_status(
        scopes_topology_create(&s->topology, eventspace_run_map(s->run)), 0);
    for (uint32_t i = 1; i <= 9; i++)
        add(s, i % 3 == 0, 0, i % 3 == 0 ? i / 3 : i - i / 3, 10 * i,
            10 * i + 5);
    const scopes_communication *view = finish(s);

    cr_assert_eq(view->threads[0].operations, 6);
    cr_assert_eq(view->threads[1].operations, 3);
    cr_assert_eq(view->threads[0].lost + view->threads[1].lost, 0);
    cr_assert_eq(view->threads[1].communicating_ns, 15);
    cr_assert_eq(view->threads[1].computing_ns, 25 + 25);
    cr_assert_eq(view->operations[6].start_ns, 30);
    end(s);
}

/* --- of a run directory --- */

static void write_event(fake_run *run, uint32_t thread, uint32_t collector,
                        uint32_t sequence, uint64_t start_ns, uint64_t end_ns)
{
    eventspace_trace event = {
        .start = FAKE_START + start_ns,
        .end = FAKE_START + end_ns,
        .collector = collector,
        .thread = thread,
        .sequence = sequence,
        .operation = PASTSET_READ,
    };
    check_status(fake_run_event(run, &event), 0);
}

Test(communication, reads_a_run_of_which_one_process_was_killed, .timeout = 120)
{
    const char *directory = scratch_file(".");
    paths_map *map = map_of(plain_map, EVENTSPACE_ALL_COLLECTORS);
    fake_run *fake = fake_run_begin(directory, map);
    cr_assert_not_null(fake, "%s", pastset_error());
    write_event(fake, 0, fake_collector(map, "t0", "to_a"), 1, 5000, 6000);
    write_event(fake, 0, fake_collector(map, "t0", "to_a"), 2, 7500, 8000);
    write_event(fake, 1, fake_collector(map, "t1", "from_a"), 1, 1000, 9000);
    fake_run_ended(fake, 1, EVENTSPACE_KILLED, "signal 9");
    check_status(fake_run_end(fake), 0);

    scopes_snapshot_options options = SCOPES_SNAPSHOT_ALL;
    scopes_snapshot *snapshot;
    eventspace_run *run;
    scopes_communication *view;
    options.tops_only = true;
    check_status(eventspace_run_open(&run, directory), 0);
    check_status(scopes_snapshot_take(&snapshot, run, &options), 0);
    check_status(scopes_communication_read(&view, snapshot), 0);
    scopes_snapshot_destroy(snapshot);
    cr_assert_eq(view->operation_count, 3);
    cr_assert_eq(view->threads[0].start_ns, 5000);
    cr_assert_eq(view->threads[0].communicating_ns, 1500);
    cr_assert_eq(view->threads[0].computing_ns, 1500);
    cr_assert_eq(view->threads[1].communicating_ns, 8000);
    cr_assert_eq(view->start_ns, 1000);
    cr_assert_eq(view->end_ns, 9000);
    scopes_communication_destroy(view);
    eventspace_run_close(run);
    paths_map_destroy(map);
}
