/* waits_for_test.c - who waits for whom, on runs made by hand, and on a run of
 * figure 3 beside what its raw tuples say. */
#include <stdlib.h>
#include <string.h>

#include "pastset/request.h"
#include "tests/scopes/told.h"
#include "tests/scopes/views/two_rounds.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"
#include "tests/support/numbers.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define FIGURE3 TEST_BINARY_DIR "/figure3"
#define FIGURE3_MAP TEST_SOURCE_DIR "/../examples/figure3/figure3.dot"

TestSuite(waits_for, .init = scratch_make, .fini = scratch_remove,
          .timeout = 300);
TestSuite(delays, .init = scratch_make, .fini = scratch_remove, .timeout = 60);

#define W PASTSET_WRITE
#define O PASTSET_OBSERVE

/* Two that write into a small element, one that reads from it. */
static const char pipe_map[] =
    "digraph pipe { subgraph cluster_h {"
    " a [kind=thread, number=0]; b [kind=thread, number=1];"
    " r [kind=thread, number=2];"
    " ca [kind=collector, id=0]; cb [kind=collector, id=1];"
    " cr [kind=collector, id=2];"
    " box [kind=element, type=\"i64\", capacity=2]; }"
    " a -> ca [as=box]; b -> cb [as=box]; r -> cr [as=box];"
    " ca -> box; cb -> box; cr -> box; }";

/* One operation at the collector of its thread. */
#define AT(from, to, who, number, what)                                        \
    {                                                                          \
        .start = (from), .end = (to), .collector = (who), .thread = (who),     \
        .sequence = (number), .bytes = 8, .operation = (what)                  \
    }

static void check_row(const scopes_table *table, const char *who,
                      const char *whom, int64_t count, int64_t total_ns)
{
    size_t row = table_row(table, "thread", who, "for_thread", whom, NULL);

    cr_expect_eq(table_integer(table, row, "count"), count,
                 "%s for %s: %ld times", who, whom,
                 (long)table_integer(table, row, "count"));
    cr_expect_eq(table_integer(table, row, "total_ns"), total_ns,
                 "%s for %s: %ld ns", who, whom,
                 (long)table_integer(table, row, "total_ns"));
}

