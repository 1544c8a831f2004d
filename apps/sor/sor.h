/* sor.h - the parts of the program `sor`, and the problem that its two
 * computations agree on: Poisson's equation on the unit square,
 *
 *     u_xx + u_yy = f     with u given at the border,
 *
 * by red-black successive over-relaxation, as of paper 002.
 *
 *   problem.c   sizes, borders, the first guess; the results and their check
 *   single.c    the whole grid, plainly, in this process
 *   parallel.c  the same as threads with a strip of rows each
 *   mapping.c   which threads use which elements
 *   main.c      the program
 *
 * The grid has n times n unknowns, h = 1 / (n + 1) apart, and the border around
 * them. One iteration visits all red points, whose row and column numbers have
 * an even sum, and then all black ones. The four neighbours of a point are of
 * the other colour, so it does not matter in which order the points of one
 * colour are visited, or by whom: a point gets the same bits each time. The
 * largest residual of all is as exact. */
#ifndef SOR_SOR_H
#define SOR_SOR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "apps/common/program.h"

typedef enum sor_equation { SOR_LAPLACE, SOR_POISSON } sor_equation;

typedef struct sor {
    uint32_t n;
    uint32_t rounds; /* iterations; 0: as many as it takes */
    uint64_t seed;   /* of the first guess */
    sor_equation equation;
    double source;   /* h h f */
    double omega;    /* how far a point goes */
    double residual; /* no larger than this: good enough */
} sor;

/* The residual is compared with what is good enough every so many
 * iterations. */
#define SOR_CHECK 10u

/* How near all points come to the solution.
 *
 * Be R the largest residual that the points had when they were visited in an
 * iteration. A visit leaves a residual of (1 - omega) times what there was; and
 * what the black points change by, omega/4 of theirs, adds to those of the red
 * ones. So after the iteration no residual is above (2 omega - 1) R < 3 R. As
 * x (1 - x) / 2, which is 1/8 at most, has 4 u - (sum of the neighbours) = h h
 * at every point, no error is above 3 R / (8 h h) (maximum principle). So the
 * iteration ends when R is at most 8/3 h h times this number. */
#define SOR_ACCURACY 1e-6

/* The problem of these options. Errors: PASTSET_EINVAL. */
int sor_make(sor *s, const program_options *options);

/* The same for any size. Omega is the best there is for this grid: Jacobi's
 * iteration has the spectral radius cos(pi h), and with that Young's theory
 * gives omega = 2 / (1 + sqrt(1 - cos(pi h)^2)) = 2 / (1 + sin(pi h)). */
void sor_make_of(sor *s, uint32_t n, sor_equation equation);

/* The solution at a point of row and column 0 ... n + 1. It is a polynomial of
 * second degree, for which the five points of a grid are as good as
 * derivatives: it solves the equations of the grid, too. */
double sor_solution(const sor *s, uint32_t row, uint32_t column);

/* What is there before the first iteration: the solution at the border, and
 * random numbers from 0 to 1 elsewhere. */
double sor_start(const sor *s, uint32_t row, uint32_t column);

/* What a point, with the ones above and below it, lacks from its equation. */
static inline double sor_residual(const sor *s, const double *above,
                                  const double *point, const double *below)
{
    return ((*above + *below) + (point[-1] + point[1])) - 4 * *point -
           s->source;
}

/* After `iteration` iterations, the last one with this residual: is it over?
 * Only to be asked at every SOR_CHECK'th and at the last. */
bool sor_is_asked(const sor *s, uint32_t iteration);
bool sor_is_over(const sor *s, uint32_t iteration, double residual);

/* --- results --- */

typedef struct sor_report {
    const sor *problem;
    const double *rows; /* n rows of n + 2 points, without the border rows */
    uint32_t iterations;
    double residual;    /* the largest of the last iteration */
    bool rebalances;    /* then: */
    uint32_t divisions; /* after the first one */
    char *division;     /* the last: rows of each thread, "30,75,15" */
} sor_report;

/* Puts the values into the result. Errors: PASTSET_EAPP (it is over and yet
 * not near enough to the solution). */
int sor_report_write(const sor_report *report, program_result *result);

/* --- the parts of the program --- */

typedef struct sor_own { /* of program_options.own */
    unsigned equation;
    bool rebalances; /* see apps/common/rebalance.h */
    uint32_t commit; /* iterations, of which what comes out is kept; 0: none */
} sor_own;

extern const struct argp_option sor_options[];
int sor_parse(program_options *options, int key, const char *text);

int sor_mapping(const program_options *options, FILE *out);
int sor_single(const program_options *options, program_result *result);
int sor_thread(paths_thread *self, void *run); /* parallel.c */

/* Solves the problem in this process. `grid` has (n + 2)^2 points and is filled
 * in; gives the number of iterations. (single.c) */
uint32_t sor_solve(const sor *s, double *grid, double *residual);

#endif
