/* hindcast_test.c - how long runs would have taken, against runs that are gone
 * through moment by moment. */
#include "predict/stochastic/hindcast.h"
#include "tests/predict/made_series.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdlib.h>

#define STEP 1000 /* ms between samples */
#define SAMPLES 6000

static const predict_varied any[] = {{.least = 0.01, .most = 1},
                                     {.least = 0.01, .most = 1}};

/* Who is slowest says how long it takes. */
static int slowest(double *seconds, const double *values, void *context)
{
    *seconds = *(double *)context / fmin(values[0], values[1]);
    return 0;
}

/* Shares that stay for a while at one of three levels. */
static void shares_make(predict_reading *items, uint64_t seed, double stays)
{
    static const double levels[] = {1, 0.5, 1.0 / 3};
    made_random r = {seed};
    double share = 1;

    for (size_t i = 0; i < SAMPLES; i++) {
        if (made_uniform(&r) < 1 / stays)
            share = levels[(int)(3 * made_uniform(&r))];
        items[i] = (predict_reading){(int64_t)(i + 1) * STEP, 0, share, STEP};
    }
}

/* Of a run that begins then, which must end before the samples do. */
static double truth(predict_reading items[2][SAMPLES], size_t at, double work_s)
{
    double done = 0, seconds = 0;

    for (; done < 1; at++) {
        double values[] = {items[0][at].value, items[1][at].value}, t;
        slowest(&t, values, &work_s);
        seconds += fmin(1, (1 - done) * t);
        done += 1 / t;
    }
    return seconds;
}

static predict_hindcast hindcast(predict_reading items[2][SAMPLES], size_t at,
                                 double work_s)
{
    predict_readings series[] = {{items[0], SAMPLES}, {items[1], SAMPLES}};
    predict_hindcast h;

    check_status(predict_hindcast_make(&h, series, any, 2, (int64_t)at * STEP,
                                       (int64_t)(1000 * work_s), slowest,
                                       &work_s),
                 0);
    return h;
}

Test(hindcast, what_never_changes_takes_as_long_each_time)
{
    static predict_reading items[2][SAMPLES];
    predict_hindcast h;

    for (size_t i = 0; i < SAMPLES; i++) {
        items[0][i] = (predict_reading){(int64_t)(i + 1) * STEP, 0, 0.8, STEP};
        items[1][i] = (predict_reading){(int64_t)(i + 1) * STEP, 0, 0.4, STEP};
    }
    h = hindcast(items, 1000, 7);
    cr_assert_float_eq(h.time_s.mean, 17.5, 1e-9);
    cr_assert_leq(h.time_s.range, 1e-9);
    cr_assert_eq(h.apart_ms, 17500);
    cr_assert_eq(h.runs, 1000 * STEP / 17500);
}

/* A second of each: 3 s of work are 2 s + 2 s * 0.5, which the means say, too;
 * but of the slower of two that take turns nothing is ever more than a half. */
Test(hindcast, who_is_slowest_counts_moment_by_moment)
{
    static predict_reading items[2][SAMPLES];
    predict_hindcast h;

    for (size_t i = 0; i < SAMPLES; i++) {
        items[0][i] = (predict_reading){(int64_t)(i + 1) * STEP, 0,
                                        i % 2 ? 1 : 0.5, STEP};
        items[1][i] = (predict_reading){(int64_t)(i + 1) * STEP, 0,
                                        i % 2 ? 0.5 : 1, STEP};
    }
    h = hindcast(items, SAMPLES, 3);
    cr_assert_float_eq(h.time_s.mean, 6, 1e-6);
    cr_assert_leq(h.time_s.range, 1e-6);
}

Test(hindcast, nothing_that_comes_later_is_looked_at)
{
    static predict_reading items[2][SAMPLES];
    predict_hindcast before, after;

    shares_make(items[0], 3, 10);
    shares_make(items[1], 4, 10);
    before = hindcast(items, 2000, 4);
    for (size_t i = 2000; i < SAMPLES; i++)
        items[0][i].value = items[1][i].value = 0.01;
    after = hindcast(items, 2000, 4);
    cr_assert_float_eq(after.time_s.mean, before.time_s.mean, 0);
    cr_assert_float_eq(after.time_s.range, before.time_s.range, 0);
}

/* Near 1, where a little less of a share may be much of a time, and of a
 * machine that was switched off not long ago; a mean is still being measured.
 */
static int steep(double *seconds, const double *values, void *context)
{
    (void)context;
    *seconds = 10 * (1 + 20 * (1 - values[0]));
    return 0;
}

Test(hindcast, like_moments_are_told_apart)
{
    static predict_reading items[SAMPLES];
    predict_readings series = {items, SAMPLES};
    made_random r = {7};
    predict_hindcast h;

    for (size_t i = 0; i < SAMPLES; i++) /* the first ones are low */
        items[i] = (predict_reading){
            (int64_t)(i + 1) * STEP, 0,
            i < 20 ? 0.971 : 0.97 + 0.03 * made_uniform(&r), STEP};
    for (size_t i = SAMPLES - 8; i < SAMPLES; i++)
        items[i].time_ms += 600 * STEP;
    check_status(predict_hindcast_make(&h, &series, any, 1,
                                       items[SAMPLES - 1].time_ms, 13000, steep,
                                       NULL),
                 0);
    cr_assert_float_eq(h.time_s.mean, 13, 0.5, "%g", h.time_s.mean);
    cr_assert_leq(h.apart_ms, 14000);
    /* A mean that lasts beyond then is not known then. */
    items[SAMPLES - 1] = (predict_reading){items[SAMPLES - 2].time_ms,
                                           600 * STEP, 0.01, 600 * STEP};
    check_status(predict_hindcast_make(&h, &series, any, 1,
                                       items[SAMPLES - 2].time_ms + 5 * STEP,
                                       13000, steep, NULL),
                 0);
    cr_assert_float_eq(h.time_s.mean, 13, 0.5, "%g", h.time_s.mean);
}

