/* thread_views_test.c - the views of threads, processes and elements against
 * the same computed once more from the events, in other and simpler ways: times
 * are marked nanosecond by nanosecond, orders are sorted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/instrument.h"
#include "pastset/request.h"
#include "scopes/reading/snapshot.h"
#include "scopes/views/view.h"
#include "tests/scopes/fake_run.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"
#include "tests/support/numbers.h"

TestSuite(thread_views, .init = scratch_make, .fini = scratch_remove,
          .timeout = 300);

/* Threads t0 and t1 on h0 with the elements, t2 on h1. t1 has two paths. */
static const char plain_map[] =
    "digraph three {\n"
    "  subgraph cluster_h0 {\n"
    "    t0 [kind=thread, number=0];\n"
    "    t1 [kind=thread, number=1];\n"
    "    a [kind=element, type=\"u8[8]\", capacity=4];\n"
    "    b [kind=element, type=\"u8[8]\", policy=grow];\n"
    "  }\n"
    "  subgraph cluster_h1 {\n"
    "    t2 [kind=thread, number=2];\n"
    "    \"t2.b.proxy\" [kind=proxy];\n"
    "  }\n"
    "  t0 -> a [as=to_a, use=write];\n"
    "  t1 -> a [as=from_a, use=read];\n"
    "  t1 -> b [as=to_b, use=write];\n"
    "  t2 -> \"t2.b.proxy\" [as=from_b, use=read];\n"
    "  \"t2.b.proxy\" -> b;\n"
    "}\n";

enum {
    EVENTS = 4000,
    TO_A = 0, /* tops, by path */
    FROM_A,
    TO_B,
    FROM_B,
    AT_B, /* below the proxy */
    COLLECTORS,
    THREADS = 3,
};

static const uint32_t thread_of[COLLECTORS] = {0, 1, 1, 2, 2};
static const uint16_t verb_of[COLLECTORS] = {
    PASTSET_WRITE, PASTSET_OBSERVE, PASTSET_WRITE, PASTSET_TAKE, PASTSET_TAKE};

typedef struct view_input {
    paths_map *map;
    uint32_t ids[COLLECTORS]; /* of the map */
    eventspace_trace events[EVENTS];
    size_t count;
    eventspace_run *run;
    scopes_snapshot *snapshot;
    scopes_table *table;
} view_input;

static uint32_t noise(uint32_t below)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state % below);
}

/* --- making a run --- */

/* The collector that stands right above the element `name`, other than those
 * at the tops of paths. */
static uint32_t above_element(const view_input *s, const char *name)
{
    const paths_map *map = s->map;
    uint32_t element = paths_map_find_node(map, name);
    for (uint32_t i = 0; i < map->nodes[element].in_count; i++) {
        const paths_map_edge *edge = &map->edges[map->nodes[element].in[i]];
        const char *id = paths_node_get(&map->nodes[edge->from], "id");
        uint32_t number = id ? (uint32_t)strtoul(id, NULL, 10) : UINT32_MAX;
        if (number != s->ids[FROM_A] && number != s->ids[TO_B])
            return number;
    }
    cr_assert_fail("nothing above %s", name);
    return 0;
}

static view_input *begin(void)
{
    view_input *s = calloc(1, sizeof(*s));
    paths_map *plain;
    eventspace_instrument_options options = {.collectors =
                                                 EVENTSPACE_ALL_COLLECTORS};
    check_status(
        paths_map_parse(&plain, plain_map, strlen(plain_map), "test.dot"), 0);
    check_status(eventspace_instrument(&s->map, plain, &options), 0);
    paths_map_destroy(plain);
    s->ids[TO_A] = fake_collector(s->map, "t0", "to_a");
    s->ids[FROM_A] = fake_collector(s->map, "t1", "from_a");
    s->ids[TO_B] = fake_collector(s->map, "t1", "to_b");
    s->ids[FROM_B] = fake_collector(s->map, "t2", "from_b");
    s->ids[AT_B] = above_element(s, "b");
    return s;
}

static void add(view_input *s, uint32_t which, uint32_t sequence,
                uint64_t start, uint64_t end)
{
    cr_assert_lt(s->count, EVENTS);
    s->events[s->count++] = (eventspace_trace){
        .start = FAKE_START + start,
        .end = FAKE_START + end,
        .collector = s->ids[which],
        .thread = thread_of[which],
        .sequence = sequence,
        .bytes = 1 + noise(100),
        .operation = verb_of[which],
    };
}

