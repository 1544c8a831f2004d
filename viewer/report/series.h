/* series.h - what a history is like, and the page of many of them: each as it
 * went, with its distribution beside what was fitted to it (as in 002, figures
 * 1 to 3 and 8).
 *
 * Threads:   any.
 * Ownership: init gives, fini takes back. Histories are borrowed. */
#ifndef VIEWER_SERIES_H
#define VIEWER_SERIES_H

#include <stdio.h>

#include "measure/sensors/history.h"
#include "predict/stochastic/forecast.h"
#include "predict/stochastic/modes.h"

typedef struct viewer_series {
    const measure_history *history;
    size_t first; /* of the rows that all below is about */
    double *values;
    size_t count;
    predict_stochastic all;
    predict_modes modes; /* of 10,000 of the values, if there are more */
    predict_forecast next;
} viewer_series;

/* Of the last `last_ms` (0: of all) of the last rows that are of one step:
 * samples, or where there are none any more, means. Errors: PASTSET_ENOENT (it
 * has no values), PASTSET_ENOMEM. */
int viewer_series_init(viewer_series *out, const measure_history *history,
                       int64_t last_ms);
void viewer_series_fini(viewer_series *series);

/* How many samples these values are, those in means too. */
uint64_t viewer_series_samples(const viewer_series *series);

/* And how many gaps are between them. */
size_t viewer_series_gaps(const viewer_series *series);

/* How each went is drawn of all its rows, not only of these. Errors:
 * PASTSET_EIO, PASTSET_ENOMEM. */
int viewer_series_page_print(const viewer_series *series, size_t count,
                             FILE *file);

#endif
