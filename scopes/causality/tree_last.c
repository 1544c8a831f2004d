/* tree_last.c - who came last of all in each round of a tree, and the times of
 * its events. */
#include "scopes/causality/tree_internal.h"

#include <stdlib.h>

#include "pastset/status.h"
#include "scopes/causality/numbers_internal.h"
#include "scopes/memory/memory_internal.h"

/* --- who came last of all --- */

/* Branches at the tops of threads. A thread has several where it comes by
 * several paths, as a rank does whose program calls in several lines. */
typedef struct tops {
    uint32_t *first; /* by thread; SCOPES_MISSING */
    uint32_t *next;  /* by branch: of the same thread */
} tops;

static int tops_find(tops *t, const scopes__tree *tree)
{
    t->first = scopes__numbers_make(tree->topology->thread_count);
    t->next = scopes__numbers_make(tree->branch_count);
    if (!t->first || !t->next)
        return scopes__no_room("for a tree of collectors");
    for (uint32_t b = 0; b < tree->branch_count; b++) {
        uint32_t thread = tree->branches[b].thread;
        if (thread == PATHS_NONE)
            continue;
        t->next[b] = t->first[thread];
        t->first[thread] = b;
    }
    return 0;
}

static void tops_free(tops *t)
{
    scopes__free(t->first);
    scopes__free(t->next);
}

static bool is_of(const scopes__branch *branch, uint32_t round,
                  const eventspace_trace *event)
{
    uint32_t at = scopes__tree_event(branch, round);
    const eventspace_trace *first;

    if (at == SCOPES_MISSING)
        return false;
    first = scopes_event_at(branch->events, at);
    return first->thread == event->thread && first->sequence == event->sequence;
}

/* The branch at the top of the thread whose operation the event is. */
static uint32_t top_of_event(const scopes__tree *tree, const tops *t,
                             uint32_t round, const eventspace_trace *event)
{
    uint32_t b = event->thread < tree->topology->thread_count
                     ? t->first[event->thread]
                     : SCOPES_MISSING;

    while (b != SCOPES_MISSING && !is_of(&tree->branches[b], round, event))
        b = t->next[b];
    return b;
}

/* By the clocks, if all of the root's inputs are there. */
static const eventspace_trace *latest_input(const scopes__tree *tree,
                                            const scopes_clocks *clocks,
                                            uint32_t round)
{
    const scopes_site *root = &tree->topology->sites[tree->site];
    const eventspace_trace *latest = NULL;
    int64_t latest_ns = 0;

    for (uint32_t i = 0; i < root->inputs.count; i++) {
        if (root->inputs.ids[i] == PATHS_NONE)
            return NULL;
    }
    for (uint32_t b = 0; b < tree->branch_count; b++) {
        const scopes__branch *branch = &tree->branches[b];
        uint32_t at = scopes__tree_event(branch, round);
        int64_t ns;
        if (branch->lower != SCOPES_MISSING)
            continue;
        if (at == SCOPES_MISSING)
            return NULL;
        ns = scopes__start_ns(clocks, branch, at);
        if (!latest || ns > latest_ns) {
            latest = scopes_event_at(branch->events, at);
            latest_ns = ns;
        }
    }
    return latest;
}

/* The event of the one that came last, at the lowest collector there is. */
static const eventspace_trace *last_event(const scopes__tree *tree,
                                          const scopes_event_table *event_table,
                                          const scopes_clocks *clocks,
                                          const scopes_rounds *rounds,
                                          uint32_t round)
{
    uint32_t last = rounds->last[round], event;
    const scopes_series *series;

    if (!tree->open) {
        event = scopes__tree_event(&tree->branches[0], round);
        if (event != SCOPES_MISSING)
            return scopes_event_at(tree->branches[0].events, event);
    }
    if (last == SCOPES_MISSING)
        return tree->open ? latest_input(tree, clocks, round) : NULL;
    event = rounds->events[(size_t)round * rounds->inputs + last];
    series = scopes_event_series(event_table, rounds->site->inputs.ids[last]);
    return event == SCOPES_MISSING ? NULL
                                   : scopes_event_at(series->events, event);
}

int scopes__tree_find_last(scopes__tree *tree,
                           const scopes_event_table *event_table,
                           const scopes_clocks *clocks,
                           const scopes_rounds *rounds)
{
    tops t = {0};
    int err = tops_find(&t, tree);

    tree->representatives = scopes__numbers_make(tree->rounds);
    if (!err && !tree->representatives)
        err = scopes__no_room("for a tree of collectors");
    for (uint32_t r = 0; r < tree->rounds && !err; r++) {
        const eventspace_trace *event =
            last_event(tree, event_table, clocks, rounds, r);
        if (event)
            tree->representatives[r] = top_of_event(tree, &t, r, event);
    }
    tops_free(&t);
    return err;
}

/* --- times --- */

static void branch_times(const scopes__branch *branch,
                         const scopes_clocks *clocks, uint32_t first,
                         uint32_t count, int64_t *starts, int64_t *ends)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = scopes__tree_event(branch, first + i);
        if (event == SCOPES_MISSING) {
            starts[i] = ends[i] = SCOPES__NO_TIME;
            continue;
        }
        starts[i] = scopes__start_ns(clocks, branch, event);
        ends[i] = scopes__end_ns(clocks, branch, event);
    }
}

/* One branch after the other, since its events lie behind each other. */
void scopes__tree_times(const scopes__tree *tree, const scopes_clocks *clocks,
                        uint32_t first, uint32_t count, int64_t *starts,
                        int64_t *ends)
{
    for (uint32_t b = 0; b < tree->branch_count; b++)
        branch_times(&tree->branches[b], clocks, first, count,
                     &starts[(size_t)b * count], &ends[(size_t)b * count]);
}

int64_t scopes__width_ns(const scopes_clocks *clocks, uint32_t process,
                         uint64_t ticks)
{
    int64_t from, to;

    scopes_clocks_certain(clocks, process, ticks, &from, &to);
    return from == INT64_MIN || to == INT64_MAX ? INT64_MAX : to - from;
}

int64_t scopes__certain_ns(const scopes_clocks *clocks, uint32_t process,
                           uint64_t ticks, uint32_t other_process,
                           uint64_t other_ticks)
{
    int64_t one, two;

    if (process == other_process)
        return 0;
    one = scopes__width_ns(clocks, process, ticks);
    two = scopes__width_ns(clocks, other_process, other_ticks);
    return one == INT64_MAX || two == INT64_MAX ? INT64_MAX
                                                : (one + two + 1) / 2;
}
