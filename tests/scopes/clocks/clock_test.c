/* clock_test.c - clocks from probe pairs between processes whose clocks are
 * known: random offsets, rates and delays, in graphs of all shapes. */
#include "scopes/clocks/clock.h"

#include <math.h>
#include <stdlib.h>

#include "eventspace/register_collectors.h"
#include "scopes/clocks/clock_internal.h"
#include "tests/scopes/clocks/clock_world.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"
#include "scopes/reading/reading_internal.h"

#define ROUNDED 2  /* ns; see world_truth */
#define MOMENTS 15 /* from before the first probe pair to behind the last */

TestSuite(clock, .timeout = 300, .init = scratch_make, .fini = scratch_remove);

static world w;

/* --- shapes --- */

typedef enum shape { LINE, STAR, RING, TREE, DENSE, SHAPES } shape;

static uint32_t parent_of(shape s, uint32_t process)
{
    if (s == LINE || s == RING)
        return process - 1;
    return s == STAR ? 0 : (uint32_t)(world_random(&w) * process);
}

static void hop_either_way(uint32_t a, uint32_t b, uint32_t pairs)
{
    if (world_random(&w) < 0.5)
        world_hop_add(&w, a, b, pairs);
    else
        world_hop_add(&w, b, a, pairs);
}

static void shape_lay(shape s, uint32_t pairs)
{
    for (uint32_t i = 1; i < w.process_count; i++)
        hop_either_way(i, parent_of(s, i), pairs);
    if (s == RING && w.process_count > 2)
        hop_either_way(w.process_count - 1, 0, pairs);
    for (uint32_t i = 0; s == DENSE && i < 2 * w.process_count; i++) {
        uint32_t a = (uint32_t)(world_random(&w) * w.process_count);
        uint32_t b = (uint32_t)(world_random(&w) * w.process_count);
        if (a != b)
            hop_either_way(a, b, pairs);
    }
}

static scopes_clocks *clocks_make(scopes_clock_method method)
{
    scopes_clocks *clocks;

    check_status(scopes_clocks_create(&clocks, w.run, w.event_table, w.topology,
                                      method, PATHS_NONE),
                 0);
    return clocks;
}

/* --- what must hold of any clocks --- */

static double moment(int i)
{
    return w.length_ns * (i - 2) / (MOMENTS - 5);
}

static void check_certain(const scopes_clocks *clocks)
{
    for (uint32_t h = 0; h < w.process_count; h++) {
        for (int i = 0; i < MOMENTS; i++) {
            double truth = world_truth(&w, clocks, moment(i));
            uint64_t ticks = world_ticks(&w, h, moment(i));
            int64_t ns = scopes_clocks_ns(clocks, h, ticks), from, to;
            scopes_clocks_certain(clocks, h, ticks, &from, &to);
            cr_assert_leq((double)from, truth + ROUNDED, "process %u at %d", h,
                          i);
            cr_assert_geq((double)to, truth - ROUNDED, "process %u at %d", h,
                          i);
            cr_assert_leq(from, ns);
            cr_assert_geq(to, ns);
            cr_assert_leq(to - from, 2000000000, "it says nothing");
        }
    }
}

/* No operation arrives before it was sent. */
static void check_causality(const scopes_clocks *clocks)
{
    scopes_accuracy a;

    check_status(scopes_clocks_check(&a, clocks, w.event_table, w.topology), 0);
    cr_assert_gt(a.operations, 0);
    cr_assert_eq(a.correct, a.operations, "%u processes: %g of %g, by %g ns",
                 w.process_count, (double)(a.operations - a.correct),
                 (double)a.operations, a.worst_ns);
}

