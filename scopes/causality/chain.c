/* chain.c - see chain_internal.h. Each thread's paths have a position that only
 * moves backwards, so the walk is linear; other operations are found by their
 * sequence numbers, which ascend on a path, near the one found before. So what
 * the walk looks at moves backwards, too, also in memory. */
#include "scopes/causality/chain_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "scopes/causality/cause_internal.h"
#include "scopes/causality/tree_internal.h"
#include "scopes/memory/memory_internal.h"

/* A thread's path, by its position in topology->tops. */
typedef struct path {
    const scopes__tree *tree; /* NULL: nothing of it can be seen */
    uint32_t branch;          /* its top */
    uint32_t *round_of;       /* by operation; NULL: the same number */
    uint32_t count;           /* operations */
    uint32_t next;            /* those from here on have been passed */
    uint32_t near;            /* found by its sequence number last */
    uint32_t places;          /* the place of its element; its hops behind */
} path;

struct scopes__chain {
    const scopes_topology *topology;
    const scopes_event_table *event_table;
    const scopes_clocks *clocks;
    const scopes_scheduling *scheduling; /* NULL: not known */
    scopes__causes *causes;
    scopes__tree *
        *trees; /* by collective site, roots only; then by top, plain ones */
    path *paths;
    uint32_t *firsts; /* by thread: its first top; one more at the end */
    scopes__link_place *places;
    uint32_t place_count;
};

/* An operation. */
typedef struct spot {
    const path *path;
    uint32_t operation;
    uint32_t round; /* SCOPES_MISSING: not known */
} spot;

/* The walk. */
typedef struct walk {
    scopes__chain *chain;
    scopes__chain_each *each;
    void *context;
    int64_t begin_ns; /* of the first thread, or operation */
    int64_t at_ns;    /* what is later has been told */
    uint32_t thread;
    int err;
} walk;

static int no_memory(void)
{
    return scopes__no_room("for the critical path");
}

/* --- operations --- */

static const scopes__branch *top_of(const path *p)
{
    return &p->tree->branches[p->branch];
}

/* In a plain tree operations are rounds, in others the collector's events. */
static uint32_t event_of(const path *p, uint32_t operation)
{
    return p->round_of ? operation : scopes__tree_event(top_of(p), operation);
}

static spot spot_at(const path *p, uint32_t operation)
{
    return (spot){p, operation,
                  p->round_of ? p->round_of[operation] : operation};
}

static int64_t start_of(const scopes__chain *chain, const spot *s)
{
    return scopes__start_ns(chain->clocks, top_of(s->path),
                            event_of(s->path, s->operation));
}

static int64_t end_of(const scopes__chain *chain, const spot *s)
{
    return scopes__end_ns(chain->clocks, top_of(s->path),
                          event_of(s->path, s->operation));
}

static bool is_before(const path *p, uint32_t operation, uint32_t sequence)
{
    return scopes_event_at(top_of(p)->events, event_of(p, operation))
               ->sequence < sequence;
}

/* The first operation of a path with this sequence number or a greater one;
 * their number, if there is none. It is looked for from the one found last, in
 * steps that double, and then by bisecting. */
static uint32_t first_from(path *p, uint32_t sequence)
{
    uint32_t low = p->near, high = p->near, step = 1;

    for (; low > 0 && !is_before(p, low - 1, sequence); step *= 2) {
        high = low - 1;
        low -= step < low ? step : low;
    }
    for (; high < p->count && is_before(p, high, sequence); step *= 2) {
        low = high + 1;
        high += step < p->count - high ? step : p->count - high;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_before(p, middle, sequence))
            low = middle + 1;
        else
            high = middle;
    }
    p->near = low;
    return low;
}

/* The operation with this sequence number on a path. */
static bool find_sequence(path *p, uint32_t sequence, spot *out)
{
    uint32_t found = p->tree ? first_from(p, sequence) : p->count;

    if (found == p->count ||
        scopes_event_at(top_of(p)->events, event_of(p, found))->sequence !=
            sequence)
        return false;
    *out = spot_at(p, found);
    return true;
}

/* The latest operation of the thread that had ended. */
static bool find_latest(walk *w, spot *out)
{
    scopes__chain *chain = w->chain;
    bool found = false;
    int64_t latest_ns = 0;

    for (uint32_t i = chain->firsts[w->thread];
         i < chain->firsts[w->thread + 1]; i++) {
        path *p = &chain->paths[i];
        while (p->next > 0) {
            spot s = spot_at(p, p->next - 1);
            int64_t ns = end_of(chain, &s);
            if (ns > w->at_ns) {
                p->next--;
                continue;
            }
            if (!found || ns > latest_ns) {
                *out = s;
                latest_ns = ns;
                found = true;
            }
            break;
        }
    }
    return found;
}

