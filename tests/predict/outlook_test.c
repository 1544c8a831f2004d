/* outlook_test.c - what a series will be over a run, against what then came;
 * and the times of made programs by values that vary, against draws. */
#include "predict/stochastic/outlook.h"
#include "predict/stochastic/vary.h"
#include "tests/predict/made_series.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP 5000 /* ms between samples */

static predict_reading *readings_of(const double *values, size_t count)
{
    predict_reading *items = calloc(count, sizeof(*items));

    for (size_t i = 0; i < count; i++)
        items[i] =
            (predict_reading){(int64_t)(i + 1) * STEP, 0, values[i], STEP};
    return items;
}

static predict_outlook outlook(const predict_reading *items, size_t count,
                               int64_t at_ms, int64_t lasts_ms,
                               predict_outlook_how how)
{
    predict_outlook o;

    check_status(predict_outlook_make(&o, (predict_readings){items, count},
                                      at_ms, lasts_ms, how),
                 0);
    return o;
}

Test(outlook, a_long_run_takes_the_mean_of_what_changes)
{
    predict_reading items[1000];
    predict_outlook run;

    for (size_t i = 0; i < 1000; i++) /* four samples each */
        items[i] = (predict_reading){(int64_t)(i + 1) * STEP, 0,
                                     i / 4 % 2 ? 0.9 : 0.3, STEP};
    run = outlook(items, 1000, 1000 * STEP, 16 * STEP, PREDICT_BY_FORECAST);
    cr_assert_float_eq(run.value.mean, 0.6, 1e-9);
    cr_assert_leq(run.value.range, 1e-9);
    cr_assert_eq(run.piece_ms, 16 * STEP);
    cr_assert_eq(run.latest_ms, 1000 * STEP);
    cr_assert_float_eq(run.least, 0.3, 0);
    cr_assert_float_eq(run.most, 0.9, 0);
}

Test(outlook, nothing_that_comes_later_is_looked_at)
{
    double values[600];
    predict_reading *items;

    made_series(values, 600, 5, 7);
    items = readings_of(values, 600);
    for (int how = 0; how < 2; how++) {
        predict_outlook before, after;
        before = outlook(items, 300, 300 * STEP, 40000, how);
        for (size_t i = 300; i < 600; i++)
            items[i].value = 1e6;
        after = outlook(items, 600, 300 * STEP, 40000, how);
        cr_assert_float_eq(after.value.mean, before.value.mean, 0);
        cr_assert_float_eq(after.value.range, before.value.range, 0);
        cr_assert_eq(after.latest_ms, 300 * STEP);
    }
    free(items);
}

/* A mean of twelve samples counts as much as they do. */
Test(outlook, older_means_count_by_how_long_they_lasted)
{
    predict_reading items[41];
    predict_outlook o;

    for (size_t i = 0; i < 40; i++)
        items[i] = (predict_reading){(int64_t)i * 60000, 60000, 0.2, 60000};
    items[40] = (predict_reading){40 * 60000, 0, 0.8, STEP};
    o = outlook(items, 41, 40 * 60000, 120000, PREDICT_BY_FORECAST);
    cr_assert_float_eq(o.value.mean, (60 * 0.2 + 60 * 0.2 + 5 * 0.8) / 125,
                       0.1);
    cr_assert_lt(o.value.mean, 0.3);
}

Test(outlook, what_was_not_measured_is_refused)
{
    predict_reading one = {1000, 0, 0.5, STEP};
    predict_outlook o;

    check_status(predict_outlook_make(&o, (predict_readings){&one, 1}, 999, 0,
                                      PREDICT_BY_FORECAST),
                 PASTSET_ENOENT);
    check_status(predict_outlook_make(&o, (predict_readings){&one, 0}, 999, 0,
                                      PREDICT_BY_MODES),
                 PASTSET_ENOENT);
    o = outlook(&one, 1, 1000, 60000, PREDICT_BY_FORECAST);
    cr_assert_float_eq(o.value.mean, 0.5, 0);
    cr_assert_float_eq(o.value.range, 0.5, 0); /* who knows */
    o = outlook(&one, 1, 1000, 60000, PREDICT_BY_MODES);
    cr_assert_float_eq(o.value.mean, 0.5, 0);
    cr_assert_float_eq(o.value.range, 0.5, 0);
}

