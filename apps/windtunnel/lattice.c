/* lattice.c - the wind tunnel: its slices, its random words, and its step.
 *
 * Directions, as seen on a picture of the tunnel; row numbers grow downwards:
 *
 *     even row, y = 2:   north-west (x-1, 1)    north-east (x, 1)
 *                           west (x-1, 2)          east (x+1, 2)
 *                        south-west (x-1, 3)    south-east (x, 3)
 *
 *     odd row, y = 1:    north-west (x, 0)      north-east (x+1, 0)
 *                           west (x-1, 1)          east (x+1, 1)
 *                        south-west (x, 2)      south-east (x+1, 2)
 *
 * So a particle that leaves an even row to the east keeps its x, and one that
 * leaves an odd row to the west does; the others move by one. */
#include "apps/windtunnel/lattice_internal.h"

#include <stdlib.h>
#include <string.h>

/* --- the tunnel --- */

const char *lattice_tunnel_problem(const lattice_tunnel *tunnel)
{
    if (tunnel->width == 0 || tunnel->width % 64 != 0)
        return "the width must be a multiple of 64";
    if (tunnel->height < 3)
        return "the height must be at least 3: two walls and a row of air";
    if (tunnel->width > LATTICE_SIDE_MAX || tunnel->height > LATTICE_SIDE_MAX)
        return "width and height must be at most 65536";
    if ((unsigned)tunnel->obstacle >= LATTICE_OBSTACLES)
        return "the obstacle must be empty, plate or disc";
    return NULL;
}

const char *lattice_obstacle_name(lattice_obstacle obstacle)
{
    static const char *const names[LATTICE_OBSTACLES] = {"empty", "plate",
                                                         "disc"};
    return (unsigned)obstacle < LATTICE_OBSTACLES ? names[obstacle] : "?";
}

static bool is_wall_row(const lattice_tunnel *tunnel, uint32_t row)
{
    return row == 0 || row == tunnel->height - 1;
}

/* The obstacle stands at a quarter of the tunnel's length, and a little below
 * the middle. The plate leans to the east below: behind one that stands
 * upright the wake begins to swing twice as late. */
static bool is_obstacle(const lattice_tunnel *tunnel, uint32_t row, uint32_t x)
{
    double size = tunnel->height * LATTICE_ROW_HEIGHT / 4;
    double right = x + row % 2 * 0.5 - tunnel->width / 4.0;
    double down = (row - tunnel->height / 2.0) * LATTICE_ROW_HEIGHT - size / 6;
    double behind = right - 0.35 * down; /* the front of the plate */

    switch (tunnel->obstacle) {
    case LATTICE_PLATE:
        return behind >= 0 && behind < size / 12 + 2 && down >= -size / 2 &&
               down <= size / 2;
    case LATTICE_DISC:
        return right * right + down * down <= size * size / 4;
    default:
        return false;
    }
}

/* --- random words --- */

/* A bijection in which each bit of the input reaches each of the output
 * (Stafford's variant 13 of the finalizer of MurmurHash3). */
static inline uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t row_key(uint64_t seed, uint32_t stream, uint64_t step,
                        uint32_t row)
{
    return mix(mix(mix(seed) + stream) + (step << 20) + row);
}

/* Weyl's sequence steps through the words of a row. */
static inline uint64_t word_random(uint64_t key, uint32_t word)
{
    return mix(key + (word + 1) * 0x9e3779b97f4a7c15u);
}

uint64_t lattice_random(uint64_t seed, uint32_t stream, uint64_t step,
                        uint32_t row, uint32_t word)
{
    return word_random(row_key(seed, stream, step, row), word);
}

/* --- before the first step --- */

/* Of 256 sites, so many have a particle in this plane: 20 percent each, and
 * that multiplied with 1 + 7/3 (direction . wind) for a wind of a quarter. */
static const uint8_t start_density[LATTICE_MOVING] = {81, 66, 36, 21,
                                                      36, 66, 51};

