/* vary.c - see vary.h. */
#include "predict/stochastic/vary.h"

#include <stdlib.h>

#include "pastset/status.h"

/* One at both of its ends, all others at their means. */
static int ends(double *curve_s, predict_varied *v, double *value,
                double middle_s, const double *values, predict_time *time,
                void *context)
{
    double mean = *value, low_s, high_s;
    int err;

    *value = predict_varied_within(v, predict_lower(v->value));
    err = time(&low_s, values, context);
    *value = predict_varied_within(v, predict_upper(v->value));
    if (!err)
        err = time(&high_s, values, context);
    *value = mean;
    if (err)
        return err;
    v->added_s = hypot(high_s - middle_s, low_s - middle_s) / sqrt(2);
    *curve_s += (high_s + low_s - 2 * middle_s) / 8;
    return 0;
}

/* Each group once, at its first one. */
static double together(const predict_varied *varied, size_t count)
{
    double squares = 0;

    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        size_t first = 0;
        while (varied[first].group != varied[i].group)
            first++;
        for (size_t k = i; first == i && k < count; k++)
            if (varied[k].group == varied[i].group)
                sum += varied[k].added_s;
        squares += sum * sum;
    }
    return sqrt(squares);
}

/* The caller frees them; NULL: no memory. */
static double *means_make(const predict_varied *varied, size_t count)
{
    double *values = calloc(count + 1, sizeof(*values));

    for (size_t i = 0; values && i < count; i++)
        values[i] = predict_varied_within(&varied[i], varied[i].value.mean);
    return values;
}

int predict_vary_not(double *seconds, const predict_varied *varied,
                     size_t count, predict_time *time, void *context)
{
    double *values = means_make(varied, count);
    int err = values ? time(seconds, values, context)
                     : pastset_no_memory("for values");

    free(values);
    return err;
}

int predict_vary(predict_stochastic *out, predict_varied *varied, size_t count,
                 predict_time *time, void *context)
{
    double *values = means_make(varied, count);
    double middle_s, curve_s = 0;
    int err;

    if (!values)
        return pastset_no_memory("to vary values");
    err = time(&middle_s, values, context);
    for (size_t i = 0; i < count && !err; i++)
        err = ends(&curve_s, &varied[i], &values[i], middle_s, values, time,
                   context);
    free(values);
    if (!err)
        *out =
            (predict_stochastic){middle_s + curve_s, together(varied, count)};
    return err;
}

/* The inverse of the normal distribution function, by bisection: it is asked
 * for once. */
static double deviations(double probability)
{
    double low = -10, high = 10;

    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (erfc(-middle / sqrt(2)) / 2 < probability)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double predict_at_risk(predict_stochastic v, double risk)
{
    if (risk <= 0)
        return v.mean;
    return risk >= 1 ? predict_upper(v)
                     : v.mean + deviations(risk) * v.range / 2;
}
