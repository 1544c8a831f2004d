/* waiting_views_test.c - the views wait-states, delay-costs and efficiency of
 * runs made by hand, beside what was computed on paper, and of a run beside the
 * view waits-for. Programs of MPI: tests/viewer/import_waiting_test.c. */
#include <stdlib.h>
#include <string.h>

#include "pastset/request.h"
#include "pastset/status.h"
#include "scopes/views/view_waiting_internal.h"
#include "scopes/waiting/ideal_network_internal.h"
#include "tests/scopes/told.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/memory.h"
#include "tests/support/numbers.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define GSUM TEST_BINARY_DIR "/gsum"

TestSuite(waiting_views, .init = scratch_make, .fini = scratch_remove,
          .timeout = 300);

#define AT(from, to, id, who, number, what)                                    \
    {                                                                          \
        .start = (from), .end = (to), .collector = (id), .thread = (who),      \
        .sequence = (number), .bytes = 8, .operation = PASTSET_##what          \
    }

/* --- kinds --- */

static const char pipe_map[] =
    "digraph pipe { subgraph cluster_h {"
    " a [kind=thread, number=0]; b [kind=thread, number=1];"
    " ca [kind=collector, id=0]; cb [kind=collector, id=1];"
    " box [kind=element, type=\"i64\", capacity=1]; }"
    " a -> ca [as=put]; b -> cb [as=get]; ca -> box; cb -> box; }";

/* %s: the kind of a collective. */
static const char meeting_map[] =
    "digraph meeting { subgraph cluster_h {"
    " a [kind=thread, number=0]; b [kind=thread, number=1];"
    " ca [kind=collector, id=0]; cb [kind=collector, id=1];"
    " all [kind=%s];"
    " box [kind=element, type=\"i64\", policy=discard, capacity=4]; }"
    " a -> ca [as=meet]; b -> cb [as=meet];"
    " ca -> all; cb -> all; all -> box; }";

static void check_wait(const scopes_table *table, const char *kind,
                       const char *who, const char *whom, int64_t count,
                       int64_t total_ns)
{
    size_t row =
        table_row(table, "kind", kind, "thread", who, "for_thread", whom, NULL);

    cr_expect_eq(table_integer(table, row, "count"), count);
    cr_expect_eq(table_integer(table, row, "total_ns"), total_ns, "%s: %ld ns",
                 kind, (long)table_integer(table, row, "total_ns"));
}

Test(waiting_views, a_receive_waits_for_its_send_and_a_write_for_room)
{
    static const eventspace_trace events[] = {
        AT(1000, 5010, 1, 1, 1, OBSERVE), AT(5000, 5020, 0, 0, 1, WRITE),
        AT(6000, 6020, 0, 0, 2, WRITE),   AT(7000, 9050, 0, 0, 3, WRITE),
        AT(9000, 9060, 1, 1, 2, OBSERVE), AT(9100, 9160, 1, 1, 3, OBSERVE)};
    scopes_table *table;
    told t;

    told_made(&t, pipe_map, events, SIZE(events));
    table = told_view(&t, "wait-states");
    cr_assert_eq(scopes_table_rows(table), 2);
    check_wait(table, "late sender", "b", "a", 1, 4000);
    check_wait(table, "late receiver", "a", "b", 1, 2000);
    cr_expect_str_eq(table_text(table, 0, "call"), "get");
    cr_expect_str_eq(table_text(table, 0, "for_call"), "put");
    cr_expect_float_eq(table_real(table, 0, "waiting_share"), 4. / 6, 1e-9);
    scopes_table_destroy(table);
    t.view_input.each = true;
    t.view_input.threads = numbers("0");
    table = told_view(&t, "wait-states");
    cr_assert_eq(scopes_table_rows(table), 1);
    cr_expect_eq(table_integer(table, 0, "sequence"), 3);
    cr_expect_eq(table_integer(table, 0, "for_sequence"), 2);
    cr_expect_eq(table_integer(table, 0, "start_ns"), 7000);
    cr_expect_eq(table_integer(table, 0, "wait_ns"), 2000);
    scopes_table_destroy(table);
    told_end(&t);
}

