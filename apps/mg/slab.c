/* slab.c - see slab.h. The operators go row by row. What a row's points have
 * in common with their neighbours in the row is summed once, in rows that are
 * longer by one point at either end, so that the inner loops know no edges. */
#include "apps/mg/slab.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

int mg_slab_init(mg_slab *s, uint32_t side, uint32_t first, uint32_t count)
{
    *s = (mg_slab){.side = side, .first = first, .count = count};
    s->at = calloc((count + (size_t)2) * side * side, sizeof(*s->at));
    s->rows = calloc(4 * (side + (size_t)2), sizeof(*s->rows));
    if (!s->at || !s->rows)
        return pastset_no_memory("for %u planes of %u points a side", count,
                                 side);
    return 0;
}

void mg_slab_fini(mg_slab *s)
{
    free(s->at);
    free(s->rows);
}

void mg_slab_wrap(const mg_slab *s)
{
    size_t bytes = mg_slab_plane_points(s) * sizeof(*s->at);

    memcpy(mg_slab_plane(s, -1), mg_slab_plane(s, s->side - INT64_C(1)), bytes);
    memcpy(mg_slab_plane(s, s->side), mg_slab_plane(s, 0), bytes);
}

void mg_slab_clear(const mg_slab *s)
{
    memset(s->at, 0,
           (s->count + (size_t)2) * mg_slab_plane_points(s) * sizeof(*s->at));
}

/* --- stencils --- */

/* A row of points -1 ... side: one more at either end, the one at the other
 * end of the row. */
static void row_close(double *row, uint32_t side)
{
    row[0] = row[side];
    row[side + 1] = row[1];
}

typedef struct neighbours {  /* rows of points 0 ... side - 1 */
    const double *row[3][3]; /* [z + 1][y + 1] */
} neighbours;

static void neighbours_find(neighbours *n, const mg_slab *g, int64_t z,
                            uint32_t y)
{
    uint32_t mask = g->side - 1;

    for (int dz = -1; dz <= 1; dz++) {
        const double *plane = mg_slab_plane(g, z + dz);
        n->row[dz + 1][0] = plane + (size_t)((y - 1) & mask) * g->side;
        n->row[dz + 1][1] = plane + (size_t)y * g->side;
        n->row[dz + 1][2] = plane + (size_t)((y + 1) & mask) * g->side;
    }
}

/* Gives the stencil at each point of a row; borrowed, one of g->rows. */
static const double *stencil(const mg_slab *g, const double *w, int64_t z,
                             uint32_t y)
{
    uint32_t side = g->side;
    double *restrict center = g->rows;
    double *restrict near = center + side + 2;
    double *restrict far = near + side + 2;
    double *restrict out = far + side + 2;
    neighbours n;

    neighbours_find(&n, g, z, y);
    for (uint32_t x = 0; x < side; x++) {
        center[x + 1] = n.row[1][1][x];
        near[x + 1] =
            n.row[1][0][x] + n.row[1][2][x] + n.row[0][1][x] + n.row[2][1][x];
        far[x + 1] =
            n.row[0][0][x] + n.row[0][2][x] + n.row[2][0][x] + n.row[2][2][x];
    }
    row_close(center, side);
    row_close(near, side);
    row_close(far, side);
    for (uint32_t x = 0; x < side; x++) {
        double faces = center[x] + center[x + 2] + near[x + 1];
        double edges = near[x] + near[x + 2] + far[x + 1];
        double corners = far[x] + far[x + 2];
        out[x] =
            w[0] * center[x + 1] + w[1] * faces + w[2] * edges + w[3] * corners;
    }
    return out;
}

void mg_slab_residual(const mg_slab *r, const mg_slab *u)
{
    for (uint32_t z = r->first; z < r->first + r->count; z++) {
        for (uint32_t y = 0; y < r->side; y++) {
            const double *sums = stencil(u, mg_poisson, z, y);
            double *row = mg_slab_plane(r, z) + (size_t)y * r->side;
            for (uint32_t x = 0; x < r->side; x++)
                row[x] -= sums[x];
        }
    }
}

