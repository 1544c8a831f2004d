/* communication_test.c - the view of events made by hand, against numbers that
 * stand beside them. */
#include "scopes/communication.h"

#include "eventspace/instrument.h"
#include "pastset/request.h"
#include "pastset/status.h"
#include "tests/scopes/fake_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define check_status(got, wanted)                                              \
    do {                                                                       \
        int got_ = (got);                                                      \
        cr_assert(got_ == (wanted), "%s, not %s: %s",                          \
                  pastset_status_name(got_), pastset_status_name(wanted),      \
                  pastset_error());                                            \
    } while (0)

/* Thread t0 uses the elements a and b; t1, on another host, a only. */
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

static scopes_communication *begin(const paths_map *map)
{
    scopes_communication *view;
    check_status(scopes_communication_create(&view, map), 0);
    return view;
}

static uint32_t collector_a(const paths_map *map)
{
    return fake_collector(map, "t0", "to_a");
}

/* The collector of the path that has no `as`: its edge is the second. */
static uint32_t collector_b(const paths_map *map)
{
    uint32_t t0 = paths_map_find_node(map, "t0");
    const paths_map_edge *edge = &map->edges[map->nodes[t0].out[1]];
    return (uint32_t)strtoul(paths_node_get(&map->nodes[edge->to], "id"), NULL,
                             10);
}

static void add(scopes_communication *view, uint32_t thread, uint32_t collector,
                uint32_t sequence, int64_t start_ns, int64_t end_ns)
{
    eventspace_trace event = {
        .collector = collector,
        .thread = thread,
        .sequence = sequence,
        .bytes = 8,
        .operation = PASTSET_WRITE,
    };
    check_status(scopes_communication_add(view, &event, start_ns, end_ns), 0);
}

static void end(paths_map *map, scopes_communication *view)
{
    scopes_communication_destroy(view);
    paths_map_destroy(map);
}

Test(communication, sums_two_steps_of_a_thread, .timeout = 120)
{
    paths_map *map = map_of(plain_map, EVENTSPACE_ALL_COLLECTORS);
    scopes_communication *view = begin(map);
    uint32_t a = collector_a(map), b = collector_b(map);
    add(view, 0, b, 4, 240, 300); /* any order will do */
    add(view, 0, a, 1, 100, 150);
    add(view, 0, b, 2, 150, 160);
    add(view, 0, a, 3, 200, 230);
    check_status(scopes_communication_finish(view), 0);

    const scopes_thread *t0 = &view->threads[0];
    cr_assert_eq(t0->operations, 4);
    cr_assert_eq(t0->start_ns, 100);
    cr_assert_eq(t0->end_ns, 300);
    cr_assert_eq(t0->communicating_ns, 50 + 10 + 30 + 60);
    cr_assert_eq(t0->computing_ns, 40 + 10);
    cr_assert_eq(t0->missing, 0);
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
    end(map, view);
}

Test(communication, sums_the_paths, .timeout = 120)
{
    paths_map *map = map_of(plain_map, EVENTSPACE_THREAD_COLLECTORS);
    scopes_communication *view = begin(map);
    add(view, 0, collector_a(map), 1, 0, 10);
    add(view, 0, collector_b(map), 2, 10, 15);
    add(view, 0, collector_a(map), 3, 20, 50);
    check_status(scopes_communication_finish(view), 0);

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
    end(map, view);
}

Test(communication, counts_time_of_overlapping_operations_once, .timeout = 120)
{
    paths_map *map = map_of(plain_map, EVENTSPACE_THREAD_COLLECTORS);
    scopes_communication *view = begin(map);
    add(view, 0, collector_a(map), 1, 0, 100);
    add(view, 0, collector_b(map), 2, 50, 80);
    add(view, 0, collector_a(map), 3, 90, 120);
    add(view, 0, collector_a(map), 4, 150, 160);
    check_status(scopes_communication_finish(view), 0);

    cr_assert_eq(view->threads[0].communicating_ns, 130);
    cr_assert_eq(view->threads[0].computing_ns, 30);
    cr_assert_eq(view->threads[0].end_ns, 160);
    end(map, view);
}

Test(communication, the_steps_of_a_path_do_not_depend_on_others, .timeout = 120)
{
    paths_map *map = map_of(plain_map, EVENTSPACE_THREAD_COLLECTORS);
    scopes_communication *view = begin(map);
    uint32_t a = collector_a(map), b = collector_b(map);
    uint32_t used[] = {a, a, b, a, a, b};
    uint32_t steps[] = {1, 2, 1, 3, 4, 2};
    for (uint32_t i = 0; i < 6; i++)
        add(view, 0, used[i], i + 1, 10 * i, 10 * i + 4);
    check_status(scopes_communication_finish(view), 0);

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
    end(map, view);
}

