/* ep.h - the statement of the problem, and the parts of the program `ep`.
 *
 * Benchmark EP of the NAS Parallel Benchmarks (Bailey and others, 1991). From
 * 2^M pairs of random numbers those in the unit circle make pairs of Gaussian
 * deviates; these are summed, and counted by the square ring they lie in:
 *
 *     x = 2 r[2i+1] - 1,  y = 2 r[2i+2] - 1,  t = x x + y y   (i = 0, 1 ...)
 *     if t <= 1:  f = sqrt(-2 log(t) / t),  X = x f,  Y = y f
 *                 sx += X,  sy += Y,  q[max(|X|, |Y|)] += 1
 *
 * As in the benchmark, 2^16 pairs are a block. The sums of a block are made
 * in the order of its pairs by everybody, and only the order in which blocks
 * are added may differ.
 *
 *     numbers.c   random numbers of which each thread can have its part
 *     problem.c   sizes, published sums, results
 *     mapping.c   the application mapping
 *     parallel.c  a thread of a run
 *     single.c    the sequential computation, with numbers of its own */
#ifndef EP_EP_H
#define EP_EP_H

#include "apps/common/program.h"

#define EP_BLOCK_PAIRS 65536u
#define EP_RINGS 10

typedef struct ep_sums { /* a tuple of EP_SUMS_TYPE */
    double x, y;
    uint64_t q[EP_RINGS];
} ep_sums;
#define EP_SUMS_TYPE "f64[2] u64[10]"
_Static_assert(sizeof(ep_sums) == 96, "no padding");

/* Blocks of a size. */
uint64_t ep_blocks(char size);

/* Fills in the results: `pairs`, `gaussian_pairs` (those in the circle), `sx`,
 * `sy`, `q0` ... `q9`. Errors: PASTSET_EAPP (the sums are not those that NAS
 * has published, relative 1e-8). */
int ep_report(const ep_sums *sums, const program_options *o, program_result *r);

int ep_mapping(const program_options *o, FILE *out);
int ep_single(const program_options *o, program_result *r);
paths_main ep_thread;

#endif
