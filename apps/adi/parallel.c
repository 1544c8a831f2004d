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

#include "apps/common/halo.h"
#include "pastset/status.h"

/* Where there is a wall, u, change and ratios are 0 in the ghosts, and stay
 * so. */
typedef struct slab {
    adi_problem problem;
    halo halo;
    double *u, *kappa;
    double *change; /* the right sides d', and then the solution */
    double *ratios; /* c' */
    paths_path *highest, *lowest, *sums, *checksum;
} slab;

static size_t row_at(const slab *s, size_t row, size_t plane)
{
    return halo_at(&s->halo, row, plane);
}

/* --- making it --- */

static void slab_free(slab *s)
{
    free(s->u);
    free(s->kappa);
    free(s->change);
    free(s->ratios);
    halo_fini(&s->halo);
}

static void slab_fill(slab *s)
{
    const adi_problem *p = &s->problem;

    for (size_t k = 0; k < s->halo.layers + 2; k++)
        for (size_t j = 0; j < s->halo.side + 2; j++)
            for (size_t i = 0; i < s->halo.side + 2; i++) {
                int64_t x = (int64_t)i - 1, y = (int64_t)j - 1;
                s->kappa[k * s->halo.plane + j * s->halo.line + i] =
                    adi_kappa(p, x, y, s->halo.first + (int64_t)k - 1);
            }
    for (size_t k = 0; k < s->halo.layers; k++)
        for (size_t j = 0; j < s->halo.side; j++)
            for (size_t i = 0; i < s->halo.side; i++)
                s->u[row_at(s, j + 1, k + 1) + i] = adi_start(
                    p, (int64_t)i, (int64_t)j, s->halo.first + (int64_t)k);
}

static int slab_make(slab *s, paths_thread *self)
{
    int err = halo_init(&s->halo, self, s->problem.side, HALO_PLANES);
    size_t cells = s->halo.cells;

    if (err)
        return err;
    s->u = calloc(cells, sizeof(*s->u));
    s->kappa = calloc(cells, sizeof(*s->kappa));
    s->change = calloc(cells, sizeof(*s->change));
    s->ratios = calloc(cells, sizeof(*s->ratios));
    if (!s->u || !s->kappa || !s->change || !s->ratios)
        return pastset_no_memory("for the slab");
    slab_fill(s);
    return 0;
}

/* --- paths --- */

/* A slab has the one below before it, and the one above behind it. */
static const halo_names below_paths = {"to_below", "from_below", "backward_out",
                                       "forward_in"};
static const halo_names above_paths = {"to_above", "from_above", "forward_out",
                                       "backward_in"};

static int paths_open_all(slab *s, paths_thread *self)
{
    int err = paths_open(&s->highest, self, "highest");

    if (err)
        return err;
    err = paths_open(&s->lowest, self, "lowest");
    if (err)
        return err;
    err = paths_open(&s->sums, self, "sums");
    if (err)
        return err;
    err = paths_open(&s->checksum, self, "checksum");
    if (err)
        return err;
    return halo_open(&s->halo, self, &below_paths, &above_paths);
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

    for (size_t i = row; i < row + s->halo.side; i++) {
        const double *u = s->u + i, *kappa = s->kappa + i;
        s->change[i] =
            factor * (inflow(u, kappa, 1) + inflow(u, kappa, s->halo.line) +
                      inflow(u, kappa, s->halo.plane));
    }
}

static void change_all(slab *s)
{
    for (size_t k = 1; k <= s->halo.layers; k++)
        for (size_t j = 1; j <= s->halo.side; j++)
            change_row(s, row_at(s, j, k));
}

/* --- lines of cells, `step` from each cell to the next --- */

/* Elimination at the cells of a row: makes c' and d' of them from those of the
 * cells before. */
