/* trust.c - see trust.h. */
#include "viewer/tables/trust.h"

#include <math.h>

static void take_clocks(viewer_trust *t, const scopes_snapshot *snapshot)
{
    uint32_t count = snapshot->topology->map->process_count;

    for (uint32_t i = 0; i < count; i++) {
        const scopes_clock *clock = scopes_clocks_process(snapshot->clocks, i);
        if (clock->how == SCOPES_CLOCK_NONE)
            continue;
        t->processes++;
        if (clock->certain_ns > t->certain_ns)
            t->certain_ns = clock->certain_ns;
    }
}

void viewer_trust_take(viewer_trust *out, const scopes_snapshot *snapshot,
                       const viewer_facts *facts)
{
    const viewer_process_facts *total = &facts->total;

    *out = (viewer_trust){.observing = (double)NAN};
    take_clocks(out, snapshot);
    out->event_cost_ns = viewer_event_cost_ns();
    if (out->event_cost_ns > 0 && total->lasted_ns > 0 && total->threads > 0)
        out->observing = out->event_cost_ns * (double)total->events.recorded /
                         ((double)total->lasted_ns * total->threads);
    else
        out->event_cost_ns = 0;
}
