/* made_series.c - see made_series.h. */
#include "tests/predict/made_series.h"

#include <math.h>

double made_uniform(made_random *r)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return ((double)(r->state * UINT64_C(2685821657736338717) >> 11) + 0.5) *
           0x1p-53;
}

double made_normal(made_random *r)
{
    return sqrt(-2 * log(made_uniform(r))) * cos(2 * M_PI * made_uniform(r));
}

typedef struct making {
    made_random random;
    double level;
    size_t number, mode;
} making;

static double white(making *m)
{
    return 0.5 + 0.1 * made_normal(&m->random);
}

static double walk(making *m)
{
    return m->level += 0.02 * made_normal(&m->random);
}

static double related(making *m)
{
    return m->level = 0.9 * m->level + 0.1 * made_normal(&m->random);
}

static double hardly_related(making *m)
{
    return m->level = 0.5 * m->level + 0.1 * made_normal(&m->random);
}

/* Free nearly all of the time. */
static double spiky(making *m)
{
    double dip =
        made_uniform(&m->random) < 0.05 ? 0.6 * made_uniform(&m->random) : 0;

    return 0.9 + 0.01 * made_normal(&m->random) - dip;
}

static double levels(making *m)
{
    if (made_uniform(&m->random) < 0.01)
        m->level = made_uniform(&m->random);
    return m->level + 0.03 * made_normal(&m->random);
}

/* Those of 002, figure 3. */
static double modes(making *m)
{
    static const double around[] = {0.94, 0.49, 0.33};

    if (made_uniform(&m->random) < 0.03)
        m->mode = (size_t)(3 * made_uniform(&m->random));
    return around[m->mode] + 0.03 * made_normal(&m->random);
}

static double daily(making *m)
{
    return 0.5 + 0.3 * sin((double)m->number / 200) +
           0.05 * made_normal(&m->random);
}

/* The share beside others, whose number is averaged as kernels do. */
static double load_average(making *m)
{
    double running =
        made_uniform(&m->random) < 0.3 ? 2 * made_uniform(&m->random) : 0;

    m->level += 0.08 * (running - m->level);
    return 1 / (1 + m->level);
}

static double saw(making *m)
{
    return (double)(m->number % 40) / 40 + 0.02 * made_normal(&m->random);
}

static double heavy_tails(making *m)
{
    return 0.5 + 0.05 * tan(M_PI * (made_uniform(&m->random) - 0.5) * 0.95);
}

static const struct {
    const char *name;
    double (*next)(making *m);
} kinds[] = {{"white", white},
             {"walk", walk},
             {"related", related},
             {"hardly related", hardly_related},
             {"spiky", spiky},
             {"levels", levels},
             {"modes", modes},
             {"daily", daily},
             {"load average", load_average},
             {"saw", saw},
             {"heavy tails", heavy_tails}};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

const char *made_series_name(size_t kind)
{
    return kind < KINDS ? kinds[kind].name : NULL;
}

void made_series(double *out, size_t count, size_t kind, uint64_t seed)
{
    making m = {.random = {seed}};

    for (int i = 0; i < 16; i++) /* small seeds are alike at first */
        (void)made_uniform(&m.random);
    for (; m.number < count; m.number++)
        out[m.number] = kinds[kind].next(&m);
}
