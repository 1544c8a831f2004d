/* whatif_test.c - runs made by hand, replayed with changes, beside what was
 * computed on paper; and runs of all kinds, whose replay without a change is
 * the run. */
#include <sys/stat.h>

#include "pastset/request.h"
#include "pastset/status.h"
#include "scopes/whatif/whatif_internal.h"
#include "tests/scopes/told.h"
#include "tests/scopes/views/made_runs.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

TestSuite(whatif, .init = scratch_make, .fini = scratch_remove, .timeout = 300);

#define AT(from, to, id, who, number, what)                                    \
    {                                                                          \
        .start = (from), .end = (to), .collector = (id), .thread = (who),      \
        .sequence = (number), .bytes = 8, .operation = PASTSET_##what          \
    }

static const char pipe_map[] =
    "digraph pipe { subgraph cluster_h {"
    " a [kind=thread, number=0]; b [kind=thread, number=1];"
    " ca [kind=collector, id=0]; cb [kind=collector, id=1];"
    " box [kind=element, type=\"i64\", capacity=1]; }"
    " a -> ca [as=put]; b -> cb [as=get]; ca -> box; cb -> box; }";

/* b takes its time between its first and its second read, so that a, which has
 * something to do at the end, waits for room. */
static const eventspace_trace pipe_events[] = {
    AT(1000, 5010, 1, 1, 1, OBSERVE), AT(5000, 5020, 0, 0, 1, WRITE),
    AT(6000, 6020, 0, 0, 2, WRITE),   AT(7000, 9050, 0, 0, 3, WRITE),
    AT(9000, 9060, 1, 1, 2, OBSERVE), AT(9100, 9160, 1, 1, 3, OBSERVE),
    AT(12000, 12020, 0, 0, 4, WRITE)};

static const char meeting_map[] =
    "digraph meeting { subgraph cluster_h {"
    " a [kind=thread, number=0]; b [kind=thread, number=1];"
    " ca [kind=collector, id=0]; cb [kind=collector, id=1];"
    " cl [kind=collector, id=2]; all [kind=sum];"
    " box [kind=element, type=\"i64\", policy=discard, capacity=4]; }"
    " a -> ca [as=meet]; b -> cb [as=meet];"
    " ca -> all; cb -> all; all -> cl; cl -> box; }";

static const eventspace_trace meeting_events[] = {
    AT(1000, 5300, 0, 0, 1, EXCHANGE), AT(5000, 5400, 1, 1, 1, EXCHANGE),
    AT(5200, 5210, 2, 1, 1, EXCHANGE), AT(6000, 9300, 0, 0, 2, EXCHANGE),
    AT(9000, 9400, 1, 1, 2, EXCHANGE), AT(9200, 9210, 2, 1, 2, EXCHANGE)};

static scopes_whatif *whatif_of(const told *t)
{
    scopes_whatif *whatif;

    check_status(scopes_whatif_create(&whatif, &t->view_input), 0);
    return whatif;
}

static void check_time(scopes_whatif *whatif, int64_t expected,
                       const scopes_change *changes, size_t count)
{
    int64_t ns = -1;

    check_status(scopes_whatif_time(whatif, changes, count, &ns), 0);
    cr_expect_eq(ns, expected, "%s of %s: %ld ns, not %ld",
                 scopes_change_word(changes[0].kind),
                 changes[0].what ? changes[0].what : "all", (long)ns,
                 (long)expected);
}

