/* import_test.c - traces made by hand become runs, and what views say of these
 * is what was worked out by hand from the trace. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/command.h"
#include "tests/support/scratch.h"
#include "tests/viewer/otf2_make.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define ROUNDS 10

static void begin(void)
{
    scratch_make();
}

TestSuite(import, .timeout = 300, .init = begin, .fini = scratch_remove);

/* --- tables of the command --- */

static json_t *parse(char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, 0, &error);

    cr_assert_not_null(json, "%s: %s", error.text, text);
    free(text);
    return json;
}

static json_t *import(void)
{
    return parse(command_run(0, 60, EVENTSPACE, "import",
                             scratch_file("trace/trace.otf2"), "--output",
                             scratch_file("run"), "--format=json", NULL));
}

/* The view's table. */
static json_t *view(const char *name)
{
    json_t *all =
        parse(command_run(0, 60, EVENTSPACE, "view", scratch_file("run"), name,
                          "--format=json", NULL));
    json_t *rows = json_incref(json_object_get(all, "rows"));

    json_decref(all);
    cr_assert(json_is_array(rows), "view %s", name);
    return rows;
}

static json_int_t integer(const json_t *row, const char *key)
{
    json_t *value = json_object_get(row, key);

    cr_assert(json_is_integer(value), "no number %s", key);
    return json_integer_value(value);
}

static const char *text(const json_t *row, const char *key)
{
    const char *value = json_string_value(json_object_get(row, key));

    return value ? value : "";
}

/* The count of what the import reports; -1: it has no such row. */
static json_int_t reported(const json_t *rows, const char *what)
{
    size_t i;
    json_t *row;

    json_array_foreach(rows, i, row) if (strcmp(text(row, "what"), what) ==
                                         0) return integer(row, "count");
    return -1;
}

static const char *noted(const json_t *rows, const char *what)
{
    size_t i;
    json_t *row;

    json_array_foreach(rows, i, row) if (strcmp(text(row, "what"), what) ==
                                         0) return text(row, "note");
    return "";
}

/* --- a ring of three ranks, and a sum --- */

/* In each round of 10 ms, rank 0 computes, sends to 1; that solves for 4 ms,
 * sends to 2; that computes for 1 ms, sends to 0; then all sum, and 0 comes
 * last. A message takes 20 us. */
static void ring_round(otf2_make *m, int64_t at)
{
    otf2_call_send(m, 0, at + 1000 * US, at + 1010 * US, 1, 7);
    otf2_call_receive(m, 0, at + 1010 * US, at + 6060 * US, 2, 7);
    otf2_call_collective(m, 0, at + 6100 * US, at + 6200 * US, "MPI_Allreduce",
                         OTF2_COLLECTIVE_OP_ALLREDUCE,
                         OTF2_COLLECTIVE_ROOT_NONE);

    otf2_call_receive(m, 1, at + 200 * US, at + 1020 * US, 0, 7);
    otf2_enter(m, 1, at + 1020 * US, "solve");
    otf2_leave(m, 1, at + 5020 * US, "solve");
    otf2_call_send(m, 1, at + 5020 * US, at + 5030 * US, 2, 7);
    otf2_call_collective(m, 1, at + 5050 * US, at + 6210 * US, "MPI_Allreduce",
                         OTF2_COLLECTIVE_OP_ALLREDUCE,
                         OTF2_COLLECTIVE_ROOT_NONE);

    otf2_call_receive(m, 2, at + 500 * US, at + 5040 * US, 1, 7);
    otf2_call_send(m, 2, at + 6040 * US, at + 6050 * US, 0, 7);
    otf2_call_collective(m, 2, at + 6055 * US, at + 6220 * US, "MPI_Allreduce",
                         OTF2_COLLECTIVE_OP_ALLREDUCE,
                         OTF2_COLLECTIVE_ROOT_NONE);
}

static void ring(const int64_t *ahead_ns)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 3, ahead_ns);

    for (int i = 0; i < ROUNDS; i++)
        ring_round(m, i * 10 * MS);
    otf2_make_end(m);
}

typedef struct expected {
    const char *kind, *thread, *what;
    json_int_t count;
    int64_t total_ns;
} expected;

/* Backwards from the end of rank 2's last sum: that waited for rank 0, which
 * came at 6.10 of the round; that had waited for rank 2's message, sent at 6.04
 * after 1 ms of computing; rank 2 for rank 1's, sent at 5.02 after 4 ms; rank 1
 * for rank 0's, sent at 1.00. Before that rank 0 computed since its own sum of
 * the round before, in which it was last, had ended at 6.20. The first
 * operation of the run began at 0.20. */