static int compare(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The median of all errors while there were probe pairs, by hop. */
static double median_error(const scopes_clocks *clocks)
{
    double errors[WORLD_PROCESSES * MOMENTS];
    size_t count = 0;

    for (uint32_t h = 0; h < w.process_count; h++) {
        uint32_t depth = scopes_clocks_process(clocks, h)->depth;
        for (int i = 2; i < MOMENTS - 2 && depth; i++) {
            int64_t ns =
                scopes_clocks_ns(clocks, h, world_ticks(&w, h, moment(i)));
            errors[count++] =
                fabs((double)ns - world_truth(&w, clocks, moment(i))) / depth;
        }
    }
    qsort(errors, count, sizeof(errors[0]), compare);
    return errors[count / 2];
}

static void check_shape(shape s, uint32_t processes, uint64_t seed)
{
    scopes_clocks *hull, *average;

    world_begin(&w, seed, processes, 4e9);
    shape_lay(s, 500);
    world_make(&w);
    hull = clocks_make(SCOPES_CLOCK_HULL);
    average = clocks_make(SCOPES_CLOCK_AVERAGE);
    check_certain(hull);
    check_causality(hull);
    cr_assert_leq(median_error(hull), 2000, "shape %d, %u processes", (int)s,
                  processes);
    cr_assert_leq(10 * median_error(hull), median_error(average),
                  "shape %d, %u processes: %g and %g ns", (int)s, processes,
                  median_error(hull), median_error(average));
    scopes_clocks_destroy(hull);
    scopes_clocks_destroy(average);
    world_end(&w);
}

static void check_processes(shape s)
{
    for (uint32_t processes = 2; processes <= 20; processes++)
        check_shape(s, processes, processes + 100u * s);
}

Test(clock, of_processes_in_a_line_is_found)
{
    check_processes(LINE);
}

Test(clock, of_processes_around_one_is_found)
{
    check_processes(STAR);
}

Test(clock, of_processes_in_a_ring_is_found)
{
    check_processes(RING);
}

Test(clock, of_processes_in_a_tree_is_found)
{
    check_processes(TREE);
}

Test(clock, of_processes_with_many_hops_between_them_is_found)
{
    check_processes(DENSE);
}

/* With one probe pair nothing is known of the rate, but that no crystal is so
 * bad. */
Test(clock, is_certain_within_limits_after_a_single_exchange)
{
    scopes_clocks *clocks;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        world_begin(&w, seed, 2, 100e6);
        world_hop_add(&w, 0, 1, 1);
        world_make(&w);
        clocks = clocks_make(SCOPES_CLOCK_HULL);
        check_certain(clocks);
        check_causality(clocks);
        cr_assert_eq(scopes_clocks_process(clocks, 1)->pairs, 1);
        scopes_clocks_destroy(clocks);
        world_end(&w);
    }
}

/* Hops whose ways differ much put every clock of the chain off in one
 * direction; the hop that closes the ring is too fast for the sum of that. */
Test(clock, of_a_ring_keeps_the_order_on_the_edge_that_is_not_in_the_tree)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        scopes_clocks *clocks;
        world_begin(&w, seed, 12, 2e9);
        for (uint32_t i = 0; i < 12; i++) {
            world_hop *hop = world_hop_add(&w, i, (i + 1) % 12, 400);
            hop->min_down_ns = 2000;
            hop->min_up_ns = 60000;
            hop->more_ns = 3000;
        }
        world_make(&w);
        clocks = clocks_make(SCOPES_CLOCK_HULL);
        check_causality(clocks);
        check_certain(clocks);
        scopes_clocks_destroy(clocks);
        world_end(&w);
    }
}

/* --- the tree --- */

Test(clock, goes_by_the_process_from_which_the_tree_is_lowest)
{
    scopes_clocks *clocks;
    static const uint32_t depths[] = {3, 2, 1, 0, 1, 2, 3};

    world_begin(&w, 1, 7, 1e9);
    shape_lay(LINE, 50);
    world_make(&w);
    clocks = clocks_make(SCOPES_CLOCK_HULL);
    cr_assert_eq(scopes_clocks_reference(clocks), 3);
    for (uint32_t i = 0; i < 7; i++) {
        const scopes_clock *c = scopes_clocks_process(clocks, i);
        cr_expect_eq(c->depth, depths[i]);
        cr_expect_eq(c->how, i == 3 ? SCOPES_CLOCK_REFERENCE
                                    : SCOPES_CLOCK_PROBE_PAIRS);
        cr_expect_eq(c->pairs, i == 3 ? 0 : 50);
        cr_expect_eq(c->parent, i == 3 ? PATHS_NONE : i < 3 ? i + 1 : i - 1);
    }
    cr_expect_null(scopes_clocks_process(clocks, 7));
    scopes_clocks_destroy(clocks);
    world_end(&w);
}

