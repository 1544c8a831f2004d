/* simulated_mpi.h - programs of MPI that were made up at random, and what is
 * true of their runs: computed step by step by rules that are plain, without
 * anything of EventSpace. Times are nanoseconds. */
#ifndef TESTS_VIEWER_SIMULATED_MPI_H
#define TESTS_VIEWER_SIMULATED_MPI_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/viewer/otf2_make.h"

#define SIMULATED_RANKS 8  /* at most */
#define SIMULATED_STEPS 60 /* at most */

typedef enum step_kind {
    STEP_BARRIER,
    STEP_ALLREDUCE,
    STEP_BROADCAST,
    STEP_REDUCE,
    STEP_SCAN,
    STEP_RING,        /* MPI_Send to the right, MPI_Recv from the left */
    STEP_RING_WAIT,   /* MPI_Irecv, MPI_Send, MPI_Wait */
    STEP_SYNCHRONOUS, /* MPI_Ssend from `root` to `peer` */
    STEP_EXCHANGE,    /* MPI_Sendrecv of `root` and `peer` */
    STEP_ALL_TO_ONE,  /* MPI_Send of all, MPI_Waitall of `root` */
    STEP_KINDS
} step_kind;

/* All ranks compute, then they communicate. */
typedef struct simulated_step {
    step_kind kind;
    uint32_t root, peer;
    int64_t compute_ns[SIMULATED_RANKS];
    int64_t overhead_ns[SIMULATED_RANKS]; /* of each call */
    int64_t latency_ns;                   /* of messages */
} simulated_step;

typedef struct simulated {
    uint32_t ranks, count;
    simulated_step steps[SIMULATED_STEPS];
} simulated;

/* By the names of Scalasca. */
typedef enum true_kind {
    TRUE_LATE_SENDER,
    TRUE_LATE_RECEIVER,
    TRUE_BARRIER,
    TRUE_NXN,
    TRUE_REDUCE,
    TRUE_BROADCAST,
    TRUE_SCAN,
    TRUE_KINDS
} true_kind;

typedef struct simulated_truth {
    int64_t useful_ns[SIMULATED_RANKS]; /* by rank */
    int64_t end_ns;
    /* By who waits, and for whom. */
    int64_t wait_ns[TRUE_KINDS][SIMULATED_RANKS][SIMULATED_RANKS];
    int64_t all_wait_ns;
} simulated_truth;

/* A program whose ranks compute about as much as each other: within
 * `noise_ns` of a millisecond. */
void simulated_make(simulated *out, uint64_t seed, int64_t noise_ns);

/* Runs it; `trace` NULL: nothing is written. On an ideal network nothing takes
 * time but computing and waiting. */
void simulated_run(const simulated *program, bool is_ideal, otf2_make *trace,
                   simulated_truth *out);

#endif