static void eliminate(slab *s, size_t row, size_t step)
{
    double ratio = s->problem.ratio;

    for (size_t i = row; i < row + s->halo.side; i++) {
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
    for (size_t i = row + s->halo.side; i-- > row;)
        s->change[i] = s->change[i] - s->ratios[i] * s->change[i + step];
}

static void solve_x_and_y(slab *s)
{
    for (size_t k = 1; k <= s->halo.layers; k++) {
        for (size_t j = 1; j <= s->halo.side; j++) {
            eliminate(s, row_at(s, j, k), 1);
            substitute(s, row_at(s, j, k), 1);
        }
        for (size_t j = 1; j <= s->halo.side; j++)
            eliminate(s, row_at(s, j, k), s->halo.line);
        for (size_t j = s->halo.side; j > 0; j--)
            substitute(s, row_at(s, j, k), s->halo.line);
    }
}

/* --- along z, with the others --- */

static halo_rows strip_number(const slab *s, uint32_t number)
{
    uint64_t first, rows;

    program_share(s->halo.side, s->problem.strips, number, &first, &rows);
    return (halo_rows){first + 1, first + 1 + rows};
}

static size_t strip_bytes(const slab *s, halo_rows rows)
{
    return (rows.end - rows.first) * s->halo.side * sizeof(double);
}

/* A strip has the length it should, or this is not the map of this problem. */
static int strip_receive(slab *s, const halo_side *n, size_t bytes)
{
    paths_arguments arguments = {
        .verb = PASTSET_OBSERVE,
        .tuple = s->halo.tuple,
        .bytes = bytes,
        .timeout_ms = PASTSET_FOREVER,
    };
    int err = paths_call(n->sweep_from, &arguments);

    if (!err && arguments.bytes != bytes)
        err = pastset_fail(
            PASTSET_EAPP, "%s: received a strip of %zu bytes, expected %zu",
            paths_describe(n->sweep_from), arguments.bytes, bytes);
    return err;
}

static int forward(slab *s, halo_rows rows)
{
    const halo_side *from = &s->halo.before, *to = &s->halo.after;
    double *tuple = s->halo.tuple;
    size_t bytes = 2 * strip_bytes(s, rows);
    int err;

    if (from->sweep_from) {
        err = strip_receive(s, from, bytes);
        if (err)
            return err;
        halo_unpack(&s->halo, s->change, from->ghost, rows,
                    halo_unpack(&s->halo, s->ratios, from->ghost, rows, tuple));
    }
    for (size_t k = 1; k <= s->halo.layers; k++)
        for (size_t j = rows.first; j < rows.end; j++)
            eliminate(s, row_at(s, j, k), s->halo.plane);
    if (!to->sweep_to)
        return 0;
    halo_pack(&s->halo, s->change, to->edge, rows,
              halo_pack(&s->halo, s->ratios, to->edge, rows, tuple));
    return paths_write(to->sweep_to, tuple, bytes);
}

static int backward(slab *s, halo_rows rows)
{
    const halo_side *from = &s->halo.after, *to = &s->halo.before;
    size_t bytes = strip_bytes(s, rows);
    int err;

    if (from->sweep_from) {
        err = strip_receive(s, from, bytes);
        if (err)
            return err;
        halo_unpack(&s->halo, s->change, from->ghost, rows, s->halo.tuple);
    }
    for (size_t k = s->halo.layers; k > 0; k--)
        for (size_t j = rows.first; j < rows.end; j++)
            substitute(s, row_at(s, j, k), s->halo.plane);
    if (!to->sweep_to)
        return 0;
    halo_pack(&s->halo, s->change, to->edge, rows, s->halo.tuple);
    return paths_write(to->sweep_to, s->halo.tuple, bytes);
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
    int err = halo_exchange(&s->halo, s->u);

    if (err)
        return err;
    change_all(s);
    solve_x_and_y(s);
    err = solve_z(s);
    if (err)
        return err;
    for (size_t k = 1; k <= s->halo.layers; k++)
        for (size_t j = 1; j <= s->halo.side; j++) {
            size_t row = row_at(s, j, k);
            for (size_t i = row; i < row + s->halo.side; i++)
                s->u[i] += s->change[i];
        }
    return 0;
}

/* --- results --- */

static void slab_look(const slab *s, adi_outcome *o, double sums[3])
{
    const adi_problem *p = &s->problem;

    for (size_t k = 0; k < s->halo.layers; k++)
        for (size_t j = 0; j < s->halo.side; j++) {
            const double *row = s->u + row_at(s, j + 1, k + 1);
            int64_t y = (int64_t)j, z = s->halo.first + (int64_t)k;
            for (size_t i = 0; i < s->halo.side; i++) {
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
    if (err)
        return err;
    err = paths_exchange(s->lowest, &o->lowest, sizeof(o->lowest), &o->lowest,
                         sizeof(o->lowest));
    if (err)
        return err;
    err = paths_exchange(s->sums, sums, sizeof(sums), sums, sizeof(sums));
    if (err)
        return err;
    err = paths_exchange(s->checksum, &o->checksum, sizeof(o->checksum),
                         &o->checksum, sizeof(o->checksum));
    if (err)
        return err;
    o->heat = sums[0];
    o->wave[0] = sums[1];
    o->wave[1] = sums[2];
    return 0;
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

    if (err)
        goto done;
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
