/* structural_test.c - structural models: what they come to, against the same
 * worked out here, and what is refused. */
#include "predict/structural/structural_internal.h"
#include "tests/predict/made_series.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static predict_structural *model_of(const char *text)
{
    predict_structural *model;

    check_status(predict__structural_of_text(&model, text, "made"), 0);
    return model;
}

static predict_structural_result result_of(const char *text, predict_group by)
{
    predict_structural *model = model_of(text);
    predict_structural_result r;

    check_status(predict_structural_evaluate(&r, model, "time", by, NULL), 0);
    predict_structural_destroy(model);
    return r;
}

static void is_value(const char *text, double mean, double range)
{
    predict_structural_result r = result_of(text, PREDICT_BY_MEAN);
    double sum = 0;

    for (size_t i = 0; i < r.term_count; i++)
        sum += r.terms[i].value.mean;
    cr_expect(fabs(r.value.mean - mean) <= 1e-9 * fabs(mean),
              "%s: %.9g, not %g", text, r.value.mean, mean);
    cr_expect(fabs(r.value.range - range) <= 1e-9 * fabs(range) + 1e-15,
              "%s: +- %.9g, not %g", text, r.value.range, range);
    cr_expect(fabs(sum - mean) <= 1e-9 * fabs(mean), "%s: terms are %g", text,
              sum);
    predict_structural_result_fini(&r);
}

/* --- values --- */

Test(structural, numbers_and_units_are_what_they_say, .timeout = 120)
{
    is_value("time = 12ns", 12e-9, 0);
    is_value("time = 2.5e-9s", 2.5e-9, 0);
    is_value("time = 2E3 + 1e+2", 2100, 0);
    is_value("time = 1.5ms +- 2%", 1.5e-3, 3e-5);
    is_value("time = 2min ± 30s", 120, 30);
    is_value("time = 50% +- 5%", 0.5, 0.05);
    is_value("time = 10kB / 80kbit", 1, 0);
    is_value("time = 1KiB/1B", 1024, 0);
    is_value("time = 2k + 3M", 3002000, 0);
    is_value("time = 7 - 2 * 3 - -4", 5, 0);
    is_value("time = (7 - 2) * (3 -\n 4) # and so on\n", -5, 0);
    is_value("time = 8 / 4 / 2", 1, 0);
}

Test(structural, it_combines_as_the_paper_does, .timeout = 120)
{
    /* 002, figure 4: from two sources, and from one. */
    is_value("a = 4 +- 0.5\nb = 3 +- 2\ntime = a + b", 7, sqrt(4.25));
    is_value("a = 4 +- 0.5\nb = 3 +- 2\ntime = a * b", 12,
             sqrt(1.5 * 1.5 + 8 * 8));
    is_value("a = 4 +- 0.5\nb = 3 +- 2\nrelated a, b\ntime = a + b", 7, 2.5);
    is_value("a = 4 +- 0.5\nb = 3 +- 2\nrelated a, b\ntime = a * b", 12, 10.5);
    is_value("a = 4 +- 0.5\ntime = a + a", 8, 1);
    is_value("a = 4 +- 0.5\nb = a + 1\nc = 2 * a\ntime = b + c", 13, 1.5);
    is_value("time = 4 +- 0.5 + 3 +- 2", 7, sqrt(4.25));
    is_value("time = 100 * (4 +- 0.5)", 400, 50);
    is_value("time = repeat(100: 4 +- 0.5)", 400, 5);
}

Test(structural, sets_have_members, .timeout = 120)
{
    is_value("set P = a, b, c\nx(p in P) = 2\nx(b) = 5\n"
             "time = sum(p in P: x(p))",
             9, 0);
    is_value("set P = 1..64, other\ntime = count(P)", 65, 0);
    is_value("set P = n0-1.site, n1\nx(n0-1.site) = 3\nx(n1) = 4\n"
             "time = max(p in P: x(p)) - min(p in P: x(p))",
             1, 0);
    is_value("set P = a, b\nset Q = c, d\nx(a) = 1\nx(b) = 2\ny(c) = 10\n"
             "y(d) = 20\ntime = sum(p in P: sum(q in Q: x(p) * y(q)))",
             90, 0);
    is_value("time = max(1, 5, 3) + min(2, 4) + sum(1, 2, 3)", 13, 0);
    /* Each evaluation of a range is a source of its own, a component is one. */
    is_value("set P = 1..4\ntime = sum(p in P: 5 +- 1)", 20, 2);
    is_value("set P = 1..4\nx = 5 +- 1\ntime = sum(p in P: x)", 20, 4);
    is_value("set P = 1..4\nx(p in P) = 5 +- 1\nrelated x(p in P)\n"
             "time = sum(p in P: x(p))",
             20, 4);
}

