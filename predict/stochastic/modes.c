/* modes.c - see modes.h.
 *
 * The values are sorted into cells first, as many as can be told apart: fitting
 * then takes as long for a year as for an hour. */
#include "predict/stochastic/modes.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

#define CELLS 512
#define ROUNDS 500
#define SETTLED 1e-9 /* of the likelihood, in proportion */
#define VALLEY 0.7
#define VALUES_OF_PART 10 /* at least, else it is chance */

/* One value, or values that are all the same, have no extent. */
typedef struct cells {
    double low, width; /* of a cell */
    double n[CELLS];   /* how many values */
    double mean[CELLS];
    double total;
    double least_variance; /* what a cell cannot tell from none */
} cells;

typedef struct part {
    double share, mean, variance;
} part;

typedef struct mixture {
    part parts[PREDICT_MODES_MAX]; /* by mean */
    size_t count;
    double likelihood; /* its logarithm */
} mixture;

/* --- cells --- */

static int values_check(const double *values, size_t count)
{
    if (count == 0)
        return pastset_fail(PASTSET_EINVAL, "there are no values");
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return pastset_fail(PASTSET_EINVAL, "value %zu is not a number",
                                i + 1);
    return 0;
}

static void cells_fill(cells *c, const double *values, size_t count)
{
    double high = values[0];

    memset(c, 0, sizeof(*c));
    c->low = values[0];
    for (size_t i = 1; i < count; i++) {
        c->low = fmin(c->low, values[i]);
        high = fmax(high, values[i]);
    }
    c->width = (high - c->low) / CELLS;
    for (size_t i = 0; i < count; i++) {
        double at = c->width > 0 ? (values[i] - c->low) / c->width : 0;
        size_t k = at < CELLS - 1 ? (size_t)at : CELLS - 1;
        c->n[k]++;
        c->mean[k] += (values[i] - c->mean[k]) / c->n[k];
    }
    c->total = (double)count;
    c->least_variance = c->width * c->width / 12;
}

/* --- the division into groups with the least squares --- */

typedef struct sums {
    double n[CELLS + 1], x[CELLS + 1], xx[CELLS + 1]; /* of those before */
} sums;

static void sums_fill(sums *s, const cells *c)
{
    for (size_t i = 0; i < CELLS; i++) {
        double x = c->mean[i] - c->low;
        s->n[i + 1] = s->n[i] + c->n[i];
        s->x[i + 1] = s->x[i] + c->n[i] * x;
        s->xx[i + 1] = s->xx[i] + c->n[i] * x * x;
    }
}

/* Of the cells from one on, but for that at the end. */
static double squares(const sums *s, size_t from, size_t to)
{
    double n = s->n[to] - s->n[from], x = s->x[to] - s->x[from];

    return n > 0 ? fmax(0, s->xx[to] - s->xx[from] - x * x / n) : 0;
}

typedef struct division {
    double cost[PREDICT_MODES_MAX + 1][CELLS + 1];
    size_t from[PREDICT_MODES_MAX + 1][CELLS + 1];
} division;

/* Dynamic programming: the best division of the cells before each into each
 * number of groups. */
static void divide(division *d, const sums *s)
{
    for (size_t end = 0; end <= CELLS; end++)
        d->cost[1][end] = squares(s, 0, end);
    for (size_t k = 2; k <= PREDICT_MODES_MAX; k++) {
        for (size_t end = 0; end <= CELLS; end++) {
            d->cost[k][end] = d->cost[k - 1][end];
            d->from[k][end] = end;
            for (size_t from = 0; from < end; from++) {
                double cost = d->cost[k - 1][from] + squares(s, from, end);
                if (cost < d->cost[k][end]) {
                    d->cost[k][end] = cost;
                    d->from[k][end] = from;
                }
            }
        }
    }
}

static part part_of(const sums *s, const cells *c, size_t from, size_t to)
{
    double n = s->n[to] - s->n[from];

    return (part){.share = n / c->total,
                  .mean = c->low + (s->x[to] - s->x[from]) / n,
                  .variance =
                      fmax(c->least_variance, squares(s, from, to) / n)};
}

/* False: there are not so many groups that have values. */
static bool begin(mixture *m, const division *d, const sums *s, const cells *c,
                  size_t count)
{
    size_t to = CELLS;

    m->count = count;
    for (size_t k = count; k >= 1; k--) {
        size_t from = k == 1 ? 0 : d->from[k][to];
        if (s->n[to] - s->n[from] <= 0)
            return false;
        m->parts[k - 1] = part_of(s, c, from, to);
        to = from;
    }
    return true;
}

/* --- fitting --- */