void mg_slab_smooth(const mg_slab *u, const mg_slab *r)
{
    for (uint32_t z = u->first; z < u->first + u->count; z++) {
        for (uint32_t y = 0; y < u->side; y++) {
            const double *sums = stencil(r, mg_smoother, z, y);
            double *row = mg_slab_plane(u, z) + (size_t)y * u->side;
            for (uint32_t x = 0; x < u->side; x++)
                row[x] += sums[x];
        }
    }
}

/* --- between levels --- */

void mg_slab_restrict(const mg_slab *coarse, const mg_slab *fine)
{
    for (uint32_t z = coarse->first; z < coarse->first + coarse->count; z++) {
        for (uint32_t y = 0; y < coarse->side; y++) {
            const double *sums =
                stencil(fine, mg_restrict, 2 * (int64_t)z, 2 * y);
            double *row = mg_slab_plane(coarse, z) + (size_t)y * coarse->side;
            for (uint32_t x = 0; x < coarse->side; x++)
                row[x] = sums[2 * x];
        }
    }
}

/* The sums of the coarse points above each other around fine y and z; one more
 * behind the last. Borrowed, the first of coarse->rows. */
static const double *columns(const mg_slab *coarse, uint32_t z, uint32_t y)
{
    size_t j = (size_t)(y / 2) * coarse->side;
    size_t next = (size_t)((y / 2 + 1) & (coarse->side - 1)) * coarse->side;
    const double *low = mg_slab_plane(coarse, z / 2);
    const double *high = mg_slab_plane(coarse, z / 2 + INT64_C(1));
    double *out = coarse->rows;

    for (uint32_t i = 0; i < coarse->side; i++) {
        double sum = low[j + i];
        if (y % 2)
            sum += low[next + i];
        if (z % 2)
            sum += y % 2 ? high[j + i] + high[next + i] : high[j + i];
        out[i] = sum;
    }
    out[coarse->side] = out[0];
    return out;
}

void mg_slab_prolong(const mg_slab *fine, const mg_slab *coarse)
{
    for (uint32_t z = fine->first; z < fine->first + fine->count; z++) {
        for (uint32_t y = 0; y < fine->side; y++) {
            const double *sums = columns(coarse, z, y);
            double *row = mg_slab_plane(fine, z) + (size_t)y * fine->side;
            double part = 1.0 / ((1 + y % 2) * (1 + z % 2)); /* no rounding */
            for (uint32_t i = 0; i < coarse->side; i++) {
                row[2 * i] += sums[i] * part;
                row[2 * i + 1] += (sums[i] + sums[i + 1]) * (part / 2);
            }
        }
    }
}

/* --- who has which planes --- */

void mg_share(uint32_t levels, uint32_t threads, uint32_t number,
              uint32_t level, uint32_t *first, uint32_t *count)
{
    uint64_t begin, end;

    program_share(mg_side(levels), threads, number, &begin, &end);
    end += begin;
    for (; level < levels; level++) {
        begin = (begin + 1) / 2;
        end = (end + 1) / 2;
    }
    *first = (uint32_t)begin;
    *count = (uint32_t)(end - begin);
}

static void counts(uint32_t levels, uint32_t threads, uint32_t level,
                   uint32_t *min, uint32_t *max)
{
    *min = UINT32_MAX;
    *max = 0;
    for (uint32_t i = 0; i < threads; i++) {
        uint32_t first, count;
        mg_share(levels, threads, i, level, &first, &count);
        *min = count < *min ? count : *min;
        *max = count > *max ? count : *max;
    }
}

uint32_t mg_share_lowest(uint32_t levels, uint32_t threads)
{
    uint32_t level = levels + 1, min, max;

    while (threads > 1 && level > 1) {
        counts(levels, threads, level - 1, &min, &max);
        if (min == 0)
            break;
        level--;
    }
    return level;
}

uint32_t mg_share_block(uint32_t levels, uint32_t threads)
{
    uint32_t lowest = mg_share_lowest(levels, threads), min, max;

    if (threads == 1 || lowest == 1)
        return 0;
    counts(levels, threads, lowest - 1, &min, &max);
    return max;
}