Test(clock, goes_by_the_process_that_is_asked_for)
{
    scopes_clocks *clocks;

    world_begin(&w, 2, 5, 1e9);
    shape_lay(LINE, 50);
    w.processes[3].missing = true;
    world_make(&w);
    check_status(scopes_clocks_create(&clocks, w.run, w.event_table, w.topology,
                                      SCOPES_CLOCK_HULL, 2),
                 0);
    cr_assert_eq(scopes_clocks_reference(clocks), 2);
    cr_assert_eq(scopes_clocks_process(clocks, 0)->depth, 2);
    scopes_clocks_destroy(clocks);
    check_status(scopes_clocks_create(&clocks, w.run, w.event_table, w.topology,
                                      SCOPES_CLOCK_HULL, 5),
                 PASTSET_EINVAL);
    check_error("5");
    check_status(scopes_clocks_create(&clocks, w.run, w.event_table, w.topology,
                                      SCOPES_CLOCK_HULL, 3),
                 PASTSET_EINVAL);
    check_error("h3");
    world_end(&w);
}

/* At its end a program sends its results to the first process, once. */
Test(clock, does_not_go_by_single_exchanges_when_there_are_others)
{
    scopes_clocks *clocks;

    world_begin(&w, 3, 9, 2e9);
    shape_lay(LINE, 300);
    for (uint32_t i = 1; i < 9; i++)
        world_hop_add(&w, i, 0, 1);
    world_make(&w);
    clocks = clocks_make(SCOPES_CLOCK_HULL);
    cr_assert_eq(scopes_clocks_reference(clocks), 4);
    cr_assert_eq(scopes_clocks_process(clocks, 0)->depth, 4);
    check_causality(clocks);
    check_certain(clocks);
    scopes_clocks_destroy(clocks);
    world_end(&w);
}

/* --- processes of other kinds --- */

Test(clock, of_processes_that_share_a_counter_is_one_to_the_tick)
{
    scopes_clocks *clocks;

    world_begin(&w, 4, 4, 1e9);
    w.processes[2].shares = 1;
    world_hop_add(&w, 0, 1, 100);
    world_hop_add(&w, 2, 3, 100); /* 3 is reached by way of 2, which is 1 */
    world_hop_add(&w, 1, 2, 100);
    world_make(&w);
    clocks = clocks_make(SCOPES_CLOCK_HULL);
    cr_assert_eq(scopes_clocks_process(clocks, 2)->how, SCOPES_CLOCK_SHARED);
    cr_assert_eq(scopes_clocks_process(clocks, 2)->parent, 1);
    cr_assert_eq(scopes_clocks_process(clocks, 3)->how,
                 SCOPES_CLOCK_PROBE_PAIRS);
    cr_assert_eq(scopes_clocks_process(clocks, 3)->parent, 1);
    for (int i = 0; i < MOMENTS; i++) {
        uint64_t ticks = world_ticks(&w, 1, moment(i));
        cr_assert_eq(scopes_clocks_ns(clocks, 1, ticks),
                     scopes_clocks_ns(clocks, 2, ticks));
    }
    check_certain(clocks);
    check_causality(clocks);
    scopes_clocks_destroy(clocks);
    world_end(&w);
}

Test(clock, without_exchanges_is_that_of_the_wall)
{
    scopes_clocks *clocks;
    int64_t from, to;
    uint64_t ticks;

    world_begin(&w, 5, 4, 1e9);
    w.processes[2].offset_ns = w.processes[0].offset_ns + 5000;
    w.processes[2].rate = w.processes[0].rate;
    world_hop_add(&w, 0, 1, 100);
    world_hop_add(&w, 2, 3, 100);
    world_make(&w);
    check_status(scopes_clocks_create(&clocks, w.run, w.event_table, w.topology,
                                      SCOPES_CLOCK_HULL, 0),
                 0);
    cr_assert_eq(scopes_clocks_process(clocks, 2)->how, SCOPES_CLOCK_WALL);
    cr_assert_eq(scopes_clocks_process(clocks, 3)->how,
                 SCOPES_CLOCK_PROBE_PAIRS);
    cr_assert(isinf(scopes_clocks_process(clocks, 2)->certain_ns));
    cr_assert(isinf(scopes_clocks_process(clocks, 3)->certain_ns));
    cr_assert(isfinite(scopes_clocks_process(clocks, 1)->certain_ns));
    ticks = world_ticks(&w, 2, w.processes[2].start_ns);
    scopes_clocks_certain(clocks, 2, ticks, &from, &to);
    cr_assert_eq(from, INT64_MIN);
    cr_assert_eq(to, INT64_MAX);
    cr_expect_float_eq((double)scopes_clocks_ns(clocks, 2, ticks),
                       world_truth(&w, clocks, w.processes[2].start_ns) + 5000,
                       20000);
    check_causality(clocks); /* between 2 and 3 too */
    scopes_clocks_destroy(clocks);
    world_end(&w);
}

