/* scheduler_test.c - scheduler models: what they say, as text, and which one
 * fits samples. */
#include "predict/models/scheduler_model.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * (1 + fabs(b));
}

Test(scheduler, credit_gives_back_all_idle_time, .timeout = 120)
{
    /* 000, figure 2: (a), (b), (c) */
    cr_expect(near(
        predict_scheduler_extra(PREDICT_SCHEDULER_CREDIT, 0.35, 0, 1), 0.35));
    cr_expect(near(
        predict_scheduler_extra(PREDICT_SCHEDULER_CREDIT, 0.3, 0.05, 1), 0.25));
    cr_expect(near(
        predict_scheduler_extra(PREDICT_SCHEDULER_CREDIT, 0.05, 0.3, 1), 0));
    /* two competitors: three times busy, unless idle makes up for it */
    cr_expect(near(
        predict_scheduler_extra(PREDICT_SCHEDULER_CREDIT, 0.3, 0.05, 2), 0.55));
}

Test(scheduler, fair_gives_nothing_back, .timeout = 120)
{
    cr_expect(near(
        predict_scheduler_extra(PREDICT_SCHEDULER_FAIR, 0.05, 0.3, 1), 0.05));
    cr_expect(near(
        predict_scheduler_extra(PREDICT_SCHEDULER_FAIR, 0.3, 0.05, 2.5), 0.75));
}

Test(scheduler, bounded_gives_back_its_bound_at_most, .timeout = 120)
{
    predict_scheduler scheduler = {.credit_s = 0.01};
    cr_expect(near(predict_scheduler_extra(scheduler, 0.3, 0.05, 1), 0.29));
    cr_expect(near(predict_scheduler_extra(scheduler, 0.3, 0.004, 1), 0.296));
    cr_expect(near(predict_scheduler_extra(scheduler, 0.3, 0.05, 2), 0.58));
    cr_expect(near(predict_scheduler_extra(scheduler, 0.005, 0.05, 1), 0));
}

Test(scheduler, no_load_adds_nothing, .timeout = 120)
{
    cr_expect_eq(predict_scheduler_extra(PREDICT_SCHEDULER_CREDIT, 1, 1, 0), 0);
    cr_expect_eq(predict_scheduler_extra(PREDICT_SCHEDULER_FAIR, 1, 1, 0), 0);
}

Test(scheduler, nonsense_gives_no_number, .timeout = 120)
{
    cr_expect(isnan(predict_scheduler_extra(PREDICT_SCHEDULER_FAIR, -1, 1, 1)));
    cr_expect(
        isnan(predict_scheduler_extra(PREDICT_SCHEDULER_FAIR, 1, NAN, 1)));
    cr_expect(
        isnan(predict_scheduler_extra(PREDICT_SCHEDULER_FAIR, 1, 1, INFINITY)));
    cr_expect(isnan(
        predict_scheduler_extra((predict_scheduler){.credit_s = -1}, 1, 1, 1)));
}

/* --- as text --- */

Test(scheduler, texts_are_read_as_they_are_written, .timeout = 120)
{
    static const double credits[] = {0,           INFINITY, 0.006, 1e-9,
                                     0.123456789, 12.5,     3600,  2e-6};
    for (size_t i = 0; i < sizeof(credits) / sizeof(*credits); i++) {
        char text[32];
        predict_scheduler scheduler = {.credit_s = -1};
        predict_scheduler_text((predict_scheduler){.credit_s = credits[i]},
                               text, sizeof(text));
        check_status(predict_scheduler_parse(&scheduler, text), 0);
        cr_expect(scheduler.credit_s == credits[i] ||
                      fabs(scheduler.credit_s - credits[i]) < 1e-12,
                  "%s is %.12g, not %.12g", text, scheduler.credit_s,
                  credits[i]);
    }
}

