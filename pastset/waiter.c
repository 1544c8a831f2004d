/* waiter.c - a futex with three states; its model is waiter.pml. */
#include "pastset/waiter.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pastset/schedule.h"

enum { IDLE, SLEEPING, WOKEN };

void pastset_waiter_reset(pastset_waiter *waiter)
{
    atomic_store_explicit(&waiter->state, IDLE, memory_order_relaxed);
}

void pastset_waiter_rearm(pastset_waiter *waiter)
{
    /* An exchange, not a store, so that it is not overtaken by the look that
     * follows: else a wake between the two would be wiped out. */
    atomic_exchange_explicit(&waiter->state, IDLE, memory_order_seq_cst);
}

bool pastset_waiter_wait(pastset_waiter *waiter, int64_t deadline_ns)
{
    struct timespec until = {.tv_sec = deadline_ns / 1000000000,
                             .tv_nsec = deadline_ns % 1000000000};
    uint32_t state = IDLE;

    PASTSET_POINT("waiter.wait");
    /* Acquire: pairs with the exchange in wake(); what was done before the
     * wake is visible after the wait. */
    if (!atomic_compare_exchange_strong_explicit(&waiter->state, &state,
                                                 SLEEPING, memory_order_acquire,
                                                 memory_order_acquire) &&
        state == WOKEN)
        return true;
    PASTSET_POINT("waiter.sleep");
    for (;;) {
        /* Bitset, since only it takes an absolute time. */
        long r =
            syscall(SYS_futex, &waiter->state,
                    FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, SLEEPING,
                    deadline_ns ? &until : NULL, NULL, FUTEX_BITSET_MATCH_ANY);
        if (atomic_load_explicit(&waiter->state, memory_order_acquire) == WOKEN)
            return true;
        if (r == -1 && errno == ETIMEDOUT)
            return false;
    }
}

void pastset_waiter_wake(pastset_waiter *waiter)
{
    PASTSET_POINT("waiter.wake");
    /* Release: pairs with the loads in wait(). */
    if (atomic_exchange_explicit(&waiter->state, WOKEN, memory_order_release) ==
        SLEEPING)
        syscall(SYS_futex, &waiter->state, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1,
                NULL, NULL, 0);
}

int64_t pastset_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t pastset_deadline_ns(int timeout_ms)
{
    if (timeout_ms < 0)
        return 0;
    return pastset_now_ns() + (int64_t)timeout_ms * 1000000;
}
