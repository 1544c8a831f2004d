/* rounds_test.c - rounds of collectives, against a truth that was made up.
 *
 * Rounds are made at random: when each thread comes, who is last, when the
 * result is there, when each thread wakes up; each process with a clock of its
 * own. Then events are lost at random, and every assignment must be true. */
#include <stdlib.h>

#include "scopes/causality/rounds.h"
#include "tests/support/check.h"
#include "scopes/reading/reading_internal.h"

#define ROUNDS 300
#define INPUTS 4
#define BELOW INPUTS /* the collector below, in what follows */
#define CAPACITY ((INPUTS + 1) * ROUNDS)

/* An event and the round it is of. */
typedef struct truth {
    eventspace_trace event;
    uint32_t round;
} truth;

static paths_map *map;
static scopes_topology *topology;
static scopes_event_table *event_table;
static scopes_rounds *rounds;
static truth all[CAPACITY], kept[CAPACITY];
static size_t all_count, kept_count;
static uint32_t last_of[ROUNDS]; /* input */
static uint64_t seed;

static void clean(void)
{
    scopes_rounds_destroy(rounds);
    scopes_event_table_destroy(event_table);
    scopes_topology_destroy(topology);
    paths_map_destroy(map);
}

TestSuite(rounds, .timeout = 300, .fini = clean);

/* --- maps: threads 0 to 3 with collectors 0 to 3, and 4 below --- */

/* All on one process. */
static const char near_map[] =
    "digraph near { subgraph cluster_a {"
    "  t0 [kind=thread, number=0]; t1 [kind=thread, number=1];"
    "  t2 [kind=thread, number=2]; t3 [kind=thread, number=3];"
    "  c0 [kind=collector, id=0]; c1 [kind=collector, id=1];"
    "  c2 [kind=collector, id=2]; c3 [kind=collector, id=3];"
    "  s [kind=sum]; c4 [kind=collector, id=4];"
    "  x [kind=element, type=i64, policy=discard]; }"
    "  t0 -> c0; t1 -> c1; t2 -> c2; t3 -> c3;"
    "  c0 -> s; c1 -> s; c2 -> s; c3 -> s; s -> c4; c4 -> x; }";

/* Threads 2 and 3 come from another process, which has the only collectors on
 * their way. */
static const char far_map[] =
    "digraph far { subgraph cluster_a {"
    "  t0 [kind=thread, number=0]; t1 [kind=thread, number=1];"
    "  c0 [kind=collector, id=0]; c1 [kind=collector, id=1];"
    "  s [kind=sum]; c4 [kind=collector, id=4];"
    "  x [kind=element, type=i64, policy=discard]; }"
    "  subgraph cluster_b {"
    "  t2 [kind=thread, number=2]; t3 [kind=thread, number=3];"
    "  c2 [kind=collector, id=2]; c3 [kind=collector, id=3];"
    "  p2 [kind=proxy]; p3 [kind=proxy]; }"
    "  t0 -> c0; t1 -> c1; t2 -> c2; t3 -> c3; c0 -> s; c1 -> s;"
    "  c2 -> p2; p2 -> s; c3 -> p3; p3 -> s; s -> c4; c4 -> x; }";

/* The collector below is on another process. */
static const char away_map[] =
    "digraph away { subgraph cluster_a {"
    "  t0 [kind=thread, number=0]; t1 [kind=thread, number=1];"
    "  t2 [kind=thread, number=2]; t3 [kind=thread, number=3];"
    "  c0 [kind=collector, id=0]; c1 [kind=collector, id=1];"
    "  c2 [kind=collector, id=2]; c3 [kind=collector, id=3];"
    "  s [kind=sum]; p [kind=proxy]; }"
    "  subgraph cluster_b { c4 [kind=collector, id=4];"
    "  x [kind=element, type=i64, policy=discard]; }"
    "  t0 -> c0; t1 -> c1; t2 -> c2; t3 -> c3;"
    "  c0 -> s; c1 -> s; c2 -> s; c3 -> s; s -> p; p -> c4; c4 -> x; }";

/* Nothing below, and two processes. */
static const char bare_map[] =
    "digraph bare { subgraph cluster_a {"
    "  t0 [kind=thread, number=0]; t1 [kind=thread, number=1];"
    "  t2 [kind=thread, number=2];"
    "  c0 [kind=collector, id=0]; c1 [kind=collector, id=1];"
    "  c2 [kind=collector, id=2]; s [kind=sum];"
    "  x [kind=element, type=i64, policy=discard]; }"
    "  subgraph cluster_b { t3 [kind=thread, number=3];"
    "  c3 [kind=collector, id=3]; p3 [kind=proxy]; }"
    "  t0 -> c0; t1 -> c1; t2 -> c2; t3 -> c3; c3 -> p3; p3 -> s;"
    "  c0 -> s; c1 -> s; c2 -> s; s -> x; }";

