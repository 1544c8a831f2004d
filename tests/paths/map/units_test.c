/* units_test.c - numbers, durations and rates as texts. */
#include "paths/map/units.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/support/check.h"

Test(units, what_is_written_is_what_is_read, .timeout = 120)
{
    static const double numbers[] = {1.5e-9, 151.23e-6, 9.9999e-3, 0.99999,
                                     2,      31.8e-6,   1e-3};
    char text[32];

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        uint64_t ns, rate;
        paths_duration_text(numbers[i], text, sizeof(text));
        cr_assert_eq(paths_parse_duration(text, &ns), 0, "%s", text);
        cr_assert(fabs((double)ns - numbers[i] * 1e9) <=
                      1 + numbers[i] * 1e9 * 1e-3,
                  "%s", text);
        paths_rate_text(numbers[i] * 1e9, text, sizeof(text));
        cr_assert_eq(paths_parse_rate(text, &rate), 0, "%s", text);
        cr_assert(fabs((double)rate - numbers[i] * 1e9) <=
                      1 + numbers[i] * 1e9 * 1e-3,
                  "%s", text);
    }
    cr_assert_str_eq(paths_duration_text(151e-6, text, 32), "151.0us");
    cr_assert_str_eq(paths_rate_text(94.12e6 / 8, text, 32), "94.12mbit");
}

Test(units, an_exact_duration_is_read_to_the_nanosecond, .timeout = 120)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } exact[] = {{0, "0ms"},
                 {1, "0.000001ms"},
                 {250000, "0.25ms"},
                 {6000000, "6ms"},
                 {1000000000000000, "1000000000ms"},
                 {UINT64_MAX, "18446744073709.551615ms"}};
    char text[32];

    for (size_t i = 0; i < sizeof(exact) / sizeof(*exact); i++) {
        uint64_t ns = 7;
        cr_assert_str_eq(
            paths_exact_duration_text(exact[i].ns, text, sizeof(text)),
            exact[i].text);
        check_status(paths_parse_duration(text, &ns), 0);
        cr_assert_eq(ns, exact[i].ns);
    }
}

Test(units, a_real_number_is_written_with_digits, .timeout = 120)
{
    static const char *const bad[] = {"",    "-1",  "+1",   " 1",  "1e3",
                                      "inf", "nan", "0x10", "1,5", "1.2.3"};
    double value = 7;

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        check_status(paths_parse_real(bad[i], &value), PASTSET_EINVAL);
        cr_assert(strstr(pastset_error(), "is not a number"));
        cr_assert_eq(value, 7);
    }
    check_status(paths_parse_real("0.5", &value), 0);
    cr_assert_eq(value, 0.5);
    check_status(paths_parse_real("12", &value), 0);
    cr_assert_eq(value, 12);
}