static const expected by_hand[] = {
    {"computing", "rank_0 main thread", "", 2 * ROUNDS,
     ROUNDS * 40 * US + (ROUNDS - 1) * 4800 * US + 800 * US},
    {"computing", "rank_1 main thread", "", ROUNDS, ROUNDS * 4000 * US},
    {"computing", "rank_2 main thread", "", ROUNDS, ROUNDS * 1000 * US},
    {"element", "rank_0 main thread", "MPI_Allreduce", ROUNDS - 1,
     (ROUNDS - 1) * 100 * US},
    {"element", "rank_2 main thread", "MPI_Allreduce", 1, 120 * US},
    {"element", "rank_1 main thread", "rank_0 to rank_1 tag 7", ROUNDS,
     ROUNDS * 20 * US},
    {"element", "rank_2 main thread", "rank_1 to rank_2 tag 7", ROUNDS,
     ROUNDS * 20 * US},
    {"element", "rank_0 main thread", "rank_2 to rank_0 tag 7", ROUNDS,
     ROUNDS * 20 * US},
};

/* Rows of one place may stand apart: by the collectors above it. */
static int64_t total_of(const json_t *rows, const expected *e,
                        json_int_t *count)
{
    int64_t total = 0;
    size_t i;
    json_t *row;

    *count = 0;
    json_array_foreach(rows, i, row)
    {
        if (strcmp(text(row, "kind"), e->kind) != 0 ||
            strcmp(text(row, "what"), e->what) != 0 ||
            (strcmp(e->kind, "computing") == 0 &&
             strcmp(text(row, "thread"), e->thread) != 0))
            continue;
        total += integer(row, "total_ns");
        *count += integer(row, "count");
    }
    return total;
}

static void check_path(int64_t within_ns)
{
    json_t *rows = view("critical-path");
    int64_t all = 0, wanted = 0;
    size_t i;
    json_t *row;

    for (i = 0; i < sizeof(by_hand) / sizeof(by_hand[0]); i++) {
        expected e = by_hand[i];
        json_int_t count;
        int64_t total;
        if (strcmp(e.what, "MPI_Allreduce") == 0) { /* whoever's it was */
            e.total_ns = (ROUNDS - 1) * 100 * US + 120 * US;
            e.count = ROUNDS;
        }
        total = total_of(rows, &e, &count);
        cr_expect(llabs(total - e.total_ns) <= within_ns,
                  "%s %s %s: %" PRId64 " ns, not %" PRId64, e.kind, e.thread,
                  e.what, total, e.total_ns);
        cr_expect(within_ns || count == e.count, "%s %s %s: %d times", e.kind,
                  e.thread, e.what, (int)count);
        wanted += by_hand[i].total_ns;
    }
    json_array_foreach(rows, i, row) all += integer(row, "total_ns");
    cr_expect(llabs(all - wanted) <= within_ns,
              "all: %" PRId64 " ns, not %" PRId64, all, wanted);
    json_decref(rows);
}

Test(import, the_critical_path_is_the_one_worked_out_by_hand)
{
    json_t *report;

    ring(NULL);
    report = import();
    cr_expect_eq(reported(report, "processes"), 3);
    cr_expect_eq(reported(report, "threads"), 3);
    cr_expect_eq(reported(report, "messages"), 3 * ROUNDS);
    cr_expect_eq(reported(report, "collectives"), 3 * ROUNDS);
    cr_expect_eq(reported(report, "operations"), 9 * ROUNDS);
    cr_expect_eq(reported(report, "regions"), ROUNDS);
    cr_expect_eq(reported(report, "clocks"), 1);
    cr_expect_eq(reported(report, "unmatched sends"), -1);
    json_decref(report);
    check_path(0);
}

/* Rank 0 waited for the message of 2 in each round from 1.01 to 6.04, and the
 * others in the sum for rank 0. */
