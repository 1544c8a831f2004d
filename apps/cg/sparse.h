/* sparse.h - the problem that the program `cg` solves, and the parts of the
 * program.
 *
 * A kernel in the pattern of CG of the NAS parallel benchmarks: the smallest
 * eigenvalue of a large sparse symmetric matrix by inverse iteration, each
 * step of which solves a system of equations by the method of conjugate
 * gradients. With B = A - shift I, and x of length 1 with equal entries,
 *
 *     each round:    solve B z = x:
 *                        z = 0, r = p = x, rho = r.r
 *                        CG_STEPS times:
 *                            q = B p
 *                            alpha = rho / p.q
 *                            z = z + alpha p
 *                            r = r - alpha q
 *                            rho' = r.r, beta = rho' / rho, rho = rho'
 *                            p = r + beta p
 *                    residual = |x - B z|
 *                    zeta = shift + 1 / x.z
 *                    x = z / |z|
 *
 * zeta falls from round to round to the smallest eigenvalue of A.
 *
 * The matrix. Row i has a diagonal entry and about `links` others. Each link k
 * pairs all rows at random (a permutation puts them in an order, neighbours in
 * it are a pair), and for rows i and j of a pair, with a random weight w in
 * [0.5, 1.5),
 *
 *     A[i][j] = A[j][i] = -s[i] s[j] w     s is a random sign of each row
 *     A[i][i] and A[j][j] grow by w
 *
 * and each diagonal entry has a random v[i] in [1, 2) besides. So
 *
 *     x.Ax = sum over pairs of w (s[i] x[i] - s[j] x[j])^2 + sum of v[i] x[i]^2
 *
 * and A is positive definite, with a smallest eigenvalue between 1 and the
 * mean of v, and all others far above it, since a graph of random links has
 * no narrow places. Any row can be made without the others.
 *
 *   problem.c   the rows, which both computations share
 *   single.c    one process
 *   mapping.c   prints the application mapping
 *   parallel.c  a thread of a run: a block of rows
 *   main.c      the program
 *
 * All functions that return an int return 0 or a negative code with its text,
 * as of pastset/status.h. */
#ifndef CG_SPARSE_H
#define CG_SPARSE_H

#include "apps/common/program.h"
#include "paths/paths.h"

#include <stdint.h>
#include <stdio.h>

#define CG_STEPS 25
#define CG_SHIFT 0.5

/* |x - B z| in a round: CG_STEPS are enough for this. */
#define CG_RESIDUAL_MAX 1e-9

typedef struct cg_problem {
    uint32_t rows; /* a power of two, 4 at least */
    uint32_t links;
    uint32_t rounds;
    uint64_t seed;
} cg_problem;

/* Errors: PASTSET_EINVAL. */
int cg_problem_set(cg_problem *out, const program_options *options);

typedef struct cg_entry {
    uint32_t column;
    double value;
} cg_entry;

/* The entries of row `row` of A, by column; there is room for links + 1. Gives
 * how many there are: rows that are paired twice have one entry for both. */
uint32_t cg_row(const cg_problem *p, uint32_t row, cg_entry *entries);

/* v[row], of which the mean is above the smallest eigenvalue. */
double cg_potential(const cg_problem *p, uint32_t row);

/* What is found. */
typedef struct cg_outcome {
    uint64_t entries;  /* of the matrix */
    double zeta_first; /* after the first round */
    double zeta;       /* after the last */
    double residual;   /* the largest of all rounds */
} cg_outcome;

/* Adds a round. Errors: PASTSET_EAPP (zeta is not what it can be, or has
 * risen; the residual is too large). */
int cg_outcome_add(cg_outcome *outcome, uint32_t round, double zeta,
                   double residual);

/* The sequential computation. Errors: PASTSET_ENOMEM, PASTSET_EAPP. */
int cg_single(const cg_problem *p, cg_outcome *out);

/* The application mapping. Errors: PASTSET_EINVAL. */
int cg_mapping(const program_options *options, FILE *out);

/* All threads have blocks of so many rows; the last ones have fewer, or none,
 * and are filled up with zeros. */
uint32_t cg_block(const cg_problem *p, uint32_t threads);

/* What a thread of a run does; the argument is a program_run. */
int cg_thread(paths_thread *self, void *argument);

/* Writes the values of the result. */
int cg_tell(const cg_outcome *outcome, program_result *result);

#endif
