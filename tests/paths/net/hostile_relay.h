/* hostile_relay.h - who stands between two processes: passes on what they say,
 * and keeps it. */
#ifndef TESTS_PATHS_HOSTILE_RELAY_H
#define TESTS_PATHS_HOSTILE_RELAY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define RELAY_KEEPS 2048 /* first bytes of each direction */
#define RELAY_MAX 8      /* connections */

typedef struct relay_talk {
    int fds[2];               /* the dialler's, the process's */
    _Atomic size_t counts[2]; /* of bytes that are kept */
    _Alignas(8) unsigned char said[2][RELAY_KEEPS]; /* by each */
    bool forges;      /* puts its own text into a FAILED that passes */
    size_t passed[2]; /* bytes, of each */
} relay_talk;

/* What the relay does with something that one side says, once: to the bytes of
 * one recv. */
typedef enum relay_deed {
    RELAY_NOTHING,
    RELAY_FLIP,      /* one bit of them */
    RELAY_REPEAT,    /* they come twice */
    RELAY_BRING_BACK /* they come to whom has said them, too */
} relay_deed;

/* Until one of both closes it, however long they think about it. */
void relay_pass(relay_talk *talk);

#define RELAY_FORGERY "words of a stranger"
/* To a dialler: the run has failed, says the unauthenticated peer. */
void relay_forge(int fd);

/* A thread that relays all connections from a door to a port. */
typedef struct relay {
    pthread_t thread;
    _Atomic bool stop;
    int door, port;
    _Atomic int count;
    relay_talk talks[RELAY_MAX];
    /* Done once, when the one side of a talk has said `deed_at` bytes. */
    _Atomic int deed;
    int deed_side;
    size_t deed_at;
} relay;

void relay_start(relay *r, int door, int port);
/* After the run has ended. */
void relay_stop(relay *r);

#endif