/* Each thread does `count` operations on paths by chance; some of t1's
 * overlap. */
static void add_by_chance(view_input *s, uint32_t count)
{
    uint64_t now[THREADS] = {noise(50), noise(50), noise(50)};
    for (uint32_t i = 1; i <= count; i++) {
        uint64_t lasts[THREADS];
        for (uint32_t t = 0; t < THREADS; t++) {
            now[t] += noise(3) ? noise(20) : 0;
            lasts[t] = 3 + noise(30);
        }
        add(s, TO_A, i, now[0], now[0] + lasts[0]);
        add(s, noise(2) ? FROM_A : TO_B, i, now[1], now[1] + lasts[1]);
        add(s, FROM_B, i, now[2], now[2] + lasts[2]);
        add(s, AT_B, i, now[2] + 1, now[2] + lasts[2] - 1);
        now[0] += lasts[0];
        now[1] += noise(2) ? lasts[1] : lasts[1] / 2;
        now[2] += lasts[2];
    }
}

static int by_end(const void *a, const void *b)
{
    const eventspace_trace *x = a, *y = b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Streams are in the order of ends. */
static void look_at(view_input *s, const scopes_snapshot_options *options)
{
    fake_run *fake = fake_run_begin(scratch_file("."), s->map);
    cr_assert_not_null(fake, "%s", pastset_error());
    qsort(s->events, s->count, sizeof(*s->events), by_end);
    for (size_t i = 0; i < s->count; i++)
        check_status(fake_run_event(fake, &s->events[i]), 0);
    check_status(fake_run_end(fake), 0);
    check_status(eventspace_run_open(&s->run, scratch_file(".")), 0);
    check_status(scopes_snapshot_take(&s->snapshot, s->run, options), 0);
}

static const scopes_snapshot_options everything = SCOPES_SNAPSHOT_ALL;

/* `threads` NULL, `of` NULL: all. */
static const scopes_table *view_of(view_input *s, const char *name, bool each,
                                   const char *threads, const char *of)
{
    scopes_view_input asked = {s->snapshot->topology->map,
                               s->snapshot->topology,
                               s->snapshot->event_table,
                               s->snapshot->clocks,
                               each,
                               numbers(threads),
                               of,
                               s->snapshot->pending,
                               s->run,
                               s->snapshot->scheduling};
    scopes_table_destroy(s->table);
    check_status(scopes_view_make(&s->table, scopes_view_find(name), &asked),
                 0);
    return s->table;
}

static const scopes_table *view(view_input *s, const char *name, bool each)
{
    return view_of(s, name, each, NULL, NULL);
}

static void end(view_input *s)
{
    scopes_table_destroy(s->table);
    scopes_snapshot_destroy(s->snapshot);
    eventspace_run_close(s->run);
    paths_map_destroy(s->map);
    free(s);
}

/* --- reading a table --- */

static scopes_cell cell(const scopes_table *table, size_t row, const char *key)
{
    for (size_t i = 0; i < scopes_table_columns(table); i++)
        if (strcmp(scopes_table_column(table, i)->key, key) == 0)
            return scopes_table_cell(table, row, i);
    cr_assert_fail("no column %s", key);
    return (scopes_cell){0};
}

static int64_t number(const scopes_table *table, size_t row, const char *key)
{
    return cell(table, row, key).integer;
}

static const char *text(const scopes_table *table, size_t row, const char *key)
{
    return cell(table, row, key).text;
}

#define check_number(table, row, key, want)                                    \
    do {                                                                       \
        int64_t got_ = number(table, row, key), want_ = (int64_t)(want);       \
        cr_assert(got_ == want_, "row %zu, %s: %ld, not %ld", (size_t)(row),   \
                  key, (long)got_, (long)want_);                               \
    } while (0)

/* --- the same once more --- */

static bool is_top(const view_input *s, const eventspace_trace *event)
{
    return event->collector != s->ids[AT_B];
}

static int64_t ns(uint64_t ticks)
{
    return (int64_t)(ticks - FAKE_START);
}

typedef struct sums {
    int64_t operations, bytes, start, end, communicating, computing;
} sums;

/* Marks each nanosecond in which an operation of the thread is under way. */
static sums sum_up(const view_input *s, uint32_t thread)
{
    enum { LONGEST = 100000 };
    bool *busy = calloc(LONGEST, sizeof(*busy));
    sums all = {.start = INT64_MAX};
    for (size_t i = 0; i < s->count; i++) {
        const eventspace_trace *e = &s->events[i];
        if (e->thread != thread || !is_top(s, e))
            continue;
        cr_assert_lt(ns(e->end), LONGEST);
        for (int64_t at = ns(e->start); at < ns(e->end); at++)
            busy[at] = true;
        all.operations++;
        all.bytes += e->bytes;
        all.start = ns(e->start) < all.start ? ns(e->start) : all.start;
        all.end = ns(e->end) > all.end ? ns(e->end) : all.end;
    }
    for (int64_t at = 0; at < LONGEST; at++)
        all.communicating += busy[at];
    all.computing = all.end - all.start - all.communicating;
    free(busy);
    return all;
}

/* The step after that of the last operation on its path, and none before that
 * of the operation before it. */
static int64_t step_of(const view_input *s, const eventspace_trace *event)
{
    const eventspace_trace *by_number[1024] = {NULL};
    int64_t step = 1, on_path = 0;

    for (size_t i = 0; i < s->count; i++) {
        const eventspace_trace *e = &s->events[i];
        if (e->thread == event->thread && is_top(s, e))
            by_number[e->sequence] = e;
    }
    /* How often paths were used, or what held them back. */
    int64_t last[64] = {0};
    for (uint32_t n = 1; n <= event->sequence; n++) {
        if (!by_number[n])
            continue;
        on_path = last[by_number[n]->collector] + 1;
        step = on_path > step ? on_path : step;
        last[by_number[n]->collector] = step;
    }
    return step;
}

/* The end of a thread's step; -1: it has none. */
static int64_t end_of_step(const view_input *s, const int64_t *steps,
                           uint32_t thread, int64_t step)
{
    int64_t last = -1;
    for (size_t i = 0; i < s->count; i++) {
        const eventspace_trace *e = &s->events[i];
        if (e->thread == thread && is_top(s, e) && steps[i] == step &&
            ns(e->end) > last)
            last = ns(e->end);
    }
    return last;
}

/* --- threads and processes --- */

Test(thread_views, communication_has_the_sums_of_each_thread)
{
    view_input *s = begin();
    add_by_chance(s, 400);
    look_at(s, &everything);
    const scopes_table *table = view(s, "communication", false);
    cr_assert_eq(scopes_table_rows(table), THREADS);
    for (uint32_t t = 0; t < THREADS; t++) {
        sums want = sum_up(s, t);
        check_number(table, t, "number", t);
        check_number(table, t, "operations", want.operations);
        check_number(table, t, "start_ns", want.start);
        check_number(table, t, "end_ns", want.end);
        check_number(table, t, "communicating_ns", want.communicating);
        check_number(table, t, "computing_ns", want.computing);
        check_number(table, t, "lost", 0);
        cr_assert_float_eq(cell(table, t, "communicating_share").real,
                           (double)want.communicating /
                               (double)(want.end - want.start),
                           1e-12);
        cr_assert_str_eq(text(table, t, "steps_known"), "yes");
    }
    cr_assert_str_eq(text(table, 2, "process"), "h1");
    end(s);
}

Test(thread_views, communication_lists_each_operation_by_its_start)
{
    view_input *s = begin();
    add_by_chance(s, 300);
    look_at(s, &everything);
    const scopes_table *table = view_of(s, "communication", true, "1", NULL);
    cr_assert_eq(scopes_table_rows(table), 300);
    for (size_t row = 0; row < 300; row++) {
        const eventspace_trace *found = NULL;
        for (size_t i = 0; i < s->count && !found; i++)
            if (s->events[i].thread == 1 &&
                s->events[i].sequence == number(table, row, "sequence"))
                found = &s->events[i];
        cr_assert_not_null(found);
        bool reads = found->collector == s->ids[FROM_A];
        check_number(table, row, "start_ns", ns(found->start));
        check_number(table, row, "time_ns", found->end - found->start);
        check_number(table, row, "bytes", found->bytes);
        check_number(table, row, "step", step_of(s, found));
        cr_assert_str_eq(text(table, row, "path"), reads ? "from_a" : "to_b");
        cr_assert_str_eq(text(table, row, "element"), reads ? "a" : "b");
        cr_assert_str_eq(text(table, row, "verb"), reads ? "observe" : "write");
        if (row > 0)
            cr_assert_leq(number(table, row - 1, "start_ns"),
                          number(table, row, "start_ns"));
    }
    end(s);
}

Test(thread_views, what_is_of_an_element_is_of_the_threads_that_use_it)
{
    view_input *s = begin();
    add_by_chance(s, 50);
    look_at(s, &everything);
    const scopes_table *table = view_of(s, "communication", false, NULL, "a");
    cr_assert_eq(scopes_table_rows(table), 2);
    cr_assert_str_eq(text(table, 0, "thread"), "t0");
    cr_assert_str_eq(text(table, 1, "thread"), "t1");
    table = view_of(s, "communication", true, NULL, "t2.b.proxy");
    cr_assert_eq(scopes_table_rows(table), 50);
    cr_assert_str_eq(text(table, 0, "thread"), "t2");
    table = view_of(s, "communication", true, "1", "a");
    for (size_t i = 0; i < scopes_table_rows(table); i++)
        cr_assert_str_eq(text(table, i, "path"), "from_a");
    cr_assert_lt(scopes_table_rows(table), 50);
    end(s);
}

Test(thread_views, process_puts_its_threads_together)
{
    view_input *s = begin();
    add_by_chance(s, 400);
    look_at(s, &everything);
    const scopes_table *table = view(s, "process", false);
    sums t0 = sum_up(s, 0), t1 = sum_up(s, 1), t2 = sum_up(s, 2);
    double share0 = (double)t0.communicating / (double)(t0.end - t0.start);
    double share1 = (double)t1.communicating / (double)(t1.end - t1.start);

    cr_assert_eq(scopes_table_rows(table), 2);
    cr_assert_str_eq(text(table, 0, "process"), "h0");
    check_number(table, 0, "threads", 2);
    check_number(table, 0, "operations", t0.operations + t1.operations);
    check_number(table, 0, "bytes", t0.bytes + t1.bytes);
    check_number(table, 0, "start_ns",
                 t0.start < t1.start ? t0.start : t1.start);
    check_number(table, 0, "end_ns", t0.end > t1.end ? t0.end : t1.end);
    check_number(table, 0, "communicating_ns",
                 t0.communicating + t1.communicating);
    check_number(table, 0, "computing_ns", t0.computing + t1.computing);
    cr_assert_neq(share0, share1);
    cr_assert_str_eq(text(table, 0, "busiest"), share0 < share1 ? "t0" : "t1");
    check_number(table, 1, "operations", t2.operations);
    check_number(table, 1, "bytes", t2.bytes);
    cr_assert_str_eq(text(table, 1, "busiest"), "t2");
    end(s);
}

Test(thread_views, steps_tell_who_finished_first_and_last)
{
    view_input *s = begin();
    add_by_chance(s, 300);
    look_at(s, &everything);
    int64_t *steps = calloc(s->count, sizeof(*steps)), highest = 0;
    for (size_t i = 0; i < s->count; i++) {
        steps[i] = is_top(s, &s->events[i]) ? step_of(s, &s->events[i]) : 0;
        highest = steps[i] > highest ? steps[i] : highest;
    }
    const scopes_table *table = view(s, "steps", false);
    cr_assert_eq(scopes_table_rows(table), (size_t)highest);
    for (int64_t k = 1; k <= highest; k++) {
        int64_t first = INT64_MAX, last = -1, threads = 0;
        size_t row = (size_t)k - 1;
        for (uint32_t t = 0; t < THREADS; t++) {
            int64_t end = end_of_step(s, steps, t, k);
            if (end < 0)
                continue;
            threads++;
            first = end < first ? end : first;
            last = end > last ? end : last;
        }
        check_number(table, row, "step", k);
        check_number(table, row, "threads", threads);
        check_number(table, row, "first_end_ns", first);
        check_number(table, row, "last_end_ns", last);
        check_number(table, row, "spread_ns", last - first);
        for (uint32_t t = 0; t < THREADS; t++) {
            char name[8];
            snprintf(name, sizeof(name), "t%u", t);
            if (strcmp(text(table, row, "last_thread"), name) == 0)
                cr_assert_eq(end_of_step(s, steps, t, k), last);
            if (strcmp(text(table, row, "first_thread"), name) == 0)
                cr_assert_eq(end_of_step(s, steps, t, k), first);
        }
    }
    free(steps);
    end(s);
}

Test(thread_views, a_step_of_each_thread_says_how_far_it_is_behind)
{
    view_input *s = begin();
    add_by_chance(s, 200);
    look_at(s, &everything);
    int64_t *steps = calloc(s->count, sizeof(*steps));
    for (size_t i = 0; i < s->count; i++)
        steps[i] = is_top(s, &s->events[i]) ? step_of(s, &s->events[i]) : 0;
    const scopes_table *table = view(s, "steps", true);
    int64_t communicating[THREADS] = {0}, computing[THREADS] = {0};
    for (size_t row = 0; row < scopes_table_rows(table); row++) {
        uint32_t thread = (uint32_t)number(table, row, "number");
        int64_t step = number(table, row, "step"), first = INT64_MAX;
        for (uint32_t t = 0; t < THREADS; t++) {
            int64_t end = end_of_step(s, steps, t, step);
            first = end >= 0 && end < first ? end : first;
        }
        int64_t end = end_of_step(s, steps, thread, step);
        check_number(table, row, "end_ns", end);
        check_number(table, row, "after_first_ns", end - first);
        communicating[thread] += number(table, row, "communicating_ns");
        computing[thread] += number(table, row, "computing_ns");
    }
    for (uint32_t t = 0; t < THREADS; t++) {
        cr_assert_eq(communicating[t], sum_up(s, t).communicating);
        cr_assert_eq(computing[t], sum_up(s, t).computing);
    }
    free(steps);
    end(s);
}

/* --- elements --- */

/* The events of an element, by end; gives their number. */
static size_t of_element(const view_input *s, bool b, eventspace_trace *out)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++) {
        uint32_t id = s->events[i].collector;
        bool at_b = id == s->ids[TO_B] || id == s->ids[AT_B];
        bool at_a = id == s->ids[TO_A] || id == s->ids[FROM_A];
        if (b ? at_b : at_a)
            out[count++] = s->events[i];
    }
    qsort(out, count, sizeof(*out), by_end);
    return count;
}

