/* tree.c - see tree_internal.h. All of it is in linear time: arrays of event
 * numbers by round, which are put one behind the other. */
#include "scopes/causality/tree_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "scopes/causality/numbers_internal.h"
#include "scopes/memory/memory_internal.h"
#include "scopes/parallel/memo_internal.h"

/* While it is being made. */
typedef struct making {
    scopes__tree *tree;
    const scopes_topology *topology;
    const scopes_event_table *event_table;
    const scopes_clocks *clocks;
} making;

static int no_memory(void)
{
    return scopes__no_room("for a tree of collectors");
}

/* Whose top the collector is, if it is one that leads to this tree. */
static uint32_t top_of(const scopes_topology *topology, uint32_t collector)
{
    for (uint32_t i = 0; i < topology->top_count; i++) {
        if (topology->tops[i].collector == collector)
            return i;
    }
    return SCOPES_MISSING;
}

/* Takes `at`. Gives the number of the branch; SCOPES_MISSING: no memory. */
static uint32_t add_branch(making *m, uint32_t collector, uint32_t lower,
                           uint32_t *at)
{
    scopes__tree *tree = m->tree;
    const scopes_series *series =
        scopes_event_series(m->event_table, collector);
    uint32_t top = top_of(m->topology, collector);
    scopes__branch *more =
        pastset_array_grow(tree->branches, tree->branch_count, sizeof(*more));

    if (!more) {
        scopes__free(at);
        return SCOPES_MISSING;
    }
    tree->branches = more;
    tree->branches[tree->branch_count] = (scopes__branch){
        .collector = collector,
        .lower = lower,
        .depth = lower == SCOPES_MISSING ? 0 : tree->branches[lower].depth + 1,
        .top = top,
        .thread =
            top == SCOPES_MISSING ? PATHS_NONE : m->topology->tops[top].thread,
        .process =
            m->topology->map->nodes[m->topology->nodes[collector]].process,
        .events = series->events,
        .at = at,
    };
    return tree->branch_count++;
}

/* Puts `next` behind `at`: at[r] becomes next[at[r]]. */
static void follow(uint32_t *at, uint32_t rounds, const uint32_t *next)
{
    for (uint32_t r = 0; r < rounds; r++) {
        if (at[r] != SCOPES_MISSING)
            at[r] = next[at[r]];
    }
}

/* What leads the other way: out[map[i]] = i. */
static uint32_t *inverted(const uint32_t *map, size_t count, size_t others)
{
    uint32_t *out = scopes__numbers_make(others);

    for (size_t i = 0; out && i < count; i++) {
        if (map[i] != SCOPES_MISSING)
            out[map[i]] = (uint32_t)i;
    }
    return out;
}

static uint32_t *copied(const uint32_t *at, uint32_t rounds)
{
    uint32_t *copy = scopes__numbers_make(rounds);

    if (copy)
        memcpy(copy, at, rounds * sizeof(*copy));
    return copy;
}

/* --- upwards from the root --- */

static int add_site(making *m, const scopes_rounds *rounds, uint32_t lower,
                    const uint32_t *round_of);

/* The collector one hop above a branch, with no collective in between. */
static int add_above(making *m, uint32_t branch, uint32_t collector,
                     uint32_t *added)
{
    const scopes_series *upper = scopes_event_series(m->event_table, collector);
    const scopes_series *lower = scopes_event_series(
        m->event_table, m->tree->branches[branch].collector);
    uint32_t *down, *up, *at;
    int err = scopes_match(&down, upper, lower);

    if (err)
        return err;
    up = inverted(down, upper->count, lower->count);
    at = copied(m->tree->branches[branch].at, m->tree->rounds);
    scopes__free(down);
    if (up && at) {
        follow(at, m->tree->rounds, up);
        scopes__free(up);
        *added = add_branch(m, collector, branch, at);
        return *added == SCOPES_MISSING ? no_memory() : 0;
    }
    scopes__free(up);
    scopes__free(at);
    return no_memory();
}

/* The partial whose representatives pass a branch. */
static int add_partial(making *m, uint32_t branch, uint32_t site)
{
    scopes_rounds *rounds;
    uint32_t collector = m->tree->branches[branch].collector;
    size_t below = scopes_event_series(m->event_table, collector)->count;
    uint32_t *round_of, *by_event;
    int err = scopes_rounds_create(&rounds, m->topology, m->event_table, site);

    if (err)
        return err;
    by_event = inverted(rounds->below, rounds->count, below);
    round_of = copied(m->tree->branches[branch].at, m->tree->rounds);
    if (by_event && round_of) {
        follow(round_of, m->tree->rounds, by_event);
        err = add_site(m, rounds, branch, round_of);
    } else {
        err = no_memory();
    }
    scopes__free(by_event);
    scopes__free(round_of);
    scopes_rounds_destroy(rounds);
    return err;
}

