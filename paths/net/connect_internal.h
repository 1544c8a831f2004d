/* connect_internal.h - connections to other processes, until frames go over
 * them.
 */
#ifndef PATHS_CONNECT_INTERNAL_H
#define PATHS_CONNECT_INTERNAL_H

#include "paths/engine/process_internal.h"

void paths__socket_tune(int fd);
/* Connects, proves the key, is let in. Blocking; any thread. It ends early
 * when the run fails, and when that process is known to have died. */
int paths__connect(paths_process *process, uint32_t to, uint16_t role, int *fd);

#endif
