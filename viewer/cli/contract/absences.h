/* absences.h - of whom nothing is known any more while a run is watched: who
 * was killed or failed, and who goes on without anything to judge.
 *
 * Threads:   one thread per list.
 * Ownership: `{0}` is an empty list; fini gives back what it has. */
#ifndef VIEWER_ABSENCES_H
#define VIEWER_ABSENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/run/run.h"

typedef struct cli_absence cli_absence;

typedef struct cli_absences {
    cli_absence *list; /* by process */
    uint32_t count;
} cli_absences;

/* Tells on standard error what is new of a process, of which something
 * `is_known` in the interval that begins at `start_ns`, or nothing. `process`
 * is its number, below `count`; more may have become known. Errors:
 * PASTSET_ENOMEM. */
int cli_absences_take(cli_absences *a, const eventspace_run *run,
                      const char *name, uint32_t process, uint32_t count,
                      bool is_known, int64_t start_ns);
void cli_absences_fini(cli_absences *a);

#endif
