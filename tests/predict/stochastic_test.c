/* stochastic_test.c - values with ranges: the numbers of paper 002, what a
 * million draws say of each rule, and modes that are found again. */
#include "predict/stochastic/modes.h"
#include "tests/predict/made_series.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdlib.h>

#define DRAWS 1000000

static void is_refused(int err, const char *why)
{
    check_status(err, PASTSET_EINVAL);
    check_error(why);
}

static void is_about(predict_stochastic v, double mean, double range,
                     double within)
{
    cr_expect(fabs(v.mean - mean) <= within, "%.6f is not %.6f", v.mean, mean);
    cr_expect(fabs(v.range - range) <= within, "± %.6f is not ± %.6f", v.range,
              range);
}

/* --- drawing --- */

static made_random random_state = {20261126};

static double uniform(void)
{
    return made_uniform(&random_state);
}

static double normal(void)
{
    return made_normal(&random_state);
}

static double drawn(predict_stochastic v, double deviations)
{
    return v.mean + v.range / 2 * deviations;
}

typedef double (*operation)(double x, double y);

static double sum(double x, double y)
{
    return x + y;
}
static double difference(double x, double y)
{
    return x - y;
}
static double product(double x, double y)
{
    return x * y;
}
static double quotient(double x, double y)
{
    return x / y;
}

/* What comes out, of values that have nothing to do with each other, or of
 * which one moves as the other does. */
static predict_stochastic draw(operation of, predict_stochastic x,
                               predict_stochastic y, predict_relation relation)
{
    double *values = malloc(DRAWS * sizeof(*values));
    predict_stochastic v;

    cr_assert_not_null(values);
    for (int i = 0; i < DRAWS; i++) {
        double a = normal(), b = relation == PREDICT_RELATED ? a : normal();
        values[i] = of(drawn(x, a), drawn(y, b));
    }
    v = predict_stochastic_of(values, DRAWS);
    free(values);
    return v;
}

/* --- rules --- */

static const predict_stochastic four = {4, 0.5}, three = {3, 2};

Test(stochastic, values_are_combined_as_in_the_paper, .timeout = 120)
{
    /* 002, figure 4 */
    is_about(predict_stochastic_add(four, three, PREDICT_RELATED), 7, 2.5,
             1e-12);
    is_about(predict_stochastic_add(four, three, PREDICT_UNRELATED), 7, 2.0616,
             5e-5);
    is_about(predict_stochastic_multiply(four, three, PREDICT_RELATED), 12,
             10.5, 1e-12);
    is_about(predict_stochastic_multiply(four, three, PREDICT_UNRELATED), 12,
             8.1394, 5e-5);
    is_about(predict_stochastic_add(four, predict_point(10), PREDICT_RELATED),
             14, 0.5, 1e-12);
    is_about(
        predict_stochastic_multiply(predict_point(3), four, PREDICT_UNRELATED),
        12, 1.5, 1e-12);
}

Test(stochastic, the_largest_is_that_of_the_paper, .timeout = 120)
{
    /* 002, 2.3.1: A = 4 ± 0.5 has the largest mean, B = 3 ± 2 the largest
     * value. */
    const predict_stochastic values[] = {{4, 0.5}, {3, 2}, {3, 1}};

    cr_expect_eq(predict_stochastic_max(values, 3, PREDICT_BY_MEAN), 0);
    cr_expect_eq(predict_stochastic_max(values, 3, PREDICT_BY_UPPER), 1);
    cr_expect_eq(predict_stochastic_min(values, 3, PREDICT_BY_MEAN), 1);
    cr_expect_eq(predict_stochastic_min(values, 3, PREDICT_BY_UPPER), 2);
}

Test(stochastic, differences_have_the_range_of_sums, .timeout = 120)
{
    is_about(predict_stochastic_subtract(four, three, PREDICT_RELATED), 1, 2.5,
             1e-12);
    is_about(predict_stochastic_subtract(four, three, PREDICT_UNRELATED), 1,
             sqrt(4.25), 1e-12);
}

Test(stochastic, negative_means_and_means_of_zero_have_ranges, .timeout = 120)
{
    const predict_stochastic minus = {-4, 0.5}, zero = {0, 1};
    predict_stochastic v;

    is_about(predict_stochastic_multiply(minus, three, PREDICT_RELATED), -12,
             10.5, 1e-12);
    is_about(predict_stochastic_multiply(minus, three, PREDICT_UNRELATED), -12,
             8.1394, 5e-5);
    is_about(predict_stochastic_multiply(zero, three, PREDICT_UNRELATED), 0, 3,
             1e-12);
    check_status(predict_stochastic_divide(&v, three, minus, PREDICT_UNRELATED),
                 0);
    is_about(v, -0.75, hypot(2 / 4., 0.5 * 3 / 16), 1e-12);
    check_status(predict_stochastic_divide(&v, zero, minus, PREDICT_RELATED),
                 0);
    is_about(v, 0, 1 / 3.5, 1e-12);
}