Test(outlook, few_pieces_have_a_wider_range)
{
    double values[40];
    predict_reading *items;
    predict_outlook o;

    for (size_t i = 0; i < 40; i++)
        values[i] = 0.5;
    items = readings_of(values, 40);
    o = outlook(items, 10, 40 * STEP, STEP, PREDICT_BY_FORECAST);
    cr_assert_gt(o.value.range, 0.2);
    o = outlook(items, 40, 40 * STEP, STEP, PREDICT_BY_FORECAST);
    cr_assert_leq(o.value.range, 1e-9);
    o = outlook(items, 22, 22 * STEP, 10 * STEP, PREDICT_BY_FORECAST);
    cr_assert_geq(o.piece_ms, STEP / 2);
    free(items);
}

/* Paper 002, 2.1.2: the sum of the modes, each times its share. */
Test(outlook, modes_are_those_of_the_last_piece)
{
    double values[2000];
    predict_reading *items;
    predict_outlook o;
    made_random r = {5};

    for (size_t i = 0; i < 2000; i++)
        values[i] = i < 1000           ? 5
                    : i % 100 / 10 < 3 ? 0.33 + 0.01 * made_normal(&r)
                                       : 0.94 + 0.01 * made_normal(&r);
    items = readings_of(values, 2000);
    o = outlook(items, 2000, 2000 * STEP, 900 * STEP, PREDICT_BY_MODES);
    cr_assert_str_eq(o.method, "2 modes");
    cr_assert_float_eq(o.value.mean, 0.3 * 0.33 + 0.7 * 0.94, 0.005);
    cr_assert_float_eq(o.value.range, hypot(0.3 * 0.02, 0.7 * 0.02), 0.002);
    free(items);
}

/* Ranges of what came then, for runs of 1, 4, 16 and 64 samples that begin all
 * over the second half of series of all kinds. */
Test(outlook, ranges_hold, .timeout = 300)
{
    enum { COUNT = 6000 };
    size_t within = 0, runs = 0;

    for (size_t kind = 0; made_series_name(kind); kind++) {
        double *values = calloc(COUNT, sizeof(*values));
        predict_reading *items;
        made_series(values, COUNT, kind, 11);
        items = readings_of(values, COUNT);
        for (size_t length = 1; length <= 64; length *= 4)
            for (size_t at = COUNT / 2; at + length <= COUNT; at += 487) {
                predict_outlook o =
                    outlook(items, COUNT, (int64_t)at * STEP,
                            (int64_t)length * STEP, PREDICT_BY_FORECAST);
                double sum = 0;
                for (size_t i = 0; i < length; i++)
                    sum += values[at + i];
                within +=
                    predict_stochastic_miss(o.value, sum / (double)length) == 0;
                runs++;
            }
        free(items);
        free(values);
    }
    cr_log_info("%zu of %zu", within, runs);
    cr_assert_geq((double)within, 0.92 * (double)runs, "%zu of %zu", within,
                  runs);
}

Test(outlook, a_share_is_a_load)
{
    cr_assert_float_eq(predict_load_of_share(1, 1), 0, 0);
    cr_assert_float_eq(predict_load_of_share(0.5, 1), 1, 1e-12);
    cr_assert_float_eq(predict_load_of_share(0.25, 1), 3, 1e-12);
    cr_assert_float_eq(predict_load_of_share(1, 4), 0, 0);
    cr_assert_float_eq(predict_load_of_share(2.0 / 3, 2), 2, 1e-12);
    cr_assert_float_eq(predict_load_of_share(0.5, 2), 3, 1e-12);
    cr_assert_lt(predict_load_of_share(0.9999, 2), 0.001); /* no jump */
    cr_assert_float_eq(predict_load_of_share(5.0 / 6, 2), 1, 1e-12);
}

