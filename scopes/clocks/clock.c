/* clock.c - from probe pairs to clocks: puts together along the tree what each
 * of its edges says, and turns ticks into times. */
#include "scopes/clocks/clock_internal.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"

/* Stamps are whole ticks, and a simulated counter rounds twice: what was
 * stamped lies up to so many ticks later. */
#define STAMP_TICKS 2.02
/* More than doubles lose on the way, in nanoseconds. */
#define LOST_NS 0.5

typedef struct process_clock {
    scopes_clock *shown;
    uint32_t counter; /* PATHS_NONE: it never came up */
} process_clock;

struct scopes_clocks {
    scopes_clock_list list; /* first: see clock.h */
    scopes_clock_method method;
    uint32_t reference;
    process_clock *processes;
    scopes_clock *shown; /* by process */
    uint32_t process_count;
    scopes__graph graph;
    double zero_ns;  /* the first start of a process; a whole number */
    double slack_ns; /* by how much any bound may be wrong */
};

/* --- counters --- */

static uint32_t counter_find(const scopes_clocks *clocks, eventspace_run *run,
                             const eventspace_meta *meta)
{
    for (uint32_t i = 0; i < clocks->graph.counter_count; i++) {
        uint32_t process = clocks->graph.counters[i].process;
        if (eventspace_meta_same_counter(
                &eventspace_run_process_at(run, process)->meta, meta))
            return i;
    }
    return PATHS_NONE;
}

/* Gives a process the counter that it shares, or one of its own. */
static void counter_take(scopes_clocks *clocks, eventspace_run *run,
                         uint32_t process)
{
    const eventspace_run_process *h = eventspace_run_process_at(run, process);
    scopes__counter *counter;
    uint32_t index;

    clocks->processes[process].counter = PATHS_NONE;
    if (!h->has_meta)
        return;
    index = counter_find(clocks, run, &h->meta);
    if (index == PATHS_NONE) {
        index = clocks->graph.counter_count++;
        counter = &clocks->graph.counters[index];
        counter->process = process;
        counter->base = h->meta.start_tick;
        counter->ns_per_tick = 1e9 / h->meta.tick_hz;
        counter->parent = counter->edge = PATHS_NONE;
    }
    clocks->processes[process].counter = index;
}

/* The chosen reference process comes first, so that it stands for its
 * counter. */
static void counters_make(scopes_clocks *clocks, eventspace_run *run,
                          uint32_t reference)
{
    if (reference != PATHS_NONE)
        counter_take(clocks, run, reference);
    for (uint32_t i = 0; i < clocks->process_count; i++) {
        if (i != reference)
            counter_take(clocks, run, i);
    }
}

/* --- probe pairs --- */

/* What a probe pair says of the offset of `high`, by the paper. */
static void average_add(scopes__edge *edge, double ahead)
{
    if (edge->averages++ == 0)
        edge->first = ahead;
    edge->sum += ahead - edge->first;
}

/* What was at x of counter `a` came before what was at y of counter `b`. */
static int bound_add(scopes__edge *edge, uint32_t a, double x, double y)
{
    return a == edge->low ? scopes__bounds_add(&edge->above, x, y - x)
                          : scopes__bounds_add(&edge->below, y, x - y);
}

/* The edge between the counters of two processes; NULL: they have one and the
 * same, or one has none, or (`*err`) memory is out. */
static scopes__edge *edge_between(scopes_clocks *clocks, uint32_t from,
                                  uint32_t to, int *err)
{
    uint32_t a = clocks->processes[from].counter;
    uint32_t b = clocks->processes[to].counter;
    scopes__edge *edge;

    *err = 0;
    if (a == b || a == PATHS_NONE || b == PATHS_NONE)
        return NULL;
    edge = scopes__graph_edge(&clocks->graph, a, b);
    if (!edge)
        *err = PASTSET_ENOMEM;
    return edge;
}

static int pair_add(const scopes__probe_pair *e, void *context)
{
    scopes_clocks *clocks = context;
    uint32_t a = clocks->processes[e->upper].counter;
    uint32_t b = clocks->processes[e->lower].counter;
    const scopes__counter *counters = clocks->graph.counters;
    double t1, t2, t3, t4, ahead;
    int err;
    scopes__edge *edge = edge_between(clocks, e->upper, e->lower, &err);

    if (!edge)
        return err;
    t1 = scopes__counter_ns(&counters[a], e->t1);
    t2 = scopes__counter_ns(&counters[b], e->t2);
    t3 = scopes__counter_ns(&counters[b], e->t3);
    t4 = scopes__counter_ns(&counters[a], e->t4);
    ahead = t2 - (t1 + ((t4 - t1) - (t3 - t2)) / 2);
    average_add(edge, a == edge->low ? ahead : -ahead);
    edge->pairs++;
    err = bound_add(edge, a, t1, t2);
    return err ? err : bound_add(edge, b, t3, t4);
}

