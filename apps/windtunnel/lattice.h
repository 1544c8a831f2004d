/* lattice.h - a wind tunnel as a lattice gas on a hexagonal grid.
 *
 * Particles of one mass and one speed live on the sites of a hexagonal grid;
 * each of a site's six directions holds one particle or none, and so does its
 * state of rest. A step lets the particles of each site collide, and then
 * moves each to the next site in its direction. In the mean that obeys the
 * Navier-Stokes equations (Frisch, Hasslacher, Pomeau: Lattice-gas automata
 * for the Navier-Stokes equation, Phys. Rev. Lett. 56, 1986). The collisions
 * are those of FHP-III: see collide.c.
 *
 * The tunnel is eight bit matrices, 64 sites a word: the six directions, rest
 * and obstacle. Row 0 is the top. Odd rows stand half a site to the east of
 * even ones. East and west are joined; the top and bottom rows are walls on
 * which particles glide; an obstacle throws them back. A fan at the west end
 * turns particles to the east. Nothing adds or removes a particle.
 *
 * Slices. A slice holds some rows of the tunnel. For one step, each slice
 *
 *     lattice_collide(slice)
 *     gives lattice_border_get(ABOVE) to the slice above,
 *           lattice_border_get(BELOW) to the slice below
 *     lattice_border_set(ABOVE, BELOW), with what those gave
 *     lattice_propagate(slice)
 *
 * All that is random comes from a hash of the seed and the place in space and
 * time, so the result is the same, bit for bit, however the tunnel is cut.
 *
 * Threads:   one at a time for one slice.
 * Ownership: create gives the slice to you; destroy takes it back. */
#ifndef WINDTUNNEL_LATTICE_H
#define WINDTUNNEL_LATTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum lattice_plane {
    LATTICE_EAST,
    LATTICE_NORTH_EAST,
    LATTICE_NORTH_WEST,
    LATTICE_WEST,
    LATTICE_SOUTH_WEST,
    LATTICE_SOUTH_EAST,
    LATTICE_REST,
    LATTICE_OBSTACLE,
    LATTICE_PLANES,
} lattice_plane;

typedef enum lattice_obstacle {
    LATTICE_EMPTY, /* nothing but the walls */
    LATTICE_PLATE, /* across the wind */
    LATTICE_DISC,
    LATTICE_OBSTACLES,
} lattice_obstacle;

#define LATTICE_SIDE_MAX 65536u      /* most sites in a row, and most rows */
#define LATTICE_ROW_HEIGHT 0.8660254 /* distance of two rows, in sites */
#define LATTICE_CELL 8u              /* sites of a row that share a sum */

/* The whole tunnel: the same in all of its slices. */
typedef struct lattice_tunnel {
    uint32_t width;  /* sites in a row, a multiple of 64 */
    uint32_t height; /* rows, with both walls: at least 3 */
    uint64_t seed;
    lattice_obstacle obstacle;
} lattice_tunnel;

typedef struct lattice_slice lattice_slice;

/* What is wrong with it, as a sentence; NULL when nothing is. */
const char *lattice_tunnel_problem(const lattice_tunnel *tunnel);

/* "empty", "plate", "disc". */
const char *lattice_obstacle_name(lattice_obstacle obstacle);

/* A slice of rows first ... first + rows - 1, as they are before step 0: air
 * at rest in no place, blowing to the east. NULL when memory is out. */
lattice_slice *lattice_slice_create(const lattice_tunnel *tunnel,
                                    uint32_t first, uint32_t rows);
void lattice_slice_destroy(lattice_slice *slice);

const lattice_tunnel *lattice_slice_tunnel(const lattice_slice *slice);
uint32_t lattice_slice_first(const lattice_slice *slice);
uint32_t lattice_slice_rows(const lattice_slice *slice);
uint64_t lattice_slice_steps(const lattice_slice *slice); /* done so far */

/* The bits of one plane in row `row` of the tunnel, which the slice holds:
 * site x is bit x % 64 of word x / 64. Borrowed; may be changed between
 * steps. */
uint64_t *lattice_row(lattice_slice *slice, uint32_t row, lattice_plane plane);

/* All of the slice's bits: for each row from the top, its eight planes of
 * width / 64 words. Borrowed. */
const uint64_t *lattice_words(const lattice_slice *slice, size_t *count);

/* The particles that the slice holds. */
uint64_t lattice_particles(const lattice_slice *slice);

/* --- a step --- */

typedef enum lattice_side {
    LATTICE_ABOVE,
    LATTICE_BELOW,
} lattice_side;

/* Words of a border: the two planes of one row that leave on that side. */
size_t lattice_border_words(const lattice_tunnel *tunnel);

void lattice_collide(lattice_slice *slice);
void lattice_border_get(const lattice_slice *slice, lattice_side side,
                        uint64_t *border);
void lattice_border_set(lattice_slice *slice, lattice_side side,
                        const uint64_t *border);
void lattice_propagate(lattice_slice *slice);

/* --- the mean flow --- */

/* Sums over LATTICE_CELL sites of one row, and over the samples taken. */
typedef struct lattice_flow {
    int32_t particles;
    int32_t east;  /* momentum, in halves of a particle's */
    int32_t north; /* momentum, in LATTICE_ROW_HEIGHT of a particle's */
} lattice_flow;

/* Adds the present state to the sums. At most 1,000,000 times. */
void lattice_sample(lattice_slice *slice);
uint32_t lattice_samples(const lattice_slice *slice);

/* The width / LATTICE_CELL sums of a row that the slice holds. Borrowed. */
const lattice_flow *lattice_flow_row(const lattice_slice *slice, uint32_t row);

/* --- a slice as one tuple --- */

/* The bytes of the tuple for a slice of `rows` rows. */
size_t lattice_result_bytes(const lattice_tunnel *tunnel, uint32_t rows);
void lattice_result_pack(const lattice_slice *slice, void *tuple);
/* Puts the rows and sums of a tuple into `whole`, a slice that holds them.
 * Returns what is wrong with the tuple, as a sentence; NULL when nothing is.
 * Then `whole` has not changed. */
const char *lattice_result_unpack(lattice_slice *whole, const void *tuple,
                                  size_t bytes);

/* --- for the tests: the parts from which a step is made --- */

/* What random words are for. */
typedef enum lattice_stream {
    LATTICE_CHIRALITY,  /* which way a collision turns */
    LATTICE_FAN,        /* LATTICE_FAN_WORDS for each word of the lattice */
    LATTICE_START = 16, /* + 8 * plane + digit: the particles before step 0 */
} lattice_stream;
#define LATTICE_FAN_WORDS 6

/* 64 random bits for the 64 sites of a word. */
uint64_t lattice_random(uint64_t seed, uint32_t stream, uint64_t step,
                        uint32_t row, uint32_t word);

/* Collides the particles of one row that is no wall: `in` has eight planes of
 * `words` words, `out` gets seven, `chirality` has one bit for each site. */
void lattice_collide_row(const uint64_t *in, const uint64_t *chirality,
                         uint64_t *out, uint32_t words);

/* The words at the west end of each row, but those of the walls, in which the
 * fan turns. */
uint32_t lattice_fan_words(const lattice_tunnel *tunnel);

#endif