Test(scheduler, names_are_those_of_the_documentation, .timeout = 120)
{
    char text[32];
    cr_expect_str_eq(predict_scheduler_text(PREDICT_SCHEDULER_FAIR, text, 32),
                     "fair");
    cr_expect_str_eq(predict_scheduler_text(PREDICT_SCHEDULER_CREDIT, text, 32),
                     "credit");
    cr_expect_str_eq(predict_scheduler_text(
                         (predict_scheduler){.credit_s = 0.006}, text, 32),
                     "bounded:6ms");
}

Test(scheduler, a_slice_is_that_of_the_machine, .timeout = 120)
{
    static const int new[] = {6, 15}, old[] = {6, 14}, oldest[] = {5, 19};
    static const struct {
        uint32_t processors;
        double slice_ms; /* as Linux prints it */
    } machines[] = {{1, 0.7}, {2, 1.4}, {3, 1.4}, {4, 2.1},
                    {7, 2.1}, {8, 2.8}, {9, 2.8}, {192, 2.8}};
    predict_scheduler eevdf = PREDICT_SCHEDULER_EEVDF, asked;

    for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
        cr_expect_float_eq(predict_scheduler_slice(machines[i].processors, new),
                           machines[i].slice_ms / 1e3, 1e-12);
    cr_expect_float_eq(predict_scheduler_slice(4, old), 2.25e-3, 1e-12);
    cr_expect_float_eq(predict_scheduler_slice(16, oldest), 3e-3, 1e-12);
    cr_expect_eq(predict_scheduler_on(eevdf, 1.4e-3).slice_s, 1.4e-3);
    cr_expect_eq(predict_scheduler_on(eevdf, 0).slice_s, 2.8e-3);
    check_status(predict_scheduler_parse(&asked, "eevdf:2ms"), 0);
    cr_expect_eq(predict_scheduler_on(asked, 1.4e-3).slice_s, 2e-3);
    cr_expect_eq(predict_scheduler_on(PREDICT_SCHEDULER_FAIR, 1.4e-3).slice_s,
                 0);
}

Test(scheduler, other_texts_are_refused, .timeout = 120)
{
    static const char *const wrong[] = {"",         "Fair",        "bounded",
                                        "bounded:", "bounded:6",   "credit ",
                                        "fair:6ms", "bounded:-6ms"};
    predict_scheduler scheduler;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        check_status(predict_scheduler_parse(&scheduler, wrong[i]),
                     PASTSET_EINVAL);
    check_error("bounded:-6ms");
}

/* --- the fit --- */

#define SAMPLES 48

/* Samples of a scheduler model, off by up to `scatter` of load * busy, by a
 * seed. */
static void make(predict_scheduler_sample *out, predict_scheduler scheduler,
                 double scatter, unsigned seed)
{
    static const double busy_ms[] = {0.5, 2, 10, 50};
    static const double idle_ms[] = {1, 5, 20, 100};
    size_t n = 0;
    srand(seed);
    for (int b = 0; b < 4; b++)
        for (int i = 0; i < 4; i++)
            for (int load = 1; load <= 3; load++) {
                predict_scheduler_sample *s = &out[n++];
                double off = 2.0 * rand() / RAND_MAX - 1;
                *s = (predict_scheduler_sample){busy_ms[b] / 1e3,
                                                idle_ms[i] / 1e3, load, 0};
                s->extra_s = predict_scheduler_extra(scheduler, s->busy_s,
                                                     s->idle_s, load);
                s->extra_s += off * scatter * load * s->busy_s;
            }
}

Test(scheduler, the_fit_finds_the_credit_that_made_the_samples, .timeout = 120)
{
    static const double credits[] = {0.0004, 0.001, 0.003, 0.0061, 0.02};
    predict_scheduler_sample samples[SAMPLES];
    for (size_t i = 0; i < 5; i++) {
        predict_scheduler scheduler;
        double error = -1;
        make(samples, (predict_scheduler){.credit_s = credits[i]}, 0, 1);
        check_status(
            predict_scheduler_fit(&scheduler, &error, samples, SAMPLES), 0);
        cr_expect(fabs(scheduler.credit_s - credits[i]) < 1e-9, "%g, not %g",
                  scheduler.credit_s, credits[i]);
        cr_expect(error >= 0 && error < 1e-9);
    }
}