/* The clocks say that it was over before the other one came. */
Test(waiting_views, no_wait_is_longer_than_its_operation)
{
    static const eventspace_trace events[] = {
        AT(1000, 3000, 0, 0, 1, EXCHANGE), AT(5000, 5100, 1, 1, 1, EXCHANGE)};
    char *map;
    scopes_table *table;
    told t;

    cr_assert_gt(asprintf(&map, meeting_map, "sum"), 0);
    told_made(&t, map, events, SIZE(events));
    table = told_view(&t, "wait-states");
    check_wait(table, "wait at N x N", "a", "b", 1, 2000);
    scopes_table_destroy(table);
    told_end(&t);
    free(map);
}

/* What a and b do in a collective of that kind, and what a's wait is called. */
static void check_kind(const char *wrapper, uint16_t a, uint16_t b,
                       const char *kind)
{
    eventspace_trace events[] = {AT(1000, 3100, 0, 0, 1, WRITE),
                                 AT(3000, 3200, 1, 1, 1, WRITE)};
    char *map;
    scopes_table *table;
    told t;

    events[0].operation = a;
    events[1].operation = b;
    cr_assert_gt(asprintf(&map, meeting_map, wrapper), 0);
    told_made(&t, map, events, SIZE(events));
    table = told_view(&t, "wait-states");
    cr_assert_eq(scopes_table_rows(table), 1);
    check_wait(table, kind, "a", "b", 1, 2000);
    scopes_table_destroy(table);
    told_end(&t);
    free(map);
}

Test(waiting_views, waits_in_collectives_are_called_by_what_both_do)
{
    check_kind("barrier", PASTSET_READ, PASTSET_READ, "wait at barrier");
    check_kind("sum", PASTSET_EXCHANGE, PASTSET_EXCHANGE, "wait at N x N");
    check_kind("sum", PASTSET_EXCHANGE, PASTSET_WRITE, "early reduce");
    check_kind("gather", PASTSET_EXCHANGE, PASTSET_WRITE, "early reduce");
    check_kind("sum", PASTSET_WRITE, PASTSET_EXCHANGE, "wait at N x N");
    check_kind("broadcast", PASTSET_READ_LAST, PASTSET_WRITE, "late broadcast");
    check_kind("scatter", PASTSET_READ_LAST, PASTSET_EXCHANGE,
               "late broadcast");
    check_kind("broadcast", PASTSET_WRITE, PASTSET_READ_LAST, "wait at N x N");
}

/* --- three who pass on a delay --- */

static const char chain_map[] =
    "digraph chain { subgraph cluster_h {"
    " a [kind=thread, number=0]; b [kind=thread, number=1];"
    " c [kind=thread, number=2]; bar [kind=barrier];"
    " a0 [kind=collector, id=0]; b0 [kind=collector, id=1];"
    " c0 [kind=collector, id=2]; a1 [kind=collector, id=3];"
    " b1 [kind=collector, id=4]; b2 [kind=collector, id=5];"
    " c2 [kind=collector, id=6];"
    " all [kind=element, type=\"i64\", policy=discard, capacity=4];"
    " one [kind=element, type=\"i64\"]; two [kind=element, type=\"i64\"]; }"
    " a -> a0 [as=all]; b -> b0 [as=all]; c -> c0 [as=all];"
    " a0 -> bar; b0 -> bar; c0 -> bar; bar -> all;"
    " a -> a1 [as=to_b]; a1 -> one; b -> b1 [as=from_a]; b1 -> one;"
    " b -> b2 [as=to_c]; b2 -> two; c -> c2 [as=from_b]; c2 -> two; }";

/* All meet. Then a computes until 5000, and only then writes to b, who has
 * waited for that since 1000, computes for 500 and writes to c, who has waited
 * since 1000, too. */
