/* landscape.c - the bed of the river, and the water at first.
 *
 * A wide basin lies in the north. South of it a dam reaches from one side to
 * the other, with a gap; from there a narrow valley winds down to a plain at
 * the closed southern end. Hills of noise lie over all of it, less where the
 * valley is deep. The basin is full and everything else dry, so that at first
 * the strips in the north have all the work. */
#include "apps/river/river.h"

#include <inttypes.h>
#include <math.h>

#include "pastset/status.h"

#define DAM 0.93        /* where, in km from the north */
#define DAM_HALF 0.055  /* half its width at the foot, km */
#define DAM_HEIGHT 17.0 /* above the basin, m */
#define GAP_HALF 0.11   /* km */
#define LEVEL 67.0      /* of the reservoir, m */
#define VALLEY 46.0     /* depth of the valley below the hills, m */
#define HILLS 20.0      /* m */

/* The sizes. Steps grow with the cells' number a side, so that about the same
 * time is simulated: some 7 minutes. */
static const struct {
    char size;
    uint32_t columns, rows, steps;
} sizes[] = {
    {'S', 72, 96, 800},    {'W', 192, 256, 2200},  {'A', 384, 512, 4400},
    {'B', 576, 768, 6600}, {'C', 768, 1024, 8800},
};

int river_make(river *r, const program_options *options)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (sizes[i].size != options->size)
            continue;
        *r = (river){
            .columns = sizes[i].columns,
            .rows = sizes[i].rows,
            .steps = options->rounds ? options->rounds : sizes[i].steps,
            .metres = RIVER_WIDTH / sizes[i].columns,
            .seed = options->seed,
        };
        return 0;
    }
    return pastset_fail(PASTSET_EINVAL, "--size=%c: expected S, W, A, B or C",
                        options->size);
}

river river_coarse(const river *r)
{
    uint64_t steps = (uint64_t)r->steps * sizes[0].rows / r->rows;

    return (river){
        .columns = sizes[0].columns,
        .rows = sizes[0].rows,
        .steps = steps > 0 ? (uint32_t)steps : 1,
        .metres = RIVER_WIDTH / sizes[0].columns,
        .seed = r->seed,
    };
}

/* --- noise --- */

/* A number from -1 to 1 for each point with whole coordinates. */
static double noise_point(uint64_t seed, int64_t x, int64_t y)
{
    uint64_t bits =
        program_mix((uint64_t)y ^ program_mix((uint64_t)x ^ program_mix(seed)));

    return 2 * program_fraction(bits) - 1;
}

/* From 0 to 1, level at both ends. */
static double smooth(double t)
{
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * (3 - 2 * t);
}

/* Between the points: smooth. */
static double noise_at(uint64_t seed, double x, double y)
{
    double column = floor(x), row = floor(y);
    double across = smooth(x - column), down = smooth(y - row);
    int64_t i = (int64_t)column, j = (int64_t)row;
    double top = noise_point(seed, i, j) * (1 - across) +
                 noise_point(seed, i + 1, j) * across;
    double bottom = noise_point(seed, i, j + 1) * (1 - across) +
                    noise_point(seed, i + 1, j + 1) * across;

    return top * (1 - down) + bottom * down;
}

/* Hills of several sizes, each half as large as the one before; turned
 * against each other so that their grids do not show. */
static double hills(uint64_t seed, double x, double y)
{
    double height = 0, part = 0.5;

    x *= 1.7;
    y *= 1.7;
    for (uint64_t octave = 0; octave < 6; octave++) {
        double turned = 1.6 * x + 1.2 * y;
        height += part * noise_at(seed * 8 + octave, x, y);
        y = 1.6 * y - 1.2 * x;
        x = turned;
        part *= 0.45;
    }
    return height;
}

/* --- the bed --- */

/* A wave like a sine made of parabolas: period 2, from -1 to 1. */
static double wave(double t)
{
    double in_half = t - floor(t);
    double high = 4 * in_half * (1 - in_half);

    return floor(t / 2) * 2 == floor(t) ? high : -high;
}

/* The middle of the valley, km from the west. */
static double valley_middle(double y)
{
    return 1.5 + 0.42 * smooth((y - DAM) / 0.6) * wave((y - DAM) / 0.85);
}

/* Half of the valley's width where it is half as deep: a basin, a narrow
 * valley, a plain; km. */
static double valley_half(double y)
{
    double basin = 1 - smooth((y - 0.7) / 0.35);
    double plain = smooth((y - 2.9) / 0.8);

    return 0.20 + 1.05 * basin + 0.75 * plain;
}

/* 1 on the dam's crest, 0 beside it and in its gap. */
static double dam(double x, double y)
{
    double along = (y - DAM) / DAM_HALF, gap = (x - 1.5) / GAP_HALF;

    return smooth(2 - fabs(along) * 2) * smooth((fabs(gap) - 0.6) / 0.4);
}

double river_height(const river *r, double east, double south)
{
    double beside = (east - valley_middle(south)) / valley_half(south);
    double deep = 1 / (1 + beside * beside * beside * beside);
    double ground = 62 - 11 * south + 8 * smooth((south - 3.0) / 0.9);
    double flat = 0.12 + 0.88 * (1 - deep);

    return ground + VALLEY * (1 - deep) +
           HILLS * flat * hills(r->seed, east, south) +
           DAM_HEIGHT * deep * dam(east, south);
}

double river_bed(const river *r, uint32_t row, uint32_t column)
{
    return river_height(r, (column + 0.5) * r->metres / 1000,
                        (row + 0.5) * r->metres / 1000);
}

river_cell river_start(const river *r, uint32_t row, uint32_t column)
{
    river_cell cell = {.depth = 0};
    double bed = river_bed(r, row, column);

    if ((row + 0.5) * r->metres / 1000 < DAM && bed < LEVEL)
        cell.depth = LEVEL - bed;
    return cell;
}

int river_water_check(double start, double now, double *lost_max)
{
    double lost = fabs(now - start) / start;

    *lost_max = lost > *lost_max ? lost : *lost_max;
    if (lost <= RIVER_LOST_MAX)
        return 0;
    return pastset_fail(PASTSET_EAPP,
                        "there were %.17g m3 of water before the first step, "
                        "and now there are %.17g: this is a bug",
                        start, now);
}
