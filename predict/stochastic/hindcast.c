/* hindcast.c - see hindcast.h. */
#include "predict/stochastic/hindcast.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

#define SLOTS_MAX 4096  /* older ones say nothing of the next run */
#define SLOTS_OF_RUN 64 /* more of them make its time no better known */
#define SPACINGS 20     /* of the last readings: how far apart they are */
#define LATE 2          /* times that, for which one may stand */
#define RUNS_MAX 1024
#define SAME_SHARE 0.01
#define KINDS_MAX 400 /* of slots: each is a time to work out */

/* --- time in slots --- */

/* What was measured, as equally long slots up to where the run begins. */
typedef struct slots {
    int64_t begin_ms, step_ms;
    size_t count;
    double *done; /* how much of runs is done by a slot's beginning, and by the
                     end of the last one */
    size_t *gaps; /* as many before it have nothing measured */
} slots;

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Of the last ones that end by `at_ms`, the median: some may be missing. 0:
 * there are not two. */
static int64_t spacing_of(predict_readings all, int64_t at_ms)
{
    int64_t apart[SPACINGS];
    size_t end = predict_readings_until(all, at_ms), count = 0;

    for (size_t i = end; i-- > 1 && count < SPACINGS;)
        apart[count++] = predict_reading_end(&all.items[i]) -
                         predict_reading_end(&all.items[i - 1]);
    if (count == 0)
        return 0;
    qsort(apart, count, sizeof(*apart), ascending);
    return apart[count / 2];
}

/* One series, as slots see it. */
typedef struct sampled {
    predict_readings all;
    int64_t
        holds_ms; /* for so long a reading may stand for what is around it */
} sampled;

/* What it was in the slot that begins then. False: nobody knows. */
static bool value_in(double *value, const sampled *series, int64_t from_ms,
                     int64_t step_ms, int64_t at_ms)
{
    predict_readings all = series->all;
    double sum = 0, weight = 0;
    size_t i = predict_readings_until(all, from_ms);
    int64_t until_ms = from_ms + step_ms;
    const predict_reading *next = NULL, *before = i ? &all.items[i - 1] : NULL;

    for (; i < all.count && predict_reading_end(&all.items[i]) <= until_ms;
         i++) {
        sum += all.items[i].weight * all.items[i].value;
        weight += all.items[i].weight;
    }
    if (weight > 0) {
        *value = sum / weight;
        return true;
    }
    if (i < all.count && predict_reading_end(&all.items[i]) <= at_ms)
        next = &all.items[i];
    if (next && (next->time_ms <= from_ms ||
                 predict_reading_end(next) <= until_ms + series->holds_ms))
        *value = next->value;
    else if (before &&
             from_ms - predict_reading_end(before) <= series->holds_ms)
        *value = before->value;
    else
        return false;
    return true;
}

/* Slots are as long as what is measured most often lasts, or longer, of a long
 * run. False: the series have too little in common. */
static bool slots_lay(slots *s, sampled *out, const predict_readings *series,
                      size_t count, int64_t at_ms, int64_t lasts_ms)
{
    int64_t first_ms = INT64_MIN, least_ms = INT64_MAX, fit;

    for (size_t i = 0; i < count; i++) {
        int64_t spacing_ms = spacing_of(series[i], at_ms);
        if (spacing_ms <= 0)
            return false;
        if (series[i].items[0].time_ms > first_ms)
            first_ms = series[i].items[0].time_ms;
        if (spacing_ms < least_ms)
            least_ms = spacing_ms;
        out[i] = (sampled){series[i], LATE * spacing_ms};
    }
    s->step_ms = lasts_ms / SLOTS_OF_RUN;
    if (s->step_ms < least_ms)
        s->step_ms = least_ms;
    fit = count ? (at_ms - first_ms) / s->step_ms : 0;
    s->count = (size_t)(fit < SLOTS_MAX ? fit : SLOTS_MAX);
    s->begin_ms = at_ms - (int64_t)s->count * s->step_ms;
    return fit > 0;
}

static bool values_in(double *values, const slots *s, size_t slot,
                      const sampled *series, const predict_varied *varied,
                      size_t count)
{
    int64_t from_ms = s->begin_ms + (int64_t)slot * s->step_ms;
    int64_t at_ms = s->begin_ms + (int64_t)s->count * s->step_ms;

    for (size_t i = 0; i < count; i++) {
        if (!value_in(&values[i], &series[i], from_ms, s->step_ms, at_ms))
            return false;
        values[i] = predict_varied_within(&varied[i], values[i]);
    }
    return true;
}