static void check_order(view_input *s, bool b)
{
    static eventspace_trace want[EVENTS];
    size_t count = of_element(s, b, want);
    const scopes_table *table =
        view_of(s, "element-order", true, NULL, b ? "b" : "a");
    cr_assert_eq(scopes_table_rows(table), count);
    for (size_t i = 0; i < count; i++) {
        char name[8];
        snprintf(name, sizeof(name), "t%u", want[i].thread);
        check_number(table, i, "order", i + 1);
        check_number(table, i, "start_ns", ns(want[i].start));
        check_number(table, i, "end_ns", ns(want[i].end));
        check_number(table, i, "bytes", want[i].bytes);
        check_number(table, i, "sequence", want[i].sequence);
        cr_assert_str_eq(text(table, i, "thread"), name);
        cr_assert_str_eq(text(table, i, "verb"),
                         pastset_verb_name(want[i].operation));
    }
}

/* Ends are all different, so that there is one order. */
static void add_at_elements(view_input *s, uint32_t count)
{
    for (uint32_t i = 1; i <= count; i++) {
        uint64_t at = 5 * i;
        add(s, TO_A, i, at - noise(5), at);
        add(s, noise(2) ? FROM_A : TO_B, i, at > 300 ? at - noise(300) : at,
            at + 1);
        /* These overlap in one collector, as reads that wait do. */
        add(s, AT_B, i, at > 200 ? at - noise(200) : at, at + 2);
    }
}