Test(import, views_say_who_waited_for_whom)
{
    json_t *rows, *row;
    int64_t for_two = 0, for_zero = 0;
    size_t i;

    ring(NULL);
    json_decref(import());
    rows = view("waits-for");
    json_array_foreach(rows, i, row)
    {
        if (strcmp(text(row, "over"), "rank_2 to rank_0 tag 7") == 0)
            for_two += integer(row, "total_ns");
        if (strcmp(text(row, "over"), "MPI_Allreduce") == 0)
            for_zero += integer(row, "total_ns");
    }
    json_decref(rows);
    cr_expect_eq(for_two, ROUNDS * (6040 - 1010) * US);
    cr_expect_eq(for_zero, ROUNDS * ((6100 - 5050) + (6100 - 6055)) * US);
    rows = view("regions");
    cr_assert_eq(json_array_size(rows), 1);
    row = json_array_get(rows, 0);
    cr_expect_str_eq(text(row, "region"), "solve");
    cr_expect_eq(integer(row, "total_ns"), ROUNDS * 4000 * US);
    json_decref(rows);
}

/* --- clocks --- */

/* Clocks that are 20 s apart, as those of ranks are under EZTrace. Messages
 * back and forth, 20 us each way, tell how far; the runs's rounds then say no
 * more than that. */
Test(import, clocks_are_aligned_by_messages)
{
    static const int64_t ahead_ns[] = {0, 20000 * MS, -3000 * MS};
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 3, ahead_ns);
    json_t *report, *rows, *row;
    size_t i;

    for (int k = 0; k < ROUNDS; k++) {
        for (uint32_t to = 1; to < 3; to++) {
            int64_t at = k * 20 * MS + to * MS;
            otf2_call_send(m, 0, at, at + 5 * US, to, 1);
            otf2_call_receive(m, to, at + 1 * US, at + 20 * US, 0, 1);
            otf2_call_send(m, to, at + 30 * US, at + 35 * US, 0, 2);
            otf2_call_receive(m, 0, at + 10 * US, at + 50 * US, to, 2);
        }
        ring_round(m, k * 20 * MS + 5 * MS);
    }
    otf2_make_end(m);
    report = import();
    cr_expect_eq(reported(report, "clocks"), 3);
    json_decref(report);
    rows = view("regions");
    cr_assert_eq(json_array_size(rows), 1);
    json_decref(rows);
    rows = parse(command_run(0, 60, EVENTSPACE, "clock", scratch_file("run"),
                             "--format=json", NULL));
    row = json_object_get(rows, "processes");
    cr_assert_eq(json_array_size(row), 3);
    json_array_foreach(json_object_get(rows, "processes"), i, row)
    {
        const char *how = text(row, "how");
        cr_expect_str_eq(how, i == 0 ? "reference" : "exchanges");
        cr_expect(integer(row, "certain_ns") <= 25 * US, "%d",
                  (int)integer(row, "certain_ns"));
    }
    json_decref(rows);
    /* The message that ended each wait was sent then, by one clock. */
    rows = view("waits-for");
    json_array_foreach(rows, i, row)
    {
        int64_t total = integer(row, "total_ns");
        if (strcmp(text(row, "over"), "rank_2 to rank_0 tag 7") == 0)
            cr_expect(llabs(total - ROUNDS * (6040 - 1010) * US) <=
                          ROUNDS * 25 * US,
                      "%" PRId64, total);
    }
    json_decref(rows);
}

/* Messages that go in one direction only do not say how long they took, but
 * none arrives before it was sent. The fastest takes no time. */
static void one_way(const int64_t *ahead_ns, uint32_t ranks, bool around)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), ranks, ahead_ns);
    json_t *report, *rows, *row;
    int64_t total = 0;
    uint32_t ways = around ? ranks : ranks - 1;
    size_t i;

    for (int k = 0; k < ROUNDS; k++) {
        for (uint32_t from = 0; from < ways; from++) {
            int64_t at = k * 20 * MS + from * 2 * MS;
            uint32_t to = (from + 1) % ranks;
            otf2_call_receive(m, to, at, at + 1020 * US, from, 1);
            otf2_call_send(m, from, at + 1000 * US, at + 1005 * US, to, 1);
        }
    }
    otf2_make_end(m);
    report = import();
    cr_expect_eq(reported(report, "clocks not aligned"), ranks - 1);
    json_decref(report);
    rows = view("waits-for");
    json_array_foreach(rows, i, row) total += integer(row, "total_ns");
    cr_expect_eq(json_array_size(rows), ways);
    json_decref(rows);
    cr_expect_geq(total, ROUNDS * (int64_t)ways * 1000 * US);
    cr_expect_leq(total, ROUNDS * (int64_t)ways * 1021 * US);
}

