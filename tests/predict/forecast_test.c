/* forecast_test.c - forecasts against what then came, and against the method
 * that turns out to have been the best one. */
#include "predict/stochastic/forecast.h"
#include "tests/predict/made_series.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdlib.h>

#define SERIES 20 /* of each kind */
#define COUNT 2000
#define FIRST 200 /* values before it counts */

typedef struct outcome {
    double off, off_of_last, off_of_best; /* added up */
    size_t within, forecasts;
} outcome;

static predict_forecaster *forecaster_make(void)
{
    predict_forecaster *f;

    check_status(predict_forecaster_create(&f), 0);
    return f;
}

/* Here, independently of what it says itself, each method is judged by what it
 * would have said: the errors it tells are means from the first forecast on. */
static void methods_take(double *off, const predict_forecaster *f,
                         size_t forecasts)
{
    predict_method methods[PREDICT_METHODS_MAX];
    size_t count = predict_forecaster_methods(f, methods);

    for (size_t i = 0; i < count; i++)
        off[i] = methods[i].error * (double)forecasts;
}

static void best_take(outcome *o, const double *before, const double *after)
{
    o->off_of_best = INFINITY;
    for (size_t i = 0; i < PREDICT_METHODS_MAX; i++)
        if (after[i] > before[i] && after[i] - before[i] < o->off_of_best)
            o->off_of_best = after[i] - before[i];
}

static outcome forecast_all(const double *values)
{
    double before[PREDICT_METHODS_MAX] = {0}, after[PREDICT_METHODS_MAX] = {0};
    predict_forecaster *f = forecaster_make();
    outcome o = {0};

    for (size_t i = 0; i < COUNT; i++) {
        predict_forecast next;
        if (i == FIRST)
            methods_take(before, f, FIRST - 1);
        if (i >= FIRST) {
            check_status(predict_forecaster_next(&next, f), 0);
            o.off += fabs(values[i] - next.value.mean);
            o.off_of_last += fabs(values[i] - values[i - 1]);
            o.within += predict_stochastic_miss(next.value, values[i]) == 0;
            o.forecasts++;
        }
        check_status(predict_forecaster_add(f, values[i]), 0);
    }
    methods_take(after, f, COUNT - 1);
    best_take(&o, before, after);
    predict_forecaster_destroy(f);
    return o;
}

Test(forecast, it_is_nearly_as_good_as_the_best_method, .timeout = 120)
{
    size_t series = 0, good = 0;
    double worst = 0;

    for (size_t kind = 0; made_series_name(kind); kind++) {
        double off = 0, off_of_last = 0, within = 0;
        for (uint64_t seed = 1; seed <= SERIES; seed++) {
            double values[COUNT];
            outcome o;
            made_series(values, COUNT, kind, 1000 * kind + seed);
            o = forecast_all(values);
            series++;
            good += o.off <= 1.05 * o.off_of_best;
            worst = fmax(worst, o.off / o.off_of_best);
            off += o.off;
            off_of_last += o.off_of_last;
            within += (double)o.within / (double)o.forecasts / SERIES;
        }
        cr_expect(within >= 0.94 && within <= 0.96, "%s: %.4f are within",
                  made_series_name(kind), within);
        cr_expect(off <= 1.01 * off_of_last, "%s: %.3f of the last value's",
                  made_series_name(kind), off / off_of_last);
        if (strcmp(made_series_name(kind), "spiky") == 0)
            cr_expect(off < 0.7 * off_of_last, "%.3f", off / off_of_last);
    }
    cr_expect_geq(good, series * 95 / 100, "%zu of %zu; %.3f at worst", good,
                  series, worst);
}

/* The methods by their definitions, on a few values. */
Test(forecast, methods_forecast_what_their_names_say, .timeout = 120)
{
    static const double values[] = {4, 8, 6, 1, 9, 3, 7};
    static const struct {
        const char *name;
        double off; /* of forecasts of the values from the second on */
    } expected[] = {
        {"last value", 4 + 2 + 5 + 8 + 6 + 4},
        {"mean of all", 4 + 0 + 5 + (9 - 4.75) + (5.6 - 3) + (7 - 31 / 6.)},
        {"mean of 5", 4 + 0 + 5 + (9 - 4.75) + (5.6 - 3) + (7 - 5.4)},
        {"median of 5", 4 + 0 + 5 + (9 - 5) + (6 - 3) + (7 - 6)},
        /* 4, 6, 6, 3.5, 6.25, 4.625 */
        {"smoothing by 0.5", 4 + 0 + 5 + 5.5 + 3.25 + 2.375},
    };
    predict_method methods[PREDICT_METHODS_MAX];
    predict_forecaster *f = forecaster_make();
    size_t count, seen = 0;

    for (size_t i = 0; i < 7; i++)
        check_status(predict_forecaster_add(f, values[i]), 0);
    count = predict_forecaster_methods(f, methods);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof(expected) / sizeof(*expected); k++)
            if (strcmp(methods[i].name, expected[k].name) == 0) {
                seen++;
                cr_expect(fabs(methods[i].error - expected[k].off / 6) < 1e-12,
                          "%s: %.6f", methods[i].name, methods[i].error * 6);
            }
    cr_expect_eq(seen, sizeof(expected) / sizeof(*expected));
    predict_forecaster_destroy(f);
}

Test(forecast, the_least_error_is_gone_by, .timeout = 120)
{
    predict_method methods[PREDICT_METHODS_MAX];
    predict_forecaster *f = forecaster_make();
    predict_forecast next;
    double values[COUNT];

    made_series(values, COUNT, 4, 1);
    for (size_t i = 0; i < COUNT; i++) {
        size_t count, least = 0;
        check_status(predict_forecaster_add(f, values[i]), 0);
        check_status(predict_forecaster_next(&next, f), 0);
        count = predict_forecaster_methods(f, methods);
        for (size_t k = 1; k < count; k++)
            if (methods[k].error < methods[least].error)
                least = k;
        cr_assert_eq(next.error, methods[least].error, "value %zu", i);
        cr_assert_str_eq(next.method, methods[least].name);
    }
    predict_forecaster_destroy(f);
}

Test(forecast, a_constant_is_forecast_exactly, .timeout = 120)
{
    predict_forecaster *f = forecaster_make();
    predict_forecast next;

    for (int i = 0; i < 1000; i++)
        check_status(predict_forecaster_add(f, 0.7), 0);
    check_status(predict_forecaster_next(&next, f), 0);
    cr_expect_eq(next.value.mean, 0.7);
    cr_expect_eq(next.value.range, 0);
    predict_forecaster_destroy(f);
}

Test(forecast, what_is_no_number_changes_nothing, .timeout = 120)
{
    predict_forecaster *f = forecaster_make();
    predict_forecast before, after;

    check_status(predict_forecaster_next(&before, f), PASTSET_ENOENT);
    check_status(predict_forecaster_add(f, NAN), PASTSET_EINVAL);
    check_error("value 1 is not a number");
    check_status(predict_forecaster_add(f, 1), 0);
    check_status(predict_forecaster_add(f, 2), 0);
    check_status(predict_forecaster_next(&before, f), 0);
    check_status(predict_forecaster_add(f, INFINITY), PASTSET_EINVAL);
    check_error("value 3 is not a number");
    check_status(predict_forecaster_next(&after, f), 0);
    cr_expect_eq(before.value.mean, after.value.mean);
    cr_expect_eq(before.error, after.error);
    predict_forecaster_destroy(f);
    predict_forecaster_destroy(NULL);
}
