/* tree_internal.h - operations that go together, from the collectors at the
 * tops of threads' paths to the last one above an element.
 *
 * A tree is either that of a collective: the collectors of all ways into its
 * root, and those below it; in each round there is one event at each of them.
 * Or it is the one way of a plain path, and each operation is a round of its
 * own. So views that follow operations up and down need not tell them apart.
 *
 * Rounds of partials are put together by following events up from the root:
 * what stands below a partial has the event that stands above the next one
 * (scopes_match), and from there the partial's rounds (rounds.h) tell the
 * events of its inputs. Where tuples are missing, whatever can only be reached
 * through them is missing too.
 *
 * Where nothing stands below the root, its inputs are the lowest of the tree,
 * and who came last is told by aligned clocks.
 *
 * Threads:   may be read by any once made.
 * Ownership: make gives, free takes back; topology and event table are
 * borrowed. */
#ifndef SCOPES_TREE_INTERNAL_H
#define SCOPES_TREE_INTERNAL_H

#include "scopes/clocks/clock.h"
#include "scopes/causality/rounds.h"
#include "scopes/reading/event_table.h"
#include "scopes/causality/topology.h"

/* A collector of the tree. */
typedef struct scopes__branch {
    uint32_t collector; /* id */
    uint32_t lower;     /* the branch below it; SCOPES_MISSING: none */
    uint32_t depth;     /* 0: there is none below */
    uint32_t top;       /* position in topology->tops, whose top it is;
                           SCOPES_MISSING */
    uint32_t thread;    /* the number of that top's thread; PATHS_NONE */
    uint32_t process;
    scopes_events events;
    uint32_t *at; /* by round: its event; SCOPES_MISSING. NULL: event r
                     belongs to round r */
} scopes__branch;

typedef struct scopes__tree {
    bool kept; /* for others: see scopes_views_make */
    const scopes_topology *topology;
    uint32_t element; /* node */
    uint32_t site;    /* the root; PATHS_NONE: a plain path */
    bool open;        /* no collector stands below the root */
    uint32_t rounds;
    uint64_t number; /* in the run, of the first of them; SCOPES_NO_NUMBER */
    scopes__branch *branches; /* those below before those above */
    uint32_t branch_count;
    uint32_t *representatives; /* by round: the branch at the top of the thread
                           that came last of all; SCOPES_MISSING: not known.
                           NULL: `only` */
    uint32_t only;             /* of a plain path */
} scopes__tree;

/* The tree whose root is this collective site.
 * Errors: PASTSET_ENOMEM. */
int scopes__tree_create(scopes__tree **out, const scopes_topology *topology,
                        const scopes_event_table *event_table,
                        const scopes_clocks *clocks, uint32_t site);
/* The one of a path that leads to no collective site, by its position in
 * topology->tops. Errors: PASTSET_ENOMEM. */
int scopes__tree_make_plain(scopes__tree **out, const scopes_topology *topology,
                            const scopes_event_table *event_table,
                            uint32_t top);
/* NULL is allowed. */
void scopes__tree_destroy(scopes__tree *tree);

/* Is another top with this collector and thread in front of it? Then its
 * operations are those of that one. */
bool scopes__tree_is_repeated(const scopes_topology *topology, uint32_t top);

/* Fills in `representatives` of a collective's tree (tree_last.c).
 * Errors: PASTSET_ENOMEM. */
int scopes__tree_find_last(scopes__tree *tree,
                           const scopes_event_table *event_table,
                           const scopes_clocks *clocks,
                           const scopes_rounds *rounds);

static inline uint32_t scopes__tree_event(const scopes__branch *branch,
                                          uint32_t round)
{
    return branch->at ? branch->at[round] : round;
}

static inline uint32_t scopes__tree_representative(const scopes__tree *tree,
                                                   uint32_t round)
{
    return tree->representatives ? tree->representatives[round] : tree->only;
}

static inline int64_t scopes__start_ns(const scopes_clocks *clocks,
                                       const scopes__branch *branch,
                                       uint32_t event)
{
    return scopes_clocks_ns(clocks, branch->process,
                            scopes_event_at(branch->events, event)->start);
}

static inline int64_t scopes__end_ns(const scopes_clocks *clocks,
                                     const scopes__branch *branch,
                                     uint32_t event)
{
    return scopes_clocks_ns(clocks, branch->process,
                            scopes_event_at(branch->events, event)->end);
}

#define SCOPES__NO_TIME INT64_MIN

/* The times of `count` rounds from `first` on: starts[branch * count + i] and
 * ends[...]; SCOPES__NO_TIME where the event is missing. */
void scopes__tree_times(const scopes__tree *tree, const scopes_clocks *clocks,
                        uint32_t first, uint32_t count, int64_t *starts,
                        int64_t *ends);

/* The width of the interval that certainly holds a process's time; INT64_MAX
 * when nothing is certain. */
int64_t scopes__width_ns(const scopes_clocks *clocks, uint32_t process,
                         uint64_t ticks);
/* How far the time between two stamps can be off, at most: the half-width of
 * what is certain; 0 on one process, INT64_MAX when nothing is certain. */
int64_t scopes__certain_ns(const scopes_clocks *clocks, uint32_t process,
                           uint64_t ticks, uint32_t other_process,
                           uint64_t other_ticks);

#endif
