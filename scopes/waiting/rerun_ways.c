/* rerun_ways.c - how long operations are on the hops of their ways: see
 * rerun_internal.h.
 *
 * The hop from a collector to the one below it is passed downwards from when
 * the last of those that join there has come to the collectors above, to the
 * start at the one below; and upwards from the end there to the end above. Of a
 * way without a collective that is its own operation only. */
#include "scopes/waiting/rerun_internal.h"

#include <stdlib.h>

#include "scopes/causality/tree_internal.h"
#include "scopes/memory/memory_internal.h"

#define BLOCK_TIMES 65536

typedef struct ways {
    const scopes__waiting *w;
    const bool *hops;
    int64_t *down_ns, *up_ns; /* by operation */
    const scopes__tree *tree;
    /* Of a block of rounds: [branch * count + i] */
    uint32_t first, count;
    int64_t *starts, *ends;
    int64_t *down, *up; /* from the branch to the lowest collector, and back */
    int64_t *joined;    /* the last of those above came there */
} ways;

static size_t cell(const ways *y, uint32_t branch, uint32_t i)
{
    return (size_t)branch * y->count + i;
}

static int64_t between(const ways *y, uint32_t branch, int64_t from, int64_t to)
{
    if (from == SCOPES__NO_TIME || to == SCOPES__NO_TIME)
        return 0;
    if (!y->hops)
        return to - from;
    return y->hops[y->tree->branches[branch].collector] && to > from ? to - from
                                                                     : 0;
}

static void join(ways *y)
{
    for (size_t i = 0; i < (size_t)y->tree->branch_count * y->count; i++)
        y->joined[i] = SCOPES__NO_TIME;
    for (uint32_t b = 0; b < y->tree->branch_count; b++) {
        uint32_t lower = y->tree->branches[b].lower;
        for (uint32_t i = 0; i < y->count && lower != SCOPES_MISSING; i++) {
            int64_t *last = &y->joined[cell(y, lower, i)];
            int64_t start = y->starts[cell(y, b, i)];
            if (start != SCOPES__NO_TIME &&
                (*last == SCOPES__NO_TIME || start > *last))
                *last = start;
        }
    }
}

/* Branches below come first. */
static void pass(ways *y)
{
    for (uint32_t b = 0; b < y->tree->branch_count; b++) {
        uint32_t lower = y->tree->branches[b].lower;
        for (uint32_t i = 0; i < y->count; i++) {
            size_t own = cell(y, b, i), at;
            y->down[own] = y->up[own] = 0;
            if (lower == SCOPES_MISSING)
                continue;
            at = cell(y, lower, i);
            y->down[own] =
                y->down[at] + between(y, b, y->joined[at], y->starts[at]);
            y->up[own] = y->up[at] + between(y, b, y->ends[at], y->ends[own]);
        }
    }
}

static void give(ways *y, uint32_t branch)
{
    const scopes__branch *b = &y->tree->branches[branch];

    for (uint32_t i = 0; i < y->count; i++) {
        uint32_t event = scopes__tree_event(b, y->first + i), operation;
        const eventspace_trace *tuple;
        if (event == SCOPES_MISSING)
            continue;
        tuple = scopes_event_at(b->events, event);
        operation = scopes__waiting_find(y->w, tuple->thread, tuple->sequence);
        if (operation == SCOPES_MISSING)
            continue;
        if (y->down_ns)
            y->down_ns[operation] += y->down[cell(y, branch, i)];
        if (y->up_ns)
            y->up_ns[operation] += y->up[cell(y, branch, i)];
    }
}

static int block_memory(ways *y, size_t cells)
{
    y->starts = malloc(cells * sizeof(*y->starts));
    y->ends = malloc(cells * sizeof(*y->ends));
    y->down = malloc(cells * sizeof(*y->down));
    y->up = malloc(cells * sizeof(*y->up));
    y->joined = malloc(cells * sizeof(*y->joined));
    return y->starts && y->ends && y->down && y->up && y->joined
               ? 0
               : scopes__no_room("for the ways of operations");
}

static void block_free(ways *y)
{
    free(y->starts);
    free(y->ends);
    free(y->down);
    free(y->up);
    free(y->joined);
}

static int tree_add(ways *y)
{
    uint32_t branches = y->tree->branch_count;
    uint32_t block = BLOCK_TIMES / (branches + 1) + 1;
    int err;

    if (block > y->tree->rounds)
        block = y->tree->rounds;
    err = block_memory(y, (size_t)branches * block + 1);
    for (y->first = 0; y->first < y->tree->rounds && !err; y->first += block) {
        y->count = y->tree->rounds - y->first;
        if (y->count > block)
            y->count = block;
        scopes__tree_times(y->tree, y->w->in.clocks, y->first, y->count,
                           y->starts, y->ends);
        join(y);
        pass(y);
        for (uint32_t b = 0; b < branches; b++)
            if (y->tree->branches[b].top != SCOPES_MISSING)
                give(y, b);
    }
    block_free(y);
    return err;
}

static int site_add(ways *y, uint32_t site)
{
    scopes__tree *tree;
    int err;

    if (y->w->in.topology->sites[site].parent != PATHS_NONE)
        return 0;
    err = scopes__tree_create(&tree, y->w->in.topology, y->w->in.event_table,
                              y->w->in.clocks, site);
    if (err)
        return err;
    y->tree = tree;
    err = tree_add(y);
    scopes__tree_destroy(tree);
    return err;
}

static int path_add(ways *y, uint32_t top)
{
    const scopes_top *its = &y->w->in.topology->tops[top];
    scopes__tree *tree;
    int err;

    if (its->collector == PATHS_NONE || its->site != PATHS_NONE ||
        scopes__tree_is_repeated(y->w->in.topology, top))
        return 0;
    err = scopes__tree_make_plain(&tree, y->w->in.topology,
                                  y->w->in.event_table, top);
    if (err)
        return err;
    y->tree = tree;
    err = tree->branch_count > 1 ? tree_add(y) : 0;
    scopes__tree_destroy(tree);
    return err;
}

int scopes__ways_add(const scopes__waiting *w, const bool *hops,
                     int64_t *down_ns, int64_t *up_ns)
{
    const scopes_topology *topology = w->in.topology;
    ways y = {.w = w, .hops = hops, .down_ns = down_ns, .up_ns = up_ns};
    int err = 0;

    for (uint32_t i = 0; i < topology->site_count && !err; i++)
        err = site_add(&y, i);
    for (uint32_t i = 0; i < topology->top_count && !err; i++)
        err = path_add(&y, i);
    return err;
}
