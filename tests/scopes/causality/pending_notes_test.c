/* pending_notes_test.c - the view pending of notes that are made by hand: whom
 * an operation waits for, by the map and by what the others are in; and notes
 * of damaged files, which may say anything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/instrument.h"
#include "pastset/request.h"
#include "scopes/reading/snapshot.h"
#include "scopes/views/view.h"
#include "tests/scopes/fake_run.h"
#include "tests/support/check.h"
#include "tests/support/golden.h"
#include "tests/support/scratch.h"

TestSuite(pending_notes, .init = scratch_make, .fini = scratch_remove,
          .timeout = 120);

/* A tree of sums over two processes, and elements of all kinds. */
static const char map_of_two[] =
    "digraph two {\n"
    "  subgraph cluster_h0 {\n"
    "    t0 [kind=thread, number=0]; t1 [kind=thread, number=1];\n"
    "    low0 [kind=sum]; root [kind=sum];\n"
    "    all [kind=element, type=i64, policy=discard];\n"
    "    full [kind=element, type=i64, capacity=1];\n"
    "    loose [kind=element, type=i64, policy=discard];\n"
    "    own [kind=element, type=i64];\n"
    "  }\n"
    "  subgraph cluster_h1 {\n"
    "    t2 [kind=thread, number=2]; t3 [kind=thread, number=3];\n"
    "    low1 [kind=sum]; up [kind=proxy];\n"
    "    full_p [kind=proxy]; loose_p [kind=proxy];\n"
    "  }\n"
    "  t0 -> low0 [as=total, use=sum]; t1 -> low0 [as=total, use=sum];\n"
    "  t2 -> low1 [as=total, use=sum]; t3 -> low1 [as=total, use=sum];\n"
    "  low0 -> root; low1 -> up; up -> root; root -> all;\n"
    "  t0 -> full [as=full, use=write]; t1 -> full [as=full, use=read];\n"
    "  t2 -> full_p [as=full, use=read]; full_p -> full;\n"
    "  t3 -> loose_p [as=loose, use=write]; loose_p -> loose;\n"
    "  t1 -> own [as=own, use=read];\n"
    "}\n";

static paths_map *map;
static fake_run *fake;
static uint32_t notes[2]; /* of each process */
static eventspace_run *run;
static scopes_snapshot *snapshot;
static scopes_table *table;

static void begin(void)
{
    paths_map *plain = map_parse(map_of_two);
    eventspace_instrument_options options = {.collectors =
                                                 EVENTSPACE_ALL_COLLECTORS};

    check_status(eventspace_instrument(&map, plain, &options), 0);
    paths_map_destroy(plain);
    fake = fake_run_begin(scratch_file("."), map);
    cr_assert_not_null(fake, "%s", pastset_error());
    for (uint32_t i = 0; i < 2; i++) {
        paths_executor_note loop =
            fake_activity(map, i ? "t2" : "t0", PATHS_COMPUTING, 0);
        loop.thread = PATHS_NONE;
        check_status(fake_run_note(fake, i, 0, &loop), 0);
        notes[i] = 1;
        fake_run_ended(fake, i, EVENTSPACE_KILLED, "signal 2");
    }
}

static void note(uint32_t process, paths_executor_note n)
{
    check_status(fake_run_note(fake, process, notes[process]++, &n), 0);
}

static void waits(const char *thread, const char *as, const char *stage,
                  pastset_verb verb)
{
    uint32_t node = paths_map_find_node(map, thread);

    note(map->nodes[node].process,
         fake_waiting(map, thread, as, stage, (uint16_t)verb, 7, 2000));
}

static void is(const char *thread, paths_activity activity)
{
    uint32_t node = paths_map_find_node(map, thread);

    note(map->nodes[node].process, fake_activity(map, thread, activity, 3000));
}

static int make(void)
{
    scopes_snapshot_options options = SCOPES_SNAPSHOT_ALL;
    scopes_view_input view_input = {0};
    int err = fake_run_end(fake);

    if (!err)
        err = eventspace_run_open(&run, scratch_file("."));
    if (!err)
        err = scopes_snapshot_take(&snapshot, run, &options);
    if (err)
        return err;
    view_input.map = snapshot->topology->map;
    view_input.topology = snapshot->topology;
    view_input.event_table = snapshot->event_table;
    view_input.clocks = snapshot->clocks;
    view_input.pending = snapshot->pending;
    return scopes_view_make(&table, scopes_view_find("pending"), &view_input);
}

static void end(void)
{
    scopes_table_destroy(table);
    scopes_snapshot_destroy(snapshot);
    eventspace_run_close(run);
    paths_map_destroy(map);
    table = NULL;
    snapshot = NULL;
}

