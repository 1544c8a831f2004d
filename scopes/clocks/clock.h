/* clock.h - the clocks of a run's processes, aligned from its own traffic.
 *
 * Paper 004, sections 5.4 and 5.5. An operation over a hop between processes A
 * and B has four times: t1 and t4 in the collector above the proxy, by A's
 * counter, t2 and t3 in the one below it, by B's. As t1 came before t2 and t3
 * before t4, each such probe pair bounds B's clock, as a function of A's, from
 * above and from below.
 *
 *   SCOPES_CLOCK_AVERAGE  the paper's: B's offset is the average of
 *                         t2 - (t1 + ((t4 - t1) - (t3 - t2)) / 2); rates are
 *                         taken to be the nominal ones
 *   SCOPES_CLOCK_HULL     offset and rate together: a line between the lower
 *                         convex hull of the upper bounds and the upper convex
 *                         hull of the lower bounds. All such lines are
 *                         possible, no others: the interval in which they are
 *                         at some moment holds the truth, if both counters run
 *                         at constant rates. The mean of them is taken for the
 *                         true one
 *
 * Where ways lead to another process without a proxy, as in a run that was
 * imported from a trace of messages, nothing comes back with four times. There
 * a message that was sent before it was received is a bound from one side, and
 * a collective that all wait in one from each (clock_message.c).
 *
 * Processes are the nodes of a graph, whose edges are hops between processes.
 * From a reference process a spanning tree of least height (breadth first) is
 * laid, and along it clocks and intervals are put together; edges that say next
 * to nothing, such as a single operation in a long run, are no part of it
 * unless there is no other way. Where there are more edges than those of the
 * tree, the lines of the hull method are moved until no operation on any of
 * them arrives before it was sent. Operations that failed do not count.
 * Processes that share one counter (eventspace_meta.counter) are one, exactly.
 * Those that no probe pair reaches are aligned by their wall clocks, and their
 * interval is unbounded; where messages only come to them, or only go from
 * them, they are moved so that none arrives before it was sent, and it is
 * bounded from one side.
 *
 * Ticks are never rewritten: this is what turns ticks into times, in
 * nanoseconds since the first start of a process, by the reference process's
 * clock.
 *
 * Threads:   may be read by any once made.
 * Ownership: make gives, free takes back. */
#ifndef SCOPES_CLOCK_H
#define SCOPES_CLOCK_H

#include "scopes/reading/event_table.h"
#include "scopes/causality/topology.h"

typedef enum scopes_clock_method {
    SCOPES_CLOCK_HULL,
    SCOPES_CLOCK_AVERAGE,
} scopes_clock_method;

typedef enum scopes_clock_how {
    SCOPES_CLOCK_REFERENCE,   /* it is the reference process */
    SCOPES_CLOCK_SHARED,      /* it has the same counter as its parent */
    SCOPES_CLOCK_PROBE_PAIRS, /* from probe pairs with its parent */
    SCOPES_CLOCK_WALL,        /* by its wall clock, as nothing else is known, or
                                 messages that go one way */
    SCOPES_CLOCK_NONE,        /* it never came up: no time is known */
} scopes_clock_how;

typedef struct scopes_clock {
    scopes_clock_how how;
    uint32_t parent; /* process; PATHS_NONE */
    uint32_t depth;  /* hops from the reference process */
    uint64_t pairs;  /* with the parent, that were used */
    /* time = at_ns + fraction_ns + (ticks - at_ticks) * ns_per_tick */
    uint64_t at_ticks;
    int64_t at_ns;
    double fraction_ns;
    double ns_per_tick;
    /* Against the reference process, at at_ticks: how far this process's clock,
     * read with its nominal rate from its own start_tick/start_wall_ns, is
     * ahead; and how much faster it runs than nominal. */
    double offset_ns;
    double rate_ppm;
    /* Half-width of what is certain at at_ticks; INFINITY if unbounded. */
    double certain_ns;
} scopes_clock;

