/* numbers.h - the uniform random numbers of the NAS Parallel Benchmarks:
 *
 *     x[0] = 271828183,  x[k+1] = 5^13 x[k] mod 2^46,  r[k] = x[k] / 2^46
 *
 * Any place of the sequence can be the first one, so that threads which share
 * the sequence have the same numbers as one thread that has it all. */
#ifndef EP_NUMBERS_H
#define EP_NUMBERS_H

#include <stdint.h>

#define EP_NUMBERS_SEED UINT64_C(271828183)
#define EP_NUMBERS_FACTOR UINT64_C(1220703125) /* 5^13 */
#define EP_NUMBERS_BITS 46

typedef struct ep_numbers {
    uint64_t x;
} ep_numbers;

/* The next one of these is r[k + 1]. */
ep_numbers ep_numbers_at(uint64_t k);

/* In (0, 1). The product is taken modulo 2^64, which 2^46 divides. */
static inline double ep_numbers_next(ep_numbers *n)
{
    n->x = n->x * EP_NUMBERS_FACTOR & ((UINT64_C(1) << EP_NUMBERS_BITS) - 1);
    return (double)n->x * 0x1p-46;
}

#endif
