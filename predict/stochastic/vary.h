/* vary.h - the time of a run by values that are stochastic.
 *
 * A model that is a formula has a stochastic value by the rules of 002
 * (stochastic.h). One that is a program, such as the replay, gives a point for
 * points. So it is asked at the means, and at both ends of the range of each
 * value, with the others at their means. How far these two are from the one at
 * the means, as a root mean square, is what the value's range adds. What
 * unrelated values add is put together as in the paper's sum, and what related
 * ones add is added. Where the time grows otherwise than in proportion, as it
 * does with 1/share, the mean is moved by an eighth of how far the two ends are
 * above twice the middle: the second order, as an end is two standard
 * deviations away.
 *
 * Threads: any. */
#ifndef PREDICT_VARY_H
#define PREDICT_VARY_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/stochastic/stochastic.h"

typedef struct predict_varied {
    predict_stochastic value;
    double least, most; /* it cannot be outside of these */
    bool is_cost;       /* the time grows with it; else it shrinks */
    uint32_t group;     /* values of one group are related */
    double added_s;     /* out: what its range adds to that of the time */
} predict_varied;

/* As far as it can be. */
static inline double predict_varied_within(const predict_varied *v,
                                           double value)
{
    return fmin(fmax(value, v->least), v->most);
}

/* The time at these values, one for each of those that vary. */
typedef int predict_time(double *seconds, const double *values, void *context);

/* The time at the means. Errors: those of `time`, PASTSET_ENOMEM. */
int predict_vary_not(double *seconds, const predict_varied *varied,
                     size_t count, predict_time *time, void *context);

/* Calls `time` 2 * count + 1 times. Errors: those of `time`,
 * PASTSET_ENOMEM. */
int predict_vary(predict_stochastic *out, predict_varied *varied, size_t count,
                 predict_time *time, void *context);

/* What to count on: by how much a careful person does.
 *
 *   0           the mean
 *   above 0     the time that is not exceeded with this probability, below 1
 *   1           the upper end of the range, mean + a */
double predict_at_risk(predict_stochastic v, double risk);

#endif
