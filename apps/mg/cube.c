/* cube.c - see cube.h. Coordinates are taken modulo the side, so that opposite
 * faces are joined. */
#include "apps/mg/cube.h"

#include <stdlib.h>

#include "apps/mg/grid.h"
#include "pastset/status.h"

int mg_cube_init(mg_cube *c, uint32_t side)
{
    c->side = side;
    c->at = calloc((size_t)side * side * side, sizeof(*c->at));
    if (!c->at)
        return pastset_no_memory("for a cube of %u points a side", side);
    return 0;
}

void mg_cube_fini(mg_cube *c)
{
    free(c->at);
}

static double *point(const mg_cube *c, uint32_t x, uint32_t y, uint32_t z)
{
    uint32_t mask = c->side - 1;

    return &c->at[((size_t)(z & mask) * c->side + (y & mask)) * c->side +
                  (x & mask)];
}

static double get(const mg_cube *c, uint32_t x, uint32_t y, uint32_t z)
{
    return *point(c, x, y, z);
}

static double near_sum(const mg_cube *g, uint32_t x, uint32_t y, uint32_t z)
{
    return get(g, x, y - 1, z) + get(g, x, y + 1, z) + get(g, x, y, z - 1) +
           get(g, x, y, z + 1);
}

static double far_sum(const mg_cube *g, uint32_t x, uint32_t y, uint32_t z)
{
    return get(g, x, y - 1, z - 1) + get(g, x, y + 1, z - 1) +
           get(g, x, y - 1, z + 1) + get(g, x, y + 1, z + 1);
}

static double stencil(const mg_cube *g, const double *w, uint32_t x, uint32_t y,
                      uint32_t z)
{
    double faces =
        get(g, x - 1, y, z) + get(g, x + 1, y, z) + near_sum(g, x, y, z);
    double edges = near_sum(g, x - 1, y, z) + near_sum(g, x + 1, y, z) +
                   far_sum(g, x, y, z);
    double corners = far_sum(g, x - 1, y, z) + far_sum(g, x + 1, y, z);

    return w[0] * get(g, x, y, z) + w[1] * faces + w[2] * edges +
           w[3] * corners;
}

#define EACH_POINT(cube)                                                       \
    for (uint32_t z = 0; z < (cube)->side; z++)                                \
        for (uint32_t y = 0; y < (cube)->side; y++)                            \
            for (uint32_t x = 0; x < (cube)->side; x++)

void mg_cube_residual(const mg_cube *r, const mg_cube *v, const mg_cube *u)
{
    EACH_POINT(r)
    *point(r, x, y, z) = get(v, x, y, z) - stencil(u, mg_poisson, x, y, z);
}

void mg_cube_smooth(const mg_cube *u, const mg_cube *r)
{
    EACH_POINT(u)
    *point(u, x, y, z) += stencil(r, mg_smoother, x, y, z);
}

void mg_cube_restrict(const mg_cube *coarse, const mg_cube *fine)
{
    EACH_POINT(coarse)
    *point(coarse, x, y, z) = stencil(fine, mg_restrict, 2 * x, 2 * y, 2 * z);
}

/* The coarse points above each other at i around fine y and z. */
static double column(const mg_cube *coarse, uint32_t i, uint32_t y, uint32_t z)
{
    uint32_t j = y / 2, k = z / 2;
    double sum = get(coarse, i, j, k);

    if (y % 2)
        sum += get(coarse, i, j + 1, k);
    if (z % 2 && y % 2)
        sum += get(coarse, i, j, k + 1) + get(coarse, i, j + 1, k + 1);
    else if (z % 2)
        sum += get(coarse, i, j, k + 1);
    return sum;
}

void mg_cube_prolong(const mg_cube *fine, const mg_cube *coarse)
{
    EACH_POINT(fine)
    {
        double sum = column(coarse, x / 2, y, z);
        double points = (1 + x % 2) * (1 + y % 2) * (1 + z % 2);
        if (x % 2)
            sum += column(coarse, x / 2 + 1, y, z);
        *point(fine, x, y, z) += sum / points;
    }
}
