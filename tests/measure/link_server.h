/* link_server.h - a thread that answers one measurement of a link. */
#ifndef TESTS_MEASURE_LINK_SERVER_H
#define TESTS_MEASURE_LINK_SERVER_H

#include <pthread.h>

#include "paths/net/address.h"

typedef struct server {
    pthread_t thread;
    int pipe[2];
    char address[PATHS_ADDRESS_TEXT];
    int result; /* of measure_link_serve, once the thread has ended */
} server;

/* Listens at `address` when it returns. */
void server_start(server *s);

#endif
