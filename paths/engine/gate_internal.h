/* gate_internal.h - where threads of one process wait for the same moment.
 *
 * Opening a gate is one store, which all who look at it see; those who sleep
 * are woken by one system call. What they are to find behind it can lie in the
 * gate's own cache line, so that a thread that spins has it with the look that
 * tells it to go on.
 *
 * How to wait depends on whether everybody who is waited for is running:
 *
 *     SPIN   they are: each has a processor. Looks again and again, and gives
 *            the processor away only when that has lasted for a while
 *     YIELD  there are more threads than processors: each look that is in vain
 *            gives the rest of the time slice to one who has still to come
 *     SLEEP  sleeps at once: whoever is waited for takes long
 *
 * The first two sleep in the end, unless `for_ever` is set: then who spins
 * never yields, and who yields never sleeps.
 *
 * Threads: any may wait, one at a time opens. */
#ifndef PATHS_GATE_INTERNAL_H
#define PATHS_GATE_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pastset/fence.h"

#define PATHS_GATE_BYTES 56

typedef enum paths_waiting {
    PATHS_WAIT_SPIN,
    PATHS_WAIT_YIELD,
    PATHS_WAIT_SLEEP,
} paths_waiting;

typedef struct paths_gate {
    _Alignas(64) _Atomic uint32_t value; /* times that it was opened */
    _Alignas(8) unsigned char behind[PATHS_GATE_BYTES];
    _Alignas(64) _Atomic uint32_t sleepers;
    paths_waiting waiting;
    bool for_ever; /* never sleeps: the map says so */
} paths_gate;

static inline uint32_t paths_gate_value(const paths_gate *gate)
{
    return atomic_load_explicit(&gate->value, memory_order_relaxed);
}

/* Looks for a while whether the gate has been opened since its value was
 * `value`: false when it was not, and at once if there is nothing to be gained
 * by looking. What the opener did before is visible afterwards. `timeout` is
 * the caller's, zero at first: what it has learned about how long to pause. */
bool paths_gate_look(const paths_gate *gate, uint32_t value, uint8_t *timeout);

/* After a look in vain: waits until it is opened, or until CLOCK_MONOTONIC
 * reaches `deadline_ns` (0: no deadline): false then. */
bool paths_gate_wait(paths_gate *gate, uint32_t value, int64_t deadline_ns);

/* Lets everybody through. Those who sleep are woken by paths_gate_wake, which
 * may come later: whoever waits for nobody is not kept waiting by the call. */
static inline void paths_gate_open(paths_gate *gate)
{
    /* Release: what was done before is visible behind the gate. */
    atomic_store_explicit(&gate->value, paths_gate_value(gate) + 1,
                          memory_order_release);
    /* The look at `sleepers` must not overtake it. */
    if (gate->waiting == PATHS_WAIT_SLEEP)
        atomic_thread_fence(memory_order_seq_cst);
    else
        pastset_fence_often();
}
void paths_gate_wake(paths_gate *gate);

#endif
