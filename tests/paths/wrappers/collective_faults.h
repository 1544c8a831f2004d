/* collective_faults.h - mistakes of threads of collective_stress. */
#ifndef TESTS_PATHS_COLLECTIVE_FAULTS_H
#define TESTS_PATHS_COLLECTIVE_FAULTS_H

#include "tests/paths/wrappers/collective_parts.h"

#define ROUNDS_OF_STEP 8 /* at most */

/* A step in which one thread makes a mistake, and a right one after it.
 * `random` is the same for all threads, `own` is not. */
int fault_step(worker *w, uint64_t round, uint64_t random, uint64_t own);

/* What it is, for whoever looks for a reason why it does not end. */
void fault_describe(uint64_t round, uint64_t random);

/* How many there were, and how many of them came to something. */
void faults_print(void);

#endif
