/* parallel.c - a thread of the run: one slab of the grid, some of its rows
 * (j) of all its planes (k).
 *
 * Paths of a thread, where it has a neighbour on that side:
 *
 *   to_north, to_south      its face there, written once a round
 *   from_north, from_south  the neighbour's face, observed
 *   lower_in, lower_out     a row from the north and one to the south for each
 *                           plane of the lower sweep
 *   upper_in, upper_out     a row from the south and one to the north for each
 *                           plane of the upper sweep
 *   largest, total, checksum   with all threads
 *
 * In a round it gives its faces to both neighbours, takes theirs, computes the
 * residual, and goes through its planes twice. As soon as it is through with a
 * plane it sends the row that the next thread waits for, and so the sweeps
 * are waves that run through all slabs, a plane apart: many small tuples, each
 * of them waited for.
 *
 * Operations of a run of `rounds` rounds, for each neighbour of a thread:
 * 2 * (rounds + 1) with faces and 2 * rounds * side with rows; beside them
 * rounds / LU_LOOK (rounded up) + 1 with `total`, 3 with `largest`, and one
 * with `checksum`. */
#include "apps/lu/lu.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "apps/common/halo.h"
#include "pastset/status.h"

/* Where there is a wall, the ghosts are 0. */
typedef struct slab {
    lu_problem problem;
    halo halo;
    double *u, *v, *source;
    paths_path *largest, *total, *checksum;
} slab;

static size_t row_at(const slab *s, size_t row, size_t plane)
{
    return halo_at(&s->halo, row, plane);
}

/* --- making it --- */

static void slab_free(slab *s)
{
    free(s->u);
    free(s->v);
    free(s->source);
    halo_fini(&s->halo);
}

static void slab_fill(slab *s)
{
    for (size_t k = 0; k < s->halo.side; k++)
        for (size_t j = 0; j < s->halo.layers; j++) {
            size_t row = row_at(s, j + 1, k + 1);
            int64_t y = s->halo.first + (int64_t)j, z = (int64_t)k;
            for (size_t i = 0; i < s->halo.side; i++) {
                s->u[row + i] = lu_start(&s->problem, (int64_t)i, y, z);
                s->source[row + i] = lu_source(&s->problem, (int64_t)i, y, z);
            }
        }
}

static int slab_make(slab *s, paths_thread *self)
{
    int err = halo_init(&s->halo, self, s->problem.side, HALO_ROWS);
    size_t cells = s->halo.cells;

    if (err)
        return err;
    s->u = calloc(cells, sizeof(*s->u));
    s->v = calloc(cells, sizeof(*s->v));
    s->source = calloc(cells, sizeof(*s->source));
    if (!s->u || !s->v || !s->source)
        return pastset_no_memory("for the slab");
    slab_fill(s);
    return 0;
}

/* --- paths --- */

/* A slab has the one to the north before it, and the one to the south behind
 * it. */
static const halo_names north_paths = {"to_north", "from_north", "upper_out",
                                       "lower_in"};
static const halo_names south_paths = {"to_south", "from_south", "lower_out",
                                       "upper_in"};

static int paths_open_all(slab *s, paths_thread *self)
{
    int err = paths_open(&s->largest, self, "largest");

    if (!err)
        err = paths_open(&s->total, self, "total");
    if (!err)
        err = paths_open(&s->checksum, self, "checksum");
    return err ? err : halo_open(&s->halo, self, &north_paths, &south_paths);
}

/* --- residual --- */

static void residual_row(slab *s, size_t row)
{
    const lu_problem *p = &s->problem;
    const double *here = s->u + row;
    const double *north = here - s->halo.line, *south = here + s->halo.line;
    const double *below = here - s->halo.plane, *above = here + s->halo.plane;

    for (size_t i = 0; i < s->halo.side; i++)
        s->v[row + i] =
            s->source[row + i] -
            (p->centre * here[i] - p->west * *(here + i - 1) -
             p->east * here[i + 1] - p->north * north[i] - p->south * south[i] -
             p->below * below[i] - p->above * above[i]);
}

/* Into v, after the faces have been exchanged. */
static int residual(slab *s)
{
    int err = halo_exchange(&s->halo, s->u);

    for (size_t k = 1; !err && k <= s->halo.side; k++)
        for (size_t j = 1; j <= s->halo.layers; j++)
            residual_row(s, row_at(s, j, k));
    return err;
}

/* Of all threads. */
static int residual_max(slab *s, double *max)
{
    double mine = 0;

    for (size_t k = 1; k <= s->halo.side; k++)
        for (size_t j = 1; j <= s->halo.layers; j++) {
            const double *v = s->v + row_at(s, j, k);
            for (size_t i = 0; i < s->halo.side; i++)
                mine = fmax(mine, fabs(v[i]));
        }
    return paths_exchange(s->largest, &mine, sizeof(mine), max, sizeof(*max));
}

static int residual_sum(slab *s, double *sum)
{
    double mine = 0;

    for (size_t k = 1; k <= s->halo.side; k++)
        for (size_t j = 1; j <= s->halo.layers; j++) {
            const double *v = s->v + row_at(s, j, k);
            for (size_t i = 0; i < s->halo.side; i++)
                mine += v[i] * v[i];
        }
    return paths_exchange(s->total, &mine, sizeof(mine), sum, sizeof(*sum));
}

/* --- sweeps --- */

