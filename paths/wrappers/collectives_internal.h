/* collectives_internal.h - what processes, threads and links tell
 * collectives. */
#ifndef PATHS_COLLECTIVES_INTERNAL_H
#define PATHS_COLLECTIVES_INTERNAL_H

#include "paths/engine/operation_internal.h"

/* An operation that has passed the gate: takes its result; its status. */
int paths__collective_opened(paths_stage *stage, operation *o);
/* Every collective of this process fails from now on. Not under held_lock. */
void paths__collectives_end(paths_process *process);
/* Those in whose tree the process has a part fail: it died. */
void paths__collectives_gone(paths_process *process, uint32_t gone,
                             const char *why);
/* Nobody contributes any more by this way, which leads through `stage`. */
void paths__collective_left(paths_stage *stage, const char *why);
/* A contribution has not come through `proxy`, or nobody knows whether it has,
 * by that error: from here on the next one could be counted in its round. So
 * there are no more rounds on that way. `o` NULL: not here, only beyond the
 * proxy. */
void paths__collective_lost_step(paths_stage *proxy, const operation *o,
                                 int err);

#endif