Test(thread_views, element_order_is_that_of_the_ends)
{
    view_input *s = begin();
    add_at_elements(s, 1000);
    look_at(s, &everything);
    check_order(s, false);
    check_order(s, true);
    const scopes_table *table = view(s, "element-order", true);
    cr_assert_eq(scopes_table_rows(table), 3000);
    end(s);
}

Test(thread_views, element_order_counts_what_followed_what)
{
    static eventspace_trace in_order[EVENTS];
    view_input *s = begin();
    add_at_elements(s, 800);
    for (size_t i = 0; i < s->count; i += 7)
        s->events[i].status = 5; /* these changed nothing */
    look_at(s, &everything);
    size_t count = of_element(s, false, in_order), good = 0;
    int64_t times[THREADS][THREADS + 1] = {0};
    for (size_t i = 0; i < count; i++)
        if (in_order[i].status == 0)
            in_order[good++] = in_order[i];
    for (size_t i = 0; i < good; i++)
        times[in_order[i].thread][i ? in_order[i - 1].thread : THREADS]++;

    const scopes_table *table = view_of(s, "element-order", false, NULL, "a");
    int64_t sum = 0;
    for (size_t row = 0; row < scopes_table_rows(table); row++) {
        const char *after = text(table, row, "after_thread");
        uint32_t thread = text(table, row, "thread")[1] - '0';
        uint32_t before = *after ? (uint32_t)(after[1] - '0') : THREADS;
        check_number(table, row, "times", times[thread][before]);
        cr_assert_str_eq(text(table, row, "verb"),
                         thread == 0 ? "write" : "observe");
        cr_assert_str_eq(text(table, row, "process"), "h0");
        sum += number(table, row, "times");
    }
    cr_assert_eq((size_t)sum, good);
    end(s);
}

