/* mapping.c - the application mapping of `is`: which threads use which
 * elements.
 *
 * All threads go through four collective elements, in each round through
 *
 *     counts   sum: keys in each bucket, and keys below each probe
 *     matrix   all-to-all: how many keys thread i has for thread j
 *
 * and after the last one through
 *
 *     ends     gather: how many keys each thread has, its first and last one
 *     totals   sum: keys, checksum, errors
 *
 * Nobody reads their results later: a capacity of 1 is enough.
 *
 * The keys for thread j go through keys_<j>, which all others write and j
 * observes. Its policy is `block`, and any capacity would do: thread j takes
 * tuples out at all times while its own writes wait (exchange.h), and no
 * tuple of the next round comes before j has all of this one, since the sum of
 * the next round waits for j. It has room for one tuple of each writer. The
 * tuples are so small that all of these elements together take about as much
 * memory as the keys. */
#include "apps/is/exchange.h"
#include "apps/is/sort.h"

#include <inttypes.h>

#include "pastset/status.h"

#define CHUNK_KEYS_MAX 16384
#define CHUNK_KEYS_MIN 64

static uint64_t chunk_keys(const sort_problem *p, uint32_t threads)
{
    uint64_t keys = p->keys / threads / threads;

    if (keys > CHUNK_KEYS_MAX)
        return CHUNK_KEYS_MAX;
    return keys < CHUNK_KEYS_MIN ? CHUNK_KEYS_MIN : keys;
}

static void elements_print(const sort_problem *p, uint32_t threads, FILE *out)
{
    fprintf(out,
            "    counts [kind=element, type=\"u64[%" PRIu32
            "]\", capacity=1];\n",
            p->buckets + SORT_PROBES);
    fprintf(out,
            "    matrix [kind=element, type=\"u32[%" PRIu32
            "]\", capacity=1];\n",
            threads * threads);
    fprintf(out,
            "    ends [kind=element, type=\"u64[%" PRIu32 "]\", capacity=1];\n",
            3 * threads);
    fprintf(out, "    totals [kind=element, type=\"u64[3]\", capacity=1];\n");
    for (uint32_t i = 0; threads > 1 && i < threads; i++)
        fprintf(out,
                "    keys_%" PRIu32 " [kind=element, type=\"bytes[%" PRIu64
                "]\", capacity=%" PRIu32 ", policy=block];\n",
                i, KEY_CHUNK_BYTES(chunk_keys(p, threads)), threads - 1);
}

static void edges_print(uint32_t threads, uint32_t i, FILE *out)
{
    fprintf(out, "    t%" PRIu32 " -> counts [use=sum];\n", i);
    fprintf(out, "    t%" PRIu32 " -> matrix [use=alltoall];\n", i);
    fprintf(out, "    t%" PRIu32 " -> ends [use=gather];\n", i);
    fprintf(out, "    t%" PRIu32 " -> totals [use=sum];\n", i);
    for (uint32_t j = 0; j < threads; j++) {
        if (j != i)
            fprintf(out,
                    "    t%" PRIu32 " -> keys_%" PRIu32 " [as=to_%" PRIu32
                    ", use=write];\n",
                    i, j, j);
    }
    if (threads > 1)
        fprintf(out,
                "    t%" PRIu32 " -> keys_%" PRIu32 " [as=keys, use=read];\n",
                i, i);
}

int sort_mapping(const program_options *options, FILE *out)
{
    sort_problem problem;
    int err = sort_problem_set(&problem, options);

    if (err)
        return err;
    if (options->threads == 0 || options->threads > problem.buckets)
        return pastset_fail(PASTSET_EINVAL,
                            "--threads=%" PRIu32 ": size %c has %" PRIu32
                            " buckets, and each thread needs at least one",
                            options->threads, options->size, problem.buckets);
    program_mapping_begin(out, "is");
    program_mapping_threads(out, options);
    elements_print(&problem, options->threads, out);
    for (uint32_t i = 0; i < options->threads; i++)
        edges_print(options->threads, i, out);
    program_mapping_end(out);
    return 0;
}
