/* slow_peer.h - the other end of a measured link, so slow that nothing else the
 * machine does matters: it holds each message for SLOW_PEER_S, and
 * SLOW_PEER_BYTE_S for each of its bytes. Messages of 2 KiB at most. */
#ifndef TESTS_MEASURE_SLOW_PEER_H
#define TESTS_MEASURE_SLOW_PEER_H

#include <pthread.h>

#include "paths/net/address.h"

#define SLOW_PEER_S 0.02
#define SLOW_PEER_BYTE_S 4e-3

/* Serves one connection, by a thread, in its own manner. */
typedef struct peer {
    pthread_t thread;
    int listener;
    char address[PATHS_ADDRESS_TEXT];
    void (*behave)(int fd);
} peer;

void peer_start(peer *p, void (*behave)(int fd));
void peer_end(peer *p); /* waits for it */

void answer_slowly(int fd); /* the manner of the slow one */

/* Exactly so many bytes; false: there were less. */
int receive_all(int fd, void *data, size_t bytes);
/* Who has hung up is not told. */
void send_all(int fd, const void *data, size_t bytes);
void pause_for(double seconds);

#endif