Test(stochastic, nothing_is_divided_by_what_may_be_zero, .timeout = 120)
{
    predict_stochastic v;

    is_refused(predict_stochastic_divide(&v, four, (predict_stochastic){2, 2},
                                         PREDICT_UNRELATED),
               "reaches 0");
    is_refused(
        predict_stochastic_divide(&v, four, predict_point(0), PREDICT_RELATED),
        "reaches 0");
    is_refused(predict_stochastic_check((predict_stochastic){1, -1}, "load"),
               "load has a range below 0");
    is_refused(predict_stochastic_check((predict_stochastic){NAN, 1}, "load"),
               "load is not a number");
}

/* --- what draws say --- */

/* Of a million, a deviation is known to 0.07 %, and a mean to a thousandth of
 * it. */
#define KNOWN 0.005

Test(stochastic, sums_are_exact, .timeout = 120)
{
    is_about(draw(sum, four, three, PREDICT_UNRELATED), 7, sqrt(4.25), KNOWN);
    is_about(draw(sum, four, three, PREDICT_RELATED), 7, 2.5, KNOWN);
    is_about(draw(difference, four, three, PREDICT_UNRELATED), 1, sqrt(4.25),
             KNOWN);
    /* What moves the same way stays closer than the rule says. */
    is_about(draw(difference, four, three, PREDICT_RELATED), 1, 1.5, KNOWN);
}

Test(stochastic, products_are_as_far_off_as_it_says, .timeout = 120)
{
    const predict_stochastic x = {4, 2}, y = {3, 1.5}; /* 50 % each */
    predict_stochastic rule =
        predict_stochastic_multiply(x, y, PREDICT_UNRELATED);
    predict_stochastic real = draw(product, x, y, PREDICT_UNRELATED);

    is_about(real, 12, rule.range * sqrt(1 + 0.25 * 0.25 / 4 / 0.5),
             12 * KNOWN);
    cr_expect_lt(rule.range, real.range);
    cr_expect_gt(rule.range, real.range * 0.984);
    real = draw(product, x, y, PREDICT_RELATED);
    rule = predict_stochastic_multiply(x, y, PREDICT_RELATED);
    cr_expect(fabs(real.mean - 12 * (1 + 0.25 / 4)) < 12 * KNOWN, "%.4f",
              real.mean);
    cr_expect_geq(rule.range, real.range);
}

Test(stochastic, quotients_are_as_far_off_as_it_says, .timeout = 120)
{
    const predict_stochastic x = {12, 1.2}, y = {0.48, 0.05}; /* 002, 3.1 */
    predict_stochastic rule, real = draw(quotient, x, y, PREDICT_UNRELATED);
    double s = y.range / y.mean;

    check_status(predict_stochastic_divide(&rule, x, y, PREDICT_UNRELATED), 0);
    cr_expect(fabs(real.mean - rule.mean * (1 + s * s / 4)) < 25 * KNOWN / 10,
              "%.4f", real.mean);
    cr_expect(fabs(real.range / rule.range - 1) < 0.02, "%.4f of %.4f",
              real.range, rule.range);
    check_status(predict_stochastic_divide(&rule, x, y, PREDICT_RELATED), 0);
    cr_expect_geq(rule.range, real.range);
}

Test(stochastic, ninety_five_of_a_hundred_are_within, .timeout = 120)
{
    double *values = malloc(DRAWS * sizeof(*values));

    cr_assert_not_null(values);
    for (int i = 0; i < DRAWS; i++)
        values[i] = drawn(four, normal());
    cr_expect(fabs(predict_coverage(predict_stochastic_of(values, DRAWS),
                                    values, DRAWS) -
                   0.9545) < 0.001);
    free(values);
}

/* --- long tails --- */