/* --- tuples and windows --- */

static int by_collector(const void *a, const void *b)
{
    const eventspace_trace *x = a, *y = b;
    if (x->collector != y->collector)
        return x->collector < y->collector ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* The table has the events that meet [from, to], and no others. */
static void check_tuples(view_input *s, const scopes_table *table, int64_t from,
                         int64_t to)
{
    static eventspace_trace want[EVENTS];
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        if (ns(s->events[i].start) <= to && ns(s->events[i].end) >= from)
            want[count++] = s->events[i];
    qsort(want, count, sizeof(*want), by_collector);
    cr_assert_gt(count, 0);
    cr_assert_eq(scopes_table_rows(table), count);
    for (size_t i = 0; i < count; i++) {
        bool remote = want[i].collector == s->ids[FROM_B];
        check_number(table, i, "id", want[i].collector);
        check_number(table, i, "sequence", want[i].sequence);
        check_number(table, i, "start_ticks", want[i].start);
        check_number(table, i, "end_ticks", want[i].end);
        check_number(table, i, "end_ns", ns(want[i].end));
        cr_assert_str_eq(text(table, i, "process"), remote ? "h1" : "h0");
    }
    cr_assert_eq(s->snapshot->event_table->ledger.read, count);
    cr_assert_eq(s->snapshot->event_table->ledger.recorded, s->count);
}

Test(thread_views, tuples_are_all_there)
{
    view_input *s = begin();
    add_by_chance(s, 500);
    look_at(s, &everything);
    check_tuples(s, view(s, "tuples", false), INT64_MIN, INT64_MAX);
    end(s);
}

Test(thread_views, a_window_has_what_meets_it)
{
    view_input *s = begin();
    scopes_snapshot_options options = everything;
    options.from_ns = 2000;
    options.to_ns = 3210;
    add_by_chance(s, 500);
    look_at(s, &options);
    check_tuples(s, view(s, "tuples", false), 2000, 3210);
    cr_assert_eq(s->snapshot->event_table->ledger.lost, 0);
    end(s);
}

Test(thread_views, the_last_part_ends_with_the_last_event)
{
    view_input *s = begin();
    scopes_snapshot_options options = everything;
    int64_t last = 0;
    options.last_ns = 1500;
    add_by_chance(s, 500);
    look_at(s, &options);
    for (size_t i = 0; i < s->count; i++)
        last = ns(s->events[i].end) > last ? ns(s->events[i].end) : last;
    check_tuples(s, view(s, "tuples", false), last - 1500, last);
    end(s);
}

Test(thread_views, a_window_of_one_thread_leaves_out_the_others)
{
    view_input *s = begin();
    scopes_snapshot_options options = everything;
    int64_t want = 0;
    options.from_ns = 1000;
    options.to_ns = 4000;
    options.threads = numbers("1");
    options.tops_only = true;
    add_by_chance(s, 500);
    look_at(s, &options);
    for (size_t i = 0; i < s->count; i++)
        want += s->events[i].thread == 1 && ns(s->events[i].start) <= 4000 &&
                ns(s->events[i].end) >= 1000;
    const scopes_table *table = view(s, "communication", false);
    check_number(table, 0, "operations", 0);
    check_number(table, 1, "operations", want);
    check_number(table, 1, "lost", 0);
    cr_assert_eq((int64_t)s->snapshot->event_table->ledger.read, want);
    end(s);
}

Test(thread_views, a_second_look_has_the_same)
{
    view_input *s = begin();
    add_by_chance(s, 100);
    look_at(s, &everything);
    check_tuples(s, view(s, "tuples", false), INT64_MIN, INT64_MAX);
    scopes_table_destroy(s->table);
    s->table = NULL;
    check_status(scopes_snapshot_again(s->snapshot), 0);
    check_tuples(s, view(s, "tuples", false), INT64_MIN, INT64_MAX);
    end(s);
}
