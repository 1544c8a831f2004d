/* link_test.c - the fit of a link, and both ends over a real socket. */
#include "tests/support/check.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "measure/links/links.h"
#include "tests/measure/link_server.h"
#include "paths/map/map.h"

static measure_link made(double latency_s, double bandwidth, double noise)
{
    measure_link link = {.size_count = 21};
    uint32_t random = 7;
    for (size_t i = 0; i < link.size_count; i++) {
        double off;
        random = random * 1664525u + 1013904223u;
        off = noise * (2.0 * (random >> 8) / 16777216.0 - 1);
        link.sizes[i].bytes = (uint64_t)1 << i;
        link.sizes[i].median_s =
            (latency_s + (double)link.sizes[i].bytes / bandwidth) * (1 + off);
    }
    return link;
}

/* Half of a round trip of a message that goes there and back again and again,
 * each way through a bucket of its own: by letting them go, until it stays. */
static double bucket_time(double bytes, double rate, double burst,
                          double alone_s)
{
    double left[2] = {burst, burst}, at[2] = {0, 0}, now = 0, from = 0;
    for (int i = 0; i < 4000; i++) {
        int way = i % 2;
        double tokens = fmin(burst, left[way] + rate * (now - at[way]));
        if (i == 3998)
            from = now;
        now += alone_s + fmax(0, bytes - tokens) / rate;
        left[way] = fmax(0, tokens - bytes);
        at[way] = now - alone_s;
    }
    return (now - from) / 2;
}

static measure_link shaped(double rate, double burst, double alone_s,
                           double noise)
{
    measure_link link = made(0, 1, noise); /* of a second per byte */
    for (size_t i = 0; i < link.size_count; i++) {
        measure_link_size *s = &link.sizes[i];
        double bytes = (double)s->bytes, off = s->median_s / bytes;
        s->median_s = bucket_time(bytes, rate, burst, alone_s) * off;
    }
    return link;
}

static void check_near(double got, double want, double share)
{
    cr_assert(fabs(got - want) <= share * want, "%g is not %g within %g %%",
              got, want, share * 100);
}

/* The testbed of papers 000 and 001: 400 us and 70 Mbit/s. */
Test(link_fit, finds_the_link_that_the_times_were_made_of, .timeout = 120)
{
    static const double latencies[] = {400e-6, 20e-6, 0.1};
    static const double bandwidths[] = {70e6 / 8, 1e10, 12e3};
    for (int i = 0; i < 3; i++) {
        measure_link link = made(latencies[i], bandwidths[i], 0);
        check_status(measure_link_fit(&link), 0);
        check_near(link.latency_s, latencies[i], 1e-6);
        check_near(link.bandwidth, bandwidths[i], 1e-6);
        cr_assert_lt(link.residual, 1e-6);
    }
}

Test(link_fit, finds_it_under_scatter, .timeout = 120)
{
    measure_link link = made(400e-6, 70e6 / 8, 0.05);
    check_status(measure_link_fit(&link), 0);
    check_near(link.latency_s, 400e-6, 0.03);
    check_near(link.bandwidth, 70e6 / 8, 0.03);
    cr_assert(link.residual > 0.01 && link.residual < 0.05, "residual %g",
              link.residual);
}

/* The two sums that must be nothing: what is left of the times neither has a
 * mean nor grows with the size, each seen relative to its time. */
Test(link_fit, leaves_nothing_that_a_better_line_could_take, .timeout = 120)
{
    measure_link link = made(35e-6, 3e9, 0.2);
    double mean = 0, slope = 0, each = 0, steep = 0;
    check_status(measure_link_fit(&link), 0);
    for (size_t i = 0; i < link.size_count; i++) {
        double m = (double)link.sizes[i].bytes;
        double f = link.latency_s + m / link.bandwidth;
        double left = (link.sizes[i].median_s - f) / (f * f);
        mean += left;
        slope += m * left;
        each += fabs(left);
        steep += fabs(m * left);
    }
    cr_assert_lt(fabs(mean), 1e-6 * each);
    cr_assert_lt(fabs(slope), 1e-6 * steep);
}

/* A bucket of 3000 bytes is free: t = max(20 us, (size - 3000)/B). B must not
 * come from the messages that got through it. */
Test(link_fit, tells_what_a_shaper_lets_through, .timeout = 120)
{
    measure_link link = made(1, 1, 0);
    for (size_t i = 0; i < link.size_count; i++)
        link.sizes[i].median_s =
            fmax(20e-6, ((double)link.sizes[i].bytes - 3000) / 12.5e6);
    check_status(measure_link_fit(&link), 0);
    check_near(link.bandwidth, 12.5e6, 1e-3);
    check_near(link.latency_s, 20e-6, 1e-6);
}

