/* series.c - see series.h. */
#include "viewer/report/series.h"

#include <stdlib.h>

#include "pastset/status.h"

/* Modes are found in no more values than this: every second, third ... */
#define MODE_VALUES 10000

static int forecast_next(predict_forecast *out, const double *values,
                         size_t count)
{
    predict_forecaster *f;
    int err = predict_forecaster_create(&f);

    for (size_t i = 0; i < count && !err; i++)
        err = predict_forecaster_add(f, values[i]);
    if (!err)
        err = predict_forecaster_next(out, f);
    predict_forecaster_destroy(f);
    return err;
}

static int modes_find(predict_modes *out, const double *values, size_t count)
{
    size_t step = (count + MODE_VALUES - 1) / MODE_VALUES, used = 0;
    double *some = malloc((count / step + 1) * sizeof(*some));
    int err;

    if (!some)
        return pastset_no_memory("for a series");
    for (size_t i = 0; i < count; i += step)
        some[used++] = values[i];
    err = predict_modes_find(out, some, used);
    free(some);
    return err;
}

static int values_take(viewer_series *s)
{
    const measure_history *h = s->history;

    s->count = h->count - s->first;
    s->values = malloc(s->count * sizeof(*s->values));
    if (!s->values)
        return pastset_no_memory("for a series");
    for (size_t i = 0; i < s->count; i++)
        s->values[i] = h->rows[s->first + i].value;
    return 0;
}

/* Rows of one step only: each value counts as much as the others. */
static size_t first_of(const measure_history *h, int64_t last_ms)
{
    size_t alike = measure_history_alike(h), first = 0;

    if (last_ms)
        measure_history_between(h, h->rows[h->count - 1].time_ms - last_ms,
                                INT64_MAX, &first);
    return first > alike ? first : alike;
}

int viewer_series_init(viewer_series *out, const measure_history *h,
                       int64_t last_ms)
{
    int err;

    *out = (viewer_series){.history = h};
    if (h->count == 0)
        return pastset_fail(PASTSET_ENOENT, "the history of %s has no values",
                            h->series);
    out->first = first_of(h, last_ms);
    err = values_take(out);
    if (!err)
        err = forecast_next(&out->next, out->values, out->count);
    if (!err)
        err = modes_find(&out->modes, out->values, out->count);
    if (err)
        viewer_series_fini(out);
    else
        out->all = predict_stochastic_of(out->values, out->count);
    return err;
}

void viewer_series_fini(viewer_series *series)
{
    free(series->values);
    series->values = NULL;
}

uint64_t viewer_series_samples(const viewer_series *s)
{
    uint64_t samples = 0;

    for (size_t i = s->first; i < s->history->count; i++)
        samples += s->history->rows[i].count;
    return samples;
}

size_t viewer_series_gaps(const viewer_series *s)
{
    size_t gaps = 0;

    for (size_t i = s->first + 1; i < s->history->count; i++)
        gaps += measure_history_is_gap(s->history, i);
    return gaps;
}
