/* problem.c - charges, weights and sizes. */
#include "apps/mg/grid.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "pastset/status.h"

/* Those of the NAS parallel benchmarks. The first is exact for polynomials of
 * the third degree; each sums to zero where a constant must not count. */
const double mg_poisson[4] = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
const double mg_smoother[4] = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};
const double mg_restrict[4] = {1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16};

static bool taken(const mg_charge *charges, int count, const mg_charge *c)
{
    for (int i = 0; i < count; i++) {
        if (charges[i].x == c->x && charges[i].y == c->y &&
            charges[i].z == c->z)
            return true;
    }
    return false;
}

void mg_charges(const mg_problem *p, mg_charge charges[MG_CHARGES])
{
    program_random random = {program_mix(p->seed)};
    uint32_t mask = mg_side(p->levels) - 1;
    int count = 0;

    while (count < MG_CHARGES) {
        uint64_t bits = program_random_bits(&random);
        mg_charge c = {
            .x = (uint32_t)bits & mask,
            .y = (uint32_t)(bits >> 20) & mask,
            .z = (uint32_t)(bits >> 40) & mask,
            .value = count < MG_CHARGES / 2 ? 1 : -1,
        };
        if (!taken(charges, count, &c))
            charges[count++] = c;
    }
}

uint64_t mg_mix(uint64_t place, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return program_mix(bits ^ program_mix(place));
}

int mg_problem_set(mg_problem *out, const program_options *options)
{
    static const struct {
        char size;
        uint32_t levels, rounds;
    } sizes[] = {
        {'S', 5, 4}, {'W', 7, 20}, {'A', 8, 20}, {'B', 9, 10}, {'C', 9, 30},
    };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        if (sizes[i].size != options->size)
            continue;
        *out = (mg_problem){
            .levels = sizes[i].levels,
            .rounds = options->rounds ? options->rounds : sizes[i].rounds,
            .seed = options->seed,
        };
        return 0;
    }
    return pastset_fail(PASTSET_EINVAL, "size %c: expected S, W, A, B or C",
                        options->size);
}

int mg_outcome_add(mg_outcome *outcome, uint32_t round, double norm)
{
    double last = outcome->norm;

    if (round == 0) {
        outcome->norm_first = outcome->norm = norm;
        return 0;
    }
    /* Written so that what is no number is refused. */
    if (!(norm <= last / 2) && !(norm <= outcome->norm_first * 1e-12))
        return pastset_fail(PASTSET_EAPP,
                            "cycle %" PRIu32
                            ": the residual is %g after %g: each cycle should "
                            "at least halve it",
                            round, norm, last);
    outcome->norm = norm;
    return 0;
}
