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

#include "pastset/status.h"

/* A side on which another thread goes on; all NULL where there is a wall. */
typedef struct neighbour {
    paths_path *face_to, *face_from;
    paths_path *row_to, *row_from;
    size_t ghost; /* row of ours that stands for the neighbour's nearest */
    size_t edge;  /* our row that the neighbour needs */
} neighbour;

/* Grids have a frame of ghosts around them, which are 0 where there is a
 * wall: cell i of our row j of plane k is at (i + 1, j + 1, k + 1). */
typedef struct slab {
    lu_problem problem;
    size_t side, rows;
    int64_t first; /* the first of its rows in the whole grid */
    size_t line, plane;
    double *u, *v, *source;
    double *face; /* on its way to or from a neighbour */
    neighbour north, south;
    paths_path *largest, *total, *checksum;
} slab;

/* Row `row` of plane `plane`, ghosts counted: its first cell. */
static size_t row_at(const slab *s, size_t row, size_t plane)
{
    return plane * s->plane + row * s->line + 1;
}

/* --- making it --- */

static void slab_free(slab *s)
{
    free(s->u);
    free(s->v);
    free(s->source);
    free(s->face);
}

static void slab_fill(slab *s)
{
    for (size_t k = 0; k < s->side; k++)
        for (size_t j = 0; j < s->rows; j++) {
            size_t row = row_at(s, j + 1, k + 1);
            int64_t y = s->first + (int64_t)j, z = (int64_t)k;
            for (size_t i = 0; i < s->side; i++) {
                s->u[row + i] = lu_start(&s->problem, (int64_t)i, y, z);
                s->source[row + i] = lu_source(&s->problem, (int64_t)i, y, z);
            }
        }
}

static int slab_make(slab *s, paths_thread *self)
{
    uint64_t first, rows;
    size_t cells;

    program_share(s->problem.side, paths_thread_count(self),
                  paths_thread_number(self), &first, &rows);
    s->first = (int64_t)first;
    s->side = s->problem.side;
    s->rows = rows;
    s->line = s->side + 2;
    s->plane = (s->rows + 2) * s->line;
    cells = (s->side + 2) * s->plane;
    s->u = calloc(cells, sizeof(*s->u));
    s->v = calloc(cells, sizeof(*s->v));
    s->source = calloc(cells, sizeof(*s->source));
    s->face = malloc(s->side * s->side * sizeof(*s->face));
    if (!s->u || !s->v || !s->source || !s->face)
        return pastset_fail(PASTSET_ENOMEM, "no memory for the slab");
    slab_fill(s);
    return 0;
}

/* --- paths --- */

static int north_open(slab *s, paths_thread *self)
{
    neighbour *n = &s->north;
    int err = paths_open(&n->face_to, self, "to_north");

    n->ghost = 0;
    n->edge = 1;
    if (!err)
        err = paths_open(&n->face_from, self, "from_north");
    if (!err)
        err = paths_open(&n->row_to, self, "upper_out");
    return err ? err : paths_open(&n->row_from, self, "lower_in");
}

static int south_open(slab *s, paths_thread *self)
{
    neighbour *n = &s->south;
    int err = paths_open(&n->face_to, self, "to_south");

    n->ghost = s->rows + 1;
    n->edge = s->rows;
    if (!err)
        err = paths_open(&n->face_from, self, "from_south");
    if (!err)
        err = paths_open(&n->row_to, self, "lower_out");
    return err ? err : paths_open(&n->row_from, self, "upper_in");
}

static int paths_open_all(slab *s, paths_thread *self)
{
    int err = paths_open(&s->largest, self, "largest");

    if (!err)
        err = paths_open(&s->total, self, "total");
    if (!err)
        err = paths_open(&s->checksum, self, "checksum");
    if (!err && paths_thread_number(self) > 0)
        err = north_open(s, self);
    if (!err && paths_thread_number(self) + 1 < paths_thread_count(self))
        err = south_open(s, self);
    return err;
}

/* --- faces --- */

static int face_send(slab *s, const neighbour *n)
{
    double *to = s->face;

    if (!n->face_to)
        return 0;
    for (size_t k = 1; k <= s->side; k++) {
        const double *row = s->u + row_at(s, n->edge, k);
        for (size_t i = 0; i < s->side; i++)
            *to++ = row[i];
    }
    return paths_write(n->face_to, s->face, s->side * s->side * sizeof(double));
}

static int face_receive(slab *s, const neighbour *n)
{
    const double *from = s->face;
    int err;

    if (!n->face_from)
        return 0;
    err = paths_observe(n->face_from, s->face,
                        s->side * s->side * sizeof(double));
    for (size_t k = 1; !err && k <= s->side; k++) {
        double *row = s->u + row_at(s, n->ghost, k);
        for (size_t i = 0; i < s->side; i++)
            row[i] = *from++;
    }
    return err;
}

static int faces_exchange(slab *s)
{
    int err = face_send(s, &s->north);

    if (!err)
        err = face_send(s, &s->south);
    if (!err)
        err = face_receive(s, &s->north);
    if (!err)
        err = face_receive(s, &s->south);
    return err;
}

/* --- residual --- */

