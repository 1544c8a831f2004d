/* parallel.c - a thread of `mg`: on each shared level some planes, and all of
 * the coarser ones (slab.h).
 *
 * Before an operator looks at the planes below and above, the thread exchanges
 * planes with both neighbours: it writes its first one to the thread below and
 * its last one to the thread above, and observes theirs. On a level that is
 * not shared these are copied. Between the coarsest shared level and the next,
 * the residual is gathered: `coarse` gives all blocks to all threads. `norm`
 * sums the squares of the residual after each cycle; `peak` and `checksum` are
 * for the end.
 *
 * The operators work on the same numbers in the same order as in one process,
 * so u and r have the same bits. Only sums of squares are made in another
 * order. */
#include "apps/mg/slab.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

typedef struct worker {
    paths_thread *self;
    const program_run *run;
    mg_problem problem;
    uint32_t number, count; /* of threads */
    paths_path *to_below, *to_above, *from_below, *from_above;
    paths_path *coarse, *norm, *peak, *checksum; /* coarse may be NULL */

    uint32_t top, lowest; /* levels: the finest; the coarsest shared one */
    mg_slab u[MG_LEVELS_MAX + 1], r[MG_LEVELS_MAX + 1];
    mg_slab part;     /* own planes of the level below `lowest` */
    uint32_t block;   /* planes of each thread's block there */
    double *gathered; /* all blocks */
    mg_charge charges[MG_CHARGES];
    mg_outcome outcome;
} worker;

/* --- making and ending --- */

static int planes_open(worker *w)
{
    size_t bytes = mg_slab_plane_points(&w->u[w->top]) * sizeof(double);
    int err = paths_open(&w->to_below, w->self, "to_below");

    if (err)
        return err;
    err = paths_open(&w->to_above, w->self, "to_above");
    if (err)
        return err;
    err = paths_open(&w->from_below, w->self, "from_below");
    if (err)
        return err;
    err = paths_open(&w->from_above, w->self, "from_above");
    if (err)
        return err;
    if (paths_type(w->from_below)->max_bytes < bytes ||
        paths_type(w->from_above)->max_bytes < bytes)
        return pastset_fail(
            PASTSET_ETYPE,
            "%s: a plane of the finest level has %zu bytes and does not fit: "
            "make the map again with `mg mapping`",
            paths_describe(w->from_below), bytes);
    return 0;
}

static int paths_open_all(worker *w)
{
    int err = w->count > 1 ? planes_open(w) : 0;

    if (err)
        return err;
    if (w->block)
        err = paths_open(&w->coarse, w->self, "coarse");
    if (err)
        return err;
    err = paths_open(&w->norm, w->self, "norm");
    if (err)
        return err;
    err = paths_open(&w->peak, w->self, "peak");
    if (err)
        return err;
    return paths_open(&w->checksum, w->self, "checksum");
}

static bool is_shared(const worker *w, uint32_t level)
{
    return level >= w->lowest;
}

static int slabs_make(worker *w)
{
    uint32_t first, count;

    for (uint32_t k = 1; k <= w->top; k++) {
        uint32_t side = mg_side(k);
        int err;
        if (is_shared(w, k)) {
            mg_share(w->top, w->count, w->number, k, &first, &count);
        } else {
            first = 0;
            count = side;
        }
        err = mg_slab_init(&w->u[k], side, first, count);
        if (!err)
            err = mg_slab_init(&w->r[k], side, first, count);
        if (err)
            return err;
    }
    return 0;
}

static int gathering_make(worker *w)
{
    uint32_t side = mg_side(w->lowest - 1), first, count;
    int err;

    w->block = mg_share_block(w->top, w->count);
    if (!w->block)
        return 0;
    w->gathered = malloc((size_t)w->count * w->block * side * side *
                         sizeof(*w->gathered));
    if (!w->gathered)
        return pastset_no_memory("for a coarse cube");
    mg_share(w->top, w->count, w->number, w->lowest - 1, &first, &count);
    /* As high as a block, which is sent as it is. */
    err = mg_slab_init(&w->part, side, first, w->block);
    w->part.count = count;
    return err;
}