Test(import, messages_in_one_direction_arrive_after_they_were_sent)
{
    static const int64_t ahead_ns[] = {0, -20000 * MS, -3000 * MS};

    one_way(ahead_ns, 3, false);
}

Test(import, messages_around_a_ring_arrive_after_they_were_sent)
{
    static const int64_t ahead_ns[] = {0, 20000 * MS, -3000 * MS, 70 * MS};

    one_way(ahead_ns, 4, true);
}

/* --- what a trace lacks --- */

Test(import, what_is_absent_is_listed)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    json_t *report;

    otf2_enter(m, 0, 1 * US, "main");
    otf2_call_send(m, 0, 10 * US, 12 * US, 1, 3);
    otf2_call_send(m, 0, 20 * US, 22 * US, 1, 4);
    otf2_other(m, 0, 30 * US);
    otf2_leave(m, 0, 40 * US, "never entered");
    otf2_enter(m, 1, 1 * US, "MPI_Irecv");
    otf2_request(m, 1, 2 * US, 1);
    otf2_leave(m, 1, 3 * US, "MPI_Irecv");
    otf2_enter(m, 1, 4 * US, "MPI_Wait");
    otf2_leave(m, 1, 15 * US, "MPI_Wait");
    otf2_call_receive(m, 1, 16 * US, 25 * US, 0, 4);
    otf2_make_end(m);
    report = import();
    cr_expect_eq(reported(report, "messages"), 1);
    cr_expect_eq(reported(report, "unmatched sends"), 1);
    cr_expect_eq(reported(report, "unfinished receives"), 1);
    cr_expect_eq(reported(report, "unpaired regions"), 1);
    cr_expect_str_eq(noted(report, "unpaired regions"),
                     "left and not entered, or calls of MPI that did not "
                     "return; left out; 1 of them: never entered");
    cr_expect_eq(reported(report, "open regions"), 1);
    cr_expect_eq(reported(report, "other events"), 1);
    cr_expect_eq(reported(report, "operations"), 5);
    json_decref(report);
}

Test(import, unpaired_regions_are_named_by_the_first)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    json_t *report;

    otf2_enter(m, 0, 1 * US, "MPI_Recv");
    otf2_enter(m, 1, 1 * US, "main");
    otf2_leave(m, 1, 2 * US, "other");
    otf2_leave(m, 1, 3 * US, "MPI_Recv");
    otf2_leave(m, 1, 4 * US, "main");
    otf2_make_end(m);
    report = import();
    cr_expect_eq(reported(report, "unpaired regions"), 3);
    cr_expect(strstr(noted(report, "unpaired regions"), "2 of them: MPI_Recv"),
              "%s", noted(report, "unpaired regions"));
    json_decref(report);
}

/* --- what cannot be told to belong together --- */

static size_t waits_count(void)
{
    json_t *rows = view("waits-for");
    size_t count = json_array_size(rows);

    json_decref(rows);
    return count;
}

/* Rank 0 sends at 10 us and at 50 us. The receive that began second is waited
 * for first, until the second message is there; the first is then there. */
Test(import, receives_that_end_in_another_order_wait_for_their_messages)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    json_t *rows, *report;

    for (int i = 0; i < 2; i++) {
        otf2_enter(m, 1, (1 + i) * US, "MPI_Irecv");
        otf2_request(m, 1, (1 + i) * US, (uint64_t)i);
        otf2_leave(m, 1, (1 + i) * US, "MPI_Irecv");
    }
    otf2_call_send(m, 0, 10 * US, 11 * US, 1, 3);
    otf2_call_send(m, 0, 50 * US, 51 * US, 1, 3);
    otf2_call_wait(m, 1, 5 * US, 60 * US, 0, 3, 1);
    otf2_call_wait(m, 1, 61 * US, 62 * US, 0, 3, 0);
    otf2_make_end(m);
    report = import();
    cr_expect_eq(reported(report, "messages"), 2);
    cr_expect_eq(reported(report, "unmatched sends"), -1);
    cr_expect_eq(reported(report, "unmatched receives"), -1);
    json_decref(report);
    rows = view("waits-for");
    cr_assert_eq(json_array_size(rows), 1);
    cr_expect_eq(integer(json_array_get(rows, 0), "count"), 1);
    cr_expect_eq(integer(json_array_get(rows, 0), "total_ns"), (50 - 5) * US);
    json_decref(rows);
}