/* Messages go from each to the next one; edges lie in no order. */
Test(clock, at_the_end_of_a_long_line_is_bounded_from_one_side)
{
    enum { COUNT = 102, EDGES = COUNT - 1, STEP = 37 };
    scopes__counter counters[COUNT] = {0};
    scopes__edge edges[EDGES] = {0};
    scopes__point point = {0, 10};
    scopes__graph graph = {.counters = counters,
                           .counter_count = COUNT,
                           .edges = edges,
                           .edges_all = EDGES};
    double from, to;

    for (uint32_t i = 0; i < EDGES; i++)
        edges[i * STEP % EDGES] = (scopes__edge){
            .low = i,
            .high = i + 1,
            .above = {.above = true, .points = &point, .count = 1}};
    scopes__one_way_at_root(&graph, COUNT - 1, 0, 0, 0, &from, &to);
    cr_expect_float_eq(from, -10 * EDGES, 2 * EDGES, "%g", from);
    cr_expect_eq(to, INFINITY);
    scopes__one_way_at_root(&graph, 0, COUNT - 1, 0, 0, &from, &to);
    cr_expect_eq(from, -INFINITY);
    cr_expect_float_eq(to, 10 * EDGES, 2 * EDGES, "%g", to);
}

Test(clock, of_a_process_that_never_came_up_is_not_known)
{
    scopes_clocks *clocks;
    int64_t from, to;

    world_begin(&w, 6, 3, 1e9);
    shape_lay(STAR, 50);
    w.processes[2].missing = true;
    world_make(&w);
    clocks = clocks_make(SCOPES_CLOCK_HULL);
    cr_assert_eq(scopes_clocks_process(clocks, 2)->how, SCOPES_CLOCK_NONE);
    cr_assert_eq(scopes_clocks_ns(clocks, 2, 12345), 0);
    cr_assert_eq(scopes_clocks_ticks(clocks, 2, 12345), 0);
    scopes_clocks_certain(clocks, 2, 12345, &from, &to);
    cr_assert_eq(from, INT64_MIN);
    scopes_clocks_certain(clocks, 99, 12345, &from, &to);
    cr_assert_eq(to, INT64_MAX);
    cr_assert_eq(scopes_clocks_process(clocks, 1)->how,
                 SCOPES_CLOCK_PROBE_PAIRS);
    scopes_clocks_destroy(clocks);
    world_end(&w);
}

Test(clock, of_a_run_in_which_nobody_came_up_is_none)
{
    scopes_clocks *clocks;

    world_begin(&w, 7, 2, 1e9);
    w.processes[0].missing = w.processes[1].missing = true;
    world_hop_add(&w, 0, 1, 0);
    world_make(&w);
    clocks = clocks_make(SCOPES_CLOCK_HULL);
    cr_assert_eq(scopes_clocks_process(clocks, 0)->how, SCOPES_CLOCK_NONE);
    scopes_clocks_destroy(clocks);
    world_end(&w);
}

/* An operation that was given up comes up before it does on the other
 * process. */
Test(clock, takes_no_notice_of_operations_that_failed)
{
    scopes_clocks *clocks;
    scopes_accuracy a;

    world_begin(&w, 8, 3, 4e9);
    w.backwards = true;
    shape_lay(LINE, 320);
    world_make(&w);
    clocks = clocks_make(SCOPES_CLOCK_HULL);
    check_certain(clocks);
    check_status(scopes_clocks_check(&a, clocks, w.event_table, w.topology), 0);
    cr_assert_eq(a.operations, 2 * 300);
    cr_assert_eq(a.correct, a.operations);
    scopes_clocks_destroy(clocks);
    world_end(&w);
}

/* A crystal that warms up: no line fits, which is said, and the clock is still
 * about right. */
