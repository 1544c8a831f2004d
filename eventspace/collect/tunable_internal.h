/* tunable_internal.h - the tunables of a process; see tunable.h. */
#ifndef EVENTSPACE_TUNABLE_INTERNAL_H
#define EVENTSPACE_TUNABLE_INTERNAL_H

#include "paths/engine/process.h"

/* Before the process runs; one process at a time. NULL: it ends. */
void eventspace__tunables_open(paths_process *process);
/* By each thread that may have some, at its end. */
void eventspace__tunables_thread_ends(void);

#endif
