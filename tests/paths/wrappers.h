/* wrappers.h - wrapper types that tests add: an application's own. */
#ifndef TESTS_PATHS_WRAPPERS_H
#define TESTS_PATHS_WRAPPERS_H

#include <pthread.h>
#include <stdatomic.h>

#include "paths/wrappers/wrapper.h"

/* What the wrappers below count, in memory that is shared by all hosts. */
typedef struct wrapper_counts {
    _Atomic uint64_t down, up; /* of `plus` */
    _Atomic uint64_t dropped;  /* of `pairs` and `pairs_up` */
} wrapper_counts;

/* `plus` adds 1 to the first i32 of what is written through it, in a copy,
 * and of what is read through it. `pairs` holds an operation on its way down
 * until a second one comes, and then lets both go; `pairs_up` on its way
 * up. */
void wrappers_register(void);
/* For the options of a host with such wrappers. */
const paths_wrapper_context *wrappers_contexts(wrapper_counts *counts);

#endif
