/* signature.h - the trajectory of each process through the space of metrics
 * (paper 003, 4; figures 1 and 5).
 *
 * Threads:   may be read by any once made.
 * Ownership: make gives, destroy takes back; metrics are borrowed, the course
 * is not needed any more. */
#ifndef CONTRACTS_SIGNATURE_H
#define CONTRACTS_SIGNATURE_H

#include "contracts/signature/course.h"
#include "contracts/signature/metrics.h"

typedef struct contracts_signature {
    const contracts_metrics *metrics;
    size_t metric_count;
    int64_t from_ns, interval_ns;
    size_t intervals;
    uint32_t processes; /* behind them is one more: all, the mean of each
                           metric over those that ever have it; NAN where it is
                           not known of one of these */
    uint32_t rows;      /* of values: these, and means that were added */
    double *values;     /* process by process, interval by interval: a value for
                           each metric; NAN: not known */
    double *grains;     /* the same: how far off it would be with one operation
                           more */
} contracts_signature;

/* Errors: PASTSET_ENOMEM. */
int contracts_signature_make(contracts_signature **out,
                             const contracts_metrics *metrics,
                             const contracts_course *course);
/* One more row behind the others: the mean of these processes, as that of all.
 * Errors: PASTSET_ENOMEM. */
int contracts_signature_add_mean(contracts_signature *signature,
                                 const uint32_t *members, uint32_t count);
/* NULL is allowed. */
void contracts_signature_destroy(contracts_signature *signature);

/* Of process number `processes` those of all, and behind that of what was
 * added.
 */
static inline double *
contracts_signature_at(const contracts_signature *signature, uint32_t process,
                       size_t interval)
{
    return &signature
                ->values[((size_t)process * signature->intervals + interval) *
                         signature->metric_count];
}

static inline double *
contracts_signature_grains_at(const contracts_signature *signature,
                              uint32_t process, size_t interval)
{
    return &signature
                ->grains[((size_t)process * signature->intervals + interval) *
                         signature->metric_count];
}

#endif
