/* single.c - all pairs one after another. It shares nothing with a run but
 * the statement of the problem: its random numbers are made in floating point
 * as in the programs of NAS, where a product of 46 bit numbers is put
 * together from halves of 23 bits, each exact in a double. */
#include <math.h>
#include <stdint.h>

#include "apps/ep/ep.h"

typedef struct generator {
    double x;
} generator;

static double low_bits(double value, double of) /* value modulo `of` */
{
    return value - of * (double)(int64_t)(value / of);
}

static double next(generator *g)
{
    const double factor = 1220703125.0, two23 = 0x1p23, two46 = 0x1p46;
    double factor_high = (double)(int64_t)(factor / two23);
    double factor_low = factor - two23 * factor_high;
    double high = (double)(int64_t)(g->x / two23);
    double low = g->x - two23 * high;
    double middle = low_bits(factor_high * low + factor_low * high, two23);

    g->x = low_bits(two23 * middle + factor_low * low, two46);
    return g->x / two46;
}

/* Of the blocks so far, for the bound of rounding. */
typedef struct sizes {
    double x, y;
} sizes;

static void block_add(generator *g, ep_sums *sums, sizes *s)
{
    double block_x = 0, block_y = 0;

    for (unsigned i = 0; i < EP_BLOCK_PAIRS; i++) {
        double x = 2 * next(g) - 1, y = 2 * next(g) - 1;
        double t = x * x + y * y;
        if (t <= 1) {
            double f = sqrt(-2 * log(t) / t);
            double deviate_x = x * f, deviate_y = y * f;
            double larger = fabs(deviate_x);
            if (fabs(deviate_y) > larger)
                larger = fabs(deviate_y);
            sums->q[(int)larger] += 1;
            block_x += deviate_x;
            block_y += deviate_y;
        }
    }
    sums->x += block_x;
    sums->y += block_y;
    s->x += fabs(block_x);
    s->y += fabs(block_y);
}

int ep_single(const program_options *o, program_result *r)
{
    uint64_t blocks = ep_blocks(o->size);
    generator g = {271828183.0};
    ep_sums sums = {0};
    sizes s = {0};
    int err;

    for (uint64_t i = 0; i < blocks; i++)
        block_add(&g, &sums, &s);
    err = ep_report(&sums, o, r);
    /* A sum of n terms, in whatever order, is wrong by n 2^-53 times the sum
     * of their sizes at most; so two of them differ by twice that. */
    program_value(r, "sx_rounding", 2 * (double)blocks * 0x1p-53 * s.x);
    program_value(r, "sy_rounding", 2 * (double)blocks * 0x1p-53 * s.y);
    return err;
}