/* --- times --- */

/* Slots that are alike, which have one time: that at the means of what was
 * measured in them. */
typedef struct kinds {
    size_t values; /* of each */
    int32_t *keys; /* what they have in common */
    double *sums;  /* of values */
    size_t *slots; /* how many */
    size_t count;
    int32_t *of; /* by slot; -1: not known */
} kinds;

static void key_of(int32_t *key, const double *values, size_t count,
                   double share)
{
    for (size_t i = 0; i < count; i++)
        key[i] = values[i] > 0 ? (int32_t)floor(log(values[i]) / log1p(share))
                               : INT32_MIN;
}

static int32_t kind_of(kinds *k, const double *values, double share)
{
    int32_t *own = &k->keys[k->count * k->values]; /* room for one more */
    size_t bytes = k->values * sizeof(*own), i = 0;

    key_of(own, values, k->values, share);
    while (i < k->count && memcmp(&k->keys[i * k->values], own, bytes) != 0)
        i++;
    if (i == k->count) {
        k->count++;
        k->slots[i] = 0;
        memset(&k->sums[i * k->values], 0, k->values * sizeof(*k->sums));
    }
    for (size_t v = 0; v < k->values; v++)
        k->sums[i * k->values + v] += values[v];
    k->slots[i]++;
    return (int32_t)i;
}

/* With values that differ by less than that share taken together, and by twice
 * as much until there are few enough. */
static void kinds_find(kinds *k, double *values, const slots *s,
                       const sampled *series, const predict_varied *varied)
{
    for (double share = SAME_SHARE;; share *= 2) {
        size_t most = share < 0.5 ? KINDS_MAX : SIZE_MAX;
        k->count = 0;
        for (size_t i = 0; i < s->count && k->count <= most; i++)
            k->of[i] = values_in(values, s, i, series, varied, k->values)
                           ? kind_of(k, values, share)
                           : -1;
        if (k->count <= most)
            return;
    }
}

static int kinds_time(slots *s, const kinds *k, double *values,
                      predict_time *time, void *context)
{
    double *seconds = calloc(k->count + 1, sizeof(*seconds));
    int err = seconds ? 0 : pastset_no_memory("for a hindcast");

    for (size_t i = 0; i < k->count && !err; i++) {
        for (size_t v = 0; v < k->values; v++)
            values[v] = k->sums[i * k->values + v] / (double)k->slots[i];
        err = time(&seconds[i], values, context);
    }
    for (size_t i = 0; i < s->count && !err; i++) {
        double took = k->of[i] < 0 ? 0 : seconds[k->of[i]];
        s->gaps[i + 1] = s->gaps[i] + (k->of[i] < 0);
        s->done[i + 1] = s->done[i];
        if (took > 0)
            s->done[i + 1] += (double)s->step_ms / 1000 / took;
    }
    free(seconds);
    return err;
}

static int slots_fill(slots *s, const sampled *series,
                      const predict_varied *varied, size_t count,
                      predict_time *time, void *context)
{
    size_t most = s->count + 1;
    double *values = calloc(count, sizeof(*values));
    kinds k = {.values = count,
               .keys = calloc(most * count, sizeof(*k.keys)),
               .sums = calloc(most * count, sizeof(*k.sums)),
               .slots = calloc(most, sizeof(*k.slots)),
               .of = calloc(most, sizeof(*k.of))};
    int err = 0;

    if (!values || !k.keys || !k.sums || !k.slots || !k.of)
        err = pastset_no_memory("for a hindcast");
    if (!err) {
        kinds_find(&k, values, s, series, varied);
        err = kinds_time(s, &k, values, time, context);
    }
    free(k.keys);
    free(k.sums);
    free(k.slots);
    free(k.of);
    free(values);
    return err;
}

/* --- runs --- */

static double done_by(const slots *s, double ms)
{
    double at = (ms - (double)s->begin_ms) / (double)s->step_ms;
    size_t slot = (size_t)fmax(0, fmin(at, (double)(s->count - 1)));

    return s->done[slot] +
           (at - (double)slot) * (s->done[slot + 1] - s->done[slot]);
}