static int worker_make(worker *w)
{
    int err = mg_problem_set(&w->problem, w->run->options);

    if (err)
        return err;
    w->number = paths_thread_number(w->self);
    w->count = paths_thread_count(w->self);
    w->top = w->problem.levels;
    if (w->count > mg_side(w->top))
        return pastset_fail(PASTSET_EINVAL,
                            "%" PRIu32 " threads are too many for %" PRIu32
                            " planes",
                            w->count, mg_side(w->top));
    w->lowest = mg_share_lowest(w->top, w->count);
    mg_charges(&w->problem, w->charges);
    err = slabs_make(w);
    if (!err)
        err = gathering_make(w);
    if (!err)
        err = paths_open_all(w);
    return err;
}

static void worker_free(worker *w)
{
    for (uint32_t k = 1; k <= w->top; k++) {
        mg_slab_fini(&w->u[k]);
        mg_slab_fini(&w->r[k]);
    }
    mg_slab_fini(&w->part);
    free(w->gathered);
}

/* --- planes of others --- */

static int plane_receive(paths_path *path, double *plane, size_t bytes)
{
    paths_arguments arguments = {
        .verb = PASTSET_OBSERVE,
        .tuple = plane,
        .bytes = bytes,
        .timeout_ms = PASTSET_FOREVER,
    };
    int err = paths_call(path, &arguments);

    if (!err && arguments.bytes != bytes)
        err = pastset_fail(PASTSET_EAPP,
                           "%s: received a plane of %zu bytes, expected %zu",
                           paths_describe(path), arguments.bytes, bytes);
    return err;
}

/* Brings the planes below and above the slab. */
static int exchange(worker *w, const mg_slab *s)
{
    size_t bytes = mg_slab_plane_points(s) * sizeof(double);
    int64_t first = s->first, end = first + s->count;
    int err = paths_write(w->to_below, mg_slab_plane(s, first), bytes);

    if (err)
        return err;
    err = paths_write(w->to_above, mg_slab_plane(s, end - 1), bytes);
    if (err)
        return err;
    err = plane_receive(w->from_below, mg_slab_plane(s, first - 1), bytes);
    if (err)
        return err;
    return plane_receive(w->from_above, mg_slab_plane(s, end), bytes);
}

static int neighbours_get(worker *w, uint32_t level, const mg_slab *s)
{
    if (is_shared(w, level))
        return exchange(w, s);
    mg_slab_wrap(s);
    return 0;
}

/* Of all blocks, to the residual of the level that everybody has. */
static void blocks_put(worker *w)
{
    uint32_t level = w->lowest - 1;
    const mg_slab *whole = &w->r[level];
    size_t points = mg_slab_plane_points(whole);

    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t first, count;
        mg_share(w->top, w->count, i, level, &first, &count);
        memcpy(mg_slab_plane(whole, first),
               w->gathered + (size_t)i * w->block * points,
               count * points * sizeof(double));
    }
}

static int coarse_gather(worker *w)
{
    const mg_slab *part = &w->part;
    size_t bytes = w->block * mg_slab_plane_points(part) * sizeof(double);
    int err = paths_exchange(w->coarse, mg_slab_plane(part, part->first), bytes,
                             w->gathered, bytes * w->count);

    if (!err)
        blocks_put(w);
    return err;
}

/* --- a cycle --- */

/* r = v - A u on the finest level; v is written into r first. */
static int residual_top(worker *w)
{
    const mg_slab *r = &w->r[w->top];
    int err = neighbours_get(w, w->top, &w->u[w->top]);

    if (err)
        return err;
    mg_slab_clear(r);
    for (int i = 0; i < MG_CHARGES; i++) {
        const mg_charge *c = &w->charges[i];
        if (c->z >= r->first && c->z - r->first < r->count)
            mg_slab_plane(r, c->z)[(size_t)c->y * r->side + c->x] = c->value;
    }
    mg_slab_residual(r, &w->u[w->top]);
    return 0;
}

static int smooth(worker *w, uint32_t level)
{
    int err = neighbours_get(w, level, &w->r[level]);

    if (!err)
        mg_slab_smooth(&w->u[level], &w->r[level]);
    return err;
}