static scopes_cell cell(size_t row, const char *key)
{
    cr_assert_lt(row, scopes_table_rows(table));
    for (size_t i = 0; i < scopes_table_columns(table); i++)
        if (strcmp(scopes_table_column(table, i)->key, key) == 0)
            return scopes_table_cell(table, row, i);
    cr_assert_fail("no column %s", key);
    return (scopes_cell){0};
}

static void check_for(size_t row, const char *thread, const char *waits_for)
{
    cr_expect_str_eq(cell(row, "thread").text, thread);
    cr_expect_str_eq(cell(row, "waits_for").text, waits_for, "%s: \"%s\"",
                     thread, cell(row, "waits_for").text);
}

/* --- whom for --- */

/* Those of the other processes are told, and which of them may wait. */
Test(pending_notes, who_stands_still_is_seen_though_a_process_is_missing)
{
    static const char *const missing[] = {"h0.meta", "h1.meta"};
    scopes_stands all = {0}, some = {0};

    begin();
    waits("t0", "total", "low0", PASTSET_EXCHANGE);
    is("t1", PATHS_COMPUTING);
    waits("t2", "total", "low1", PASTSET_EXCHANGE);
    is("t3", PATHS_ENDED);
    check_status(make(), 0);
    check_status(scopes_stands_take(&all, run), 0);
    cr_assert_eq(all.count, 4);
    cr_expect(scopes_stands_some(&all, &all));
    for (uint32_t p = 0; p < 2; p++) {
        cr_expect(scopes_stands_has(&all, p, 1, FAKE_START + 2000));
        cr_expect_not(scopes_stands_has(&all, p, 1, FAKE_START + 2001));
        cr_expect_not(scopes_stands_has(&all, p, 2, FAKE_START + 3000));
    }
    for (uint32_t p = 0; p < 2; p++) {
        const char *kept = scratch_file("kept");
        eventspace_run *other;
        cr_assert_eq(rename(scratch_file("%s", missing[p]), kept), 0);
        check_status(eventspace_run_open(&other, scratch_file(".")), 0);
        check_status(scopes_stands_take(&some, other), PASTSET_ENOENT);
        cr_assert_eq(some.count, 2);
        cr_expect(scopes_stands_has(&some, 1 - p, 1, FAKE_START + 2000));
        cr_expect_not(scopes_stands_has(&some, p, 1, FAKE_START + 2000));
        cr_assert_eq(
            rename(scratch_file("kept"), scratch_file("%s", missing[p])), 0);
        eventspace_run_close(other);
    }
    scopes_stands_fini(&all);
    scopes_stands_fini(&some);
    end();
}

Test(pending_notes, of_a_tree_those_are_named_who_have_not_come)
{
    begin();
    waits("t0", "total", "low0", PASTSET_EXCHANGE);
    waits("t1", "total", "root",
          PASTSET_EXCHANGE); /* the representative of low0 */
    waits("t2", "total", "low1", PASTSET_EXCHANGE);
    is("t3", PATHS_COMPUTING);
    check_status(make(), 0);
    check_for(0, "t0", "t3 (computing)");
    check_for(1, "t1", "t3 (computing)");
    check_for(2, "t2", "t3 (computing)");
    check_for(3, "t3", "");
    cr_expect_eq(cell(0, "since_ns").integer, 2000);
    cr_expect_eq(cell(0, "for_ns").integer, INT64_C(10000000000) - 2000);
    cr_expect_eq(cell(0, "sequence").integer, 7);
    cr_expect_eq(cell(3, "since_ns").integer, 3000);
    cr_expect_eq(cell(3, "sequence").integer, SCOPES_BLANK);
    end();
}

Test(pending_notes, one_that_waits_elsewhere_has_not_come)
{
    begin();
    waits("t0", "total", "low0", PASTSET_EXCHANGE);
    waits("t1", "own", "own", PASTSET_OBSERVE);
    waits("t2", "total", "low1", PASTSET_EXCHANGE);
    waits("t3", "total", "up", PASTSET_EXCHANGE);
    check_status(make(), 0);
    check_for(0, "t0", "t1 (at own)");
    check_for(1, "t1", "no thread may write it");
    check_for(2, "t2", "t1 (at own)");
    check_for(3, "t3", "t1 (at own)");
    cr_expect_str_eq(cell(3, "peer").text, "h0");
    end();
}

Test(pending_notes, a_thread_that_has_ended_is_named_and_has_no_row)
{
    begin();
    waits("t0", "total", "low0", PASTSET_EXCHANGE);
    is("t1", PATHS_ENDED);
    check_status(make(), 0);
    cr_expect_eq(scopes_table_rows(table), 1);
    check_for(0, "t0", "t1 (ended)");
    end();
}