static const eventspace_trace chain[] = {
    AT(90, 100, 0, 0, 1, READ),       AT(0, 100, 1, 1, 1, READ),
    AT(0, 100, 2, 2, 1, READ),        AT(5000, 5010, 3, 0, 2, WRITE),
    AT(1000, 5020, 4, 1, 2, OBSERVE), AT(5520, 5530, 5, 1, 3, WRITE),
    AT(1000, 5540, 6, 2, 2, OBSERVE)};

static void check_cost(const scopes_table *table, const char *who,
                       const char *after, const char *before, int64_t direct_ns,
                       int64_t propagated_ns)
{
    size_t row =
        table_row(table, "thread", who, "after", after, "before", before, NULL);

    cr_expect_eq(table_integer(table, row, "direct_ns"), direct_ns, "%s: %ld",
                 who, (long)table_integer(table, row, "direct_ns"));
    cr_expect_eq(table_integer(table, row, "propagated_ns"), propagated_ns,
                 "%s: %ld", who,
                 (long)table_integer(table, row, "propagated_ns"));
    cr_expect_float_eq(table_real(table, row, "delays_share"),
                       (double)(direct_ns + propagated_ns) / 8700, 1e-9);
}

/* c waits 4520 for b, since the barrier was over at 90: of these, b has
 * computed 500 longer than c before it wrote, was 20 in its read without
 * waiting, and has waited 4000 for a. b itself waits 4000 for a, who has
 * computed so much longer. At the barrier, two wait 90 for a. */
Test(waiting_views, a_delay_is_traced_back_to_who_computed_longer)
{
    scopes_table *table;
    told t;

    told_made(&t, chain_map, chain, SIZE(chain));
    table = told_view(&t, "delay-costs");
    cr_assert_eq(scopes_table_rows(table), 4);
    check_cost(table, "a", "all", "to_b", 4000, 4000);
    check_cost(table, "b", "from_a", "to_c", 500, 0);
    check_cost(table, "a", "", "all", 180, 0);
    check_cost(table, "b", "", "from_a", 20, 0);
    cr_expect_str_eq(table_text(table, 0, "thread"), "a");
    cr_expect_str_eq(table_text(table, 0, "what"), "computing");
    scopes_table_destroy(table);
    t.view_input.each = true;
    table = told_view(&t, "delay-costs");
    cr_expect_eq(table_integer(table, 0, "start_ns"), 100);
    cr_expect_eq(table_integer(table, 0, "time_ns"), 4900);
    cr_expect_eq(table_integer(table, 0, "total_ns"), 8000);
    scopes_table_destroy(table);
    told_end(&t);
}

static const char news_map[] =
    "digraph news { subgraph cluster_h {"
    " r [kind=thread, number=0]; a [kind=thread, number=1];"
    " b [kind=thread, number=2];"
    " r0 [kind=collector, id=0]; a0 [kind=collector, id=1];"
    " b0 [kind=collector, id=2]; a1 [kind=collector, id=3];"
    " b1 [kind=collector, id=4]; news [kind=element, type=\"i64\","
    " policy=grow, rounds=true];"
    " one [kind=element, type=\"i64\"]; }"
    " r -> r0 [as=tell]; r0 -> news; a -> a0 [as=hear]; a0 -> news;"
    " b -> b0 [as=hear]; b0 -> news;"
    " a -> a1 [as=to_b]; a1 -> one; b -> b1 [as=from_a]; b1 -> one; }";

/* At 1000, a and b both go on by what r writes. Then a computes 500 before it
 * writes to b, who has computed 80 and waits 420. What they had waited for r
 * before, which was longer for a, is not why. */
Test(waiting_views, those_who_have_waited_for_one_write_were_level_then)
{
    static const eventspace_trace news[] = {
        AT(0, 10, 3, 1, 1, WRITE),         AT(0, 20, 4, 2, 1, OBSERVE),
        AT(1000, 1010, 0, 0, 1, WRITE),    AT(100, 1020, 1, 1, 2, READ_NEXT),
        AT(900, 1020, 2, 2, 2, READ_NEXT), AT(1520, 1530, 3, 1, 3, WRITE),
        AT(1100, 1540, 4, 2, 3, OBSERVE)};
    scopes_table *table;
    told t;

    told_made(&t, news_map, news, SIZE(news));
    table = told_view(&t, "delay-costs");
    cr_assert_eq(scopes_table_rows(table), 2);
    cr_expect_str_eq(table_text(table, 0, "thread"), "r");
    cr_expect_eq(table_integer(table, 0, "total_ns"), 1000);
    cr_expect_str_eq(table_text(table, 1, "thread"), "a");
    cr_expect_str_eq(table_text(table, 1, "before"), "to_b");
    cr_expect_eq(table_integer(table, 1, "direct_ns"), 420);
    scopes_table_destroy(table);
    told_end(&t);
}