/* --- times --- */

static int product(double *seconds, const double *values, void *context)
{
    (void)context;
    *seconds = 10 * values[0] / values[1] + values[2];
    return 0;
}

static int sum_of_all(double *seconds, const double *values, void *context)
{
    *seconds = 0;
    for (size_t i = 0; i < *(size_t *)context; i++)
        *seconds += values[i];
    return 0;
}

static predict_varied varied(double mean, double range, uint32_t group)
{
    return (predict_varied){.value = {mean, range},
                            .least = -INFINITY,
                            .most = INFINITY,
                            .group = group};
}

/* 002, 2.3: 4 +- 0.5 and 3 +- 2. */
Test(vary, sums_are_those_of_the_paper)
{
    predict_varied apart[] = {varied(4, 0.5, 0), varied(3, 2, 1)};
    predict_varied related[] = {varied(4, 0.5, 0), varied(3, 2, 0)};
    size_t count = 2;
    predict_stochastic t;

    check_status(predict_vary(&t, apart, 2, sum_of_all, &count), 0);
    cr_assert_float_eq(t.mean, 7, 1e-12);
    cr_assert_float_eq(t.range, 2.0616, 1e-4);
    cr_assert_float_eq(apart[1].added_s, 2, 1e-12);
    check_status(predict_vary(&t, related, 2, sum_of_all, &count), 0);
    cr_assert_float_eq(t.range, 2.5, 1e-12);
}

Test(vary, quotients_are_as_drawn)
{
    predict_varied v[] = {varied(3, 0.3, 0), varied(0.6, 0.12, 1),
                          varied(5, 1, 2)};
    double sum = 0, squares = 0;
    const size_t draws = 1000000;
    made_random r = {9};
    predict_stochastic t;

    check_status(predict_vary(&t, v, 3, product, NULL), 0);
    for (size_t i = 0; i < draws; i++) {
        double values[3], seconds;
        for (size_t k = 0; k < 3; k++)
            values[k] =
                v[k].value.mean + v[k].value.range / 2 * made_normal(&r);
        product(&seconds, values, NULL);
        sum += seconds;
        squares += seconds * seconds;
    }
    sum /= (double)draws;
    squares = 2 * sqrt(squares / (double)draws - sum * sum);
    cr_assert_float_eq(t.mean, sum, 0.005 * sum, "%g, drawn %g", t.mean, sum);
    cr_assert_float_eq(t.range, squares, 0.05 * squares, "%g, drawn %g",
                       t.range, squares);
}

Test(vary, nothing_is_outside_of_what_can_be)
{
    predict_varied v[] = {{.value = {0.9, 0.3}, .least = 0, .most = 1}};
    size_t count = 1;
    predict_stochastic t;

    check_status(predict_vary(&t, v, 1, sum_of_all, &count), 0);
    cr_assert_float_eq(t.mean, 0.9 + (1 + 0.6 - 1.8) / 8, 1e-12);
    cr_assert_float_eq(t.range, sqrt((0.01 + 0.09) / 2), 1e-12);
}

Test(vary, who_is_careful_counts_on_more)
{
    predict_stochastic t = {10, 2};

    cr_assert_float_eq(predict_at_risk(t, 0), 10, 0);
    cr_assert_float_eq(predict_at_risk(t, 1), 12, 0);
    cr_assert_float_eq(predict_at_risk(t, 0.5), 10, 1e-9);
    cr_assert_float_eq(predict_at_risk(t, 0.95), 10 + 1.6448536, 1e-6);
    cr_assert_float_eq(predict_at_risk(t, 0.1), 10 - 1.2815516, 1e-6);
}