/* It, and what came after it on its path, are not looked at again. */
static void pass(walk *w, const spot *s)
{
    path *p = &w->chain->paths[s->path - w->chain->paths];

    if (s->operation < p->next)
        p->next = s->operation;
}

/* --- who released it --- */

static bool is_known(const spot *s)
{
    return s->round != SCOPES_MISSING;
}

static bool released_at_element(const scopes__chain *chain, const spot *held,
                                spot *out)
{
    const scopes__tree *tree = held->path->tree;
    const scopes__branch *bottom = &tree->branches[0];
    const eventspace_trace *event;
    scopes__cause cause;
    uint32_t at = scopes__tree_event(bottom, held->round);

    if (tree->open || at == SCOPES_MISSING)
        return false;
    cause = scopes__cause_of(chain->causes, bottom->collector, at);
    if (cause.collector == PATHS_NONE)
        return false;
    event = scopes_event_at(
        scopes_event_series(chain->event_table, cause.collector)->events,
        cause.event);
    if (event->thread >= chain->topology->thread_count)
        return false;
    for (uint32_t i = chain->firsts[event->thread];
         i < chain->firsts[event->thread + 1]; i++) {
        if (chain->topology->tops[i].element == tree->element &&
            find_sequence(&chain->paths[i], event->sequence, out))
            return is_known(out);
    }
    return false;
}

/* The one who came last, if that was after this one. */
static bool released_by_last(const scopes__chain *chain, const spot *held,
                             spot *out)
{
    const scopes__tree *tree = held->path->tree;
    uint32_t last = scopes__tree_representative(tree, held->round);
    const path *p;

    if (last == SCOPES_MISSING || last == held->path->branch)
        return false;
    p = &chain->paths[tree->branches[last].top];
    *out = (spot){p, scopes__tree_event(&tree->branches[last], held->round),
                  held->round};
    return p->tree == tree && start_of(chain, out) > start_of(chain, held);
}

/* --- the links --- */

/* Goes back to a moment, which is moved to where the chain can go. */
static void go_back(walk *w, uint32_t place, int64_t to_ns)
{
    if (to_ns < w->begin_ns)
        to_ns = w->begin_ns;
    if (to_ns >= w->at_ns || w->err)
        return;
    w->err = w->each(place, to_ns, w->at_ns, w->context);
    w->at_ns = to_ns;
}

/* The branches of a way, from the top down; their number. */
static uint32_t way_of(const path *p, uint32_t *way)
{
    uint32_t count = 0;

    for (uint32_t b = p->branch;
         b != SCOPES_MISSING && count < PATHS_PATH_NODES;
         b = p->tree->branches[b].lower)
        way[count++] = b;
    return count;
}

/* Up from the lowest collector to the thread, backwards. */
static void go_up(walk *w, const spot *s)
{
    uint32_t way[PATHS_PATH_NODES], count = way_of(s->path, way);
    const scopes__tree *tree = s->path->tree;

    for (uint32_t i = 0; i + 1 < count; i++) {
        const scopes__branch *lower = &tree->branches[way[i + 1]];
        uint32_t event = scopes__tree_event(lower, s->round);
        if (event != SCOPES_MISSING)
            go_back(w, s->path->places + tree->branches[way[i]].depth,
                    scopes__end_ns(w->chain->clocks, lower, event));
    }
}

/* What the element took, and down to it from a thread, backwards. */
static void go_down(walk *w, const spot *s)
{
    uint32_t way[PATHS_PATH_NODES], count = way_of(s->path, way);
    const scopes__tree *tree = s->path->tree;

    for (uint32_t i = count; i-- > 0;) {
        const scopes__branch *branch = &tree->branches[way[i]];
        uint32_t event = scopes__tree_event(branch, s->round);
        if (event != SCOPES_MISSING)
            go_back(w, s->path->places + branch->depth,
                    scopes__start_ns(w->chain->clocks, branch, event));
    }
}

