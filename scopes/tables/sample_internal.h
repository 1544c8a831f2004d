/* sample_internal.h - what is said of many times, as columns of a table. */
#ifndef SCOPES_SAMPLE_INTERNAL_H
#define SCOPES_SAMPLE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "scopes/tables/table.h"

/* Count, sum, mean, median, standard deviation, least and most of times. All
 * samples are kept (8 bytes each), since the median needs them. */
typedef struct scopes__sample {
    int64_t *values;
    size_t count;
} scopes__sample;

int scopes__sample_add(scopes__sample *sample, int64_t value);
void scopes__sample_fini(scopes__sample *sample);

/* The columns that `scopes__sample_row` fills in. `deviation` is that of the
 * population; of an even number of samples the median is the lower of the two
 * in the middle; the mean is rounded to the nearest, halves away from zero. */
#define SCOPES__SAMPLE_COLUMNS                                                 \
    {"count", "count", SCOPES_COUNT},                                          \
        {"total_ns", "total ms", SCOPES_TIME_NS},                              \
        {"mean_ns", "mean ms", SCOPES_TIME_NS},                                \
        {"median_ns", "median ms", SCOPES_TIME_NS},                            \
        {"deviation_ns", "deviation ms", SCOPES_TIME_NS},                      \
        {"min_ns", "min ms", SCOPES_TIME_NS},                                  \
    {                                                                          \
        "max_ns", "max ms", SCOPES_TIME_NS                                     \
    }
/* Blanks but for the count when there is no sample. Reorders the values. */
void scopes__sample_row(scopes_table *table, scopes__sample *sample);
/* The least sample that this share of them, from 0 to 1, does not exceed; blank
 * when there is no sample. Reorders the values. */
int64_t scopes__sample_at(scopes__sample *sample, double share);

#endif
