/* parallel.c - a thread of the run: one slab of the grid, some of its planes
 * along z.
 *
 * Paths of a thread, where it has a neighbour on that side:
 *
 *   to_below, to_above       its outermost plane, written once a step
 *   from_below, from_above   the neighbour's, observed
 *   forward_in, forward_out    from below and to above: the elimination of
 *                              the lines along z, as far as it has come
 *   backward_in, backward_out  from above and to below: their solution
 *   highest, lowest, sums, checksum   with all threads
 *
 * In a step it exchanges faces and computes the change. Lines along x and y
 * lie within its planes, and are solved without the others. Those along z go
 * through all slabs: for each line, a thread waits until the one below it has
 * come to the end of its part. Were whole faces passed on at once, one thread
 * would work at a time; so a face goes in strips of some rows, and while one
 * thread is with a strip, the one below is already with the next.
 *
 * Operations of a run of `rounds` steps, for each neighbour of a thread:
 * 2 * rounds with faces and 2 * rounds * strips with strips; beside them one
 * with each of `highest`, `lowest`, `sums` and `checksum`. */
#include "apps/adi/adi.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"

/* A side on which another thread goes on; all NULL where there is a wall. */
typedef struct neighbour {
    paths_path *face_to, *face_from;
    paths_path *strip_to, *strip_from; /* forward to one, backward to other */
    size_t ghost; /* plane of ours that stands for the neighbour's nearest */
    size_t edge;  /* our plane that the neighbour needs */
} neighbour;

/* Grids have a frame of ghosts around them: cell (i, j) of our plane k is at
 * (i + 1, j + 1, k + 1). Where there is a wall, u, change and ratios are 0 in
 * the ghosts, and stay so. */
typedef struct slab {
    adi_problem problem;
    size_t side, planes;
    int64_t first; /* the first of its planes in the whole grid */
    size_t line, plane;
    double *u, *kappa;
    double *change; /* the right sides d', and then the solution */
    double *ratios; /* c' */
    double *tuple;  /* on its way to or from a neighbour: up to two faces */
    neighbour below, above;
    paths_path *highest, *lowest, *sums, *checksum;
} slab;

/* Rows `first` ... `end` - 1 of a face, ghosts counted. */
typedef struct strip {
    size_t first, end;
} strip;

/* Row `row` of plane `plane`, ghosts counted: its first cell. */
static size_t row_at(const slab *s, size_t row, size_t plane)
{
    return plane * s->plane + row * s->line + 1;
}

/* --- making it --- */

static void slab_free(slab *s)
{
    free(s->u);
    free(s->kappa);
    free(s->change);
    free(s->ratios);
    free(s->tuple);
}

static void slab_fill(slab *s)
{
    const adi_problem *p = &s->problem;

    for (size_t k = 0; k < s->planes + 2; k++)
        for (size_t j = 0; j < s->side + 2; j++)
            for (size_t i = 0; i < s->side + 2; i++) {
                int64_t x = (int64_t)i - 1, y = (int64_t)j - 1;
                s->kappa[k * s->plane + j * s->line + i] =
                    adi_kappa(p, x, y, s->first + (int64_t)k - 1);
            }
    for (size_t k = 0; k < s->planes; k++)
        for (size_t j = 0; j < s->side; j++)
            for (size_t i = 0; i < s->side; i++)
                s->u[row_at(s, j + 1, k + 1) + i] =
                    adi_start(p, (int64_t)i, (int64_t)j, s->first + (int64_t)k);
}

static int slab_make(slab *s, paths_thread *self)
{
    uint64_t first, planes;
    size_t cells;

    program_share(s->problem.side, paths_thread_count(self),
                  paths_thread_number(self), &first, &planes);
    s->first = (int64_t)first;
    s->planes = planes;
    s->side = s->problem.side;
    s->line = s->side + 2;
    s->plane = s->line * s->line;
    cells = (s->planes + 2) * s->plane;
    s->u = calloc(cells, sizeof(*s->u));
    s->kappa = calloc(cells, sizeof(*s->kappa));
    s->change = calloc(cells, sizeof(*s->change));
    s->ratios = calloc(cells, sizeof(*s->ratios));
    s->tuple = calloc(2 * s->side * s->side, sizeof(*s->tuple));
    if (!s->u || !s->kappa || !s->change || !s->ratios || !s->tuple)
        return pastset_fail(PASTSET_ENOMEM, "no memory for the slab");
    slab_fill(s);
    return 0;
}

