/* counted_test.c - what a program counts itself, in its trace: against what it
 * says that it has counted; archived, after a kill, and where nothing is
 * recorded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/scopes/sums_map.h"
#include "tests/scopes/told.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define APP TEST_BINARY_DIR "/metric_app"
#define ROUNDS 200
#define CELLS 500
#define MUCH ((INT64_C(1) << 33) + 1)

TestSuite(counted, .init = scratch_make, .fini = scratch_remove,
          .timeout = 300);

static char *app_run(const char *more)
{
    return command_run(0, 120, EVENTSPACE, "run", scratch_file("map.dot"),
                       "--output", scratch_file("run"), "--replace",
                       more ? more : "--", more ? "--" : APP,
                       more ? APP : "200", more ? "200" : "500",
                       more ? "500" : "due", more ? "due" : NULL, NULL);
}

static int64_t cells_of(unsigned thread)
{
    return (int64_t)ROUNDS * CELLS * (thread == 1 ? 2 : 1);
}

/* What the program says is as it should be, and so is what the run says. */
static void check_totals(told *t, const char *output)
{
    scopes_table *table = told_view(t, "metrics");

    cr_assert_eq(scopes_table_rows(table), 4, "%s", table_dump(table));
    for (unsigned thread = 0; thread < 3; thread++) {
        long long said[2] = {0};
        char name[10], wanted[20];
        const char *line;
        int64_t start_ns, end_ns;
        size_t row;
        snprintf(name, sizeof(name), "t%u", thread);
        snprintf(wanted, sizeof(wanted), "| %u ", thread);
        line = strstr(output, wanted);
        cr_assert_not_null(line, "%s", output);
        cr_assert_eq(
            sscanf(line + strlen(wanted), "%lld %lld", &said[0], &said[1]), 2);
        cr_expect_eq(said[0], cells_of(thread));
        row = table_row(table, "metric", "cells", "thread", name, NULL);
        cr_expect_eq(table_integer(table, row, "total"), said[0]);
        cr_expect_str_eq(table_text(table, row, "process"),
                         thread == 1 ? "h1" : "h0");
        start_ns = table_integer(table, row, "start_ns");
        end_ns = table_integer(table, row, "end_ns");
        cr_expect_geq(end_ns - start_ns, ROUNDS * INT64_C(1000000));
        cr_expect_float_eq(table_real(table, row, "rate_s"),
                           1e9 * (double)said[0] / (double)(end_ns - start_ns),
                           1);
    }
    cr_expect_eq(table_integer(table, table_row(table, "metric", "bytes", NULL),
                               "total"),
                 ROUNDS * MUCH);
    scopes_table_destroy(table);
}

/* One behind the other, without a gap, and there are some. */
static void check_each(told *t)
{
    scopes_table *table;
    int64_t sum = 0, until_ns = INT64_MIN;
    size_t rows = 0;

    t->view_input.each = true;
    t->view_input.of = "cells";
    table = told_view(t, "metrics");
    for (size_t row = 0; row < scopes_table_rows(table); row++) {
        if (table_integer(table, row, "number") != 1)
            continue;
        cr_expect_str_eq(table_text(table, row, "metric"), "cells");
        cr_expect(until_ns == INT64_MIN ||
                  table_integer(table, row, "start_ns") == until_ns);
        until_ns = table_integer(table, row, "end_ns");
        sum += table_integer(table, row, "counted");
        rows++;
    }
    cr_expect_eq(sum, cells_of(1));
    cr_expect_geq(rows, 3); /* it waited until one was due, three times */
    scopes_table_destroy(table);
    t->view_input.each = false;
    t->view_input.of = NULL;
}

Test(counted, is_what_the_program_has_added)
{
    scopes_table *table;
    char *output;
    told t;

    sums_map_make(true);
    output = app_run(NULL);
    told_run(&t, scratch_file("run"));
    check_totals(&t, output);
    check_each(&t);
    cr_expect_eq(t.event_table->strange, 0);
    /* It is no region. */
    table = told_view(&t, "regions");
    cr_expect_eq(scopes_table_rows(table), 0);
    scopes_table_destroy(table);
    t.view_input.of = "bytes";
    table = told_view(&t, "metrics");
    cr_expect_eq(scopes_table_rows(table), 1);
    scopes_table_destroy(table);
    told_end(&t);
    free(output);
}

Test(counted, is_archived_and_gathered_as_other_events)
{
    char *output;
    told t;

    sums_map_make(true);
    output = app_run("--archive");
    cr_assert_eq(unlink(scratch_file("run/h0.space")), 0);
    cr_assert_eq(unlink(scratch_file("run/h1.space")), 0);
    told_run(&t, scratch_file("run"));
    check_totals(&t, output);
    told_end(&t);
    free(output);
    output = app_run(NULL);
    free(command_run(0, 60, EVENTSPACE, "scope", scratch_file("run"),
                     "--output", scratch_file("mirror"), NULL));
    told_run(&t, scratch_file("mirror"));
    check_totals(&t, output);
    check_each(&t);
    told_end(&t);
    free(output);
}

/* A program needs not know whether it is recorded. */
Test(counted, is_not_recorded_without_collectors)
{
    char *output;

    sums_map_make(false);
    output = command_run(0, 120, EVENTSPACE, "run", scratch_file("map.dot"),
                         "--output", scratch_file("run"), "--", APP, "200",
                         "500", NULL);
    cr_expect_not_null(strstr(output, "| 1 200000 0"), "%s", output);
    free(output);
}

/* Nothing of the program's is an operation, or in the way of exports. */
Test(counted, is_in_sql_and_exports)
{
    char *output;

    sums_map_make(true);
    free(app_run(NULL));
    output = command_run(
        0, 60, COMMAND_QUIET, EVENTSPACE, "sql", scratch_file("run"),
        "select r.name, sum(e.sequence * 4294967296 + e.bytes) from event e "
        "join region r on r.id = e.collector where e.verb = 'metric' and "
        "r.kind = 'metric' group by 1 order by 1",
        "--format=csv", NULL);
    cr_expect_not_null(
        strstr(output, "bytes,1717986918600\r\ncells,400000\r\n"), "%s",
        output);
    free(output);
    free(command_run(0, 60, EVENTSPACE, "export", scratch_file("run"),
                     "--format=chrome", "--output", scratch_file("chrome.json"),
                     NULL));
    output = command_run(0, 60, "cat", scratch_file("chrome.json"), NULL);
    cr_expect_not_null(strstr(output, "\"cells of t1 in a second\""));
    free(output);
}