/* --- messages --- */

static int message_add(const scopes__message *e, void *context)
{
    scopes_clocks *clocks = context;
    uint32_t a = clocks->processes[e->from].counter;
    uint32_t b = clocks->processes[e->to].counter;
    const scopes__counter *counters = clocks->graph.counters;
    int err;
    scopes__edge *edge = edge_between(clocks, e->from, e->to, &err);

    if (!edge)
        return err;
    edge->pairs++;
    return bound_add(edge, a, scopes__counter_ns(&counters[a], e->from_ticks),
                     scopes__counter_ns(&counters[b], e->to_ticks));
}

/* By how much a bound may be wrong. */
static double slack_of(const scopes__counter *counter)
{
    return STAMP_TICKS * counter->ns_per_tick + LOST_NS;
}

static int corridors_make(scopes_clocks *clocks)
{
    int err = 0;

    for (uint32_t i = 0; i < clocks->graph.edge_count && !err; i++) {
        scopes__edge *edge = &clocks->graph.edges[i];
        double slack = fmax(slack_of(&clocks->graph.counters[edge->low]),
                            slack_of(&clocks->graph.counters[edge->high]));
        scopes__bounds_reduce(&edge->above);
        scopes__bounds_reduce(&edge->below);
        err = scopes__corridor_make(&edge->corridor, &edge->above, &edge->below,
                                    slack);
    }
    return err;
}

/* --- along the tree --- */

/* How far `high` is ahead, by the method. */
static scopes__line edge_line(const scopes_clocks *clocks,
                              const scopes__edge *edge)
{
    scopes__line line = edge->corridor.line;

    /* Messages that nothing comes back for have no average. */
    if (clocks->method == SCOPES_CLOCK_AVERAGE && edge->averages) {
        line.value = edge->first + edge->sum / (double)edge->averages;
        line.slope = 0;
    }
    return line;
}

/* The child's time x at some moment is that of the parent at x + ahead, or
 * the other way round. */
static void child_place(scopes_clocks *clocks, scopes__counter *child)
{
    const scopes__counter *parent = &clocks->graph.counters[child->parent];
    const scopes__edge *edge = &clocks->graph.edges[child->edge];
    scopes__line ahead = edge_line(clocks, edge);
    double low = ahead.at, high = low + ahead.value;
    bool is_low = child == &clocks->graph.counters[edge->low];
    double of_parent = is_low ? high : low;
    double slope = is_low ? 1 + ahead.slope : 1 / (1 + ahead.slope);

    child->how = SCOPES_CLOCK_PROBE_PAIRS;
    child->time.at = is_low ? low : high;
    child->time.value =
        parent->time.value + parent->time.slope * (of_parent - parent->time.at);
    child->time.slope = parent->time.slope * slope;
}

/* A root that is not the reference goes by its wall clock. */
static void root_place(const eventspace_run *run, uint32_t reference,
                       scopes__counter *root)
{
    const eventspace_meta *own =
        &eventspace_run_process_at(run, root->process)->meta;
    const eventspace_meta *its =
        &eventspace_run_process_at(run, reference)->meta;

    root->how =
        root->process == reference ? SCOPES_CLOCK_REFERENCE : SCOPES_CLOCK_WALL;
    root->time = (scopes__line){
        0, (double)(int64_t)(own->start_wall_ns - its->start_wall_ns), 1};
}

static void tree_place(scopes_clocks *clocks, const eventspace_run *run)
{
    const scopes__graph *graph = &clocks->graph;

    for (uint32_t i = 0; i < graph->ordered; i++) {
        scopes__counter *counter = &graph->counters[graph->order[i]];
        if (counter->parent == PATHS_NONE)
            root_place(run, clocks->reference, counter);
        else
            child_place(clocks, counter);
    }
}

/* --- what is shown of processes --- */

static double time_at(const scopes__counter *counter, double x)
{
    return counter->time.value + counter->time.slope * (x - counter->time.at);
}

