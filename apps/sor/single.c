/* single.c - the whole grid without any threads. What a run computes is
 * compared with this. */
#include "apps/sor/sor.h"

#include <stdlib.h>

#include "pastset/status.h"

/* Visits the points whose row and column have an even (0) or odd (1) sum.
 * Gives the largest residual. */
static double colour_run(const sor *s, double *grid, uint32_t colour)
{
    size_t width = s->n + 2;
    double max = 0;

    for (uint32_t row = 1; row <= s->n; row++) {
        for (uint32_t column = 1; column <= s->n; column++) {
            double *point = grid + row * width + column;
            double residual;
            if ((row + column) % 2 != colour)
                continue;
            residual = sor_residual(s, point - width, point, point + width);
            *point += s->omega / 4 * residual;
            if (fabs(residual) > max)
                max = fabs(residual);
        }
    }
    return max;
}

uint32_t sor_solve(const sor *s, double *grid, double *residual)
{
    uint32_t iteration = 0;

    for (uint32_t row = 0; row < s->n + 2; row++)
        for (uint32_t column = 0; column < s->n + 2; column++)
            grid[(size_t)row * (s->n + 2) + column] = sor_start(s, row, column);
    do {
        double red = colour_run(s, grid, 0), black = colour_run(s, grid, 1);
        *residual = red > black ? red : black;
        iteration++;
    } while (!sor_is_asked(s, iteration) ||
             !sor_is_over(s, iteration, *residual));
    return iteration;
}

int sor_single(const program_options *options, program_result *result)
{
    sor s;
    sor_report report = {.problem = &s};
    double *grid;
    int err = sor_make(&s, options);

    if (err)
        return err;
    grid = malloc((size_t)(s.n + 2) * (s.n + 2) * sizeof(*grid));
    if (!grid)
        return pastset_no_memory("for the grid");
    report.iterations = sor_solve(&s, grid, &report.residual);
    report.rows = grid + s.n + 2;
    err = sor_report_write(&report, result);
    free(grid);
    return err;
}
