/* cube.h - operators on whole cubes, for the sequential computation: as plain
 * as the formulas in grid.h. */
#ifndef MG_CUBE_H
#define MG_CUBE_H

#include <stdint.h>

typedef struct mg_cube {
    uint32_t side; /* a power of two */
    double *at;    /* [z][y][x] */
} mg_cube;

/* All zeros. Errors: PASTSET_ENOMEM. */
int mg_cube_init(mg_cube *c, uint32_t side);
void mg_cube_fini(mg_cube *c); /* also one of zeros */

/* r = v - A u; r may be v. */
void mg_cube_residual(const mg_cube *r, const mg_cube *v, const mg_cube *u);
/* u = u + S r */
void mg_cube_smooth(const mg_cube *u, const mg_cube *r);
/* To, and from, a cube of half the side. */
void mg_cube_restrict(const mg_cube *coarse, const mg_cube *fine);
void mg_cube_prolong(const mg_cube *fine, const mg_cube *coarse);

#endif
