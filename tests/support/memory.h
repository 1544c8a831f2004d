/* memory.h - a test's own allocator, which fails when it is told to.
 *
 * To see what a function does without memory, let each of its allocations
 * fail, one after the other, until there is none left:
 *
 *     for (unsigned at = 1; memory_fails_at(at, call, context, &err); at++)
 *         check_status(err, PASTSET_ENOMEM);
 *
 * A sanitizer has an allocator of its own: there nothing fails.
 *
 * Threads: allocations fail in the thread that asked for it. */
#ifndef TESTS_SUPPORT_MEMORY_H
#define TESTS_SUPPORT_MEMORY_H

#include <stdbool.h>

/* Calls it, and lets its `at`-th allocation fail, from 1. Gives whether there
 * was one; `*err` is what the call gave. */
bool memory_fails_at(unsigned at, int (*call)(void *context), void *context,
                     int *err);

/* From now on every allocation fails, or none does. */
void memory_refuse(bool all);

#endif
