/* modes.h - what a history of measured values is like: its modes.
 *
 * Paper 002, 2.1. Loads often stay around one value for a while and then around
 * another one. A mode is a peak of the distribution of the values, with all
 * that lies around it, down to the valleys on both sides; its values may be
 * normal or long-tailed.
 *
 * How modes are found. Mixtures of 1 to 6 normal distributions are fitted to
 * the values (expectation and maximization, from the division into as many
 * groups that has the least squares), and the one is taken that the Bayesian
 * information criterion prefers; each normal distribution stands for ten values
 * at least. What a long tail was cut into is then put together again: two
 * neighbours are one mode, unless the density between them falls below 0.7 of
 * the lower one of their peaks. A mode's share, mean and deviation are those of
 * its part of the mixture, so that values where two modes overlap belong to
 * both.
 *
 * Threads: any. */
#ifndef PREDICT_MODES_H
#define PREDICT_MODES_H

#include "predict/stochastic/stochastic.h"

#define PREDICT_MODES_MAX 6

typedef struct predict_mode {
    double share; /* of the values, from 0 to 1 */
    predict_stochastic value;
    double from, to; /* the valleys; -INFINITY and INFINITY at the ends */
} predict_mode;

typedef struct predict_modes {
    predict_mode modes[PREDICT_MODES_MAX]; /* by mean, at least one */
    size_t count;
} predict_modes;

/* Errors: PASTSET_EINVAL (no values, or one that is no number, by its place),
 * PASTSET_ENOMEM. */
int predict_modes_find(predict_modes *out, const double *values, size_t count);

/* Which mode a value is in. */
size_t predict_modes_of(const predict_modes *modes, double value);

/* What all of it is like.
 *
 * `averaged`: the sum of the modes, each times its share, as unrelated values
 * (002, 2.1.2): for a time that is long against that between two changes of
 * mode, for then it is an average. `mixed`: one value at any moment: the mean
 * is the same, but the range is that of the whole mixture, which has what lies
 * between the modes. */
predict_stochastic predict_modes_averaged(const predict_modes *modes);
predict_stochastic predict_modes_mixed(const predict_modes *modes);

/* The mean of values, and two standard deviations (of the sample). `count` is 1
 * at least. */
predict_stochastic predict_stochastic_of(const double *values, size_t count);
/* Which part of the values is within the range, ends included: 95 % of normal
 * ones, but fewer or more of others (002, 2.1.1). */
double predict_coverage(predict_stochastic v, const double *values,
                        size_t count);

#endif