Test(structural, groups_go_by_means_or_by_upper_ends, .timeout = 120)
{
    static const char text[] = "a = 4 +- 0.5\nb = 3 +- 2\nc = 3 +- 1\n"
                               "time = max(a, b, c)";
    predict_structural_result r = result_of(text, PREDICT_BY_MEAN);

    cr_expect_eq(r.value.mean, 4);
    cr_expect_str_eq(r.terms[0].name, "a");
    predict_structural_result_fini(&r);
    r = result_of(text, PREDICT_BY_UPPER);
    cr_expect_eq(r.value.mean, 3);
    cr_expect_eq(r.value.range, 2);
    cr_expect_str_eq(r.terms[0].name, "b");
    predict_structural_result_fini(&r);
}

/* --- the paper's example --- */

static const char sor[] =
    "set P = A, B, C, D\n"
    "set L = A-B, B-C, C-D\n"
    "iterations = 100\n"
    "rows = 1600\n"
    "columns = 1600\n"
    "element = 12ns +- 2%\n"
    "row = columns * 8B\n"
    "half(p in P) = rows / count(P) * columns / 2 * element / load(p)\n"
    "exchange(l in L) = 2 * (latency(l) + row / bandwidth(l))\n"
    "time = iterations * (max(p in P: half(p)) + max(l in L: exchange(l)) +\n"
    "                     max(p in P: half(p)) + max(l in L: exchange(l)))\n";

/* The third machine has half of its processor, the second link is slow. */
static int machines_find(predict_stochastic *out, predict_dimension *dimension,
                         const char *name, const char *argument, void *context)
{
    (*(int *)context)++;
    if (strcmp(name, "load") == 0) {
        *out = strcmp(argument, "C") == 0 ? (predict_stochastic){0.48, 0.05}
                                          : predict_point(1);
        *dimension = (predict_dimension){0, 0};
    } else if (strcmp(name, "latency") == 0) {
        *out = (predict_stochastic){1e-4, 1e-5};
        *dimension = (predict_dimension){1, 0};
    } else if (strcmp(name, "bandwidth") == 0) {
        *out = strcmp(argument, "B-C") == 0
                   ? (predict_stochastic){1.25e6, 0.1e6}
                   : predict_point(1.25e7);
        *dimension = (predict_dimension){-1, 1};
    } else {
        return PASTSET_ENOENT;
    }
    return 0;
}

Test(structural, the_model_of_the_paper_is_worked_out, .timeout = 120)
{
    int asked = 0;
    predict_structural_given given = {machines_find, &asked};
    predict_structural *model = model_of(sor);
    predict_structural_result r;
    double elements = 1600 / 4. * 1600 / 2, half = elements * 12e-9 / 0.48;
    double sent = 1600 * 8 / 1.25e6, exchange = 2 * (1e-4 + sent);
    double half_range = half * hypot(0.02, 0.05 / 0.48);
    /* Latency and bandwidth of a link are related. */
    double exchange_range = 2 * (1e-5 + sent * 0.1 / 1.25);

    check_status(
        predict_structural_evaluate(&r, model, "time", PREDICT_BY_MEAN, &given),
        0);
    cr_expect(fabs(r.value.mean - 200 * (half + exchange)) < 1e-9, "%.9f",
              r.value.mean);
    cr_expect(fabs(r.value.range - 200 * hypot(half_range, exchange_range)) <
                  1e-9,
              "%.9f", r.value.range);
    cr_assert_eq(r.term_count, 3);
    cr_expect_str_eq(r.terms[0].name, "row / bandwidth(B-C)");
    cr_expect(fabs(r.terms[0].value.mean - 400 * sent) < 1e-9);
    cr_expect_str_eq(r.terms[1].name, "half(C)");
    cr_expect(fabs(r.terms[1].value.mean - 200 * half) < 1e-9);
    cr_expect(fabs(r.terms[1].value.range - 200 * half_range) < 1e-9);
    cr_expect_str_eq(r.terms[2].name, "latency(B-C)");
    cr_expect_eq(r.dimension.seconds, 1);
    cr_expect_eq(asked, 4 + 3 + 3); /* once each */
    predict_structural_result_fini(&r);
    check_status(predict_structural_set(model, "load(C) = 1"), 0);
    check_status(predict_structural_set(model, "element = 24ns"), 0);
    check_status(predict_structural_set(model, "element = 6ns"), 0);
    check_status(
        predict_structural_evaluate(&r, model, "time", PREDICT_BY_MEAN, &given),
        0);
    cr_expect(fabs(r.value.mean - 200 * (elements * 6e-9 + exchange)) < 1e-9);
    predict_structural_result_fini(&r);
    predict_structural_destroy(model);
}