static uint32_t site_above(const scopes_topology *topology, uint32_t collector)
{
    for (uint32_t i = 0; i < topology->site_count; i++) {
        if (topology->sites[i].lower == collector)
            return i;
    }
    return PATHS_NONE;
}

/* All that is above a branch. */
static int climb(making *m, uint32_t branch)
{
    uint32_t collector = m->tree->branches[branch].collector;
    uint32_t partial = site_above(m->topology, collector);
    const scopes_ids *above = &m->topology->above[collector];

    if (partial != PATHS_NONE)
        return add_partial(m, branch, partial);
    for (uint32_t i = 0; i < above->count; i++) {
        uint32_t added;
        int err = add_above(m, branch, above->ids[i], &added);
        if (err)
            return err;
        err = climb(m, added);
        if (err)
            return err;
    }
    return 0;
}

/* The inputs of a collective site, and what is above them. `round_of` tells its
 * round in each of the tree's; NULL: the same. */
static int add_site(making *m, const scopes_rounds *rounds, uint32_t lower,
                    const uint32_t *round_of)
{
    const scopes_ids *inputs = &rounds->site->inputs;

    for (uint32_t i = 0; i < rounds->inputs; i++) {
        uint32_t *at, branch;
        int err;
        if (inputs->ids[i] == PATHS_NONE)
            continue;
        at = scopes__numbers_make(m->tree->rounds);
        if (!at)
            return no_memory();
        for (uint32_t r = 0; r < m->tree->rounds; r++) {
            uint32_t round = round_of ? round_of[r] : r;
            if (round != SCOPES_MISSING)
                at[r] = rounds->events[(size_t)round * rounds->inputs + i];
        }
        branch = add_branch(m, inputs->ids[i], lower, at);
        if (branch == SCOPES_MISSING)
            return no_memory();
        err = climb(m, branch);
        if (err)
            return err;
    }
    return 0;
}

/* --- down from the root --- */

/* The collectors from `collector` down, the lowest first; their number. */
static uint32_t chain_down(const scopes_topology *topology, uint32_t collector,
                           uint32_t *ids)
{
    uint32_t count = 0;

    for (; collector != PATHS_NONE && count < PATHS_PATH_NODES;
         collector = topology->hops[collector].lower)
        ids[count++] = collector;
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t kept = ids[i];
        ids[i] = ids[count - 1 - i];
        ids[count - 1 - i] = kept;
    }
    return count;
}

/* The event at `lower` of each round, from that at `upper`. */
static int step_down(const making *m, uint32_t upper, uint32_t lower,
                     const uint32_t *at_upper, uint32_t **out)
{
    uint32_t *down;
    int err = scopes_match(&down, scopes_event_series(m->event_table, upper),
                           scopes_event_series(m->event_table, lower));

    *out = NULL;
    if (err)
        return err;
    if (!at_upper) { /* the rounds are the upper one's events */
        *out = down;
        return 0;
    }
    *out = copied(at_upper, m->tree->rounds);
    if (*out)
        follow(*out, m->tree->rounds, down);
    scopes__free(down);
    return *out ? 0 : no_memory();
}

/* Adds a chain of collectors, whose topmost has the events `at` (taken; may be
 * NULL: those of the rounds). Gives its topmost branch. */
static int add_chain(making *m, const uint32_t *ids, uint32_t count,
                     uint32_t *at, uint32_t *topmost)
{
    uint32_t *ats[PATHS_PATH_NODES] = {0};
    uint32_t branch = SCOPES_MISSING, i = count - 1;
    int err = 0;

    ats[i] = at;
    for (; i > 0 && !err; i--)
        err = step_down(m, ids[i], ids[i - 1], ats[i], &ats[i - 1]);
    for (i = 0; i < count && !err; i++) {
        branch = add_branch(m, ids[i], branch, ats[i]);
        ats[i] = NULL;
        if (branch == SCOPES_MISSING)
            err = no_memory();
    }
    for (i = 0; i < count; i++)
        scopes__free(ats[i]);
    *topmost = branch;
    return err;
}

/* --- making --- */

static int make_collective(making *m, uint32_t site)
{
    scopes_rounds *rounds;
    uint32_t ids[PATHS_PATH_NODES], count, branch = SCOPES_MISSING;
    int err = scopes_rounds_create(&rounds, m->topology, m->event_table, site);

    if (err)
        return err;
    m->tree->rounds = rounds->count;
    m->tree->number = rounds->first;
    count = chain_down(m->topology, rounds->site->lower, ids);
    m->tree->open = count == 0;
    if (count) {
        uint32_t *at = copied(rounds->below, rounds->count);
        err = at ? add_chain(m, ids, count, at, &branch) : no_memory();
        if (err)
            goto done;
    }
    err = add_site(m, rounds, branch, NULL);
    if (!err)
        err =
            scopes__tree_find_last(m->tree, m->event_table, m->clocks, rounds);
done:
    scopes_rounds_destroy(rounds);
    return err;
}

