/* tunable_internal.h - the tunables of a process; see tunable.h. */
#ifndef EVENTSPACE_TUNABLE_INTERNAL_H
#define EVENTSPACE_TUNABLE_INTERNAL_H

#include "eventspace/run/tunables.h"
#include "paths/engine/process.h"

/* The element of a tunable of the process, which is made if there is none yet.
 * Errors: PASTSET_EINVAL (there is one with other bounds), PASTSET_ENOMEM,
 * PASTSET_ENOSPC. */
int eventspace__tunable_make(pastset_element **out, paths_process *process,
                             const char *name,
                             const eventspace_tunable_bounds *bounds);

/* That of the runtime itself (detail_internal.h). */
#define EVENTSPACE__TUNABLE_DETAIL "trace_detail"

/* Before the process runs; one process at a time. NULL: it ends. */
void eventspace__tunables_open(paths_process *process);
/* By each thread that may have some, at its end. */
void eventspace__tunables_thread_ends(void);

#endif
