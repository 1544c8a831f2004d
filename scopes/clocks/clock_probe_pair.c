/* clock_probe_pair.c - the operations over hops between hosts, with their four
 * times. Those that failed are left out: one that was given up comes up on its
 * own host before it does on the other. */
#include "scopes/clocks/clock_internal.h"

#include <stdlib.h>

#include "scopes/causality/rounds.h"

static int walk(const scopes_series *upper, const scopes_series *lower,
                const uint32_t *matches, scopes__exchange_each *each,
                void *context)
{
    scopes__exchange exchange = {.upper = upper->host, .lower = lower->host};
    int err = 0;

    for (size_t i = 0; i < upper->count && !err; i++) {
        const eventspace_trace *above = &upper->events[i], *below;
        if (matches[i] == SCOPES_MISSING)
            continue;
        below = &lower->events[matches[i]];
        if (above->status || below->status)
            continue;
        exchange.t1 = above->start;
        exchange.t2 = below->start;
        exchange.t3 = below->end;
        exchange.t4 = above->end;
        err = each(&exchange, context);
    }
    return err;
}

int scopes__exchanges_each(const scopes_store *store, const scopes_ways *ways,
                           scopes__exchange_each *each, void *context)
{
    int err = 0;

    for (uint32_t i = 0; i < ways->collectors && !err; i++) {
        const scopes_hop *hop = &ways->hops[i];
        const scopes_series *upper, *lower;
        uint32_t *matches = NULL;
        if (hop->upper == PATHS_NONE || hop->lower == PATHS_NONE ||
            !hop->remote)
            continue;
        upper = scopes_store_series(store, hop->upper);
        lower = scopes_store_series(store, hop->lower);
        if (!upper->count || !lower->count || upper->host == lower->host)
            continue;
        err = scopes_match(&matches, upper, lower);
        if (!err)
            err = walk(upper, lower, matches, each, context);
        free(matches);
    }
    return err;
}