Test(pending_notes, at_an_element_those_are_named_who_may_do_the_other_thing)
{
    begin();
    waits("t0", "full", "full", PASTSET_WRITE);
    is("t1", PATHS_COMPUTING);
    waits("t2", "full", "full_p", PASTSET_OBSERVE);
    waits("t3", "loose", "loose_p", PASTSET_WRITE);
    check_status(make(), 0);
    check_for(0, "t0", "t1 (computing), t2 (at full_p)");
    check_for(2, "t2", "t0 (at full)");
    check_for(3, "t3", "process h0"); /* no write has to wait there */
    end();
}

Test(pending_notes, operations_of_paths_start_are_told_by_the_oldest)
{
    paths_executor_note started;

    begin();
    started = fake_waiting(map, "t0", "full", "full", PASTSET_WRITE, 4, 1000);
    started.activity = PATHS_COMPUTING;
    started.under_way = 3;
    note(0, started);
    waits("t1", "total", "low0", PASTSET_EXCHANGE);
    check_status(make(), 0);
    cr_expect_str_eq(cell(0, "state").text, "computing");
    cr_expect_str_eq(cell(0, "verb").text, "write");
    cr_expect_eq(cell(0, "under_way").integer, 3);
    cr_expect_eq(cell(0, "since_ns").integer, 1000);
    check_for(1, "t1", "t0 (computing, 3 under way)");
    end();
}

Test(pending_notes, who_connects_waits_for_that_process)
{
    paths_executor_note connects;

    begin();
    connects = fake_activity(map, "t0", PATHS_CONNECTING, 10);
    connects.peer = 1; /* h1, by rank */
    note(0, connects);
    is("t1", PATHS_STARTING);
    check_status(make(), 0);
    cr_expect_str_eq(cell(0, "state").text, "connecting");
    cr_expect_str_eq(cell(0, "peer").text, "h1");
    check_for(0, "t0", "process h1");
    cr_expect_str_eq(cell(1, "state").text, "starting");
    end();
}

Test(pending_notes, a_loop_that_carries_an_operation_has_a_row)
{
    paths_executor_note loop;

    begin();
    loop = fake_waiting(map, "t3", "loose", "loose", PASTSET_WRITE, 9, 500);
    loop.activity = PATHS_RUNNING;
    check_status(fake_run_note(fake, 0, 0, &loop), 0);
    check_status(make(), 0);
    cr_assert_eq(scopes_table_rows(table), 1);
    check_for(0, "loop", "");
    cr_expect_str_eq(cell(0, "process").text, "h0");
    cr_expect_str_eq(cell(0, "state").text, "running");
    cr_expect_str_eq(cell(0, "stage").text, "loose");
    cr_expect_eq(cell(0, "number").integer, SCOPES_BLANK);
    cr_expect_eq(cell(0, "sequence").integer, 9);
    end();
}

Test(pending_notes, a_thread_computes_since_its_last_tuple)
{
    eventspace_trace event;

    begin();
    event = (eventspace_trace){.start = FAKE_START + 4000,
                               .end = FAKE_START + 5000,
                               .collector = fake_collector(map, "t0", "full"),
                               .thread = 0,
                               .sequence = 1,
                               .operation = PASTSET_WRITE};
    check_status(fake_run_event(fake, &event), 0);
    is("t0", PATHS_COMPUTING); /* since 3000, the last time that it waited */
    check_status(make(), 0);
    cr_expect_eq(cell(0, "since_ns").integer, 5000);
    cr_expect_eq(cell(0, "for_ns").integer, INT64_C(10000000000) - 5000);
    end();
}

/* --- damage --- */

static uint64_t random_number(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Any bytes; but every other number is one that there could be. */
static paths_executor_note damaged(void)
{
    union {
        paths_executor_note note;
        uint64_t words[8];
        uint32_t halves[16];
    } n;

    for (int i = 0; i < 8; i++)
        n.words[i] = random_number();
    for (int i = 0; i < 16; i++)
        if (random_number() % 2)
            n.halves[i] = (uint32_t)(random_number() % 24);
    if (random_number() % 4)
        n.note.activity = (uint16_t)(random_number() % PATHS_ACTIVITIES);
    if (random_number() % 2)
        n.note.since = FAKE_START + random_number() % 10000;
    return n.note;
}

Test(pending_notes, damaged_notes_do_no_harm)
{
    for (int turn = 0; turn < 40; turn++) {
        begin();
        for (uint32_t i = 0; i < 12; i++)
            note(i % 2, damaged());
        check_status(make(), 0);
        for (size_t i = 0; i < scopes_table_rows(table); i++)
            cr_assert_geq(cell(i, "for_ns").integer, 0);
        end();
    }
}
