/* command_series.h - series of measured values, as commands read them.
 *
 * Threads:   any.
 * Ownership: read gives, clear takes back. */
#ifndef VIEWER_COMMAND_SERIES_H
#define VIEWER_COMMAND_SERIES_H

#include <stddef.h>

typedef struct cli_series {
    double *values; /* the oldest first */
    size_t count;   /* at least one */
} cli_series;

/* A history (measure/sensors/history.h), of which the samples are taken, or
 * where there are none any more, the means; else a text with a value a line, or
 * a table of which the last column is the values. `file`: "-" is standard
 * input. Errors: PASTSET_EIO, PASTSET_EFORMAT ("file:line: "), PASTSET_ENOMEM.
 */
int cli_series_read(cli_series *out, const char *file);
void cli_series_clear(cli_series *series);

#endif
