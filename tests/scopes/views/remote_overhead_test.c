/* remote_overhead_test.c - what it costs to go to another process: of figure 3,
 * EC9 less EC8, beside what their raw tuples say. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/scopes/told.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"
#include "tests/support/numbers.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define FIGURE3 TEST_BINARY_DIR "/figure3"
#define FIGURE3_MAP TEST_SOURCE_DIR "/../examples/figure3/figure3.dot"
#define ROUNDS 200

static told t;

static void run_make(void)
{
    scratch_make();
    free(command_run(0, 60, EVENTSPACE, "run", FIGURE3_MAP, "--output",
                     scratch_file("run"), "--", FIGURE3, "200", NULL));
    told_run(&t, scratch_file("run"));
}

static void run_remove(void)
{
    told_end(&t);
    scratch_remove();
}

TestSuite(remote_overhead, .init = run_make, .fini = run_remove,
          .timeout = 300);

static double hz_of(const char *process)
{
    double hz = 0;

    for (size_t i = 0; i < eventspace_run_process_count(t.run); i++) {
        const eventspace_run_process *found =
            eventspace_run_process_at(t.run, i);
        if (strcmp(found->name, process) == 0)
            hz = found->meta.tick_hz;
    }
    return hz;
}

/* The length of an event, by the rate that its process believes in. */
static int64_t length_ns(const char *process, const eventspace_trace *event)
{
    return llround((double)(event->end - event->start) * 1e9 / hz_of(process));
}

/* The two processes' rates are those of one counter, measured twice. A view
 * takes one of them for both: so much may an overhead be off by that, and by
 * what is rounded. The longer both events waited for others, the more. */
static double off_ns(const eventspace_trace *above)
{
    double apart = fabs(hz_of("A") / hz_of("B") - 1);

    return 3 + 2 * apart * (double)length_ns("B", above);
}

/* Of one operation at EC9, found at EC8 by its name; -1 when it is not. */
static int64_t overhead_of(const eventspace_trace *above)
{
    const scopes_series *below = scopes_event_series(t.event_table, 8);

    for (size_t i = 0; i < below->count; i++) {
        const eventspace_trace *event = scopes_event_at(below->events, i);
        if (event->thread == above->thread &&
            event->sequence == above->sequence)
            return length_ns("B", above) - length_ns("A", event);
    }
    return -1;
}

Test(remote_overhead, of_figure_3_is_ec9_less_ec8)
{
    const scopes_series *above = scopes_event_series(t.event_table, 9);
    scopes_table *table = told_view(&t, "remote-overhead");
    int64_t sum = 0, got;
    double off = 0;

    cr_assert_eq(scopes_table_rows(table), 1);
    cr_expect_str_eq(table_text(table, 0, "proxy"), "proxy");
    cr_expect_str_eq(table_text(table, 0, "process"), "B");
    cr_expect_str_eq(table_text(table, 0, "to_process"), "A");
    cr_expect_str_eq(table_text(table, 0, "above"), "EC9");
    cr_expect_str_eq(table_text(table, 0, "below"), "EC8");
    cr_expect_eq(table_integer(table, 0, "count"), ROUNDS);
    for (size_t i = 0; i < above->count; i++) {
        sum += overhead_of(scopes_event_at(above->events, i));
        off += off_ns(scopes_event_at(above->events, i));
    }
    got = table_integer(table, 0, "total_ns");
    cr_expect_leq(fabs((double)(got - sum)), off, "%ld, not %ld", (long)got,
                  (long)sum);
    scopes_table_destroy(table);
}

Test(remote_overhead, each_operation_has_the_difference_of_its_two_times)
{
    const scopes_series *above = scopes_event_series(t.event_table, 9);
    scopes_table *table;

    t.view_input.each = true;
    table = told_view(&t, "remote-overhead");
    cr_assert_eq(scopes_table_rows(table), ROUNDS);
    for (size_t row = 0; row < ROUNDS; row++) {
        int64_t own = table_integer(table, row, "overhead_ns");
        int64_t want = overhead_of(scopes_event_at(above->events, row));
        cr_expect_eq(table_integer(table, row, "sequence"),
                     scopes_event_at(above->events, row)->sequence);
        cr_expect_eq(own, table_integer(table, row, "above_ns") -
                              table_integer(table, row, "below_ns"));
        cr_expect_leq(fabs((double)(own - want)),
                      off_ns(scopes_event_at(above->events, row)),
                      "%ld, not %ld", (long)own, (long)want);
    }
    scopes_table_destroy(table);
}

Test(remote_overhead, can_be_asked_for_one_thread)
{
    const scopes_series *above = scopes_event_series(t.event_table, 9);
    scopes_table *table;
    int64_t count = 0;

    t.view_input.threads = numbers("2");
    table = told_view(&t, "remote-overhead");
    for (size_t i = 0; i < above->count; i++)
        count += scopes_event_at(above->events, i)->thread == 2;
    if (count)
        cr_expect_eq(table_integer(table, 0, "count"), count);
    else
        cr_expect_eq(scopes_table_rows(table), 0);
    scopes_table_destroy(table);
}
