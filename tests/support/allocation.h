/* allocation.h - allocations that fail on purpose, in the thread that asks for
 * it. A sanitizer has an allocator of its own: there all of them succeed. */
#ifndef TESTS_SUPPORT_ALLOCATION_H
#define TESTS_SUPPORT_ALLOCATION_H

#include <stdbool.h>

/* From now on: `first` is 1 for the next allocation. That one and all behind
 * it fail, or with `once` it alone. */
void allocation_refuse(unsigned first, bool once);

/* Ends that. Whether one has failed since allocation_refuse(). */
bool allocation_allow(void);

#endif
