/* table_test.c - one table in each format. */
#include <math.h>
#include <stdlib.h>

#include "scopes/tables/table.h"
#include "tests/support/check.h"
#include "viewer/tables/table_print.h"

static const scopes_column columns[] = {
    {"name", "name", SCOPES_TEXT},    {"count", "count", SCOPES_COUNT},
    {"number", "no.", SCOPES_NUMBER}, {"time_ns", "time ms", SCOPES_TIME_NS},
    {"share", "share", SCOPES_SHARE}, {"rate_ppm", "ppm", SCOPES_REAL},
};

static void add(scopes_table *table, const char *name, int64_t count,
                int64_t number, int64_t time_ns, double share, double real)
{
    scopes_table_text(table, name);
    scopes_table_integer(table, count);
    scopes_table_integer(table, number);
    scopes_table_integer(table, time_ns);
    scopes_table_real(table, share);
    scopes_table_real(table, real);
}

static char *print(const scopes_table *table, viewer_format format)
{
    char *text;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    check_status(viewer_table_print(table, format, file), 0);
    fclose(file);
    return text;
}

static scopes_table *three_rows(void)
{
    scopes_table *table = scopes_table_create(columns, 6);
    add(table, "gr\xc3\xbcn", 1234567, 1234567, 1500000, 0.25, -0.5);
    add(table, "a,\"b\"\n", -1000, 0, -1, 1, 12.1254);
    add(table, "", SCOPES_BLANK, SCOPES_BLANK, SCOPES_BLANK, (double)NAN,
        (double)NAN);
    return table;
}

static void check_text(const scopes_table *table, viewer_format format,
                       const char *want)
{
    char *text = print(table, format);
    cr_assert_str_eq(text, want, "\n%s\nand not\n%s", text, want);
    free(text);
}

Test(table, people_see_grouped_numbers_and_milliseconds, .timeout = 120)
{
    scopes_table *table = three_rows();
    check_text(table, VIEWER_TABLE,
               "name        count      no.    time ms   share     ppm\n"
               "gr\xc3\xbcn    1,234,567  1234567   1.500      25.0%  -0.500\n"
               "a,\"b\"?     -1,000        0  -0.000001  100.0%  12.125\n"
               "\n");
    scopes_table_destroy(table);
}

/* To the nanosecond below a millisecond, and the points below each other. */
Test(table, longer_times_have_fewer_decimals, .timeout = 120)
{
    static const scopes_column times[] = {{"t_ns", "t ms", SCOPES_TIME_NS}};
    scopes_table *table = scopes_table_create(times, 1);
    scopes_table_integer(table, 10000000);
    scopes_table_integer(table, SCOPES_BLANK);
    scopes_table_integer(table, 0);
    check_text(table, VIEWER_TABLE, "  t ms\n10.000\n\n 0.000\n");
    scopes_table_integer(table, 999999);
    scopes_table_integer(table, 1000000);
    scopes_table_integer(table, -57);
    check_text(table, VIEWER_TABLE,
               "     t ms\n10.000\n\n 0.000\n 0.999999\n 1.000\n-0.000057\n");
    scopes_table_destroy(table);
}

/* Total, mean, min and max of a wait are compared with each other. */
Test(table, columns_of_one_unit_have_as_many_decimals, .timeout = 120)
{
    static const scopes_column all[] = {
        {"total_ns", "total ms", SCOPES_TIME_NS},
        {"min_ns", "min ms", SCOPES_TIME_NS},
        {"lost_ns", "lost ms", SCOPES_TIME_NS},
        {"min_s", "min s", SCOPES_REAL},
        {"max_s", "max s", SCOPES_REAL},
        {"times", "times", SCOPES_REAL},
    };
    scopes_table *table = scopes_table_create(all, 6);

    scopes_table_integer(table, 69139000);
    scopes_table_integer(table, 2435910);
    scopes_table_integer(table, 0);
    scopes_table_real(table, 0.5);
    scopes_table_real(table, 12.125);
    scopes_table_real(table, 2);
    check_text(table, VIEWER_TABLE,
               "total ms  min ms  lost ms  min s   max s  times\n"
               "  69.139   2.436    0.000  0.500  12.125      2\n");
    scopes_table_destroy(table);
}

