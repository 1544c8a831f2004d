/* regions_internal.h - the regions of this process (see regions.h), and what
 * else its program names. */
#ifndef EVENTSPACE_REGIONS_INTERNAL_H
#define EVENTSPACE_REGIONS_INTERNAL_H

#include <stdbool.h>

#include "eventspace/collect/trace.h"
#include "paths/engine/process.h"

/* Before the process runs. A process without collectors records none. One
 * process at a time. Errors: PASTSET_ENOSPC, PASTSET_ENOMEM. */
int eventspace__regions_open(paths_process *process, const paths_map *map);
/* By each thread that may have used them, at its end. */
void eventspace__regions_thread_ends(void);
void eventspace__regions_close(void);

/* --- what else it names --- */

/* A name of the program's own, as one of its threads knows it. */
typedef struct eventspace__name {
    struct region_name *name; /* NULL: nothing is recorded */
    bool is_defined; /* else readers do not know it: the disk is full */
} eventspace__name;

bool eventspace__program_is_recorded(void);
/* A name for something of this kind (eventspace_definition_kind), by a thread
 * of the map. The same text is the same name. Errors: see regions.h. */
int eventspace__program_name(eventspace__name *out, uint32_t kind,
                             const char *text);
/* An event of that name, of the thread that calls; `collector` is filled in. */
void eventspace__program_event(eventspace__name *name,
                               const eventspace_trace *event);

#endif
