/* sensors_test.c - what sensors make of the kernel's numbers, and of a link to
 * a real process. */
#include "measure/links/links.h"
#include "measure/sensors/availability_internal.h"
#include "measure/sensors/histories.h"
#include "tests/measure/link_server.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

#include <unistd.h>

static const char stat_text[] =
    "cpu  100 20 30 400 50 6 7 40 9 9\n"
    "cpu0 50 10 15 200 25 3 3 10 0 0\n"
    "cpu1 50 10 15 200 25 3 4 30 9 9\n"
    "intr 12 13 14\nctxt 99\nprocs_running 3\nprocs_blocked 0\n";

static int ticks_read(measure__ticks *out, int processor)
{
    FILE *file = fmemopen((char *)(uintptr_t)stat_text, strlen(stat_text), "r");
    int err = measure__ticks_read(out, file, processor);

    fclose(file);
    return err;
}

Test(sensors, the_kernels_numbers_are_read)
{
    measure__ticks t;
    unsigned running = 0;

    check_status(ticks_read(&t, -1), 0);
    cr_assert_eq(t.all, 653);
    cr_assert_eq(t.idle, 450);
    cr_assert_eq(t.stolen, 40);
    check_status(ticks_read(&t, 1), 0);
    cr_assert_eq(t.all, 337);
    cr_assert_eq(t.stolen, 30);
    check_status(ticks_read(&t, 2), PASTSET_EINVAL);
    check_error("there is no processor 2");
    check_status(measure__running_read(&running, "0.20 0.18 0.12 3/803 11206"),
                 0);
    cr_assert_eq(running, 3);
    check_status(measure__running_read(&running, "0.20 0.18"), PASTSET_ENOTSUP);
}

Test(sensors, shares_are_equal)
{
    measure__ticks from = {1000, 0, 50}, to = {1500, 0, 150};

    cr_assert_float_eq(measure__availability(0, 1), 1, 1e-12);
    cr_assert_float_eq(measure__availability(1, 1), 0.5, 1e-12);
    cr_assert_float_eq(measure__availability(2, 1), 1.0 / 3, 1e-12);
    cr_assert_float_eq(measure__availability(1, 2), 1, 1e-12);
    cr_assert_float_eq(measure__availability(3, 2), 0.5, 1e-12);
    cr_assert_float_eq(measure__availability_left(from, to), 0.8, 1e-12);
    cr_assert_float_eq(measure__availability_left(to, from), 1, 1e-12);
    cr_assert_float_eq(measure__availability_left(to, to), 1, 1e-12);
}

Test(sensors, a_sample_is_the_mean_of_looks)
{
    measure__sensor *a;
    double share = -1;

    check_status(measure__sensor_open(&a, 4095), PASTSET_EINVAL);
    check_status(measure__sensor_open(&a, -1), 0);
    check_status(measure__sensor_take(a, &share), PASTSET_ENOENT);
    check_status(measure__sensor_look(a), 0);
    check_status(measure__sensor_look(a), 0);
    check_status(measure__sensor_take(a, &share), 0);
    cr_assert(share > 0 && share <= 1, "%g", share);
    check_status(measure__sensor_take(a, &share), PASTSET_ENOENT);
    measure__sensor_close(a);
}

Test(sensors, a_link_is_probed)
{
    double latency_s = 0, bandwidth = 0;
    server s = {.address = "127.0.0.1:0"};

    server_start(&s);
    check_status(
        measure_link_probe(&latency_s, &bandwidth, s.address, 1 << 20, 30), 0);
    cr_assert(latency_s > 0 && latency_s < 1, "%g", latency_s);
    cr_assert_gt(bandwidth, 1e5);
    pthread_join(s.thread, NULL);
    check_status(s.result, 0);
    check_status(measure_link_probe(&latency_s, &bandwidth, s.address, 4096, 5),
                 PASTSET_EHOST);
    check_error("nothing listens at");
    check_status(measure_link_probe(&latency_s, &bandwidth, s.address, 1, 5),
                 PASTSET_EINVAL);
}

Test(sensors, series_have_names, .init = scratch_make, .fini = scratch_remove)
{
    const char *folder = scratch_file("a/b/c"), *place;
    measure_histories *h;
    measure_kind kind;
    bool changed;

    check_status(measure_kind_of(&kind, &place, "latency of n0-n1"), 0);
    cr_assert_eq(kind, MEASURE_LATENCY);
    cr_assert_str_eq(place, "n0-n1");
    check_status(measure_kind_of(&kind, &place, "lat of n0"), PASTSET_ENOENT);
    check_status(measure_kind_of(&kind, &place, "latency"), PASTSET_ENOENT);

    check_status(measure_histories_open(&h, folder), 0);
    check_status(measure_histories_begin(h, MEASURE_AVAILABILITY, "../n0", 5),
                 PASTSET_EINVAL);
    check_error("cannot be a part of the name of a file");
    check_status(measure_histories_begin(h, MEASURE_AVAILABILITY, "", 5),
                 PASTSET_EINVAL);
    check_status(measure_histories_begin(h, MEASURE_AVAILABILITY, "n0", 5), 0);
    check_status(measure_histories_begin(h, MEASURE_AVAILABILITY, "n0", 5), 0);
    check_status(
        measure_histories_add(h, MEASURE_AVAILABILITY, "n0", 7, 0.5, &changed),
        0);
    cr_assert(!changed);
    for (int i = 0; i < 3; i++) {
        check_status(measure_histories_add(h, MEASURE_AVAILABILITY, "n0", 7,
                                           0.5, &changed),
                     PASTSET_EINVAL);
        cr_assert_eq(changed, i == 0);
    }
    check_status(
        measure_histories_add(h, MEASURE_LATENCY, "n0", 7, 0.5, &changed),
        PASTSET_ENOENT);
    measure_histories_close(h);
    cr_assert_eq(access(scratch_file("a/b/c/availability.n0.history"), R_OK),
                 0);
    check_status(measure_histories_open(
                     &h, scratch_file("a/b/c/availability.n0.history")),
                 PASTSET_EIO);
}