Test(clock, that_does_not_run_at_a_constant_rate_is_not_certain)
{
    scopes_clocks *clocks;
    int64_t from, to;
    double error;

    world_begin(&w, 9, 2, 10e9);
    w.processes[1].bend =
        20e-6; /* 200 ppm in the ten seconds: 0.25 ms beside */
    shape_lay(LINE, 2000);
    world_make(&w);
    clocks = clocks_make(SCOPES_CLOCK_HULL);
    cr_assert_eq(scopes_clocks_process(clocks, 1)->how,
                 SCOPES_CLOCK_PROBE_PAIRS);
    cr_assert(isinf(scopes_clocks_process(clocks, 1)->certain_ns));
    scopes_clocks_certain(clocks, 1, world_ticks(&w, 1, 1e9), &from, &to);
    cr_assert_eq(from, INT64_MIN);
    error = (double)scopes_clocks_ns(clocks, 1, world_ticks(&w, 1, 5e9)) -
            world_truth(&w, clocks, 5e9);
    cr_assert_lt(fabs(error), 300000);
    scopes_clocks_destroy(clocks);
    world_end(&w);
}

/* Whatever stands in them, there are some clocks in the end. */
Test(clock, of_damaged_tuples_does_no_harm)
{
    static const double rates[] = {1e-300, 1, 1e9, 1e300};

    for (uint64_t seed = 1; seed <= 40; seed++) {
        scopes_clocks *clocks;
        scopes_accuracy a;
        eventspace_trace events[400];
        world_begin(&w, seed, 5, 1e9);
        shape_lay(RING, 0);
        world_make(&w);
        scopes_event_table_destroy(w.event_table);
        for (uint32_t i = 0; i < 400; i++) {
            double max = seed % 2 ? 0x1p64 : 0x1p40;
            events[i] = (eventspace_trace){
                .start = (uint64_t)(world_random(&w) * max),
                .end = (uint64_t)(world_random(&w) * max),
                .collector = i % 10,
                .thread = i % 10 / 2,
                .sequence = i / 10,
            };
        }
        for (uint32_t h = 0; h < 5 && seed > 20; h++) {
            eventspace_meta meta = eventspace_run_process_at(w.run, h)->meta;
            meta.tick_hz = rates[(h + seed) % 4];
            check_status(
                eventspace_meta_save(&meta, scratch_file("h%u.meta", h)), 0);
        }
        check_status(eventspace_run_refresh(w.run), 0);
        check_status(scopes_event_table_create(&w.event_table,
                                               eventspace_run_map(w.run),
                                               events, 400, NULL),
                     0);
        clocks = clocks_make(SCOPES_CLOCK_HULL);
        check_status(scopes_clocks_check(&a, clocks, w.event_table, w.topology),
                     0);
        cr_assert_eq(a.operations, 200);
        for (uint32_t h = 0; h < 5; h++) {
            int64_t from, to;
            scopes_clocks_certain(clocks, h, events[h].start, &from, &to);
            (void)scopes_clocks_ticks(clocks, h, INT64_MIN);
            (void)scopes_clocks_ticks(clocks, h, INT64_MAX);
        }
        scopes_clocks_destroy(clocks);
        world_end(&w);
    }
}

/* --- conversions --- */

Test(clock, turns_times_into_ticks_and_back)
{
    scopes_clocks *clocks;

    world_begin(&w, 10, 3, 2e9);
    shape_lay(STAR, 100);
    world_make(&w);
    clocks = clocks_make(SCOPES_CLOCK_HULL);
    for (uint32_t h = 0; h < 3; h++) {
        for (int64_t ns = -1000000000; ns <= 3000000000; ns += 99999989) {
            uint64_t ticks = scopes_clocks_ticks(clocks, h, ns);
            cr_assert_leq(llabs(scopes_clocks_ns(clocks, h, ticks) - ns), 1);
        }
        cr_assert_eq(scopes_clocks_ticks(clocks, h, INT64_MIN / 2), 0);
    }
    scopes_clocks_destroy(clocks);
    world_end(&w);
}

Test(clock, keeps_the_order_of_the_ticks_of_a_process)
{
    scopes_clocks *clocks;
    uint64_t ticks;

    world_begin(&w, 11, 2, 1e9);
    shape_lay(LINE, 100);
    world_make(&w);
    clocks = clocks_make(SCOPES_CLOCK_HULL);
    ticks = scopes_clocks_process(clocks, 1)->at_ticks;
    for (uint64_t t = ticks - 1000; t < ticks + 1000; t++)
        cr_assert_leq(scopes_clocks_ns(clocks, 1, t),
                      scopes_clocks_ns(clocks, 1, t + 1));
    scopes_clocks_destroy(clocks);
    world_end(&w);
}