static void map_make(const char *text)
{
    check_status(paths_map_parse(&map, text, strlen(text), "test.dot"), 0);
    check_status(scopes_topology_create(&topology, map), 0);
    cr_assert_eq(topology->site_count, 1);
}

/* --- the truth --- */

static uint64_t chance(uint64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % below;
}

/* The input of a collector; BELOW for the one below. */
static uint32_t input_of(uint32_t collector)
{
    const scopes_ids *inputs = &topology->sites[0].inputs;

    for (uint32_t i = 0; i < inputs->count; i++) {
        if (inputs->ids[i] == collector)
            return i;
    }
    return BELOW;
}

static uint32_t process_of(uint32_t collector)
{
    return map->nodes[topology->nodes[collector]].process;
}

/* Each process counts from another moment. */
static void note(uint32_t collector, uint32_t thread, uint32_t sequence,
                 uint32_t round, uint64_t start, uint64_t end)
{
    uint64_t offset = process_of(collector) ? 900000000u : 1000u;

    all[all_count++] = (truth){
        {start + offset, end + offset, collector, thread, sequence, 8, 9, 0},
        round};
}

static int by_end(const void *a, const void *b)
{
    const truth *x = a, *y = b;
    return (x->event.end > y->event.end) - (x->event.end < y->event.end);
}

/* Threads do other operations in between, so that sequences have gaps. */
static void truth_make(void)
{
    uint64_t free_at[INPUTS] = {0};
    uint32_t sequence[INPUTS] = {0};
    bool below = topology->sites[0].lower != PATHS_NONE;

    all_count = 0;
    for (uint32_t r = 0; r < ROUNDS; r++) {
        uint64_t come[INPUTS], down = 0, up;
        uint32_t last = 0;
        for (uint32_t t = 0; t < INPUTS; t++) {
            come[t] = free_at[t] + 1 + chance(chance(4) ? 20 : 400);
            sequence[t] += 1 + (uint32_t)chance(3);
            if (come[t] > down)
                down = come[t], last = t;
        }
        down += 1 + chance(10);
        up = down + 1 + chance(30);
        last_of[r] = input_of(last);
        if (below)
            note(4, last, sequence[last], r, down, up);
        for (uint32_t t = 0; t < INPUTS; t++) {
            free_at[t] = up + 1 + chance(chance(4) ? 20 : 400);
            note(t, t, sequence[t], r, come[t], free_at[t]);
        }
    }
    qsort(all, all_count, sizeof(*all), by_end);
}

/* --- what is kept of it --- */

static void event_table_make(scopes_ledger ledger)
{
    static eventspace_trace events[CAPACITY];

    for (size_t i = 0; i < kept_count; i++)
        events[i] = kept[i].event;
    check_status(scopes_event_table_create(&event_table, map, events,
                                           kept_count, &ledger),
                 0);
    check_status(scopes_rounds_create(&rounds, topology, event_table, 0), 0);
}

static void drop(void)
{
    scopes_rounds_destroy(rounds);
    scopes_event_table_destroy(event_table);
    rounds = NULL;
    event_table = NULL;
}

/* Loses a share of the events, of one process or (2) of both. */
static void lose(uint64_t percent, uint32_t process)
{
    scopes_ledger ledger = {.recorded = all_count};

    kept_count = 0;
    for (size_t i = 0; i < all_count; i++) {
        bool any =
            process == 2 || process_of(all[i].event.collector) == process;
        if (!any || chance(100) >= percent)
            kept[kept_count++] = all[i];
    }
    ledger.read = kept_count;
    ledger.lost = all_count - kept_count;
    event_table_make(ledger);
}

/* The round of an event that was kept; SCOPES_MISSING if it was not. */
static uint32_t truth_of(const eventspace_trace *event)
{
    for (size_t i = 0; i < kept_count; i++) {
        if (memcmp(&kept[i].event, event, sizeof(*event)) == 0)
            return kept[i].round;
    }
    cr_assert_fail("an event that was never made");
    return SCOPES_MISSING;
}

