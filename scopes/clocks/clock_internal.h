/* clock_internal.h - between the files that align clocks.
 *
 * Processes that share a counter are one node of the graph: here, a counter.
 * Its time `x` is in nanoseconds by its nominal rate, from the start of the
 * process that stands for it; a double then has the tenth of a nanosecond over
 * days. An edge joins two counters, `low` and `high` by their numbers. What is
 * looked for is `ahead(x)`, how far the time of `high` is ahead of the time x
 * of `low`: a line with a slope of at most some thousandths. */
#ifndef SCOPES_CLOCK_INTERNAL_H
#define SCOPES_CLOCK_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scopes/clocks/clock.h"

/* --- clock_hull.c --- */

typedef struct scopes__point {
    double x, y;
} scopes__point;

/* Bounds of ahead(x) from one side: those that bind, which are the corners of
 * a convex hull, and those that have come since that was last made. */
typedef struct scopes__bounds {
    bool above;
    bool sorted; /* by x */
    scopes__point *points;
    size_t count, capacity;
} scopes__bounds;

/* Errors: PASTSET_ENOMEM. */
int scopes__bounds_add(scopes__bounds *bounds, double x, double y);
/* Leaves the hull alone in `points`, from left to right. */
void scopes__bounds_reduce(scopes__bounds *bounds);
void scopes__bounds_fini(scopes__bounds *bounds);

/* --- clock_corridor.c --- */

/* Crystals are within some 100 millionths, and a map may ask for 1000 (see
 * counter_rate); two of them within twice that. */
#define SCOPES__SLOPE_MAX 2.1e-3

/* y = value + slope * (x - at) */
typedef struct scopes__line {
    double at, value, slope;
} scopes__line;

/* All lines that keep within bounds: a convex polygon of (value, slope). */
typedef struct scopes__corridor {
    scopes__line line;      /* in the middle of it */
    double margin;          /* the least that it is away from a bound;
                               negative: no line keeps within the bounds, and
                               this one is hardly farther beyond than any */
    scopes__point *corners; /* x: value at line.at, y: slope */
    size_t count;           /* 0: nothing is certain */
} scopes__corridor;

/* Bounds that are reduced, at least one of each side. `slack` is by how much
 * each may be wrong. Errors: PASTSET_ENOMEM. */
int scopes__corridor_make(scopes__corridor *out, const scopes__bounds *above,
                          const scopes__bounds *below, double slack);
/* Where the other counter may be when this one is at x .. of `low` and
 * of `high`. */
void scopes__corridor_high(const scopes__corridor *corridor, double low,
                           double *from, double *to);
void scopes__corridor_low(const scopes__corridor *corridor, double high,
                          double *from, double *to);

/* --- clock_probe_pair.c --- */

/* One operation over a hop between two processes, that came back well. */
typedef struct scopes__probe_pair {
    uint32_t upper, lower; /* processes */
    uint64_t t1, t2, t3, t4;
} scopes__probe_pair;

typedef int scopes__probe_pair_visit(const scopes__probe_pair *pair,
                                     void *context);
/* A non-zero answer ends the walk and is returned. Errors: PASTSET_ENOMEM. */
int scopes__probe_pairs_each(const scopes_event_table *event_table,
                             const scopes_topology *topology,
                             scopes__probe_pair_visit *each, void *context);
/* Marks the collectors, by id, on both sides of hops between processes. */
void scopes__probe_pairs_choose(const scopes_topology *topology,
                                bool *collectors);

/* Whether the part of the run that counts has this moment of a process. */
static inline bool scopes__counts(const scopes_event_table *event_table,
                                  uint32_t process, uint64_t ticks)
{
    return (!event_table->from_ticks ||
            ticks >= event_table->from_ticks[process]) &&
           (!event_table->to_ticks || ticks <= event_table->to_ticks[process]);
}

/* --- clock_message.c: where no tuple of the other process comes back --- */

/* What was seen at `from_ticks` on the process `from` came before what was seen
 * at `to_ticks` on the process `to`. */
typedef struct scopes__message {
    uint32_t from, to; /* processes */
    uint64_t from_ticks, to_ticks;
} scopes__message;

typedef int scopes__message_visit(const scopes__message *message,
                                  void *context);
/* A non-zero answer ends the walk and is returned. Errors: PASTSET_ENOMEM,
 * PASTSET_ENOSPC. */
int scopes__messages_each(const scopes_event_table *event_table,
                          const scopes_topology *topology,
                          scopes__message_visit *each, void *context);
/* Marks the collectors, by id, at which messages are seen. False: none. */
bool scopes__messages_choose(const scopes_topology *topology, bool *collectors);

/* One that is under way: for clock_meeting.c. */
typedef struct scopes__message_walk {
    const scopes_event_table *event_table;
    const scopes_topology *topology;
    scopes__message_visit *each;
    void *context;
} scopes__message_walk;

static inline uint32_t scopes__process_of(const scopes_topology *topology,
                                          uint32_t collector)
{
    return topology->map->nodes[topology->nodes[collector]].process;
}