/* Only the waiting of b is asked for. */
Test(waiting_views, the_costs_of_the_waiting_at_one_element_can_be_asked_for)
{
    scopes_table *table;
    told t;

    told_made(&t, chain_map, chain, SIZE(chain));
    t.view_input.of = "one";
    table = told_view(&t, "delay-costs");
    cr_assert_eq(scopes_table_rows(table), 1);
    cr_expect_str_eq(table_text(table, 0, "before"), "to_b");
    cr_expect_eq(table_integer(table, 0, "total_ns"), 4000);
    cr_expect_float_eq(table_real(table, 0, "delays_share"), 1, 1e-9);
    scopes_table_destroy(table);
    t.view_input.of = NULL;
    t.view_input.threads = numbers("1");
    table = told_view(&t, "delay-costs");
    cr_expect_eq(scopes_table_rows(table), 2);
    scopes_table_destroy(table);
    told_end(&t);
}

/* On an ideal network all leave the barrier at 90, a writes at 4990, b at
 * 5490, which is when c ends. They compute 4900, 1400 and 900. */
Test(waiting_views, efficiency_is_as_on_paper)
{
    scopes_table *table;
    told t;

    told_made(&t, chain_map, chain, SIZE(chain));
    table = told_view(&t, "efficiency");
    cr_assert_eq(scopes_table_rows(table), 1);
    cr_expect_eq(table_integer(table, 0, "threads"), 3);
    cr_expect_eq(table_integer(table, 0, "runtime_ns"), 5540);
    cr_expect_eq(table_integer(table, 0, "ideal_ns"), 5490);
    cr_expect_eq(table_integer(table, 0, "mean_useful_ns"), 2400);
    cr_expect_eq(table_integer(table, 0, "max_useful_ns"), 4900);
    cr_expect_float_eq(table_real(table, 0, "load_balance_share"), 2400. / 4900,
                       1e-9);
    cr_expect_float_eq(table_real(table, 0, "serialisation_share"),
                       4900. / 5490, 1e-9);
    cr_expect_float_eq(table_real(table, 0, "transfer_share"), 5490. / 5540,
                       1e-9);
    cr_expect_float_eq(table_real(table, 0, "communication_share"),
                       4900. / 5540, 1e-9);
    cr_expect_float_eq(table_real(table, 0, "parallel_share"), 2400. / 5540,
                       1e-9);
    scopes_table_destroy(table);
    told_end(&t);
}

/* Parts are of 277 ns. In the first, all leave the barrier 10 ns earlier; in
 * the last, b writes after 257 ns, for which c waits from its beginning. */
Test(waiting_views, parts_of_a_run_are_replayed_by_themselves)
{
    scopes_table *table;
    told t;

    told_made(&t, chain_map, chain, SIZE(chain));
    t.view_input.each = true;
    table = told_view(&t, "efficiency");
    cr_assert_eq(scopes_table_rows(table), 20);
    cr_expect_eq(table_integer(table, 0, "to_ns"), 277);
    cr_expect_eq(table_integer(table, 0, "ideal_ns"), 267);
    cr_expect_eq(table_integer(table, 0, "mean_useful_ns"), 177);
    cr_expect_eq(table_integer(table, 19, "from_ns"), 5263);
    cr_expect_eq(table_integer(table, 19, "ideal_ns"), 257);
    cr_expect_eq(table_integer(table, 19, "max_useful_ns"), 257);
    scopes_table_destroy(table);
    told_end(&t);
}

