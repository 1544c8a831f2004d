#include "contracts/signature/signature.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

static int process_make(contracts_signature *s, uint32_t process,
                        const contracts_course *course)
{
    contracts_metric_state *state;
    int err = contracts_metric_state_create(&state, s->metrics);

    for (size_t i = 0; i < s->intervals && !err; i++)
        contracts_metrics_next(s->metrics, state,
                               contracts_course_at(course, process, i),
                               contracts_signature_at(s, process, i));
    contracts_metric_state_destroy(state);
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

static void mean_add(contracts_signature *s, uint32_t row, uint32_t process,
                     size_t metric)
{
    for (size_t i = 0; i < s->intervals; i++)
        contracts_signature_at(s, row, i)[metric] +=
            contracts_signature_at(s, process, i)[metric];
}

/* Of these, or of all (NULL). Where one that has values is not known the mean
 * is not. */
static void mean_make(contracts_signature *s, uint32_t row,
                      const uint32_t *members, uint32_t member_count,
                      size_t metric)
{
    size_t count = 0;

    for (uint32_t i = 0; i < member_count; i++) {
        uint32_t process = members ? members[i] : i;
        if (!has_values(s, process, metric))
            continue;
        mean_add(s, row, process, metric);
        count++;
    }
    for (size_t i = 0; i < s->intervals; i++) {
        double *mean = &contracts_signature_at(s, row, i)[metric];
        *mean = count ? *mean / (double)count : (double)NAN;
    }
}

int contracts_signature_add_mean(contracts_signature *s,
                                 const uint32_t *members, uint32_t count)
{
    size_t row = s->intervals * s->metric_count;
    double *grown =
        realloc(s->values, (((size_t)s->rows + 1) * row + 1) * sizeof(*grown));

    if (!grown)
        return pastset_no_memory("for a signature");
    s->values = grown;
    memset(&grown[s->rows * row], 0, row * sizeof(*grown));
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
    s->values =
        calloc((size_t)s->processes * s->intervals * s->metric_count + 1,
               sizeof(*s->values));
    if (!s->values)
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
    free(signature);
}
