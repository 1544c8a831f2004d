/* parallel.c - a thread of `cg`: a block of rows of the matrix, and the same
 * rows of all vectors.
 *
 * The product q = B p needs all of p: `direction` gathers it. A product of two
 * vectors is summed over the own rows, and by `dot` over all threads; all get
 * the same sum, to the last bit, so all go on with the same alpha and beta.
 * The sums are made in another order than in one process: results agree up to
 * rounding.
 *
 * Collective operations of each thread, in a run of R rounds:
 *
 *     1 + R * (1 + CG_STEPS * 3 + 2) */
#include "apps/cg/sparse.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

typedef struct norms { /* the tuple of `norms` */
    double xz, zz, residual_square;
} norms;

typedef struct worker {
    paths_thread *self;
    const program_run *run;
    cg_problem problem;
    paths_path *direction, *dot, *norms;

    uint32_t block;      /* rows of each thread */
    uint32_t first, own; /* rows of this one: fewer, or none, for the last */
    uint64_t *starts;    /* the first entry of each own row, and the end */
    uint32_t *columns;   /* of the entries of B in the own rows */
    double *values;
    double *x, *z, *r, *p, *q; /* own rows; zeros behind them */
    double *all;               /* what has been gathered: all rows */
    cg_outcome outcome;
} worker;

/* --- making and ending --- */

uint32_t cg_block(const cg_problem *p, uint32_t threads)
{
    return (p->rows + threads - 1) / threads;
}

static int paths_open_all(worker *w)
{
    int err = paths_open(&w->direction, w->self, "direction");

    if (!err)
        err = paths_open(&w->dot, w->self, "dot");
    if (!err)
        err = paths_open(&w->norms, w->self, "norms");
    return err;
}

static int memory_take(worker *w)
{
    uint64_t entries = w->own * (w->problem.links + UINT64_C(1));
    uint64_t all = (uint64_t)w->block * paths_thread_count(w->self);

    w->starts = calloc(w->own + UINT64_C(1), sizeof(*w->starts));
    w->columns = malloc((entries + 1) * sizeof(*w->columns));
    w->values = malloc((entries + 1) * sizeof(*w->values));
    w->x = calloc(w->block, sizeof(double));
    w->z = calloc(w->block, sizeof(double));
    w->r = calloc(w->block, sizeof(double));
    w->p = calloc(w->block, sizeof(double));
    w->q = calloc(w->block, sizeof(double));
    w->all = calloc(all, sizeof(double));
    if (!w->starts || !w->columns || !w->values || !w->x || !w->z || !w->r ||
        !w->p || !w->q || !w->all)
        return pastset_no_memory("for %" PRIu32 " rows", w->own);
    return 0;
}

static void memory_free(worker *w)
{
    free(w->starts);
    free(w->columns);
    free(w->values);
    free(w->x);
    free(w->z);
    free(w->r);
    free(w->p);
    free(w->q);
    free(w->all);
}

static int matrix_make(worker *w)
{
    cg_entry *row = malloc((w->problem.links + UINT64_C(1)) * sizeof(*row));
    uint64_t end = 0;

    if (!row)
        return pastset_no_memory("for a row");
    for (uint32_t i = 0; i < w->own; i++) {
        uint32_t count = cg_row(&w->problem, w->first + i, row);
        for (uint32_t k = 0; k < count; k++, end++) {
            w->columns[end] = row[k].column;
            w->values[end] = row[k].value;
            if (row[k].column == w->first + i)
                w->values[end] -= CG_SHIFT;
        }
        w->starts[i + 1] = end;
    }
    free(row);
    return 0;
}

/* --- operations --- */

/* q = B v, v being a vector of own rows, of which the others bring theirs. */
static int multiply(worker *w, const double *v)
{
    size_t bytes = w->block * sizeof(double);
    int err = paths_exchange(w->direction, v, bytes, w->all,
                             bytes * paths_thread_count(w->self));

    for (uint32_t i = 0; i < w->own && !err; i++) {
        double sum = 0;
        for (uint64_t k = w->starts[i]; k < w->starts[i + 1]; k++)
            sum += w->values[k] * w->all[w->columns[k]];
        w->q[i] = sum;
    }
    return err;
}

