/* forecast.c - see forecast.h.
 *
 * A value costs about as many steps as all windows are long, and no memory. */
#include "predict/stochastic/forecast.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

#define HISTORY 256 /* values that are kept; a power of two */
#define ERRORS 512  /* of its own forecasts that are kept; a power of two */
#define OUTSIDE 0.05
#define ADAPTS 0.01 /* by this much of what was wrong, after each value */
#define ORDER 8     /* of the autoregression */
#define REFIT 8     /* values */

/* --- methods --- */

typedef enum kind { LAST, MEAN_OF_ALL, MEAN, MEDIAN, SMOOTHING, AUTO } kind;

typedef struct method {
    kind kind;
    double of; /* how many values; how much a new one counts */
    const char *name;
} method;

static const method methods[] = {
    {LAST, 0, "last value"},
    {MEAN_OF_ALL, 0, "mean of all"},
    {MEAN, 5, "mean of 5"},
    {MEAN, 10, "mean of 10"},
    {MEAN, 20, "mean of 20"},
    {MEAN, 50, "mean of 50"},
    {MEAN, 100, "mean of 100"},
    {MEDIAN, 5, "median of 5"},
    {MEDIAN, 11, "median of 11"},
    {MEDIAN, 21, "median of 21"},
    {MEDIAN, 51, "median of 51"},
    {MEDIAN, 101, "median of 101"},
    {SMOOTHING, 0.05, "smoothing by 0.05"},
    {SMOOTHING, 0.1, "smoothing by 0.1"},
    {SMOOTHING, 0.2, "smoothing by 0.2"},
    {SMOOTHING, 0.3, "smoothing by 0.3"},
    {SMOOTHING, 0.5, "smoothing by 0.5"},
    {SMOOTHING, 0.75, "smoothing by 0.75"},
    {SMOOTHING, 0.9, "smoothing by 0.9"},
    {AUTO, ORDER, "autoregression"},
};

#define METHODS (sizeof(methods) / sizeof(*methods))
_Static_assert(METHODS <= PREDICT_METHODS_MAX, "there is room for all");

/* Numbers in order, of which the oldest goes when a new one comes. */
typedef struct window {
    double sorted[ERRORS];
    size_t count, max;
} window;

typedef struct opinion {
    double next; /* what it forecasts */
    double off;  /* by how much its forecasts were, added up */
    double sum;  /* of the values in its window */
    window *window;
} opinion;

struct predict_forecaster {
    double values[HISTORY]; /* value number i at i % HISTORY */
    uint64_t count;
    double mean; /* of all */
    opinion opinions[METHODS];
    double weights[ORDER], level; /* of the autoregression, around its level */

    size_t best;        /* method */
    double off[ERRORS]; /* of the best ones' forecasts; likewise */
    window off_sorted;
    double outside; /* which part of these is left out of the range */
    double range;   /* of the next value */
};

/* --- windows --- */

