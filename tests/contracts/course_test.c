/* course_test.c - what processes have to do with each other, of runs that are
 * made up. Times are microseconds. */
#include "contracts/signature/course.h"

#include <math.h>

#include "tests/measure/planted_ranks.h"
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

static void take(void)
{
    scopes_snapshot_options all = SCOPES_SNAPSHOT_ALL;

    planted_end();
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    check_status(scopes_snapshot_take(&snapshot, run, &all), 0);
    check_status(contracts_course_take(&course, snapshot, 100000), 0);
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