/* --- any model --- */

#define TEXT 4096

/* Writes an expression of numbers and gives what it is. */
static double expression(made_random *r, char *text, int depth)
{
    char left[TEXT], right[TEXT];
    double a, b;

    if (depth == 0 || made_uniform(r) < 0.2) {
        a = floor(made_uniform(r) * 1000) / 100 + 0.5;
        snprintf(text, TEXT, "%.2f", a);
        return strtod(text, NULL);
    }
    a = expression(r, left, depth - 1);
    b = expression(r, right, depth - 1);
    switch ((int)(made_uniform(r) * 6)) {
    case 0:
        snprintf(text, TEXT, "(%.1900s + %.1900s)", left, right);
        return a + b;
    case 1:
        snprintf(text, TEXT, "(%.1900s - %.1900s)", left, right);
        return a - b;
    case 2:
        snprintf(text, TEXT, "%.1900s * %.1900s", left, right);
        return a * b;
    case 3:
        snprintf(text, TEXT, "max(%.1900s, %.1900s)", left, right);
        return fmax(a, b);
    case 4:
        snprintf(text, TEXT, "min(%.1900s, %.1900s)", left, right);
        return fmin(a, b);
    default:
        snprintf(text, TEXT, "-(%.1900s)", left);
        return -a;
    }
}

Test(structural, random_models_are_what_c_makes_of_them, .timeout = 120)
{
    made_random r = {20261127};

    for (int i = 0; i < 2000; i++) {
        char text[TEXT], line[TEXT + 16];
        predict_structural_result result;
        double sum = 0, size = 1, value = expression(&r, text, 5);
        snprintf(line, sizeof(line), "time = %s", text);
        result = result_of(line, PREDICT_BY_MEAN);
        cr_assert(fabs(result.value.mean - value) <= 1e-9 * fabs(value) + 1e-9,
                  "%s: %g, not %g", line, result.value.mean, value);
        for (size_t k = 0; k < result.term_count; k++) {
            sum += result.terms[k].value.mean;
            size += fabs(result.terms[k].value.mean);
        }
        cr_assert(fabs(sum - value) <= 1e-9 * size, "%s: terms %g, not %g",
                  line, sum, value);
        predict_structural_result_fini(&result);
    }
}

/* --- what is refused --- */

