/* Times in regions of a report, which are summed where they are too many: also
 * of traces that say what cannot be. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "viewer/report/report_regions_internal.h"

#define MANY 300000

static const scopes_column columns[] = {
    {"region", "region", SCOPES_TEXT},   {"kind", "kind", SCOPES_TEXT},
    {"number", "number", SCOPES_NUMBER}, {"thread", "thread", SCOPES_TEXT},
    {"depth", "depth", SCOPES_COUNT},    {"start_ns", "start", SCOPES_TIME_NS},
    {"end_ns", "end", SCOPES_TIME_NS},
};

static void add(scopes_table *table, const char *name, int64_t start_ns,
                int64_t end_ns)
{
    scopes_table_text(table, name);
    scopes_table_text(table, "region");
    scopes_table_integer(table, 0);
    scopes_table_text(table, "t0");
    scopes_table_integer(table, 0);
    scopes_table_integer(table, start_ns);
    scopes_table_integer(table, end_ns);
}

static scopes_table *table_of(int64_t length_ns)
{
    scopes_table *table =
        scopes_table_create(columns, sizeof(columns) / sizeof(*columns));

    cr_assert(table);
    for (int64_t i = 0; i < MANY; i++)
        add(table, i % 2 ? "odd" : "even", 100 * i, 100 * i + length_ns);
    return table;
}

static json_int_t number(const json_t *json, const char *key)
{
    return json_integer_value(json_object_get(json, key));
}

static json_int_t bands(const json_t *json)
{
    const json_t *level = json_array_get(json_object_get(json, "levels"), 0);

    return json_integer_value(json_array_get(level, 2));
}

Test(report_regions, too_many_are_summed_and_full_has_all)
{
    scopes_table *table = table_of(50);
    json_t *some = viewer__report_regions(table, 0, 100 * MANY, false);
    json_t *all = viewer__report_regions(table, 0, 100 * MANY, true);
    const json_t *sums = json_object_get(some, "sums");

    cr_assert(some && all);
    cr_expect_eq(bands(all), MANY);
    cr_expect_eq(number(all, "stretchNs"), 0);
    /* Two names in each stretch. */
    cr_expect_leq(bands(some), 250000 / 2);
    cr_expect_gt(bands(some), 250000 / 4);
    cr_expect_gt(number(some, "stretchNs"), 100);
    for (size_t i = 0; i < 2; i++)
        cr_expect_eq(json_integer_value(json_array_get(sums, i)),
                     MANY / 2 * 50);
    json_decref(some);
    json_decref(all);
    scopes_table_destroy(table);
}

/* Those of one depth cannot overlap; a damaged trace may say that they do. */
Test(report_regions, times_that_overlap_take_no_more_room)
{
    scopes_table *table = table_of(INT64_C(100) * MANY);
    json_t *json = viewer__report_regions(table, 0, INT64_C(100) * MANY, false);

    cr_assert(json);
    cr_expect_leq(bands(json), MANY);
    json_decref(json);
    scopes_table_destroy(table);
}

Test(report_regions, times_before_and_behind_the_page_are_not_in_it)
{
    scopes_table *table = table_of(50);
    json_t *json =
        viewer__report_regions(table, 50 * MANY, 50 * MANY + 1000, false);

    cr_assert(json);
    cr_expect_leq(bands(json), 1000);
    cr_expect_gt(bands(json), 0);
    json_decref(json);
    scopes_table_destroy(table);
}