Test(communication, knows_the_step_after_losses_when_paths_take_turns,
     .timeout = 120)
{
    paths_map *map = map_of(plain_map, EVENTSPACE_THREAD_COLLECTORS);
    scopes_communication *view = begin(map);
    uint32_t a = collector_a(map), b = collector_b(map);
    uint32_t used[] = {b, a, b, a, b, a, a, a};
    uint32_t sequences[] = {6, 7, 8, 9, 10, 13, 14, 15};
    uint32_t steps[] = {3, 4, 4, 5, 5, 7, 8, 9};
    for (uint32_t i = 0; i < 8; i++)
        add(view, 0, used[i], sequences[i], 10 * i, 10 * i + 5);
    check_status(scopes_communication_finish(view), 0);

    cr_assert_eq(view->threads[0].missing, 7); /* 1 to 5, 11 and 12 */
    cr_assert(view->threads[0].steps_known);
    for (uint32_t i = 0; i < 8; i++)
        cr_assert_eq(view->operations[i].step, steps[i]);
    cr_assert_eq(view->last_step, 9);
    end(map, view);
}

Test(communication, says_when_steps_after_losses_are_not_known, .timeout = 120)
{
    paths_map *map = map_of(plain_map, EVENTSPACE_THREAD_COLLECTORS);
    scopes_communication *view = begin(map);
    add(view, 0, collector_a(map), 4, 0, 5);
    add(view, 0, collector_a(map), 5, 10, 15);
    add(view, 0, collector_b(map), 6, 20, 25);
    check_status(scopes_communication_finish(view), 0);

    cr_assert_eq(view->threads[0].missing, 3);
    cr_assert_not(view->threads[0].steps_known);
    cr_assert_eq(view->operations[1].step, 2);
    cr_assert_eq(view->operations[2].step, 1);
    end(map, view);
}

Test(communication, passes_over_events_that_no_thread_saw, .timeout = 120)
{
    paths_map *map = map_of(plain_map, EVENTSPACE_ALL_COLLECTORS);
    scopes_communication *view = begin(map);
    uint32_t top = fake_collector(map, "t1", "from_a");
    for (uint32_t id = 0; id < 10; id++)
        add(view, 1, id, 1, 0, 5); /* also ids that the map does not have */
    add(view, 7, top, 1, 0, 5);    /* a thread that it does not have */
    check_status(scopes_communication_finish(view), 0);

    cr_assert_eq(view->operation_count, 1);
    cr_assert_str_eq(view->paths[view->operations[0].path].name, "from_a");
    end(map, view);
}

Test(communication, takes_an_end_before_its_start_for_the_start, .timeout = 120)
{
    paths_map *map = map_of(plain_map, EVENTSPACE_THREAD_COLLECTORS);
    scopes_communication *view = begin(map);
    add(view, 0, collector_a(map), 1, 100, 20);
    add(view, 0, collector_a(map), 2, 130, 140);
    check_status(scopes_communication_finish(view), 0);

    cr_assert_eq(view->threads[0].communicating_ns, 10);
    cr_assert_eq(view->threads[0].computing_ns, 30);
    end(map, view);
}

Test(communication, a_map_without_collectors_has_no_operations, .timeout = 120)
{
    paths_map *map = map_of(plain_map, EVENTSPACE_NO_COLLECTORS);
    scopes_communication *view = begin(map);
    add(view, 0, 0, 1, 0, 5);
    check_status(scopes_communication_finish(view), 0);

    cr_assert_eq(view->operation_count, 0);
    cr_assert_eq(view->thread_count, 2);
    cr_assert_eq(view->start_ns, 0);
    cr_assert_eq(view->end_ns, 0);
    cr_assert(view->threads[0].steps_known);
    end(map, view);
}

Test(communication, refuses_threads_of_one_number, .timeout = 120)
{
    paths_map *map = map_of("digraph g {\n subgraph cluster_h {\n"
                            "  t0 [kind=thread, number=1];\n"
                            "  t1 [kind=thread, number=1];\n }\n}\n",
                            EVENTSPACE_NO_COLLECTORS);
    scopes_communication *view;
    check_status(scopes_communication_create(&view, map), PASTSET_EMAP);
    cr_assert_null(view);
    cr_assert_not_null(strstr(pastset_error(), "t1"), "%s", pastset_error());
    paths_map_destroy(map);
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

static void remove_run(const char *directory)
{
    static const char *const files[] = {"pathmap.dot", "h0.space", "h0.meta",
                                        "h1.space", "h1.meta"};
    char path[256];
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        snprintf(path, sizeof(path), "%s/%s", directory, files[i]);
        unlink(path);
    }
    rmdir(directory);
}

Test(communication, reads_a_run_of_which_one_host_was_killed, .timeout = 120)
{
    char directory[] = "/tmp/eventspace-communication-XXXXXX";
    cr_assert_not_null(mkdtemp(directory));
    paths_map *map = map_of(plain_map, EVENTSPACE_ALL_COLLECTORS);
    fake_run *fake = fake_run_begin(directory, map);
    cr_assert_not_null(fake, "%s", pastset_error());
    write_event(fake, 0, collector_a(map), 1, 5000, 6000);
    write_event(fake, 0, collector_b(map), 2, 7500, 8000);
    write_event(fake, 1, fake_collector(map, "t1", "from_a"), 1, 1000, 9000);
    fake_run_ended(fake, 1, EVENTSPACE_KILLED, "signal 9");
    check_status(fake_run_end(fake), 0);

    eventspace_run *run;
    scopes_communication *view;
    check_status(eventspace_run_open(&run, directory), 0);
    check_status(scopes_communication_read(&view, run), 0);
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
    remove_run(directory);
}