static void residual_row(slab *s, size_t row)
{
    const lu_problem *p = &s->problem;
    const double *here = s->u + row;
    const double *north = here - s->line, *south = here + s->line;
    const double *below = here - s->plane, *above = here + s->plane;

    for (size_t i = 0; i < s->side; i++)
        s->v[row + i] =
            s->source[row + i] -
            (p->centre * here[i] - p->west * *(here + i - 1) -
             p->east * here[i + 1] - p->north * north[i] - p->south * south[i] -
             p->below * below[i] - p->above * above[i]);
}

/* Into v, after the faces have been exchanged. */
static int residual(slab *s)
{
    int err = faces_exchange(s);

    for (size_t k = 1; !err && k <= s->side; k++)
        for (size_t j = 1; j <= s->rows; j++)
            residual_row(s, row_at(s, j, k));
    return err;
}

/* Of all threads. */
static int residual_max(slab *s, double *max)
{
    double mine = 0;

    for (size_t k = 1; k <= s->side; k++)
        for (size_t j = 1; j <= s->rows; j++) {
            const double *v = s->v + row_at(s, j, k);
            for (size_t i = 0; i < s->side; i++)
                mine = fmax(mine, fabs(v[i]));
        }
    return paths_exchange(s->largest, &mine, sizeof(mine), max, sizeof(*max));
}

static int residual_sum(slab *s, double *sum)
{
    double mine = 0;

    for (size_t k = 1; k <= s->side; k++)
        for (size_t j = 1; j <= s->rows; j++) {
            const double *v = s->v + row_at(s, j, k);
            for (size_t i = 0; i < s->side; i++)
                mine += v[i] * v[i];
        }
    return paths_exchange(s->total, &mine, sizeof(mine), sum, sizeof(*sum));
}

/* --- sweeps --- */

static int row_send(slab *s, const neighbour *n, size_t plane)
{
    if (!n->row_to)
        return 0;
    return paths_write(n->row_to, s->v + row_at(s, n->edge, plane),
                       s->side * sizeof(double));
}

static int row_receive(slab *s, const neighbour *n, size_t plane)
{
    if (!n->row_from)
        return 0;
    return paths_observe(n->row_from, s->v + row_at(s, n->ghost, plane),
                         s->side * sizeof(double));
}

static void lower_row(slab *s, double *v)
{
    const lu_problem *p = &s->problem;
    const double *north = v - s->line, *below = v - s->plane;
    double west = 0; /* the wall, and then the cell just done */

    for (size_t i = 0; i < s->side; i++) {
        west = v[i] * p->gain +
               p->pull *
                   (p->north * north[i] + p->below * below[i] + p->west * west);
        v[i] = west;
    }
}

static int lower_sweep(slab *s)
{
    int err = 0;

    for (size_t k = 1; !err && k <= s->side; k++) {
        err = row_receive(s, &s->north, k);
        for (size_t j = 1; !err && j <= s->rows; j++)
            lower_row(s, s->v + row_at(s, j, k));
        if (!err)
            err = row_send(s, &s->south, k);
    }
    return err;
}

static void upper_row(slab *s, double *v, double *u)
{
    const lu_problem *p = &s->problem;
    const double *south = v + s->line, *above = v + s->plane;
    double east = 0;

    for (size_t i = s->side; i-- > 0;) {
        east = v[i] + p->pull * (p->south * south[i] + p->above * above[i] +
                                 p->east * east);
        v[i] = east;
        u[i] += east;
    }
}

static int upper_sweep(slab *s)
{
    int err = 0;

    for (size_t k = s->side; !err && k > 0; k--) {
        err = row_receive(s, &s->south, k);
        for (size_t j = s->rows; !err && j > 0; j--)
            upper_row(s, s->v + row_at(s, j, k), s->u + row_at(s, j, k));
        if (!err)
            err = row_send(s, &s->north, k);
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
                           "the residual has grown without end: this is a bug");
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

    for (size_t k = 0; k < s->side; k++)
        for (size_t j = 0; j < s->rows; j++) {
            const double *u = s->u + row_at(s, j + 1, k + 1);
            int64_t y = s->first + (int64_t)j, z = (int64_t)k;
            for (size_t i = 0; i < s->side; i++) {
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

    if (!err)
        err = residual_max(s, &outcome.residual_start);
    if (!err)
        err = rounds_run(s);
    if (!err)
        err = outcome_make(s, &outcome);
    if (!err && paths_thread_number(self) == 0)
        err = lu_report(&s->problem, &outcome, run->result);
    return err;
}

int lu_thread(paths_thread *self, void *argument)
{
    const program_run *run = argument;
    slab s = {0};
    int err = lu_problem_make(&s.problem, run->options);

    if (!err && paths_thread_count(self) > s.problem.side)
        err = pastset_fail(PASTSET_EINVAL,
                           "the grid has %" PRIu32 " rows, too few for %" PRIu32
                           " threads",
                           s.problem.side, paths_thread_count(self));
    if (!err)
        err = slab_make(&s, self);
    if (!err)
        err = paths_open_all(&s, self);
    if (!err)
        err = slab_run(&s, self, run);
    slab_free(&s);
    return err;
}
