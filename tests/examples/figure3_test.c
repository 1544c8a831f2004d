/* figure3_test.c - figure 3 of paper 004, run: each collector has the events
 * that the paper tells of, and no others. */
#include <stdio.h>
#include <stdlib.h>

#include "eventspace/run/run.h"
#include "pastset/request.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define PROGRAM TEST_BINARY_DIR "/figure3"
#define MAP TEST_SOURCE_DIR "/../examples/figure3/figure3.dot"

#define ROUNDS 500
#define COLLECTORS 10
#define CAPACITY 4 /* of element 2 */

/* ec[1] to ec[10]: what each collector has seen, in the order of its starts. */
static eventspace_trace ec[COLLECTORS + 1][ROUNDS];
static uint32_t counts[COLLECTORS + 1];
static eventspace_run *run;

static int take(const eventspace_trace *event, void *context)
{
    uint32_t id = event->collector;

    (void)context;
    cr_assert(id >= 1 && id <= COLLECTORS, "an event of collector %u", id);
    cr_assert_lt(counts[id], ROUNDS, "EC%u: more than %d events", id, ROUNDS);
    ec[id][counts[id]++] = *event;
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const eventspace_trace *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static void run_make(void)
{
    char rounds[16];

    scratch_make();
    snprintf(rounds, sizeof(rounds), "%d", ROUNDS);
    free(command_run(0, 60, EVENTSPACE, "run", MAP, "--output",
                     scratch_file("run"), "--", PROGRAM, rounds, NULL));
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    for (size_t i = 0; i < eventspace_run_process_count(run); i++)
        check_status(eventspace_run_each(run, i, take, NULL), 0);
    for (uint32_t id = 1; id <= COLLECTORS; id++)
        qsort(ec[id], counts[id], sizeof(ec[id][0]), by_start);
}

static void run_remove(void)
{
    eventspace_run_close(run);
    scratch_remove();
}

TestSuite(figure3, .timeout = 600, .init = run_make, .fini = run_remove);

static bool same(const eventspace_trace *a, const eventspace_trace *b)
{
    return a->thread == b->thread && a->sequence == b->sequence;
}

/* The one of two ways on which the operation at `below` came. */
static const eventspace_trace *representative(const eventspace_trace *below,
                                              const eventspace_trace *one,
                                              const eventspace_trace *other)
{
    cr_assert(same(below, one) || same(below, other),
              "EC%u: operation %u of thread %u came neither by EC%u nor by "
              "EC%u",
              below->collector, below->sequence, below->thread, one->collector,
              other->collector);
    return same(below, one) ? one : other;
}

/* --- which events there are --- */

Test(figure3, every_collector_has_one_event_for_each_round)
{
    eventspace_events all;

    for (uint32_t id = 1; id <= COLLECTORS; id++)
        cr_expect_eq(counts[id], ROUNDS, "EC%u: %u events", id, counts[id]);
    for (size_t process = 0; process < 2;
         process++) { /* five of them on each */
        check_status(eventspace_run_events(run, process, &all), 0);
        cr_expect_eq(all.recorded, 5 * ROUNDS);
        cr_expect_eq(all.present, 5 * ROUNDS);
        cr_expect_eq(all.lost, 0);
    }
}

Test(figure3, an_event_tells_what_the_thread_did_and_that_it_went_well)
{
    for (uint32_t id = 1; id <= COLLECTORS; id++) {
        pastset_verb verb = id == 5   ? PASTSET_WRITE
                            : id == 6 ? PASTSET_OBSERVE
                                      : PASTSET_EXCHANGE;
        for (int r = 0; r < ROUNDS; r++) {
            const eventspace_trace *e = &ec[id][r];
            cr_assert_eq(e->operation, verb, "EC%u: a %s", id,
                         pastset_verb_name(e->operation));
            cr_assert_eq(e->status, 0);
            cr_assert_eq(e->bytes, sizeof(int64_t));
            cr_assert_leq(e->start, e->end);
        }
    }
}

/* Thread 4 writes to element 2 after each sum. */
Test(figure3, at_the_top_each_thread_has_its_operations_in_their_order)
{
    for (uint32_t r = 0; r < ROUNDS; r++) {
        for (uint32_t id = 1; id <= 4; id++) {
            cr_assert_eq(ec[id][r].thread, id - 1);
            cr_assert_eq(ec[id][r].sequence, id == 4 ? 2 * r + 1 : r + 1);
        }
        cr_assert_eq(ec[5][r].thread, 3);
        cr_assert_eq(ec[5][r].sequence, 2 * r + 2);
        cr_assert_eq(ec[6][r].thread, 4);
        cr_assert_eq(ec[6][r].sequence, r + 1);
    }
}

Test(figure3, below_a_partial_sum_one_operation_goes_on_for_all)
{
    for (int r = 0; r < ROUNDS; r++) {
        representative(&ec[7][r], &ec[1][r], &ec[2][r]);
        representative(&ec[9][r], &ec[3][r], &ec[4][r]);
        cr_assert(same(&ec[8][r], &ec[9][r]), "the proxy changed it");
        representative(&ec[10][r], &ec[7][r], &ec[8][r]);
    }
}

/* Its start does not tell that exactly: a thread may lose its processor
 * between the stamp and its arrival. */
Test(figure3, the_one_that_came_last_goes_on)
{
    int others = 0;

    for (int r = 0; r < ROUNDS; r++) {
        const eventspace_trace *one = &ec[7][r], *other = &ec[8][r];
        const eventspace_trace *late = one->start > other->start ? one : other;
        others += representative(&ec[10][r], one, other) != late;
    }
    cr_assert_leq(others, ROUNDS / 100, "in %d of %d rounds another one",
                  others, ROUNDS);
}

/* --- their times --- */

/* All that comes by `top` is there before `below` starts, and goes on after
 * that ended. Both are of one process. */
static void check_within(int r, uint32_t below, uint32_t top)
{
    cr_assert_leq(ec[top][r].start, ec[below][r].start,
                  "round %d: EC%u started %lu ticks before EC%u", r, below,
                  (unsigned long)(ec[top][r].start - ec[below][r].start), top);
    cr_assert_leq(ec[below][r].end, ec[top][r].end,
                  "round %d: EC%u ended %lu ticks after EC%u", r, below,
                  (unsigned long)(ec[below][r].end - ec[top][r].end), top);
}

Test(figure3, the_times_of_a_process_lie_within_each_other)
{
    for (int r = 0; r < ROUNDS; r++) {
        check_within(r, 10, 7);
        check_within(r, 10, 8);
        check_within(r, 7, 1);
        check_within(r, 7, 2);
        check_within(r, 9, 3);
        check_within(r, 9, 4);
    }
}

/* The processes are on one machine, and count the same ticks. */
Test(figure3, a_remote_operation_costs_more_than_what_is_behind_the_network)
{
    for (int r = 0; r < ROUNDS; r++) {
        uint64_t here = ec[9][r].end - ec[9][r].start;
        uint64_t there = ec[8][r].end - ec[8][r].start;
        cr_assert_gt(here, there);
    }
}

Test(figure3, element_2_is_read_after_it_was_written)
{
    for (int r = 0; r < ROUNDS; r++) {
        cr_assert_geq(ec[6][r].end, ec[5][r].start);
        if (r + CAPACITY < ROUNDS) /* it waited until there was room */
            cr_assert_geq(ec[5][r + CAPACITY].end, ec[6][r].start);
    }
}

Test(figure3, an_operation_of_thread_1_leaves_six_times_at_most)
{
    for (int r = 0; r < ROUNDS; r++) {
        int seen = 0;
        for (uint32_t id = 1; id <= COLLECTORS; id++)
            seen += same(&ec[id][r], &ec[1][r]);
        cr_assert_eq(seen, 1 + same(&ec[7][r], &ec[1][r]) +
                               same(&ec[10][r], &ec[1][r]));
        cr_assert_leq(seen, 3);
    }
}

/* --- the map --- */

Test(figure3, its_map_is_drawn_without_a_complaint)
{
    char *said = command_run(0, 30, EVENTSPACE, "map", "check", MAP, NULL);

    cr_expect_str_eq(said, "");
    free(said);
    free(command_run(0, 30, EVENTSPACE, "map", "draw", MAP, "-o",
                     scratch_file("map.svg"), NULL));
}
