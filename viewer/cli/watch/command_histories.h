/* command_histories.h - histories (measure/sensors/history.h) that a command
 * reads, of files and folders.
 *
 * Threads:   any.
 * Ownership: read gives, clear takes back. */
#ifndef VIEWER_COMMAND_HISTORIES_H
#define VIEWER_COMMAND_HISTORIES_H

#include "measure/sensors/histories.h"
#include "viewer/cli/command.h"

typedef struct cli_histories {
    measure_history **items; /* each has a row at least */
    size_t count;
    size_t bad; /* files of folders that cannot be read, which has been said */
} cli_histories;

/* Adds those of a file, or of a folder. Errors: those of measure_history_read
 * (of a file that was named), PASTSET_ENOENT (a folder without any). */
int cli_histories_read(cli_histories *histories, const char *path);
void cli_histories_clear(cli_histories *histories);

/* A value of such a unit: "151.2us", "94.12mbit", "0.4812". */
const char *cli_unit_text(char *out, size_t bytes, const char *unit,
                          double value);
/* "2026-11-26 04:40:01", UTC. */
const char *cli_date_text(char *out, size_t bytes, int64_t time_ms);

#endif