/* The slot in which so much was done. */
static size_t slot_of(const slots *s, double done)
{
    size_t low = 0, high = s->count - 1;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->done[middle + 1] < done)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of the run that ends then. 0: it began before all that was measured, or
 * nobody knows. */
static double run_seconds(const slots *s, double end_ms, bool *is_before)
{
    double begins = done_by(s, end_ms) - 1, begin_ms;
    double last = (end_ms - (double)s->begin_ms) / (double)s->step_ms;
    size_t slot, end_slot = (size_t)fmax(0, ceil(last));

    *is_before = begins < 0;
    if (*is_before)
        return 0;
    slot = slot_of(s, begins);
    begin_ms = (double)s->begin_ms +
               (double)s->step_ms *
                   ((double)slot + (begins - s->done[slot]) /
                                       (s->done[slot + 1] - s->done[slot]));
    if (s->gaps[end_slot] > s->gaps[slot])
        return 0;
    return (end_ms - begin_ms) / 1000;
}

/* The latest one first; gives how many. */
static size_t runs_find(double *seconds, const slots *s, int64_t apart_ms)
{
    double end_ms = (double)s->begin_ms + (double)s->step_ms * (double)s->count;
    bool is_before = false;
    size_t count = 0;

    for (; !is_before && count < RUNS_MAX && end_ms > (double)s->begin_ms;
         end_ms -= (double)apart_ms) {
        seconds[count] = run_seconds(s, end_ms, &is_before);
        count += seconds[count] > 0;
    }
    return count;
}

static int64_t apart_of(const double *seconds, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += seconds[i];
    return count ? llround(1000 * sum / (double)count) : 0;
}

static int runs_forecast(predict_hindcast *out, const double *seconds,
                         size_t count)
{
    predict_forecaster *forecaster;
    predict_forecast next;
    int err = predict_forecaster_create(&forecaster);

    for (size_t i = count; i-- > 0 && !err;)
        err = predict_forecaster_add(forecaster, seconds[i]);
    if (!err)
        err = predict_forecaster_next(&next, forecaster);
    predict_forecaster_destroy(forecaster);
    if (err)
        return err;
    out->time_s = next.value;
    out->runs = count;
    snprintf(out->method, sizeof(out->method), "%s", next.method);
    return 0;
}

/* As far apart as they take on average, or what is known of one would often be
 * known of the next. */
static int forecast(predict_hindcast *out, const slots *s)
{
    double *seconds = malloc(RUNS_MAX * sizeof(*seconds));
    size_t count;
    int err = 0;

    if (!seconds)
        return pastset_no_memory("for a hindcast");
    count = runs_find(seconds, s, s->step_ms);
    out->apart_ms = apart_of(seconds, count);
    if (out->apart_ms < s->step_ms)
        out->apart_ms = s->step_ms;
    count = runs_find(seconds, s, out->apart_ms);
    if (count < PREDICT_HINDCAST_MIN)
        err = pastset_fail(PASTSET_ENOENT,
                           "what was measured, without gaps, has room for %zu "
                           "such runs one after the other, where it takes %d",
                           count, PREDICT_HINDCAST_MIN);
    else
        err = runs_forecast(out, seconds, count);
    free(seconds);
    return err;
}

int predict_hindcast_make(predict_hindcast *out, const predict_readings *series,
                          const predict_varied *varied, size_t count,
                          int64_t at_ms, int64_t lasts_ms, predict_time *time,
                          void *context)
{
    slots s = {0};
    sampled *all = calloc(count + 1, sizeof(*all));
    int err = 0;

    *out = (predict_hindcast){0};
    if (!all)
        return pastset_no_memory("for a hindcast");
    if (!slots_lay(&s, all, series, count, at_ms, lasts_ms))
        err =
            pastset_fail(PASTSET_ENOENT, "too little was measured before then");
    else {
        s.done = calloc(s.count + 1, sizeof(*s.done));
        s.gaps = calloc(s.count + 1, sizeof(*s.gaps));
    }
    if (!err && (!s.done || !s.gaps))
        err = pastset_no_memory("for a hindcast");
    if (!err)
        err = slots_fill(&s, all, varied, count, time, context);
    if (!err)
        err = forecast(out, &s);
    free(all);
    free(s.done);
    free(s.gaps);
    return err;
}