/* One machine is asked each second, and a link each five minutes. */
Test(hindcast, what_is_measured_seldom_holds_until_the_next_time)
{
    static predict_reading items[2][SAMPLES];
    predict_readings series[] = {{items[0], SAMPLES}, {items[1], 20}};
    double work_s = 5;
    predict_hindcast h;

    for (size_t i = 0; i < SAMPLES; i++)
        items[0][i] = (predict_reading){(int64_t)(i + 1) * STEP, 0,
                                        i / 60 % 2 ? 1 : 0.5, STEP};
    for (size_t i = 0; i < 20; i++)
        items[1][i] =
            (predict_reading){(int64_t)(i + 1) * 300 * STEP, 0, 1, 300 * STEP};
    check_status(predict_hindcast_make(&h, series, any, 2, SAMPLES * STEP, 5000,
                                       slowest, &work_s),
                 0);
    cr_assert_geq(h.runs, 500);
    cr_assert_leq(h.apart_ms, 8000);
}

/* Runs over an hour for which nothing was measured are no runs. */
Test(hindcast, a_gap_is_left_out)
{
    static predict_reading items[2][SAMPLES];
    predict_hindcast whole, h;

    for (size_t i = 0; i < SAMPLES; i++)
        items[0][i] = items[1][i] =
            (predict_reading){(int64_t)(i + 1) * STEP, 0, 0.5, STEP};
    whole = hindcast(items, SAMPLES, 5);
    for (size_t i = 0; i < SAMPLES / 2; i++)
        items[0][i].time_ms -= 3600 * STEP;
    h = hindcast(items, SAMPLES, 5);
    cr_assert_float_eq(h.time_s.mean, 10, 1e-6);
    cr_assert_leq(h.time_s.range, 1e-6);
    cr_assert_lt(h.runs, whole.runs);
    cr_assert_geq(h.runs, SAMPLES / 2 / 10 - 1);
}

/* What has become means of a minute, and is in whole hours, says as much. */
Test(hindcast, older_means_stand_for_as_long_as_they_lasted)
{
    static predict_reading items[2][SAMPLES];
    predict_readings series[2];
    double work_s = 30;
    predict_hindcast h;

    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < 100; i++)
            items[k][i] = (predict_reading){(int64_t)i * 60 * STEP, 60 * STEP,
                                            0.5, 60 * STEP};
        for (size_t i = 100; i < 400; i++)
            items[k][i] = (predict_reading){
                (int64_t)(6000 + i - 100 + 1) * STEP, 0, 0.5, STEP};
        series[k] = (predict_readings){items[k], 400};
    }
    check_status(predict_hindcast_make(&h, series, any, 2, 6300 * STEP, 60000,
                                       slowest, &work_s),
                 0);
    cr_assert_float_eq(h.time_s.mean, 60, 1e-6);
    cr_assert_geq(h.runs, 60);
}

Test(hindcast, too_little_is_refused)
{
    predict_reading one = {1000, 0, 0.5, STEP};
    static predict_reading items[2][SAMPLES];
    predict_readings series[] = {{&one, 1}, {items[1], SAMPLES}};
    double work_s = 60;
    predict_hindcast h;

    shares_make(items[0], 3, 10);
    shares_make(items[1], 4, 10);
    check_status(predict_hindcast_make(&h, series, any, 2, 5000 * STEP, 1000,
                                       slowest, &work_s),
                 PASTSET_ENOENT);
    series[0] = (predict_readings){items[0], SAMPLES};
    check_status(predict_hindcast_make(&h, series, any, 2, 500 * STEP, 60000,
                                       slowest, &work_s),
                 PASTSET_ENOENT);
    check_status(predict_hindcast_make(&h, series, any, 0, 500 * STEP, 60000,
                                       slowest, &work_s),
                 PASTSET_ENOENT);
}

/* Runs that are short against what lasts, as long, and long. */
Test(hindcast, ranges_hold_and_are_not_wide, .timeout = 300)
{
    static predict_reading items[2][SAMPLES];

    for (double work_s = 2; work_s <= 32; work_s *= 4) {
        size_t within = 0, runs = 0;
        double range = 0, off[2000];
        for (uint64_t seed = 1; seed <= 8; seed++) {
            shares_make(items[0], 2 * seed, 14);
            shares_make(items[1], 2 * seed + 1, 14);
            for (size_t at = SAMPLES / 2; at + 200 < SAMPLES; at += 61) {
                predict_hindcast h = hindcast(items, at, work_s);
                double miss = truth(items, at, work_s) - h.time_s.mean;
                within += fabs(miss) <= h.time_s.range + 1e-9;
                range += h.time_s.range;
                off[runs++] = fabs(miss);
            }
        }
        for (size_t i = 0; i < runs; i++) /* the smallest first */
            for (size_t k = i + 1; k < runs; k++)
                if (off[k] < off[i]) {
                    double first = off[i];
                    off[i] = off[k];
                    off[k] = first;
                }
        cr_log_info("%g s: %zu of %zu, +- %.1f s, needed %.1f s", work_s,
                    within, runs, range / (double)runs,
                    off[(size_t)(0.95 * (double)runs)]);
        cr_assert_geq((double)within, 0.92 * (double)runs, "%g s: %zu of %zu",
                      work_s, within, runs);
        cr_assert_leq(range / (double)runs,
                      1.5 * off[(size_t)(0.95 * (double)runs)], "%g s", work_s);
    }
}
