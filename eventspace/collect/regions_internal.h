/* regions_internal.h - the regions of this process; see regions.h. */
#ifndef EVENTSPACE_REGIONS_INTERNAL_H
#define EVENTSPACE_REGIONS_INTERNAL_H

#include "paths/engine/process.h"

/* Before the process runs. A process without collectors records none. One
 * process at a time. Errors: PASTSET_ENOSPC, PASTSET_ENOMEM. */
int eventspace__regions_open(paths_process *process, const paths_map *map);
/* By each thread that may have used them, at its end. */
void eventspace__regions_thread_ends(void);
void eventspace__regions_close(void);

#endif