Test(link_fit, finds_rate_and_burst_of_a_bucket, .timeout = 120)
{
    static const double bursts[] = {0, 1600, 14.8e3, 20e3};
    static const double noises[] = {0, 0.01, 0.03};
    static const double rates[] = {10e6 / 8, 20e6 / 8, 100e6 / 8};
    for (int i = 0; i < 36; i++) {
        double burst = bursts[i % 4], noise = noises[i / 4 % 3];
        double rate = rates[i / 12];
        measure_link link = shaped(rate, burst, 25e-6, noise);
        check_status(measure_link_fit(&link), 0);
        if (burst == 0 && link.rate == 0)
            continue; /* B is all that there is to tell */
        check_near(link.rate, rate, 1e-6 + noise);
        if (burst > 0) {
            check_near(link.bandwidth, rate, 1e-6 + noise);
            check_near(link.latency_s, 25e-6, 2 * noise + 0.05);
            cr_assert_lt(link.residual, 0.01 + 2 * noise);
        }
        cr_assert_float_eq(link.burst, burst, 1e-3 + noise * (4 * burst + 3000),
                           "%g bytes, not %g", link.burst, burst);
        cr_assert_float_eq(link.alone_s, 25e-6, 25e-6 * noise + 1e-6);
    }
}

/* Of the four largest sizes, by whose differences the rate is told, one took
 * too long or was too fast: three of six differences are wrong, to both sides,
 * and the median is not. */
Test(link_fit, finds_the_rate_though_one_of_the_largest_sizes_was_disturbed,
     .timeout = 120)
{
    for (size_t from_last = 1; from_last <= 2; from_last++) {
        for (int i = 0; i < 2; i++) {
            measure_link link = shaped(10e6 / 8, 20e3, 25e-6, 0);
            link.sizes[link.size_count - 1 - from_last].median_s *=
                i ? 1.2 : 0.8;
            check_status(measure_link_fit(&link), 0);
            check_near(link.rate, 10e6 / 8, 1e-6);
        }
    }
}

Test(link_fit, tells_each_sizes_time_and_the_root_of_their_mean_square,
     .timeout = 120)
{
    measure_link link = made(35e-6, 3e9, 0.1);
    double sum = 0;
    check_status(measure_link_fit(&link), 0);
    for (size_t i = 0; i < link.size_count; i++) {
        const measure_link_size *s = &link.sizes[i];
        double fitted = link.latency_s + (double)s->bytes / link.bandwidth;
        check_near(s->fitted_s, fitted, 1e-9);
        sum += pow((s->median_s - fitted) / fitted, 2);
    }
    check_near(link.residual, sqrt(sum / (double)link.size_count), 1e-9);
}

Test(link_fit, has_no_latency_below_zero, .timeout = 120)
{
    measure_link link = made(1e-9, 1e6, 0);
    for (size_t i = 0; i < link.size_count; i++)
        link.sizes[i].median_s = pow((double)link.sizes[i].bytes, 1.2) / 1e6;
    check_status(measure_link_fit(&link), 0);
    cr_assert_geq(link.latency_s, 0);
    cr_assert_gt(link.bandwidth, 0);
}

Test(link_fit, refuses_times_that_make_no_link, .timeout = 120)
{
    measure_link link = made(400e-6, 1e6, 0);
    link.size_count = 1;
    check_status(measure_link_fit(&link), PASTSET_EINVAL);
    check_error("two sizes");

    link = made(400e-6, 1e6, 0);
    for (size_t i = 0; i < link.size_count; i++)
        link.sizes[i].bytes = 4096;
    check_status(measure_link_fit(&link), PASTSET_EINVAL);
    check_error("one size");

    link = made(400e-6, 1e6, 0);
    for (size_t i = 0; i < link.size_count; i++)
        link.sizes[i].median_s = 1e-3 / (double)(i + 1);
    check_status(measure_link_fit(&link), PASTSET_EINVAL);
    check_error("larger messages take no longer");

    link = made(400e-6, 1e6, 0);
    link.sizes[3].median_s = NAN;
    check_status(measure_link_fit(&link), PASTSET_EINVAL);
}

/* Medians of a machine that does other things; the least times are L + size/B.
 */
Test(link, where_medians_scatter_the_least_times_tell)
{
    measure_link link = {.size_count = 3};
    for (size_t i = 0; i < 3; i++) {
        measure_link_size *s = &link.sizes[i];
        s->bytes = i == 0 ? 1000 : i == 1 ? 10000 : 100000;
        s->min_s = 1e-4 + (double)s->bytes / 1e8;
        s->median_s = 0.03 - 0.005 * (double)i;
    }
    check_status(measure_link_fit(&link), 0);
    cr_assert(link.by_min);
    cr_assert_float_eq(link.latency_s, 1e-4, 1e-9);
    cr_assert_float_eq(link.bandwidth, 1e8, 1e3);
    for (size_t i = 0; i < 3; i++)
        link.sizes[i].median_s = link.sizes[i].min_s;
    check_status(measure_link_fit(&link), 0);
    cr_assert(!link.by_min);
}

/* And so do they of a shaper, or of none, where the medians of the largest
 * rise. */
