/* measured_run.h - what the processes of a run did, for commands: of it, what a
 * contract is of. */
#ifndef VIEWER_MEASURED_RUN_H
#define VIEWER_MEASURED_RUN_H

#include "contracts/contract/contract.h"
#include "contracts/signature/course.h"
#include "eventspace/run/run.h"
#include "scopes/reading/snapshot.h"
#include "viewer/cli/contract/measured_histories.h"

/* A run that is measured, to be ended with cli_measured_end. */
typedef struct cli_measured {
    scopes_snapshot *snapshot;
    contracts_course *course;
    scopes_scheduling_reader *reader; /* of looks */
    cli_measured_histories histories;
    const char **names; /* of processes, by number */
    char *text;         /* that these are in */
    uint32_t processes;
} cli_measured;

/* Of all of a run, which errors call `name`. Errors: those of snapshots and
 * courses; PASTSET_ENOENT (it has no events). */
int cli_measured_take(cli_measured *out, eventspace_run *run, const char *name,
                      const contracts_contract *contract);
/* Tells what is wrong with the run, too. Errors: as above. */
int cli_measured_begin(cli_measured *out, eventspace_run *run, const char *name,
                       const contracts_contract *contract);
void cli_measured_end(cli_measured *m);
/* Gives back its events: what was measured, and names, are still there. */
void cli_measured_forget_events(cli_measured *m);

/* Looks at a run that goes on, which `m` (cleared at first) has been looked at
 * before or not: at what has come since `next_ns` (INT64_MIN: all), and so much
 * before, at the first look the most. Without a course: it has no events so
 * far. Errors: as above. */
int cli_measured_look(cli_measured *m, eventspace_run *run,
                      const contracts_contract *contract, int64_t next_ns,
                      int64_t margin_ns);

/* Tells whose messages go over links of the contract's cluster that are not
 * known, if it has one. */
void cli_measured_warn_of_machines(const cli_measured *m,
                                   const contracts_contract *contract);

/* The process of this name; NULL: there is none. */
const eventspace_run_process *cli_measured_process(const eventspace_run *run,
                                                   const char *name);

#endif
