/* planted_ranks.h - a run as `eventspace mpi` leaves one, of calls that a test
 * makes up. Times are microseconds since some moment. Calls of a rank are given
 * in their order. */
#ifndef TESTS_PLANTED_RANKS_H
#define TESTS_PLANTED_RANKS_H

#include <stdint.h>

typedef struct planted_call {
    uint32_t rank;
    const char *name; /* "MPI_Send" */
    int64_t start_us, end_us;
    uint32_t bytes;
} planted_call;

void planted_begin(const char *directory, uint32_t ranks);
/* Each rank has a machine of its own, and they communicate by this library. */
void planted_far(const char *library);
void planted_end(void);

/* From now on, events of a rank's calls claim to be of another rank's thread.
 */
void planted_pretend(uint32_t rank, uint32_t to_be);

/* Its calls are over; it has yielded its processor so often in them. */
void planted_yields(uint32_t rank, uint64_t yields);

/* Concerns nobody else. */
void planted_alone(planted_call call);
void planted_send(planted_call call, uint32_t to);
void planted_receive(planted_call call, uint32_t from);
/* In a collective in which all wait for all: a barrier, a reduce, a gather, an
 * alltoall. */
void planted_join(planted_call call, const char *type);
/* Begins a collective of all ranks, and does not wait. */
void planted_start(planted_call call);
/* One of all ranks that goes out from the root, or comes to it. */
void planted_from_root(planted_call call, uint32_t root);
void planted_to_root(planted_call call, uint32_t root);

#endif
