/* outlook.h - what a series will be like for as long as a program runs.
 *
 * A run takes the mean of what a machine gives while it lasts: of a run of a
 * second that is nearly what the next sample says; of one of an hour, whatever
 * the machine does now, it is nearly what it mostly does. So a series is cut
 * into pieces as long as the run, of which the last one ends where the run
 * begins, and the mean of the next piece is what is to be known.
 *
 *   by forecast  The means of the pieces are a series: its next value is
 *                forecast (forecast.h), with the range that such forecasts have
 *                needed. Where there are too few pieces, those of a half, a
 *                quarter ... of the length are taken, whose range is wider.
 *   by modes     Paper 002, 3.2: of the values of the last piece, the modes
 *                (modes.h), averaged by their shares.
 *
 * Of fewer than 20 pieces (or values) nobody knows how sure they are: then the
 * range is at least as large a part of the mean as pieces are missing, all of
 * it where there is one.
 *
 * Nothing that comes after `at_ms` is looked at.
 *
 * Threads: any. */
#ifndef PREDICT_OUTLOOK_H
#define PREDICT_OUTLOOK_H

#include "predict/stochastic/forecast.h"

/* One that was measured: at that time, or the mean of `lasts_ms` from then. */
typedef struct predict_reading {
    int64_t time_ms, lasts_ms;
    double value;
    double weight; /* for how long it stands, whatever the unit */
} predict_reading;

typedef struct predict_readings {
    const predict_reading *items; /* by time */
    size_t count;
} predict_readings;

static inline int64_t predict_reading_end(const predict_reading *r)
{
    return r->time_ms + r->lasts_ms;
}

/* How many end by then; the next one ends after it. */
static inline size_t predict_readings_until(predict_readings all, int64_t ms)
{
    size_t low = 0, high = all.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (predict_reading_end(&all.items[middle]) <= ms)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

typedef enum predict_outlook_how {
    PREDICT_BY_FORECAST,
    PREDICT_BY_MODES,
} predict_outlook_how;

typedef struct predict_outlook {
    predict_stochastic value;
    char method[40];    /* "median of 5", "2 modes" */
    int64_t piece_ms;   /* of what the mean is */
    size_t pieces;      /* from which that is known */
    int64_t latest_ms;  /* the end of what was measured before `at_ms` */
    double least, most; /* of all that was measured before: a mean of more of it
                           is not outside of these, whatever the range is.
                           -INFINITY, INFINITY: too little was */
} predict_outlook;

/* The mean from `at_ms` on, for `lasts_ms` (0: of the next sample).
 * Errors: PASTSET_ENOENT (nothing was measured before `at_ms`),
 * PASTSET_ENOMEM. */
int predict_outlook_make(predict_outlook *out, predict_readings readings,
                         int64_t at_ms, int64_t lasts_ms,
                         predict_outlook_how how);

/* How many competing processes leave such a share of a processor to one more,
 * on so many processors p: of n, it would get p/(n + 1), and at most 1. So at a
 * share of 1 there may be up to p - 1, and none is taken; between that and
 * p/(p + 1), which p of them leave, there were at times p, and else none. */
double predict_load_of_share(double share, uint32_t processors);

#endif
