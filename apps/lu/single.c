/* single.c - the plain sequential computation: one grid, three loops over the
 * axes for each sweep, nothing cut, nothing sent. What a run of threads has
 * computed is compared with this. */
#include "apps/lu/lu.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"

/* Grids have a wall of zeros around them, so that each cell has six
 * neighbours: cell (i, j, k) is at (i + 1, j + 1, k + 1). */
typedef struct grids {
    size_t side; /* cells of an axis */
    size_t line; /* from a cell to the next in y */
    size_t face; /* from a cell to the next in z */
    double *u, *v, *source;
} grids;

static size_t at(const grids *g, size_t i, size_t j, size_t k)
{
    return (k + 1) * g->face + (j + 1) * g->line + i + 1;
}

static void grids_free(grids *g)
{
    free(g->u);
    free(g->v);
    free(g->source);
}

static int grids_make(grids *g, const lu_problem *p)
{
    size_t cells;

    g->side = p->side;
    g->line = g->side + 2;
    g->face = g->line * g->line;
    cells = g->face * g->line;
    g->u = calloc(cells, sizeof(*g->u));
    g->v = calloc(cells, sizeof(*g->v));
    g->source = calloc(cells, sizeof(*g->source));
    if (!g->u || !g->v || !g->source) {
        grids_free(g);
        return pastset_no_memory("for the grid");
    }
    for (uint32_t k = 0; k < p->side; k++)
        for (uint32_t j = 0; j < p->side; j++)
            for (uint32_t i = 0; i < p->side; i++) {
                g->u[at(g, i, j, k)] = lu_start(p, i, j, k);
                g->source[at(g, i, j, k)] = lu_source(p, i, j, k);
            }
    return 0;
}

/* Into v. */
static void residual(grids *g, const lu_problem *p)
{
    for (size_t k = 0; k < g->side; k++)
        for (size_t j = 0; j < g->side; j++)
            for (size_t i = 0; i < g->side; i++) {
                size_t here = at(g, i, j, k);
                const double *u = g->u + here;

                g->v[here] =
                    g->source[here] -
                    (p->centre * u[0] - p->west * u[-1] - p->east * u[1] -
                     p->north * *(u - g->line) - p->south * u[g->line] -
                     p->below * *(u - g->face) - p->above * u[g->face]);
            }
}

static void lower_sweep(grids *g, const lu_problem *p)
{
    for (size_t k = 0; k < g->side; k++)
        for (size_t j = 0; j < g->side; j++)
            for (size_t i = 0; i < g->side; i++) {
                double *v = g->v + at(g, i, j, k);

                v[0] = v[0] * p->gain +
                       p->pull * (p->north * *(v - g->line) +
                                  p->below * *(v - g->face) + p->west * v[-1]);
            }
}

static void upper_sweep(grids *g, const lu_problem *p)
{
    for (size_t k = g->side; k-- > 0;)
        for (size_t j = g->side; j-- > 0;)
            for (size_t i = g->side; i-- > 0;) {
                size_t here = at(g, i, j, k);
                double *v = g->v + here;

                v[0] =
                    v[0] + p->pull * (p->south * v[g->line] +
                                      p->above * v[g->face] + p->east * v[1]);
                g->u[here] += v[0];
            }
}

static double residual_max(const grids *g)
{
    double max = 0;

    for (size_t k = 0; k < g->side; k++)
        for (size_t j = 0; j < g->side; j++)
            for (size_t i = 0; i < g->side; i++)
                max = fmax(max, fabs(g->v[at(g, i, j, k)]));
    return max;
}

static void outcome_make(const grids *g, const lu_problem *p, lu_outcome *o)
{
    o->residual_max = residual_max(g);
    for (uint32_t k = 0; k < p->side; k++)
        for (uint32_t j = 0; j < p->side; j++)
            for (uint32_t i = 0; i < p->side; i++) {
                size_t here = at(g, i, j, k);
                double u = g->u[here];

                o->residual_sum += g->v[here] * g->v[here];
                o->error_max =
                    fmax(o->error_max, fabs(u - lu_known(p, i, j, k)));
                o->checksum += lu_cell_hash(p, i, j, k, u);
            }
}

int lu_single(const program_options *options, program_result *result)
{
    lu_outcome outcome = {0};
    lu_problem problem;
    grids g;
    int err = lu_problem_make(&problem, options);

    if (!err)
        err = grids_make(&g, &problem);
    if (err)
        return err;
    residual(&g, &problem);
    outcome.residual_start = residual_max(&g);
    for (uint32_t round = 0; round < problem.rounds; round++) {
        lower_sweep(&g, &problem);
        upper_sweep(&g, &problem);
        residual(&g, &problem);
    }
    outcome_make(&g, &problem, &outcome);
    grids_free(&g);
    return lu_report(&problem, &outcome, result);
}
