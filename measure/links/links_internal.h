/* links_internal.h - what the two ends of a measured link say to each other.
 *
 * The end that measures sends a frame of 32 bytes, all numbers with their most
 * significant byte first:
 *
 *   0  8  "ESLINK01"
 *   8  8  bytes of each message
 *   16 8  rounds: messages each way; 0: that was all
 *   24 8  number: 0
 *
 * The other one sends it back as its consent; then messages go there and back,
 * bare. To a frame with no rounds it answers with the nanoseconds of processor
 * time that its messages took as the number, and closes. */
#ifndef MEASURE_LINKS_INTERNAL_H
#define MEASURE_LINKS_INTERNAL_H

#include <stdint.h>

#include "measure/links/links.h"

enum {
    MEASURE__FRAME_BYTES = 32,
    MEASURE__LINK_LARGEST = 16 << 20, /* bytes of a message */
    MEASURE__LINK_ROUNDS = 2000,      /* at a time */
};

typedef struct measure__frame {
    uint64_t bytes, rounds, number;
} measure__frame;

typedef struct measure__peer {
    int fd;
    double until_s;      /* CLOCK_MONOTONIC: when it has had its time */
    const char *name;    /* its address */
    unsigned char *data; /* MEASURE__LINK_LARGEST */
} measure__peer;

/* Blocks no longer than `timeout_s` for anything, and sends at once. */
int measure__peer_tune(measure__peer *peer, double timeout_s);

/* Errors: PASTSET_EHOST: gone, silent, or out of time; PASTSET_EPROTO: the
 * frame is none of ours. */
int measure__peer_send(measure__peer *peer, const void *data, uint64_t bytes);
int measure__peer_receive(measure__peer *peer, void *data, uint64_t bytes);
int measure__frame_send(measure__peer *peer, const measure__frame *frame);
int measure__frame_receive(measure__peer *peer, measure__frame *frame);

#endif
