/* sor.c - the twin of apps/sor: border rows go up and down by MPI_Isend and
 * MPI_Recv, `residual` is MPI_Allreduce, and each rank sends its rows to rank 0
 * in the end, all in one message. */
#include "apps/sor/sor.h"
#include "tests/mpi/twins/twin.h"

#include <stdlib.h>
#include <string.h>

enum { BORDER = 1, ROWS = 2 };

typedef struct strip {
    sor problem;
    uint64_t first, rows;
    size_t width;
    int above, below; /* ranks; MPI_PROC_NULL */
    double *grid;     /* the row above; the strip; the row below */
} strip;

static double *row_at(const strip *s, uint64_t row)
{
    return s->grid + row * s->width;
}

static void strip_make(strip *s)
{
    program_share(s->problem.n, (uint32_t)twin_count, (uint32_t)twin_rank,
                  &s->first, &s->rows);
    s->width = s->problem.n + 2;
    s->above = twin_rank > 0 ? twin_rank - 1 : MPI_PROC_NULL;
    s->below = twin_rank + 1 < twin_count ? twin_rank + 1 : MPI_PROC_NULL;
    s->grid = twin_memory((s->rows + 2) * s->width, sizeof(double));
    for (uint64_t row = 0; row < s->rows + 2; row++)
        for (uint32_t column = 0; column < s->width; column++)
            row_at(s, row)[column] =
                sor_start(&s->problem, (uint32_t)(s->first + row), column);
}

static void borders_exchange(strip *s)
{
    int count = (int)s->width;
    MPI_Request q[2];

    MPI_Isend(row_at(s, 1), count, MPI_DOUBLE, s->above, BORDER, MPI_COMM_WORLD,
              &q[0]);
    MPI_Isend(row_at(s, s->rows), count, MPI_DOUBLE, s->below, BORDER,
              MPI_COMM_WORLD, &q[1]);
    MPI_Recv(row_at(s, 0), count, MPI_DOUBLE, s->above, BORDER, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Recv(row_at(s, s->rows + 1), count, MPI_DOUBLE, s->below, BORDER,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
}

static void colour_run(strip *s, uint32_t colour, double *residual)
{
    const sor *p = &s->problem;

    borders_exchange(s);
    for (uint64_t row = 1; row <= s->rows; row++) {
        double *point = row_at(s, row);
        for (size_t i = (s->first + row + 1) % 2 == colour ? 1 : 2; i <= p->n;
             i += 2) {
            double lack = sor_residual(p, point + i - s->width, point + i,
                                       point + i + s->width);
            point[i] += p->omega / 4 * lack;
            *residual = fabs(lack) > *residual ? fabs(lack) : *residual;
        }
    }
}

static void iterations_run(strip *s, sor_report *report)
{
    double mine;

    do {
        mine = 0;
        colour_run(s, 0, &mine);
        colour_run(s, 1, &mine);
        report->iterations++;
        if (sor_is_asked(&s->problem, report->iterations))
            MPI_Allreduce(&mine, &report->residual, 1, MPI_DOUBLE, MPI_MAX,
                          MPI_COMM_WORLD);
    } while (!sor_is_asked(&s->problem, report->iterations) ||
             !sor_is_over(&s->problem, report->iterations, report->residual));
}

static double *rows_collect(const strip *s)
{
    int own = (int)(s->rows * s->width);
    uint64_t first, rows;
    double *all;

    if (twin_rank > 0) {
        MPI_Send(row_at(s, 1), own, MPI_DOUBLE, 0, ROWS, MPI_COMM_WORLD);
        return NULL;
    }
    all = twin_memory(s->problem.n * s->width, sizeof(*all));
    memcpy(all, row_at(s, 1), (size_t)own * sizeof(*all));
    for (int i = 1; i < twin_count; i++) {
        program_share(s->problem.n, (uint32_t)twin_count, (uint32_t)i, &first,
                      &rows);
        MPI_Recv(all + first * s->width, (int)(rows * s->width), MPI_DOUBLE, i,
                 ROWS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return all;
}

int main(int argc, char **argv)
{
    program_options options = twin_begin(argc, argv, sizeof(sor_own));
    strip s = {.grid = NULL};
    sor_report report = {.problem = &s.problem};

    twin_check(sor_make(&s.problem, &options), "problem");
    strip_make(&s);
    iterations_run(&s, &report);
    report.rows = rows_collect(&s);
    if (twin_rank == 0)
        twin_check(sor_report_write(&report, NULL), "report");
    MPI_Finalize();
    return 0;
}
