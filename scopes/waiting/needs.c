/* needs.c - whom operations need at elements and in collectives: see
 * waiting_internal.h. Both are told at the lowest collectors of ways, from
 * where the events of one operation are followed up to its top. */
#include "scopes/waiting/waiting_internal.h"

#include <stdlib.h>

#include "pastset/status.h"
#include "scopes/causality/cause.h"
#include "scopes/causality/tree_internal.h"
#include "scopes/memory/memory_internal.h"
#include "scopes/parallel/parallel_internal.h"

typedef struct needing {
    scopes__waiting *waiting;
    scopes_causes *causes;
    scopes__tree **trees; /* by collective site; only roots */
} needing;

static uint32_t operation_of(const scopes__waiting *w,
                             const eventspace_trace *event)
{
    return scopes__waiting_find(w, event->thread, event->sequence);
}

/* Of the operation that has this event at the lowest collector. */
static uint32_t other_at(const needing *n, uint32_t collector, uint32_t event)
{
    scopes_cause cause = scopes_causes_of(n->causes, collector, event);
    const scopes_series *series;

    if (cause.collector == PATHS_NONE)
        return SCOPES_MISSING;
    series = scopes_event_series(n->waiting->in.event_table, cause.collector);
    return operation_of(n->waiting,
                        scopes_event_at(series->events, cause.event));
}

/* --- elements --- */

static void needs_of_path(const needing *n, const scopes__tree *tree)
{
    const scopes__branch *own = &tree->branches[tree->only];
    const scopes__branch *bottom = &tree->branches[0];
    scopes__waiting *w = n->waiting;

    for (uint32_t r = 0; r < tree->rounds; r++) {
        uint32_t below = scopes__tree_event(bottom, r), operation;
        if (below == SCOPES_MISSING)
            continue;
        operation = operation_of(
            w, scopes_event_at(own->events, scopes__tree_event(own, r)));
        if (operation != SCOPES_MISSING)
            w->needs[operation] = other_at(n, bottom->collector, below);
    }
}

static int path_part(size_t number, void *context)
{
    const needing *n = context;
    const scopes_topology *topology = n->waiting->in.topology;
    const scopes_top *top = &topology->tops[number];
    scopes__tree *tree;
    int err;

    if (top->collector == PATHS_NONE || top->site != PATHS_NONE ||
        scopes__tree_is_repeated(topology, (uint32_t)number))
        return 0;
    err = scopes__tree_make_plain(&tree, topology, n->waiting->in.event_table,
                                  (uint32_t)number);
    if (err)
        return err;
    if (tree->branch_count)
        needs_of_path(n, tree);
    scopes__tree_destroy(tree);
    return 0;
}

/* --- collectives --- */

static int tree_part(size_t site, void *context)
{
    const needing *n = context;

    if (n->waiting->in.topology->sites[site].parent != PATHS_NONE)
        return 0;
    return scopes__tree_create(&n->trees[site], n->waiting->in.topology,
                               n->waiting->in.event_table,
                               n->waiting->in.clocks, (uint32_t)site);
}

/* Of a branch that is the top of a thread's path. */
static uint32_t operation_in(const scopes__waiting *w,
                             const scopes__branch *branch, uint32_t round)
{
    uint32_t event = scopes__tree_event(branch, round);

    return event == SCOPES_MISSING
               ? SCOPES_MISSING
               : operation_of(w, scopes_event_at(branch->events, event));
}

/* The one who came last; or, if his operation was then held at the element,
 * who released that. */
static uint32_t last_of(const needing *n, const scopes__tree *tree,
                        uint32_t round)
{
    const scopes__waiting *w = n->waiting;
    uint32_t last = scopes__tree_representative(tree, round);
    uint32_t below = tree->open ? SCOPES_MISSING
                                : scopes__tree_event(&tree->branches[0], round);
    uint32_t own, other = SCOPES_MISSING;

    if (last == SCOPES_MISSING)
        return SCOPES_MISSING;
    own = operation_in(w, &tree->branches[last], round);
    if (own != SCOPES_MISSING && below != SCOPES_MISSING)
        other = other_at(n, tree->branches[0].collector, below);
    return other != SCOPES_MISSING &&
                   scopes__waiting_operation(w, other)->start_ns >
                       scopes__waiting_operation(w, own)->start_ns
               ? other
               : own;
}

static void meet(scopes__waiting *w, const scopes__tree *tree)
{
    for (uint32_t b = 0; b < tree->branch_count; b++) {
        const scopes__branch *branch = &tree->branches[b];
        size_t bit = (size_t)tree->site * w->in.topology->thread_count;
        if (branch->top == SCOPES_MISSING)
            continue;
        bit += branch->thread;
        w->members[bit / 8] |= (uint8_t)(1 << (bit % 8));
        for (uint32_t r = 0; r < tree->rounds; r++) {
            uint32_t operation = operation_in(w, branch, r);
            if (operation == SCOPES_MISSING)
                continue;
            w->needs[operation] = w->met_count + r;
            w->flags[operation] |= SCOPES__MEETS;
        }
    }
}

static void add_meeting(scopes__waiting *w, uint32_t site, uint32_t last)
{
    scopes__meeting *met = &w->met[w->met_count++];
    const scopes_operation *its;

    *met = (scopes__meeting){.site = site, .last = last, .top = SCOPES_MISSING};
    if (last == SCOPES_MISSING)
        return;
    its = scopes__waiting_operation(w, last);
    met->last_ns = its->start_ns;
    met->top = scopes__waiting_top_number(w, last);
    met->verb = its->verb;
}

static int meetings_make(needing *n)
{
    scopes__waiting *w = n->waiting;
    uint64_t count = 0;

    for (uint32_t i = 0; i < w->in.topology->site_count; i++)
        count += n->trees[i] ? n->trees[i]->rounds : 0;
    if (count >= SCOPES_MISSING)
        return pastset_fail(PASTSET_ELIMIT,
                            "more rounds than can be numbered: ask for a part "
                            "of the run");
    w->met = scopes__allocate((count + 1) * sizeof(*w->met));
    if (!w->met)
        return scopes__no_room("for the rounds of collectives");
    for (uint32_t i = 0; i < w->in.topology->site_count; i++) {
        const scopes__tree *tree = n->trees[i];
        if (!tree)
            continue;
        meet(w, tree);
        for (uint32_t r = 0; r < tree->rounds; r++)
            add_meeting(w, i, last_of(n, tree, r));
    }
    return 0;
}

/* --- all of them --- */

int scopes__waiting_needs(scopes__waiting *w)
{
    const scopes_topology *topology = w->in.topology;
    needing n = {.waiting = w};
    int err = scopes_causes_create(&n.causes, topology, w->in.event_table,
                                   w->in.clocks);

    if (err)
        return err;
    n.trees = calloc(topology->site_count + 1, sizeof(*n.trees));
    err = n.trees ? scopes__parallel(topology->top_count, path_part, &n)
                  : pastset_no_memory("for the rounds of collectives");
    if (!err)
        err = scopes__parallel(topology->site_count, tree_part, &n);
    if (!err)
        err = meetings_make(&n);
    for (uint32_t i = 0; i < topology->site_count && n.trees; i++)
        scopes__tree_destroy(n.trees[i]);
    free(n.trees);
    scopes_causes_destroy(n.causes);
    return err;
}