/* --- paths --- */

static int below_open(slab *s, paths_thread *self)
{
    neighbour *n = &s->below;
    int err = paths_open(&n->face_to, self, "to_below");

    n->ghost = 0;
    n->edge = 1;
    if (!err)
        err = paths_open(&n->face_from, self, "from_below");
    if (!err)
        err = paths_open(&n->strip_to, self, "backward_out");
    return err ? err : paths_open(&n->strip_from, self, "forward_in");
}

static int above_open(slab *s, paths_thread *self)
{
    neighbour *n = &s->above;
    int err = paths_open(&n->face_to, self, "to_above");

    n->ghost = s->planes + 1;
    n->edge = s->planes;
    if (!err)
        err = paths_open(&n->face_from, self, "from_above");
    if (!err)
        err = paths_open(&n->strip_to, self, "forward_out");
    return err ? err : paths_open(&n->strip_from, self, "backward_in");
}

static int paths_open_all(slab *s, paths_thread *self)
{
    int err = paths_open(&s->highest, self, "highest");

    if (!err)
        err = paths_open(&s->lowest, self, "lowest");
    if (!err)
        err = paths_open(&s->sums, self, "sums");
    if (!err)
        err = paths_open(&s->checksum, self, "checksum");
    if (!err && paths_thread_number(self) > 0)
        err = below_open(s, self);
    if (!err && paths_thread_number(self) + 1 < paths_thread_count(self))
        err = above_open(s, self);
    return err;
}

/* --- rows into a tuple and out of it --- */

static double *pack(const slab *s, const double *grid, size_t plane, strip rows,
                    double *to)
{
    for (size_t j = rows.first; j < rows.end; j++) {
        const double *row = grid + row_at(s, j, plane);
        for (size_t i = 0; i < s->side; i++)
            *to++ = row[i];
    }
    return to;
}

static const double *unpack(const slab *s, double *grid, size_t plane,
                            strip rows, const double *from)
{
    for (size_t j = rows.first; j < rows.end; j++) {
        double *row = grid + row_at(s, j, plane);
        for (size_t i = 0; i < s->side; i++)
            row[i] = *from++;
    }
    return from;
}

/* --- faces --- */

static int face_send(slab *s, const neighbour *n)
{
    if (!n->face_to)
        return 0;
    pack(s, s->u, n->edge, (strip){1, s->side + 1}, s->tuple);
    return paths_write(n->face_to, s->tuple,
                       s->side * s->side * sizeof(double));
}

static int face_receive(slab *s, const neighbour *n)
{
    int err;

    if (!n->face_from)
        return 0;
    err = paths_observe(n->face_from, s->tuple,
                        s->side * s->side * sizeof(double));
    if (!err)
        unpack(s, s->u, n->ghost, (strip){1, s->side + 1}, s->tuple);
    return err;
}

static int faces_exchange(slab *s)
{
    int err = face_send(s, &s->below);

    if (!err)
        err = face_send(s, &s->above);
    if (!err)
        err = face_receive(s, &s->below);
    if (!err)
        err = face_receive(s, &s->above);
    return err;
}

/* --- change: 2 (X + Y + Z) u --- */

/* What flows into a cell along one axis; the next cell is `step` further. */
static inline double inflow(const double *u, const double *kappa, size_t step)
{
    double low = 0.5 * (*(kappa - step) + kappa[0]);
    double high = 0.5 * (kappa[0] + kappa[step]);

    return high * (u[step] - u[0]) - low * (u[0] - *(u - step));
}