/* The same in the order in which they began. */
Test(import, receives_that_end_in_order_are_matched)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    json_t *rows, *report;

    for (int i = 0; i < 2; i++) {
        otf2_enter(m, 1, (1 + i) * US, "MPI_Irecv");
        otf2_request(m, 1, (1 + i) * US, (uint64_t)i);
        otf2_leave(m, 1, (1 + i) * US, "MPI_Irecv");
    }
    otf2_call_send(m, 0, 10 * US, 11 * US, 1, 3);
    otf2_call_send(m, 0, 50 * US, 51 * US, 1, 3);
    otf2_call_wait(m, 1, 5 * US, 20 * US, 0, 3, 0);
    otf2_call_wait(m, 1, 21 * US, 62 * US, 0, 3, 1);
    otf2_make_end(m);
    report = import();
    cr_expect_eq(reported(report, "messages"), 2);
    cr_expect_eq(reported(report, "unfinished receives"), -1);
    json_decref(report);
    rows = view("waits-for");
    cr_assert_eq(json_array_size(rows), 1);
    cr_expect_eq(integer(json_array_get(rows, 0), "total_ns"),
                 (10 - 5 + 50 - 21) * US);
    json_decref(rows);
}

/* Either thread of rank 0 sends one message, and the main thread of rank 1
 * receives one; so does its helper. Which got which is not known. */
Test(import, messages_of_several_threads_of_a_rank_are_not_matched)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    json_t *report;

    otf2_call_send(m, 0, 10 * US, 11 * US, 1, 3);
    otf2_call_send(m, otf2_make_helper(m, 0), 30 * US, 31 * US, 1, 3);
    otf2_call_receive(m, 1, 5 * US, 32 * US, 0, 3);
    otf2_call_receive(m, otf2_make_helper(m, 1), 6 * US, 12 * US, 0, 3);
    otf2_make_end(m);
    report = import();
    cr_expect_eq(reported(report, "threads"), 4);
    cr_expect_eq(reported(report, "messages"), 0);
    cr_expect_eq(reported(report, "unmatched receives"), 2);
    json_decref(report);
    cr_expect_eq(waits_count(), 0);
}

/* A thread that is not the rank's own speaks for it, if no other does. */
Test(import, a_helper_speaks_for_its_rank)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    json_t *report, *rows;

    otf2_call_send(m, otf2_make_helper(m, 0), 30 * US, 31 * US, 1, 3);
    otf2_call_receive(m, 1, 5 * US, 32 * US, 0, 3);
    otf2_call_collective(m, otf2_make_helper(m, 0), 40 * US, 60 * US,
                         "MPI_Barrier", OTF2_COLLECTIVE_OP_BARRIER,
                         OTF2_COLLECTIVE_ROOT_NONE);
    otf2_call_collective(m, 1, 55 * US, 61 * US, "MPI_Barrier",
                         OTF2_COLLECTIVE_OP_BARRIER, OTF2_COLLECTIVE_ROOT_NONE);
    otf2_make_end(m);
    report = import();
    cr_expect_eq(reported(report, "messages"), 1);
    cr_expect_eq(reported(report, "collectives"), 2);
    json_decref(report);
    rows = view("waits-for");
    cr_assert_eq(json_array_size(rows), 2);
    cr_expect_eq(integer(json_array_get(rows, 0), "total_ns") +
                     integer(json_array_get(rows, 1), "total_ns"),
                 (25 + 15) * US);
    json_decref(rows);
}

/* Rank 2 has joined once, the others twice: in which round is not known. */
Test(import, collectives_that_a_rank_joins_less_often_are_not_matched)
{
    static const int64_t at_us[] = {10, 20, 110, 130, 190};
    static const uint32_t ranks[] = {0, 1, 0, 1, 2};
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 3, NULL);
    json_t *report;

    for (int i = 0; i < 5; i++)
        otf2_call_collective(
            m, ranks[i], at_us[i] * US, (i < 2 ? 30 : 200) * US, "MPI_Barrier",
            OTF2_COLLECTIVE_OP_BARRIER, OTF2_COLLECTIVE_ROOT_NONE);
    otf2_make_end(m);
    report = import();
    cr_expect_eq(reported(report, "collectives"), 0);
    cr_expect_eq(reported(report, "unmatched collectives"), 5);
    json_decref(report);
    cr_expect_eq(waits_count(), 0);
}

/* Between two groups, ranks are those of the other one, and tracers name those
 * of the own one. */
