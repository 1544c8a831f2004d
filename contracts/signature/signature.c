#include "contracts/signature/signature.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

static void interval_make(const contracts_signature *s, uint32_t process,
                          size_t interval, const contracts_course *course,
                          contracts_metric_state *state, double *more)
{
    const double *q = contracts_course_at(course, process, interval);
    double *values = contracts_signature_at(s, process, interval);
    double *grains = contracts_signature_grains_at(s, process, interval);

    contracts_course_one_more(more, course, process, interval);
    contracts_metrics_instead(s->metrics, state, more, grains);
    contracts_metrics_next(s->metrics, state, q, values);
    for (size_t m = 0; m < s->metric_count; m++)
        grains[m] = fabs(grains[m] - values[m]);
}

static int process_make(const contracts_signature *s, uint32_t process,
                        const contracts_course *course)
{
    contracts_metric_state *state;
    double *more = malloc(course->width * sizeof(*more));
    int err = contracts_metric_state_create(&state, s->metrics);

    if (!err && !more)
        err = pastset_no_memory("for a signature");
    for (size_t i = 0; i < s->intervals && !err; i++)
        interval_make(s, process, i, course, state, more);
    contracts_metric_state_destroy(state);
    free(more);
    return err;
}

static bool has_values(const contracts_signature *s, uint32_t process,
                       size_t metric)
{
    for (size_t i = 0; i < s->intervals; i++)
        if (!isnan(contracts_signature_at(s, process, i)[metric]))
            return true;
    return false;
}

static void mean_add(const contracts_signature *s, uint32_t row,
                     uint32_t process, size_t metric)
{
    for (size_t i = 0; i < s->intervals; i++) {
        contracts_signature_at(s, row, i)[metric] +=
            contracts_signature_at(s, process, i)[metric];
        contracts_signature_grains_at(s, row, i)[metric] +=
            contracts_signature_grains_at(s, process, i)[metric];
    }
}

/* Of these, or of all (NULL). Where one that has values is not known the mean
 * is not. An operation more is one of one of them. */
static void mean_make(const contracts_signature *s, uint32_t row,
                      const uint32_t *members, uint32_t member_count,
                      size_t metric)
{
    double count = 0;

    for (uint32_t i = 0; i < member_count; i++) {
        uint32_t process = members ? members[i] : i;
        if (!has_values(s, process, metric))
            continue;
        mean_add(s, row, process, metric);
        count++;
    }
    for (size_t i = 0; i < s->intervals; i++) {
        double *mean = &contracts_signature_at(s, row, i)[metric];
        double *grain = &contracts_signature_grains_at(s, row, i)[metric];
        *mean = count > 0 ? *mean / count : (double)NAN;
        *grain = count > 0 ? *grain / (count * count) : (double)NAN;
    }
}

/* Room for one more row, of zeroes. */
static int row_add(double **all, size_t rows, size_t row)
{
    double *grown = realloc(*all, ((rows + 1) * row + 1) * sizeof(*grown));

    if (!grown)
        return pastset_no_memory("for a signature");
    memset(&grown[rows * row], 0, row * sizeof(*grown));
    *all = grown;
    return 0;
}

int contracts_signature_add_mean(contracts_signature *s,
                                 const uint32_t *members, uint32_t count)
{
    size_t row = s->intervals * s->metric_count;
    int err = row_add(&s->values, s->rows, row);

    if (!err)
        err = row_add(&s->grains, s->rows, row);
    if (err)
        return err;
    s->rows++;
    for (size_t m = 0; m < s->metric_count; m++)
        mean_make(s, s->rows - 1, members, count, m);
    return 0;
}

int contracts_signature_make(contracts_signature **out,
                             const contracts_metrics *metrics,
                             const contracts_course *course)
{
    contracts_signature *s = calloc(1, sizeof(*s));
    size_t room;
    int err = 0;

    *out = NULL;
    if (!s)
        return pastset_no_memory("for a signature");
    s->metrics = metrics;
    s->metric_count = contracts_metrics_count(metrics);
    s->from_ns = course->from_ns;
    s->interval_ns = course->interval_ns;
    s->intervals = course->intervals;
    s->processes = s->rows = course->processes;
    room = (size_t)s->processes * s->intervals * s->metric_count + 1;
    s->values = calloc(room, sizeof(*s->values));
    s->grains = calloc(room, sizeof(*s->grains));
    if (!s->values || !s->grains)
        err = pastset_no_memory("for a signature");
    for (uint32_t p = 0; p < s->processes && !err; p++)
        err = process_make(s, p, course);
    if (!err)
        err = contracts_signature_add_mean(s, NULL, s->processes);
    if (err)
        contracts_signature_destroy(s);
    else
        *out = s;
    return err;
}

void contracts_signature_destroy(contracts_signature *signature)
{
    if (!signature)
        return;
    free(signature->values);
    free(signature->grains);
    free(signature);
}