/* One operation, whose end is where the chain is. */
static void go_through(walk *w, const spot *own)
{
    spot releaser;
    bool held = is_known(own) &&
                (released_at_element(w->chain, own, &releaser) ||
                 released_by_last(w->chain, own, &releaser)) &&
                start_of(w->chain, &releaser) < w->at_ns;

    if (is_known(own))
        go_up(w, own);
    if (held) {
        go_down(w, &releaser);
        pass(w, &releaser);
        w->thread = top_of(releaser.path)->thread;
        return;
    }
    if (is_known(own))
        go_down(w, own);
    go_back(w, own->path->places + top_of(own->path)->depth,
            start_of(w->chain, own));
}

/* The greatest end of a path: where operations overlap, it need not be that of
 * the last one. */
static int64_t last_end_of(const scopes__chain *chain, const path *p)
{
    const scopes__branch *top = top_of(p);
    uint64_t last = 0;

    for (uint32_t i = 0; i < p->count; i++) {
        uint64_t end = scopes_event_at(top->events, event_of(p, i))->end;
        last = end > last ? end : last;
    }
    return scopes_clocks_ns(chain->clocks, top->process, last);
}

/* --- where events are lost --- */

/* Of a thread: are all of its operations there from this one on? They are
 * numbered one by one, whatever their path. */
static bool is_whole_from(const scopes__chain *chain, uint32_t thread,
                          uint32_t sequence, uint32_t last)
{
    uint64_t count = 0;

    for (uint32_t i = chain->firsts[thread]; i < chain->firsts[thread + 1];
         i++) {
        path *p = &chain->paths[i];
        if (p->tree)
            count += p->count - first_from(p, sequence);
    }
    return count >= (uint64_t)last - sequence + 1;
}

static uint32_t last_sequence(const scopes__chain *chain, uint32_t thread)
{
    uint32_t last = 0;

    for (uint32_t i = chain->firsts[thread]; i < chain->firsts[thread + 1];
         i++) {
        const path *p = &chain->paths[i];
        uint32_t own;
        if (!p->tree || p->count == 0)
            continue;
        own = scopes_event_at(top_of(p)->events, event_of(p, p->count - 1))
                  ->sequence;
        last = own > last ? own : last;
    }
    return last;
}

/* The first operation from which on the thread has lost none. */
static uint32_t first_whole(const scopes__chain *chain, uint32_t thread,
                            uint32_t last)
{
    uint32_t low = 1, high = last;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_whole_from(chain, thread, middle, last))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Can it have lost some? Where not all of its paths have collectors, operations
 * are missing anyway, and nothing is known. */
static bool has_lost(const scopes__chain *chain, uint32_t thread)
{
    const scopes_topology *topology = chain->topology;
    uint32_t node = topology->threads[thread];
    uint32_t process =
        node == PATHS_NONE ? PATHS_NONE : topology->map->nodes[node].process;

    if (process == PATHS_NONE || chain->event_table->ledgers[process].lost == 0)
        return false;
    for (uint32_t i = chain->firsts[thread]; i < chain->firsts[thread + 1];
         i++) {
        if (topology->tops[i].collector == PATHS_NONE)
            return false;
    }
    return true;
}

/* Before it has lost an operation, a thread seems to have computed. So nothing
 * is known of the run before all threads are there. */
static void begin_whole(walk *w)
{
    const scopes__chain *chain = w->chain;

    for (uint32_t t = 0; t < chain->topology->thread_count; t++) {
        uint32_t last = has_lost(chain, t) ? last_sequence(chain, t) : 0;
        uint32_t first = last ? first_whole(chain, t, last) : 0;
        for (uint32_t i = chain->firsts[t];
             first > 1 && i < chain->firsts[t + 1]; i++) {
            spot s;
            int64_t begin_ns;
            if (!find_sequence(&chain->paths[i], first, &s))
                continue;
            begin_ns = start_of(chain, &s);
            if (begin_ns > w->begin_ns && begin_ns < w->at_ns)
                w->begin_ns = begin_ns;
        }
    }
}

/* --- the walk --- */

static const scopes_thread_life *life_of(const scopes__chain *chain,
                                         uint32_t thread)
{
    static const scopes_thread_life unknown;

    return chain->scheduling ? &chain->scheduling->threads[thread] : &unknown;
}

/* When the thread began, if that is known and the first operation of this path
 * is its first; else the start of that. */
