/* sort.h - the problem that the program `is` solves, and the parts of the
 * program.
 *
 * Integer sort, a kernel in the pattern of IS of the NAS parallel benchmarks:
 * keys, whole numbers below a limit that gather about its middle, are ranked.
 * The rank of a key is how many keys are smaller. In each of some rounds two
 * keys change and all are ranked anew; after the last round they are put in
 * order.
 *
 *   problem.c   the keys, which both computations share
 *   single.c    one process: one counter for each possible key
 *   mapping.c   prints the application mapping
 *   parallel.c  a thread of a run: buckets, and who gets which
 *   exchange.c  all keys to the threads that own their buckets
 *   main.c      the program
 *
 * All functions that return an int return 0 or a negative code with its text,
 * as of pastset/status.h. */
#ifndef IS_SORT_H
#define IS_SORT_H

#include "apps/common/program.h"
#include "paths/paths.h"

#include <stdint.h>
#include <stdio.h>

#define SORT_PROBES 5 /* keys whose ranks are told in each round */

typedef struct sort_problem {
    uint64_t keys;    /* how many */
    uint32_t limit;   /* keys are 0 ... limit - 1; a power of two */
    uint32_t buckets; /* ranges of keys, of one width: a power of two */
    uint32_t rounds;
    uint64_t seed;
} sort_problem;

/* Errors: PASTSET_EINVAL (more rounds than keys can change in). */
int sort_problem_set(sort_problem *out, const program_options *options);

/* The keys at positions first ... first + count - 1, before the first round:
 * the same for whoever asks, and for however many at once. */
void sort_keys(const sort_problem *p, uint64_t first, uint64_t count,
               uint32_t *keys);

/* What round 1 ... rounds changes before it ranks. */
typedef struct sort_change {
    uint64_t position;
    uint32_t key;
} sort_change;
void sort_changes(const sort_problem *p, uint32_t round, sort_change both[2]);

/* Keys whose ranks are told in each round. */
void sort_probes(const sort_problem *p, uint32_t probes[SORT_PROBES]);

/* 64 bits of a key and its rank (equal keys have following ranks): the sum
 * over all keys is a checksum of the order that does not depend on the order
 * in which it is summed. */
uint64_t sort_mix(uint64_t rank, uint32_t key);

/* What is found; both computations must agree on all of it. */
typedef struct sort_outcome {
    uint64_t keys;
    uint64_t ranks[SORT_PROBES]; /* of the probes, in the last round */
    uint64_t rank_sum;           /* of all probes in all rounds */
    uint64_t checksum;           /* sum of sort_mix, after the last round */
} sort_outcome;

/* The sequential computation. Errors: PASTSET_ENOMEM, PASTSET_EAPP. */
int sort_single(const sort_problem *p, sort_outcome *out);

/* The application mapping. Errors: PASTSET_EINVAL. */
int sort_mapping(const program_options *options, FILE *out);

/* What a thread of a run does; the argument is a program_run. */
int sort_thread(paths_thread *self, void *argument);

/* Writes the values of the result. */
int sort_tell(const sort_outcome *outcome, program_result *result);

#endif
