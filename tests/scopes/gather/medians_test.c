/* medians_test.c - medians of durations, against those of all that have come,
 * sorted. */
#include "scopes/wrappers/medians_internal.h"

#include <math.h>
#include <stdlib.h>

#include "tests/support/check.h"

TestSuite(medians, .timeout = 120);

enum { COUNT = 3000 };

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static uint64_t middle_of(const uint64_t *values, size_t count)
{
    uint64_t sorted[COUNT];

    memcpy(sorted, values, count * sizeof(*values));
    qsort(sorted, count, sizeof(*sorted), compare);
    return sorted[count / 2];
}

/* Each is given before the next value is taken in. */
static void check_medians(uint32_t collector, const uint64_t *values,
                          scopes_medians *m)
{
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t median;
        check_status(scopes__medians_take(m, collector, values[i], &median), 0);
        if (i < SCOPES_MEDIANS_FEWEST) {
            cr_assert_eq(median, 0);
            continue;
        }
        if (i % 7 == 0) { /* sorting takes its time */
            uint64_t expected = middle_of(values, i);
            cr_assert_leq(fabs((double)median - (double)expected),
                          0.03 * (double)expected, "%zu: %lu, not %lu", i,
                          (unsigned long)median, (unsigned long)expected);
        }
    }
}

Test(medians, are_those_of_all_that_came_before)
{
    static uint64_t values[COUNT];
    scopes_medians m = {0};

    srand(7);
    for (size_t i = 0; i < COUNT; i++)
        values[i] = (uint64_t)exp(5 + 12.0 * rand() / RAND_MAX);
    check_medians(3, values, &m);
    for (size_t i = 0; i < COUNT; i++) /* it rises, then falls */
        values[i] = i < COUNT / 3 ? 100 * i : 7 * (COUNT - i);
    check_medians(0, values, &m);
    for (size_t i = 0; i < COUNT; i++)
        values[i] = i % 2 ? 20 : UINT64_MAX - i;
    check_medians(1000, values, &m);
    scopes__medians_fini(&m);
}

Test(medians, of_an_id_that_no_collector_has_are_not_kept)
{
    scopes_medians m = {0};
    uint64_t median;

    for (int i = 0; i < 100; i++)
        check_status(scopes__medians_take(&m, UINT32_MAX, 5, &median), 0);
    cr_expect_eq(median, 0);
    cr_expect_eq(m.count, 0);
    scopes__medians_fini(&m);
}