Test(link, where_medians_scatter_the_least_times_tell_all)
{
    for (int is_shaped = 0; is_shaped < 2; is_shaped++) {
        measure_link link =
            is_shaped ? shaped(10e6 / 8, 14e3, 20e-6, 0) : made(20e-6, 1e9, 0);
        for (size_t i = 0; i < link.size_count; i++) {
            link.sizes[i].min_s = link.sizes[i].median_s;
            link.sizes[i].median_s = 8;
        }
        for (size_t i = 1; i <= 4; i++)
            link.sizes[link.size_count - i].median_s = 7 - (double)i;
        check_status(measure_link_fit(&link), 0);
        cr_assert(link.by_min);
        check_near(link.latency_s, 20e-6, 1e-3);
        check_near(link.bandwidth, is_shaped ? 10e6 / 8 : 1e9, 1e-3);
        cr_assert(is_shaped ? link.rate > 0 : link.alone_s <= 21e-6);
        cr_assert_float_eq(link.burst, is_shaped ? 14e3 : 0, 10);
    }
}

/* Only long messages are asked for: the smallest is no rest of a bucket. */
Test(link_fit, needs_no_small_messages_of_a_plain_link, .timeout = 120)
{
    static const double noises[] = {0, 0.01, 0.03, -0.01, -0.03};
    static const size_t firsts[] = {12, 16}; /* 4 KiB, 64 KiB */
    for (int i = 0; i < 10; i++) {
        double noise = fabs(noises[i % 5]);
        measure_link link = made(1e-3, 10e6 / 8, noises[i % 5]);
        size_t first = firsts[i / 5];
        link.size_count -= first;
        memmove(link.sizes, &link.sizes[first],
                link.size_count * sizeof(*link.sizes));
        check_status(measure_link_fit(&link), 0);
        check_near(link.bandwidth, 10e6 / 8, 1e-6 + 2 * noise);
        cr_assert_float_eq(link.latency_s, 1e-3, 1e-6 + noise * 50e-3, "%g",
                           link.latency_s);
        cr_assert_leq(link.burst, 1 + noise * 2 * (double)link.sizes[0].bytes);
    }
}

/* --- both ends --- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check_whole(const measure_link *link, double wall_s)
{
    double sum = 0;
    /* All nine, or those for which a busy machine left time. */
    cr_assert(link->size_count >= 2 && link->size_count <= 9, "%zu sizes",
              link->size_count);
    for (size_t i = 0; i < link->size_count; i++) {
        const measure_link_size *s = &link->sizes[i];
        cr_assert_eq(s->bytes, i < 8 ? (uint64_t)512 << i : 100000);
        cr_assert_geq(s->rounds, 1);
        cr_assert(s->min_s > 0 && s->min_s <= s->median_s);
        sum += 2 * s->min_s * s->rounds;
    }
    /* Times are one way: there and back they were in the time of the call. */
    cr_assert_leq(sum, wall_s);
    cr_assert(link->busy > 0 && link->busy <= 1, "busy %g", link->busy);
}

Test(link, is_measured_over_a_real_socket, .timeout = 120)
{
    measure_link_options options = {.min = 512,
                                    .max = 100000,
                                    .seconds_s = 0.5,
                                    .processor = -1,
                                    .timeout_s = 30};
    measure_link link;
    server s;
    double start;
    int err;
    server_start(&s);
    start = now();
    err = measure_link_run(&link, s.address, &options);
    /* On a busy machine larger messages may happen to be the faster ones. */
    if (err != PASTSET_EINVAL)
        check_status(err, 0);
    check_whole(&link, now() - start);
    if (!err)
        cr_assert(link.bandwidth > 0 && link.latency_s >= 0);
    pthread_join(s.thread, NULL);
    check_status(s.result, 0);
}

Test(link, is_measured_with_both_ends_here, .timeout = 120)
{
    measure_link_options options = {
        .seconds_s = 0.5, .processor = -1, .timeout_s = 30};
    measure_link link;
    int err = measure_link_here(&link, &options);
    if (err != PASTSET_EINVAL) /* as above */
        check_status(err, 0);
    cr_assert_geq(link.size_count, 2);
    cr_assert_eq(link.sizes[0].bytes, 1);
    cr_assert_gt(link.sizes[0].min_s, 0);
}

Test(link, refuses_options_that_make_no_sense, .timeout = 120)
{
    measure_link link;
    measure_link_options o = {.min = 10, .max = 10, .processor = -1};
    check_status(measure_link_here(&link, &o), PASTSET_EINVAL);
    o = (measure_link_options){.max = 1u << 30, .processor = -1};
    check_status(measure_link_here(&link, &o), PASTSET_EINVAL);
    o = (measure_link_options){.seconds_s = -1, .processor = -1};
    check_status(measure_link_here(&link, &o), PASTSET_EINVAL);
    o = (measure_link_options){.seconds_s = NAN, .processor = -1};
    check_status(measure_link_here(&link, &o), PASTSET_EINVAL);
    o = (measure_link_options){.processor = 1000000};
    check_status(measure_link_here(&link, &o), PASTSET_EINVAL);
    check_error("processor 1000000");
    check_status(measure_link_run(&link, "nowhere:x", NULL), PASTSET_EINVAL);
    check_status(measure_link_serve("nowhere:x", 1, -1, NULL, NULL),
                 PASTSET_EINVAL);
}