Test(import, communicators_between_groups_match_nothing)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 2, NULL);
    json_t *report;

    otf2_make_name(m, NULL, "MPI_COMM_5");
    otf2_enter(m, 0, 1 * US, "MPI_Intercomm_create");
    otf2_leave(m, 0, 2 * US, "MPI_Intercomm_create");
    otf2_call_send(m, 0, 30 * US, 31 * US, 1, 3);
    otf2_call_receive(m, 1, 5 * US, 32 * US, 0, 3);
    otf2_make_end(m);
    report = import();
    cr_expect_eq(reported(report, "messages"), 0);
    cr_expect_eq(reported(report, "unmatched receives"), 1);
    json_decref(report);
    cr_expect_eq(waits_count(), 0);
}

Test(import, rooted_collectives_wait_for_the_root_alone)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 3, NULL);
    json_t *rows, *row;
    int64_t waited = 0;
    size_t i, count = 0;

    /* Rank 1 is the root of a broadcast, and comes at 50 us; rank 2 comes at
     * 90 us, and nobody waits for it. */
    otf2_call_collective(m, 0, 10 * US, 60 * US, "MPI_Bcast",
                         OTF2_COLLECTIVE_OP_BCAST, 1);
    otf2_call_collective(m, 1, 50 * US, 55 * US, "MPI_Bcast",
                         OTF2_COLLECTIVE_OP_BCAST, 1);
    otf2_call_collective(m, 2, 90 * US, 95 * US, "MPI_Bcast",
                         OTF2_COLLECTIVE_OP_BCAST, 1);
    /* Rank 0 reduces: it waits for the last, rank 2 at 300 us. */
    otf2_call_collective(m, 0, 100 * US, 310 * US, "MPI_Reduce",
                         OTF2_COLLECTIVE_OP_REDUCE, 0);
    otf2_call_collective(m, 1, 200 * US, 205 * US, "MPI_Reduce",
                         OTF2_COLLECTIVE_OP_REDUCE, 0);
    otf2_call_collective(m, 2, 300 * US, 305 * US, "MPI_Reduce",
                         OTF2_COLLECTIVE_OP_REDUCE, 0);
    otf2_make_end(m);
    json_decref(import());
    rows = view("waits-for");
    json_array_foreach(rows, i, row)
    {
        count++;
        if (strcmp(text(row, "over"), "MPI_Bcast rank_1 to rank_0") == 0)
            cr_expect_eq(integer(row, "total_ns"), 40 * US);
        else if (strcmp(text(row, "over"), "MPI_Reduce rank_2 to rank_0") == 0)
            cr_expect_eq(integer(row, "total_ns"), 200 * US);
        waited += integer(row, "total_ns");
    }
    json_decref(rows);
    cr_expect_geq(count, 2);
    cr_expect_geq(waited, 240 * US);
}

/* --- hostile traces --- */

static void small_trace(const char *process, const char *communicator,
                        uint64_t ticks)
{
    otf2_make *m = otf2_make_begin(scratch_file("trace"), 3, NULL);

    otf2_make_name(m, process, communicator);
    otf2_make_ticks(m, ticks);
    otf2_enter(m, 1, 10 * US, process ? process : "solve");
    otf2_leave(m, 1, 11 * US, process ? process : "solve");
    ring_round(m, 1 * MS);
    otf2_make_end(m);
}

/* All views in JSON, which must be that. */
static void read_all(void)
{
    json_decref(
        parse(command_run(0, 60, EVENTSPACE, "view", scratch_file("run"), "all",
                          "--format=json", NULL)));
    free(command_run(0, 60, EVENTSPACE, "report", scratch_file("run"),
                     "--output", scratch_file("page.html"), NULL));
}

Test(import, strange_names_are_read_by_all)
{
    static const char *const names[] = {
        "",           "..",       "a/b\\c\"d'",     "\xff\xfe\x80 \xe2\x82",
        "two\nlines", "\x1b[31m", "x{y}|z;[q=1]->", "pathmap",
    };
    char *longest = malloc(10001);

    memset(longest, 'x', 10000);
    longest[10000] = 0;
    for (size_t i = 0; i <= sizeof(names) / sizeof(names[0]); i++) {
        const char *name =
            i < sizeof(names) / sizeof(names[0]) ? names[i] : longest;
        scratch_remove();
        scratch_make();
        small_trace(name, name, 0);
        json_decref(import());
        read_all();
    }
    free(longest);
}

