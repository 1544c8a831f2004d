/* tunable_check.h - whether a number of a running program can be changed. */
#ifndef VIEWER_TUNABLE_CHECK_H
#define VIEWER_TUNABLE_CHECK_H

#include "eventspace/run/run.h"
#include "eventspace/run/tunables.h"

/* Errors: PASTSET_EINVAL (the process runs on another machine, or has ended;
 * the number cannot be so much). */
int cli_tunable_check(const eventspace_run_process *process,
                      const eventspace_tunable_seen *seen, double value);

#endif
