/* ticks_test.c - the counter, its rate, and what stands in for it. */
#include "eventspace/collect/ticks.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "pastset/status.h"

/* How long `pause_ns` lasts by the ticks, less what it lasts by the clock. */
static double ticks_error_ns(long pause_ns)
{
    struct timespec pause = {0, pause_ns};
    uint64_t from_ns = eventspace_ticks_clock();
    uint64_t from = eventspace_ticks();
    uint64_t to, to_ns;

    nanosleep(&pause, NULL);
    /* What has slept is slow at first: microseconds would pass between the two
     * readings. */
    for (int i = 0; i < 100; i++) {
        eventspace_ticks();
        eventspace_ticks_clock();
    }
    to = eventspace_ticks();
    to_ns = eventspace_ticks_clock();
    return (double)(to - from) * 1e9 / eventspace_ticks_hz() -
           (double)(to_ns - from_ns);
}

Test(ticks, name_a_source, .timeout = 120, .init = eventspace_ticks_init)
{
    const char *source = eventspace_ticks_source();

    cr_assert(!strcmp(source, "tsc") || !strcmp(source, "cntvct") ||
              !strcmp(source, "monotonic_raw"));
    cr_assert_eq(eventspace_ticks_counter,
                 strcmp(source, "monotonic_raw") != 0);
}

Test(ticks, never_go_back_within_a_thread, .timeout = 120,
     .init = eventspace_ticks_init)
{
    uint64_t last = eventspace_ticks();

    for (int i = 0; i < 1000000; i++) {
        uint64_t now = eventspace_ticks();
        cr_assert_geq(now, last);
        last = now;
    }
}

/* An interruption between the two readings spoils a try, not the rate. The
 * bound leaves room for a machine that is busy with the other tests. */
Test(ticks, agree_with_the_clock_to_twenty_millionths, .timeout = 120,
     .init = eventspace_ticks_init)
{
    double min = 1e18;

    for (int i = 0; i < 10; i++) {
        double error = fabs(ticks_error_ns(200000000));
        min = error < min ? error : min;
    }
    cr_assert_lt(min, 4000, "200 ms by the ticks are %.0f ns wrong", min);
}

/* A measurement takes 10 ms, and never less: the quickest of many calls is not
 * one. The others may have been interrupted. */
Test(ticks, are_measured_once, .timeout = 120, .init = eventspace_ticks_init)
{
    double hz = eventspace_ticks_hz();
    uint64_t min = UINT64_MAX;

    for (int i = 0; i < 1000; i++) {
        uint64_t from_ns = eventspace_ticks_clock(), took_ns;
        eventspace_ticks_init();
        took_ns = eventspace_ticks_clock() - from_ns;
        min = took_ns < min ? took_ns : min;
        cr_assert_eq(eventspace_ticks_hz(), hz);
    }
    cr_assert_lt(min, 5000000);
}

Test(ticks, are_nanoseconds_before_they_are_initialised, .timeout = 120)
{
    uint64_t before = eventspace_ticks_clock();
    uint64_t ticks = eventspace_ticks();

    cr_assert_eq(eventspace_ticks_hz(), 1e9);
    cr_assert_str_eq(eventspace_ticks_source(), "monotonic_raw");
    cr_assert_geq(ticks, before);
    cr_assert_leq(ticks, eventspace_ticks_clock());
}

/* --- another counter than the real one --- */

/* The real ticks that a simulated stamp was made from lie between two real
 * stamps, one taken before it and one after it. */
static void check_simulated(int64_t offset_ns, int64_t rate_ppb)
{
    double rate = (double)rate_ppb * 1e-9;
    double offset = round((double)offset_ns * eventspace_ticks_hz() / 1e9);
    uint64_t before, stamp, after;
    double real;

    cr_assert_eq(eventspace_ticks_simulate(0, 0), 0);
    before = eventspace_ticks();
    cr_assert_eq(eventspace_ticks_simulate(offset_ns, rate_ppb), 0);
    stamp = eventspace_ticks();
    cr_assert_eq(eventspace_ticks_simulate(0, 0), 0);
    after = eventspace_ticks();
    real = ((double)stamp - offset) / (1 + rate);
    cr_expect_geq(real, (double)before - 2);
    cr_expect_leq(real, (double)after + 2);
}

Test(ticks, can_be_simulated_with_an_offset_and_a_rate, .timeout = 120,
     .init = eventspace_ticks_init)
{
    check_simulated(0, 0);
    check_simulated(10000000000, 0);
    check_simulated(-10000000000, 0);
    check_simulated(0, 200000);
    check_simulated(0, -200000);
    check_simulated(3200000000, -123456);
}

/* Over one and the same second the real counter is read before and after the
 * simulated one: what it must have counted lies in between. */
Test(ticks, run_at_the_rate_that_is_simulated, .timeout = 120,
     .init = eventspace_ticks_init)
{
    struct timespec pause = {0, 200000000};
    double min, max, ticks;
    uint64_t real[4], from, to;

    real[0] = eventspace_ticks();
    cr_assert_eq(eventspace_ticks_simulate(-5000000000, 1000000), 0);
    from = eventspace_ticks();
    cr_assert_eq(eventspace_ticks_simulate(0, 0), 0);
    real[1] = eventspace_ticks();
    nanosleep(&pause, NULL);
    real[2] = eventspace_ticks();
    cr_assert_eq(eventspace_ticks_simulate(-5000000000, 1000000), 0);
    to = eventspace_ticks();
    cr_assert_eq(eventspace_ticks_simulate(0, 0), 0);
    real[3] = eventspace_ticks();
    ticks = (double)(to - from);
    min = (double)(real[2] - real[1]) * 1.001;
    max = (double)(real[3] - real[0]) * 1.001;
    cr_expect_geq(ticks, min - 2);
    cr_expect_leq(ticks, max + 2);
}

Test(ticks, never_go_back_when_simulated, .timeout = 120,
     .init = eventspace_ticks_init)
{
    uint64_t last;

    cr_assert_eq(eventspace_ticks_simulate(-1, -1000000), 0);
    last = eventspace_ticks();
    for (int i = 0; i < 1000000; i++) {
        uint64_t now = eventspace_ticks();
        cr_assert_geq(now, last);
        last = now;
    }
}

Test(ticks, refuse_to_be_simulated_far_beside_the_real_ones, .timeout = 120,
     .init = eventspace_ticks_init)
{
    cr_expect_eq(eventspace_ticks_simulate(0, 1000001), PASTSET_EINVAL);
    cr_expect_eq(eventspace_ticks_simulate(-3600000000001, 0), PASTSET_EINVAL);
    cr_expect_eq(eventspace_ticks_simulate(-3600000000000, -1000000), 0);
}

Test(ticks, have_a_name_that_says_what_is_simulated, .timeout = 120,
     .init = eventspace_ticks_init)
{
    char real[128], simulated[128];

    eventspace_ticks_name(real, sizeof(real));
    cr_assert(strstr(real, eventspace_ticks_source()));
    cr_assert_eq(eventspace_ticks_simulate(-17, 200000), 0);
    eventspace_ticks_name(simulated, sizeof(simulated));
    cr_expect(strstr(simulated, " offset_ns=-17 rate_ppb=200000"));
    cr_expect_eq(strncmp(real, simulated, strlen(real)), 0);
    cr_assert_eq(eventspace_ticks_simulate(0, 0), 0);
    eventspace_ticks_name(simulated, sizeof(simulated));
    cr_expect_str_eq(real, simulated);
}
