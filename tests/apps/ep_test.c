/* ep_test.c - the numbers of ep, its known sums, and its runs beside its
 * sequential computation, which makes its numbers in another way.
 *
 * All threads make the sums of a block in the same order, so that only adding
 * up the blocks may round otherwise: `single` tells by how much at most. The
 * counts are exact. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/ep/ep.h"
#include "apps/ep/numbers.h"
#include "tests/support/application.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EP TEST_BINARY_DIR "/ep"

TestSuite(ep, .init = scratch_make, .fini = scratch_remove, .timeout = 300);

/* --- numbers --- */

Test(ep, has_the_same_numbers_from_any_place)
{
    ep_numbers one = ep_numbers_at(0);

    for (uint64_t k = 0; k < 5000; k++) {
        cr_assert_eq(ep_numbers_at(k).x, one.x, "place %d", (int)k);
        ep_numbers_next(&one);
    }
}

/* Product modulo 2^46 by adding and doubling. */
static uint64_t product(uint64_t a, uint64_t b)
{
    uint64_t sum = 0;

    for (; b; b >>= 1) {
        if (b & 1)
            sum = (sum + a) % (UINT64_C(1) << 46);
        a = 2 * a % (UINT64_C(1) << 46);
    }
    return sum;
}

Test(ep, has_the_congruential_numbers)
{
    ep_numbers numbers = ep_numbers_at(0);
    uint64_t x = 271828183, a = 1;

    for (int i = 0; i < 13; i++)
        a *= 5;
    for (int i = 0; i < 5000; i++) {
        double r = ep_numbers_next(&numbers);
        x = product(x, a);
        cr_assert_eq(numbers.x, x);
        cr_assert_eq(r, (double)x / 70368744177664.0);
    }
}

/* An odd seed and a factor that is 5 modulo 8: the period is 2^44, and half of
 * it away a number differs in the highest bit only. */
Test(ep, finds_places_that_are_far_away)
{
    uint64_t period = UINT64_C(1) << 44, top = UINT64_C(1) << 45;

    cr_expect_eq(ep_numbers_at(period).x, EP_NUMBERS_SEED);
    cr_expect_eq(ep_numbers_at(period / 2).x, EP_NUMBERS_SEED ^ top);
    cr_expect_eq(ep_numbers_at(period + 77).x, ep_numbers_at(77).x);
}

/* --- sums --- */

static json_t *single(const char *size)
{
    const char *out = scratch_file("single%s", size);

    free(command_run(0, 60, EP, "single", "--size", size, "--output", out,
                     NULL));
    return results_read("ep", out);
}

/* As in the output of the programs of NAS. */
Test(ep, has_the_published_counts_of_class_s)
{
    static const uint64_t rings[EP_RINGS] = {
        6140517, 5865300, 1100361, 68546, 1648, 17, 0, 0, 0, 0};
    json_t *s = single("S");

    cr_expect_eq(result_count(s, "pairs"), 1 << 24);
    cr_expect_eq(result_count(s, "gaussian_pairs"), 13176389);
    for (unsigned i = 0; i < EP_RINGS; i++) {
        char name[] = "q0";
        name[1] = (char)('0' + i);
        cr_expect_eq(result_count(s, name), rings[i], "%s", name);
    }
    cr_expect_float_eq(result_value(s, "sx"), -3.247834652034740e3, 1e-9);
    cr_expect_float_eq(result_value(s, "sy"), -6.958407078382297e3, 1e-9);
    json_decref(s);
}

/* --- runs --- */

static void check_same(const json_t *got, const json_t *want)
{
    static const char *const counts[] = {"pairs", "gaussian_pairs",
                                         "q0",    "q1",
                                         "q2",    "q3",
                                         "q4",    "q5",
                                         "q6",    "q7",
                                         "q8",    "q9"};

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        cr_expect_eq(result_count(got, counts[i]),
                     result_count(want, counts[i]), "%s", counts[i]);
    cr_expect_float_eq(result_value(got, "sx"), result_value(want, "sx"),
                       result_value(want, "sx_rounding"));
    cr_expect_float_eq(result_value(got, "sy"), result_value(want, "sy"),
                       result_value(want, "sy_rounding"));
    cr_expect_lt(result_value(want, "sx_rounding"), 1e-7);
    cr_expect_lt(result_value(want, "sy_rounding"), 1e-7);
}

static void check_run(const json_t *want, const char *size, const char *threads,
                      const char *processes)
{
    json_t *got =
        run_results("ep",
                    map_generated(command_run(0, 20, EP, "mapping", "--size",
                                              size, "--threads", threads, NULL),
                                  processes),
                    60);

    check_same(got, want);
    json_decref(got);
}

Test(ep, has_the_same_sums_with_any_number_of_threads)
{
    static const char *const threads[] = {"1", "3", "4", "7"};
    static const char *const processes[] = {"1", "2", "4"};
    json_t *want = single("S");

    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 3; k++)
            check_run(want, "S", threads[i], processes[k]);
    }
    json_decref(want);
}

Test(ep, has_the_same_sums_of_class_w)
{
    json_t *want = single("W");

    check_run(want, "W", "4", "2");
    json_decref(want);
}

/* As many threads as blocks, and one more. */
Test(ep, has_a_thread_for_each_block_at_most)
{
    json_t *want = single("S");
    char *said = command_run(2, 20, EP, "mapping", "--threads=257", NULL);

    check_says(said, "size S has 256 blocks");
    free(said);
    check_run(want, "S", "256", "4");
    json_decref(want);
}

Test(ep, refuses_what_it_does_not_have)
{
    char *said = command_run(2, 20, EP, "single", "--seed=1", NULL);

    check_says(said, "there is no option '--seed'");
    free(said);
    said = command_run(2, 20, EP, "mapping", "--size=D", NULL);
    check_says(said, "--size=D: expected one of the letters SWABC");
    free(said);
}

/* --- sums that are wrong --- */

/* Contributions that are not added but of which the largest is taken. */
Test(ep, finds_sums_that_are_wrong)
{
    char *mapping = command_run(0, 20, EP, "mapping", "--threads=4", NULL);
    char *text = file_read(map_generated(mapping, "2"), NULL), *said;

    for (char *at = text; (at = strstr(at, "kind=sum"));)
        memcpy(at, "kind=max", 8);
    said = run_output("ep", scratch_write("max.dot", text), 1, 60);
    check_says(said, "for size S it must be -3247.83465203474");
    free(said);
    free(text);
}
