/* compute.c - computing for a given time.
 *
 * A thread that looked at the clock until the time is over would not compute
 * less when another thread has its processor. So how long a step takes is
 * measured once, and then a number of steps is computed. */
#include "apps/gsum/gsum.h"

#define TRY_STEPS 20000
#define TRIES 50

void compute(uint64_t steps)
{
    /* The additions wait for each other, and a compiler cannot know what the
     * series goes to. */
    static volatile double start = 0.5;
    volatile double sink;
    double x = start;

    if (!steps)
        return;
    for (uint64_t i = 0; i < steps; i++)
        x = x * 0.999 + 0.001;
    sink = x;
    (void)sink;
}

/* Of many short tries the shortest: it had the processor for itself. */
uint64_t compute_steps(uint64_t duration_ns)
{
    uint64_t min = UINT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        uint64_t took = program_now_ns();
        compute(TRY_STEPS);
        took = program_now_ns() - took;
        if (took < min)
            min = took;
    }
    return (uint64_t)((double)duration_ns * TRY_STEPS / (double)min);
}
