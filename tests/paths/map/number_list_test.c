/* number_list_test.c - "0,3-5". */
#include "paths/map/number_list.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "pastset/status.h"
#include "tests/support/check.h"

/* The numbers below 12 that a text names, as "0 3 4". */
static const char *numbers_of(const char *text)
{
    static char buffer[64];
    paths_number_list list = {0};
    size_t used = 0;

    buffer[0] = 0;
    check_status(paths_number_list_read(&list, text), 0);
    for (unsigned i = 0; i < 12; i++) {
        if (paths_number_list_has(&list, i))
            used += (size_t)snprintf(buffer + used, sizeof(buffer) - used,
                                     "%s%u", used ? " " : "", i);
    }
    paths_number_list_fini(&list);
    return buffer;
}

Test(number_list, has_numbers_and_ranges, .timeout = 20)
{
    cr_assert_str_eq(numbers_of("0"), "0");
    cr_assert_str_eq(numbers_of("0,3-5"), "0 3 4 5");
    cr_assert_str_eq(numbers_of("11 2"), "2 11");
    cr_assert_str_eq(numbers_of(" 4 , 1-1, 3 "), "1 3 4");
    cr_assert_str_eq(numbers_of("3-5,4-6"), "3 4 5 6");
}

Test(number_list, refuses_what_is_none, .timeout = 20)
{
    static const char *const wrong[] = {
        "",    ",",    "a",         "1,",  "1,,2",    "5-3",
        "1-",  "-1",   "1;2",       "0x1", "1000000", "99999999999999999999",
        "1-x", "1--2", "3-99999999"};
    paths_number_list list = {0};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        cr_expect_eq(paths_number_list_read(&list, wrong[i]), PASTSET_EINVAL,
                     "'%s'", wrong[i]);
        paths_number_list_fini(&list);
    }
}

Test(number_list, meets_ranges_that_have_one_of_it, .timeout = 20)
{
    paths_number_list list = {0};

    cr_assert_not(paths_number_list_meets(&list, 0, UINT64_MAX));
    check_status(paths_number_list_read(&list, "2,7"), 0);
    cr_assert(paths_number_list_meets(&list, 0, 2));
    cr_assert(paths_number_list_meets(&list, 3, 7));
    cr_assert_not(paths_number_list_meets(&list, 3, 6));
    cr_assert_not(paths_number_list_meets(&list, 8, UINT64_MAX));
    paths_number_list_fini(&list);
}
