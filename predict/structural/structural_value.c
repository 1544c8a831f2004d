/* structural_value.c - a value, and how much of its range comes from where.
 *
 * Errors from one source go the same way, those of different sources have
 * nothing to do with each other. So two values are combined source by source,
 * as related ones, and a range is the root of the squares of what comes from
 * each source, as of unrelated ones (stochastic.h). Then x + y + x + y is as
 * sure as 2 * (x + y), in whatever order it is added. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "predict/structural/structural_internal.h"

void predict__value_fini(predict__value *v)
{
    free(v->parts);
    *v = (predict__value){0};
}

int predict__value_copy(predict__value *out, const predict__value *v)
{
    *out = *v;
    out->parts = NULL;
    if (v->count == 0)
        return 0;
    out->parts = malloc(v->count * sizeof(*v->parts));
    if (!out->parts) {
        out->count = 0;
        return pastset_no_memory("for a model");
    }
    memcpy(out->parts, v->parts, v->count * sizeof(*v->parts));
    return 0;
}

predict_stochastic predict__value_whole(const predict__value *v)
{
    double squares = 0;

    for (uint32_t i = 0; i < v->count; i++)
        squares += v->parts[i].range * v->parts[i].range;
    return (predict_stochastic){v->mean, sqrt(squares)};
}

int predict__value_from(predict__value *v, uint32_t source)
{
    predict_stochastic whole = predict__value_whole(v);

    free(v->parts);
    v->parts = NULL;
    v->count = 0;
    if (whole.range == 0)
        return 0;
    v->parts = malloc(sizeof(*v->parts));
    if (!v->parts)
        return pastset_no_memory("for a model");
    v->parts[v->count++] = (predict__part){source, whole.range};
    return 0;
}

void predict__value_scale(predict__value *v, double mean, double range)
{
    v->mean *= mean;
    for (uint32_t i = 0; i < v->count; i++)
        v->parts[i].range *= range;
}

/* What the operation makes of two that are related. */
static int of_two(predict_stochastic *out, predict__op op, predict_stochastic x,
                  predict_stochastic y)
{
    switch (op) {
    case PREDICT__SUBTRACT:
        *out = predict_stochastic_subtract(x, y, PREDICT_RELATED);
        return 0;
    case PREDICT__MULTIPLY:
        *out = predict_stochastic_multiply(x, y, PREDICT_RELATED);
        return 0;
    case PREDICT__DIVIDE: /* the worst case is that of both */
        return predict_stochastic_divide(
            out, x, y,
            x.range > 0 && y.range > 0 ? PREDICT_RELATED : PREDICT_UNRELATED);
    default:
        *out = predict_stochastic_add(x, y, PREDICT_RELATED);
        return 0;
    }
}

/* The part of the next source of either; 0 in the one that has none of it. */
static uint32_t next_source(const predict__value *a, const predict__value *b,
                            uint32_t *i, uint32_t *k, double *x, double *y)
{
    uint32_t of_a = *i < a->count ? a->parts[*i].source : PREDICT__NONE;
    uint32_t of_b = *k < b->count ? b->parts[*k].source : PREDICT__NONE;
    uint32_t source = of_a < of_b ? of_a : of_b;

    *x = of_a == source ? a->parts[(*i)++].range : 0;
    *y = of_b == source ? b->parts[(*k)++].range : 0;
    return source;
}

int predict__value_combine(predict__value *out, predict__op op,
                           const predict__value *a, const predict__value *b)
{
    uint32_t room = a->count + b->count, i = 0, k = 0;
    predict_stochastic two;
    int err =
        of_two(&two, op, predict__value_whole(a), predict__value_whole(b));

    *out = (predict__value){.mean = two.mean, .dimension = a->dimension};
    if (!err && room > 0) {
        out->parts = malloc(room * sizeof(*out->parts));
        if (!out->parts)
            err = pastset_no_memory("for a model");
    }
    while (!err && (i < a->count || k < b->count)) {
        double x, y;
        uint32_t source = next_source(a, b, &i, &k, &x, &y);
        err = of_two(&two, op, (predict_stochastic){a->mean, x},
                     (predict_stochastic){b->mean, y});
        if (!err && two.range > 0)
            out->parts[out->count++] = (predict__part){source, two.range};
    }
    if (err)
        predict__value_fini(out);
    return err;
}