/* The event of an input (or BELOW) in a round that was kept; NULL. */
static const eventspace_trace *kept_event(uint32_t round, uint32_t input)
{
    for (size_t i = 0; i < kept_count; i++) {
        if (kept[i].round == round &&
            input_of(kept[i].event.collector) == input)
            return &kept[i].event;
    }
    return NULL;
}

static const scopes_series *series_of(uint32_t input)
{
    const scopes_site *m = &topology->sites[0];

    return scopes_event_series(
        event_table, input == BELOW ? m->lower : m->inputs.ids[input]);
}

static const eventspace_trace *event_of(uint32_t round, uint32_t input)
{
    uint32_t at = input == BELOW
                      ? rounds->below[round]
                      : rounds->events[round * rounds->inputs + input];

    return at == SCOPES_MISSING ? NULL
                                : scopes_event_at(series_of(input)->events, at);
}

/* --- checks --- */

/* The true round of one that was found. All of its events must be of it. */
static uint32_t check_round(uint32_t r)
{
    uint32_t is = SCOPES_MISSING;

    for (uint32_t i = 0; i <= INPUTS; i++) {
        const eventspace_trace *event = event_of(r, i);
        uint32_t of = event ? truth_of(event) : SCOPES_MISSING;
        if (!event)
            continue;
        cr_assert(is == SCOPES_MISSING || is == of,
                  "round %u: events of rounds %u and %u are mixed", r, is, of);
        is = of;
    }
    cr_assert_neq(is, SCOPES_MISSING, "round %u has no event", r);
    return is;
}

/* No assignment is false, and no round comes twice. */
static void check_true(void)
{
    uint32_t before = SCOPES_MISSING;

    for (uint32_t r = 0; r < rounds->count; r++) {
        uint32_t is = check_round(r);
        cr_assert(before == SCOPES_MISSING || is > before,
                  "round %u comes after %u", is, before);
        before = is;
        if (rounds->last[r] != SCOPES_MISSING)
            cr_assert_eq(rounds->last[r], last_of[is], "round %u", is);
    }
}

static bool nested(const eventspace_trace *a, const eventspace_trace *b)
{
    return (a->start <= b->start && a->end >= b->end) ||
           (b->start <= a->start && b->end >= a->end);
}

/* Is the round of an input's event evident from the one below, or from that
 * of the one that came last (or of the reference)? */
static bool is_evident(const eventspace_trace *event,
                       const eventspace_trace *below,
                       const eventspace_trace *last, bool is_last)
{
    uint32_t process = process_of(event->collector);

    if (is_last)
        return true;
    if (below && process_of(below->collector) == process)
        return true;
    return last && process_of(last->collector) == process &&
           nested(event, last);
}

/* Every round whose event below was kept is there, who came last is known,
 * and every event that evidently belongs to it is there. */
static void check_nothing_left_out(void)
{
    uint32_t r = 0;

    for (uint32_t is = 0; is < ROUNDS; is++) {
        const eventspace_trace *below = kept_event(is, BELOW);
        const eventspace_trace *last = kept_event(is, last_of[is]);
        if (!below)
            continue;
        cr_assert_lt(r, rounds->count);
        cr_assert_eq(event_of(r, BELOW)->start, below->start);
        cr_assert_eq(rounds->last[r], last_of[is]);
        for (uint32_t i = 0; i < INPUTS; i++) {
            const eventspace_trace *event = kept_event(is, i);
            if (event && is_evident(event, below, last, i == last_of[is]))
                cr_assert(event_of(r, i), "input %u of round %u is left out", i,
                          is);
        }
        r++;
    }
    cr_assert_eq(r, rounds->count);
}

static void check_all_there(void)
{
    cr_assert_eq(rounds->count, ROUNDS);
    cr_assert(rounds->complete);
    for (uint32_t r = 0; r < ROUNDS; r++) {
        for (uint32_t i = 0; i < INPUTS; i++)
            cr_assert(event_of(r, i), "input %u of round %u", i, r);
    }
    check_true();
}

static void check_losses(const char *text, uint32_t process)
{
    static const unsigned percents[] = {1, 10, 30, 70, 95};

    map_make(text);
    for (uint64_t i = 0; i < 20; i++) {
        seed = 77 * i + process;
        truth_make();
        lose(percents[i % 5], process);
        cr_assert_not(rounds->complete);
        check_true();
        if (topology->sites[0].lower != PATHS_NONE)
            check_nothing_left_out();
        drop();
    }
}

/* --- without losses --- */