static void change_row(slab *s, size_t row)
{
    double factor = 2 * s->problem.ratio;

    for (size_t i = row; i < row + s->side; i++) {
        const double *u = s->u + i, *kappa = s->kappa + i;
        s->change[i] =
            factor * (inflow(u, kappa, 1) + inflow(u, kappa, s->line) +
                      inflow(u, kappa, s->plane));
    }
}

static void change_all(slab *s)
{
    for (size_t k = 1; k <= s->planes; k++)
        for (size_t j = 1; j <= s->side; j++)
            change_row(s, row_at(s, j, k));
}

/* --- lines of cells, `step` from each cell to the next --- */

/* Elimination at the cells of a row: makes c' and d' of them from those of the
 * cells before. */
static void eliminate(slab *s, size_t row, size_t step)
{
    double ratio = s->problem.ratio;

    for (size_t i = row; i < row + s->side; i++) {
        const double *kappa = s->kappa + i;
        double *c = s->ratios + i, *d = s->change + i;
        double low = -ratio * (0.5 * (*(kappa - step) + kappa[0]));
        double high = -ratio * (0.5 * (kappa[0] + kappa[step]));
        double pivot = 1 - low - high - low * *(c - step);

        d[0] = (d[0] - low * *(d - step)) / pivot;
        c[0] = high / pivot;
    }
}

/* And back: the solution at the cells of a row, the last one first, from that
 * at the cells behind. */
static void substitute(slab *s, size_t row, size_t step)
{
    for (size_t i = row + s->side; i-- > row;)
        s->change[i] = s->change[i] - s->ratios[i] * s->change[i + step];
}

static void solve_x_and_y(slab *s)
{
    for (size_t k = 1; k <= s->planes; k++) {
        for (size_t j = 1; j <= s->side; j++) {
            eliminate(s, row_at(s, j, k), 1);
            substitute(s, row_at(s, j, k), 1);
        }
        for (size_t j = 1; j <= s->side; j++)
            eliminate(s, row_at(s, j, k), s->line);
        for (size_t j = s->side; j > 0; j--)
            substitute(s, row_at(s, j, k), s->line);
    }
}

/* --- along z, with the others --- */

static strip strip_number(const slab *s, uint32_t number)
{
    uint64_t first, rows;

    program_share(s->side, s->problem.strips, number, &first, &rows);
    return (strip){first + 1, first + 1 + rows};
}

static size_t strip_bytes(const slab *s, strip rows)
{
    return (rows.end - rows.first) * s->side * sizeof(double);
}

/* A strip has the length it should, or this is not the map of this problem. */
static int strip_receive(slab *s, const neighbour *n, size_t bytes)
{
    paths_arguments arguments = {
        .verb = PASTSET_OBSERVE,
        .tuple = s->tuple,
        .bytes = bytes,
        .timeout_ms = PASTSET_FOREVER,
    };
    int err = paths_call(n->strip_from, &arguments);

    if (!err && arguments.bytes != bytes)
        err = pastset_fail(
            PASTSET_EAPP, "%s: a strip of %zu bytes, where %zu were expected",
            paths_describe(n->strip_from), arguments.bytes, bytes);
    return err;
}

static int forward(slab *s, strip rows)
{
    size_t bytes = 2 * strip_bytes(s, rows);
    int err = 0;

    if (s->below.strip_from) {
        err = strip_receive(s, &s->below, bytes);
        if (err)
            return err;
        unpack(s, s->change, s->below.ghost, rows,
               unpack(s, s->ratios, s->below.ghost, rows, s->tuple));
    }
    for (size_t k = 1; k <= s->planes; k++)
        for (size_t j = rows.first; j < rows.end; j++)
            eliminate(s, row_at(s, j, k), s->plane);
    if (s->above.strip_to) {
        pack(s, s->change, s->above.edge, rows,
             pack(s, s->ratios, s->above.edge, rows, s->tuple));
        err = paths_write(s->above.strip_to, s->tuple, bytes);
    }
    return err;
}

