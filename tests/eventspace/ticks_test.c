/* ticks_test.c - the counter, its rate, and what stands in for it. */
#include "eventspace/ticks.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* How long `pause_ns` lasts by the ticks, less what it lasts by the clock. */
static double ticks_error_ns(long pause_ns)
{
    struct timespec pause = {0, pause_ns};
    uint64_t from_ns = eventspace_ticks_clock();
    uint64_t from = eventspace_ticks();
    uint64_t to, to_ns;

    nanosleep(&pause, NULL);
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
    double least = 1e18;

    for (int i = 0; i < 10; i++) {
        double error = fabs(ticks_error_ns(200000000));
        least = error < least ? error : least;
    }
    cr_assert_lt(least, 4000, "200 ms by the ticks are %.0f ns wrong", least);
}

Test(ticks, are_measured_once, .timeout = 120, .init = eventspace_ticks_init)
{
    double hz = eventspace_ticks_hz();
    uint64_t from_ns = eventspace_ticks_clock();

    for (int i = 0; i < 1000; i++)
        eventspace_ticks_init();
    cr_assert_lt(eventspace_ticks_clock() - from_ns, 5000000);
    cr_assert_eq(eventspace_ticks_hz(), hz);
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
