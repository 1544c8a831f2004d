/* mapping.c - the application mapping of `mg`: which threads use which
 * elements.
 *
 * Thread i stands between threads i - 1 below and i + 1 above, and the last
 * one below the first. It gives its first plane to the one below by element
 * down_<i>, and its last plane to the one above by up_<i>. These have one
 * writer and one reader each, and tuples of different lengths, since planes
 * of all shared levels go through them.
 *
 * They are of policy `block`, and read by observing, which takes a tuple out.
 * All threads exchange planes in the same order, and nobody begins exchange
 * e + 1 before he has read what his neighbours wrote in exchange e, and before
 * that they had read exchange e - 1. So there are never more than two tuples
 * in an element, and with a capacity of 2 no writer ever waits.
 *
 * `coarse` gathers the first level that is not shared; `norm`, `peak` and
 * `checksum` go over all threads. Nobody reads their results later: a capacity
 * of 1 is enough. */
#include "apps/mg/slab.h"

#include <inttypes.h>

#include "pastset/status.h"
#include "pastset/type.h"

#define PLANES_CAPACITY 2

static void planes_print(uint64_t bytes, uint32_t threads, FILE *out)
{
    for (uint32_t i = 0; i < threads; i++)
        fprintf(out,
                "    up_%" PRIu32 " [kind=element, type=\"bytes[%" PRIu64
                "]\", capacity=%d, policy=block];\n"
                "    down_%" PRIu32 " [kind=element, type=\"bytes[%" PRIu64
                "]\", capacity=%d, policy=block];\n",
                i, bytes, PLANES_CAPACITY, i, bytes, PLANES_CAPACITY);
    for (uint32_t i = 0; i < threads; i++)
        fprintf(
            out,
            "    t%" PRIu32 " -> up_%" PRIu32 " [as=to_above, use=write];\n"
            "    t%" PRIu32 " -> down_%" PRIu32 " [as=to_below, use=write];\n"
            "    t%" PRIu32 " -> up_%" PRIu32 " [as=from_below, use=read];\n"
            "    t%" PRIu32 " -> down_%" PRIu32 " [as=from_above, use=read];\n",
            i, i, i, i, i, (i + threads - 1) % threads, i, (i + 1) % threads);
}

static void sums_print(uint32_t threads, FILE *out)
{
    fprintf(out, "    norm [kind=element, type=\"f64\", capacity=1];\n"
                 "    peak [kind=element, type=\"f64\", capacity=1];\n"
                 "    checksum [kind=element, type=\"u64\", capacity=1];\n");
    for (uint32_t i = 0; i < threads; i++)
        fprintf(out,
                "    t%" PRIu32 " -> norm [use=sum];\n"
                "    t%" PRIu32 " -> peak [use=max];\n"
                "    t%" PRIu32 " -> checksum [use=sum];\n",
                i, i, i);
}

static void coarse_print(uint64_t points, uint32_t threads, FILE *out)
{
    fprintf(out,
            "    coarse [kind=element, type=\"f64[%" PRIu64
            "]\", capacity=1];\n",
            points);
    for (uint32_t i = 0; i < threads; i++)
        fprintf(out, "    t%" PRIu32 " -> coarse [use=gather];\n", i);
}

/* Points of the tuple of `coarse`. */
static uint64_t coarse_points(uint32_t levels, uint32_t threads)
{
    uint64_t side = mg_side(mg_share_lowest(levels, threads) - 1);

    return threads * mg_share_block(levels, threads) * side * side;
}

int mg_mapping(const program_options *options, FILE *out)
{
    uint32_t threads = options->threads, side;
    mg_problem problem;
    uint64_t coarse;
    int err = mg_problem_set(&problem, options);

    if (err)
        return err;
    side = mg_side(problem.levels);
    if (threads == 0 || threads > side)
        return pastset_fail(PASTSET_EINVAL,
                            "--threads=%" PRIu32 ": size %c has %" PRIu32
                            " planes, and each thread needs at least one",
                            threads, options->size, side);
    coarse = coarse_points(problem.levels, threads);
    if (coarse * sizeof(double) > PASTSET_TUPLE_BYTES)
        return pastset_fail(
            PASTSET_EINVAL,
            "--threads=%" PRIu32
            ": the level to be gathered would have %" PRIu64
            " points, more than a tuple can hold: use half as many threads",
            threads, coarse);
    program_mapping_begin(out, "mg");
    program_mapping_threads(out, options);
    if (threads > 1)
        planes_print((uint64_t)side * side * sizeof(double), threads, out);
    if (coarse)
        coarse_print(coarse, threads, out);
    sums_print(threads, out);
    program_mapping_end(out);
    return 0;
}