static int64_t begin_of(const scopes__chain *chain, const path *p)
{
    const scopes__branch *top = top_of(p);
    const scopes_thread_life *life = life_of(chain, top->thread);
    spot first = spot_at(p, 0);
    int64_t start_ns = start_of(chain, &first);

    if (scopes_event_at(top->events, event_of(p, 0))->sequence == 1 &&
        life->has_begun && life->begin_ns < start_ns)
        return life->begin_ns;
    return start_ns;
}

/* Where the chain ends that has come to before the thread's first operation. */
static int64_t begin_of_thread(const walk *w)
{
    const scopes__chain *chain = w->chain;

    for (uint32_t i = chain->firsts[w->thread];
         life_of(chain, w->thread)->has_begun &&
         i < chain->firsts[w->thread + 1];
         i++) {
        const path *p = &chain->paths[i];
        if (p->tree && p->count > 0 &&
            scopes_event_at(top_of(p)->events, event_of(p, 0))->sequence == 1)
            return begin_of(chain, p);
    }
    return w->begin_ns;
}

/* When the thread ended, if that is known and none of its operations is missing
 * before; else INT64_MIN. */
static int64_t end_of_thread(const scopes__chain *chain, uint32_t thread)
{
    const scopes_thread_life *life = life_of(chain, thread);

    return life->has_ended && last_sequence(chain, thread) == life->operations
               ? life->end_ns
               : INT64_MIN;
}

/* Where it begins: at the thread that ended last, or whose operation did. */
static bool find_end(walk *w)
{
    const scopes__chain *chain = w->chain;
    bool found = false;

    for (uint32_t i = 0; i < chain->topology->top_count; i++) {
        const path *p = &chain->paths[i];
        int64_t begin_ns, end_ns, thread_end_ns;
        if (!p->tree || p->count == 0)
            continue;
        begin_ns = begin_of(chain, p);
        end_ns = last_end_of(chain, p);
        thread_end_ns = end_of_thread(chain, top_of(p)->thread);
        end_ns = thread_end_ns > end_ns ? thread_end_ns : end_ns;
        if (!found || begin_ns < w->begin_ns)
            w->begin_ns = begin_ns;
        if (!found || end_ns > w->at_ns) {
            w->at_ns = end_ns;
            w->thread = top_of(p)->thread;
        }
        found = true;
    }
    return found;
}

int scopes__chain_walk(scopes__chain *chain, scopes__chain_each *each,
                       void *context)
{
    walk w = {.chain = chain, .each = each, .context = context};

    if (!find_end(&w))
        return 0;
    begin_whole(&w);
    while (w.at_ns > w.begin_ns && !w.err) {
        spot own;
        if (!find_latest(&w, &own)) {
            go_back(&w, w.thread, begin_of_thread(&w));
            break;
        }
        pass(&w, &own);
        go_back(&w, w.thread, end_of(chain, &own));
        if (!w.err)
            go_through(&w, &own);
    }
    return w.err;
}

/* --- making --- */

static int add_place(scopes__chain *chain, scopes__link_place place)
{
    scopes__link_place *more =
        scopes__array_grow(chain->places, chain->place_count, sizeof(*more));

    if (!more)
        return no_memory();
    chain->places = more;
    chain->places[chain->place_count++] = place;
    return 0;
}

/* The element's, and one for each hop: place `places + depth`. */
static int add_places(scopes__chain *chain, path *p)
{
    uint32_t way[PATHS_PATH_NODES], count = way_of(p, way);
    int err = 0;

    p->places = chain->place_count;
    for (uint32_t i = count; i-- > 0 && !err;) {
        const scopes__branch *branch = &p->tree->branches[way[i]];
        err = add_place(
            chain, (scopes__link_place){
                       branch->depth ? SCOPES__HOP : SCOPES__ELEMENT,
                       top_of(p)->thread, branch->collector, p->tree->element});
    }
    return err;
}

static int make_round_of(path *p)
{
    const scopes__branch *top = top_of(p);

    p->round_of = scopes__allocate((p->count + 1) * sizeof(*p->round_of));
    if (!p->round_of)
        return no_memory();
    memset(p->round_of, 0xff, p->count * sizeof(*p->round_of));
    for (uint32_t r = 0; r < p->tree->rounds; r++) {
        uint32_t event = scopes__tree_event(top, r);
        if (event != SCOPES_MISSING)
            p->round_of[event] = r;
    }
    return 0;
}