Test(table, what_is_never_has_no_more_decimals_than_others, .timeout = 120)
{
    static const scopes_column all[] = {{"lost_ns", "lost ms", SCOPES_TIME_NS},
                                        {"all_ns", "all ms", SCOPES_TIME_NS},
                                        {"x", "x", SCOPES_REAL}};
    scopes_table *table = scopes_table_create(all, 3);

    scopes_table_integer(table, 0);
    scopes_table_integer(table, 12000000);
    scopes_table_real(table, -0.0001);
    check_text(table, VIEWER_TABLE, "lost ms  all ms  x\n  0.000  12.000  0\n");
    scopes_table_destroy(table);
}

Test(table, csv_quotes_what_would_break_it, .timeout = 120)
{
    scopes_table *table = three_rows();
    check_text(table, VIEWER_CSV,
               "name,count,number,time_ns,share,rate_ppm\r\n"
               "gr\xc3\xbcn,1234567,1234567,1500000,0.25,-0.5\r\n"
               "\"a,\"\"b\"\"\n\",-1000,0,-1,1,12.1254\r\n"
               ",,,,,\r\n");
    scopes_table_destroy(table);
}

Test(table, json_has_null_for_what_is_not_known, .timeout = 120)
{
    scopes_table *table = three_rows();
    check_text(table, VIEWER_JSON,
               "[\n"
               "{\"name\":\"gr\xc3\xbcn\",\"count\":1234567,\"number\":1234567,"
               "\"time_ns\":1500000,\"share\":0.25,\"rate_ppm\":-0.5},\n"
               "{\"name\":\"a,\\\"b\\\"\\n\",\"count\":-1000,\"number\":0,"
               "\"time_ns\":-1,\"share\":1,\"rate_ppm\":12.1254},\n"
               "{\"name\":\"\",\"count\":null,\"number\":null,"
               "\"time_ns\":null,\"share\":null,\"rate_ppm\":null}\n"
               "]");
    scopes_table_destroy(table);
}

static void check_number(double number, const char *want)
{
    static const scopes_column reals[] = {{"x", "x", SCOPES_REAL}};
    scopes_table *table = scopes_table_create(reals, 1);
    char line[64];

    scopes_table_real(table, number);
    snprintf(line, sizeof(line), "x\r\n%s\r\n", want);
    check_text(table, VIEWER_CSV, line);
    snprintf(line, sizeof(line), "[\n{\"x\":%s}\n]", want);
    check_text(table, VIEWER_JSON, line);
    scopes_table_destroy(table);
}

Test(table, programs_see_six_digits_and_no_exponent, .timeout = 120)
{
    check_number(0, "0");
    check_number(-0.0, "0");
    check_number(1.0 / 3, "0.333333");
    check_number(200.0 / 3, "66.6667");
    check_number(-2e6 / 3, "-666667");
    check_number(15000000, "15000000");
    check_number(123456789.25, "123456789");
    check_number(0.00001234567, "0.0000123457");
    check_number(999999.9, "1000000");
    check_number(100, "100");
    check_number(1e20, "1e+20");
}

Test(table, members_of_an_object_have_no_braces, .timeout = 120)
{
    scopes_table *table = three_rows();
    char *text;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    check_status(viewer_table_print_members(table, 2, file), 0);
    fclose(file);
    cr_assert_str_eq(text, "\"name\":\"\",\"count\":null,\"number\":null,"
                           "\"time_ns\":null,\"share\":null,"
                           "\"rate_ppm\":null");
    free(text);
    scopes_table_destroy(table);
}

Test(table, a_table_without_rows_has_its_head, .timeout = 120)
{
    scopes_table *table = scopes_table_create(columns, 2);
    check_text(table, VIEWER_TABLE, "name  count\n");
    check_text(table, VIEWER_CSV, "name,count\r\n");
    check_text(table, VIEWER_JSON, "[\n]");
    scopes_table_destroy(table);
}

Test(table, memory_that_ran_out_is_told, .timeout = 120)
{
    check_status(viewer_table_print(NULL, VIEWER_CSV, stdout), PASTSET_ENOMEM);
}
