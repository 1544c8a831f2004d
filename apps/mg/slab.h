/* slab.h - a slab of a cube: some of its planes, one above the other, and the
 * operators on it. A slab has room for two planes more, the one below its
 * first and the one above its last (the first of all lies above the last of
 * all), which others own: whoever calls an operator that looks at neighbours
 * has put them there before.
 *
 * Planes are shared like this: on the finest level, threads have as many
 * planes as any other or one more; on a coarser level, plane z belongs to
 * whoever has plane 2z of the next finer one. So restriction and prolongation
 * need no planes but those two. Where that leaves a thread without any plane,
 * a level is shared no longer: from there on down every thread has the whole
 * cube, and all compute the same. (To share the work of fewer points than that
 * would take longer, by its messages, than to do all of it.)
 *
 * Threads: one at a time for one slab. */
#ifndef MG_SLAB_H
#define MG_SLAB_H

#include "apps/mg/grid.h"

#include <stdint.h>

typedef struct mg_slab {
    uint32_t side;         /* of the cube */
    uint32_t first, count; /* planes first ... first + count - 1 */
    double *at;            /* count + 2 planes */
    double *rows;          /* for the operators: four of side + 2 */
} mg_slab;

/* All zeros. Errors: PASTSET_ENOMEM. */
int mg_slab_init(mg_slab *s, uint32_t side, uint32_t first, uint32_t count);
void mg_slab_fini(mg_slab *s); /* also one of zeros */

static inline size_t mg_slab_plane_points(const mg_slab *s)
{
    return (size_t)s->side * s->side;
}

/* Plane z: of the slab, or first - 1 or first + count. */
static inline double *mg_slab_plane(const mg_slab *s, int64_t z)
{
    return s->at + (size_t)(z - s->first + 1) * mg_slab_plane_points(s);
}

/* Of a slab that is a whole cube: its first and last planes, where they are
 * neighbours. */
void mg_slab_wrap(const mg_slab *s);

/* All of it becomes 0. */
void mg_slab_clear(const mg_slab *s);

/* r = r - A u. Looks at the neighbours of u. */
void mg_slab_residual(const mg_slab *r, const mg_slab *u);
/* u = u + S r. Looks at the neighbours of r. */
void mg_slab_smooth(const mg_slab *u, const mg_slab *r);
/* To and from a slab of the next coarser cube. Look at the neighbours of the
 * one that is read. */
void mg_slab_restrict(const mg_slab *coarse, const mg_slab *fine);
void mg_slab_prolong(const mg_slab *fine, const mg_slab *coarse);

/* --- who has which planes --- */

/* Those of thread `number` of `threads` on a level; all must be given what
 * the finest level is. */
void mg_share(uint32_t levels, uint32_t threads, uint32_t number,
              uint32_t level, uint32_t *first, uint32_t *count);

/* The coarsest level that is shared; levels + 1 for one thread. */
uint32_t mg_share_lowest(uint32_t levels, uint32_t threads);

/* The most planes that a thread has on the level below that: the height of
 * the blocks that are gathered there. 0 when all levels are shared, and for
 * one thread. */
uint32_t mg_share_block(uint32_t levels, uint32_t threads);

#endif
