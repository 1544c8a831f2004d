/* forecast.h - the next value of a series, and how sure that is.
 *
 * As the Network Weather Service does it (002, 1 and 3.2): many simple methods
 * forecast each value before it comes; the one whose forecasts have been off
 * least up to now, on average, is gone by. These are the last value, the mean
 * of all values, means and medians of the last few, exponential smoothing, and
 * autoregression. None of them is best for all series, and none has to be
 * chosen by hand.
 *
 * The range is that of its own errors: it is as wide as 95 % of the last 512
 * forecasts were off, and a little wider or narrower if fewer or more than 95 %
 * of the values have been within the ranges that were told (adaptive conformal
 * inference). So 95 % of the values are within in the long run, whatever their
 * distribution.
 *
 * Threads:   one thread per forecaster.
 * Ownership: create gives, destroy takes back. */
#ifndef PREDICT_FORECAST_H
#define PREDICT_FORECAST_H

#include <stdint.h>

#include "predict/stochastic/stochastic.h"

#define PREDICT_METHODS_MAX 32

typedef struct predict_forecaster predict_forecaster;

typedef struct predict_forecast {
    predict_stochastic value; /* what comes next */
    const char *method;       /* "median of 5" */
    double error;             /* by how much its forecasts were off, on average;
                                 0 before there was one */
} predict_forecast;

typedef struct predict_method {
    const char *name;
    double error; /* the same of this method */
} predict_method;

/* Errors: PASTSET_ENOMEM. */
int predict_forecaster_create(predict_forecaster **out);
/* NULL is allowed. */
void predict_forecaster_destroy(predict_forecaster *forecaster);

/* The next value of the series is there. Errors: PASTSET_EINVAL (it is no
 * number; nothing has changed). */
int predict_forecaster_add(predict_forecaster *forecaster, double value);

/* Errors: PASTSET_ENOENT (there is no value yet). */
int predict_forecaster_next(predict_forecast *out,
                            const predict_forecaster *forecaster);

/* All methods, in a fixed order; gives how many. */
size_t predict_forecaster_methods(const predict_forecaster *forecaster,
                                  predict_method out[PREDICT_METHODS_MAX]);

#endif
