/* problem.c - the rows of the matrix. */
#include "apps/cg/sparse.h"

#include <inttypes.h>
#include <stdlib.h>

#include "pastset/status.h"

enum { ORDER = 1, WEIGHT, POTENTIAL, SIGN }; /* what random bits are for */

static uint64_t bits(const cg_problem *p, uint32_t use, uint32_t a, uint32_t b,
                     uint32_t c)
{
    uint64_t x = program_mix(p->seed ^ ((uint64_t)use << 56));

    x = program_mix(x ^ a);
    return program_mix(x ^ ((uint64_t)b << 32 | c));
}

/* --- pairs --- */

/* A permutation of the rows that can be undone: a Feistel network. The bits of
 * a number are two parts, and each step adds to one of them a function of the
 * other; the same steps backwards undo that. */
#define ORDER_STEPS 6

static uint32_t order_step(const cg_problem *p, uint32_t link, uint32_t step,
                           uint32_t place)
{
    uint32_t low = 1, part;

    while ((uint64_t)low * low < p->rows)
        low *= 2;
    if (step % 2 == 0) {
        part = place & (low - 1);
        return place ^ (low * ((uint32_t)bits(p, ORDER, link, step, part) &
                               (p->rows / low - 1)));
    }
    part = place / low;
    return place ^ ((uint32_t)bits(p, ORDER, link, step, part) & (low - 1));
}

/* Who stands beside this row in the order of link `link`. */
static uint32_t partner(const cg_problem *p, uint32_t link, uint32_t row)
{
    for (uint32_t step = 0; step < ORDER_STEPS; step++)
        row = order_step(p, link, step, row);
    row ^= 1;
    for (uint32_t step = ORDER_STEPS; step-- > 0;)
        row = order_step(p, link, step, row);
    return row;
}

/* --- rows --- */

double cg_potential(const cg_problem *p, uint32_t row)
{
    return 1 + program_fraction(bits(p, POTENTIAL, 0, 0, row));
}

static double weight(const cg_problem *p, uint32_t link, uint32_t i, uint32_t j)
{
    return 0.5 + program_fraction(
                     bits(p, WEIGHT, link, i < j ? i : j, i < j ? j : i));
}

static double sign(const cg_problem *p, uint32_t row)
{
    return bits(p, SIGN, 0, 0, row) & 1 ? 1 : -1;
}

/* By value where two have one column: so they are summed in the same order in
 * both rows of a pair, and the matrix is symmetric to the last bit. */
static int compare(const void *a, const void *b)
{
    const cg_entry *x = a, *y = b;

    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static uint32_t merge(cg_entry *entries, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 1; i < count; i++) {
        if (entries[i].column == entries[kept].column)
            entries[kept].value += entries[i].value;
        else
            entries[++kept] = entries[i];
    }
    return kept + 1;
}

uint32_t cg_row(const cg_problem *p, uint32_t row, cg_entry *entries)
{
    cg_entry *diagonal = &entries[p->links];

    *diagonal = (cg_entry){row, cg_potential(p, row)};
    for (uint32_t link = 0; link < p->links; link++) {
        uint32_t other = partner(p, link, row);
        double w = weight(p, link, row, other);
        entries[link] = (cg_entry){other, -sign(p, row) * sign(p, other) * w};
        diagonal->value += w;
    }
    qsort(entries, p->links + 1, sizeof(*entries), compare);
    return merge(entries, p->links + 1);
}

/* --- sizes and results --- */

int cg_problem_set(cg_problem *out, const program_options *options)
{
    static const struct {
        char size;
        uint32_t rows, links, rounds;
    } sizes[] = {
        {'S', 1 << 11, 16, 12}, {'W', 1 << 16, 32, 20},  {'A', 1 << 17, 64, 40},
        {'B', 1 << 18, 96, 60}, {'C', 1 << 19, 128, 60},
    };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        if (sizes[i].size != options->size)
            continue;
        *out = (cg_problem){
            .rows = sizes[i].rows,
            .links = sizes[i].links,
            .rounds = options->rounds ? options->rounds : sizes[i].rounds,
            .seed = options->seed,
        };
        return 0;
    }
    return pastset_fail(PASTSET_EINVAL, "size %c: expected S, W, A, B or C",
                        options->size);
}

int cg_outcome_add(cg_outcome *outcome, uint32_t round, double zeta,
                   double residual)
{
    double last = outcome->zeta, slack = 1e-9;

    /* Written so that what is no number is refused. */
    if (!(residual <= CG_RESIDUAL_MAX))
        return pastset_fail(
            PASTSET_EAPP,
            "round %" PRIu32
            ": the residual is %g after %d steps, but should be at most %g",
            round, residual, CG_STEPS, CG_RESIDUAL_MAX);
    if (!(zeta >= 1 - slack) || (round > 1 && !(zeta <= last + slack)))
        return pastset_fail(PASTSET_EAPP,
                            "round %" PRIu32
                            ": zeta is %.17g, but must be at least 1 and at "
                            "most %.17g, its value before",
                            round, zeta, last);
    outcome->zeta = zeta;
    if (round == 1)
        outcome->zeta_first = zeta;
    if (residual > outcome->residual)
        outcome->residual = residual;
    return 0;
}