Test(stochastic, a_long_tail_is_one_mode_and_covered_less, .timeout = 120)
{
    /* As 002, figure 2: a threshold, below which values tail off; mean 5.25,
     * two deviations 0.8. */
    enum { COUNT = 20000 };
    static double values[COUNT];
    predict_modes modes;
    predict_stochastic all;
    double covered;

    for (int i = 0; i < COUNT; i++)
        values[i] = 5.65 + 0.4 * log(uniform());
    all = predict_stochastic_of(values, COUNT);
    is_about(all, 5.25, 0.8, 0.02);
    covered = predict_coverage(all, values, COUNT);
    /* Of an exponential tail 1 - e^-3: all that lacks is on one side. */
    cr_expect(fabs(covered - (1 - exp(-3))) < 0.005, "%.4f", covered);
    check_status(predict_modes_find(&modes, values, COUNT), 0);
    cr_expect_eq(modes.count, 1);
    is_about(modes.modes[0].value, 5.25, 0.8, 0.05);
}

/* --- modes --- */

/* As 002, figure 3: load around 0.94, 0.49 and 0.33. */
static const predict_stochastic three_modes[] = {
    {0.33, 0.04}, {0.49, 0.08}, {0.94, 0.05}};
static const double three_shares[] = {0.25, 0.35, 0.4};

static double of_three_modes(void)
{
    double which = uniform();
    int k = which < three_shares[0]                     ? 0
            : which < three_shares[0] + three_shares[1] ? 1
                                                        : 2;

    return drawn(three_modes[k], normal());
}

static void finds_three(size_t count, double within)
{
    double *values = malloc(count * sizeof(*values));
    predict_modes modes;

    cr_assert_not_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = of_three_modes();
    check_status(predict_modes_find(&modes, values, count), 0);
    free(values);
    cr_assert_eq(modes.count, 3, "%zu modes of %zu values", modes.count, count);
    for (size_t k = 0; k < 3; k++) {
        is_about(modes.modes[k].value, three_modes[k].mean,
                 three_modes[k].range, within);
        cr_expect(fabs(modes.modes[k].share - three_shares[k]) <
                      2 * within + 0.01,
                  "%.3f", modes.modes[k].share);
        cr_expect_eq(predict_modes_of(&modes, three_modes[k].mean), k);
    }
}

Test(stochastic, modes_are_found_again, .timeout = 120)
{
    finds_three(200, 0.03);
    finds_three(2000, 0.01);
    finds_three(100000, 0.003);
}

Test(stochastic, one_mode_is_not_cut, .timeout = 120)
{
    for (int series = 0; series < 100; series++) {
        double values[500];
        predict_modes modes;
        for (int i = 0; i < 500; i++)
            values[i] = drawn(three_modes[1], normal());
        check_status(predict_modes_find(&modes, values, 500), 0);
        cr_expect_eq(modes.count, 1, "series %d has %zu modes", series,
                     modes.count);
    }
}

Test(stochastic, modes_together_are_the_average_or_the_mixture, .timeout = 120)
{
    predict_modes modes = {.count = 3};
    predict_stochastic mixed;
    double *values = malloc(DRAWS * sizeof(*values));

    cr_assert_not_null(values);
    for (size_t k = 0; k < 3; k++)
        modes.modes[k] =
            (predict_mode){.share = three_shares[k], .value = three_modes[k]};
    /* 002, 2.1.2: P1(M1 ± SD1) + P2(M2 ± SD2) + P3(M3 ± SD3) */
    is_about(predict_modes_averaged(&modes), 0.63,
             sqrt(0.01 * 0.01 + 0.028 * 0.028 + 0.02 * 0.02), 1e-9);
    mixed = predict_modes_mixed(&modes);
    for (int i = 0; i < DRAWS; i++)
        values[i] = of_three_modes();
    is_about(predict_stochastic_of(values, DRAWS), mixed.mean, mixed.range,
             0.001);
    free(values);
}

Test(stochastic, few_values_and_equal_ones_have_modes, .timeout = 120)
{
    const double one[] = {0.5}, equal[] = {2, 2, 2, 2}, two[] = {1, 3};
    predict_modes modes;

    check_status(predict_modes_find(&modes, one, 1), 0);
    cr_expect_eq(modes.count, 1);
    is_about(modes.modes[0].value, 0.5, 0, 1e-12);
    check_status(predict_modes_find(&modes, equal, 4), 0);
    cr_expect_eq(modes.count, 1);
    is_about(predict_modes_mixed(&modes), 2, 0, 1e-12);
    check_status(predict_modes_find(&modes, two, 2), 0);
    cr_expect_eq(modes.count, 1);
    cr_expect(fabs(predict_modes_averaged(&modes).mean - 2) < 1e-9);
    is_refused(predict_modes_find(&modes, one, 0), "no values");
    is_refused(predict_modes_find(&modes, (double[]){1, INFINITY}, 2),
               "value 2 is not a number");
}