static int backward(slab *s, strip rows)
{
    size_t bytes = strip_bytes(s, rows);
    int err = 0;

    if (s->above.strip_from) {
        err = strip_receive(s, &s->above, bytes);
        if (err)
            return err;
        unpack(s, s->change, s->above.ghost, rows, s->tuple);
    }
    for (size_t k = s->planes; k > 0; k--)
        for (size_t j = rows.first; j < rows.end; j++)
            substitute(s, row_at(s, j, k), s->plane);
    if (s->below.strip_to) {
        pack(s, s->change, s->below.edge, rows, s->tuple);
        err = paths_write(s->below.strip_to, s->tuple, bytes);
    }
    return err;
}

static int solve_z(slab *s)
{
    int err = 0;

    for (uint32_t i = 0; !err && i < s->problem.strips; i++)
        err = forward(s, strip_number(s, i));
    for (uint32_t i = 0; !err && i < s->problem.strips; i++)
        err = backward(s, strip_number(s, i));
    return err;
}

/* --- steps --- */

static int step(slab *s)
{
    int err = faces_exchange(s);

    if (err)
        return err;
    change_all(s);
    solve_x_and_y(s);
    err = solve_z(s);
    if (err)
        return err;
    for (size_t k = 1; k <= s->planes; k++)
        for (size_t j = 1; j <= s->side; j++) {
            size_t row = row_at(s, j, k);
            for (size_t i = row; i < row + s->side; i++)
                s->u[i] += s->change[i];
        }
    return 0;
}

/* --- results --- */

static void slab_look(const slab *s, adi_outcome *o, double sums[3])
{
    const adi_problem *p = &s->problem;

    for (size_t k = 0; k < s->planes; k++)
        for (size_t j = 0; j < s->side; j++) {
            const double *row = s->u + row_at(s, j + 1, k + 1);
            int64_t y = (int64_t)j, z = s->first + (int64_t)k;
            for (size_t i = 0; i < s->side; i++) {
                double wave = adi_start(p, (int64_t)i, y, z);
                o->highest = fmax(o->highest, row[i]);
                o->lowest = fmin(o->lowest, row[i]);
                o->checksum += adi_cell_hash(p, (int64_t)i, y, z, row[i]);
                sums[0] += row[i];
                sums[1] += row[i] * wave;
                sums[2] += wave * wave;
            }
        }
}

/* Of all threads: each contributes what it has in its slab. */
static int outcome_make(slab *s, adi_outcome *o)
{
    double sums[3] = {0};
    int err;

    o->highest = -INFINITY;
    o->lowest = INFINITY;
    slab_look(s, o, sums);
    err = paths_exchange(s->highest, &o->highest, sizeof(o->highest),
                         &o->highest, sizeof(o->highest));
    if (!err)
        err = paths_exchange(s->lowest, &o->lowest, sizeof(o->lowest),
                             &o->lowest, sizeof(o->lowest));
    if (!err)
        err = paths_exchange(s->sums, sums, sizeof(sums), sums, sizeof(sums));
    if (!err)
        err = paths_exchange(s->checksum, &o->checksum, sizeof(o->checksum),
                             &o->checksum, sizeof(o->checksum));
    o->heat = sums[0];
    o->wave[0] = sums[1];
    o->wave[1] = sums[2];
    return err;
}

static int slab_run(slab *s, paths_thread *self, const program_run *run)
{
    adi_outcome outcome = {0};
    int err = 0;

    for (uint32_t round = 0; !err && round < s->problem.rounds; round++) {
        err = step(s);
        if (err)
            return pastset_fail_while(err, "step %" PRIu32, round);
    }
    err = outcome_make(s, &outcome);
    if (!err && paths_thread_number(self) == 0)
        err = adi_report(&s->problem, &outcome, run->result);
    return err;
}

int adi_thread(paths_thread *self, void *argument)
{
    const program_run *run = argument;
    slab s = {0};
    int err = adi_problem_make(&s.problem, run->options);

    if (!err && paths_thread_count(self) > s.problem.side)
        err = pastset_fail(PASTSET_EINVAL,
                           "the grid has %" PRIu32
                           " planes, too few for %" PRIu32 " threads",
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
