/* water.c - shallow water, at one face and in one cell.
 *
 * The equations of Saint-Venant, with depth h, bed z and speeds u and v:
 *
 *     h_t  + (h u)_x           + (h v)_y           = 0
 *     hu_t + (h u u + g h h/2)_x + (h u v)_y         = - g h z_x - friction
 *     hv_t + (h u v)_x         + (h v v + g h h/2)_y = - g h z_y - friction
 *
 * by finite volumes of first order. Three things make it fit for rivers:
 *
 * - The bed enters at the faces, by hydrostatic reconstruction (Audusse,
 *   Bouchut, Bristeau, Klein, Perthame, SIAM J. Sci. Comput. 25, 2004): both
 *   sides are cut off at the higher bed of the two, h* = max(0, h + z - z*),
 *   the flux is that between the h*, and each cell sees the push of the bed as
 *   the difference between g h h / 2 and g h* h* / 2. A lake at rest stays at
 * rest, and water that lies lower than a bank does not climb it.
 * - The flux is HLL's with the speeds of Davis; what goes across the face is
 *   carried by the water that goes through it, from the side it comes from.
 * - A cell that is not deeper than RIVER_WET gives no water away. Otherwise a
 *   film would run ahead of the water by a cell in each step, ever thinner,
 *   until all cells had some.
 *
 * Depths stay above zero: through a face, HLL takes from the cell at its low
 * side h* s (u - s') / (s - s') and no more, s > 0 > s' being the speeds of the
 * two waves, and that is at most h s. So four faces take at most
 * h * 4 * speed * seconds / metres, and river_cell_seconds lets that be 0.9 h
 * for the fastest wave of all cells. The same goes for the high side. */
#include "apps/river/river.h"

#include <math.h>

/* Nothing here is "not a number", so these need not care, as fmin does. */
static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* One side of a face, turned so that the way through it is the first. */
typedef struct side {
    double depth;  /* h* */
    double speed;  /* through the face */
    double across; /* speed across */
    double wave;   /* sqrt(g h*) */
    double cut;    /* g h* h* / 2 */
    double push;   /* g h h / 2 - g h* h* / 2 */
} side;

static side side_make(const river_place *place, river_way way, double bed)
{
    const river_cell *cell = &place->cell;
    double along = way == RIVER_EAST ? cell->east : cell->south;
    double across = way == RIVER_EAST ? cell->south : cell->east;
    side s = {.depth = 0};

    if (!(cell->depth > RIVER_WET))
        return s;
    s.depth = larger(0, cell->depth + (place->bed - bed));
    s.speed = along / cell->depth;
    s.across = across / cell->depth;
    s.wave = sqrt(RIVER_GRAVITY * s.depth);
    s.cut = RIVER_GRAVITY / 2 * s.depth * s.depth;
    s.push = RIVER_GRAVITY / 2 * cell->depth * cell->depth - s.cut;
    return s;
}

/* The flux of depth and momentum between two sides that have waves. */
static void hll(const side *low, const side *high, double *water,
                double *momentum)
{
    double first = smaller(low->speed - low->wave, high->speed - high->wave);
    double last = larger(low->speed + low->wave, high->speed + high->wave);
    double low_water = low->depth * low->speed;
    double high_water = high->depth * high->speed;
    double low_momentum = low_water * low->speed + low->cut;
    double high_momentum = high_water * high->speed + high->cut;

    if (first >= 0) {
        *water = low_water;
        *momentum = low_momentum;
    } else if (last <= 0) {
        *water = high_water;
        *momentum = high_momentum;
    } else {
        double width = last - first, both = first * last;
        *water = (last * low_water - first * high_water +
                  both * (high->depth - low->depth)) /
                 width;
        *momentum = (last * low_momentum - first * high_momentum +
                     both * (high_water - low_water)) /
                    width;
    }
}

river_face river_face_between(const river_place *low, const river_place *high,
                              river_way way)
{
    double bed = larger(low->bed, high->bed), momentum = 0;
    river_face face = {.water = 0};
    side l, h;

    if (!(low->cell.depth > RIVER_WET) && !(high->cell.depth > RIVER_WET))
        return face;
    l = side_make(low, way, bed);
    h = side_make(high, way, bed);
    if (l.depth > 0 || h.depth > 0)
        hll(&l, &h, &face.water, &momentum);
    face.low = momentum + l.push;
    face.high = momentum + h.push;
    face.across = face.water * (face.water > 0 ? l.across : h.across);
    return face;
}

river_place river_mirror(const river_place *place, river_way way)
{
    river_place image = *place;

    if (way == RIVER_EAST)
        image.cell.east = -image.cell.east;
    else
        image.cell.south = -image.cell.south;
    return image;
}

river_cell river_cell_after(const river_cell *cell, const river_faces *f,
                            double seconds, double metres)
{
    double ratio = seconds / metres, slow, through;
    river_cell after;

    after.depth = cell->depth - ratio * ((f->east.water - f->west.water) +
                                         (f->south.water - f->north.water));
    if (!(after.depth > RIVER_WET)) {
        after.east = after.south = 0;
        return after;
    }
    after.east = cell->east - ratio * ((f->east.low - f->west.high) +
                                       (f->south.across - f->north.across));
    after.south = cell->south - ratio * ((f->east.across - f->west.across) +
                                         (f->south.low - f->north.high));
    /* Friction slows down by g |hu| / (C h)^2 a second; taken at the end of
     * the step it never turns the flow round. */
    through = sqrt(after.east * after.east + after.south * after.south);
    slow = 1 + seconds * RIVER_GRAVITY * through /
                   (RIVER_CHEZY * RIVER_CHEZY * after.depth * after.depth);
    after.east /= slow;
    after.south /= slow;
    return after;
}

double river_cell_seconds(const river_cell *cell, double metres)
{
    double fastest, speed;

    if (!(cell->depth > RIVER_WET))
        return RIVER_LONGEST;
    fastest = larger(fabs(cell->east), fabs(cell->south)) / cell->depth;
    speed = fastest + sqrt(RIVER_GRAVITY * cell->depth);
    return smaller(RIVER_LONGEST, 0.9 / 4 * metres / speed);
}