static double density(const part *p, double x)
{
    double away = x - p->mean;

    return p->share * exp(-away * away / (2 * p->variance)) /
           sqrt(2 * M_PI * p->variance);
}

static double density_of_all(const mixture *m, double x)
{
    double sum = 0;

    for (size_t k = 0; k < m->count; k++)
        sum += density(&m->parts[k], x);
    return sum;
}

/* How much of a cell belongs to each part, added up. Gives the likelihood of
 * the parts as they were. */
static double expect(const mixture *m, const cells *c, part *own)
{
    double likelihood = 0;

    memset(own, 0, PREDICT_MODES_MAX * sizeof(*own));
    for (size_t i = 0; i < CELLS; i++) {
        double of[PREDICT_MODES_MAX], all = DBL_MIN;
        if (c->n[i] == 0)
            continue;
        for (size_t k = 0; k < m->count; k++)
            all += of[k] = density(&m->parts[k], c->mean[i]);
        likelihood += c->n[i] * log(all);
        for (size_t k = 0; k < m->count; k++) {
            double n = c->n[i] * of[k] / all;
            double away = c->mean[i] - m->parts[k].mean;
            own[k].share += n;
            own[k].mean += n * away;
            own[k].variance += n * away * away;
        }
    }
    return likelihood;
}

/* A part that has next to nothing is given up by the criterion. */
static void maximize(mixture *m, const cells *c, const part *own)
{
    for (size_t k = 0; k < m->count; k++) {
        part *p = &m->parts[k];
        double n = fmax(own[k].share, DBL_MIN), moved = own[k].mean / n;
        p->share = own[k].share / c->total;
        p->mean += moved;
        p->variance =
            fmax(c->least_variance, own[k].variance / n - moved * moved);
    }
}

static void fit(mixture *m, const cells *c)
{
    part own[PREDICT_MODES_MAX];
    double before = -INFINITY;

    for (int round = 0; round < ROUNDS; round++) {
        m->likelihood = expect(m, c, own);
        if (m->likelihood - before <= SETTLED * fabs(m->likelihood))
            break;
        before = m->likelihood;
        maximize(m, c, own);
    }
}

static double information(const mixture *m, const cells *c)
{
    return (3 * (double)m->count - 1) * log(c->total) - 2 * m->likelihood;
}

static int by_mean(const void *a, const void *b)
{
    double x = ((const part *)a)->mean, y = ((const part *)b)->mean;

    return (x > y) - (x < y);
}

static int best_fit(mixture *out, const cells *c)
{
    sums *s = calloc(1, sizeof(*s));
    division *d = calloc(1, sizeof(*d));
    double least = INFINITY;

    if (!s || !d) {
        free(s);
        free(d);
        return pastset_no_memory("for modes");
    }
    sums_fill(s, c);
    divide(d, s);
    for (size_t k = 1; k <= PREDICT_MODES_MAX; k++) {
        mixture m;
        if ((k > 1 && c->total < VALUES_OF_PART * (double)k) ||
            !begin(&m, d, s, c, k))
            break;
        fit(&m, c);
        if (information(&m, c) < least) {
            least = information(&m, c);
            *out = m;
        }
    }
    free(s);
    free(d);
    qsort(out->parts, out->count, sizeof(part), by_mean);
    return 0;
}

/* --- modes --- */

#define STEPS 256

/* Parts beside each other, from the one to before the other. */
typedef struct group {
    size_t from, to;
    double peak, at;  /* the highest density, and where */
    double valley;    /* the lowest density up to the next one's peak, */
    double valley_at; /* and where */
} group;

static void peak_find(group *g, const mixture *m)
{
    g->peak = 0;
    for (size_t k = g->from; k < g->to; k++) {
        double here = density_of_all(m, m->parts[k].mean);
        if (here > g->peak) {
            g->peak = here;
            g->at = m->parts[k].mean;
        }
    }
}

static void valley_find(group *g, const group *next, const mixture *m)
{
    g->valley = INFINITY;
    for (int i = 0; i <= STEPS; i++) {
        double x = g->at + (next->at - g->at) * i / STEPS;
        double here = density_of_all(m, x);
        if (here < g->valley) {
            g->valley = here;
            g->valley_at = x;
        }
    }
}

/* How little the valley parts two groups: 1 where the lower one is no peak. */
static double flatness(const group *g)
{
    return g->valley / fmin(g->peak, g[1].peak);
}

/* Puts the next group into this one. */
static void put_together(group *groups, size_t *count, size_t i,
                         const mixture *m)
{
    groups[i].to = groups[i + 1].to;
    (*count)--;
    for (size_t k = i + 1; k < *count; k++)
        groups[k] = groups[k + 1];
    peak_find(&groups[i], m);
    if (i > 0)
        valley_find(&groups[i - 1], &groups[i], m);
    if (i + 1 < *count)
        valley_find(&groups[i], &groups[i + 1], m);
}

