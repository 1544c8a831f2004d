/* traces_waiting.c - what ranks do while they wait in calls of MPI: whether
 * they had a processor in them says so, and how often they yielded it. */
#include "measure/traces/traces_ranks_internal.h"

/* One that yields does so at least as often, while it waits and has a
 * processor. */
#define YIELD_NS 1000000

/* Of a thread: time in its calls, for how long it had a processor then, and for
 * how long others had it while it needed one. */
typedef struct {
    int64_t all_ns, had_ns, ready_ns;
} call_times;

/* Where ranks wait for the launcher, too, which is no sign of how they wait for
 * each other: processor time of these calls does not count. Who yields there
 * is still one that yields; in MPI_Init nobody counts yields. */
static bool is_outside(const ranks *r, const ranks_operation *o)
{
    return measure__ranks_is_like(r, o, "MPI_Init") ||
           measure__ranks_is_call(r, o, "MPI_Finalize");
}

static call_times in_calls(const ranks *r, uint32_t thread)
{
    const measure_known_times *times = &r->t->times;
    call_times c = {0};
    int64_t done_ns = INT64_MIN;

    for (size_t i = r->threads[thread]; i < r->threads[thread + 1]; i++) {
        const ranks_operation *o = &r->operations[i];
        int64_t from_ns = o->start_ns > done_ns ? o->start_ns : done_ns;
        if (o->end_ns <= from_ns)
            continue;
        done_ns = o->end_ns;
        if (is_outside(r, o))
            continue;
        c.all_ns += o->end_ns - from_ns;
        c.had_ns +=
            measure__traces_cpu(r->t, o->process, thread, from_ns, o->end_ns);
        if (times->ready)
            c.ready_ns += times->ready(times->context, o->process, thread,
                                       from_ns + r->t->start_ns,
                                       o->end_ns + r->t->start_ns);
    }
    return c;
}

static uint64_t yields_of(const ranks *r, uint32_t thread)
{
    const scopes_scheduling *known = r->t->snapshot->scheduling;

    return known && thread < known->thread_count ? known->threads[thread].yields
                                                 : 0;
}

predict_waiting measure__ranks_waiting(const ranks *r, uint32_t process,
                                       uint32_t thread)
{
    const measure_known_times *times = &r->t->times;
    call_times c;

    if (!times->cpu ||
        (times->knows && !times->knows(times->context, process, thread)))
        return PREDICT_SLEEPS;
    c = in_calls(r, thread);
    if (c.had_ns + c.ready_ns <= c.all_ns / 2)
        return PREDICT_SLEEPS;
    return yields_of(r, thread) > (uint64_t)(c.had_ns / YIELD_NS)
               ? PREDICT_YIELDS
               : PREDICT_SPINS;
}
