/* problem.c - sizes, equations, the first grid and the last. */
#include "apps/lu/lu.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "pastset/status.h"

#define DIFFUSION 0.1 /* nu */
#define DECAY 1.0     /* sigma */

static const double wind[3] = {1.0, 0.75, 0.5}; /* c, all upwards */

#define RELAXATION 1.2

typedef struct size {
    char name;
    uint32_t side, rounds;
    double error_max; /* that is left of it after these rounds */
} size;

static const size sizes[] = {
    {'S', 20, 100, 1e-5},   {'W', 64, 1000, 1e-5},  {'A', 102, 2500, 1e-5},
    {'B', 162, 4000, 1e-3}, {'C', 200, 6000, 1e-3},
};

static void equation_make(lu_problem *p)
{
    double h = 1.0 / (p->side + 1);

    p->east = p->south = p->above = DIFFUSION;
    p->west = DIFFUSION + wind[0] * h;
    p->north = DIFFUSION + wind[1] * h;
    p->below = DIFFUSION + wind[2] * h;
    p->centre = p->west + p->east + p->north + p->south + p->below + p->above +
                DECAY * h * h;
    p->pull = RELAXATION / p->centre;
    p->gain = p->pull * (2 - RELAXATION);
}

int lu_problem_make(lu_problem *out, const program_options *options)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (sizes[i].name != options->size)
            continue;
        *out = (lu_problem){
            .side = sizes[i].side,
            .rounds = options->rounds ? options->rounds : sizes[i].rounds,
            .seed = options->seed,
        };
        if (out->rounds == sizes[i].rounds)
            out->error_max = sizes[i].error_max;
        equation_make(out);
        return 0;
    }
    return pastset_fail(PASTSET_EINVAL,
                        "there is not a size '%c': the sizes are S, W, A, B, C",
                        options->size);
}

/* --- grids --- */

static double place(const lu_problem *p, int64_t i)
{
    return (double)(i + 1) / (p->side + 1);
}

double lu_known(const lu_problem *p, int64_t i, int64_t j, int64_t k)
{
    double x = place(p, i), y = place(p, j), z = place(p, k);

    return 64 * x * (1 - x) * y * (1 - y) * z * (1 - z) *
           (1 + x + 2 * y * y - z);
}

double lu_source(const lu_problem *p, int64_t i, int64_t j, int64_t k)
{
    return p->centre * lu_known(p, i, j, k) -
           p->west * lu_known(p, i - 1, j, k) -
           p->east * lu_known(p, i + 1, j, k) -
           p->north * lu_known(p, i, j - 1, k) -
           p->south * lu_known(p, i, j + 1, k) -
           p->below * lu_known(p, i, j, k - 1) -
           p->above * lu_known(p, i, j, k + 1);
}

static uint64_t cell_number(const lu_problem *p, int64_t i, int64_t j,
                            int64_t k)
{
    return ((uint64_t)k * p->side + (uint64_t)j) * p->side + (uint64_t)i;
}

double lu_start(const lu_problem *p, int64_t i, int64_t j, int64_t k)
{
    uint64_t random =
        program_mix(program_mix(p->seed) ^ cell_number(p, i, j, k));

    return 2 * program_fraction(random) - 1;
}

uint64_t lu_cell_hash(const lu_problem *p, int64_t i, int64_t j, int64_t k,
                      double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return program_mix(program_mix(cell_number(p, i, j, k)) ^ bits);
}

/* --- what is told --- */

static int outcome_check(const lu_problem *p, const lu_outcome *o)
{
    if (!isfinite(o->residual_max) || !isfinite(o->residual_sum))
        return pastset_fail(PASTSET_EAPP,
                            "the iteration has diverged: this is a bug");
    if (p->error_max > 0 && !(o->error_max < p->error_max))
        return pastset_fail(PASTSET_EAPP,
                            "after %" PRIu32
                            " rounds a cell is %g off the solution, but must "
                            "be less than %g off: this is a bug",
                            p->rounds, o->error_max, p->error_max);
    return 0;
}

int lu_report(const lu_problem *p, const lu_outcome *o, program_result *r)
{
    double cells = (double)p->side * p->side * p->side;
    char checksum[17];

    snprintf(checksum, sizeof(checksum), "%016" PRIx64, o->checksum);
    program_count(r, "side", p->side);
    program_count(r, "rounds", p->rounds);
    program_value(r, "residual_start", o->residual_start);
    program_value(r, "residual_max", o->residual_max);
    program_value(r, "residual_norm", sqrt(o->residual_sum / cells));
    program_value(r, "error_max", o->error_max);
    program_text(r, "checksum", checksum);
    return outcome_check(p, o);
}
