/* clock_warnings.c - of which processes the clocks may be wrong, and why. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "viewer/cli/command.h"

/* No more than its wall clock is known of it, or messages that go one way. */
static void warn_of_wall(const eventspace_run *run, const scopes_clocks *clocks,
                         uint32_t process)
{
    uint64_t ticks = scopes_clocks_process(clocks, process)->at_ticks;
    int64_t shown = scopes_clocks_ns(clocks, process, ticks), from, to;
    bool is_later;

    fprintf(stderr, "eventspace: process %s: aligned by its wall clock, ",
            eventspace_run_base(run)->processes[process].name);
    scopes_clocks_certain(clocks, process, ticks, &from, &to);
    is_later = to == INT64_MAX;
    if (from == INT64_MIN && is_later)
        fputs("as no operations between processes were collected that lead to "
              "it\n",
              stderr);
    else if (from != INT64_MIN && !is_later)
        fputs("moved so that no message arrives before it was sent, as between "
              "any two they go in one direction only\n",
              stderr);
    else
        fprintf(stderr,
                "moved so that no message arrives before it was sent, as they "
                "only %s: its events may have been any time %s than shown, but "
                "%s by %.6f ms at most\n",
                is_later ? "come to it" : "go from it",
                is_later ? "later" : "earlier", is_later ? "earlier" : "later",
                (double)(is_later ? shown - from : to - shown) / 1e6);
}

/* The process that is aligned by its wall clock, with which this one is aligned
 * over others; else itself. */
static uint32_t root_of(const scopes_clocks *clocks, uint32_t process)
{
    uint32_t at = process;

    while (scopes_clocks_process(clocks, at)->parent != PATHS_NONE)
        at = scopes_clocks_process(clocks, at)->parent;
    return scopes_clocks_process(clocks, at)->how == SCOPES_CLOCK_WALL
               ? at
               : process;
}

/* Of one that is aligned by exchanges: it is with one that is not, or no line
 * keeps within the bounds that they give. */
static void warn_of_exchanges(const eventspace_run *run,
                              const scopes_clocks *clocks, uint32_t process)
{
    const paths_map *map = eventspace_run_base(run);
    uint32_t root = root_of(clocks, process);

    if (root != process)
        fprintf(stderr,
                "eventspace: process %s: aligned with %s, so it is as wrong as "
                "that\n",
                map->processes[process].name, map->processes[root].name);
    else
        fprintf(stderr,
                "eventspace: process %s: nothing is certain about its clock, "
                "as no constant rate fits all exchanges on the path to it; try "
                "--last\n",
                map->processes[process].name);
}

void cli_warn_of_clocks(const eventspace_run *run, const scopes_clocks *clocks)
{
    for (uint32_t i = 0; i < eventspace_run_base(run)->process_count; i++) {
        const scopes_clock *c = scopes_clocks_process(clocks, i);
        if (c->how == SCOPES_CLOCK_PROBE_PAIRS && isinf(c->certain_ns))
            warn_of_exchanges(run, clocks, i);
        if (c->how == SCOPES_CLOCK_WALL)
            warn_of_wall(run, clocks, i);
    }
}
