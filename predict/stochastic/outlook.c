/* outlook.c - see outlook.h. */
#include "predict/stochastic/outlook.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pastset/status.h"
#include "predict/stochastic/modes.h"

#define PIECES_MIN 20   /* for a range to mean something */
#define PIECES_MAX 4096 /* older ones say nothing of the next one */

/* --- what is before --- */

/* --- pieces --- */

typedef struct pieces {
    double *means; /* the oldest first; of those in which something was
                      measured */
    size_t count;
} pieces;

/* Each piece counts what ends in it, by how long that lasted. */
static int pieces_make(pieces *out, predict_readings all, size_t count,
                       int64_t at_ms, int64_t piece_ms)
{
    double sum = 0, weight = 0;
    int64_t number = 0, of = -1; /* pieces back from the run */

    out->count = 0;
    out->means = malloc(PIECES_MAX * sizeof(*out->means));
    if (!out->means)
        return pastset_no_memory("for an outlook");
    for (size_t i = count; i-- > 0 && out->count < PIECES_MAX;) {
        const predict_reading *r = &all.items[i];
        number = (at_ms - predict_reading_end(r)) / piece_ms;
        if (number != of && weight > 0) {
            out->means[out->count++] = sum / weight;
            sum = weight = 0;
        }
        of = number;
        sum += r->weight * r->value;
        weight += r->weight;
    }
    /* The oldest one may have been cut off. */
    if (weight > 0 && out->count == 0)
        out->means[out->count++] = sum / weight;
    for (size_t i = 0; i < out->count / 2; i++) {
        double first = out->means[i];
        out->means[i] = out->means[out->count - 1 - i];
        out->means[out->count - 1 - i] = first;
    }
    return 0;
}

static int forecast(predict_outlook *out, const pieces *p)
{
    predict_forecaster *forecaster;
    predict_forecast next;
    int err = predict_forecaster_create(&forecaster);

    for (size_t i = 0; i < p->count && !err; i++)
        err = predict_forecaster_add(forecaster, p->means[i]);
    if (!err)
        err = predict_forecaster_next(&next, forecaster);
    if (!err) {
        out->value = next.value;
        out->pieces = p->count;
        snprintf(out->method, sizeof(out->method), "%s", next.method);
    }
    predict_forecaster_destroy(forecaster);
    return err;
}

/* Of pieces as long as the run, or shorter, until there are enough. */
static int by_forecast(predict_outlook *out, predict_readings all, size_t count,
                       int64_t at_ms, int64_t lasts_ms)
{
    int64_t piece_ms = lasts_ms > 0 ? lasts_ms : 1;
    pieces p;
    int err = pieces_make(&p, all, count, at_ms, piece_ms);

    /* The oldest piece is never whole. */
    while (!err && p.count < PIECES_MIN && p.count + 1 < count &&
           piece_ms > 1) {
        free(p.means);
        piece_ms /= 2;
        err = pieces_make(&p, all, count, at_ms, piece_ms);
    }
    if (!err) {
        out->piece_ms = piece_ms;
        err = forecast(out, &p);
    }
    free(p.means);
    return err;
}

/* --- modes --- */

/* The values of the last piece; all there are if these are too few. */
static int by_modes(predict_outlook *out, predict_readings all, size_t count,
                    int64_t at_ms, int64_t lasts_ms)
{
    size_t first = count;
    double *values;
    predict_modes modes;
    int err;

    while (first > 0 &&
           (predict_reading_end(&all.items[first - 1]) > at_ms - lasts_ms ||
            count - first < PIECES_MIN))
        first--;
    values = malloc((count - first) * sizeof(*values));
    if (!values)
        return pastset_no_memory("for an outlook");
    for (size_t i = first; i < count; i++)
        values[i - first] = all.items[i].value;
    err = predict_modes_find(&modes, values, count - first);
    free(values);
    if (err)
        return err;
    out->value = predict_modes_averaged(&modes);
    out->pieces = count - first;
    out->piece_ms = at_ms - all.items[first].time_ms;
    snprintf(out->method, sizeof(out->method), "%zu mode%s", modes.count,
             modes.count == 1 ? "" : "s");
    return 0;
}

static void extremes_find(predict_outlook *out, predict_readings all,
                          size_t count)
{
    out->least = out->most = all.items[0].value;
    for (size_t i = 1; i < count; i++) {
        out->least = fmin(out->least, all.items[i].value);
        out->most = fmax(out->most, all.items[i].value);
    }
}

static void few_widen(predict_outlook *out)
{
    double missing = 1 - (double)(out->pieces - 1) / (PIECES_MIN - 1);

    if (missing <= 0)
        return;
    out->value.range = fmax(out->value.range, missing * fabs(out->value.mean));
    out->least = -INFINITY;
    out->most = INFINITY;
}

int predict_outlook_make(predict_outlook *out, predict_readings readings,
                         int64_t at_ms, int64_t lasts_ms,
                         predict_outlook_how how)
{
    size_t count = predict_readings_until(readings, at_ms);
    int err;

    *out = (predict_outlook){0};
    if (count == 0)
        return pastset_fail(PASTSET_ENOENT, "nothing was measured before then");
    out->latest_ms = predict_reading_end(&readings.items[count - 1]);
    extremes_find(out, readings, count);
    err = how == PREDICT_BY_MODES
              ? by_modes(out, readings, count, at_ms, lasts_ms)
              : by_forecast(out, readings, count, at_ms, lasts_ms);
    if (!err)
        few_widen(out);
    return err;
}

double predict_load_of_share(double share, uint32_t processors)
{
    double p = processors, of_p = p / (p + 1);

    if (processors > 1 && share > of_p)
        return fmax(0, (1 - share) / (1 - of_p)) * p;
    return fmax(0, p / share - 1);
}