typedef struct scopes_clocks scopes_clocks;

/* Taken as those of one counter, do the ticks of all processes have no message
 * arrive before it was sent? Then whoever stamped them may have aligned them
 * better than messages can. True, too, where there are no messages. */
bool scopes_clocks_agree(const scopes_event_table *event_table,
                         const scopes_topology *topology);

/* Marks the collectors, by id, whose tuples clocks are made from. True: some of
 * them are of use only if all tuples of the run are there, since messages are
 * known by their order. */
bool scopes_clocks_choose(const scopes_topology *topology, bool *collectors);

/* `reference` PATHS_NONE: the process that gives the lowest tree.
 * Errors: PASTSET_ENOMEM, PASTSET_EINVAL (no such process). */
int scopes_clocks_create(scopes_clocks **out, eventspace_run *run,
                         const scopes_event_table *event_table,
                         const scopes_topology *topology,
                         scopes_clock_method method, uint32_t reference);
/* NULL is allowed. */
void scopes_clocks_destroy(scopes_clocks *clocks);

uint32_t scopes_clocks_reference(const scopes_clocks *clocks);
const scopes_clock *scopes_clocks_process(const scopes_clocks *clocks,
                                          uint32_t process);

/* What scopes_clocks begins with, so that ticks become times inline: views do
 * it twice for each event. */
typedef struct scopes_clock_list {
    const scopes_clock *clocks; /* by process */
    uint32_t count;
} scopes_clock_list;

/* Rounds down. What only damaged files have is cut to some hundred years. */
static inline int64_t scopes__whole_ns(double ns)
{
    const int64_t far_ns = INT64_MAX / 4;
    int64_t whole;

    if (!(ns > -(double)far_ns && ns < (double)far_ns))
        return ns < 0 ? -far_ns : far_ns;
    whole = (int64_t)ns;
    return whole - ((double)whole > ns);
}

/* Of times that damaged files made absurd, the sum is the greatest there is. */
static inline int64_t scopes__sum_ns(int64_t a, int64_t b)
{
    int64_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? INT64_MIN + 1 : INT64_MAX;
    return sum;
}

/* The time of a process's ticks; 0 when there is no such process. Adding a half
 * and rounding down keeps the order of any two moments. */
static inline int64_t scopes_clocks_ns(const scopes_clocks *clocks,
                                       uint32_t process, uint64_t ticks)
{
    const scopes_clock_list *list =
        (const scopes_clock_list *)(const void *)clocks;
    const scopes_clock *c;

    if (process >= list->count)
        return 0;
    c = &list->clocks[process];
    return c->at_ns + scopes__whole_ns((double)(int64_t)(ticks - c->at_ticks) *
                                           c->ns_per_tick +
                                       c->fraction_ns + 0.5);
}
/* The ticks of a process at a time; 0 when that was before its counter
 * began. */
uint64_t scopes_clocks_ticks(const scopes_clocks *clocks, uint32_t process,
                             int64_t ns);
/* The interval that certainly holds the time of a process's ticks. INT64_MIN
 * and INT64_MAX where nothing is certain. By the average method nothing is,
 * unless the counter is that of the reference process. */
void scopes_clocks_certain(const scopes_clocks *clocks, uint32_t process,
                           uint64_t ticks, int64_t *from_ns, int64_t *to_ns);

/* The paper's accuracy test (section 5.5, table 1): of all operations over
 * hops between processes, how many have gt1 <= gt2 and gt3 <= gt4, and of the
 * others by how much they miss (the larger of the two misses). */
typedef struct scopes_accuracy {
    uint64_t operations;
    uint64_t correct;
    double mean_ns, median_ns, deviation_ns; /* of the misses; 0 if none */
    double worst_ns;
} scopes_accuracy;

/* Errors: PASTSET_ENOMEM. */
int scopes_clocks_check(scopes_accuracy *out, const scopes_clocks *clocks,
                        const scopes_event_table *event_table,
                        const scopes_topology *topology);

#endif