static void process_place(scopes_clocks *clocks, const eventspace_run *run,
                          uint32_t index)
{
    process_clock *process = &clocks->processes[index];
    const eventspace_meta *meta = &eventspace_run_process_at(run, index)->meta;
    const eventspace_meta *its =
        &eventspace_run_process_at(run, clocks->reference)->meta;
    const scopes__counter *counter = &clocks->graph.counters[process->counter];
    const scopes__counter *parent =
        counter->parent == PATHS_NONE
            ? NULL
            : &clocks->graph.counters[counter->parent];
    int64_t ticks = llround(counter->time.at / counter->ns_per_tick);
    double time = time_at(counter, (double)ticks * counter->ns_per_tick);
    scopes_clock *c = process->shown;

    c->how = counter->process == index ? counter->how : SCOPES_CLOCK_SHARED;
    c->parent = counter->process != index ? counter->process
                : parent                  ? parent->process
                                          : PATHS_NONE;
    c->depth = counter->depth;
    c->pairs = c->how == SCOPES_CLOCK_PROBE_PAIRS
                   ? clocks->graph.edges[counter->edge].pairs
                   : 0;
    c->at_ticks = counter->base + (uint64_t)ticks;
    c->ns_per_tick = counter->ns_per_tick * counter->time.slope;
    c->at_ns = scopes__whole_ns(time - clocks->zero_ns);
    c->fraction_ns = time - clocks->zero_ns - (double)c->at_ns;
    c->rate_ppm = (1e9 / c->ns_per_tick / meta->tick_hz - 1) * 1e6;
    /* By the two wall clocks, at that moment. The time is that since the
     * reference process's start, by its clock. */
    c->offset_ns = (double)(int64_t)(meta->start_wall_ns - its->start_wall_ns) +
                   (double)(int64_t)(c->at_ticks - meta->start_tick) * 1e9 /
                       meta->tick_hz -
                   time;
}

static void certain_place(scopes_clocks *clocks, uint32_t index)
{
    scopes_clock *c = clocks->processes[index].shown;
    int64_t from, to;

    scopes_clocks_certain(clocks, index, c->at_ticks, &from, &to);
    c->certain_ns = from == INT64_MIN || to == INT64_MAX
                        ? INFINITY
                        : ((double)to - (double)from) / 2;
}

static void processes_place(scopes_clocks *clocks, const eventspace_run *run)
{
    double first = INFINITY;

    for (uint32_t i = 0; i < clocks->process_count; i++) {
        const scopes__counter *counter;
        if (clocks->processes[i].counter == PATHS_NONE)
            continue;
        counter = &clocks->graph.counters[clocks->processes[i].counter];
        first = fmin(
            first,
            time_at(counter,
                    scopes__counter_ns(
                        counter,
                        eventspace_run_process_at(run, i)->meta.start_tick)));
    }
    clocks->zero_ns = floor(first);
    for (uint32_t i = 0; i < clocks->process_count; i++) {
        if (clocks->processes[i].counter == PATHS_NONE) {
            *clocks->processes[i].shown = (scopes_clock){
                .how = SCOPES_CLOCK_NONE,
                .parent = PATHS_NONE,
                .certain_ns = INFINITY,
            };
            continue;
        }
        process_place(clocks, run, i);
        certain_place(clocks, i);
    }
}

/* --- making --- */

bool scopes_clocks_choose(const scopes_topology *topology, bool *collectors)
{
    scopes__probe_pairs_choose(topology, collectors);
    return scopes__messages_choose(topology, collectors);
}

static int make(scopes_clocks *clocks, eventspace_run *run,
                const scopes_event_table *event_table,
                const scopes_topology *topology, uint32_t reference)
{
    scopes__graph *graph = &clocks->graph;
    int err;

    clocks->processes =
        calloc(clocks->process_count + 1u, sizeof(*clocks->processes));
    clocks->shown = calloc(clocks->process_count + 1u, sizeof(*clocks->shown));
    graph->counters =
        calloc(clocks->process_count + 1u, sizeof(*graph->counters));
    if (!clocks->processes || !clocks->shown || !graph->counters)
        return pastset_no_memory("for clocks");
    clocks->list = (scopes_clock_list){clocks->shown, clocks->process_count};
    for (uint32_t i = 0; i < clocks->process_count; i++)
        clocks->processes[i].shown = &clocks->shown[i];
    counters_make(clocks, run, reference);
    for (uint32_t i = 0; i < graph->counter_count; i++)
        clocks->slack_ns =
            fmax(clocks->slack_ns, slack_of(&graph->counters[i]));
    err = scopes__probe_pairs_each(event_table, topology, pair_add, clocks);
    if (err)
        return err;
    if (graph->counter_count > 1) /* else they would be read in vain */
        err = scopes__messages_each(event_table, topology, message_add, clocks);
    if (err)
        return err;
    scopes__graph_part_one_sided(graph);
    err = corridors_make(clocks);
    if (err)
        return err;
    err = scopes__graph_choose(graph);
    if (err)
        return err;
    err = scopes__graph_span(graph, reference == PATHS_NONE ? reference : 0);
    if (err || graph->counter_count == 0)
        return err;
    clocks->reference = graph->counters[graph->order[0]].process;
    tree_place(clocks, run);
    if (clocks->method != SCOPES_CLOCK_HULL)
        return 0;
    err = scopes__graph_part_trees(graph, graph->order[0]);
    return err ? err : scopes__graph_settle(graph);
}