static size_t groups_make(group *groups, const mixture *m)
{
    size_t count = m->count;

    for (size_t k = 0; k < count; k++) {
        groups[k] = (group){.from = k, .to = k + 1};
        peak_find(&groups[k], m);
    }
    for (size_t k = 0; k + 1 < count; k++)
        valley_find(&groups[k], &groups[k + 1], m);
    while (count > 1) {
        size_t flattest = 0;
        for (size_t k = 1; k + 1 < count; k++)
            if (flatness(&groups[k]) > flatness(&groups[flattest]))
                flattest = k;
        if (flatness(&groups[flattest]) < VALLEY)
            break;
        put_together(groups, &count, flattest, m);
    }
    return count;
}

static predict_mode mode_of(const mixture *m, const group *g)
{
    double share = 0, mean = 0, square = 0;

    for (size_t k = g->from; k < g->to; k++) {
        share += m->parts[k].share;
        mean += m->parts[k].share * m->parts[k].mean;
    }
    mean /= share;
    for (size_t k = g->from; k < g->to; k++) {
        double away = m->parts[k].mean - mean;
        square +=
            m->parts[k].share * (m->parts[k].variance + away * away) / share;
    }
    return (predict_mode){.share = share, .value = {mean, 2 * sqrt(square)}};
}

static void modes_of(predict_modes *out, const mixture *m)
{
    group groups[PREDICT_MODES_MAX];

    out->count = groups_make(groups, m);
    for (size_t k = 0; k < out->count; k++) {
        out->modes[k] = mode_of(m, &groups[k]);
        out->modes[k].from = k > 0 ? groups[k - 1].valley_at : -INFINITY;
        out->modes[k].to = k + 1 < out->count ? groups[k].valley_at : INFINITY;
    }
}

/* All values are the same, or nearly: there is nothing to be fitted. */
static void one_mode(predict_modes *out, const double *values, size_t count)
{
    out->count = 1;
    out->modes[0] =
        (predict_mode){.share = 1,
                       .value = predict_stochastic_of(values, count),
                       .from = -INFINITY,
                       .to = INFINITY};
}

int predict_modes_find(predict_modes *out, const double *values, size_t count)
{
    cells *c;
    mixture m;
    int err = values_check(values, count);

    if (err)
        return err;
    c = malloc(sizeof(*c));
    if (!c)
        return pastset_no_memory("for modes");
    cells_fill(c, values, count);
    if (c->width > DBL_MIN && isfinite(c->width * CELLS * c->width)) {
        err = best_fit(&m, c);
        if (!err)
            modes_of(out, &m);
    } else {
        one_mode(out, values, count);
    }
    free(c);
    return err;
}

size_t predict_modes_of(const predict_modes *modes, double value)
{
    size_t k = 0;

    while (k + 1 < modes->count && value >= modes->modes[k].to)
        k++;
    return k;
}

predict_stochastic predict_modes_averaged(const predict_modes *modes)
{
    predict_stochastic sum = predict_point(0);

    for (size_t k = 0; k < modes->count; k++)
        sum = predict_stochastic_add(
            sum,
            predict_stochastic_multiply(predict_point(modes->modes[k].share),
                                        modes->modes[k].value,
                                        PREDICT_UNRELATED),
            PREDICT_UNRELATED);
    return sum;
}

predict_stochastic predict_modes_mixed(const predict_modes *modes)
{
    double mean = predict_modes_averaged(modes).mean, square = 0;

    for (size_t k = 0; k < modes->count; k++) {
        const predict_mode *mode = &modes->modes[k];
        double away = mode->value.mean - mean,
               deviation = mode->value.range / 2;
        square += mode->share * (deviation * deviation + away * away);
    }
    return (predict_stochastic){mean, 2 * sqrt(square)};
}

/* --- values --- */

/* Welford's way: sums of squares of numbers that are alike cancel. */
predict_stochastic predict_stochastic_of(const double *values, size_t count)
{
    double mean = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        double away = values[i] - mean;
        mean += away / (double)(i + 1);
        squares += away * (values[i] - mean);
    }
    return (predict_stochastic){
        mean, count > 1 ? 2 * sqrt(squares / (double)(count - 1)) : 0};
}

double predict_coverage(predict_stochastic v, const double *values,
                        size_t count)
{
    size_t within = 0;

    for (size_t i = 0; i < count; i++)
        within += predict_stochastic_miss(v, values[i]) == 0;
    return count > 0 ? (double)within / (double)count : 0;
}
