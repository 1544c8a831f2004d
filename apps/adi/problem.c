/* problem.c - sizes, the material, the wave, and what is to become of it. */
#include "apps/adi/adi.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "pastset/status.h"

#define TIME 0.01 /* of all steps of a size: three quarters decay */
#define BLOCKS 8  /* of mixed material, along each axis */

static const int wave[3] = {1, 2, 3}; /* half waves along x, y, z */

typedef struct size {
    char name;
    uint32_t side, rounds;
} size;

static const size sizes[] = {
    {'S', 24, 20},   {'W', 64, 400},   {'A', 102, 600},
    {'B', 162, 600}, {'C', 200, 1000},
};

int adi_problem_make(adi_problem *out, const program_options *options)
{
    const adi_options *own = options->own;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        double lines = sizes[i].side + 1;
        if (sizes[i].name != options->size)
            continue;
        *out = (adi_problem){
            .side = sizes[i].side,
            .rounds = options->rounds ? options->rounds : sizes[i].rounds,
            .material = (adi_material)own->material,
            .seed = options->seed,
            .strips = own->strips,
            .dt = TIME / sizes[i].rounds,
        };
        out->ratio = out->dt * lines * lines / 2;
        if (out->strips <= out->side)
            return 0;
        return pastset_fail(PASTSET_EINVAL,
                            "--strips=%" PRIu32
                            ": the faces of size %c have %" PRIu32
                            " rows, and each strip needs at least one",
                            out->strips, options->size, out->side);
    }
    return pastset_fail(PASTSET_EINVAL,
                        "there is not a size '%c': the sizes are S, W, A, B, C",
                        options->size);
}

/* --- grids --- */

static uint64_t block_of(const adi_problem *p, int64_t i)
{
    return (uint64_t)(i + 1) * BLOCKS / (p->side + 2);
}

double adi_kappa(const adi_problem *p, int64_t i, int64_t j, int64_t k)
{
    uint64_t block =
        (block_of(p, k) * BLOCKS + block_of(p, j)) * BLOCKS + block_of(p, i);

    if (p->material == ADI_UNIFORM)
        return 1;
    return 0.1 +
           1.9 * program_fraction(program_mix(program_mix(p->seed) ^ block));
}

static double wave_along(const adi_problem *p, int axis, int64_t i)
{
    return sin(wave[axis] * M_PI * (double)(i + 1) / (p->side + 1));
}

double adi_start(const adi_problem *p, int64_t i, int64_t j, int64_t k)
{
    return wave_along(p, 0, i) * wave_along(p, 1, j) * wave_along(p, 2, k);
}

/* Along one axis the wave is an eigenvector of the second difference, with
 * the value -4 sin^2 (half waves * pi * h / 2). */
double adi_step_factor(const adi_problem *p)
{
    double sum = 0, product = 1;

    for (int axis = 0; axis < 3; axis++) {
        double s = sin(wave[axis] * M_PI / 2 / (p->side + 1));
        sum += 4 * p->ratio * s * s;
        product *= 1 + 4 * p->ratio * s * s;
    }
    return 1 - 2 * sum / product;
}

double adi_step_factor_exact(const adi_problem *p)
{
    double squares = 0;

    for (int axis = 0; axis < 3; axis++)
        squares += wave[axis] * wave[axis];
    return exp(-M_PI * M_PI * squares * p->dt);
}

uint64_t adi_cell_hash(const adi_problem *p, int64_t i, int64_t j, int64_t k,
                       double value)
{
    uint64_t cell =
        ((uint64_t)k * p->side + (uint64_t)j) * p->side + (uint64_t)i;
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return program_mix(program_mix(cell) ^ bits);
}

/* --- what is told --- */

/* In any material heat spreads, so that no cell gets above the highest or
 * below the lowest there was (1 and -1). In a uniform one the decay is known,
 * but for rounding: some 1e-15 in each step, and in the end other waves that
 * rounding has made, which decay more slowly. */
static int outcome_check(const adi_problem *p, const adi_outcome *o,
                         double decay, double decay_method)
{
    if (!(o->highest <= 1 && o->lowest >= -1))
        return pastset_fail(PASTSET_EAPP,
                            "cells range from %g to %g, although they began "
                            "between -1 and 1: this is a bug",
                            o->lowest, o->highest);
    if (p->material == ADI_UNIFORM &&
        !(fabs(decay - decay_method) <= 1e-10 * decay_method + 1e-20))
        return pastset_fail(
            PASTSET_EAPP,
            "%.17g of the wave is left, but %.17g should be: this is a bug",
            decay, decay_method);
    return 0;
}

int adi_report(const adi_problem *p, const adi_outcome *o, program_result *r)
{
    double decay = o->wave[0] / o->wave[1];
    double decay_method = pow(adi_step_factor(p), p->rounds);
    char checksum[17];

    snprintf(checksum, sizeof(checksum), "%016" PRIx64, o->checksum);
    program_count(r, "side", p->side);
    program_count(r, "rounds", p->rounds);
    program_text(r, "material",
                 p->material == ADI_UNIFORM ? "uniform" : "mixed");
    program_value(r, "highest", o->highest);
    program_value(r, "lowest", o->lowest);
    program_value(r, "heat", o->heat);
    program_value(r, "decay", decay);
    program_value(r, "decay_method", decay_method);
    program_value(r, "decay_exact", pow(adi_step_factor_exact(p), p->rounds));
    program_text(r, "checksum", checksum);
    return outcome_check(p, o, decay, decay_method);
}
