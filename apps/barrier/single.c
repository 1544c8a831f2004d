/* single.c - the plan: in which rounds the late thread waits longest. Of
 * threads that wait equally long the first one counts. */
#include "apps/barrier/barrier.h"

int barrier_single(const program_options *o, program_result *r)
{
    const barrier_options *own = o->own;
    barrier_plan plan = {.rounds = barrier_rounds(o)};
    int err = barrier_check(o);

    if (err)
        return err;
    for (uint32_t round = 0; round < plan.rounds; round++) {
        uint64_t longest_ns = 0, who = 0;
        for (uint32_t thread = 0; thread < o->threads; thread++) {
            uint64_t wait_ns = barrier_wait_ns(o, thread, round);
            if (wait_ns > longest_ns) {
                longest_ns = wait_ns;
                who = thread;
            }
        }
        plan.late_rounds += who == own->late;
        plan.longest_ns += longest_ns;
    }
    barrier_plan_report(&plan, r);
    return 0;
}
