/* parallel.h - how many processors views and reading take. */
#ifndef SCOPES_PARALLEL_H
#define SCOPES_PARALLEL_H

/* From now on this process works with the thread that asks, and no others: for
 * what looks at a program while it runs, which should have the processors.
 * Threads: any. */
void scopes_parallel_leave(void);

#endif
