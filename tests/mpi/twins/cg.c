/* cg.c - the twin of apps/cg: where that gathers `direction`, this calls
 * MPI_Allgather, and where it sums `dot` and `norms`, MPI_Allreduce. */
#include "apps/cg/sparse.h"
#include "tests/mpi/twins/twin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct rows {
    cg_problem problem;
    uint32_t block, first, own;
    uint32_t *counts; /* of the entries of each own row */
    cg_entry *entries;
    double *x, *z, *r, *p, *q; /* own rows; zeros behind them */
    double *all;
    cg_outcome outcome;
} rows;

/* --- making --- */

static void matrix_make(rows *w)
{
    size_t links = w->problem.links + 1;

    w->counts = twin_memory(w->block, sizeof(*w->counts));
    w->entries = twin_memory(w->block * links, sizeof(*w->entries));
    for (uint32_t i = 0; i < w->own; i++) {
        cg_entry *row = w->entries + i * links;
        w->counts[i] = cg_row(&w->problem, w->first + i, row);
        for (uint32_t k = 0; k < w->counts[i]; k++)
            row[k].value -= row[k].column == w->first + i ? CG_SHIFT : 0;
    }
}

static void rows_make(rows *w)
{
    uint32_t count = w->problem.rows;
    double **vectors[] = {&w->x, &w->z, &w->r, &w->p, &w->q};

    w->block = (count + (uint32_t)twin_count - 1) / (uint32_t)twin_count;
    w->first = w->block * (uint32_t)twin_rank;
    w->first = w->first > count ? count : w->first;
    w->own = count - w->first < w->block ? count - w->first : w->block;
    for (int i = 0; i < 5; i++)
        *vectors[i] = twin_memory(w->block, sizeof(double));
    w->all = twin_memory((size_t)w->block * (size_t)twin_count, sizeof(double));
    matrix_make(w);
    for (uint32_t i = 0; i < w->own; i++)
        w->x[i] = 1 / sqrt(count);
}

/* --- operations --- */

static void multiply(rows *w, const double *v)
{
    size_t links = w->problem.links + 1;

    MPI_Allgather(v, (int)w->block, MPI_DOUBLE, w->all, (int)w->block,
                  MPI_DOUBLE, MPI_COMM_WORLD);
    for (uint32_t i = 0; i < w->own; i++) {
        const cg_entry *row = w->entries + i * links;
        w->q[i] = 0;
        for (uint32_t k = 0; k < w->counts[i]; k++)
            w->q[i] += row[k].value * w->all[row[k].column];
    }
}

static double dot_own(const rows *w, const double *a, const double *b)
{
    double sum = 0;

    for (uint32_t i = 0; i < w->own; i++)
        sum += a[i] * b[i];
    return sum;
}

static double dot(const rows *w, const double *a, const double *b)
{
    double sum = dot_own(w, a, b);

    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* --- a round --- */

static void solve(rows *w)
{
    size_t bytes = w->own * sizeof(double);
    double rho = dot(w, w->x, w->x), alpha, next;

    memset(w->z, 0, bytes);
    memcpy(w->r, w->x, bytes);
    memcpy(w->p, w->x, bytes);
    for (int step = 0; step < CG_STEPS; step++) {
        multiply(w, w->p);
        alpha = rho / dot(w, w->p, w->q);
        for (uint32_t i = 0; i < w->own; i++) {
            w->z[i] += alpha * w->p[i];
            w->r[i] -= alpha * w->q[i];
        }
        next = dot(w, w->r, w->r);
        for (uint32_t i = 0; i < w->own; i++)
            w->p[i] = w->r[i] + next / rho * w->p[i];
        rho = next;
    }
}

static void round_do(rows *w, uint32_t round)
{
    double mine[3], all[3];

    solve(w);
    multiply(w, w->z);
    for (uint32_t i = 0; i < w->own; i++)
        w->q[i] = w->x[i] - w->q[i];
    mine[0] = dot_own(w, w->x, w->z);
    mine[1] = dot_own(w, w->z, w->z);
    mine[2] = dot_own(w, w->q, w->q);
    MPI_Allreduce(mine, all, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    twin_check(
        cg_outcome_add(&w->outcome, round, CG_SHIFT + 1 / all[0], sqrt(all[2])),
        "zeta");
    for (uint32_t i = 0; i < w->own; i++)
        w->x[i] = w->z[i] / sqrt(all[1]);
}

int main(int argc, char **argv)
{
    program_options options = twin_begin(argc, argv, 0);
    rows w = {.outcome = {0}};
    double entries = 0;

    twin_check(cg_problem_set(&w.problem, &options), "problem");
    rows_make(&w);
    for (uint32_t i = 0; i < w.own; i++)
        entries += w.counts[i];
    MPI_Allreduce(MPI_IN_PLACE, &entries, 1, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    for (uint32_t round = 1; round <= w.problem.rounds; round++)
        round_do(&w, round);
    if (twin_rank == 0) {
        program_count(NULL, "entries", (uint64_t)entries);
        program_value(NULL, "zeta_first", w.outcome.zeta_first);
        program_value(NULL, "zeta", w.outcome.zeta);
    }
    MPI_Finalize();
    return 0;
}
