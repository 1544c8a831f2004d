/* wrappers.h - wrapper types that tests add: an application's own. */
#ifndef TESTS_PATHS_WRAPPERS_H
#define TESTS_PATHS_WRAPPERS_H

#include <pthread.h>
#include <stdatomic.h>

#include "paths/wrappers/wrapper.h"

#define HANDOVER_FAILS 255

/* What the wrappers below count, in memory that is shared by all processes. */
typedef struct wrapper_counts {
    _Atomic uint64_t down, up; /* of `plus` */
    _Atomic uint64_t held;     /* by `handover`, so far */
    _Atomic uint64_t dropped;  /* by that, `pairs` and `pairs_up` */
} wrapper_counts;

/* `plus` adds 1 to the first i32 of what is written through it, in a copy,
 * and of what is read through it. `pairs` holds an operation on its way down
 * until a second one comes, and then lets both go; `pairs_up` on its way
 * up. `handover` is a source: what is written to it goes to the read that has
 * waited longest, or is PASTSET_EAGAIN when none waits; where its first byte is
 * HANDOVER_FAILS that read fails instead, with PASTSET_EAPP. */
void wrappers_register(void);
/* For the options of a process with such wrappers. */
const paths_wrapper_context *wrappers_contexts(wrapper_counts *counts);

#endif