/* A word in which each bit is set with a probability of density / 256: one
 * random word decides for each digit of that fraction, the last one first. */
static uint64_t start_word(const lattice_tunnel *tunnel, uint32_t plane,
                           uint32_t row, uint32_t word)
{
    uint64_t bits = 0;

    for (uint32_t digit = 0; digit < 8; digit++) {
        uint64_t random = lattice_random(
            tunnel->seed, LATTICE_START + 8 * plane + digit, 0, row, word);
        if (start_density[plane] >> digit & 1)
            bits |= random;
        else
            bits &= random;
    }
    return bits;
}

static uint64_t obstacle_word(const lattice_tunnel *tunnel, uint32_t row,
                              uint32_t word)
{
    uint64_t bits = 0;

    if (is_wall_row(tunnel, row))
        return UINT64_MAX;
    for (uint32_t bit = 0; bit < 64; bit++)
        bits |= (uint64_t)is_obstacle(tunnel, row, word * 64 + bit) << bit;
    return bits;
}

static void row_start(lattice_slice *slice, uint32_t row)
{
    const lattice_tunnel *tunnel = &slice->tunnel;
    uint64_t *sites = lattice__sites(slice, row);

    for (uint32_t w = 0; w < slice->words; w++) {
        uint64_t obstacle = obstacle_word(tunnel, slice->first + row, w);
        for (uint32_t plane = 0; plane < LATTICE_MOVING; plane++)
            sites[plane * slice->words + w] =
                start_word(tunnel, plane, slice->first + row, w) & ~obstacle;
        sites[LATTICE_OBSTACLE * slice->words + w] = obstacle;
    }
}

lattice_slice *lattice_slice_create(const lattice_tunnel *tunnel,
                                    uint32_t first, uint32_t rows)
{
    lattice_slice *slice = calloc(1, sizeof(*slice));
    size_t words = tunnel->width / 64;

    if (!slice)
        return NULL;
    slice->tunnel = *tunnel;
    slice->first = first;
    slice->rows = rows;
    slice->words = (uint32_t)words;
    slice->cells = tunnel->width / LATTICE_CELL;
    slice->sites = calloc(rows * words, LATTICE_PLANES * sizeof(uint64_t));
    slice->collided =
        calloc((rows + 2) * words, LATTICE_MOVING * sizeof(uint64_t));
    slice->chirality = calloc(words, sizeof(uint64_t));
    slice->flow = calloc((size_t)rows * slice->cells, sizeof(*slice->flow));
    if (!slice->sites || !slice->collided || !slice->chirality ||
        !slice->flow) {
        lattice_slice_destroy(slice);
        return NULL;
    }
    for (uint32_t row = 0; row < rows; row++)
        row_start(slice, row);
    return slice;
}

void lattice_slice_destroy(lattice_slice *slice)
{
    if (!slice)
        return;
    free(slice->sites);
    free(slice->collided);
    free(slice->chirality);
    free(slice->flow);
    free(slice);
}

const lattice_tunnel *lattice_slice_tunnel(const lattice_slice *slice)
{
    return &slice->tunnel;
}

uint32_t lattice_slice_first(const lattice_slice *slice)
{
    return slice->first;
}

uint32_t lattice_slice_rows(const lattice_slice *slice)
{
    return slice->rows;
}

uint64_t lattice_slice_steps(const lattice_slice *slice)
{
    return slice->steps;
}

uint64_t *lattice_row(lattice_slice *slice, uint32_t row, lattice_plane plane)
{
    return lattice__sites(slice, row - slice->first) + plane * slice->words;
}

const uint64_t *lattice_words(const lattice_slice *slice, size_t *count)
{
    *count = (size_t)slice->rows * LATTICE_PLANES * slice->words;
    return slice->sites;
}

uint64_t lattice_particles(const lattice_slice *slice)
{
    uint64_t count = 0;

    for (uint32_t row = 0; row < slice->rows; row++) {
        const uint64_t *sites = lattice__sites(slice, row);
        for (size_t w = 0; w < (size_t)LATTICE_MOVING * slice->words; w++)
            count += (uint64_t)__builtin_popcountll(sites[w]);
    }
    return count;
}