Test(clock, tells_the_first_start_of_a_process_as_zero)
{
    scopes_clocks *clocks;
    int64_t min = INT64_MAX;

    world_begin(&w, 12, 4, 1e9);
    shape_lay(TREE, 200);
    world_make(&w);
    clocks = clocks_make(SCOPES_CLOCK_HULL);
    for (uint32_t h = 0; h < 4; h++) {
        int64_t ns = scopes_clocks_ns(
            clocks, h, world_ticks(&w, h, w.processes[h].start_ns));
        min = ns < min ? ns : min;
    }
    cr_assert_leq(llabs(min), 1);
    scopes_clocks_destroy(clocks);
    world_end(&w);
}

Test(clock, tells_offset_and_rate_against_the_reference_process)
{
    scopes_clocks *clocks;

    world_begin(&w, 13, 3, 4e9);
    shape_lay(STAR, 1000);
    world_make(&w);
    clocks = clocks_make(SCOPES_CLOCK_HULL);
    for (uint32_t h = 0; h < 3; h++) {
        const scopes_clock *c = scopes_clocks_process(clocks, h);
        const world_process *process = &w.processes[h],
                            *reference = &w.processes[0];
        /* At the moment at_ticks: what the rates made since the starts. */
        double at = (double)(int64_t)(c->at_ticks - process->base_ticks) /
                    process->hz / (1 + process->rate) * 1e9;
        double offset = (double)process->offset_ns +
                        (at - process->start_ns) * process->rate -
                        (double)reference->offset_ns -
                        (at - reference->start_ns) * reference->rate;
        double ppm = ((1 + process->rate) / (1 + reference->rate) - 1) * 1e6;
        cr_expect_float_eq(c->offset_ns, offset, 20000,
                           "process %u: %g, not %g", h, c->offset_ns, offset);
        cr_expect_float_eq(c->rate_ppm, ppm, 5, "process %u: %g, not %g", h,
                           c->rate_ppm, ppm);
    }
    scopes_clocks_destroy(clocks);
    world_end(&w);
}

/* --- the paper's method and its test --- */

/* By hand: two probe pairs, in which B is ahead by 1000 ns and the ways take as
 * long, and by 1300 as it seems from the second one. */
Test(clock, by_the_average_is_that_of_the_paper)
{
    scopes_clocks *clocks;
    const scopes_clock *a, *b;
    int64_t from, to;

    world_begin(&w, 14, 2, 1e9);
    for (uint32_t h = 0; h < 2; h++) {
        w.processes[h].hz = 1e9;
        w.processes[h].rate = 0;
        w.processes[h].start_ns = 0;
        w.processes[h].base_ticks = 1000000;
    }
    world_hop_add(&w, 0, 1, 0);
    world_make(&w);
    scopes_event_table_destroy(w.event_table);
    eventspace_trace events[] = {
        {1002000, 1003000, 0, 0, 1, 0, 0, 0},
        {1003300, 1003700, 1, 0, 1, 0, 0, 0}, /* 1000 ahead */
        {1005000, 1007000, 0, 0, 2, 0, 0, 0},
        {1007000, 1007600, 1, 0, 2, 0, 0, 0}, /* 1300 ahead */
    };
    check_status(scopes_event_table_create(&w.event_table,
                                           eventspace_run_map(w.run), events, 4,
                                           NULL),
                 0);
    check_status(scopes_clocks_create(&clocks, w.run, w.event_table, w.topology,
                                      SCOPES_CLOCK_AVERAGE, 0),
                 0);
    a = scopes_clocks_process(clocks, 0);
    b = scopes_clocks_process(clocks, 1);
    cr_assert_eq(b->pairs, 2);
    cr_assert_float_eq(b->ns_per_tick, 1, 1e-12);
    cr_assert_eq(scopes_clocks_ns(clocks, 0, a->at_ticks) -
                     scopes_clocks_ns(clocks, 1, a->at_ticks),
                 1150);
    scopes_clocks_certain(clocks, 1, b->at_ticks, &from, &to);
    cr_assert_eq(from, INT64_MIN);
    cr_assert_eq(to, INT64_MAX);
    scopes_clocks_destroy(clocks);
    world_end(&w);
}

/* Processes that share a counter cannot be moved, so that what misses is known:
 * operations that arrive 10, 20 and 60 ns too early, and one that is right. */