static void check_whole(const char *text)
{
    map_make(text);
    for (seed = 1; seed < 5; seed++) {
        truth_make();
        lose(0, 2);
        check_all_there();
        drop();
    }
}

Test(rounds, are_complete_where_nothing_is_lost)
{
    check_whole(near_map);
}

Test(rounds, of_inputs_from_another_process_are_told_by_their_order)
{
    check_whole(far_map);
}

Test(rounds, with_the_collector_below_on_another_process_are_told)
{
    check_whole(away_map);
}

Test(rounds, without_a_collector_below_are_told_by_their_order)
{
    check_whole(bare_map);
    truth_make();
    lose(0, 2);
    for (uint32_t r = 0; r < rounds->count; r++) {
        cr_assert_eq(rounds->below[r], SCOPES_MISSING);
        cr_assert_eq(rounds->last[r], SCOPES_MISSING);
    }
}

/* --- with losses --- */

Test(rounds, are_never_mixed_when_events_are_lost)
{
    check_losses(near_map, 2);
}

Test(rounds, are_never_mixed_where_inputs_come_from_another_process)
{
    check_losses(far_map, 2);
    clean();
    check_losses(far_map, 1);
}

Test(rounds, are_never_mixed_where_the_collector_below_is_on_another_process)
{
    check_losses(away_map, 2);
    clean();
    check_losses(away_map, 0);
}

Test(rounds, are_never_mixed_where_nothing_is_below)
{
    check_losses(bare_map, 2);
}

/* What is lost on the other process does not matter here, as what is here tells
 * how many rounds there were. */
Test(rounds, of_a_process_that_lost_nothing_are_told_although_others_did)
{
    uint32_t inputs[2], here;

    map_make(far_map);
    seed = 5;
    truth_make();
    lose(30, 0); /* c0, c1 and c4 */
    event_table->ledgers[0].lost = event_table->ledger.lost;
    scopes_rounds_destroy(rounds);
    check_status(scopes_rounds_create(&rounds, topology, event_table, 0), 0);
    check_true();
    check_nothing_left_out();
    here = 0;
    inputs[0] = input_of(2);
    inputs[1] = input_of(3);
    for (uint32_t r = 0; r < rounds->count; r++)
        here += event_of(r, inputs[0]) && event_of(r, inputs[1]);
    cr_assert_gt(here, 0);
}

/* --- windows: nothing is lost, but what was before and after --- */

static void check_windows(const char *text)
{
    map_make(text);
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t from, to;
        scopes_ledger ledger = {.recorded = all_count};
        seed = i;
        truth_make();
        from = 1000 + chance(20000);
        to = from + chance(20000);
        kept_count = 0;
        for (size_t k = 0; k < all_count; k++) {
            uint64_t away = process_of(all[k].event.collector) ? 899999000u : 0;
            if (all[k].event.end - away >= from &&
                all[k].event.start - away <= to)
                kept[kept_count++] = all[k];
        }
        ledger.recorded = all_count;
        ledger.read = kept_count;
        ledger.filtered = all_count - kept_count;
        event_table_make(ledger);
        check_true();
        if (topology->sites[0].lower != PATHS_NONE)
            check_nothing_left_out();
        drop();
    }
}

Test(rounds, of_a_window_are_told)
{
    check_windows(near_map);
    clean();
    check_windows(far_map);
    clean();
    check_windows(away_map);
    clean();
    check_windows(bare_map);
}

/* --- by hand --- */

static void add(uint32_t collector, uint32_t thread, uint32_t sequence,
                uint64_t start, uint64_t end, uint16_t status)
{
    kept[kept_count++].event = (eventspace_trace){
        start, end, collector, thread, sequence, 8, 9, status};
}

/* Round 0: threads 0 to 2 are given up at 50, and thread 3 comes later and
 * gets the error too. Round 1 goes well. */
Test(rounds, that_failed_are_rounds_and_who_owes_one_is_in_none)
{
    map_make(near_map);
    for (uint32_t t = 0; t < 3; t++)
        add(t, t, 1, 10 + t, 60 + t, 6);
    add(4, 1, 1, 50, 55, 6);
    add(3, 3, 1, 70, 75, 6);
    for (uint32_t t = 0; t < 4; t++)
        add(t, t, 2, 80 + t, 200 + t, 0);
    add(4, 3, 2, 90, 100, 0);
    event_table_make(
        (scopes_ledger){.recorded = kept_count, .read = kept_count});
    cr_assert_eq(rounds->count, 2);
    cr_assert_eq(rounds->last[0], 1);
    cr_assert_eq(rounds->last[1], 3);
    cr_assert_null(event_of(0, 3));
    for (uint32_t i = 0; i < 3; i++)
        cr_assert_eq(event_of(0, i)->sequence, 1);
    for (uint32_t i = 0; i < 4; i++)
        cr_assert_eq(event_of(1, i)->sequence, 2);
    cr_assert_not(rounds->complete);
}

