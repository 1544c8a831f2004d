/* hindcast.h - how long a run would have taken before, and so the next one.
 *
 * outlook.h forecasts what each machine gives, and vary.h says what time
 * follows from that. That is wide of the mark where the load changes while the
 * program runs: a mean of a share is no mean of a time, as that goes by 1/share
 * and by whoever is slowest, and what machines give at once is not unrelated.
 * Here the times themselves are the series. At what was measured at a moment a
 * whole run would take T, so that it does 1/T of its work in a second; a run
 * that ended at some time began as long before as it takes to do all of its
 * work. Such runs, a run's time apart, of which the last one ends where the
 * next run begins, are a series, and what comes next of it is forecast
 * (forecast.h) with the range that such forecasts have needed.
 *
 * Nothing that comes after `at_ms` is looked at.
 *
 * Threads: any. */
#ifndef PREDICT_HINDCAST_H
#define PREDICT_HINDCAST_H

#include "predict/stochastic/outlook.h"
#include "predict/stochastic/vary.h"

#define PREDICT_HINDCAST_MIN 20 /* runs: of fewer nobody knows the range */

typedef struct predict_hindcast {
    predict_stochastic time_s;
    char method[40];  /* "median of 5" */
    size_t runs;      /* that would have ended before */
    int64_t apart_ms; /* between their ends */
} predict_hindcast;

/* `series` and `varied` have `count` each: what was measured, and (`least`,
 * `most` alone) what values can be. `lasts_ms`: about how long the run will
 * take. Calls `time` some hundred times.
 * Errors: PASTSET_ENOENT (fewer than PREDICT_HINDCAST_MIN such runs are in what
 * was measured of all series at once), PASTSET_ENOMEM, those of `time`. */
int predict_hindcast_make(predict_hindcast *out, const predict_readings *series,
                          const predict_varied *varied, size_t count,
                          int64_t at_ms, int64_t lasts_ms, predict_time *time,
                          void *context);

#endif
