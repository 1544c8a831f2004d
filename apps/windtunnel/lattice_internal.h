/* lattice_internal.h - what the files of the lattice share: the slice. */
#ifndef WINDTUNNEL_LATTICE_INTERNAL_H
#define WINDTUNNEL_LATTICE_INTERNAL_H

#include "apps/windtunnel/lattice.h"

#define LATTICE_MOVING 7 /* planes that a collision changes: all but one */

/* In memory: for each row its planes, for each plane its words, without gaps.
 * `sites` has the slice's rows, eight planes each. `collided` has seven
 * planes a row, and one row more at both ends: the borders of the slices
 * above and below. So collide reads `sites` and writes `collided`, propagate
 * reads `collided` and writes `sites`, and neither needs a copy. */
struct lattice_slice {
    lattice_tunnel tunnel;
    uint32_t first, rows;
    uint32_t words; /* in a row of one plane */
    uint32_t cells; /* in a row */
    uint32_t samples;
    uint64_t steps;
    uint64_t *sites;
    uint64_t *collided;
    uint64_t *chirality; /* for one row */
    lattice_flow *flow;  /* `cells` for each row */
};

/* The eight planes of row `row` (0: the slice's first). */
static inline uint64_t *lattice__sites(const lattice_slice *slice, uint32_t row)
{
    return slice->sites + (size_t)row * LATTICE_PLANES * slice->words;
}

/* The seven planes of row `row` after the collision: -1 ... rows. */
static inline uint64_t *lattice__collided(const lattice_slice *slice,
                                          int64_t row)
{
    return slice->collided + (row + 1) * LATTICE_MOVING * slice->words;
}

#endif