Test(structural, texts_that_are_none_are_refused_with_the_place, .timeout = 120)
{
    static const char *const texts[][2] = {
        {"time = 1 +",
         "made:1: expected a number, a name or \"(\", not the end"},
        {"a = 1\n\ntime = (1 + 2", "made:3: expected \")\""},
        {"time = 1 2", "made:1: expected the end of the line, not \"2\""},
        {"time = 5 apples", "expected the end of the line, not \"apples\""},
        {"time = 5apples", "expected a unit such as ns"},
        {"time = 3ns +- 2B", "the range has another unit"},
        {"time 3", "expected \"=\", not \"3\""},
        {"a = 1\na = 2", "made:2: a is there already, in line 1"},
        {"set P = a, a", "made:1: set P has a member twice"},
        {"set P = a\nset P = b", "made:2: there is a set P already"},
        {"set P = 5..2", "goes down"},
        {"set P = ", "expected a member"},
        {"x(p in Q) = 1", "there is no set Q"},
        {"time = max(p in Q: 1)", "there is no set Q"},
        {"time = max()", "expected a number"},
        {"max = 1", "max means something else"},
        {"time = x(", "expected a name or a member"},
        {"time = repeat(3, 4)", "expected \":\""},
        {"related a b", "expected the end of the line"},
        {"= 3", "expected a name, not \"=\""},
        {"time = 1e400", "expected a number, not \"1e400\""},
        {"time = 2e s", "expected a unit"},
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        predict_structural *model;
        check_status(predict__structural_of_text(&model, texts[i][0], "made"),
                     PASTSET_EFORMAT);
        check_error(texts[i][1]);
        cr_expect_null(model);
    }
}

Test(structural, what_cannot_be_worked_out_is_refused, .timeout = 120)
{
    static const char *const texts[][2] = {
        {"a = 1", "made does not say what time is"},
        {"time = x", "made:1: x is not known"},
        {"set P = a\ntime = load(b)", "made:2: load(b) is not known"},
        {"time = time", "made:1: time needs itself"},
        {"a = b\nb = c + 1\nc = a\ntime = a", "needs itself"},
        {"set P = a\nx(p in P) = x(p)\ntime = x(a)", "made:2: x(a) needs"},
        {"time = 1s + 2B", "made:1: the units do not fit: s and B"},
        {"time = max(1s, 2)", "the units do not fit: s and a number"},
        {"a = 2 +- 3\ntime = 1 / a", "made:2: cannot divide by 2"},
        {"time = 1 / 0", "cannot divide by 0"},
        {"time = repeat(2s: 3)", "how often is to be a number"},
        {"time = repeat(2 +- 1: 3)", "how often is to be a number"},
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        predict_structural *model = model_of(texts[i][0]);
        predict_structural_result r;
        check_status(predict_structural_evaluate(&r, model, "time",
                                                 PREDICT_BY_MEAN, NULL),
                     PASTSET_EINVAL);
        check_error(texts[i][1]);
        cr_expect_eq(r.term_count, 0);
        predict_structural_destroy(model);
    }
}

/* x0 = x1 + x1, x1 = x2 + x2 ...: worked out once each, and parted as far as
 * that makes sense. */
Test(structural, what_grows_by_powers_takes_no_time, .timeout = 120)
{
    char text[4096] = "";
    size_t used = 0;
    predict_structural_result r;

    for (int i = 0; i < 60; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 "x%d = x%d + x%d\n", i, i + 1, i + 1);
    snprintf(text + used, sizeof(text) - used, "x60 = 1 +- 1\ntime = x0");
    r = result_of(text, PREDICT_BY_MEAN);
    cr_expect_eq(r.value.mean, 0x1p60);
    cr_expect_eq(r.value.range, 0x1p60);
    predict_structural_result_fini(&r);
}

Test(structural, what_would_take_years_is_refused, .timeout = 120)
{
    predict_structural *model =
        model_of("set P = 1..1000\n"
                 "time = sum(p in P: sum(q in P: sum(r in P: 1)))");
    predict_structural_result r;

    check_status(
        predict_structural_evaluate(&r, model, "time", PREDICT_BY_MEAN, NULL),
        PASTSET_EINVAL);
    check_error("made:2: this takes too long");
    predict_structural_destroy(model);
}

Test(structural, deep_texts_are_refused, .timeout = 120)
{
    char text[4096];
    predict_structural *model;

    memset(text, '(', sizeof(text));
    memcpy(text, "time = ", 7);
    text[sizeof(text) - 1] = 0;
    check_status(predict__structural_of_text(&model, text, "made"),
                 PASTSET_EFORMAT);
    check_error("there is too much in each other");
    memset(text + 7, '-', sizeof(text) - 8);
    check_status(predict__structural_of_text(&model, text, "made"),
                 PASTSET_EFORMAT);
    check_error("there is too much in each other");
}
