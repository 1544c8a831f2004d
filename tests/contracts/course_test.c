/* course_test.c - what processes have to do with each other, of runs that are
 * made up. Times are microseconds. */
#include "contracts/signature/course.h"

#include <math.h>
#include <sys/stat.h>

#include "eventspace/define/definition_internal.h"
#include "pastset/verb.h"
#include "tests/measure/planted_ranks.h"
#include "tests/scopes/fake_run.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

static eventspace_run *run;
static scopes_snapshot *snapshot;
static contracts_course *course;

static void clean(void)
{
    contracts_course_destroy(course);
    scopes_snapshot_destroy(snapshot);
    eventspace_run_close(run);
    scratch_remove();
}

TestSuite(course, .timeout = 120, .init = scratch_make, .fini = clean);

/* What was worked out for all is what one finds interval by interval. */
static void check_ends(void)
{
    uint32_t *all = course->ends_next;

    for (uint32_t p = 0; p < course->processes; p++)
        for (size_t i = 0; i < course->intervals; i++) {
            size_t next = contracts_course_ends_next(course, p, i);
            course->ends_next = NULL;
            cr_assert_eq(next, contracts_course_ends_next(course, p, i),
                         "process %u, interval %zu", p, i);
            course->ends_next = all;
        }
}

static void take(void)
{
    scopes_snapshot_options all = SCOPES_SNAPSHOT_ALL;

    planted_end();
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    check_status(scopes_snapshot_take(&snapshot, run, &all), 0);
    check_status(contracts_course_take(&course, snapshot, 100000, NULL, 0, 0),
                 0);
    check_ends();
}

/* Of all intervals. */
static void expect_between(uint32_t process, uint32_t other, double waiting_us,
                           double transfer_us)
{
    double waiting = 0, transfer = 0;

    for (size_t i = 0; i < course->intervals; i++) {
        size_t count;
        const contracts_between *with =
            contracts_course_betweens(course, process, i, &count);
        for (size_t k = 0; k < count; k++) {
            cr_assert_eq(with[k].interval, i);
            cr_assert_eq(with[k].process, process);
            if (with[k].other != other)
                continue;
            waiting += with[k].waiting * 1e6;
            transfer += with[k].transfer * 1e6;
        }
    }
    cr_expect_float_eq(waiting, waiting_us, 0.5, "%u waits for %u: %g, not %g",
                       process, other, waiting, waiting_us);
    cr_expect_float_eq(transfer, transfer_us, 0.5, "%u with %u: %g, not %g",
                       process, other, transfer, transfer_us);
}

/* It is sent 490 late, and takes 20 then. */
Test(course, tells_waiting_from_the_rest)
{
    planted_begin(scratch_file("run"), 2);
    planted_send((planted_call){0, "MPI_Send", 500, 530, 100}, 1);
    planted_receive((planted_call){1, "MPI_Recv", 10, 520, 100}, 0);
    take();
    expect_between(1, 0, 490, 20);
    expect_between(0, 1, 0, 30);
}

/* That of 1 comes last: the time after it was sent is that of 1, too. */
Test(course, tells_for_whom_a_call_took_its_time)
{
    planted_begin(scratch_file("run"), 3);
    planted_send((planted_call){0, "MPI_Send", 100, 110, 100}, 2);
    planted_send((planted_call){1, "MPI_Send", 400, 410, 100}, 2);
    planted_receive((planted_call){2, "MPI_Waitall", 10, 450, 100}, 0);
    planted_receive((planted_call){2, "MPI_Waitall", 10, 450, 100}, 1);
    take();
    expect_between(2, 0, 0, 0);
    expect_between(2, 1, 390, 50);
}

/* In a collective it is not known with whom the rest of the time goes, and what
 * one waited for somebody there is no part of its messages. */
Test(course, knows_nobody_in_a_collective)
{
    planted_begin(scratch_file("run"), 3);
    for (uint32_t i = 0; i < 3; i++) {
        planted_from_root((planted_call){i, "MPI_Bcast", i ? 10 : 300, 340, 8},
                          0);
        planted_join(
            (planted_call){i, "MPI_Barrier", i == 2 ? 600 : 400, 640, 0},
            "barrier");
    }
    planted_send((planted_call){0, "MPI_Send", 700, 750, 100}, 2);
    planted_receive((planted_call){2, "MPI_Recv", 710, 760, 100}, 0);
    take();
    expect_between(1, 0, 290, 0);
    expect_between(2, 0, 290, 50);
    expect_between(1, 2, 200, 0);
    expect_between(0, 2, 200, 50);
}

/* --- what programs count --- */

static const char two[] =
    "digraph m {\n"
    "subgraph cluster_h0 { t0 [kind=thread, number=0];\n"
    "  c0 [kind=collector, id=0, trace=c]; e0 [kind=element, type=u64]; }\n"
    "subgraph cluster_h1 { t1 [kind=thread, number=1];\n"
    "  c1 [kind=collector, id=1, trace=c]; e1 [kind=element, type=u64]; }\n"
    "t0 -> c0 [as=out]; c0 -> e0; t1 -> c1 [as=out]; c1 -> e1; }\n";

