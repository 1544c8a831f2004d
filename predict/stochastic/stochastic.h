/* stochastic.h - values that say how sure they are.
 *
 * Paper 002, 2.3 and figure 4. A stochastic value X ± a is the mean of a normal
 * distribution and two of its standard deviations, so that 95 % of what it
 * stands for lie in between. With a range of 0 it is a point.
 *
 * Two values are related if one thing moves both, as the traffic of others does
 * the latency and the bandwidth of a link. Then errors may all go the same way,
 * and the range is the one of that case; else they partly cancel:
 *
 *              related                        unrelated
 *   X + Y      a + b                          sqrt(a² + b²)
 *   X - Y      a + b                          sqrt(a² + b²)
 *   X * Y      a|Y| + b|X| + ab               sqrt((aY)² + (bX)²)
 *   X / Y      (|X| + a)/(|Y| - b) - |X/Y|    sqrt((a/Y)² + (bX/Y²)²)
 *
 * The paper has the sums, and the products of positive means. What it leaves
 * open is decided here so:
 *
 *   Differences have the ranges of sums: also where a cause moves both values,
 *   nobody says that it moves them the same way.
 *   Negative means count by their amount: a range is never negative. The
 *   paper's form of the unrelated product divides by the means; the one above
 * is the same for positive ones, and holds for means of 0 too. Quotients are
 * the products with 1/Y, to the first order where unrelated, and in the worst
 * case where related. A divisor whose range reaches 0 has no quotient:
 * PASTSET_EINVAL.
 *
 * How exact that is (tests/predict/stochastic_test.c draws it): sums of
 * unrelated values are; sums of related ones, if they are as related as can be.
 * With r and s, the ranges in proportion to the means: the unrelated product
 * has the right mean, and its range is too short by (rs)²/8(r² + s²) or
 * less: 1.6 % where both are 50 %. The related one's mean lacks rs/4 (6 %
 * there), and its range is the worst case. The quotient's mean lacks s²/4.
 * Products and quotients are not normal, but long-tailed above.
 *
 * Threads: any. */
#ifndef PREDICT_STOCHASTIC_H
#define PREDICT_STOCHASTIC_H

#include <stddef.h>

typedef struct predict_stochastic {
    double mean;
    double range; /* two standard deviations, from 0 */
} predict_stochastic;

typedef enum predict_relation {
    PREDICT_UNRELATED,
    PREDICT_RELATED,
} predict_relation;

static inline predict_stochastic predict_point(double value)
{
    return (predict_stochastic){value, 0};
}

static inline double predict_upper(predict_stochastic v)
{
    return v.mean + v.range;
}

static inline double predict_lower(predict_stochastic v)
{
    return v.mean - v.range;
}

/* Errors: PASTSET_EINVAL (a mean or a range that is no number, or infinite; a
 * negative range), which names `what`. */
int predict_stochastic_check(predict_stochastic v, const char *what);

predict_stochastic predict_stochastic_add(predict_stochastic x,
                                          predict_stochastic y,
                                          predict_relation relation);
predict_stochastic predict_stochastic_subtract(predict_stochastic x,
                                               predict_stochastic y,
                                               predict_relation relation);
predict_stochastic predict_stochastic_multiply(predict_stochastic x,
                                               predict_stochastic y,
                                               predict_relation relation);
/* Errors: PASTSET_EINVAL (the divisor's range reaches 0). */
int predict_stochastic_divide(predict_stochastic *out, predict_stochastic x,
                              predict_stochastic y, predict_relation relation);

/* Of several (2.3.1): the one with the largest, or the smallest, mean, or upper
 * end. The first of those that are equal. By means it is right on average; by
 * upper ends it is careful. `count` is 1 at least. */
typedef enum predict_group {
    PREDICT_BY_MEAN,
    PREDICT_BY_UPPER,
} predict_group;

size_t predict_stochastic_max(const predict_stochastic *values, size_t count,
                              predict_group by);
size_t predict_stochastic_min(const predict_stochastic *values, size_t count,
                              predict_group by);

/* How far a number is outside of the range; 0: it is within (002, 3.2). */
double predict_stochastic_miss(predict_stochastic v, double number);

#endif