Test(clock, misses_are_summed_up_as_in_table_1)
{
    scopes_clocks *clocks;
    scopes_accuracy got;

    world_begin(&w, 15, 2, 1e9);
    w.processes[0].hz = 1e9;
    w.processes[1].shares = 0;
    world_hop_add(&w, 0, 1, 0);
    world_make(&w);
    scopes_event_table_destroy(w.event_table);
    uint64_t t = w.processes[0].base_ticks;
    eventspace_trace events[] = {
        {t + 100, t + 200, 0, 0, 1, 0, 0, 0},
        {t + 90, t + 150, 1, 0, 1, 0, 0, 0}, /* 10: on the way down */
        {t + 300, t + 400, 0, 0, 2, 0, 0, 0},
        {t + 310, t + 420, 1, 0, 2, 0, 0, 0}, /* 20: on the way up */
        {t + 500, t + 600, 0, 0, 3, 0, 0, 0},
        {t + 495, t + 660, 1, 0, 3, 0, 0, 0}, /* 60: the larger of both */
        {t + 700, t + 800, 0, 0, 4, 0, 0, 0},
        {t + 700, t + 800, 1, 0, 4, 0, 0, 0}, /* at once is in time */
        {t + 900, t + 950, 0, 0, 5, 0, 0, 0}, /* arrived nowhere */
    };
    check_status(scopes_event_table_create(&w.event_table,
                                           eventspace_run_map(w.run), events, 9,
                                           NULL),
                 0);
    clocks = clocks_make(SCOPES_CLOCK_HULL);
    check_status(scopes_clocks_check(&got, clocks, w.event_table, w.topology),
                 0);
    cr_assert_eq(got.operations, 4);
    cr_assert_eq(got.correct, 1);
    cr_assert_float_eq(got.mean_ns, 30, 1e-9);
    cr_assert_float_eq(got.median_ns, 20, 1e-9);
    cr_assert_float_eq(got.deviation_ns, sqrt((400 + 100 + 900) / 3.0), 1e-9);
    cr_assert_float_eq(got.worst_ns, 60, 1e-9);
    scopes_clocks_destroy(clocks);
    world_end(&w);
}

/* --- maps --- */

static void check_diagnoses(const char *attribute, const char *says)
{
    char text[400];
    paths_map *map;
    paths_diagnostics diagnostics;

    snprintf(text, sizeof(text),
             "digraph m { subgraph cluster_a { %s; t [kind=thread, number=0]; "
             "e [kind=element, type=i64]; } t -> e [use=write]; }",
             attribute);
    check_status(eventspace_register(), 0);
    check_status(paths_map_parse(&map, text, strlen(text), "m.dot"), 0);
    check_status(paths_map_check(map, &diagnostics), says ? PASTSET_EMAP : 0);
    if (says)
        check_error(says);
    paths_diagnostics_clear(&diagnostics);
    paths_map_destroy(map);
}

Test(clock, of_a_process_can_be_given_by_the_map)
{
    check_diagnoses("counter_offset=\"-3.2s\"; counter_rate=\"+150.5ppm\"",
                    NULL);
    check_diagnoses("counter_offset=\"250us\"", NULL);
    check_diagnoses("counter_offset=soon", "not an offset");
    check_diagnoses("counter_offset=\"3\"", "not an offset");
    check_diagnoses("counter_offset=\"--3s\"", "not an offset");
    check_diagnoses("counter_offset=\"61min\"", "at most one hour");
    check_diagnoses("counter_rate=\"150\"", "not a rate");
    check_diagnoses("counter_rate=\"-1000.001ppm\"", "at most 1000ppm");
}

Test(clock, attributes_are_read_exactly)
{
    int64_t value;

    check_status(paths_parse_offset("-3.2s", &value), 0);
    cr_expect_eq(value, -3200000000);
    check_status(paths_parse_offset("+250us", &value), 0);
    cr_expect_eq(value, 250000);
    check_status(paths_parse_ppm("-0.5ppm", &value), 0);
    cr_expect_eq(value, -500);
    check_status(paths_parse_ppm("150ppm", &value), 0);
    cr_expect_eq(value, 150000);
    check_status(paths_parse_ppm("20ppb", &value), 0);
    cr_expect_eq(value, 20);
    check_status(paths_parse_ppm("", &value), PASTSET_EINVAL);
    check_status(paths_parse_offset("99999999999999999999s", &value),
                 PASTSET_EINVAL);
}