/* Of the process `from` before of the process `to`. */
static inline int scopes__message_before(const scopes__message_walk *walk,
                                         uint32_t from, uint64_t from_ticks,
                                         uint32_t to, uint64_t to_ticks)
{
    scopes__message message = {from, to, from_ticks, to_ticks};

    return scopes__counts(walk->event_table, from, from_ticks) &&
                   scopes__counts(walk->event_table, to, to_ticks)
               ? walk->each(&message, walk->context)
               : 0;
}

/* Has a process added this node to the map, as those of MPI programs do? Those
 * of the map that the run began with come first. */
static inline bool scopes__is_added(const scopes__message_walk *walk,
                                    uint32_t node)
{
    const eventspace_run *run = walk->event_table->run;

    return run && node >= eventspace_run_base(run)->node_count;
}

/* --- clock_meeting.c: what collectives tell --- */

/* As scopes__messages_each and scopes__messages_choose. */
int scopes__meetings_each(const scopes__message_walk *walk);
bool scopes__meetings_choose(const scopes_topology *topology, bool *collectors);

/* --- clock_graph.c: counters, edges, and trees over them --- */

typedef struct scopes__edge {
    uint32_t low, high; /* counters */
    uint32_t next;      /* edge with this `low`, plus 1, as they are made */
    uint64_t pairs;
    scopes__bounds above, below;
    /* Of the average method: ahead, as the first probe pair has it, and the sum
     * of how far the others are beyond that. */
    double first, sum;
    uint64_t averages; /* of these */
    scopes__corridor corridor;
    double width; /* see scopes__graph_choose */
    bool chosen;  /* trees are laid over these */
} scopes__edge;

typedef struct scopes__counter {
    uint32_t process; /* that stands for it */
    uint64_t base;    /* ticks */
    double ns_per_tick;
    uint32_t edges; /* the last that has it as `low`, plus 1; 0: none */
    /* The tree. */
    bool reached;
    scopes_clock_how how;
    uint32_t parent, edge; /* PATHS_NONE for a root */
    uint32_t root;         /* of its tree */
    uint32_t depth;
    /* time = value + slope * (x - at), by the clock of the reference process,
     * in nanoseconds from the start of that */
    scopes__line time;
} scopes__counter;

typedef struct scopes__graph {
    scopes__counter *counters;
    uint32_t counter_count;
    scopes__edge *edges;
    uint32_t edge_count;
    uint32_t edges_all; /* with those of one side only, behind the others */
    uint32_t last;      /* edge that was found last */
    uint32_t *order;    /* counters, parents before their children */
    uint32_t ordered;
    uint32_t *topology; /* by counter, from topology_at[i] to topology_at[i +
                           1]: edges */
    uint32_t *topology_at;
} scopes__graph;

static inline double scopes__counter_ns(const scopes__counter *counter,
                                        uint64_t ticks)
{
    return (double)(int64_t)(ticks - counter->base) * counter->ns_per_tick;
}

/* The edge between two counters, which is made if there is none; NULL when
 * memory is out. */
scopes__edge *scopes__graph_edge(scopes__graph *graph, uint32_t a, uint32_t b);
/* Puts edges that have bounds from one side only behind the others: they say
 * nothing by themselves, and are no part of trees, but they bind where counters
 * form rings. */
void scopes__graph_part_one_sided(scopes__graph *graph);
/* Chooses the edges that say enough to be part of a tree.
 * Errors: PASTSET_ENOMEM. */
int scopes__graph_choose(scopes__graph *graph);
/* Lays trees of least height over all counters: the first from `root`, or
 * (PATHS_NONE) from the best one.
 * Errors: PASTSET_ENOMEM. */
int scopes__graph_span(scopes__graph *graph, uint32_t root);
void scopes__graph_fini(scopes__graph *graph);

/* Makes of the moments `from` .. `to` of a counter at the one end of an edge
 * those of the other one; false when there is no telling. */
bool scopes__edge_pass(const scopes__graph *graph, uint32_t edge,
                       uint32_t counter, double *from, double *to);

/* --- clock_one_way.c --- */

/* The moments of the root `reference` between which x of a counter of another
 * tree must be, by what goes one way only: infinite where there is no
 * telling. */
void scopes__one_way_at_root(const scopes__graph *graph, uint32_t counter,
                             uint32_t reference, double x, double slack,
                             double *from, double *to);

/* --- clock_settle.c --- */

/* Moves whole trees, but not that of the counter `fixed`, until nothing that
 * was seen of two of them arrives before it was sent, by as little as that
 * takes; if it is not possible, about there.
 * Errors: PASTSET_ENOMEM. */
int scopes__graph_part_trees(scopes__graph *graph, uint32_t fixed);

/* Moves the lines of all counters but the reference until no operation on any
 * edge arrives before it was sent, if that is possible.
 * Errors: PASTSET_ENOMEM. */
int scopes__graph_settle(scopes__graph *graph);

#endif
