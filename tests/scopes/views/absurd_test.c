/* absurd_test.c - views and clocks of what only damaged files tell of: times of
 * some hundred years, maps without anything. They must not take for ever, all
 * memory, or make large times small ones. */
#include <stdio.h>
#include <sys/stat.h>

#include "pastset/request.h"
#include "tests/scopes/told.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"

TestSuite(absurd, .init = scratch_make, .fini = scratch_remove, .timeout = 300);

#define FAR (UINT64_C(1) << 62)
#define EVENT(from, to, id, who, number)                                       \
    {                                                                          \
        .start = (from), .end = (to), .collector = (id), .thread = (who),      \
        .sequence = (number), .bytes = 8, .operation = PASTSET_EXCHANGE        \
    }

static const char sum_map[] =
    "digraph total { subgraph cluster_h {"
    " a [kind=thread, number=0]; b [kind=thread, number=1];"
    " ca [kind=collector, id=0]; cb [kind=collector, id=1];"
    " sum [kind=sum]; cx [kind=collector, id=2];"
    " total [kind=element, type=\"i64\", policy=discard, capacity=4]; }"
    " a -> ca [as=total, use=sum]; b -> cb [as=total, use=sum];"
    " ca -> sum; cb -> sum; sum -> cx; cx -> total; }";

/* Six operations of a, and six of b, of 73 years each. */
static const eventspace_trace ages[] = {
    EVENT(1000, FAR, 0, 0, 1), EVENT(1001, FAR, 0, 0, 2),
    EVENT(1002, FAR, 0, 0, 3), EVENT(1003, FAR, 0, 0, 4),
    EVENT(1004, FAR, 0, 0, 5), EVENT(1005, FAR, 0, 0, 6),
    EVENT(1000, FAR, 1, 1, 1), EVENT(1001, FAR, 1, 1, 2),
    EVENT(1002, FAR, 1, 1, 3), EVENT(1003, FAR, 1, 1, 4),
    EVENT(1004, FAR, 1, 1, 5), EVENT(1005, FAR, 1, 1, 6),
};

Test(absurd, seconds_of_a_critical_path_are_not_told_one_by_one)
{
    static const eventspace_trace events[] = {
        EVENT(1000, 2000, 0, 0, 1), EVENT(1500, 2000, 1, 1, 1),
        EVENT(3000, FAR, 0, 0, 2), EVENT(3500, FAR, 1, 1, 2)};
    told t;
    scopes_table *table;
    int64_t sum = 0;

    told_made(&t, sum_map, events, SIZE(events));
    t.view_input.each = true;
    table = told_view(&t, "critical-path");
    cr_assert_lt(scopes_table_rows(table), 3000000);
    for (size_t i = 0; i < scopes_table_rows(table); i++)
        sum += scopes_table_cell(table, i, 4).integer;
    cr_expect_gt(sum, INT64_MAX / 8, "%ld ns in all", (long)sum);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(absurd, times_add_up_to_the_most_there_is)
{
    told t;
    scopes_table *table;

    told_made(&t, sum_map, ages, SIZE(ages));
    table = told_view(&t, "thread-wait");
    for (size_t row = 0; row < scopes_table_rows(table); row++)
        cr_expect_eq(table_integer(table, row, "total_ns"), INT64_MAX);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(absurd, times_do_no_harm_to_any_view)
{
    told t;

    told_made(&t, sum_map, ages, SIZE(ages));
    for (size_t i = 0; scopes_view_at(i); i++) {
        const scopes_view *view = scopes_view_at(i);
        for (int each = 0; each <= (view->each != NULL); each++) {
            t.view_input.each = each;
            scopes_table_destroy(told_view(&t, view->name));
        }
    }
    told_end(&t);
}

Test(absurd, threads_without_operations_have_no_times)
{
    told t;
    scopes_table *table;

    told_made(&t, sum_map, NULL, 0);
    table = told_view(&t, "communication");
    cr_assert_eq(scopes_table_rows(table), 2);
    cr_expect_eq(table_integer(table, 0, "start_ns"), SCOPES_BLANK);
    cr_expect_eq(table_integer(table, 0, "end_ns"), SCOPES_BLANK);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(absurd, a_run_without_processes_has_no_clocks)
{
    char *out;
    FILE *map;

    cr_assert_eq(mkdir(scratch_file("run"), 0777), 0);
    map = fopen(scratch_file("run/pathmap.dot"), "w");
    cr_assert_not_null(map);
    fputs("digraph none {\n}\n", map);
    cr_assert_eq(fclose(map), 0);
    out = command_run(0, 60, EVENTSPACE, "clock", scratch_file("run"), "-f",
                      "json", NULL);
    cr_expect_not_null(strstr(out, "\"reference\": \"\""), "%s", out);
    free(out);
}