static size_t place_in(const window *w, double value)
{
    size_t low = 0, high = w->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->sorted[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void window_remove(window *w, double value)
{
    size_t at = place_in(w, value);

    memmove(&w->sorted[at], &w->sorted[at + 1],
            (w->count - at - 1) * sizeof(double));
    w->count--;
}

static void window_insert(window *w, double value)
{
    size_t at = place_in(w, value);

    memmove(&w->sorted[at + 1], &w->sorted[at],
            (w->count - at) * sizeof(double));
    w->sorted[at] = value;
    w->count++;
}

static double median_of(const window *w)
{
    return (w->sorted[(w->count - 1) / 2] + w->sorted[w->count / 2]) / 2;
}

/* --- autoregression --- */

/* The value `back` values ago; 1: the last one. */
static double back(const predict_forecaster *f, uint64_t back)
{
    return f->values[(f->count - back) % HISTORY];
}

/* Yule and Walker's equations, by Levinson's and Durbin's recursion. */
static void solve(double *weights, const double *correlations)
{
    double error = correlations[0], before[ORDER];

    memset(weights, 0, ORDER * sizeof(*weights));
    for (int k = 0; k < ORDER && error > correlations[0] * 1e-9; k++) {
        double reflection = correlations[k + 1];
        for (int i = 0; i < k; i++)
            reflection -= weights[i] * correlations[k - i];
        reflection /= error;
        memcpy(before, weights, sizeof(before));
        weights[k] = reflection;
        for (int i = 0; i < k; i++)
            weights[i] = before[i] - reflection * before[k - 1 - i];
        error *= 1 - reflection * reflection;
    }
}

static void refit(predict_forecaster *f)
{
    uint64_t n = f->count < HISTORY ? f->count : HISTORY;
    double correlations[ORDER + 1] = {0};

    f->level = 0;
    for (uint64_t i = 1; i <= n; i++)
        f->level += back(f, i) / (double)n;
    for (int lag = 0; lag <= ORDER; lag++)
        for (uint64_t i = 1; i + (uint64_t)lag <= n; i++)
            correlations[lag] += (back(f, i) - f->level) *
                                 (back(f, i + (uint64_t)lag) - f->level);
    if (correlations[0] > 0 && n > 2 * ORDER)
        solve(f->weights, correlations);
    else
        memset(f->weights, 0, sizeof(f->weights));
}

static double regressed(const predict_forecaster *f)
{
    double next = f->level;

    for (uint64_t i = 0; i < ORDER && i < f->count; i++)
        next += f->weights[i] * (back(f, i + 1) - f->level);
    return next;
}

/* --- a new value --- */

/* The value that leaves a window of so many when the last one comes in. */
static bool leaves(double *out, const predict_forecaster *f, uint64_t of)
{
    if (f->count <= of)
        return false;
    *out = back(f, of + 1);
    return true;
}

static double mean_next(opinion *o, const predict_forecaster *f, double of)
{
    double gone, n = fmin(of, (double)f->count);

    o->sum += back(f, 1);
    if (leaves(&gone, f, (uint64_t)of))
        o->sum -= gone;
    return o->sum / n;
}

static double median_next(opinion *o, const predict_forecaster *f, double of)
{
    double gone;

    if (leaves(&gone, f, (uint64_t)of))
        window_remove(o->window, gone);
    window_insert(o->window, back(f, 1));
    return median_of(o->window);
}

static double next_of(const method *m, opinion *o, const predict_forecaster *f)
{
    switch (m->kind) {
    case LAST:
        return back(f, 1);
    case MEAN_OF_ALL:
        return f->mean;
    case MEAN:
        return mean_next(o, f, m->of);
    case MEDIAN:
        return median_next(o, f, m->of);
    case SMOOTHING:
        return f->count == 1 ? back(f, 1)
                             : o->next + m->of * (back(f, 1) - o->next);
    case AUTO:
        return regressed(f);
    }
    return back(f, 1);
}

static void best_find(predict_forecaster *f)
{
    f->best = 0;
    for (size_t i = 1; i < METHODS; i++)
        if (f->opinions[i].off < f->opinions[f->best].off)
            f->best = i;
}

/* The range that leaves out as many as it shall. */
static void range_find(predict_forecaster *f)
{
    const window *w = &f->off_sorted;
    double rank = ceil((double)(w->count + 1) * (1 - f->outside));

    if (w->count == 0)
        f->range = 0;
    else if (rank > (double)w->count)
        f->range = 2 * w->sorted[w->count - 1]; /* more than there ever was */
    else
        f->range = rank >= 1 ? w->sorted[(size_t)rank - 1] : 0;
}

/* What was told of this value is compared with it. */
static void judge(predict_forecaster *f, double value)
{
    double off = fabs(value - f->opinions[f->best].next);
    uint64_t number = f->count - 1; /* of the forecast, from 0 */

    if (f->off_sorted.count > 0)
        f->outside += ADAPTS * (OUTSIDE - (off > f->range ? 1 : 0));
    if (number >= ERRORS)
        window_remove(&f->off_sorted, f->off[number % ERRORS]);
    f->off[number % ERRORS] = off;
    window_insert(&f->off_sorted, off);
    for (size_t i = 0; i < METHODS; i++)
        f->opinions[i].off += fabs(value - f->opinions[i].next);
}

int predict_forecaster_add(predict_forecaster *f, double value)
{
    if (!isfinite(value))
        return pastset_fail(PASTSET_EINVAL, "value %llu is not a number",
                            (unsigned long long)f->count + 1);
    if (f->count > 0)
        judge(f, value);
    f->values[f->count % HISTORY] = value;
    f->count++;
    f->mean += (value - f->mean) / (double)f->count;
    if (f->count % REFIT == 0 || f->count < REFIT)
        refit(f);
    for (size_t i = 0; i < METHODS; i++)
        f->opinions[i].next = next_of(&methods[i], &f->opinions[i], f);
    best_find(f);
    range_find(f);
    return 0;
}

/* --- what is told --- */

static double error_of(const predict_forecaster *f, size_t i)
{
    return f->count > 1 ? f->opinions[i].off / (double)(f->count - 1) : 0;
}

int predict_forecaster_next(predict_forecast *out, const predict_forecaster *f)
{
    if (f->count == 0)
        return pastset_fail(PASTSET_ENOENT, "there is no value yet");
    *out = (predict_forecast){.value = {f->opinions[f->best].next, f->range},
                              .method = methods[f->best].name,
                              .error = error_of(f, f->best)};
    return 0;
}

size_t predict_forecaster_methods(const predict_forecaster *f,
                                  predict_method out[PREDICT_METHODS_MAX])
{
    for (size_t i = 0; i < METHODS; i++)
        out[i] = (predict_method){methods[i].name, error_of(f, i)};
    return METHODS;
}

/* --- begin and end --- */

int predict_forecaster_create(predict_forecaster **out)
{
    predict_forecaster *f = calloc(1, sizeof(*f));

    *out = NULL;
    if (!f)
        return pastset_no_memory("for forecasts");
    f->outside = OUTSIDE;
    for (size_t i = 0; i < METHODS; i++) {
        if (methods[i].kind != MEDIAN)
            continue;
        f->opinions[i].window = calloc(1, sizeof(window));
        if (!f->opinions[i].window) {
            predict_forecaster_destroy(f);
            return pastset_no_memory("for forecasts");
        }
    }
    *out = f;
    return 0;
}

void predict_forecaster_destroy(predict_forecaster *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < METHODS; i++)
        free(f->opinions[i].window);
    free(f);
}