static double dot_own(const worker *w, const double *a, const double *b)
{
    double sum = 0;

    for (uint32_t i = 0; i < w->own; i++)
        sum += a[i] * b[i];
    return sum;
}

static int dot(worker *w, const double *a, const double *b, double *out)
{
    double sum = dot_own(w, a, b);

    return paths_exchange(w->dot, &sum, sizeof(sum), out, sizeof(*out));
}

/* --- a round --- */

static int step_do(worker *w, double *rho)
{
    double alpha, beta, pq = 0, next = 0;
    int err = multiply(w, w->p);

    if (!err)
        err = dot(w, w->p, w->q, &pq);
    if (err)
        return err;
    alpha = *rho / pq;
    for (uint32_t i = 0; i < w->own; i++) {
        w->z[i] += alpha * w->p[i];
        w->r[i] -= alpha * w->q[i];
    }
    err = dot(w, w->r, w->r, &next);
    if (err)
        return err;
    beta = next / *rho;
    *rho = next;
    for (uint32_t i = 0; i < w->own; i++)
        w->p[i] = w->r[i] + beta * w->p[i];
    return 0;
}

static int solve(worker *w)
{
    size_t bytes = w->own * sizeof(double);
    double rho = 0;
    int err = dot(w, w->x, w->x, &rho);

    memset(w->z, 0, bytes);
    memcpy(w->r, w->x, bytes);
    memcpy(w->p, w->x, bytes);
    for (int step = 0; step < CG_STEPS && !err; step++)
        err = step_do(w, &rho);
    return err;
}

static int norms_find(worker *w, norms *n)
{
    int err = multiply(w, w->z);

    if (err)
        return err;
    for (uint32_t i = 0; i < w->own; i++)
        w->q[i] = w->x[i] - w->q[i];
    n->xz = dot_own(w, w->x, w->z);
    n->zz = dot_own(w, w->z, w->z);
    n->residual_square = dot_own(w, w->q, w->q);
    return paths_exchange(w->norms, n, sizeof(*n), n, sizeof(*n));
}

static int round_do(worker *w, uint32_t round)
{
    norms n;
    int err = solve(w);

    if (!err)
        err = norms_find(w, &n);
    if (!err)
        err = cg_outcome_add(&w->outcome, round, CG_SHIFT + 1 / n.xz,
                             sqrt(n.residual_square));
    if (err)
        return err;
    for (uint32_t i = 0; i < w->own; i++)
        w->x[i] = w->z[i] / sqrt(n.zz);
    return 0;
}

/* --- a thread --- */

static int worker_make(worker *w)
{
    uint64_t first, end;
    int err = cg_problem_set(&w->problem, w->run->options);

    if (err)
        return err;
    w->block = cg_block(&w->problem, paths_thread_count(w->self));
    first = (uint64_t)w->block * paths_thread_number(w->self);
    end = first + w->block;
    if (first > w->problem.rows)
        first = w->problem.rows;
    if (end > w->problem.rows)
        end = w->problem.rows;
    w->first = (uint32_t)first;
    w->own = (uint32_t)(end - first);
    err = memory_take(w);
    if (!err)
        err = matrix_make(w);
    if (!err)
        err = paths_open_all(w);
    for (uint32_t i = 0; i < w->own && !err; i++)
        w->x[i] = 1 / sqrt(w->problem.rows);
    return err;
}

/* A double holds it: there are fewer than 2^53. */
static int entries_sum(worker *w)
{
    double entries = (double)w->starts[w->own];
    int err = paths_exchange(w->dot, &entries, sizeof(entries), &entries,
                             sizeof(entries));

    w->outcome.entries = (uint64_t)entries;
    return err;
}

int cg_thread(paths_thread *self, void *argument)
{
    worker w = {.self = self, .run = argument};
    int err = worker_make(&w);

    if (!err)
        err = entries_sum(&w);
    for (uint32_t round = 1; !err && round <= w.problem.rounds; round++)
        err = round_do(&w, round);
    if (!err && w.run->result)
        err = cg_tell(&w.outcome, w.run->result);
    memory_free(&w);
    return err;
}
