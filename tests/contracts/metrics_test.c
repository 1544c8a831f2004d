/* metrics_test.c - metrics against what is worked out here by hand, and what is
 * refused. */
#include "contracts/signature/metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/check.h"

static const char *const names[] = {"bytes", "operations"};

/* Of a text of several; the last metric is looked at. */
static contracts_metrics *read_metrics(const char *text, int *err)
{
    contracts_metrics *m;
    contracts__tokens t;

    check_status(contracts_metrics_create(&m, names, 2), 0);
    contracts__tokens_begin(&t, text, "text");
    while (!t.err && t.kind != CONTRACTS__END) {
        if (!contracts__take_word(&t, "metric"))
            contracts__expected(&t, "metric");
        contracts__metric_parse(m, &t);
    }
    *err = t.err;
    return m;
}

#define INTERVALS 8

static const double bytes[INTERVALS] = {10, 20, 0, NAN, 50, 70, 60, 80};

/* The values of the last metric, while bytes are these and operations 1, 2 ...
 */
static void values_of(const char *text, double out[INTERVALS])
{
    int err;
    contracts_metrics *m = read_metrics(text, &err);
    contracts_metric_state *state;
    double values[CONTRACTS_METRICS_MAX];

    check_status(err, 0);
    check_status(contracts_metric_state_create(&state, m), 0);
    for (int i = 0; i < INTERVALS; i++) {
        contracts_metrics_next(m, state, (double[]){bytes[i], i + 1}, values);
        out[i] = values[contracts_metrics_count(m) - 1];
    }
    contracts_metric_state_destroy(state);
    contracts_metrics_destroy(m);
}

static void check_values(const char *text, const double want[INTERVALS])
{
    double got[INTERVALS];

    values_of(text, got);
    for (int i = 0; i < INTERVALS; i++)
        cr_assert(isnan(want[i]) ? isnan(got[i])
                                 : fabs(got[i] - want[i]) < 1e-12,
                  "%s: %g, not %g in interval %d", text, got[i], want[i], i);
}

Test(metrics, are_expressions, .timeout = 60)
{
    double got[INTERVALS];

    values_of("metric intrinsic a = bytes / operations - 2 * (3 - -1);\n"
              "metric performance b = a * a + operations;",
              got);
    for (int i = 0; i < INTERVALS; i++) {
        double a = bytes[i] / (i + 1) - 8;
        cr_assert(isnan(a) ? isnan(got[i])
                           : fabs(got[i] - (a * a + i + 1)) < 1e-12);
    }
    /* From the left, and products first. */
    check_values("metric intrinsic a = 100 - 10 - 5 * 2 / 5 / 2 + 0.5;",
                 (double[]){89.5, 89.5, 89.5, 89.5, 89.5, 89.5, 89.5, 89.5});
    check_values("metric intrinsic a = operations / bytes;",
                 (double[]){0.1, 0.1, NAN, NAN, 0.1, 6.0 / 70, 7.0 / 60, 0.1});
}

Test(metrics, remember_what_was_before, .timeout = 60)
{
    check_values("metric intrinsic a = delta(bytes);",
                 (double[]){NAN, 10, -20, NAN, 50, 20, -10, 20});
    check_values("metric intrinsic a = total(bytes);",
                 (double[]){10, 30, 30, NAN, 80, 150, 210, 290});
    check_values("metric intrinsic a = mean(bytes, 3);",
                 (double[]){10, 15, 10, NAN, 70 / 3.0, 40, 60, 70});
    check_values("metric intrinsic a = mean(bytes, 1);", bytes);
    check_values(
        "metric intrinsic a = smooth(bytes, 0.5);",
        (double[]){10, 15, 7.5, NAN, 28.75, 49.375, 54.6875, 67.34375});
    /* In a chain; each use has a memory of its own. */
    check_values("metric intrinsic a = delta(total(bytes)) - bytes +\n"
                 "  delta(delta(operations));",
                 (double[]){NAN, NAN, 0, NAN, 0, 0, 0, 0});
}

Test(metrics, know_their_names_texts_and_kinds, .timeout = 60)
{
    int err;
    contracts_metrics *m = read_metrics(
        "metric intrinsic size = bytes\n  / operations ; # of each\n"
        "metric performance rate=operations;",
        &err);

    check_status(err, 0);
    cr_assert_eq(contracts_metrics_count(m), 2);
    cr_assert_str_eq(contracts_metric_name(m, 0), "size");
    cr_assert_str_eq(contracts_metric_text(m, 0), "bytes\n  / operations");
    cr_assert(contracts_metric_is_intrinsic(m, 0));
    cr_assert(!contracts_metric_is_intrinsic(m, 1));
    contracts_metrics_destroy(m);
}

