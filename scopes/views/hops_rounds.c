/* hops_rounds.c - rounds of a tree as times; how certain these are; and what
 * rows say of hops. */
#include "scopes/views/hops_internal.h"

#include <stdlib.h>

#include "pastset/status.h"

#define BLOCK_TIMES 131072

const char *const scopes__direction_names[] = {"wait", "down", "element", "up"};

/* --- a block of rounds --- */

/* Where the way of the last one ends, if all of it is there. */
static uint32_t bottom_of(const scopes__hops *h, uint32_t i)
{
    uint32_t branch = scopes__tree_representative(h->tree, h->first + i);

    while (branch != SCOPES_MISSING) {
        uint32_t lower = scopes__hops_branch(h, branch)->lower;
        if (h->starts[scopes__hops_cell(h, branch, i)] == SCOPES__NO_TIME)
            return SCOPES_MISSING;
        if (lower == SCOPES_MISSING)
            return branch;
        branch = lower;
    }
    return SCOPES_MISSING;
}

/* Is it on the way of the thread that was asked for, or were all? */
static bool is_asked_for(const scopes__hops *h, uint32_t branch)
{
    return !h->parts || h->parts[branch].asked;
}

/* Ends that cannot be reached from below are taken out; and from the tops down
 * it is counted how many threads each branch kept. */
static void mark_ways(scopes__hops *h)
{
    for (uint32_t b = 0; b < h->tree->branch_count; b++) {
        uint32_t lower = scopes__hops_branch(h, b)->lower;
        bool is_top = scopes__hops_branch(h, b)->top != SCOPES_MISSING;
        for (uint32_t i = 0; i < h->count; i++) {
            int64_t *end = &h->ends[scopes__hops_cell(h, b, i)];
            if (h->bottoms[i] == SCOPES_MISSING ||
                (lower != SCOPES_MISSING &&
                 h->ends[scopes__hops_cell(h, lower, i)] == SCOPES__NO_TIME))
                *end = SCOPES__NO_TIME;
            h->kept[scopes__hops_cell(h, b, i)] =
                is_top && *end != SCOPES__NO_TIME && is_asked_for(h, b);
        }
    }
    for (uint32_t b = h->tree->branch_count; b-- > 0;) {
        uint32_t lower = scopes__hops_branch(h, b)->lower;
        for (uint32_t i = 0; i < h->count && lower != SCOPES_MISSING; i++)
            h->kept[scopes__hops_cell(h, lower, i)] +=
                h->kept[scopes__hops_cell(h, b, i)];
    }
}

void scopes__hops_look(scopes__hops *h, uint32_t first)
{
    uint32_t left = h->tree->rounds - first;

    h->first = first;
    h->count = left < h->block ? left : h->block;
    scopes__tree_times(h->tree, h->view_input->clocks, first, h->count,
                       h->starts, h->ends);
    for (uint32_t i = 0; i < h->count; i++)
        h->bottoms[i] = bottom_of(h, i);
    mark_ways(h);
}

void scopes__hops_fini(scopes__hops *h)
{
    free(h->starts);
    free(h->ends);
    free(h->kept);
}

int scopes__hops_init(scopes__hops *h)
{
    uint32_t branches = h->tree->branch_count;
    size_t cells;

    h->block = branches ? BLOCK_TIMES / branches : 1;
    h->block = h->block < 8                    ? 8
               : h->block > SCOPES__HOPS_BLOCK ? SCOPES__HOPS_BLOCK
                                               : h->block;
    cells = (size_t)branches * h->block + 1;
    h->starts = malloc(cells * sizeof(*h->starts));
    h->ends = malloc(cells * sizeof(*h->ends));
    h->kept = malloc(cells * sizeof(*h->kept));
    if (h->starts && h->ends && h->kept)
        return 0;
    scopes__hops_fini(h);
    return pastset_no_memory("for the view hops");
}

int64_t scopes__hops_wait_ns(const scopes__hops *h, uint32_t top, uint32_t last,
                             uint32_t i)
{
    int64_t ns = h->starts[scopes__hops_cell(h, last, i)] -
                 h->starts[scopes__hops_cell(h, top, i)];
    bool one_clock = scopes__hops_branch(h, top)->process ==
                     scopes__hops_branch(h, last)->process;

    return one_clock && ns < 0 ? 0 : ns;
}

/* --- what can be wrong with a part --- */

int64_t scopes__hops_certain(const scopes__hops *h, uint32_t branch,
                             uint32_t round, scopes__direction way)
{
    const scopes__branch *above = scopes__hops_branch(h, branch), *below;
    const eventspace_trace *upper, *lower;

    if (above->lower == SCOPES_MISSING)
        return 0;
    below = scopes__hops_branch(h, above->lower);
    if (above->process == below->process)
        return 0;
    upper = scopes_event_at(above->events, scopes__tree_event(above, round));
    lower = scopes_event_at(below->events, scopes__tree_event(below, round));
    return way == SCOPES__DOWN
               ? scopes__certain_ns(h->view_input->clocks, above->process,
                                    upper->start, below->process, lower->start)
               : scopes__certain_ns(h->view_input->clocks, above->process,
                                    upper->end, below->process, lower->end);
}

int64_t scopes__hops_certain_wait(const scopes__hops *h, uint32_t branch,
                                  uint32_t round)
{
    const scopes__branch *own = scopes__hops_branch(h, branch);
    const scopes__branch *last =
        scopes__hops_branch(h, scopes__tree_representative(h->tree, round));

    return scopes__certain_ns(
        h->view_input->clocks, own->process,
        scopes_event_at(own->events, scopes__tree_event(own, round))->start,
        last->process,
        scopes_event_at(last->events, scopes__tree_event(last, round))->start);
}

int64_t scopes__hops_certain_between(const scopes__hops *h, uint32_t bottom,
                                     uint32_t branch, uint32_t round)
{
    const scopes__branch *from = scopes__hops_branch(h, bottom),
                         *to = scopes__hops_branch(h, branch);

    return scopes__certain_ns(
        h->view_input->clocks, from->process,
        scopes_event_at(from->events, scopes__tree_event(from, round))->start,
        to->process,
        scopes_event_at(to->events, scopes__tree_event(to, round))->end);
}

/* --- cells --- */

const char *scopes__hops_collector(const scopes__hops *h, uint32_t branch)
{
    return branch == SCOPES_MISSING
               ? ""
               : scopes_topology_collector_name(
                     h->view_input->topology,
                     scopes__hops_branch(h, branch)->collector);
}

const char *scopes__hops_what(const scopes__hops *h, uint32_t branch)
{
    return h->view_input->topology
        ->hops[scopes__hops_branch(h, branch)->collector]
        .name;
}

bool scopes__hops_is_of(const scopes__hops *h, uint32_t branch,
                        scopes__direction way)
{
    const scopes_topology *topology = h->view_input->topology;
    const scopes_hop *hop =
        &topology->hops[scopes__hops_branch(h, branch)->collector];

    if (scopes__is_of(h->view_input, h->tree->element) ||
        scopes__is_of(h->view_input, topology->sites[h->tree->site].node))
        return true;
    return way != SCOPES__WAIT &&
           (scopes__is_of(h->view_input, hop->collective) ||
            scopes__is_of(h->view_input, hop->proxy));
}

void scopes__hops_certain_cell(scopes_table *out, int64_t certain_ns)
{
    scopes_table_integer(out,
                         certain_ns == INT64_MAX ? SCOPES_BLANK : certain_ns);
}
