/* single.c - inverse iteration in one process. */
#include "apps/cg/sparse.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

typedef struct equations {
    uint32_t rows;
    uint64_t *first; /* the first entry of each row, and the end of the last */
    cg_entry *entries; /* of B, row by row */
    double *x, *z, *r, *p, *q;
} equations;

static void equations_fini(equations *e)
{
    free(e->first);
    free(e->entries);
    free(e->x);
    free(e->z);
    free(e->r);
    free(e->p);
    free(e->q);
}

static int equations_init(equations *e, const cg_problem *problem)
{
    uint32_t rows = problem->rows;
    uint64_t count = 0;

    e->rows = rows;
    e->first = malloc((rows + UINT64_C(1)) * sizeof(*e->first));
    e->entries =
        malloc(rows * (problem->links + UINT64_C(1)) * sizeof(*e->entries));
    e->x = calloc(rows, sizeof(double));
    e->z = calloc(rows, sizeof(double));
    e->r = calloc(rows, sizeof(double));
    e->p = calloc(rows, sizeof(double));
    e->q = calloc(rows, sizeof(double));
    if (!e->first || !e->entries || !e->x || !e->z || !e->r || !e->p || !e->q)
        return pastset_no_memory("for a matrix of %" PRIu32 " rows", rows);
    for (uint32_t i = 0; i < rows; i++) {
        e->first[i] = count;
        count += cg_row(problem, i, e->entries + count);
        for (uint64_t k = e->first[i]; k < count; k++) {
            if (e->entries[k].column == i)
                e->entries[k].value -= CG_SHIFT;
        }
    }
    e->first[rows] = count;
    return 0;
}

/* out = B v */
static void multiply(const equations *e, const double *v, double *out)
{
    for (uint32_t i = 0; i < e->rows; i++) {
        double sum = 0;
        for (uint64_t k = e->first[i]; k < e->first[i + 1]; k++)
            sum += e->entries[k].value * v[e->entries[k].column];
        out[i] = sum;
    }
}

static double dot(const equations *e, const double *a, const double *b)
{
    double sum = 0;

    for (uint32_t i = 0; i < e->rows; i++)
        sum += a[i] * b[i];
    return sum;
}

/* B z = x. Gives |x - B z|. */
static double solve(equations *e)
{
    double rho = dot(e, e->x, e->x);

    memset(e->z, 0, e->rows * sizeof(*e->z));
    memcpy(e->r, e->x, e->rows * sizeof(*e->r));
    memcpy(e->p, e->x, e->rows * sizeof(*e->p));
    for (int step = 0; step < CG_STEPS; step++) {
        double alpha, next;
        multiply(e, e->p, e->q);
        alpha = rho / dot(e, e->p, e->q);
        for (uint32_t i = 0; i < e->rows; i++) {
            e->z[i] += alpha * e->p[i];
            e->r[i] -= alpha * e->q[i];
        }
        next = dot(e, e->r, e->r);
        for (uint32_t i = 0; i < e->rows; i++)
            e->p[i] = e->r[i] + next / rho * e->p[i];
        rho = next;
    }
    multiply(e, e->z, e->q);
    for (uint32_t i = 0; i < e->rows; i++)
        e->q[i] = e->x[i] - e->q[i];
    return sqrt(dot(e, e->q, e->q));
}

static int rounds_do(equations *e, uint32_t rounds, cg_outcome *out)
{
    for (uint32_t i = 0; i < e->rows; i++)
        e->x[i] = 1 / sqrt(e->rows);
    for (uint32_t round = 1; round <= rounds; round++) {
        double residual = solve(e);
        double zeta = CG_SHIFT + 1 / dot(e, e->x, e->z);
        double length = sqrt(dot(e, e->z, e->z));
        int err = cg_outcome_add(out, round, zeta, residual);
        if (err)
            return err;
        for (uint32_t i = 0; i < e->rows; i++)
            e->x[i] = e->z[i] / length;
    }
    return 0;
}

int cg_single(const cg_problem *p, cg_outcome *out)
{
    equations e = {0};
    int err = equations_init(&e, p);

    memset(out, 0, sizeof(*out));
    if (!err) {
        out->entries = e.first[e.rows];
        err = rounds_do(&e, p->rounds, out);
    }
    equations_fini(&e);
    return err;
}
