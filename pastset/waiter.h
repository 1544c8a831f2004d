/* waiter.h - one thread waiting for one thing, in a futex.
 *
 * The thread that waits owns the struct, usually on its stack. Waking costs
 * an exchange, and a system call only when the thread really sleeps.
 *
 * Threads: one waits, one wakes, once for each reset. */
#ifndef PASTSET_WAITER_H
#define PASTSET_WAITER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pastset_waiter {
    _Atomic uint32_t state;
} pastset_waiter;

void pastset_waiter_reset(pastset_waiter *waiter);

/* The same while others may be waking it: what they did before waking is
 * visible after it, so look once more before you wait. */
void pastset_waiter_rearm(pastset_waiter *waiter);

/* Sleeps until woken, or until CLOCK_MONOTONIC reaches `deadline_ns` (0: no
 * deadline). False: the deadline passed. */
bool pastset_waiter_wait(pastset_waiter *waiter, int64_t deadline_ns);

/* The waiter may be gone as soon as this has stored its state; nothing of it
 * is read afterwards. */
void pastset_waiter_wake(pastset_waiter *waiter);

/* CLOCK_MONOTONIC now, and `timeout_ms` from now (0 for PASTSET_FOREVER). */
int64_t pastset_now_ns(void);
int64_t pastset_deadline_ns(int timeout_ms);

#endif