static int row_send(slab *s, const halo_side *n, size_t plane)
{
    if (!n->sweep_to)
        return 0;
    return paths_write(n->sweep_to, s->v + row_at(s, n->edge, plane),
                       s->halo.side * sizeof(double));
}

static int row_receive(slab *s, const halo_side *n, size_t plane)
{
    if (!n->sweep_from)
        return 0;
    return paths_observe(n->sweep_from, s->v + row_at(s, n->ghost, plane),
                         s->halo.side * sizeof(double));
}

static void lower_row(slab *s, double *v)
{
    const lu_problem *p = &s->problem;
    const double *north = v - s->halo.line, *below = v - s->halo.plane;
    double west = 0; /* the wall, and then the cell just done */

    for (size_t i = 0; i < s->halo.side; i++) {
        west = v[i] * p->gain +
               p->pull *
                   (p->north * north[i] + p->below * below[i] + p->west * west);
        v[i] = west;
    }
}

static int lower_sweep(slab *s)
{
    int err = 0;

    for (size_t k = 1; !err && k <= s->halo.side; k++) {
        err = row_receive(s, &s->halo.before, k);
        for (size_t j = 1; !err && j <= s->halo.layers; j++)
            lower_row(s, s->v + row_at(s, j, k));
        if (!err)
            err = row_send(s, &s->halo.after, k);
    }
    return err;
}

static void upper_row(slab *s, double *v, double *u)
{
    const lu_problem *p = &s->problem;
    const double *south = v + s->halo.line, *above = v + s->halo.plane;
    double east = 0;

    for (size_t i = s->halo.side; i-- > 0;) {
        east = v[i] + p->pull * (p->south * south[i] + p->above * above[i] +
                                 p->east * east);
        v[i] = east;
        u[i] += east;
    }
}

static int upper_sweep(slab *s)
{
    int err = 0;

    for (size_t k = s->halo.side; !err && k > 0; k--) {
        err = row_receive(s, &s->halo.after, k);
        for (size_t j = s->halo.layers; !err && j > 0; j--)
            upper_row(s, s->v + row_at(s, j, k), s->u + row_at(s, j, k));
        if (!err)
            err = row_send(s, &s->halo.before, k);
    }
    return err;
}

/* --- rounds --- */

/* All threads see the same sum, and so they all go on or all give up. */
static int look(slab *s, uint32_t round)
{
    double sum;
    int err;

    if (round % LU_LOOK != 0)
        return 0;
    err = residual_sum(s, &sum);
    if (!err && !isfinite(sum))
        err = pastset_fail(PASTSET_EAPP,
                           "the residual grows without bound: this is a bug");
    return err;
}

static int rounds_run(slab *s)
{
    int err = 0;

    for (uint32_t round = 0; !err && round < s->problem.rounds; round++) {
        err = look(s, round);
        if (!err)
            err = lower_sweep(s);
        if (!err)
            err = upper_sweep(s);
        if (!err)
            err = residual(s);
        if (err)
            return pastset_fail_while(err, "round %" PRIu32, round);
    }
    return err;
}

/* --- results --- */

static void grid_look(const slab *s, double *error_max, uint64_t *checksum)
{
    const lu_problem *p = &s->problem;

    for (size_t k = 0; k < s->halo.side; k++)
        for (size_t j = 0; j < s->halo.layers; j++) {
            const double *u = s->u + row_at(s, j + 1, k + 1);
            int64_t y = s->halo.first + (int64_t)j, z = (int64_t)k;
            for (size_t i = 0; i < s->halo.side; i++) {
                double distance = u[i] - lu_known(p, (int64_t)i, y, z);
                *error_max = fmax(*error_max, fabs(distance));
                *checksum += lu_cell_hash(p, (int64_t)i, y, z, u[i]);
            }
        }
}

static int outcome_make(slab *s, lu_outcome *o)
{
    int err = residual_max(s, &o->residual_max);

    if (!err)
        err = residual_sum(s, &o->residual_sum);
    if (err)
        return err;
    grid_look(s, &o->error_max, &o->checksum);
    err = paths_exchange(s->largest, &o->error_max, sizeof(o->error_max),
                         &o->error_max, sizeof(o->error_max));
    if (!err)
        err = paths_exchange(s->checksum, &o->checksum, sizeof(o->checksum),
                             &o->checksum, sizeof(o->checksum));
    return err;
}

static int slab_run(slab *s, paths_thread *self, const program_run *run)
{
    lu_outcome outcome = {0};
    int err = residual(s);

    if (err)
        return err;
    err = residual_max(s, &outcome.residual_start);
    if (err)
        return err;
    err = rounds_run(s);
    if (err)
        return err;
    err = outcome_make(s, &outcome);
    if (err)
        return err;
    if (paths_thread_number(self) == 0)
        err = lu_report(&s->problem, &outcome, run->result);
    return err;
}

int lu_thread(paths_thread *self, void *argument)
{
    const program_run *run = argument;
    slab s = {0};
    int err = lu_problem_make(&s.problem, run->options);

    if (err)
        goto done;
    if (paths_thread_count(self) > s.problem.side) {
        err = pastset_fail(PASTSET_EINVAL,
                           "the grid has %" PRIu32 " rows, too few for %" PRIu32
                           " threads",
                           s.problem.side, paths_thread_count(self));
        goto done;
    }
    err = slab_make(&s, self);
    if (err)
        goto done;
    err = paths_open_all(&s, self);
    if (err)
        goto done;
    err = slab_run(&s, self, run);
done:
    slab_free(&s);
    return err;
}
