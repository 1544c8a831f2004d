/* metrics.h - metrics: named numbers that are worked out for each process and
 * interval from what was measured there (paper 003, 4 and 5).
 *
 * An intrinsic metric tells what a program asks for, whatever it runs on; a
 * performance metric is a rate, and tells how the resources answer. In a text:
 *
 *     metric intrinsic   operation_bytes = bytes / operations;
 *     metric performance operation_rate = mean(operations / seconds, 3);
 *
 * An expression has numbers, quantities (course.h), metrics of lines before,
 * + - * / and parentheses, what the program counts itself, by its name
 * (eventspace/metric.h), what was sampled of its machine, by the history's
 * (measure/sensors/history.h), and functions of what was in the intervals
 * before:
 *
 *     program("cells")
 *     history("availability")
 *     delta(x)       x less what it was in the interval before
 *     mean(x, N)     the mean of the last N intervals, or of as many as there
 *                    are
 *     smooth(x, A)   exponential smoothing: A of x and the rest of what it was
 *     total(x)       all since the first interval
 *
 * What cannot be worked out in an interval, such as a division by 0, is not
 * known there (NAN); functions pass over such intervals.
 *
 * Threads:   one thread per state; metrics do not change once they were read.
 * Ownership: create gives, destroy takes back. */
#ifndef CONTRACTS_METRICS_H
#define CONTRACTS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contracts/text/tokens.h"

#define CONTRACTS_METRICS_MAX 64

typedef struct contracts_metrics contracts_metrics;

/* Names of the quantities, by number: they are borrowed.
 * Errors: PASTSET_ENOMEM. */
int contracts_metrics_create(contracts_metrics **out,
                             const char *const *quantities, size_t count);
/* Reads one metric, behind the word "metric"; what is wrong is in `t`. */
void contracts__metric_parse(contracts_metrics *metrics, contracts__tokens *t);
/* NULL is allowed. */
void contracts_metrics_destroy(contracts_metrics *metrics);

size_t contracts_metrics_count(const contracts_metrics *metrics);
const char *contracts_metric_name(const contracts_metrics *metrics,
                                  size_t metric);
/* The text of its expression, as it was written. */
const char *contracts_metric_text(const contracts_metrics *metrics,
                                  size_t metric);
bool contracts_metric_is_intrinsic(const contracts_metrics *metrics,
                                   size_t metric);

/* What programs count that metrics are of: each name once, borrowed. */
const char *const *contracts_metrics_programs(const contracts_metrics *metrics,
                                              size_t *count);

/* The histories that metrics are of: the same. */
const char *const *contracts_metrics_histories(const contracts_metrics *metrics,
                                               size_t *count);

/* What functions remember of one process. */
typedef struct contracts_metric_state contracts_metric_state;

/* Errors: PASTSET_ENOMEM. */
int contracts_metric_state_create(contracts_metric_state **out,
                                  const contracts_metrics *metrics);
/* Another one that remembers the same. Errors: PASTSET_ENOMEM. */
int contracts_metric_state_copy(contracts_metric_state **out,
                                const contracts_metrics *metrics,
                                const contracts_metric_state *state);
/* NULL is allowed. */
void contracts_metric_state_destroy(contracts_metric_state *state);

/* The next interval: a value for each metric from one for each quantity, and
 * behind them one for each of what programs count, and for each history. */
void contracts_metrics_next(const contracts_metrics *metrics,
                            contracts_metric_state *state,
                            const double *quantities, double *out);

/* What the next interval would be with these quantities: nothing is remembered
 * of it. */
void contracts_metrics_instead(const contracts_metrics *metrics,
                               contracts_metric_state *state,
                               const double *quantities, double *out);

#endif
