/* gap_parts.c - what a thread did between two operations: see
 * whatif_internal.h. */
#include "scopes/whatif/whatif_internal.h"

scopes__gap scopes__gap_of(const scopes__waiting *w, uint32_t thread,
                           size_t *at, int64_t gap_ns, int64_t end_ns)
{
    const scopes_scheduling *known = w->in.scheduling;
    scopes_off_time off = {0};
    int64_t off_ns;

    if (known && thread < known->thread_count && gap_ns > 0)
        off = scopes_off_between(&known->threads[thread], at, end_ns - gap_ns,
                                 end_ns);
    off_ns = off.runnable_ns + off.sleeping_ns;
    return (scopes__gap){gap_ns > off_ns ? gap_ns - off_ns : 0, off.runnable_ns,
                         off.sleeping_ns};
}
