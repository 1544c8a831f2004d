/* histories.h - the histories of a folder, while they are written: one for each
 * kind of value and the machine or link that it is of.
 *
 *     availability.n0.history      "availability of n0", share
 *     latency.n0-n1.history        "latency of n0-n1", s
 *     bandwidth.n0-n1.history      "bandwidth of n0-n1", B/s
 *
 * Threads:   one thread per set; two sets may be of one folder, if they do not
 *            have the same series.
 * Ownership: open gives, close takes back. */
#ifndef MEASURE_HISTORIES_H
#define MEASURE_HISTORIES_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/sensors/history.h"

typedef enum measure_kind {
    MEASURE_AVAILABILITY,
    MEASURE_LATENCY,
    MEASURE_BANDWIDTH,
    MEASURE_KINDS,
} measure_kind;

const char *measure_kind_name(measure_kind kind);
const char *measure_kind_unit(measure_kind kind);
/* Of a series: its kind, and what it is of. Errors: PASTSET_ENOENT. */
int measure_kind_of(measure_kind *kind, const char **place, const char *series);

typedef struct measure_histories measure_histories;

/* Makes the folder, and those above it, where there is none. Errors:
 * PASTSET_EIO, PASTSET_ENOMEM. */
int measure_histories_open(measure_histories **out, const char *folder);
/* NULL is allowed. */
void measure_histories_close(measure_histories *histories);

/* Opens one for writing; nothing if that is open. `place` is a name of letters,
 * digits, '.', '_' and '-' that does not begin with '.' or '-'. Errors:
 * PASTSET_EINVAL (it is no such name), PASTSET_EIO, PASTSET_EFORMAT (as read;
 * or the file is of another series or unit), PASTSET_EAGAIN (another process
 * writes it). */
int measure_histories_begin(measure_histories *histories, measure_kind kind,
                            const char *place, int64_t interval_ms);
/* Adds a sample to one that is open. `*changed`: it failed, and did not the
 * last time, or the other way round. Errors: PASTSET_ENOENT (it is not),
 * PASTSET_EINVAL (no number, or not later than the last one), PASTSET_ENOSPC,
 * PASTSET_EIO. */
int measure_histories_add(measure_histories *histories, measure_kind kind,
                          const char *place, int64_t time_ms, double value,
                          bool *changed);

#endif
