/* parallel.c - a thread of the relaxation: one strip of rows, with the rows of
 * the neighbours above and below it.
 *
 * Each iteration is as in paper 002, section 2.2: communicate, visit the red
 * points, communicate, visit the black points. To communicate is to write the
 * border rows to the thread above and to the one below, and to read theirs.
 * After every tenth iteration all find out the largest residual; then they
 * divide the rows anew, if that is wanted. Paths of a thread:
 *
 *     to_above, to_below, from_above, from_below, rows   of strips.h
 *     residual                                           an all-reduce, the
 *                                                        maximum
 *     shares                                             of rebalance.h
 *     keep, kept                                         of kept.h
 *
 * Each thread commits after it has got the largest residual of all, so that all
 * have committed the step before: there, nothing is on its way. */
#include "apps/sor/sor.h"

#include <stdlib.h>

#include "apps/common/division.h"
#include "apps/common/kept.h"
#include "apps/common/rebalance.h"
#include "apps/common/strips.h"
#include "pastset/status.h"

typedef struct strip {
    sor problem;
    strips links;
    paths_path *residual;
    bool rebalances;
    rebalance balance;
    uint32_t commit; /* so many iterations make a step; 0: nothing is kept */
    kept keeps;
    size_t width;  /* points in a row: n and the border */
    double *above; /* the row above the strip; then the strip, row by row; then
                      the row below it */
} strip;

/* Row 1 is the first of the strip, rows 0 and `rows` + 1 are beside it. */
static double *row_at(const strip *s, uint32_t row)
{
    return s->above + row * s->width;
}

static int paths_make(strip *s, paths_thread *self)
{
    const char *cut = paths_thread_attribute(self, DIVISION_ATTRIBUTE);
    uint32_t n = s->problem.n;
    int err = strips_open(&s->links, self, n, n + 2, cut);

    if (!err)
        err = paths_open(&s->residual, self, "residual");
    if (!err && s->rebalances)
        err = rebalance_open(&s->balance, self, n, cut);
    if (!err && s->commit)
        err = kept_open(&s->keeps, self,
                        s->links.rows * (size_t)(n + 2) * sizeof(double));
    return err;
}

static int strip_make(strip *s, paths_thread *self,
                      const program_options *options)
{
    const sor_own *own = options->own;
    int err = sor_make(&s->problem, options);

    s->rebalances = own->rebalances;
    s->commit = own->commit;
    if (!err)
        err = paths_make(s, self);
    if (err)
        return err;
    s->width = s->links.values;
    s->above = malloc((s->links.rows + 2) * s->width * sizeof(*s->above));
    if (!s->above)
        return pastset_no_memory("for the strip");
    for (uint32_t row = 0; row < s->links.rows + 2; row++)
        for (uint32_t column = 0; column < s->width; column++)
            row_at(s, row)[column] =
                sor_start(&s->problem, s->links.first + row, column);
    return 0;
}

/* --- iterations --- */

/* The first point of a colour is in column 1 or 2, in turns. */
static double row_run(const strip *s, uint32_t row, uint32_t colour)
{
    const sor *p = &s->problem;
    double *point = row_at(s, row), max = 0, part = p->omega / 4;
    uint32_t first = (s->links.first + row + 1) % 2 == colour ? 1 : 2;

    for (size_t i = first; i <= p->n; i += 2) {
        double residual = sor_residual(p, point + i - s->width, point + i,
                                       point + i + s->width);
        double size = fabs(residual);
        point[i] += part * residual;
        max = size > max ? size : max;
    }
    return max;
}

/* One colour, with the neighbours' points of the other one. */
static int colour_run(strip *s, uint32_t colour, double *residual)
{
    uint32_t rows = s->links.rows;
    int err = strips_exchange(&s->links, row_at(s, 1), row_at(s, rows),
                              row_at(s, 0), row_at(s, rows + 1));

    for (uint32_t row = 1; row <= rows && !err; row++) {
        double max = row_run(s, row, colour);
        *residual = max > *residual ? max : *residual;
    }
    return err;
}

/* All threads: rows move if another division is wanted. */
static int rows_divide(strip *s)
{
    rebalance *r = &s->balance;
    int err = rebalance_ask(r);

    if (err || !rebalance_is_due(r))
        return err;
    err = strips_move(&s->links, &s->above, r->starts, r->wanted);
    if (!err)
        rebalance_done(r);
    return err;
}

/* Is this iteration, which was not the last, the end of a step? */
static bool is_kept(const strip *s, uint32_t iteration)
{
    return s->commit && iteration % s->commit == 0;
}

/* From the beginning, or from the last step that all have committed. */
static int iterations_begin(strip *s, sor_report *report)
{
    uint64_t step = 0;
    int err = s->commit ? kept_load(&s->keeps, &step, row_at(s, 1)) : 0;

    report->iterations = (uint32_t)step;
    return err;
}

static int iterations_run(strip *s, sor_report *report)
{
    bool over = false;
    int err = iterations_begin(s, report);

    while (!over && !err) {
        double mine = 0;
        err = colour_run(s, 0, &mine);
        if (!err)
            err = colour_run(s, 1, &mine);
        report->iterations++;
        if (err || !sor_is_asked(&s->problem, report->iterations))
            continue;
        err = paths_exchange(s->residual, &mine, sizeof(mine),
                             &report->residual, sizeof(report->residual));
        over = sor_is_over(&s->problem, report->iterations, report->residual);
        if (!err && !over && s->rebalances)
            err = rows_divide(s);
        if (!err && !over && is_kept(s, report->iterations))
            err = kept_save(&s->keeps, report->iterations, row_at(s, 1));
    }
    if (err)
        pastset_fail_while(err, "iteration %u", (unsigned)report->iterations);
    return err;
}

/* --- a thread --- */

static int division_report(const strip *s, sor_report *report)
{
    report->rebalances = true;
    report->divisions = s->balance.changes;
    return rebalance_print(&report->division, &s->balance);
}

static int results_write(const strip *s, sor_report *report,
                         program_result *result)
{
    double *rows = NULL;
    int err;

    if (result) {
        rows = malloc(s->problem.n * s->width * sizeof(*rows));
        if (!rows)
            return pastset_no_memory("for the grid");
    }
    err = strips_collect(&s->links, row_at(s, 1), rows);
    report->rows = rows;
    if (!err && result && s->rebalances)
        err = division_report(s, report);
    if (!err && result)
        err = sor_report_write(report, result);
    free(report->division);
    free(rows);
    return err;
}

int sor_thread(paths_thread *self, void *argument)
{
    const program_run *run = argument;
    strip s = {.above = NULL};
    sor_report report = {.problem = &s.problem};
    int err = strip_make(&s, self, run->options);

    if (!err)
        err = iterations_run(&s, &report);
    if (!err)
        err = results_write(&s, &report, run->result);
    rebalance_close(&s.balance);
    free(s.above);
    return err;
}