Test(metrics, are_of_what_the_program_counts, .timeout = 60)
{
    int err;
    double values[CONTRACTS_METRICS_MAX];
    size_t count;
    contracts_metric_state *state;
    contracts_metrics *m = read_metrics(
        "metric intrinsic a = program(\"cells\") / operations;\n"
        "metric performance b = program(\"all rows\") - program(\"cells\");",
        &err);
    const char *const *programs = contracts_metrics_programs(m, &count);

    check_status(err, 0);
    cr_assert_eq(count, 2);
    cr_expect_str_eq(programs[0], "cells");
    cr_expect_str_eq(programs[1], "all rows");
    check_status(contracts_metric_state_create(&state, m), 0);
    contracts_metrics_next(m, state, (double[]){1, 4, 10, 25}, values);
    cr_expect_float_eq(values[0], 2.5, 1e-12);
    cr_expect_float_eq(values[1], 15, 1e-12);
    contracts_metrics_next(m, state, (double[]){1, 4, 10, NAN}, values);
    cr_expect_float_eq(values[0], 2.5, 1e-12);
    cr_expect(isnan(values[1]));
    contracts_metric_state_destroy(state);
    contracts_metrics_destroy(m);
}

/* Behind what programs count, also where that is named later. */
Test(metrics, are_of_histories, .timeout = 60)
{
    int err;
    double values[CONTRACTS_METRICS_MAX];
    size_t count;
    contracts_metric_state *state;
    contracts_metrics *m = read_metrics(
        "metric performance a = operations / history(\"availability\");\n"
        "metric intrinsic b = program(\"cells\");\n"
        "metric performance c = history(\"bandwidth.a-b\") - "
        "history(\"availability\");",
        &err);
    const char *const *histories = contracts_metrics_histories(m, &count);

    check_status(err, 0);
    cr_assert_eq(count, 2);
    cr_expect_str_eq(histories[0], "availability");
    cr_expect_str_eq(histories[1], "bandwidth.a-b");
    check_status(contracts_metric_state_create(&state, m), 0);
    contracts_metrics_next(m, state, (double[]){1, 4, 10, 0.5, 25}, values);
    cr_expect_float_eq(values[0], 8, 1e-12);
    cr_expect_float_eq(values[1], 10, 1e-12);
    cr_expect_float_eq(values[2], 24.5, 1e-12);
    contracts_metrics_next(m, state, (double[]){1, 4, 10, NAN, 25}, values);
    cr_expect(isnan(values[0]) && isnan(values[2]));
    contracts_metric_state_destroy(state);
    contracts_metrics_destroy(m);
}

Test(metrics, are_refused_where_they_are_wrong, .timeout = 60)
{
    static const char *const wrong[][2] = {
        {"metric a = bytes;", "text:1:8: expected intrinsic or performance"},
        {"metric intrinsic = bytes;", "text:1:18: expected the name"},
        {"metric intrinsic a = history(\"../x.y\");",
         "text:1:38: the name of a history has no /"},
        {"metric intrinsic a bytes;", "text:1:20: expected \"=\""},
        {"metric intrinsic a =\n bits;",
         "text:2:2: there is no quantity or metric \"bits\""},
        {"metric intrinsic a = bytes", "expected \";\", not the end"},
        {"metric intrinsic a = (bytes;", "text:1:28: expected \")\""},
        {"metric intrinsic a = bytes +;", "text:1:29: expected a number"},
        {"metric intrinsic a = a;", "no quantity or metric \"a\""},
        {"metric intrinsic bytes = 1;", "text:1:18: this is a quantity"},
        {"metric intrinsic mean = 1;", "text:1:18: this is a function"},
        {"metric intrinsic a = 1; metric intrinsic a = 1;",
         "text:1:42: there is this metric already"},
        {"metric intrinsic a = mean(bytes);", "expected \",\""},
        {"metric intrinsic a = mean(bytes, 0);", "1:34: a mean is of 1 to"},
        {"metric intrinsic a = mean(bytes, 1.5);", "1:34: a mean is of 1 to"},
        {"metric intrinsic a = mean(bytes, 1e9);", "1:34: a mean is of 1 to"},
        {"metric intrinsic a = smooth(bytes, 0);", "1:36: smoothing is by"},
        {"metric intrinsic a = smooth(bytes, 1.1);", "1:36: smoothing is by"},
        {"metric intrinsic a = 1e999;", "1:22: 1e999 is too large"},
        {"metric intrinsic a = program(cells);", "text:1:30: expected"},
        {"metric intrinsic a = program \"cells\";", "expected \"(\""},
        {"metric intrinsic program = 1;", "text:1:18: this is a function"},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        int err;
        contracts_metrics *m = read_metrics(wrong[i][0], &err);
        check_status(err, PASTSET_EFORMAT);
        check_error(wrong[i][1]);
        contracts_metrics_destroy(m);
    }
}

/* Deep, and with many parts. */
Test(metrics, have_limits, .timeout = 60)
{
    static char text[40000];
    int err;

    for (int i = 0; i < 2; i++) {
        size_t bytes_ =
            (size_t)snprintf(text, sizeof(text), "metric intrinsic a = ");
        for (int k = 0; k < 9000; k++)
            bytes_ += (size_t)snprintf(text + bytes_, sizeof(text) - bytes_,
                                       i ? "(" : "1+");
        contracts_metrics_destroy(read_metrics(text, &err));
        check_status(err, PASTSET_EFORMAT);
        check_error(i ? "more than 100 deep" : "more than 4096 parts");
    }
}
