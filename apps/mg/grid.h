/* grid.h - the problem that the program `mg` solves, and the parts of the
 * program.
 *
 * A kernel in the pattern of MG of the NAS parallel benchmarks: Poisson's
 * equation A u = v on a cube whose opposite faces are joined, with charges of
 * +1 and -1 at some random points as v, by cycles of the multigrid method.
 * Level k has 2^k points a side. A cycle, from the residual r = v - A u of the
 * finest level:
 *
 *     down    restrict r from each level to the next coarser one
 *     bottom  at level 1: u = S r
 *     up      at each level but the finest: u = prolong(u of the coarser one),
 *             r = r - A u, u = u + S r
 *     top     u = u + prolong(u of the coarser one), r = v - A u, u = u + S r
 *     then    r = v - A u
 *
 * A, S and the restriction are stencils of the 27 points around a point, all
 * with one weight for the point itself, one for the 6 points that share a face
 * with it, one for the 12 that share an edge and one for the 8 at its corners.
 *
 * The order of additions is part of the problem, so that all computations make
 * the same bits (the program is compiled without contraction of products and
 * sums, see CMakeLists.txt). With c(x) = g[z][y][x],
 *
 *     near(x)  = ((g[z][y-1][x] + g[z][y+1][x]) + g[z-1][y][x]) + g[z+1][y][x]
 *     far(x)   = ((g[z-1][y-1][x] + g[z-1][y+1][x]) + g[z+1][y-1][x]) +
 *                g[z+1][y+1][x]
 *     faces    = (c(x-1) + c(x+1)) + near(x)
 *     edges    = (near(x-1) + near(x+1)) + far(x)
 *     corners  = far(x-1) + far(x+1)
 *     stencil  = ((w[0] c(x) + w[1] faces) + w[2] edges) + w[3] corners
 *
 * Restriction: coarse[z][y][x] = stencil of the fine level at 2z, 2y, 2x.
 * Prolongation, with i = x / 2, j = y / 2, k = z / 2 rounded down:
 *
 *     s(i)     = c[k][j][i]                                      y, z even
 *                c[k][j][i] + c[k][j+1][i]                       y odd, z even
 *                c[k][j][i] + c[k+1][j][i]                       y even, z odd
 *                (c[k][j][i] + c[k][j+1][i]) +
 *                (c[k+1][j][i] + c[k+1][j+1][i])                 y, z odd
 *     fine[z][y][x] is increased by s(i) for even x, and by s(i) + s(i+1) for
 *     odd x, divided by how many points were summed
 *
 *   problem.c   charges, weights, sizes; both computations share them
 *   cube.c      one process: operators on whole cubes
 *   single.c    one process: cycles
 *   slab.c      a run: operators on some planes of a cube, and who has which
 *   parallel.c  a run: what a thread does
 *   mapping.c   prints the application mapping
 *   main.c      the program
 *
 * All functions that return an int return 0 or a negative code with its text,
 * as of pastset/status.h. */
#ifndef MG_GRID_H
#define MG_GRID_H

#include "apps/common/program.h"
#include "paths/paths.h"

#include <stdint.h>
#include <stdio.h>

#define MG_CHARGES 20 /* the first half of them +1, the others -1 */
#define MG_LEVELS_MAX 10

typedef struct mg_problem {
    uint32_t levels; /* the finest has 2^levels points a side; 2 at least */
    uint32_t rounds; /* cycles */
    uint64_t seed;
} mg_problem;

/* Errors: PASTSET_EINVAL. */
int mg_problem_set(mg_problem *out, const program_options *options);

/* Points a side. */
static inline uint32_t mg_side(uint32_t level)
{
    return UINT32_C(1) << level;
}

typedef struct mg_charge {
    uint32_t x, y, z;
    double value;
} mg_charge;

/* No two are at one point. */
void mg_charges(const mg_problem *p, mg_charge charges[MG_CHARGES]);

/* Weights of the point, of faces, edges and corners. */
extern const double mg_poisson[4];  /* A */
extern const double mg_smoother[4]; /* S */
extern const double mg_restrict[4];

/* 64 bits of a value and its place (z * side + y) * side + x: the sum over all
 * is a checksum that does not depend on the order of summing. */
uint64_t mg_mix(uint64_t place, double value);

/* What is found. */
typedef struct mg_outcome {
    double norm_first; /* of v: sqrt(sum of squares / points) */
    double norm;       /* of r after the last cycle */
    double peak;       /* largest |r| after the last cycle */
    uint64_t checksum; /* of u */
} mg_outcome;

/* Adds the norm of r after a cycle. Errors: PASTSET_EAPP (it is not even half
 * of what it was, and not yet so small that rounding hides it). */
int mg_outcome_add(mg_outcome *outcome, uint32_t round, double norm);

/* The sequential computation. Errors: PASTSET_ENOMEM, PASTSET_EAPP. */
int mg_single(const mg_problem *p, mg_outcome *out);

/* The application mapping. Errors: PASTSET_EINVAL. */
int mg_mapping(const program_options *options, FILE *out);

/* What a thread of a run does; the argument is a program_run. */
int mg_thread(paths_thread *self, void *argument);

/* Writes the values of the result. */
int mg_tell(const mg_outcome *outcome, program_result *result);

#endif