#define IDS 2 /* of collectors; behind them, those of h0 and h1 in turns */

static void define(fake_run *fake, uint32_t process, uint32_t id,
                   const char *name)
{
    unsigned char tuple[EVENTSPACE_DEFINITION_BYTES];
    eventspace_definition metric = {
        EVENTSPACE_DEFINES_METRIC, id, EVENTSPACE_NO_PARENT, name, NULL, 0};
    size_t at = 0, bytes;

    while ((bytes = eventspace__definition_encode(tuple, &at, &metric)) > 0)
        check_status(fake_run_define(fake, process, tuple, bytes), 0);
}

static void count(fake_run *fake, uint32_t process, uint32_t id,
                  uint64_t from_us, uint64_t to_us, uint64_t count)
{
    eventspace_trace event = {.start = FAKE_START + 1000 * from_us,
                              .end = FAKE_START + 1000 * to_us,
                              .collector = id,
                              .thread = process,
                              .sequence = (uint32_t)(count >> 32),
                              .bytes = (uint32_t)count,
                              .operation = EVENTSPACE_TRACE_METRIC};

    check_status(
        fake_run_event_in(fake, process, EVENTSPACE_REGIONS_NAME, &event), 0);
}

static void operate(fake_run *fake, uint32_t thread, uint32_t sequence,
                    uint64_t from_us, uint64_t to_us)
{
    eventspace_trace event = {.start = FAKE_START + 1000 * from_us,
                              .end = FAKE_START + 1000 * to_us,
                              .collector = thread,
                              .thread = thread,
                              .sequence = sequence,
                              .bytes = 8,
                              .operation = PASTSET_WRITE};

    check_status(fake_run_event(fake, &event), 0);
}

/* As much in an interval as of an event's time, but for the time in which it is
 * not known what the thread has counted: where an event is missing, and after
 * the last one of a process that was killed. */
static void check_counted(bool is_killed)
{
    static const char *const names[] = {"cells", "rows", "nothing"};
    static const double cells[] = {50, 150, 200, 100};
    scopes_snapshot_options all = SCOPES_SNAPSHOT_ALL;
    fake_run *fake;
    paths_map *map;

    check_status(paths_map_read(&map, scratch_write("map.dot", two)), 0);
    cr_assert_eq(mkdir(scratch_file("run"), 0700), 0);
    fake = fake_run_begin(scratch_file("run"), map);
    cr_assert_not_null(fake, "%s", pastset_error());
    for (uint32_t thread = 0; thread < 2; thread++) {
        operate(fake, thread, 1, 0, 10);
        operate(fake, thread, 2, 990, 1000);
    }
    define(fake, 0, IDS, "cells");
    define(fake, 0, IDS + 2, "rows");
    count(fake, 0, IDS, 50, 150, 100);
    count(fake, 0, IDS, 150, 350, 400);
    count(fake, 0, IDS + 2, 0, 200, UINT64_C(2) << 32);
    count(fake, 0, IDS + 2, 250, 450, 20);
    if (is_killed)
        fake_run_ended(fake, 0, EVENTSPACE_KILLED, "");
    check_status(fake_run_end(fake), 0);
    paths_map_destroy(map);
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    check_status(scopes_snapshot_take(&snapshot, run, &all), 0);
    check_status(contracts_course_take(&course, snapshot, 100000, names, 3, 1),
                 0);
    cr_assert_geq(course->intervals, 10);
    for (size_t i = 0; i < 10; i++) {
        const double *q =
            contracts_course_at(course, 0, i) + CONTRACTS_QUANTITIES;
        if (!is_killed || i < 3)
            cr_expect_float_eq(q[0], i < 4 ? cells[i] : 0, 1e-6, "%zu: %g", i,
                               q[0]);
        else
            cr_expect(isnan(q[0]), "%zu: %g", i, q[0]);
        if (i < 2)
            cr_expect_float_eq(q[1], 4294967296.0, 1e-3, "%zu: %g", i, q[1]);
        else if (i == 2 || (is_killed && i >= 4))
            cr_expect(isnan(q[1]), "%zu: %g", i, q[1]);
        else
            cr_expect_float_eq(q[1],
                               i == 3   ? 10
                               : i == 4 ? 5
                                        : 0,
                               1e-6, "%zu: %g", i, q[1]);
        cr_expect(isnan(q[2]) && isnan(q[3]));
        q = contracts_course_at(course, 1, i) + CONTRACTS_QUANTITIES;
        cr_expect(isnan(q[0]) && isnan(q[1]) && isnan(q[2]));
        cr_expect_eq(contracts_course_at(course, 1, i)[CONTRACTS_THREADS], 1);
    }
}

Test(course, has_what_programs_count)
{
    check_counted(false);
}

Test(course, knows_nothing_after_the_last_event_before_a_kill)
{
    check_counted(true);
}