/* What a process may not be called no command would take. */
Test(import, names_of_processes_are_those_that_maps_may_have)
{
    char *said;

    small_trace("P#0 \xc3\xa9/..", NULL, 0);
    json_decref(import());
    cr_expect_eq(access(scratch_file("run/P_0____...space"), F_OK), 0);
    cr_expect_eq(access(scratch_file("run/P_0____..-2.space"), F_OK), 0);
    cr_expect_eq(access(scratch_file("run/P_0____..-3.space"), F_OK), 0);
    said = command_run(1, 60, EVENTSPACE, "map", "check",
                       scratch_file("run/pathmap.dot"), NULL);
    cr_expect_null(strstr(said, "named after it"), "%s", said);
    free(said);
}

Test(import, a_clock_may_be_slow_or_fast)
{
    static const uint64_t a_second[] = {1, UINT64_C(1000000000000)};
    char *said;

    for (int i = 0; i < 2; i++) {
        scratch_remove();
        scratch_make();
        small_trace(NULL, NULL, a_second[i]);
        json_decref(import());
        read_all();
    }
    scratch_remove();
    scratch_make();
    small_trace(NULL, NULL, UINT64_MAX);
    said = command_run(1, 60, EVENTSPACE, "import",
                       scratch_file("trace/trace.otf2"), "--output",
                       scratch_file("run"), NULL);
    cr_expect(strstr(said, "ticks a second"), "%s", said);
    free(said);
    cr_expect_neq(access(scratch_file("run"), F_OK), 0);
}

/* Bytes of a file are damaged, or its end is cut off. */
static void damage(const char *name, uint32_t *random)
{
    size_t length;
    char *whole = file_read(scratch_file("%s", name), &length);
    FILE *file = fopen(scratch_file("%s", name), "wb");

    cr_assert(file && length > 0, "%s", name);
    for (int i = 0; i < 3; i++) {
        *random = *random * 1664525u + 1013904223u;
        whole[(*random >> 8) % length] = (char)(*random >> 24);
    }
    if (*random >> 30 == 0)
        length = (*random >> 9) % length;
    fwrite(whole, 1, length, file);
    fclose(file);
    free(whole);
}

/* Nothing crashes, and a trace that is refused leaves nothing. */
Test(import, damaged_traces_are_read_or_refused)
{
    static const char *const files[] = {"trace/trace.otf2", "trace/trace.def",
                                        "trace/trace/0.evt",
                                        "trace/trace/2.evt"};
    uint32_t random = 7;

    for (int i = 0; i < 60; i++) {
        command c;
        int code;
        scratch_remove();
        scratch_make();
        small_trace(NULL, NULL, 0);
        damage(files[i % 4], &random);
        command_start(&c, EVENTSPACE, "import",
                      scratch_file("trace/trace.otf2"), "--output",
                      scratch_file("run"), NULL);
        command_wait(&c, 60);
        code = c.exit_code;
        command_free(&c);
        cr_expect(code == 0 || code == 1, "%d: exit code %d", i, code);
        cr_expect_eq(access(scratch_file("run"), F_OK) == 0, code == 0,
                     "%d: exit code %d", i, code);
    }
}

Test(import, what_is_no_trace_is_refused_and_nothing_is_left)
{
    char *said;

    scratch_write("no.otf2", "OTF2 it is not");
    said = command_run(1, 60, EVENTSPACE, "import", scratch_file("no.otf2"),
                       "--output", scratch_file("run"), NULL);
    cr_expect(strstr(said, "no.otf2"), "%s", said);
    free(said);
    cr_expect_neq(access(scratch_file("run"), F_OK), 0);
    said = command_run(1, 60, EVENTSPACE, "import", scratch_file("absent.otf2"),
                       "--output", scratch_file("run"), NULL);
    cr_expect(strstr(said, "No such file"), "%s", said);
    free(said);
    /* A run that is there stays. */
    ring(NULL);
    json_decref(import());
    said = command_run(1, 60, EVENTSPACE, "import",
                       scratch_file("trace/trace.otf2"), "--output",
                       scratch_file("run"), NULL);
    cr_expect(strstr(said, "--replace"), "%s", said);
    free(said);
    free(command_run(0, 60, EVENTSPACE, "import",
                     scratch_file("trace/trace.otf2"), "--output",
                     scratch_file("run"), "--replace", NULL));
    check_path(0);
}
