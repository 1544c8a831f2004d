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
/* The same for the coordinator that has taken the place of one that died: it
 * was there before, so it is not waited for as long, but also when the run has
 * failed, to tell it that. `*refused`: it is there, and does not let this
 * process in. */
int paths__reconnect(paths_process *process, uint32_t to, bool *refused,
                     channel *out);
/* Whether a process that was there before is there still. Blocking: a second,
 * where nobody answers. */
probe paths__probe(paths_process *process, uint32_t to);
/* What this side of a connection would have sealed (handshake_internal.h). */
uint8_t paths__connection_seals(const paths_process *process, int fd);

/* Sets the error that a process has died with which this one had a connection
 * that it had made, or one on the way to it: PASTSET_EHOST. Any thread. */
int paths__lost_why(const paths_process *process, uint32_t to, const char *why);
/* The processes on the way of a connection, which `from` has made to `to`; one
 * of these is this process. From the one that is nearest to it; gives their
 * number. `between` has room for all of the map. */
uint32_t paths__between(const paths_process *process, uint32_t from,
                        uint32_t to, uint32_t *between);
/* Such room, for the caller to free; NULL: no memory. */
uint32_t *paths__between_room(const paths_process *process);

#endif