static int begin(making *m, const scopes_topology *topology,
                 const scopes_event_table *event_table,
                 const scopes_clocks *clocks)
{
    *m = (making){
        .topology = topology, .event_table = event_table, .clocks = clocks};
    m->tree = calloc(1, sizeof(*m->tree));
    if (!m->tree)
        return no_memory();
    m->tree->topology = topology;
    return 0;
}

static void tree_free(void *made)
{
    scopes__tree *tree = made;

    for (uint32_t i = 0; i < tree->branch_count; i++)
        scopes__free(tree->branches[i].at);
    free(tree->branches);
    scopes__free(tree->representatives);
    free(tree);
}

/* What a tree is made for: its root, or the top of its path. */
typedef struct asked {
    const scopes_topology *topology;
    const scopes_event_table *event_table;
    const scopes_clocks *clocks;
    uint32_t number;
} asked;

static int tree_make(void **out, const void *context, bool kept)
{
    const asked *a = context;
    making m;
    int err = begin(&m, a->topology, a->event_table, a->clocks);

    if (err)
        return err;
    m.tree->kept = kept;
    m.tree->site = a->number;
    m.tree->element = a->topology->sites[a->number].element;
    err = make_collective(&m, a->number);
    if (err)
        tree_free(m.tree);
    else
        *out = m.tree;
    return err;
}

int scopes__tree_create(scopes__tree **out, const scopes_topology *topology,
                        const scopes_event_table *event_table,
                        const scopes_clocks *clocks, uint32_t site)
{
    static const scopes__made how = {tree_make, tree_free};
    asked a = {topology, event_table, clocks, site};
    void *made;
    int err = scopes__memo_get(event_table->memo, SCOPES__MEMO_TREE, site, &how,
                               &a, &made);

    *out = made;
    return err;
}

/* The events of the top's collector that are its thread's. `*at` stays NULL
 * when all of them are. */
static int own_events(making *m, const scopes_top *top, uint32_t **at)
{
    const scopes_series *series =
        scopes_event_series(m->event_table, top->collector);
    uint32_t own = 0;

    *at = NULL;
    for (size_t i = 0; i < series->count; i++)
        own += scopes_event_at(series->events, i)->thread == top->thread;
    m->tree->rounds = own;
    m->tree->number = scopes_event_table_first(m->event_table, top->collector);
    if (own == series->count)
        return 0;
    if (m->event_table->ledger.filtered)
        m->tree->number = SCOPES_NO_NUMBER;
    *at = scopes__numbers_make(own);
    if (!*at)
        return no_memory();
    own = 0;
    for (size_t i = 0; i < series->count; i++) {
        if (scopes_event_at(series->events, i)->thread == top->thread)
            (*at)[own++] = (uint32_t)i;
    }
    return 0;
}

static int plain_make(void **out, const void *context, bool kept)
{
    const asked *a = context;
    const scopes_top *top = &a->topology->tops[a->number];
    uint32_t ids[PATHS_PATH_NODES], *at;
    uint32_t count = chain_down(a->topology, top->collector, ids);
    making m;
    int err = begin(&m, a->topology, a->event_table, NULL);

    if (err)
        return err;
    m.tree->kept = kept;
    m.tree->site = PATHS_NONE;
    m.tree->element = top->element;
    err = own_events(&m, top, &at);
    if (!err && count)
        err = add_chain(&m, ids, count, at, &m.tree->only);
    if (err) {
        tree_free(m.tree);
        return err;
    }
    if (count) {
        m.tree->branches[m.tree->only].top = a->number;
        m.tree->branches[m.tree->only].thread = top->thread;
    }
    *out = m.tree;
    return 0;
}

int scopes__tree_make_plain(scopes__tree **out, const scopes_topology *topology,
                            const scopes_event_table *event_table,
                            uint32_t position)
{
    static const scopes__made how = {plain_make, tree_free};
    asked a = {topology, event_table, NULL, position};
    void *made;
    int err = scopes__memo_get(event_table->memo, SCOPES__MEMO_PLAIN, position,
                               &how, &a, &made);

    *out = made;
    return err;
}

void scopes__tree_destroy(scopes__tree *tree)
{
    if (tree && !tree->kept)
        tree_free(tree);
}

bool scopes__tree_is_repeated(const scopes_topology *topology, uint32_t top)
{
    const scopes_top *own = &topology->tops[top];

    while (top > 0 && topology->tops[top - 1].thread == own->thread) {
        if (topology->tops[--top].collector == own->collector)
            return true;
    }
    return false;
}
