/* stochastic.c - see stochastic.h. */
#include "predict/stochastic/stochastic.h"

#include <math.h>

#include "pastset/status.h"

int predict_stochastic_check(predict_stochastic v, const char *what)
{
    if (!isfinite(v.mean) || !isfinite(v.range))
        return pastset_fail(PASTSET_EINVAL, "%s is not a number", what);
    if (v.range < 0)
        return pastset_fail(PASTSET_EINVAL,
                            "%s has a range below 0: give the distance from "
                            "the mean to either end",
                            what);
    return 0;
}

/* Two errors together. */
static double both(double a, double b, predict_relation relation)
{
    return relation == PREDICT_RELATED ? a + b : hypot(a, b);
}

predict_stochastic predict_stochastic_add(predict_stochastic x,
                                          predict_stochastic y,
                                          predict_relation relation)
{
    return (predict_stochastic){x.mean + y.mean,
                                both(x.range, y.range, relation)};
}

predict_stochastic predict_stochastic_subtract(predict_stochastic x,
                                               predict_stochastic y,
                                               predict_relation relation)
{
    return (predict_stochastic){x.mean - y.mean,
                                both(x.range, y.range, relation)};
}

predict_stochastic predict_stochastic_multiply(predict_stochastic x,
                                               predict_stochastic y,
                                               predict_relation relation)
{
    double range =
        both(x.range * fabs(y.mean), y.range * fabs(x.mean), relation);

    if (relation == PREDICT_RELATED)
        range += x.range * y.range;
    return (predict_stochastic){x.mean * y.mean, range};
}

int predict_stochastic_divide(predict_stochastic *out, predict_stochastic x,
                              predict_stochastic y, predict_relation relation)
{
    double least = fabs(y.mean) - y.range;

    if (!(least > 0))
        return pastset_fail(PASTSET_EINVAL,
                            "cannot divide by %g ± %g: its range reaches 0",
                            y.mean, y.range);
    out->mean = x.mean / y.mean;
    out->range =
        relation == PREDICT_RELATED
            ? (fabs(x.mean) + x.range) / least - fabs(out->mean)
            : hypot(x.range / y.mean, y.range * x.mean / (y.mean * y.mean));
    return 0;
}

static double by_value(predict_stochastic v, predict_group by)
{
    return by == PREDICT_BY_MEAN ? v.mean : predict_upper(v);
}

size_t predict_stochastic_max(const predict_stochastic *values, size_t count,
                              predict_group by)
{
    size_t best = 0;

    for (size_t i = 1; i < count; i++)
        if (by_value(values[i], by) > by_value(values[best], by))
            best = i;
    return best;
}

size_t predict_stochastic_min(const predict_stochastic *values, size_t count,
                              predict_group by)
{
    size_t best = 0;

    for (size_t i = 1; i < count; i++)
        if (by_value(values[i], by) < by_value(values[best], by))
            best = i;
    return best;
}

double predict_stochastic_miss(predict_stochastic v, double number)
{
    double away = fabs(number - v.mean) - v.range;

    return away > 0 ? away : 0;
}