Test(whatif, a_pipe_with_room_or_a_faster_reader)
{
    static const scopes_change room = {.kind = SCOPES_CHANGE_ROOM,
                                       .what = "box"};
    static const scopes_change reader = {.kind = SCOPES_CHANGE_COMPUTING,
                                         .what = "b"};
    static const scopes_change same = {
        .kind = SCOPES_CHANGE_COMPUTING, .what = "*", .factor = 1};
    static const scopes_change both[] = {
        {.kind = SCOPES_CHANGE_ROOM, .what = "box"},
        {.kind = SCOPES_CHANGE_COMPUTING, .what = "0", .factor = 0.5}};
    scopes_whatif *whatif;
    told t;

    told_made(&t, pipe_map, pipe_events, SIZE(pipe_events));
    whatif = whatif_of(&t);
    cr_expect_eq(scopes_whatif_recorded_ns(whatif), 11020);
    cr_expect_eq(scopes_whatif_replayed_ns(whatif), 11020);
    check_time(whatif, 11020, &same, 1);
    /* a's third write takes 20, as its second one did, and then 2950 later ...
     */
    check_time(whatif, 6000 + 20 + 2950 + 20, &room, 1);
    /* b is there when a writes; a waits for no room. */
    check_time(whatif, 6020 + 2950 + 20, &reader, 1);
    /* b is the last one: it began its last read at 8100. */
    check_time(whatif, 8160, both, 2);
    scopes_whatif_destroy(whatif);
    told_end(&t);
}

Test(whatif, a_collective_with_equal_work_or_a_faster_hop)
{
    static const scopes_change balance = {.kind = SCOPES_CHANGE_BALANCE,
                                          .what = "all"};
    static const scopes_change steps = {.kind = SCOPES_CHANGE_BALANCE};
    static const scopes_change peers = {
        .kind = SCOPES_CHANGE_COMPUTING, .what = "b", .to_peers = true};
    static const scopes_change hop = {.kind = SCOPES_CHANGE_HOP, .what = "all"};
    static const scopes_change twice = {
        .kind = SCOPES_CHANGE_HOP, .what = "all", .factor = 2};
    scopes_whatif *whatif;
    told t;

    told_made(&t, meeting_map, meeting_events, SIZE(meeting_events));
    whatif = whatif_of(&t);
    cr_expect_eq(scopes_whatif_recorded_ns(whatif), 8400);
    cr_expect_eq(scopes_whatif_replayed_ns(whatif), 8400);
    /* After the first round a computes 700 and b 3600: 2150 each. b ends the
     * round at 4400, comes at 6550, is below at 6750, and back 200 later. */
    check_time(whatif, 4400 + 2150 + 200 + 200, &balance, 1);
    check_time(whatif, 4400 + 2150 + 200 + 200, &steps, 1);
    check_time(whatif, 4400 + 700 + 200 + 200, &peers, 1);
    /* 200 down and 190 up, twice; and twice as much once more. */
    check_time(whatif, 8400 - 2 * 390, &hop, 1);
    check_time(whatif, 8400 + 2 * 390, &twice, 1);
    scopes_whatif_destroy(whatif);
    told_end(&t);
}

static const char both_ways_map[] =
    "digraph both { subgraph cluster_h {"
    " a [kind=thread, number=0]; b [kind=thread, number=1];"
    " c0 [kind=collector, id=0]; c1 [kind=collector, id=1];"
    " c2 [kind=collector, id=2]; c3 [kind=collector, id=3];"
    " x [kind=element, type=\"i64\", capacity=4];"
    " y [kind=element, type=\"i64\", capacity=4]; }"
    " a -> c0 [as=to]; c0 -> x; b -> c1 [as=from]; c1 -> x;"
    " b -> c2 [as=to]; c2 -> y; a -> c3 [as=from]; c3 -> y; }";