/* --- collide --- */

static void row_chirality(lattice_slice *slice, uint32_t row)
{
    uint64_t key = row_key(slice->tunnel.seed, LATTICE_CHIRALITY, slice->steps,
                           slice->first + row);

    for (uint32_t w = 0; w < slice->words; w++)
        slice->chirality[w] = word_random(key, w);
}

/* A wall's row: north becomes south, and what goes east goes on to the east,
 * so that the walls do not slow the wind. */
static void row_glide(const uint64_t *in, uint64_t *out, size_t words)
{
    static const lattice_plane from[LATTICE_MOVING] = {
        LATTICE_EAST, LATTICE_SOUTH_EAST, LATTICE_SOUTH_WEST,
        LATTICE_WEST, LATTICE_NORTH_WEST, LATTICE_NORTH_EAST,
        LATTICE_REST,
    };

    for (uint32_t plane = 0; plane < LATTICE_MOVING; plane++)
        memcpy(out + plane * words, in + from[plane] * words,
               words * sizeof(*out));
}

/* At the sites of `which`, moves what is in `from` alone to `to`. */
static void turn(uint64_t *to, uint64_t *from, uint64_t which)
{
    uint64_t moved = *from & ~*to & which;

    *to ^= moved;
    *from ^= moved;
}

static void swap(uint64_t *a, uint64_t *b, uint64_t which)
{
    uint64_t differ = (*a ^ *b) & which;

    *a ^= differ;
    *b ^= differ;
}

/* The fan works on a quarter of the sites of a word at each step. There it
 * blows to the east, but at one of eight to the west: so the wind that it
 * makes has its own speed, and neither grows nor depends on what comes back
 * around the tunnel. Being a honeycomb too, it takes the swirls out: where a
 * particle moves north, one in two is turned south, and so on. */
static void fan_word(lattice_slice *slice, uint32_t row, uint32_t w,
                     uint64_t key)
{
    uint64_t *out = lattice__collided(slice, row) + w;
    size_t words = slice->words;
    uint64_t free_sites =
        ~lattice__sites(slice, row)[LATTICE_OBSTACLE * words + w];
    uint64_t random[LATTICE_FAN_WORDS], back, on;

    for (uint32_t i = 0; i < LATTICE_FAN_WORDS; i++)
        random[i] = word_random(key, w * LATTICE_FAN_WORDS + i);
    on = random[0] & random[1] & free_sites;
    back = random[2] & random[3] & random[4];
    turn(out + LATTICE_EAST * words, out + LATTICE_WEST * words, on & ~back);
    turn(out + LATTICE_WEST * words, out + LATTICE_EAST * words, on & back);
    swap(out + LATTICE_NORTH_EAST * words, out + LATTICE_SOUTH_EAST * words,
         on & random[5]);
    swap(out + LATTICE_NORTH_WEST * words, out + LATTICE_SOUTH_WEST * words,
         on & random[5]);
}

static void row_fan(lattice_slice *slice, uint32_t row)
{
    uint64_t key = row_key(slice->tunnel.seed, LATTICE_FAN, slice->steps,
                           slice->first + row);
    uint32_t words = lattice_fan_words(&slice->tunnel);

    for (uint32_t w = 0; w < words; w++)
        fan_word(slice, row, w, key);
}

uint32_t lattice_fan_words(const lattice_tunnel *tunnel)
{
    return (tunnel->width / 64 + 15) / 16;
}

void lattice_collide(lattice_slice *slice)
{
    for (uint32_t row = 0; row < slice->rows; row++) {
        const uint64_t *in = lattice__sites(slice, row);
        uint64_t *out = lattice__collided(slice, row);

        if (is_wall_row(&slice->tunnel, slice->first + row)) {
            row_glide(in, out, slice->words);
            continue;
        }
        row_chirality(slice, row);
        lattice_collide_row(in, slice->chirality, out, slice->words);
        row_fan(slice, row);
    }
}

