/* single.c - cycles in one process. */
#include "apps/mg/grid.h"

#include <math.h>
#include <string.h>

#include "apps/mg/cube.h"

typedef struct levels {
    uint32_t top;
    mg_charge charges[MG_CHARGES];
    mg_cube u[MG_LEVELS_MAX + 1], r[MG_LEVELS_MAX + 1]; /* 1 ... top */
} levels;

static int levels_init(levels *l, const mg_problem *p)
{
    int err = 0;

    l->top = p->levels;
    mg_charges(p, l->charges);
    for (uint32_t k = 1; k <= l->top && !err; k++) {
        err = mg_cube_init(&l->u[k], mg_side(k));
        if (!err)
            err = mg_cube_init(&l->r[k], mg_side(k));
    }
    return err;
}

static void levels_fini(levels *l)
{
    for (uint32_t k = 1; k <= l->top; k++) {
        mg_cube_fini(&l->u[k]);
        mg_cube_fini(&l->r[k]);
    }
}

static void clear(const mg_cube *c)
{
    memset(c->at, 0, (size_t)c->side * c->side * c->side * sizeof(*c->at));
}

/* r = v - A u on the finest level; v is written into r first. */
static void residual(levels *l)
{
    const mg_cube *r = &l->r[l->top];

    clear(r);
    for (int i = 0; i < MG_CHARGES; i++) {
        const mg_charge *c = &l->charges[i];
        r->at[((size_t)c->z * r->side + c->y) * r->side + c->x] = c->value;
    }
    mg_cube_residual(r, r, &l->u[l->top]);
}

static void cycle(levels *l)
{
    const mg_cube *u = l->u, *r = l->r;

    for (uint32_t k = l->top; k > 1; k--)
        mg_cube_restrict(&r[k - 1], &r[k]);
    for (uint32_t k = 1; k < l->top; k++) {
        clear(&u[k]);
        if (k > 1) {
            mg_cube_prolong(&u[k], &u[k - 1]);
            mg_cube_residual(&r[k], &r[k], &u[k]);
        }
        mg_cube_smooth(&u[k], &r[k]);
    }
    mg_cube_prolong(&u[l->top], &u[l->top - 1]);
    residual(l);
    mg_cube_smooth(&u[l->top], &r[l->top]);
    residual(l);
}

/* Rows first, then planes: fewer roundings than one after another. */
static double norm(const mg_cube *r)
{
    double sum = 0, side = r->side;
    const double *value = r->at;

    for (uint32_t z = 0; z < r->side; z++) {
        double plane = 0;
        for (uint32_t y = 0; y < r->side; y++) {
            double row = 0;
            for (uint32_t x = 0; x < r->side; x++, value++)
                row += *value * *value;
            plane += row;
        }
        sum += plane;
    }
    return sqrt(sum / (side * side * side));
}

static void measure(const levels *l, mg_outcome *out)
{
    size_t side = mg_side(l->top);

    for (size_t i = 0; i < side * side * side; i++) {
        double size = fabs(l->r[l->top].at[i]);
        if (size > out->peak)
            out->peak = size;
        out->checksum += mg_mix(i, l->u[l->top].at[i]);
    }
}

int mg_single(const mg_problem *p, mg_outcome *out)
{
    levels l = {0};
    int err = levels_init(&l, p);

    memset(out, 0, sizeof(*out));
    if (!err) { /* u is 0 */
        residual(&l);
        err = mg_outcome_add(out, 0, norm(&l.r[l.top]));
    }
    for (uint32_t round = 1; round <= p->rounds && !err; round++) {
        cycle(&l);
        err = mg_outcome_add(out, round, norm(&l.r[l.top]));
    }
    if (!err)
        measure(&l, out);
    levels_fini(&l);
    return err;
}