static int restrict_from(worker *w, uint32_t level)
{
    int err = neighbours_get(w, level, &w->r[level]);

    if (err)
        return err;
    if (w->block && level == w->lowest) {
        mg_slab_restrict(&w->part, &w->r[level]);
        return coarse_gather(w);
    }
    mg_slab_restrict(&w->r[level - 1], &w->r[level]);
    return 0;
}

static int prolong_to(worker *w, uint32_t level)
{
    int err = neighbours_get(w, level - 1, &w->u[level - 1]);

    if (!err)
        mg_slab_prolong(&w->u[level], &w->u[level - 1]);
    return err;
}

/* A level between the finest and the bottom, on the way up. */
static int level_improve(worker *w, uint32_t level)
{
    int err;

    mg_slab_clear(&w->u[level]);
    err = prolong_to(w, level);
    if (!err)
        err = neighbours_get(w, level, &w->u[level]);
    if (err)
        return err;
    mg_slab_residual(&w->r[level], &w->u[level]);
    return smooth(w, level);
}

static int cycle(worker *w)
{
    int err = 0;

    for (uint32_t k = w->top; k > 1 && !err; k--)
        err = restrict_from(w, k);
    if (err)
        return err;
    mg_slab_clear(&w->u[1]);
    err = smooth(w, 1);
    for (uint32_t k = 2; k < w->top && !err; k++)
        err = level_improve(w, k);
    if (err)
        return err;
    err = prolong_to(w, w->top);
    if (err)
        return err;
    err = residual_top(w);
    if (err)
        return err;
    err = smooth(w, w->top);
    if (err)
        return err;
    return residual_top(w);
}

/* --- results --- */

static double row_squares(const double *row, uint32_t side)
{
    double sum = 0;

    for (uint32_t x = 0; x < side; x++)
        sum += row[x] * row[x];
    return sum;
}

static int norm_add(worker *w, uint32_t round)
{
    const mg_slab *r = &w->r[w->top];
    double sum = 0, side = r->side;
    int err;

    for (uint32_t z = r->first; z < r->first + r->count; z++) {
        double plane = 0;
        for (uint32_t y = 0; y < r->side; y++)
            plane +=
                row_squares(mg_slab_plane(r, z) + (size_t)y * r->side, r->side);
        sum += plane;
    }
    err = paths_exchange(w->norm, &sum, sizeof(sum), &sum, sizeof(sum));
    if (err)
        return err;
    return mg_outcome_add(&w->outcome, round, sqrt(sum / (side * side * side)));
}

static int measure(worker *w)
{
    const mg_slab *u = &w->u[w->top], *r = &w->r[w->top];
    size_t points = mg_slab_plane_points(u) * u->count;
    size_t place = mg_slab_plane_points(u) * u->first;
    const double *values = mg_slab_plane(u, u->first);
    const double *left = mg_slab_plane(r, r->first);
    double peak = 0;
    uint64_t checksum = 0;
    int err;

    for (size_t i = 0; i < points; i++) {
        peak = fabs(left[i]) > peak ? fabs(left[i]) : peak;
        checksum += mg_mix(place + i, values[i]);
    }
    err = paths_exchange(w->peak, &peak, sizeof(peak), &w->outcome.peak,
                         sizeof(w->outcome.peak));
    if (!err)
        err = paths_exchange(w->checksum, &checksum, sizeof(checksum),
                             &w->outcome.checksum, sizeof(w->outcome.checksum));
    return err;
}

/* --- a thread --- */

int mg_thread(paths_thread *self, void *argument)
{
    worker w = {.self = self, .run = argument};
    int err = worker_make(&w);

    if (err)
        goto done;
    err = residual_top(&w);
    if (err)
        goto done;
    err = norm_add(&w, 0);
    if (err)
        goto done;
    for (uint32_t round = 1; round <= w.problem.rounds; round++) {
        err = cycle(&w);
        if (err)
            goto done;
        err = norm_add(&w, round);
        if (err)
            goto done;
    }
    err = measure(&w);
    if (err)
        goto done;
    if (w.run->result)
        err = mg_tell(&w.outcome, w.run->result);
done:
    worker_free(&w);
    return err;
}
