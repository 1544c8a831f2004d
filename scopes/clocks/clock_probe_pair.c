/* clock_probe_pair.c - the operations over hops between processes, with their
 * four times. Those that failed are left out: one that was given up comes up on
 * its own process before it does on the other. */
#include "scopes/clocks/clock_internal.h"

#include <stdlib.h>

#include "scopes/causality/rounds.h"

/* Whether some of an event is in the part of the run that counts. */
static bool counts(const scopes_event_table *event_table, uint32_t process,
                   const eventspace_trace *event)
{
    return (!event_table->from_ticks ||
            event->end >= event_table->from_ticks[process]) &&
           (!event_table->to_ticks ||
            event->start <= event_table->to_ticks[process]);
}

static int walk(const scopes_event_table *event_table,
                const scopes_series *upper, const scopes_series *lower,
                const uint32_t *matches, scopes__probe_pair_visit *each,
                void *context)
{
    scopes__probe_pair pair = {.upper = upper->process,
                               .lower = lower->process};
    int err = 0;

    for (size_t i = 0; i < upper->count && !err; i++) {
        const eventspace_trace *above = scopes_event_at(upper->events, i),
                               *below;
        if (matches[i] == SCOPES_MISSING)
            continue;
        below = scopes_event_at(lower->events, matches[i]);
        if (above->status || below->status ||
            !counts(event_table, pair.upper, above) ||
            !counts(event_table, pair.lower, below))
            continue;
        pair.t1 = above->start;
        pair.t2 = below->start;
        pair.t3 = below->end;
        pair.t4 = above->end;
        err = each(&pair, context);
    }
    return err;
}

int scopes__probe_pairs_each(const scopes_event_table *event_table,
                             const scopes_topology *topology,
                             scopes__probe_pair_visit *each, void *context)
{
    int err = 0;

    for (uint32_t i = 0; i < topology->collectors && !err; i++) {
        const scopes_hop *hop = &topology->hops[i];
        const scopes_series *upper, *lower;
        uint32_t *matches = NULL;
        if (hop->upper == PATHS_NONE || hop->lower == PATHS_NONE ||
            !hop->remote)
            continue;
        upper = scopes_event_series(event_table, hop->upper);
        lower = scopes_event_series(event_table, hop->lower);
        if (!upper->count || !lower->count || upper->process == lower->process)
            continue;
        err = scopes_match(&matches, upper, lower);
        if (!err)
            err = walk(event_table, upper, lower, matches, each, context);
        scopes_match_free(matches);
    }
    return err;
}

void scopes__probe_pairs_choose(const scopes_topology *topology,
                                bool *collectors)
{
    for (uint32_t i = 0; i < topology->collectors; i++) {
        const scopes_hop *hop = &topology->hops[i];
        if (hop->upper == PATHS_NONE || !hop->remote ||
            hop->lower == PATHS_NONE)
            continue;
        collectors[hop->upper] = true;
        collectors[hop->lower] = true;
    }
}
