/* relay_internal.h - what two processes say to each other by way of this one.
 *
 * A process that does not reach another one (networks_internal.h) connects to
 * one on the way, in the role of ROLE_RELAY, and names the next process in a
 * RELAY. This one connects to that, answers with a second WELCOME, or FAILED
 * with the reason, and from then on passes on whatever comes, both ways,
 * without looking at it: the two go on with a handshake of their own, so that
 * this one knows neither what they say nor can change it. A way over several
 * processes is made by one such step after the other.
 *
 * Threads: the loop's. */
#ifndef PATHS_RELAY_INTERNAL_H
#define PATHS_RELAY_INTERNAL_H

#include "paths/net/connection_internal.h"

/* A RELAY has come over a connection in that role. False: it breaks the
 * protocol. */
bool paths__relay_ask(connection *c);
/* A connection has closed: whatever was being made for it is given up. */
void paths__relay_lost(const connection *c);
/* What cannot be reached in time is told. */
void paths__relays_tidy(paths_process *process);
/* This process would end: should it go on for those who talk by way of it? Not
 * for long. */
bool paths__relays_linger(paths_process *process);
void paths__relays_close(paths_process *process);

#endif
