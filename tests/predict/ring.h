/* ring.h - a program of n nodes in a ring, for tests: in each round each node
 * computes, sends to the next one, and waits for the message of the one
 * before it. */
#ifndef TESTS_PREDICT_RING_H
#define TESTS_PREDICT_RING_H

#include "predict/profile/profile.h"

typedef struct ring {
    uint32_t nodes;
    uint32_t rounds;
    int64_t busy_ns[8]; /* of a round, by node */
    uint64_t bytes[8];  /* of the message that a node sends */
    bool actors;
} ring;

/* Its links had 100 Mbit/s and 100 us when it was measured, and its nodes a
 * processor each. */
predict_profile *ring_profile(const ring *ring);

#endif
