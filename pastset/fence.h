/* fence.h - a full fence of which one side pays nothing.
 *
 * Of two threads that each write one thing and then look at the other's, at
 * least one must see what the other wrote. That takes a full fence on both
 * sides, some 8 ns each. Where one side is passed often and the other rarely,
 * the rare one has the kernel do it for both (membarrier), which takes
 * microseconds, and the frequent one only keeps the compiler from reordering.
 *
 * Where the kernel cannot do that both sides have a fence. A model of such a
 * pair is fence.pml. */
#ifndef PASTSET_FENCE_H
#define PASTSET_FENCE_H

#include <stdatomic.h>
#include <stdbool.h>

/* Asks the kernel, once; before either side is passed. True: it can. */
bool pastset_fence_init(void);

extern bool pastset__fence_asymmetric;

static inline void pastset_fence_often(void)
{
    if (__builtin_expect(pastset__fence_asymmetric, 1))
        atomic_signal_fence(memory_order_seq_cst);
    else
        atomic_thread_fence(memory_order_seq_cst);
}

void pastset_fence_rarely(void);

#endif
