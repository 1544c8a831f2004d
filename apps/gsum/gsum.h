/* gsum.h - the statement of the problem, and the parts of the program `gsum`.
 *
 * The global sum benchmark: round after round each of n threads contributes K
 * doubles, and each of them gets the sums. All numbers are whole and below
 * 2^53, so that sums are exact, whatever the order of the additions.
 *
 * Threads 0 ... n - 1 contribute. Behind them there may be spectators, as
 * thread 5 in figure 3 of paper 004: they take no part, and read the last
 * sums in the end.
 *
 *     problem.c   rounds of a size, options
 *     mapping.c   the application mapping
 *     parallel.c  a thread of a run
 *     compute.c   computing for a given time, between sums
 *     single.c    the sequential computation */
#ifndef GSUM_GSUM_H
#define GSUM_GSUM_H

#include "apps/common/program.h"

#define GSUM_DOUBLES_MAX 8388608u /* a tuple has 64 MiB at most */

/* Of the options, `own`. */
typedef struct gsum_options {
    uint64_t doubles;           /* of a contribution */
    uint64_t spectators;        /* threads that take no part */
    uint64_t compute_ns;        /* of computing before each contribution */
    const char *shape, *fanout; /* of the tree; NULL: as is usual */
} gsum_options;

extern const struct argp_option gsum_described[];
extern const gsum_options gsum_defaults;
int gsum_parse(program_options *o, int key, const char *text);

uint32_t gsum_rounds(const program_options *o);

/* How many threads contribute. Errors: PASTSET_EINVAL (none would). */
int gsum_contributors(uint32_t *out, const program_options *o);

/* Double `k` of what each thread contributes in round `round`, to be
 * multiplied by the thread's number plus one. 1 to 1021. */
static inline uint64_t gsum_weight(uint64_t seed, uint32_t round, uint64_t k)
{
    return (seed % 1021 + 7 * (uint64_t)round + 13 * k) % 1021 + 1;
}

/* The checksum of all sums of all rounds, which are taken in their order and
 * numbered from 0: modulo 2^64, the sum of number and sum multiplied. */
static inline uint64_t gsum_checksum(uint64_t checksum, uint64_t number,
                                     double sum)
{
    return checksum + (2 * number + 1) * (uint64_t)sum;
}

/* What `single` and a run both tell: `contributors`, `doubles`, `rounds`,
 * `checksum`. */
int gsum_report(const program_options *o, uint64_t checksum, program_result *r);

int gsum_mapping(const program_options *o, FILE *out);
int gsum_single(const program_options *o, program_result *r);
paths_main gsum_thread;

/* --- compute.c --- */

/* Computes: so many multiplications and additions, each waiting for the one
 * before. */
void compute(uint64_t steps);
/* How many of these steps take so long on this processor, when nothing else is
 * running on it. Takes some milliseconds. */
uint64_t compute_steps(uint64_t duration_ns);

#endif
