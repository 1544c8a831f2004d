/* flow.c - sums of particles and momentum, and a slice as one tuple.
 *
 * The sums of LATTICE_CELL sites are made in the bytes of a word: eight bits
 * of each plane are counted at once. Sums belong to a row, so it does not
 * matter where the tunnel is cut.
 *
 * The tuple of a slice, in native byte order:
 *
 *     40 bytes                    struct result_header
 *     rows x 8 x width/64 x 8     the planes of each row
 *     rows x width/8 x 12         the lattice_flow of each row */
#include "apps/windtunnel/lattice_internal.h"

#include <assert.h>
#include <string.h>

#define BYTES(value) (0x0101010101010101u * (value))

/* The number of ones in each byte. */
static inline uint64_t count_bytes(uint64_t x)
{
    x -= x >> 1 & BYTES(0x55);
    x = (x & BYTES(0x33)) + (x >> 2 & BYTES(0x33));
    return (x + (x >> 4)) & BYTES(0x0f);
}

/* The signed sums are kept above zero by 64, so that no byte borrows from
 * its neighbour: they are at least -32 and at most 32. */
#define ABOVE_ZERO 64

static void add_word(lattice_flow *flow, uint64_t particles, uint64_t east,
                     uint64_t north)
{
    for (uint32_t cell = 0; cell < 64 / LATTICE_CELL; cell++) {
        flow[cell].particles += particles >> 8 * cell & 0xff;
        flow[cell].east += (int32_t)(east >> 8 * cell & 0xff) - ABOVE_ZERO;
        flow[cell].north += (int32_t)(north >> 8 * cell & 0xff) - ABOVE_ZERO;
    }
}

static void row_sample(lattice_slice *slice, uint32_t row)
{
    const uint64_t *sites = lattice__sites(slice, row);
    lattice_flow *flow = slice->flow + (size_t)row * slice->cells;
    size_t words = slice->words;

    for (size_t w = 0; w < words; w++) {
        uint64_t n[LATTICE_MOVING], all = 0, east, north;
        for (uint32_t plane = 0; plane < LATTICE_MOVING; plane++) {
            n[plane] = count_bytes(sites[plane * words + w]);
            all += n[plane];
        }
        east = 2 * n[LATTICE_EAST] + n[LATTICE_NORTH_EAST] +
               n[LATTICE_SOUTH_EAST] - 2 * n[LATTICE_WEST] -
               n[LATTICE_NORTH_WEST] - n[LATTICE_SOUTH_WEST];
        north = n[LATTICE_NORTH_EAST] + n[LATTICE_NORTH_WEST] -
                n[LATTICE_SOUTH_EAST] - n[LATTICE_SOUTH_WEST];
        add_word(flow + w * (64 / LATTICE_CELL), all, BYTES(ABOVE_ZERO) + east,
                 BYTES(ABOVE_ZERO) + north);
    }
}

void lattice_sample(lattice_slice *slice)
{
    for (uint32_t row = 0; row < slice->rows; row++)
        row_sample(slice, row);
    slice->samples++;
}

uint32_t lattice_samples(const lattice_slice *slice)
{
    return slice->samples;
}

const lattice_flow *lattice_flow_row(const lattice_slice *slice, uint32_t row)
{
    return slice->flow + (size_t)(row - slice->first) * slice->cells;
}

/* --- a slice as one tuple --- */

struct result_header {
    uint32_t width, height;
    uint32_t first, rows;
    uint64_t seed;
    uint64_t steps;
    uint32_t obstacle;
    uint32_t samples;
};

static_assert(sizeof(struct result_header) == 40, "has no padding");

static size_t planes_bytes(const lattice_tunnel *tunnel, uint32_t rows)
{
    return (size_t)rows * LATTICE_PLANES * (tunnel->width / 64) *
           sizeof(uint64_t);
}

static size_t flow_bytes(const lattice_tunnel *tunnel, uint32_t rows)
{
    return (size_t)rows * (tunnel->width / LATTICE_CELL) * sizeof(lattice_flow);
}

size_t lattice_result_bytes(const lattice_tunnel *tunnel, uint32_t rows)
{
    return sizeof(struct result_header) + planes_bytes(tunnel, rows) +
           flow_bytes(tunnel, rows);
}

static struct result_header header_of(const lattice_slice *slice)
{
    const lattice_tunnel *tunnel = &slice->tunnel;

    return (struct result_header){
        .width = tunnel->width,
        .height = tunnel->height,
        .first = slice->first,
        .rows = slice->rows,
        .seed = tunnel->seed,
        .steps = slice->steps,
        .obstacle = tunnel->obstacle,
        .samples = slice->samples,
    };
}

void lattice_result_pack(const lattice_slice *slice, void *tuple)
{
    const struct result_header header = header_of(slice);
    size_t planes = planes_bytes(&slice->tunnel, slice->rows);
    char *to = tuple;

    memcpy(to, &header, sizeof(header));
    to += sizeof(header);
    memcpy(to, slice->sites, planes);
    memcpy(to + planes, slice->flow, flow_bytes(&slice->tunnel, slice->rows));
}

static const char *header_problem(const lattice_slice *whole,
                                  const struct result_header *header)
{
    const lattice_tunnel *tunnel = &whole->tunnel;

    if (header->width != tunnel->width || header->height != tunnel->height ||
        header->seed != tunnel->seed || header->obstacle != tunnel->obstacle)
        return "it belongs to another tunnel";
    if (header->rows == 0 || header->first < whole->first ||
        header->first - whole->first > whole->rows ||
        header->rows > whole->rows - (header->first - whole->first))
        return "its rows are not in the tunnel";
    return NULL;
}

const char *lattice_result_unpack(lattice_slice *whole, const void *tuple,
                                  size_t bytes)
{
    const char *from = tuple;
    const char *problem;
    struct result_header header;
    uint32_t row;

    if (bytes < sizeof(header))
        return "it is shorter than its header";
    memcpy(&header, from, sizeof(header));
    problem = header_problem(whole, &header);
    if (problem)
        return problem;
    if (bytes != lattice_result_bytes(&whole->tunnel, header.rows))
        return "its length does not fit its rows";
    row = header.first - whole->first;
    from += sizeof(header);
    memcpy(lattice__sites(whole, row), from,
           planes_bytes(&whole->tunnel, header.rows));
    from += planes_bytes(&whole->tunnel, header.rows);
    memcpy(whole->flow + (size_t)row * whole->cells, from,
           flow_bytes(&whole->tunnel, header.rows));
    whole->steps = header.steps;
    whole->samples = header.samples;
    return NULL;
}