/* As by MPI_Sendrecv: who sends does not wait for that, but for its receive. */
Test(whatif, operations_that_begin_and_end_together_are_one_call)
{
    static const eventspace_trace events[] = {
        AT(1000, 5020, 0, 0, 1, WRITE), AT(1000, 5020, 3, 0, 2, OBSERVE),
        AT(5000, 5030, 2, 1, 1, WRITE), AT(5000, 5030, 1, 1, 2, OBSERVE),
        AT(6000, 9020, 0, 0, 3, WRITE), AT(6000, 9020, 3, 0, 4, OBSERVE),
        AT(9000, 9030, 2, 1, 3, WRITE), AT(9000, 9030, 1, 1, 4, OBSERVE)};
    static const scopes_change b = {.kind = SCOPES_CHANGE_COMPUTING,
                                    .what = "b"};
    static const scopes_change a = {.kind = SCOPES_CHANGE_COMPUTING,
                                    .what = "a"};
    scopes_whatif *whatif;
    told t;

    told_made(&t, both_ways_map, events, SIZE(events));
    whatif = whatif_of(&t);
    cr_expect_eq(scopes_whatif_replayed_ns(whatif), 8030);
    /* b comes at 4030, a at 5000. */
    check_time(whatif, 5030, &b, 1);
    check_time(whatif, 8030, &a, 1);
    scopes_whatif_destroy(whatif);
    told_end(&t);
}

static void check_refused(scopes_whatif *whatif, scopes_change change, int err,
                          const char *text)
{
    int64_t ns;

    check_status(scopes_whatif_time(whatif, &change, 1, &ns), err);
    check_error(text);
}

Test(whatif, what_is_not_there_is_refused_by_its_name)
{
    scopes_whatif *whatif;
    told t;

    told_made(&t, pipe_map, pipe_events, SIZE(pipe_events));
    whatif = whatif_of(&t);
    check_refused(whatif,
                  (scopes_change){.kind = SCOPES_CHANGE_COMPUTING, .what = "c"},
                  PASTSET_ENOENT, "c");
    check_refused(whatif,
                  (scopes_change){.kind = SCOPES_CHANGE_HOP, .what = "bax"},
                  PASTSET_ENOENT, "bax");
    check_refused(whatif,
                  (scopes_change){.kind = SCOPES_CHANGE_ROOM, .what = "bax"},
                  PASTSET_ENOENT, "bax");
    check_refused(whatif,
                  (scopes_change){.kind = SCOPES_CHANGE_BALANCE, .what = "box"},
                  PASTSET_ENOENT, "box");
    check_refused(whatif,
                  (scopes_change){.kind = SCOPES_CHANGE_COMPUTING,
                                  .what = "a",
                                  .factor = -1},
                  PASTSET_EINVAL, "factor");
    scopes_whatif_destroy(whatif);
    told_end(&t);
}

static void check_same(const made_run *kind)
{
    scopes_snapshot_options options = SCOPES_SNAPSHOT_ALL;
    const char *directory = scratch_file("run %s", kind->name);
    scopes_view_input input;
    scopes_snapshot *snapshot;
    scopes_whatif *whatif;
    eventspace_run *run;

    cr_assert_eq(mkdir(directory, 0700), 0);
    made_run_make(directory, kind);
    if (kind->to_ns > 0) {
        options.from_ns = kind->from_ns;
        options.to_ns = kind->to_ns;
    }
    check_status(eventspace_run_open(&run, directory), 0);
    check_status(scopes_snapshot_take(&snapshot, run, &options), 0);
    input = scopes_view_input_of(snapshot);
    check_status(scopes_whatif_create(&whatif, &input), 0);
    cr_expect_gt(scopes_whatif_recorded_ns(whatif), 0);
    cr_expect_eq(scopes_whatif_replayed_ns(whatif),
                 scopes_whatif_recorded_ns(whatif), "%s: %ld, not %ld",
                 kind->name, (long)scopes_whatif_replayed_ns(whatif),
                 (long)scopes_whatif_recorded_ns(whatif));
    scopes_whatif_destroy(whatif);
    scopes_snapshot_destroy(snapshot);
    eventspace_run_close(run);
}

/* Also where events are missing, clocks are apart, or only a part is there. */
Test(whatif, a_replay_without_a_change_is_the_run)
{
    for (unsigned i = 0; i < made_run_count; i++)
        check_same(&made_runs[i]);
}