/* Thread 2 starts a second contribution before the first is complete, which
 * fails the round. So it has one event more than there are rounds. */
Test(rounds, are_not_counted_across_a_failure)
{
    map_make(far_map);
    for (uint32_t r = 0; r < 3; r++) {
        uint16_t status = r == 0;
        add(0, 0, r + 1, 100 * r + 20, 100 * r + 60, status);
        add(1, 1, r + 1, 100 * r + 10, 100 * r + 60, status);
        add(2, 2, r + 2, 100 * r + 15, 100 * r + 60, status);
        add(3, 3, r + 1, 100 * r + 15, 100 * r + 60, status);
        add(4, 0, r + 1, 100 * r + 30, 100 * r + 40, status);
    }
    add(2, 2, 1, 10, 60, 1);
    event_table_make(
        (scopes_ledger){.recorded = kept_count, .read = kept_count});
    cr_assert_eq(rounds->count, 3);
    for (uint32_t r = 1; r < 3; r++) {
        const eventspace_trace *event = event_of(r, input_of(2));
        cr_assert(!event || event->sequence == r + 2);
        cr_assert_eq(event_of(r, input_of(0))->sequence, r + 1);
    }
}

/* Thread 1 writes to the element by the collector that is also below. */
Test(rounds, leave_out_what_others_bring_to_the_collector_below)
{
    map_make("digraph joins { subgraph cluster_a {"
             "  t0 [kind=thread, number=0]; t1 [kind=thread, number=1];"
             "  c0 [kind=collector, id=0]; c1 [kind=collector, id=1];"
             "  s [kind=sum]; c4 [kind=collector, id=4];"
             "  x [kind=element, type=i64, policy=discard]; } "
             "  t0 -> c0; c0 -> s; t1 -> c1; c1 -> s; s -> c4;"
             "  t1 -> c4; c4 -> x; }");
    add(4, 1, 1, 5, 6, 0); /* thread 0 waits, thread 1 writes */
    add(0, 0, 1, 1, 30, 0);
    add(1, 1, 2, 10, 31, 0);
    add(4, 1, 2, 15, 20, 0);
    event_table_make(
        (scopes_ledger){.recorded = kept_count, .read = kept_count});
    cr_assert_eq(rounds->count, 1);
    cr_assert_eq(event_of(0, 0)->sequence, 1);
    cr_assert_eq(event_of(0, 1)->sequence, 2);
    cr_assert_eq(rounds->last[0], 1);
}

/* By a coarse counter, the moment of round 0 is in two events of thread 0. */
Test(rounds, are_left_open_where_stamps_do_not_tell_them_apart)
{
    map_make(near_map);
    add(0, 0, 1, 1, 10, 0);
    add(0, 0, 2, 10, 20, 0);
    add(1, 1, 1, 5, 15, 0);
    add(4, 1, 1, 10, 10, 0);
    event_table_make(
        (scopes_ledger){.recorded = kept_count, .read = kept_count});
    cr_assert_eq(rounds->count, 1);
    cr_assert_null(event_of(0, 0));
    cr_assert_eq(event_of(0, 1)->sequence, 1);
}

Test(rounds, that_one_event_seems_to_hold_are_left_open)
{
    map_make(near_map);
    add(0, 0, 1, 1, 30, 0);
    add(1, 1, 1, 5, 12, 0);
    add(1, 1, 2, 14, 30, 0);
    add(4, 1, 1, 8, 10, 0);
    add(4, 1, 2, 20, 22, 0);
    event_table_make(
        (scopes_ledger){.recorded = kept_count, .read = kept_count});
    cr_assert_eq(rounds->count, 2);
    cr_assert_null(event_of(0, 0));
    cr_assert_null(event_of(1, 0));
    cr_assert_eq(event_of(0, 1)->sequence, 1);
    cr_assert_eq(event_of(1, 1)->sequence, 2);
}

Test(rounds, of_a_run_without_events_are_none)
{
    map_make(near_map);
    event_table_make((scopes_ledger){0});
    cr_assert_eq(rounds->count, 0);
}
