/* diff_permute.c - how likely the differences between the sides are when
 * nothing has changed: the largest |t| of all items, over permutations of the
 * units.
 *
 * All values of an item are drawn in and centred once, so that of a permutation
 * only the sum of one side has to be made: with n values whose sum is 0 and
 * whose squares' sum is Q, and the sum S of the a values on the side,
 *
 *     difference of the means = S / a + S / b
 *     squares within the sides = Q - S^2 / a - S^2 / b
 *
 * Both sides of a permutation are as large as those of the runs. The first
 * permutation is what was observed. */
#include "scopes/compare/diff_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

#define PERMUTATIONS 20000
#define DEVIATIONS 3.0
#define MAD_DEVIATIONS 1.4826 /* of a normal distribution */
/* A standard deviation between runs of less than a hundredth of a per cent is
 * none that a counter and a clock could show. */
#define LEAST_DEVIATION 1e-4

typedef struct tested {
    scopes__diff_result *result;
    double squares; /* Q */
    double least;   /* variance: not below that */
} tested;

typedef struct permuting {
    const scopes_diff *diff;
    tested *tested;
    size_t count;
    size_t a, n;    /* units of the base, and of both sides */
    size_t *order;  /* of units; the first `a` are the base */
    double *maxima; /* by permutation */
    double *room;   /* n and a * b values */
    size_t maximum_count;
    uint64_t random;
} permuting;

/* --- the values --- */

/* Runs of a side that is small are far from the median because they are of that
 * side. So they are drawn in only where either side has a quarter of all. */
static bool is_balanced(const permuting *p)
{
    size_t b = p->n - p->a;

    return 4 * (p->a < b ? p->a : b) >= p->n;
}

static void draw_in(permuting *p, const double *values, double *out)
{
    size_t n = p->n;
    double median, limit, mean = 0;

    memcpy(p->room, values, n * sizeof(*values));
    scopes__diff_sort(p->room, n);
    median = scopes__diff_median(p->room, n);
    for (size_t i = 0; i < n; i++)
        p->room[i] = fabs(values[i] - median);
    scopes__diff_sort(p->room, n);
    limit = scopes__diff_median(p->room, n) * MAD_DEVIATIONS * DEVIATIONS;
    for (size_t i = 0; i < n; i++) {
        out[i] = values[i] - median;
        if (limit > 0 && is_balanced(p))
            out[i] = fmax(-limit, fmin(limit, out[i]));
        mean += out[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        out[i] -= mean;
}

/* Hodges and Lehmann's estimate. */
static double difference(permuting *p, const double *values)
{
    size_t b = p->n - p->a, count = 0;

    for (size_t i = 0; i < p->a; i++)
        for (size_t k = 0; k < b; k++)
            p->room[count++] = values[p->a + k] - values[i];
    scopes__diff_sort(p->room, count);
    return scopes__diff_median(p->room, count);
}

static double average(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count ? sum / (double)count : 0;
}

/* What one sample takes in the base: in the median of its runs, as one that was
 * disturbed says nothing of the others. */
static double level_of(permuting *p, const scopes__diff_item *item,
                       scopes__diff_statistic statistic)
{
    scopes__diff_statistic own =
        statistic == SCOPES__RELATIVE ? SCOPES__TYPICAL : statistic;
    double level;

    memcpy(p->room, item->results[own].values, p->a * sizeof(*p->room));
    scopes__diff_sort(p->room, p->a);
    level = scopes__diff_median(p->room, p->a);
    if (own == SCOPES__TYPICAL && item->reference)
        level += average(item->reference, item->common_count);
    return item->linear ? level : exp(level);
}

/* Of all values: of items that are linear, by what a sample takes at all. */
static double least_variance(const scopes__diff_item *item,
                             const scopes__diff_result *r)
{
    double least = LEAST_DEVIATION * (item->linear ? fmax(r->level, 1) : 1);

    return least * least;
}

static void add_item(permuting *p, scopes__diff_item *item)
{
    for (unsigned s = 0; s < SCOPES__STATISTICS; s++) {
        scopes__diff_result *r = &item->results[s];
        tested *t = &p->tested[p->count];
        if (!r->values)
            continue;
        r->level = level_of(p, item, s);
        r->change = difference(p, r->values);
        draw_in(p, r->values, r->drawn);
        *t = (tested){.result = r, .least = least_variance(item, r)};
        for (size_t i = 0; i < p->n; i++)
            t->squares += r->drawn[i] * r->drawn[i];
        p->count++;
    }
}

/* --- t --- */

/* Of the first `a` units in this order. `*error`: of the difference. */
static double student(const permuting *p, const tested *t, double *error)
{
    double a = (double)p->a, b = (double)(p->n - p->a), sum = 0, within;

    for (size_t i = 0; i < p->a; i++)
        sum += t->result->drawn[p->order[i]];
    within = (t->squares - sum * sum / a - sum * sum / b) / (a + b - 2);
    *error = sqrt(fmax(within, t->least) * (1 / a + 1 / b));
    return fabs(sum / a + sum / b) / *error;
}

static void add_maximum(permuting *p)
{
    double most = 0, error;

    for (size_t i = 0; i < p->count; i++)
        most = fmax(most, student(p, &p->tested[i], &error));
    p->maxima[p->maximum_count++] = most;
}

/* --- permutations --- */

static size_t random_below(permuting *p, size_t limit)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return (size_t)((p->random >> 11) % limit);
}

/* In how many ways, if these are not too many; else 0. */
static size_t ways(size_t n, size_t a)
{
    double count = 1;

    for (size_t i = 1; i <= a; i++)
        count = count * (double)(n - a + i) / (double)i;
    return count <= PERMUTATIONS ? (size_t)(count + 0.5) : 0;
}

static void permute_randomly(permuting *p)
{
    for (size_t k = 1; k < PERMUTATIONS; k++) {
        for (size_t i = 0; i < p->a; i++) {
            size_t other = i + random_below(p, p->n - i);
            size_t unit = p->order[i];
            p->order[i] = p->order[other];
            p->order[other] = unit;
        }
        add_maximum(p);
    }
}

/* The next a of n numbers, in ascending order. False: that was the last. */
static bool next_choice(size_t *chosen, size_t a, size_t n)
{
    for (size_t i = a; i-- > 0;) {
        if (chosen[i] == n - a + i)
            continue;
        chosen[i]++;
        for (size_t k = i + 1; k < a; k++)
            chosen[k] = chosen[k - 1] + 1;
        return true;
    }
    return false;
}

static void permute_all(permuting *p)
{
    while (next_choice(p->order, p->a, p->n))
        add_maximum(p);
}

/* --- p --- */

static size_t not_below(const permuting *p, double t)
{
    size_t low = 0, high = p->maximum_count;

    /* What is the same number computed in another order is not below. */
    t *= 1 - 1e-9;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->maxima[middle] < t)
            low = middle + 1;
        else
            high = middle;
    }
    return p->maximum_count - low;
}

