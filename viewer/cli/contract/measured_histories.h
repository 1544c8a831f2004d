/* measured_histories.h - what histories (measure/sensors/history.h) say of the
 * machines of a run, as quantities of a course.
 *
 * history("availability") is of the machine that has the name of the process in
 * the folder, or else of the one on which the process runs;
 * history("bandwidth.n0-n1"), a whole name of a series, is the same for all.
 *
 * Threads:   one thread per set.
 * Ownership: end takes back. */
#ifndef VIEWER_MEASURED_HISTORIES_H
#define VIEWER_MEASURED_HISTORIES_H

#include "contracts/contract/contract.h"
#include "contracts/signature/course.h"
#include "eventspace/run/run.h"

typedef struct cli_measured_history cli_measured_history;

/* All 0 at first. Those that have been read are kept for the next time. */
typedef struct cli_measured_histories {
    cli_measured_history *items;
    size_t count;
} cli_measured_histories;

/* Fills in the last columns, of processes of these names. A history that is not
 * there, or cannot be read, is told of once. Errors: PASTSET_EINVAL (the
 * contract does not say where they are), PASTSET_ENOMEM. */
int cli_measured_histories_fill(cli_measured_histories *kept,
                                contracts_course *course,
                                const contracts_contract *contract,
                                const eventspace_run *run,
                                const char *const *names);
void cli_measured_histories_end(cli_measured_histories *kept);

#endif
