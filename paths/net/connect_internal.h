/* connect_internal.h - connections to other processes, until frames go over
 * them.
 */
#ifndef PATHS_CONNECT_INTERNAL_H
#define PATHS_CONNECT_INTERNAL_H

#include "paths/engine/process_internal.h"
#include "paths/net/channel_internal.h"

void paths__socket_tune(int fd);
/* Connects, proves the key, is let in. Blocking; any thread. It ends early
 * when the run fails, and when that process is known to have died. */
int paths__connect(paths_process *process, uint32_t to, uint16_t role,
                   channel *out);
/* What this side of a connection would have sealed (handshake_internal.h). */
uint8_t paths__connection_seals(const paths_process *process, int fd);

#endif
