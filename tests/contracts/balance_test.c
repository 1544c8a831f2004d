/* balance_test.c - shares of work by how long processes were busy, of courses
 * that are made up here. */
#include "contracts/check/balance.h"

#include <math.h>

#include "tests/support/check.h"

#define PROCESSES 3
#define INTERVALS 2

typedef struct made {
    contracts_course course;
    double quantities[PROCESSES * INTERVALS * CONTRACTS_QUANTITIES];
} made;

/* Intervals of half a second, of processes with two threads. */
static void made_make(made *m, const double *waiting)
{
    *m = (made){.course = {.interval_ns = 500000000,
                           .intervals = INTERVALS,
                           .processes = PROCESSES,
                           .width = CONTRACTS_QUANTITIES}};
    m->course.quantities = m->quantities;
    for (uint32_t p = 0; p < PROCESSES; p++)
        for (size_t i = 0; i < INTERVALS; i++) {
            double *q = contracts_course_at(&m->course, p, i);
            q[CONTRACTS_SECONDS] = 0.5;
            q[CONTRACTS_THREADS] = 2;
            q[CONTRACTS_WAITING] = waiting[p];
        }
}

static contracts_balance balance_of(made *m)
{
    contracts_balance b;

    check_status(contracts_balance_make(&b, PROCESSES), 0);
    for (size_t i = 0; i < INTERVALS; i++)
        contracts_balance_add(&b, &m->course, i);
    return b;
}

static void check_shares(const double *shares, double a, double b, double c)
{
    const double wanted[] = {a, b, c};

    for (int i = 0; i < PROCESSES; i++)
        cr_expect(fabs(shares[i] - wanted[i]) < 1e-12, "%d: %.17g, not %g", i,
                  shares[i], wanted[i]);
}

/* The first has half a processor: the others wait half of their time. */
Test(balance, who_is_slow_gets_less, .timeout = 60)
{
    double shares[] = {1, 1, 1};
    made m;
    contracts_balance b;

    made_make(&m, (double[]){0, 0.5, 0.5});
    b = balance_of(&m);
    cr_expect_eq(b.intervals, INTERVALS);
    cr_assert(contracts_balance_shares(&b, shares, 0.1));
    check_shares(shares, 0.6, 1.2, 1.2);
    contracts_balance_free(&b);
}

/* What it had before counts; a sum stays what it is. */
Test(balance, begins_with_the_shares_that_there_are, .timeout = 60)
{
    double shares[] = {0.5, 1, 4.5};
    made m;
    contracts_balance b;

    made_make(&m, (double[]){0.5, 0.75, 0});
    b = balance_of(&m);
    cr_assert(contracts_balance_shares(&b, shares, 0.1));
    check_shares(shares, 1 * 6 / 9.5, 4 * 6 / 9.5, 4.5 * 6 / 9.5);
    contracts_balance_free(&b);
}

Test(balance, leaves_alone_what_hardly_differs, .timeout = 60)
{
    double shares[] = {1, 1, 1};
    made m;
    contracts_balance b;

    made_make(&m, (double[]){0, 0.05, 0.09});
    b = balance_of(&m);
    cr_expect(!contracts_balance_shares(&b, shares, 0.1));
    check_shares(shares, 1, 1, 1);
    cr_expect(contracts_balance_shares(&b, shares, 0.08));
    contracts_balance_free(&b);
}

Test(balance, does_not_believe_in_any_speed, .timeout = 60)
{
    double shares[] = {1, 1, 1};
    made m;
    contracts_balance b;

    made_make(&m, (double[]){0, 1, 1});
    b = balance_of(&m);
    cr_assert(contracts_balance_shares(&b, shares, 0.1));
    check_shares(shares, 1 / 7.0, 10 / 7.0, 10 / 7.0);
    contracts_balance_free(&b);
}

Test(balance, needs_shares_above_nothing, .timeout = 60)
{
    double zeros[] = {0, 0, 0}, below[] = {1, -1, 1};
    double unbounded[] = {1, (double)INFINITY, 1};
    made m;
    contracts_balance b;

    made_make(&m, (double[]){0, 0.5, 0.5});
    b = balance_of(&m);
    cr_expect(!contracts_balance_shares(&b, zeros, 0.1));
    check_shares(zeros, 0, 0, 0);
    cr_expect(!contracts_balance_shares(&b, below, 0.1));
    check_shares(below, 1, -1, 1);
    cr_expect(!contracts_balance_shares(&b, unbounded, 0.1));
    contracts_balance_free(&b);
}

/* One has no share that could be changed; of another one nothing is known. */
Test(balance, knows_who_it_can_speak_of, .timeout = 60)
{
    double shares[] = {1, NAN, 1};
    made m;
    contracts_balance b;

    made_make(&m, (double[]){0, 0.9, 0.5});
    for (size_t i = 0; i < INTERVALS; i++)
        contracts_course_at(&m.course, 1, i)[CONTRACTS_WAITING] = NAN;
    b = balance_of(&m);
    cr_assert(contracts_balance_shares(&b, shares, 0.1));
    cr_expect(isnan(shares[1]));
    cr_expect(fabs(shares[0] - 2 / 3.0) < 1e-12);
    shares[1] = 1;
    cr_expect(!contracts_balance_shares(&b, shares, 0.1));
    contracts_balance_clear(&b);
    cr_expect_eq(b.intervals, 0);
    shares[1] = NAN;
    cr_expect(!contracts_balance_shares(&b, shares, 0.1));
    contracts_balance_free(&b);
}