/* Of these events there is one wait, and nothing else. */
static void check_only(const eventspace_trace *events, size_t count,
                       const char *who, const char *whom, int64_t times,
                       int64_t total_ns)
{
    told t;
    scopes_table *table;

    told_made(&t, pipe_map, events, count);
    table = told_view(&t, "waits-for");
    cr_assert_eq(scopes_table_rows(table), 1);
    check_row(table, who, whom, times, total_ns);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(waits_for, a_read_waits_for_the_one_who_writes)
{
    static const eventspace_trace events[] = {
        AT(1000, 5010, 2, 1, O),
        AT(5000, 5020, 0, 1, W),
        AT(6000, 9010, 2, 2, O),
        AT(9000, 9020, 1, 1, W),
    };
    told t;
    scopes_table *table;

    told_made(&t, pipe_map, events, SIZE(events));
    table = told_view(&t, "waits-for");
    cr_assert_eq(scopes_table_rows(table), 2);
    check_row(table, "r", "a", 1, 4000);
    check_row(table, "r", "b", 1, 3000);
    cr_expect_float_eq(table_real(table, 0, "waiting_share"), 4000. / 7020.,
                       1e-9);
    cr_expect_str_eq(table_text(table, 0, "over"), "box");
    cr_expect_str_eq(table_text(table, 0, "for_process"), "h");
    scopes_table_destroy(table);
    told_end(&t);
}

/* Something is written in the midst of it, but that is for the next read. */
Test(waits_for, a_read_that_finds_its_tuple_waits_for_nobody)
{
    static const eventspace_trace events[] = {
        AT(1000, 1100, 0, 1, W),
        AT(2000, 2500, 2, 1, O),
        AT(2200, 2300, 1, 1, W),
        AT(3000, 3100, 2, 2, O),
    };
    told t;
    scopes_table *table;

    told_made(&t, pipe_map, events, SIZE(events));
    table = told_view(&t, "waits-for");
    cr_expect_eq(scopes_table_rows(table), 0);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(waits_for, a_write_into_a_full_element_waits_for_the_one_who_takes)
{
    static const eventspace_trace events[] = {
        AT(1000, 1100, 0, 1, W), AT(2000, 2100, 0, 2, W),
        AT(3000, 7050, 0, 3, W), /* the third into room for two */
        AT(7000, 7100, 2, 1, O), AT(8000, 8100, 2, 2, O),
        AT(9000, 9100, 2, 3, O),
    };

    check_only(events, SIZE(events), "a", "r", 1, 4000);
}

/* The write that the last read took was done, but the process was killed before
 * there was an event of it. The second read, in the midst of which something is
 * written, found what was there before. */
Test(waits_for, what_was_cut_off_at_the_end_changes_nothing_before_it)
{
    static const eventspace_trace events[] = {
        AT(1000, 5010, 2, 1, O), AT(5000, 5020, 0, 1, W),
        AT(6000, 6100, 0, 2, W), AT(6150, 6250, 2, 2, O),
        AT(6200, 6300, 1, 1, W), AT(7000, 7100, 2, 3, O),
        AT(8000, 8100, 2, 4, O),
    };

    check_only(events, SIZE(events), "r", "a", 1, 4000);
}

/* The first write is not there, so numbers do not tell; the time does. */
Test(waits_for, where_tuples_are_missing_the_last_write_within_a_read_tells)
{
    static const eventspace_trace events[] = {
        AT(1000, 1100, 2, 1, O), /* of the write that is missing */
        AT(2000, 5010, 2, 2, O),
        AT(4000, 4020, 1, 1, W),
        AT(5000, 5020, 0, 2, W),
    };

    check_only(events, SIZE(events), "r", "a", 1, 3000);
}

/* Numbers do not tell here either. The write by which the second read went on
 * comes back late, when the third read has begun; but that one waits for longer
 * than the write took, and has made no room for it. */
Test(waits_for, a_write_is_not_held_by_a_read_that_was_held_for_longer)
{
    static const eventspace_trace events[] = {
        AT(1000, 1100, 2, 1, O), /* of a write that is missing */
        AT(2000, 5010, 2, 2, O), AT(5000, 7000, 0, 1, W),
        AT(6000, 8010, 2, 3, O), AT(8000, 8020, 1, 1, W),
    };
    told t;
    scopes_table *table;

    told_made(&t, pipe_map, events, SIZE(events));
    table = told_view(&t, "waits-for");
    cr_assert_eq(scopes_table_rows(table), 2);
    check_row(table, "r", "a", 1, 3000);
    check_row(table, "r", "b", 1, 2000);
    scopes_table_destroy(table);
    told_end(&t);
}

/* A read that ended while the write was still held has not got its tuple: two
 * never wait for each other. */
Test(waits_for, a_read_is_not_released_by_a_write_that_was_held_beyond_its_end)
{
    static const eventspace_trace events[] = {
        AT(1000, 1100, 2, 1, O), /* of a write that is missing */
        AT(2000, 5010, 2, 2, O),
        AT(5000, 7000, 0, 1, W),
        AT(6000, 6100, 2, 3, O),
    };

    check_only(events, SIZE(events), "a", "r", 1, 1000);
}

Test(waits_for, a_failed_operation_releases_nobody)
{
    eventspace_trace events[] = {
        AT(1000, 5010, 2, 1, O),
        AT(2000, 2100, 1, 1, W),
        AT(5000, 5020, 0, 1, W),
    };

    events[1].status = 7;
    check_only(events, SIZE(events), "r", "a", 1, 4000);
}

Test(waits_for, a_read_that_takes_nothing_waits_for_a_write_within_it)
{
    static const eventspace_trace events[] = {
        AT(1000, 5010, 2, 1, PASTSET_READ_NEXT),
        AT(5000, 5020, 0, 1, W),
        AT(6000, 6010, 2, 2, PASTSET_READ_LAST),
    };
    told t;
    scopes_table *table;

    told_made(&t, pipe_map, events, SIZE(events));
    t.view_input.each = true;
    table = told_view(&t, "waits-for");
    cr_assert_eq(scopes_table_rows(table), 1);
    cr_expect_eq(table_integer(table, 0, "sequence"), 1);
    cr_expect_eq(table_integer(table, 0, "start_ns"), 1000);
    cr_expect_eq(table_integer(table, 0, "wait_ns"), 4000);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(waits_for, in_a_collective_all_wait_for_the_last_one)
{
    told t;
    scopes_table *table;

    told_made(&t, sum_map, two_rounds, SIZE(two_rounds));
    table = told_view(&t, "waits-for");
    cr_assert_eq(scopes_table_rows(table), 4);
    check_row(table, "b", "a", 1, 4000);
    check_row(table, "c", "a", 1, 3000);
    check_row(table, "a", "c", 1, 4000);
    check_row(table, "b", "c", 1, 3000);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(waits_for, whoever_comes_at_the_same_time_does_not_wait)
{
    eventspace_trace tied[SIZE(two_rounds)];
    told t;
    scopes_table *table;

    memcpy(tied, two_rounds, sizeof(tied));
    tied[0].start = tied[2].start; /* b, with a, of the first round */
    told_made(&t, sum_map, tied, SIZE(tied));
    table = told_view(&t, "waits-for");
    cr_assert_eq(scopes_table_rows(table), 3);
    check_row(table, "c", "a", 1, 3000);
    check_row(table, "a", "c", 1, 4000);
    check_row(table, "b", "c", 1, 3000);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(waits_for, one_thread_and_one_element_can_be_asked_for)
{
    told t;
    scopes_table *table;

    told_made(&t, sum_map, two_rounds, SIZE(two_rounds));
    t.view_input.threads = numbers("1");
    table = told_view(&t, "waits-for");
    cr_assert_eq(scopes_table_rows(table), 2);
    check_row(table, "b", "a", 1, 4000);
    scopes_table_destroy(table);
    t.view_input.threads = numbers("0,1");
    table = told_view(&t, "waits-for");
    cr_assert_gt(scopes_table_rows(table), 2);
    check_row(table, "b", "a", 1, 4000);
    scopes_table_destroy(table);
    t.view_input.threads = numbers("1");
    t.view_input.of = "part";
    table = told_view(&t, "waits-for");
    cr_assert_eq(scopes_table_rows(table), 0);
    scopes_table_destroy(table);
    told_end(&t);
}

/* --- the view delays --- */

static void check_delay(const scopes_table *table, size_t row, const char *who,
                        int64_t total_ns, double share, int64_t threads,
                        const char *longest)
{
    cr_expect_str_eq(table_text(table, row, "thread"), who);
    cr_expect_eq(table_integer(table, row, "total_ns"), total_ns, "%ld ns",
                 (long)table_integer(table, row, "total_ns"));
    cr_expect_float_eq(table_real(table, row, "delays_share"), share, 1e-9);
    cr_expect_eq(table_integer(table, row, "threads"), threads);
    cr_expect_str_eq(table_text(table, row, "over"), "box");
    cr_expect_str_eq(table_text(table, row, "longest_thread"), longest);
}

/* r waits 1000 for a and 3000 for b, and then a 6000 for r. */
static const eventspace_trace three_waits[] = {
    AT(1000, 2010, 2, 1, O),   AT(2000, 2020, 0, 1, W),
    AT(6000, 9010, 2, 2, O),   AT(9000, 9020, 1, 1, W),
    AT(10000, 10100, 0, 2, W), AT(11000, 11100, 1, 2, W),
    AT(13000, 19050, 0, 3, W), AT(19000, 19100, 2, 3, O),
    AT(19200, 19300, 2, 4, O), AT(19400, 19500, 2, 5, O),
};

Test(delays, are_the_sums_of_who_was_waited_for_largest_first)
{
    told t;
    scopes_table *table;

    told_made(&t, pipe_map, three_waits, SIZE(three_waits));
    table = told_view(&t, "delays");
    cr_assert_eq(scopes_table_rows(table), 3);
    check_delay(table, 0, "r", 6000, 0.6, 1, "a");
    check_delay(table, 1, "b", 3000, 0.3, 1, "r");
    check_delay(table, 2, "a", 1000, 0.1, 1, "r");
    scopes_table_destroy(table);
    t.view_input.threads = numbers("1");
    table = told_view(&t, "delays");
    cr_assert_eq(scopes_table_rows(table), 1);
    check_delay(table, 0, "b", 3000, 0.3, 1, "r");
    scopes_table_destroy(table);
    told_end(&t);
}

Test(delays, have_a_row_for_each_two_threads_in_detail)
{
    told t;
    scopes_table *table;

    told_made(&t, sum_map, two_rounds, SIZE(two_rounds));
    table = told_view(&t, "delays");
    cr_assert_eq(scopes_table_rows(table), 2);
    cr_expect_eq(table_integer(table, 0, "total_ns"), 7000);
    cr_expect_eq(table_integer(table, 0, "threads"), 2);
    scopes_table_destroy(table);
    t.view_input.each = true;
    table = told_view(&t, "delays");
    cr_assert_eq(scopes_table_rows(table), 4);
    cr_expect_eq(table_integer(table, 0, "total_ns"), 4000);
    cr_expect_eq(table_integer(table,
                               table_row(table, "thread", "a", "delayed_thread",
                                         "c", NULL),
                               "total_ns"),
                 3000);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(delays, are_none_where_nobody_waited)
{
    static const eventspace_trace events[] = {AT(1000, 1100, 0, 1, W),
                                              AT(2000, 2500, 2, 1, O)};
    told t;
    scopes_table *table;

    told_made(&t, pipe_map, events, SIZE(events));
    table = told_view(&t, "delays");
    cr_expect_eq(scopes_table_rows(table), 0);
    scopes_table_destroy(table);
    told_end(&t);
}

/* --- figure 3, run --- */

#define ROUNDS 200

static eventspace_trace ec[11][ROUNDS];
static uint32_t counts[11];

static int take(const eventspace_trace *event, void *context)
{
    (void)context;
    cr_assert(event->collector <= 10 && counts[event->collector] < ROUNDS);
    ec[event->collector][counts[event->collector]++] = *event;
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const eventspace_trace *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static int64_t time_of(const told *t, int id, const eventspace_trace *event)
{
    return scopes_clocks_ns(t->clocks, id <= 2 || id >= 7 ? (id == 9) : 1,
                            event->start);
}

/* From the raw tuples: thread `number` (from 1) waits for another over one. */
static int64_t expected(const told *t, int number, int other, int64_t *count)
{
    int64_t sum = 0;

    *count = 0;
    for (int r = 0; r < ROUNDS; r++) {
        int last = (int)ec[10][r].thread + 1;
        int64_t wait = time_of(t, other, &ec[other][r]) -
                       time_of(t, number, &ec[number][r]);
        if (last != other || number == other || wait <= 0)
            continue;
        ++*count;
        sum += wait;
    }
    return sum;
}

static void check_thread5(const told *t, const scopes_table *table)
{
    int64_t sum = 0, count = 0;
    size_t row;

    for (int r = 0; r < ROUNDS; r++) {
        int64_t wait = time_of(t, 5, &ec[5][r]) - time_of(t, 6, &ec[6][r]);
        if (wait <= 0)
            continue;
        count++;
        sum += wait;
    }
    row = table_row(table, "thread", "thread5", "for_thread", "thread4", NULL);
    cr_expect_eq(table_integer(table, row, "count"), count);
    cr_expect_eq(table_integer(table, row, "total_ns"), sum);
}

Test(waits_for, of_figure_3_it_tells_what_the_raw_tuples_say)
{
    told t;
    scopes_table *table;

    free(command_run(0, 60, EVENTSPACE, "run", FIGURE3_MAP, "--output",
                     scratch_file("run"), "--", FIGURE3, "200", NULL));
    told_run(&t, scratch_file("run"));
    for (size_t i = 0; i < 2; i++)
        check_status(eventspace_run_each(t.run, i, take, NULL), 0);
    for (int id = 1; id <= 10; id++) {
        cr_assert_eq(counts[id], ROUNDS);
        qsort(ec[id], ROUNDS, sizeof(ec[id][0]), by_start);
    }
    table = told_view(&t, "waits-for");
    for (int i = 1; i <= 4; i++) {
        for (int k = 1; k <= 4; k++) {
            char own[16], other[16];
            int64_t count, sum = expected(&t, i, k, &count);
            snprintf(own, sizeof(own), "thread%d", i);
            snprintf(other, sizeof(other), "thread%d", k);
            if (count)
                check_row(table, own, other, count, sum);
            else
                cr_expect_eq(table_count(table, "thread", own, "for_thread",
                                         other, NULL),
                             0);
        }
    }
    check_thread5(&t, table);
    scopes_table_destroy(table);
    told_end(&t);
}

/* Each operation waits for less than it takes, and only where it is seen. */
Test(waits_for, is_no_longer_than_the_operation_where_tuples_are_missing)
{
    free(command_run(0, 60, EVENTSPACE, "run", FIGURE3_MAP, "--output",
                     scratch_file("run"), "--", FIGURE3, "200", NULL));
    for (unsigned seed = 0; seed < 20; seed++) {
        told t;
        scopes_table *table;
        told_run(&t, scratch_file("run"));
        told_lose(&t, 1 + 4 * seed, seed);
        table = told_view(&t, "waits-for");
        for (size_t row = 0; row < scopes_table_rows(table); row++)
            cr_expect_leq(table_real(table, row, "waiting_share"), 1);
        scopes_table_destroy(table);
        told_end(&t);
    }
}
