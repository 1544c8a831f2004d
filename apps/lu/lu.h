/* lu.h - the parts of the program `lu`, and the problem that it solves.
 *
 *   problem.c   the problem: what both computations must agree on
 *   single.c    the plain sequential computation
 *   mapping.c   prints the application mapping
 *   parallel.c  the threads of a run, one slab each
 *   main.c      the program's description
 *
 * The problem is that of heat carried along by a wind and spreading, in a cube
 * whose walls are kept at 0 (convection, diffusion and decay, in their steady
 * state):
 *
 *     c . grad u  -  nu * laplace u  +  sigma * u  =  f
 *
 * on a grid of side * side * side cells. Cell (i, j, k) lies at x = (i + 1) h,
 * y = (j + 1) h, z = (k + 1) h, with h = 1 / (side + 1); what is outside of
 * the grid is a wall. With the wind taken from where it blows (upwind), each
 * cell gives one equation,
 *
 *     centre * u  -  west * u(i-1) - east * u(i+1)  -  north * u(j-1) - ...
 *                                                                    = source
 *
 * The source is made from a known grid (lu_known), which therefore solves the
 * equations exactly: how far a computed grid is from it can be told.
 *
 * One round is one iteration of symmetric successive over-relaxation (SSOR)
 * in the form that the NAS benchmark LU has. Of the grid u it computes the
 * residual, r = source - A u, then
 *
 *   lower sweep, upwards in i, j, k:
 *     v = (r * gain + pull * (west * v(i-1) + north * v(j-1) + below * v(k-1)))
 *   upper sweep, downwards:
 *     v = v + pull * (east * v(i+1) + south * v(j+1) + above * v(k+1))
 *     u = u + v
 *
 * Each cell needs its neighbours' v of the same sweep: the sweeps go through
 * the grid as a wave front, and all orders that heed it give the same bits. */
#ifndef LU_LU_H
#define LU_LU_H

#include <stdint.h>

#include "apps/common/program.h"
#include "paths/paths.h"

typedef struct lu_problem {
    uint32_t side;    /* cells along each of the three axes */
    uint32_t rounds;  /* iterations */
    uint64_t seed;    /* of the grid with which it begins */
    double error_max; /* by which the end may be wrong; 0: not known, as the
                          rounds are not those of the size */

    /* Of each cell's equation. */
    double centre, west, east, north, south, below, above;
    double pull; /* of the sweeps: relaxation / centre */
    double gain; /* pull * (2 - relaxation) */
} lu_problem;

/* Each so many rounds the residual is looked at by all. */
#define LU_LOOK 10

/* The problem of these options. Errors: PASTSET_EINVAL. */
int lu_problem_make(lu_problem *out, const program_options *options);

/* The grid that solves it; 0 at the walls (indices -1 and side). */
double lu_known(const lu_problem *p, int64_t i, int64_t j, int64_t k);

/* The right side of cell (i, j, k)'s equation. */
double lu_source(const lu_problem *p, int64_t i, int64_t j, int64_t k);

/* The grid before the first round: noise from -1 to 1. */
double lu_start(const lu_problem *p, int64_t i, int64_t j, int64_t k);

/* The sum of these over all cells, modulo 2^64, is the checksum of a grid: a
 * hash of the place and the 64 bits of the value, so it can be summed in any
 * order. */
uint64_t lu_cell_hash(const lu_problem *p, int64_t i, int64_t j, int64_t k,
                      double value);

/* --- what is told of a computation, by both in the same words --- */

typedef struct lu_outcome {
    double residual_start; /* largest of a cell, before the first round */
    double residual_max;   /* largest of a cell, after the last */
    double residual_sum;   /* of the squares of all cells, after the last */
    double error_max;      /* largest distance from lu_known */
    uint64_t checksum;
} lu_outcome;

/* Puts these values into `result`:
 *
 *   side, rounds
 *   residual_start, residual_max, error_max   the same bits from all
 *   residual_norm    sqrt(residual_sum / cells): as it is a sum, its last
 *                    digits depend on the order, see tests/apps/lu_test.c
 *   checksum         16 hexadecimal digits, the same from all
 *
 * and fails when the iteration has not done what it should.
 * Errors: PASTSET_EAPP. */
int lu_report(const lu_problem *p, const lu_outcome *outcome,
              program_result *result);

/* --- the parts --- */

int lu_mapping(const program_options *options, FILE *out);
int lu_single(const program_options *options, program_result *result);
int lu_thread(paths_thread *self, void *run); /* a struct program_run */

#endif
