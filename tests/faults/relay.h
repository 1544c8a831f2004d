/* relay.h - stands before a process, and stops in the middle of what it says.
 *
 * A thread that takes one connection and passes on what both ends say, byte by
 * byte. It knows nothing of what it carries. The threads of processes, forked
 * after relay_open, tell it how much of the replies may pass, and whether it
 * takes requests. */
#ifndef TESTS_FAULTS_RELAY_H
#define TESTS_FAULTS_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#define RELAY_ALL INT64_MAX

/* Listens; gives the port. */
int relay_open(void);
/* Begins to pass on between who comes and the process at `port`. */
void relay_start(int port);
/* Until both ends have gone. */
void relay_stop(void);

/* In any process: so many bytes of replies pass, and then no more. When it
 * returns, the relay does as it was told. */
void relay_replies(int64_t bytes);
/* It takes what is sent to the process, or leaves it in the socket. */
void relay_requests(bool taken);

#endif
