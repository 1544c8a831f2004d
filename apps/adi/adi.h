/* adi.h - the parts of the program `adi`, and the problem that it solves.
 *
 *   problem.c   the problem: what both computations must agree on
 *   single.c    the plain sequential computation
 *   mapping.c   prints the application mapping
 *   parallel.c  the threads of a run, one slab each
 *   main.c      the program's description
 *
 * The problem: heat spreads in a cube whose walls are kept at 0,
 *
 *     du/dt = div (kappa grad u),
 *
 * on a grid of side * side * side cells. Cell (i, j, k) lies at x = (i + 1) h,
 * y = (j + 1) h, z = (k + 1) h, with h = 1 / (side + 1); what is outside of
 * the grid is a wall. Between two cells kappa is the mean of theirs.
 *
 * A round is one step of time by alternating directions (Douglas and Gunn),
 * which has the shape of the NAS benchmarks BT and SP. With the operators
 * X, Y, Z = dt/2 * d/dx (kappa d/dx) and so on:
 *
 *     change = 2 (X + Y + Z) u
 *     (1 - X) a = change, (1 - Y) b = a, (1 - Z) c = b
 *     u = u + c
 *
 * Each of the three is a tridiagonal system for each line of cells in its
 * direction, solved by elimination: forwards along the line for the ratios c
 * and d of each cell, then backwards for the solution (Thomas),
 *
 *     c' = high / pivot, d' = (d - low * d'(before)) / pivot,
 *          pivot = middle - low * c'(before)
 *     x = d' - c' * x(behind)
 *
 * It begins with a sine wave along each axis. Where kappa is 1 everywhere that
 * is an eigenvector of all three operators, so each step multiplies it by one
 * number that can be told beforehand: see adi_step_factor. */
#ifndef ADI_ADI_H
#define ADI_ADI_H

#include <stdint.h>

#include "apps/common/program.h"
#include "paths/paths.h"

typedef enum adi_material {
    ADI_UNIFORM, /* kappa is 1 */
    ADI_MIXED,   /* kappa is 0.1 to 2, another in each block of cells */
} adi_material;

/* The program's own options. */
typedef struct adi_options {
    unsigned material;
    uint32_t strips; /* in which a face travels along z: see parallel.c */
} adi_options;

typedef struct adi_problem {
    uint32_t side;   /* cells along each of the three axes */
    uint32_t rounds; /* steps of time */
    adi_material material;
    uint64_t seed; /* of the mixed material */
    uint32_t strips;
    double dt;
    double ratio; /* dt / (2 h^2) */
} adi_problem;

/* The problem of these options. Errors: PASTSET_EINVAL. */
int adi_problem_make(adi_problem *out, const program_options *options);

/* kappa of a cell; walls have it too (indices -1 and side). */
double adi_kappa(const adi_problem *p, int64_t i, int64_t j, int64_t k);

/* The sine wave: the grid before the first step. Largest is 1. */
double adi_start(const adi_problem *p, int64_t i, int64_t j, int64_t k);

/* By how much a step multiplies it where kappa is 1, by this method and by the
 * differential equation itself. */
double adi_step_factor(const adi_problem *p);
double adi_step_factor_exact(const adi_problem *p);

/* The sum of these over all cells, modulo 2^64, is the checksum of a grid: a
 * hash of the place and the 64 bits of the value, so it can be summed in any
 * order. */
uint64_t adi_cell_hash(const adi_problem *p, int64_t i, int64_t j, int64_t k,
                       double value);

/* --- what is told of a computation, by both in the same words --- */

typedef struct adi_outcome {
    double highest, lowest; /* of all cells, after the last step */
    double heat;            /* sum of all cells */
    double wave[2];         /* sums of u * adi_start and adi_start^2 */
    uint64_t checksum;
} adi_outcome;

/* Puts these values into `result`:
 *
 *   side, rounds, material
 *   highest, lowest   the same bits from all
 *   heat, decay       sums, so that the last digits depend on the order, see
 *                     tests/apps/adi_test.c: of all cells, and how much is
 *                     left of the wave (wave[0] / wave[1])
 *   decay_method, decay_exact   what would be left of it where kappa is 1, by
 *                     this method and by the differential equation
 *   checksum          16 hexadecimal digits, the same from all
 *
 * and fails when they cannot be right. Errors: PASTSET_EAPP. */
int adi_report(const adi_problem *p, const adi_outcome *outcome,
               program_result *result);

/* --- the parts --- */

int adi_mapping(const program_options *options, FILE *out);
int adi_single(const program_options *options, program_result *result);
int adi_thread(paths_thread *self, void *run); /* a struct program_run */

#endif