static int add_path(scopes__chain *chain, uint32_t position,
                    const scopes__tree *tree, uint32_t branch)
{
    path *p = &chain->paths[position];
    int err = 0;

    p->tree = tree;
    p->branch = branch;
    if (tree->site == PATHS_NONE) {
        p->count = tree->rounds;
    } else {
        p->count = (uint32_t)scopes_event_series(chain->event_table,
                                                 top_of(p)->collector)
                       ->count;
        err = make_round_of(p);
    }
    p->next = p->count;
    return err ? err : add_places(chain, p);
}

static int add_collective(scopes__chain *chain, uint32_t site)
{
    scopes__tree *tree;
    int err = scopes__tree_create(&tree, chain->topology, chain->event_table,
                                  chain->clocks, site);

    chain->trees[site] = tree;
    for (uint32_t b = 0; !err && b < tree->branch_count; b++) {
        if (tree->branches[b].top != SCOPES_MISSING)
            err = add_path(chain, tree->branches[b].top, tree, b);
    }
    return err;
}

static int add_plain(scopes__chain *chain, uint32_t top)
{
    scopes__tree *tree;
    int err = scopes__tree_make_plain(&tree, chain->topology,
                                      chain->event_table, top);

    chain->trees[chain->topology->site_count + top] = tree;
    return err ? err : add_path(chain, top, tree, tree->only);
}

static int add_paths(scopes__chain *chain)
{
    const scopes_topology *topology = chain->topology;
    int err = 0;

    for (uint32_t i = 0; i < topology->thread_count && !err; i++)
        err = add_place(chain, (scopes__link_place){SCOPES__COMPUTING, i,
                                                    PATHS_NONE, PATHS_NONE});
    for (uint32_t i = 0; i < topology->site_count && !err; i++) {
        if (topology->sites[i].parent == PATHS_NONE)
            err = add_collective(chain, i);
    }
    for (uint32_t i = 0; i < topology->top_count && !err; i++) {
        const scopes_top *top = &topology->tops[i];
        if (top->collector != PATHS_NONE && top->site == PATHS_NONE &&
            !scopes__tree_is_repeated(topology, i))
            err = add_plain(chain, i);
    }
    return err;
}

static void find_firsts(scopes__chain *chain)
{
    uint32_t top = 0;

    for (uint32_t i = 0; i <= chain->topology->thread_count; i++) {
        while (top < chain->topology->top_count &&
               chain->topology->tops[top].thread < i)
            top++;
        chain->firsts[i] = top;
    }
}

static int fill(scopes__chain *chain)
{
    const scopes_topology *topology = chain->topology;
    int err = scopes__causes_create(&chain->causes, topology,
                                    chain->event_table, chain->clocks);

    if (err)
        return err;
    chain->trees = calloc(
        (size_t)topology->site_count + topology->top_count + 1, sizeof(void *));
    chain->paths =
        calloc((size_t)topology->top_count + 1, sizeof(*chain->paths));
    chain->firsts =
        calloc((size_t)topology->thread_count + 1, sizeof(*chain->firsts));
    if (!chain->trees || !chain->paths || !chain->firsts)
        return no_memory();
    find_firsts(chain);
    return add_paths(chain);
}

int scopes__chain_create(scopes__chain **out, const scopes_topology *topology,
                         const scopes_event_table *event_table,
                         const scopes_clocks *clocks,
                         const scopes_scheduling *scheduling)
{
    scopes__chain *chain = calloc(1, sizeof(*chain));
    int err;

    *out = NULL;
    if (!chain)
        return no_memory();
    chain->topology = topology;
    chain->event_table = event_table;
    chain->clocks = clocks;
    chain->scheduling = scheduling;
    err = fill(chain);
    if (err) {
        scopes__chain_destroy(chain);
        return err;
    }
    *out = chain;
    return 0;
}

void scopes__chain_destroy(scopes__chain *chain)
{
    if (!chain)
        return;
    for (uint32_t i = 0; chain->trees && i < chain->topology->site_count +
                                                 chain->topology->top_count;
         i++)
        scopes__tree_destroy(chain->trees[i]);
    for (uint32_t i = 0; chain->paths && i < chain->topology->top_count; i++)
        scopes__free(chain->paths[i].round_of);
    scopes__causes_destroy(chain->causes);
    free(chain->trees);
    free(chain->paths);
    free(chain->firsts);
    scopes__free(chain->places);
    free(chain);
}

uint32_t scopes__chain_places(const scopes__chain *chain)
{
    return chain->place_count;
}

const scopes__link_place *scopes__chain_place(const scopes__chain *chain,
                                              uint32_t place)
{
    return &chain->places[place];
}