Test(scheduler, the_fit_is_exact_where_each_sample_was_measured, .timeout = 120)
{
    predict_scheduler_sample samples[SAMPLES];
    predict_scheduler scheduler;
    make(samples, PREDICT_SCHEDULER_FAIR, 0, 1);
    check_status(predict_scheduler_fit(&scheduler, NULL, samples, SAMPLES), 0);
    cr_expect_eq(scheduler.credit_s, 0);
    make(samples, PREDICT_SCHEDULER_CREDIT, 0, 1);
    check_status(predict_scheduler_fit(&scheduler, NULL, samples, SAMPLES), 0);
    cr_expect(isinf(scheduler.credit_s));
}

Test(scheduler, scatter_does_not_hide_the_plain_laws, .timeout = 120)
{
    predict_scheduler_sample samples[SAMPLES];
    unsigned fair = 0, credit = 0;
    for (unsigned seed = 0; seed < 100; seed++) {
        predict_scheduler scheduler;
        double error;
        make(samples, PREDICT_SCHEDULER_FAIR, 0.1, seed);
        check_status(
            predict_scheduler_fit(&scheduler, &error, samples, SAMPLES), 0);
        fair += scheduler.credit_s == 0;
        cr_expect(error > 0.03 && error < 0.1, "%g", error);
        make(samples, PREDICT_SCHEDULER_CREDIT, 0.1, seed);
        check_status(predict_scheduler_fit(&scheduler, NULL, samples, SAMPLES),
                     0);
        credit += isinf(scheduler.credit_s);
    }
    cr_expect_geq(fair, 95);
    cr_expect_geq(credit, 95);
}

/* The best credit by trying very many. */
static double tried(const predict_scheduler_sample *samples, size_t count)
{
    double best = 0, min = INFINITY;
    for (int i = 0; i <= 100000; i++) {
        predict_scheduler scheduler = {.credit_s = i * 1e-6};
        double sum = 0;
        for (size_t j = 0; j < count; j++) {
            const predict_scheduler_sample *s = &samples[j];
            double off =
                (s->extra_s - predict_scheduler_extra(scheduler, s->busy_s,
                                                      s->idle_s, s->load)) /
                (s->load * s->busy_s);
            sum += off * off;
        }
        if (sum < min) {
            min = sum;
            best = scheduler.credit_s;
        }
    }
    return best;
}

Test(scheduler, the_fit_is_the_least_squares, .timeout = 120)
{
    predict_scheduler_sample samples[SAMPLES];
    for (unsigned seed = 0; seed < 5; seed++) {
        predict_scheduler scheduler;
        make(samples, (predict_scheduler){.credit_s = 0.004}, 0.2, seed);
        check_status(predict_scheduler_fit(&scheduler, NULL, samples, SAMPLES),
                     0);
        cr_expect(fabs(scheduler.credit_s - tried(samples, SAMPLES)) < 2e-6,
                  "%g, by trying %g", scheduler.credit_s,
                  tried(samples, SAMPLES));
    }
}

Test(scheduler, samples_that_do_not_tell_are_passed_over, .timeout = 120)
{
    predict_scheduler_sample samples[SAMPLES + 3];
    predict_scheduler scheduler;
    make(samples, (predict_scheduler){.credit_s = 0.003}, 0, 1);
    samples[SAMPLES] = (predict_scheduler_sample){0.1, 0.1, 0, 0.05};
    samples[SAMPLES + 1] = (predict_scheduler_sample){0, 0.1, 1, 0.05};
    samples[SAMPLES + 2] = (predict_scheduler_sample){0.1, 0, 1, 5};
    check_status(predict_scheduler_fit(&scheduler, NULL, samples, SAMPLES + 3),
                 0);
    cr_expect(fabs(scheduler.credit_s - 0.003) < 1e-9);
    check_status(predict_scheduler_fit(&scheduler, NULL, samples + SAMPLES, 3),
                 PASTSET_EINVAL);
    check_status(predict_scheduler_fit(&scheduler, NULL, NULL, 0),
                 PASTSET_EINVAL);
}

