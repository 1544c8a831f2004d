/* stages_test.c - what passed each stage, and how long it was there: exactly,
 * of rounds made by hand. */
#include "tests/scopes/told.h"
#include "tests/scopes/views/two_rounds.h"
#include "tests/support/check.h"
#include "tests/support/numbers.h"
#include "tests/support/scratch.h"

TestSuite(stages, .init = scratch_make, .fini = scratch_remove, .timeout = 60);

/* What a row says, next to names. */
typedef struct want {
    const char *collector, *thread, *stage, *below, *to_process;
    int64_t operations, bytes, passing_ns, count, total_ns;
} want;

static void check_row(const scopes_table *table, const want *w)
{
    size_t row = table_row(table, "collector", w->collector, NULL);

    cr_expect_str_eq(table_text(table, row, "thread"), w->thread);
    cr_expect_str_eq(table_text(table, row, "stage"), w->stage);
    cr_expect_str_eq(table_text(table, row, "below"), w->below);
    cr_expect_str_eq(table_text(table, row, "to_process"), w->to_process);
    cr_expect_eq(table_integer(table, row, "operations"), w->operations);
    cr_expect_eq(table_integer(table, row, "bytes"), w->bytes);
    cr_expect_eq(table_integer(table, row, "passing_ns"), w->passing_ns,
                 "%s: passing %ld", w->collector,
                 (long)table_integer(table, row, "passing_ns"));
    cr_expect_eq(table_integer(table, row, "count"), w->count);
    cr_expect_eq(table_integer(table, row, "total_ns"), w->total_ns,
                 "%s: total %ld", w->collector,
                 (long)table_integer(table, row, "total_ns"));
}

/* By two_rounds.h: a, then b came over the proxy, and a, then c was the last of
 * all. */
static const want wants[] = {
    {"ca", "a", "part", "cp", "g", 2, 16, 3800 + 7000, 1, 3800 - 3400},
    {"cb", "b", "part", "cp", "g", 2, 16, 8000 + 6100, 1, 6100 - 5300},
    {"cc", "c", "root", "cx", "h", 2, 16, 7500 + 2200, 1, 2200 - 900},
    {"cp", "", "over", "co", "h", 2, 16, 3400 + 5300, 2,
     3400 - 2000 + 5300 - 4000},
    {"co", "", "root", "cx", "h", 2, 16, 2000 + 4000, 1, 2000 - 900},
    {"cx", "", "total", "", "", 2, 16, 900 + 900, 2, 900 + 900},
};

static void begin(told *t)
{
    told_made(t, sum_map, two_rounds, SIZE(two_rounds));
}

Test(stages, have_what_passed_them_and_its_time_there)
{
    scopes_table *table;
    told t;

    begin(&t);
    table = told_view(&t, "stages");
    cr_expect_eq(scopes_table_rows(table), SIZE(wants));
    for (size_t i = 0; i < SIZE(wants); i++)
        check_row(table, &wants[i]);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(stages, can_be_asked_for_a_thread)
{
    static const want of_c[] = {
        {"cc", "c", "root", "cx", "h", 2, 16, 7500 + 2200, 1, 2200 - 900},
        {"cx", "c", "total", "", "", 1, 8, 900, 1, 900},
    };
    scopes_table *table;
    told t;

    begin(&t);
    t.view_input.threads = numbers("2");
    table = told_view(&t, "stages");
    cr_expect_eq(scopes_table_rows(table), SIZE(of_c));
    for (size_t i = 0; i < SIZE(of_c); i++)
        check_row(table, &of_c[i]);
    scopes_table_destroy(table);
    told_end(&t);
}

Test(stages, can_be_asked_for_a_wrapper)
{
    scopes_table *table;
    told t;

    begin(&t);
    t.view_input.of = "root";
    table = told_view(&t, "stages");
    cr_expect_eq(scopes_table_rows(table), 2);
    check_row(table, &wants[2]);
    check_row(table, &wants[4]);
    scopes_table_destroy(table);
    told_end(&t);
}

/* Nothing is told of what is not there. */
Test(stages, of_which_events_are_missing_have_the_others)
{
    scopes_table *table;
    size_t rows = 0;
    told t;

    begin(&t);
    told_lose(&t, 40, 7);
    table = told_view(&t, "stages");
    for (uint32_t id = 0; id < SIZE(wants); id++) {
        const scopes_series *series = scopes_event_series(t.event_table, id);
        size_t row;
        if (series->count == 0)
            continue;
        rows++;
        row = table_row(table, "collector", wants[id].collector, NULL);
        cr_expect_eq(table_integer(table, row, "operations"),
                     (int64_t)series->count);
        cr_expect_leq(table_integer(table, row, "count"), wants[id].count);
    }
    cr_assert_gt(rows, 0);
    cr_expect_eq(scopes_table_rows(table), rows);
    scopes_table_destroy(table);
    told_end(&t);
}