static int reference_check(eventspace_run *run, uint32_t reference)
{
    if (reference == PATHS_NONE)
        return 0;
    if (reference >= eventspace_run_process_count(run))
        return pastset_fail(PASTSET_EINVAL, "there is no process %u",
                            reference);
    if (!eventspace_run_process_at(run, reference)->has_meta)
        return pastset_fail(PASTSET_EINVAL,
                            "process %s never started: it has no clock",
                            eventspace_run_process_at(run, reference)->name);
    return 0;
}

int scopes_clocks_create(scopes_clocks **out, eventspace_run *run,
                         const scopes_event_table *event_table,
                         const scopes_topology *topology,
                         scopes_clock_method method, uint32_t reference)
{
    int err = reference_check(run, reference);
    scopes_clocks *clocks;

    *out = NULL;
    if (err)
        return err;
    clocks = calloc(1, sizeof(*clocks));
    if (!clocks)
        return pastset_no_memory("for clocks");
    clocks->method = method;
    clocks->reference = reference == PATHS_NONE ? 0 : reference;
    clocks->process_count = (uint32_t)eventspace_run_process_count(run);
    err = make(clocks, run, event_table, topology, reference);
    if (err) {
        scopes_clocks_destroy(clocks);
        return err;
    }
    processes_place(clocks, run);
    *out = clocks;
    return 0;
}

void scopes_clocks_destroy(scopes_clocks *clocks)
{
    if (!clocks)
        return;
    scopes__graph_fini(&clocks->graph);
    free(clocks->processes);
    free(clocks->shown);
    free(clocks);
}

/* --- asking --- */

uint32_t scopes_clocks_reference(const scopes_clocks *clocks)
{
    return clocks->reference;
}

const scopes_clock *scopes_clocks_process(const scopes_clocks *clocks,
                                          uint32_t process)
{
    return process < clocks->process_count ? &clocks->shown[process] : NULL;
}

uint64_t scopes_clocks_ticks(const scopes_clocks *clocks, uint32_t process,
                             int64_t ns)
{
    const scopes_clock *c = scopes_clocks_process(clocks, process);
    int64_t since;
    double ticks;

    if (!c || !(c->ns_per_tick > 0))
        return 0;
    if (__builtin_sub_overflow(ns, c->at_ns, &since))
        return ns < 0 ? 0 : UINT64_MAX;
    ticks = ((double)since - c->fraction_ns) / c->ns_per_tick;
    if (ticks < 0 && -ticks > (double)c->at_ticks)
        return 0;
    return c->at_ticks + (uint64_t)(int64_t)llround(ticks);
}

/* The moments of the reference's counter between which x of a counter must be:
 * infinite where there is no telling. */
static void certain_at_reference(const scopes_clocks *clocks, uint32_t counter,
                                 double *from, double *to)
{
    const scopes__graph *graph = &clocks->graph;
    uint32_t reference = clocks->processes[clocks->reference].counter;
    uint32_t at = counter;
    double x = *from;
    bool is_told = true;

    for (; graph->counters[at].parent != PATHS_NONE && is_told;
         at = graph->counters[at].parent)
        is_told =
            scopes__edge_pass(graph, graph->counters[at].edge, at, from, to);
    if (is_told && at == reference)
        return;
    *from = -INFINITY;
    *to = INFINITY;
    if (is_told)
        scopes__one_way_at_root(graph, counter, reference, x, clocks->slack_ns,
                                from, to);
}

void scopes_clocks_certain(const scopes_clocks *clocks, uint32_t process,
                           uint64_t ticks, int64_t *from_ns, int64_t *to_ns)
{
    uint32_t index = process < clocks->process_count
                         ? clocks->processes[process].counter
                         : PATHS_NONE;
    double from, to;

    *from_ns = INT64_MIN;
    *to_ns = INT64_MAX;
    if (index == PATHS_NONE)
        return;
    if (clocks->graph.counters[index].how == SCOPES_CLOCK_REFERENCE) {
        *from_ns = *to_ns = scopes_clocks_ns(clocks, process, ticks);
        return;
    }
    if (clocks->method == SCOPES_CLOCK_AVERAGE)
        return;
    from = to = scopes__counter_ns(&clocks->graph.counters[index], ticks);
    certain_at_reference(clocks, index, &from, &to);
    if (from > -INFINITY)
        *from_ns = scopes__whole_ns(from - clocks->zero_ns - LOST_NS);
    if (to < INFINITY)
        *to_ns = scopes__whole_ns(to - clocks->zero_ns + LOST_NS) + 1;
}
