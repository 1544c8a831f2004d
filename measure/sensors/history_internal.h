/* history_internal.h - writing histories: rows as text, and in coarser steps.
 *
 * Threads:   one thread per writer.
 * Ownership: open gives, close takes back. */
#ifndef MEASURE_HISTORY_INTERNAL_H
#define MEASURE_HISTORY_INTERNAL_H

#include <stdio.h>

#include "measure/sensors/history.h"

typedef struct measure__history_writer measure__history_writer;

typedef struct measure__history_options {
    const char *series, *unit; /* of one line, at most as long as above */
    int64_t interval_ms;
} measure__history_options;

/* Creates the file, or goes on with one that is there. Errors: PASTSET_EIO,
 * PASTSET_EFORMAT (as read; or it is of another series or unit), PASTSET_EAGAIN
 * (another process writes it), PASTSET_ENOMEM, PASTSET_EINVAL. */
int measure__history_open(measure__history_writer **out, const char *file,
                          const measure__history_options *options);
/* Appends a sample; when it comes back, a kill does not lose it. A sample that
 * cannot be written leaves the file as it was; when old rows cannot be put
 * together, the sample is there all the same. Errors: PASTSET_EINVAL (not a
 * number, or the time is not later than the last one: the clock was set back),
 * PASTSET_ENOSPC, PASTSET_EIO. */
int measure__history_add(measure__history_writer *writer, int64_t time_ms,
                         double value);
/* NULL is allowed. */
void measure__history_close(measure__history_writer *writer);

#define MEASURE__TIME_MAX_MS 100000000000000 /* in the year 5138 */
#define MEASURE__DAY_MS ((int64_t)86400000)
#define MEASURE__ROW_BYTES 160

/* The row as a line, with its end; gives its length. */
int measure__history_row_text(char *out, const measure_history_row *row);
/* The lines in front of the rows. */
int measure__history_head_text(char *out, size_t bytes,
                               const measure__history_options *options);

/* When the oldest rows will be worth the work of putting them together,
 * INT64_MAX: never, as there are none. */
int64_t measure__history_thin_at(const measure_history *history);
/* Puts those together, in place, that are old enough at `now_ms`. */
void measure__history_thin(measure_history *history, int64_t now_ms);

#endif