static double critical_value(const permuting *p)
{
    double at = ceil(p->diff->options.confidence * (double)p->maximum_count);
    size_t place = at < 1 ? 1 : (size_t)at;

    return p
        ->maxima[place > p->maximum_count ? p->maximum_count - 1 : place - 1];
}

static void observe(permuting *p)
{
    for (size_t i = 0; i < p->n; i++)
        p->order[i] = i;
    for (size_t i = 0; i < p->count; i++) {
        scopes__diff_result *r = p->tested[i].result;
        r->t = student(p, &p->tested[i], &r->error);
    }
    add_maximum(p);
}

static int take_memory(permuting *p)
{
    size_t items = HASH_COUNT(p->diff->items);
    size_t pairs = p->a * (p->n - p->a);

    p->tested = calloc(items * SCOPES__STATISTICS + 1, sizeof(*p->tested));
    p->order = calloc(p->n, sizeof(*p->order));
    p->maxima = calloc(PERMUTATIONS + 1, sizeof(*p->maxima));
    p->room = calloc(p->n + pairs, sizeof(*p->room));
    return p->tested && p->order && p->maxima && p->room
               ? 0
               : pastset_no_memory("for comparing runs");
}

int scopes__diff_permute(scopes_diff *diff)
{
    permuting p = {.diff = diff,
                   .a = diff->base_units,
                   .n = diff->unit_count,
                   .random = UINT64_C(0x9e3779b97f4a7c15)};
    int err = take_memory(&p);

    if (!err) {
        for (scopes__diff_item *i = diff->items; i; i = i->hh.next)
            add_item(&p, i);
        observe(&p);
        if (ways(p.n, p.a))
            permute_all(&p);
        else
            permute_randomly(&p);
        scopes__diff_sort(p.maxima, p.maximum_count);
        diff->critical = critical_value(&p);
        for (size_t i = 0; i < p.count; i++)
            p.tested[i].result->p =
                (double)not_below(&p, p.tested[i].result->t) /
                (double)p.maximum_count;
    }
    free(p.tested);
    free(p.order);
    free(p.maxima);
    free(p.room);
    return err;
}