/* --- borders --- */

size_t lattice_border_words(const lattice_tunnel *tunnel)
{
    return 2 * (size_t)(tunnel->width / 64);
}

/* The two planes of a border stand side by side: north-east and north-west,
 * or south-west and south-east. */
void lattice_border_get(const lattice_slice *slice, lattice_side side,
                        uint64_t *border)
{
    bool above = side == LATTICE_ABOVE;
    const uint64_t *row =
        lattice__collided(slice, above ? 0 : (int64_t)slice->rows - 1);
    size_t plane = above ? LATTICE_NORTH_EAST : LATTICE_SOUTH_WEST;

    memcpy(border, row + plane * slice->words,
           lattice_border_words(&slice->tunnel) * sizeof(*border));
}

void lattice_border_set(lattice_slice *slice, lattice_side side,
                        const uint64_t *border)
{
    bool above = side == LATTICE_ABOVE;
    uint64_t *row = lattice__collided(slice, above ? -1 : (int64_t)slice->rows);
    size_t plane = above ? LATTICE_SOUTH_WEST : LATTICE_NORTH_EAST;

    memcpy(row + plane * slice->words, border,
           lattice_border_words(&slice->tunnel) * sizeof(*border));
}

/* --- propagate --- */

static void shift_east(uint64_t *restrict to, const uint64_t *restrict from,
                       size_t words)
{
    to[0] = from[0] << 1 | from[words - 1] >> 63;
    for (size_t w = 1; w < words; w++)
        to[w] = from[w] << 1 | from[w - 1] >> 63;
}

static void shift_west(uint64_t *restrict to, const uint64_t *restrict from,
                       size_t words)
{
    for (size_t w = 0; w + 1 < words; w++)
        to[w] = from[w] >> 1 | from[w + 1] << 63;
    to[words - 1] = from[words - 1] >> 1 | from[0] << 63;
}

/* Moves the particles of row `from` of the tunnel that go to the next row:
 * `east` and `west` are its planes, in `to` they arrive. */
static void leave_row(uint64_t *to_east, uint64_t *to_west,
                      const uint64_t *east, const uint64_t *west, uint32_t from,
                      size_t words)
{
    if (from % 2 == 0) {
        memcpy(to_east, east, words * sizeof(*to_east));
        shift_west(to_west, west, words);
    } else {
        shift_east(to_east, east, words);
        memcpy(to_west, west, words * sizeof(*to_west));
    }
}

static void row_propagate(lattice_slice *slice, uint32_t row)
{
    size_t n = slice->words;
    uint64_t *to = lattice__sites(slice, row);
    const uint64_t *here = lattice__collided(slice, row);
    const uint64_t *above = lattice__collided(slice, (int64_t)row - 1);
    const uint64_t *below = lattice__collided(slice, (int64_t)row + 1);

    /* Of the row number above, only whether it is odd counts: no care for
     * the row above the first. */
    shift_east(to + LATTICE_EAST * n, here + LATTICE_EAST * n, n);
    shift_west(to + LATTICE_WEST * n, here + LATTICE_WEST * n, n);
    leave_row(to + LATTICE_NORTH_EAST * n, to + LATTICE_NORTH_WEST * n,
              below + LATTICE_NORTH_EAST * n, below + LATTICE_NORTH_WEST * n,
              slice->first + row + 1, n);
    leave_row(to + LATTICE_SOUTH_EAST * n, to + LATTICE_SOUTH_WEST * n,
              above + LATTICE_SOUTH_EAST * n, above + LATTICE_SOUTH_WEST * n,
              slice->first + row + 1, n);
    memcpy(to + LATTICE_REST * n, here + LATTICE_REST * n, n * sizeof(*to));
}

void lattice_propagate(lattice_slice *slice)
{
    for (uint32_t row = 0; row < slice->rows; row++)
        row_propagate(slice, row);
    slice->steps++;
}
