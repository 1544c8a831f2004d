/* gate.c - spinning, yielding and sleeping at a gate. */
#include "paths/engine/gate_internal.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pastset/waiter.h"

/* How often a thread looks before it does the next dearer thing.
 *
 * A round of a flat sum, measured on 2 processors, in us:
 *
 *     threads   spin   yield   sleep
 *        2      0.18
 *        8              6.6      27
 *       32               39      99
 *
 * To yield is to pass the processor to who has still to come, at 0.5 us; to
 * sleep is that and being woken. Yielding ends after some 100 us, so that
 * whoever waits for long does not keep a processor warm, and spinning after
 * about as long, when somebody whom it waits for cannot be running. */
#define SPINS 4000
#define YIELDS 200

static bool is_open(const paths_gate *gate, uint32_t value)
{
    return atomic_load_explicit(&gate->value, memory_order_acquire) != value;
}

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* A look that comes too early takes the line from who is about to write it, and
 * both then wait for it once more: on 2 processors a round of a barrier is 170
 * to 180 ns with such looks, and 130 to 160 without. So a thread pauses before
 * its first look as often as was just not too often in the rounds before. */
#define TIMEOUT_MAX 5
#define EARLY 4 /* looks after which a wait is long, and tells nothing */

static bool look_patiently(const paths_gate *gate, uint32_t value,
                           uint8_t *timeout)
{
    for (int i = 0; i < *timeout; i++)
        relax();
    if (is_open(gate, value)) {
        *timeout -= *timeout > 0;
        return true;
    }
    for (int i = 0; i < EARLY; i++) {
        relax();
        if (is_open(gate, value)) {
            *timeout += *timeout < TIMEOUT_MAX;
            return true;
        }
    }
    return false;
}

static bool spin(const paths_gate *gate, uint32_t value)
{
    for (int i = 0; i < SPINS; i++) {
        if (is_open(gate, value))
            return true;
        relax();
    }
    return false;
}

static bool yield(const paths_gate *gate, uint32_t value)
{
    for (int i = 0; i < YIELDS; i++) {
        if (is_open(gate, value))
            return true;
        sched_yield();
    }
    return false;
}

static bool wait_sleeping(paths_gate *gate, uint32_t value, int64_t deadline_ns)
{
    struct timespec until = {.tv_sec = deadline_ns / 1000000000,
                             .tv_nsec = deadline_ns % 1000000000};
    bool in_time = true;

    /* Either the opener sees a sleeper, or the sleeper sees the gate open. */
    atomic_fetch_add(&gate->sleepers, 1);
    if (gate->waiting != PATHS_WAIT_SLEEP)
        pastset_fence_rarely();
    while (in_time && atomic_load(&gate->value) == value) {
        long r = syscall(
            SYS_futex, &gate->value, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG,
            value, deadline_ns ? &until : NULL, NULL, FUTEX_BITSET_MATCH_ANY);
        in_time = !(r == -1 && errno == ETIMEDOUT);
    }
    atomic_fetch_sub_explicit(&gate->sleepers, 1, memory_order_relaxed);
    return is_open(gate, value);
}

bool paths_gate_look(const paths_gate *gate, uint32_t value, uint8_t *timeout)
{
    if (gate->waiting == PATHS_WAIT_SPIN &&
        (look_patiently(gate, value, timeout) || spin(gate, value)))
        return true;
    if (gate->waiting == PATHS_WAIT_SLEEP ||
        (gate->waiting == PATHS_WAIT_SPIN && gate->for_ever))
        return false;
    return yield(gate, value);
}

bool paths_gate_wait(paths_gate *gate, uint32_t value, int64_t deadline_ns)
{
    uint8_t timeout = 0; /* it has been waited for long */

    while (gate->for_ever) {
        if (deadline_ns && pastset_now_ns() >= deadline_ns)
            return is_open(gate, value);
        if (paths_gate_look(gate, value, &timeout))
            return true;
    }
    return wait_sleeping(gate, value, deadline_ns);
}

void paths_gate_wake(paths_gate *gate)
{
    if (atomic_load(&gate->sleepers) != 0)
        syscall(SYS_futex, &gate->value, FUTEX_WAKE | FUTEX_PRIVATE_FLAG,
                INT_MAX, NULL, NULL, 0);
}
