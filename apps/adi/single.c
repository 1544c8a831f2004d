/* single.c - the plain sequential computation: whole grids, and one line of
 * cells after the other in each direction, nothing cut, nothing sent. What a
 * run of threads has computed is compared with this. */
#include "apps/adi/adi.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"

/* Grids have a wall around them, so that each cell has six neighbours: cell
 * (i, j, k) is at (i + 1, j + 1, k + 1). */
typedef struct grids {
    size_t side; /* cells of an axis */
    size_t line; /* from a cell to the next in y */
    size_t face; /* from a cell to the next in z */
    double *u, *change, *kappa;
    double *ratios; /* c' of one line */
} grids;

static size_t at(const grids *g, size_t i, size_t j, size_t k)
{
    return (k + 1) * g->face + (j + 1) * g->line + i + 1;
}

static void grids_free(grids *g)
{
    free(g->u);
    free(g->change);
    free(g->kappa);
    free(g->ratios);
}

static void grids_fill(grids *g, const adi_problem *p)
{
    int64_t side = p->side;

    for (int64_t k = -1; k <= side; k++)
        for (int64_t j = -1; j <= side; j++)
            for (int64_t i = -1; i <= side; i++)
                g->kappa[at(g, (size_t)i, (size_t)j, (size_t)k)] =
                    adi_kappa(p, i, j, k);
    for (int64_t k = 0; k < side; k++)
        for (int64_t j = 0; j < side; j++)
            for (int64_t i = 0; i < side; i++)
                g->u[at(g, (size_t)i, (size_t)j, (size_t)k)] =
                    adi_start(p, i, j, k);
}

static int grids_make(grids *g, const adi_problem *p)
{
    size_t cells;

    g->side = p->side;
    g->line = g->side + 2;
    g->face = g->line * g->line;
    cells = g->face * g->line;
    g->u = calloc(cells, sizeof(*g->u));
    g->change = calloc(cells, sizeof(*g->change));
    g->kappa = calloc(cells, sizeof(*g->kappa));
    g->ratios = calloc(g->side, sizeof(*g->ratios));
    if (!g->u || !g->change || !g->kappa || !g->ratios) {
        grids_free(g);
        return pastset_no_memory("for the grid");
    }
    grids_fill(g, p);
    return 0;
}

/* --- a step --- */

/* What flows into a cell along one axis; the next cell is `step` further. */
static double inflow(const grids *g, size_t here, size_t step)
{
    const double *u = g->u + here, *kappa = g->kappa + here;
    double low = 0.5 * (*(kappa - step) + kappa[0]);
    double high = 0.5 * (kappa[0] + kappa[step]);

    return high * (u[step] - u[0]) - low * (u[0] - *(u - step));
}

static void change(grids *g, const adi_problem *p)
{
    for (size_t k = 0; k < g->side; k++)
        for (size_t j = 0; j < g->side; j++)
            for (size_t i = 0; i < g->side; i++) {
                size_t here = at(g, i, j, k);

                g->change[here] =
                    2 * p->ratio *
                    (inflow(g, here, 1) + inflow(g, here, g->line) +
                     inflow(g, here, g->face));
            }
}

/* Solves the system of the line that begins at `first`, in change. */
static void line_solve(grids *g, const adi_problem *p, size_t first,
                       size_t step)
{
    double ratio = 0, solution = 0;

    for (size_t n = 0; n < g->side; n++) {
        const double *kappa = g->kappa + first + n * step;
        double *d = g->change + first + n * step;
        double low = -p->ratio * (0.5 * (*(kappa - step) + kappa[0]));
        double high = -p->ratio * (0.5 * (kappa[0] + kappa[step]));
        double pivot = 1 - low - high - low * ratio;

        d[0] = (d[0] - low * solution) / pivot;
        ratio = high / pivot;
        solution = d[0];
        g->ratios[n] = ratio;
    }
    solution = 0;
    for (size_t n = g->side; n-- > 0;) {
        double *d = g->change + first + n * step;

        d[0] = d[0] - g->ratios[n] * solution;
        solution = d[0];
    }
}

static void step(grids *g, const adi_problem *p)
{
    change(g, p);
    for (size_t k = 0; k < g->side; k++)
        for (size_t j = 0; j < g->side; j++)
            line_solve(g, p, at(g, 0, j, k), 1);
    for (size_t k = 0; k < g->side; k++)
        for (size_t i = 0; i < g->side; i++)
            line_solve(g, p, at(g, i, 0, k), g->line);
    for (size_t j = 0; j < g->side; j++)
        for (size_t i = 0; i < g->side; i++)
            line_solve(g, p, at(g, i, j, 0), g->face);
    for (size_t k = 0; k < g->side; k++)
        for (size_t j = 0; j < g->side; j++)
            for (size_t i = 0; i < g->side; i++)
                g->u[at(g, i, j, k)] += g->change[at(g, i, j, k)];
}

/* --- results --- */

static void outcome_make(const grids *g, const adi_problem *p, adi_outcome *o)
{
    o->highest = -INFINITY;
    o->lowest = INFINITY;
    for (uint32_t k = 0; k < p->side; k++)
        for (uint32_t j = 0; j < p->side; j++)
            for (uint32_t i = 0; i < p->side; i++) {
                double u = g->u[at(g, i, j, k)];
                double wave = adi_start(p, i, j, k);

                o->highest = fmax(o->highest, u);
                o->lowest = fmin(o->lowest, u);
                o->heat += u;
                o->wave[0] += u * wave;
                o->wave[1] += wave * wave;
                o->checksum += adi_cell_hash(p, i, j, k, u);
            }
}

int adi_single(const program_options *options, program_result *result)
{
    adi_outcome outcome = {0};
    adi_problem problem;
    grids g;
    int err = adi_problem_make(&problem, options);

    if (!err)
        err = grids_make(&g, &problem);
    if (err)
        return err;
    for (uint32_t round = 0; round < problem.rounds; round++)
        step(&g, &problem);
    outcome_make(&g, &problem, &outcome);
    grids_free(&g);
    return adi_report(&problem, &outcome, result);
}