/* As if put 1 had waited for get 2, and get 1 for put 2. The first does not
 * wait, then: put 2 begins after 90, get 2 after 180. */
Test(waiting_views, a_replay_goes_on_where_two_need_each_other)
{
    static const eventspace_trace events[] = {
        AT(0, 10, 0, 0, 1, WRITE), AT(5, 15, 1, 1, 1, OBSERVE),
        AT(100, 110, 0, 0, 2, WRITE), AT(105, 315, 1, 1, 2, OBSERVE)};
    scopes__waiting *waiting;
    scopes__ideal *ideal;
    told t;

    told_made(&t, pipe_map, events, SIZE(events));
    check_status(scopes__view_waiting(&waiting, &t.view_input), 0);
    check_status(scopes__ideal_create(&ideal, waiting), 0);
    waiting->needs[scopes__waiting_find(waiting, 0, 1)] =
        scopes__waiting_find(waiting, 1, 2);
    waiting->needs[scopes__waiting_find(waiting, 1, 1)] =
        scopes__waiting_find(waiting, 0, 2);
    cr_expect_eq(scopes__ideal_time(ideal, 0, 315), 180);
    scopes__ideal_destroy(ideal);
    scopes__waiting_destroy(waiting);
    told_end(&t);
}

/* --- a run --- */

/* Of sums over several processes, all waits are those of the view waits-for:
 * that takes the end of an operation for nothing. */
static int64_t total_of(const scopes_table *table, const char *who,
                        const char *whom)
{
    int64_t ns = 0;

    for (size_t i = 0; i < scopes_table_rows(table); i++) {
        if (strcmp(table_text(table, i, "thread"), who) == 0 &&
            strcmp(table_text(table, i, "for_thread"), whom) == 0)
            ns += table_integer(table, i, "total_ns");
    }
    return ns;
}

Test(waiting_views, of_a_run_are_those_of_waits_for)
{
    char *directory = strdup(scratch_file("RUN"));
    char *map = strdup(scratch_file("map.dot"));
    char *line;
    scopes_table *states, *waits;
    told t;

    cr_assert_gt(asprintf(&line,
                          GSUM " mapping --threads=5 | " EVENTSPACE
                               " map generate -a - --processes=3 | " EVENTSPACE
                               " map instrument - --collectors=all -o %s",
                          map),
                 0);
    free(command_run(0, 60, "/bin/sh", "-c", line, NULL));
    free(command_run(0, 60, EVENTSPACE, "run", map, "--output", directory, "--",
                     GSUM, "run", "--rounds=500", NULL));
    told_run(&t, directory);
    states = told_view(&t, "wait-states");
    waits = told_view(&t, "waits-for");
    cr_assert_gt(scopes_table_rows(states), 2);
    for (size_t i = 0; i < scopes_table_rows(waits); i++) {
        const char *who = table_text(waits, i, "thread");
        const char *whom = table_text(waits, i, "for_thread");
        cr_expect_eq(total_of(states, who, whom), total_of(waits, who, whom));
    }
    scopes_table_destroy(states);
    scopes_table_destroy(waits);
    told_end(&t);
    free(line);
    free(map);
    free(directory);
}

/* --- when there is no memory --- */

static told without;
static scopes_table *table_made;

static int view_make(void *name)
{
    return scopes_view_make(&table_made, scopes_view_find(name),
                            &without.view_input);
}

Test(waiting_views, without_memory_there_is_no_view)
{
    char names[][20] = {"wait-states", "delay-costs", "efficiency"};

    told_made(&without, chain_map, chain, SIZE(chain));
    for (size_t i = 0; i < SIZE(names); i++) {
        int err;
        for (unsigned at = 1; memory_fails_at(at, view_make, names[i], &err);
             at++) {
            check_status(err, PASTSET_ENOMEM);
            cr_assert_null(table_made);
        }
        check_status(err, 0);
        cr_expect_gt(scopes_table_rows(table_made), 0);
        scopes_table_destroy(table_made);
        table_made = NULL;
    }
    told_end(&without);
}