/* --- measured --- */

/* Of a process beside 1 to 3 that are always busy, on one processor under Linux
 * 6.18 in a virtual machine of two processors: milliseconds of busy and idle
 * phases, competitors, and how much longer each phase took. */
static const double measured[][4] = {
    /* clang-format off */
    {2, 2, 1, 2.054},
    {2, 8, 1, 2.047},
    {2, 20, 1, 2.184},
    {2, 50, 1, 2.013},
    {2, 200, 1, 2.13},
    {4, 2, 1, 4.291},
    {4, 8, 1, 4.06},
    {4, 20, 1, 4.16},
    {4, 50, 1, 4.249},
    {4, 200, 1, 4.109},
    {10, 2, 1, 10.88},
    {10, 8, 1, 10.109},
    {10, 20, 1, 10.001},
    {10, 50, 1, 10.25},
    {10, 200, 1, 9.888},
    {50, 2, 1, 50.509},
    {50, 8, 1, 50.167},
    {50, 20, 1, 51.293},
    {50, 50, 1, 54.819},
    {50, 200, 1, 50.082},
    {150, 2, 1, 157.18},
    {150, 8, 1, 150.89},
    {150, 20, 1, 157.036},
    {150, 50, 1, 150.666},
    {150, 200, 1, 150.416},
    {2, 2, 2, 4.085},
    {2, 8, 2, 4.008},
    {2, 20, 2, 4.034},
    {2, 50, 2, 4.254},
    {2, 200, 2, 4.113},
    {4, 2, 2, 8.005},
    {4, 8, 2, 7.999},
    {4, 20, 2, 7.902},
    {4, 50, 2, 8.297},
    {4, 200, 2, 7.996},
    {10, 2, 2, 20.292},
    {10, 8, 2, 19.837},
    {10, 20, 2, 20.312},
    {10, 50, 2, 19.862},
    {10, 200, 2, 20.336},
    {50, 2, 2, 100.138},
    {50, 8, 2, 99.854},
    {50, 20, 2, 100.491},
    {50, 50, 2, 99.995},
    {50, 200, 2, 99.772},
    {150, 2, 2, 300.551},
    {150, 8, 2, 300.361},
    {150, 20, 2, 300.382},
    {150, 50, 2, 299.634},
    {150, 200, 2, 299.991},
    {2, 2, 3, 6.111},
    {2, 8, 3, 5.999},
    {2, 20, 3, 5.998},
    {2, 50, 3, 6.22},
    {2, 200, 3, 5.663},
    {4, 2, 3, 11.94},
    {4, 8, 3, 11.999},
    {4, 20, 3, 11.999},
    {4, 50, 3, 11.748},
    {4, 200, 3, 12.33},
    {10, 2, 3, 30.165},
    {10, 8, 3, 30.188},
    {10, 20, 3, 30.233},
    {10, 50, 3, 30.183},
    {10, 200, 3, 30.521},
    {50, 2, 3, 149.396},
    {50, 8, 3, 149.192},
    {50, 20, 3, 155.594},
    {50, 50, 3, 149.393},
    {50, 200, 3, 151.119},
    {150, 2, 3, 450.996},
    {150, 8, 3, 450.992},
    {150, 20, 3, 449.992},
    {150, 50, 3, 454.988},
    {150, 200, 3, 452.659},
    /* clang-format on */
};

#define MEASURED (sizeof(measured) / sizeof(*measured))

Test(scheduler, the_scheduler_of_linux_6_18_is_fair, .timeout = 120)
{
    predict_scheduler_sample samples[MEASURED];
    predict_scheduler scheduler;
    double error = 1;
    for (size_t i = 0; i < MEASURED; i++)
        samples[i] = (predict_scheduler_sample){
            measured[i][0] / 1e3, measured[i][1] / 1e3, measured[i][2],
            measured[i][3] / 1e3};
    check_status(predict_scheduler_fit(&scheduler, &error, samples, MEASURED),
                 0);
    cr_expect_eq(scheduler.credit_s, 0);
    cr_expect_lt(error, 0.05);
}
