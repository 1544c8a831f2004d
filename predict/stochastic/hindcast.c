/* hindcast.c - see hindcast.h. */
#include "predict/stochastic/hindcast.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

#define SLOTS_MAX 4096 /* each is a time to work out */
#define SAME_SHARE 0.03
#define SLOTS_OF_RUN 64 /* more of them make its time no better known */
#define SPACINGS 20     /* of the last readings: how far apart they are */
#define LATE_SLOTS 2    /* as late a reading may be, to stand for a slot */
#define RUNS_MAX 1024   /* older ones say nothing of the next one */

/* --- time in slots --- */

/* What was measured, as equally long slots up to where the run begins. */
typedef struct slots {
    int64_t begin_ms, step_ms;
    size_t count;
    double *done; /* how much of runs is done by a slot's beginning, and by the
                     end of the last one */
    size_t *gaps; /* as many before it have nothing measured */
} slots;

static int64_t end_of(const predict_reading *r)
{
    return r->time_ms + r->lasts_ms;
}

/* The first one that ends after `ms`; `count` if none does. */
static size_t after(predict_readings all, int64_t ms)
{
    size_t low = 0, high = all.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (end_of(&all.items[middle]) <= ms)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of the last ones that end by `at_ms`; 0: there are not two. */
static int64_t spacing_of(predict_readings all, int64_t at_ms)
{
    size_t end = after(all, at_ms), first;

    if (end < 2)
        return 0;
    first = end > SPACINGS ? end - 1 - SPACINGS : 0;
    return (end_of(&all.items[end - 1]) - end_of(&all.items[first])) /
           (int64_t)(end - 1 - first);
}

/* What it was in the slot that begins then. False: nobody knows. */
static bool value_in(double *value, predict_readings all, int64_t from_ms,
                     int64_t step_ms, int64_t at_ms)
{
    double sum = 0, weight = 0;
    size_t i = after(all, from_ms);
    const predict_reading *next;

    for (; i < all.count && end_of(&all.items[i]) <= from_ms + step_ms; i++) {
        sum += all.items[i].weight * all.items[i].value;
        weight += all.items[i].weight;
    }
    if (weight > 0) {
        *value = sum / weight;
        return true;
    }
    if (i == all.count)
        return false;
    next = &all.items[i];
    *value = next->value;
    return end_of(next) <= at_ms &&
           (next->time_ms <= from_ms ||
            end_of(next) <= from_ms + (1 + LATE_SLOTS) * step_ms);
}

/* False: they have too little in common. */
static bool slots_lay(slots *s, const predict_readings *series, size_t count,
                      int64_t at_ms, int64_t lasts_ms)
{
    int64_t first_ms = INT64_MIN, step_ms = lasts_ms / SLOTS_OF_RUN, fit;

    for (size_t i = 0; i < count; i++) {
        int64_t spacing_ms = spacing_of(series[i], at_ms);
        if (spacing_ms <= 0)
            return false;
        if (series[i].items[0].time_ms > first_ms)
            first_ms = series[i].items[0].time_ms;
        if (spacing_ms > step_ms)
            step_ms = spacing_ms;
    }
    fit = count ? (at_ms - first_ms) / step_ms : 0;
    s->count = (size_t)(fit < SLOTS_MAX ? fit : SLOTS_MAX);
    s->step_ms = step_ms;
    s->begin_ms = at_ms - (int64_t)s->count * step_ms;
    return fit > 0;
}

static bool values_in(double *values, const slots *s, size_t slot,
                      const predict_readings *series,
                      const predict_varied *varied, size_t count)
{
    int64_t from_ms = s->begin_ms + (int64_t)slot * s->step_ms;
    int64_t at_ms = s->begin_ms + (int64_t)s->count * s->step_ms;

    for (size_t i = 0; i < count; i++) {
        if (!value_in(&values[i], series[i], from_ms, s->step_ms, at_ms))
            return false;
        values[i] = predict_varied_within(&varied[i], values[i]);
    }
    return true;
}

/* Times that are known already, as most slots are like others: values that
 * differ by less than SAME_SHARE give one time. */
typedef struct known_times {
    int32_t *keys; /* `count` for each */
    double *seconds;
    size_t known;
} known_times;

static void key_of(int32_t *key, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        key[i] = values[i] > 0
                     ? (int32_t)floor(log(values[i]) / log1p(SAME_SHARE))
                     : INT32_MIN;
}

static int time_of(double *seconds, known_times *k, const double *values,
                   size_t count, predict_time *time, void *context)
{
    int32_t *own = &k->keys[k->known * count]; /* there is room for one more */
    int err;

    key_of(own, values, count);
    for (size_t i = 0; i < k->known; i++)
        if (memcmp(&k->keys[i * count], own, count * sizeof(*own)) == 0) {
            *seconds = k->seconds[i];
            return 0;
        }
    err = time(seconds, values, context);
    if (!err)
        k->seconds[k->known++] = *seconds;
    return err;
}

static int slots_fill(slots *s, const predict_readings *series,
                      const predict_varied *varied, size_t count,
                      predict_time *time, void *context)
{
    double *values = calloc(count, sizeof(*values)), seconds;
    known_times known = {
        .keys = calloc((s->count + 1) * count, sizeof(*known.keys)),
        .seconds = calloc(s->count + 1, sizeof(*known.seconds))};
    int err = values && known.keys && known.seconds
                  ? 0
                  : pastset_no_memory("for a hindcast");

    for (size_t i = 0; i < s->count && !err; i++) {
        bool is_known = values_in(values, s, i, series, varied, count);
        s->done[i + 1] = s->done[i];
        s->gaps[i + 1] = s->gaps[i] + !is_known;
        if (!is_known)
            continue;
        err = time_of(&seconds, &known, values, count, time, context);
        if (!err && seconds > 0)
            s->done[i + 1] += (double)s->step_ms / 1000 / seconds;
    }
    free(known.keys);
    free(known.seconds);
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
                           "what was measured has room for %zu such runs one "
                           "after the other, where it takes %d",
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
    int err = 0;

    *out = (predict_hindcast){0};
    if (!slots_lay(&s, series, count, at_ms, lasts_ms))
        return pastset_fail(PASTSET_ENOENT,
                            "too little was measured before then");
    s.done = calloc(s.count + 1, sizeof(*s.done));
    s.gaps = calloc(s.count + 1, sizeof(*s.gaps));
    if (!s.done || !s.gaps)
        err = pastset_no_memory("for a hindcast");
    if (!err)
        err = slots_fill(&s, series, varied, count, time, context);
    if (!err)
        err = forecast(out, &s);
    free(s.done);
    free(s.gaps);
    return err;
}
