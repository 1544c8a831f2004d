/* clock_graph.c - which counters exchanged with which, and the trees over
 * them.
 *
 * A tree of least height from a counter is what a breadth first search gives.
 * It is made from each one, and the best is kept: the one that reaches most
 * counters, then that of least height, then that with the most probe pairs,
 * then that of the first counter. Where a counter could have several parents at
 * the same height, it has the one with which it has the most probe pairs. What
 * a tree does not reach has a tree of its own.
 *
 * Some edges say next to nothing: when a program ends, each process may send
 * its results to the first one, once; a tree over these has height 1, but
 * nothing would be known of the rates. So edges are measured by the width of
 * what they leave open, and those that are much wider than the widest one that
 * is needed to reach all counters are no part of trees. */
#include "scopes/clocks/clock_internal.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/array.h"
#include "pastset/status.h"

static int no_memory(void)
{
    return pastset_no_memory("for the clocks of processes");
}

/* --- edges --- */

static bool joins(const scopes__graph *graph, uint32_t edge, uint32_t low,
                  uint32_t high)
{
    return graph->edges[edge].low == low && graph->edges[edge].high == high;
}

scopes__edge *scopes__graph_edge(scopes__graph *graph, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    scopes__edge *edge;

    /* Probe pairs come hop by hop. */
    if (graph->last < graph->edge_count && joins(graph, graph->last, low, high))
        return &graph->edges[graph->last];
    for (uint32_t i = graph->counters[low].edges; i > 0;
         i = graph->edges[i - 1].next) {
        if (joins(graph, i - 1, low, high)) {
            graph->last = i - 1;
            return &graph->edges[i - 1];
        }
    }
    edge = pastset_array_grow(graph->edges, graph->edge_count, sizeof(*edge));
    if (!edge) {
        no_memory();
        return NULL;
    }
    graph->edges = edge;
    graph->last = graph->edge_count++;
    edge = &graph->edges[graph->last];
    *edge = (scopes__edge){
        .low = low, .high = high, .next = graph->counters[low].edges};
    graph->counters[low].edges = graph->edge_count;
    edge->above.above = true;
    return edge;
}

bool scopes__edge_pass(const scopes__graph *graph, uint32_t edge,
                       uint32_t counter, double *from, double *to)
{
    const scopes__corridor *corridor = &graph->edges[edge].corridor;
    double unused;

    if (corridor->count == 0)
        return false;
    if (graph->edges[edge].low == counter) {
        scopes__corridor_high(corridor, *from, from, &unused);
        scopes__corridor_high(corridor, *to, &unused, to);
    } else {
        scopes__corridor_low(corridor, *from, from, &unused);
        scopes__corridor_low(corridor, *to, &unused, to);
    }
    return true;
}

static void edge_fini(scopes__edge *edge)
{
    scopes__bounds_fini(&edge->above);
    scopes__bounds_fini(&edge->below);
    free(edge->corridor.corners);
}

void scopes__graph_part_one_sided(scopes__graph *graph)
{
    uint32_t kept = 0;

    graph->edges_all = graph->edge_count;
    for (uint32_t i = 0; i < graph->edges_all; i++) {
        scopes__edge edge = graph->edges[i];
        if (!edge.above.count || !edge.below.count)
            continue;
        graph->edges[i] = graph->edges[kept];
        graph->edges[kept++] = edge;
    }
    graph->edge_count = kept;
    for (uint32_t i = kept; i < graph->edges_all; i++) {
        scopes__bounds_reduce(&graph->edges[i].above);
        scopes__bounds_reduce(&graph->edges[i].below);
        graph->edges[i].corridor.margin = INFINITY;
    }
}

void scopes__graph_fini(scopes__graph *graph)
{
    for (uint32_t i = 0; i < graph->edge_count || i < graph->edges_all; i++)
        edge_fini(&graph->edges[i]);
    free(graph->edges);
    free(graph->counters);
    free(graph->order);
    free(graph->topology);
    free(graph->topology_at);
    *graph = (scopes__graph){0};
}

/* Lists the edges of each counter. */
static int topology_make(scopes__graph *graph)
{
    uint32_t *at = calloc(graph->counter_count + 2u, sizeof(*at));
    uint32_t *topology = calloc(2u * graph->edge_count + 1u, sizeof(*topology));

    graph->topology_at = at;
    graph->topology = topology;
    if (!at || !topology)
        return no_memory();
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        at[graph->edges[i].low + 2]++;
        at[graph->edges[i].high + 2]++;
    }
    for (uint32_t i = 2; i < graph->counter_count + 2; i++)
        at[i] += at[i - 1];
    /* at[i + 1] goes from the beginning of counter i to its end. */
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        topology[at[graph->edges[i].low + 1]++] = i;
        topology[at[graph->edges[i].high + 1]++] = i;
    }
    return 0;
}

/* --- the edges that count --- */

/* Wider than this times what is needed to reach all, and an edge is left. */
#define WIDER 4

/* How little an edge says: half of what is left open at the one or the other
 * end of all that is known of its counters. */
static double width_of(const scopes__edge *edge, double from, double to)
{
    double width = 0, ends[] = {from, to};

    for (int i = 0; i < 2; i++) {
        double min, max;
        scopes__corridor_high(&edge->corridor, ends[i], &min, &max);
        width = fmax(width, (max - min) / 2);
    }
    return width;
}

static void bounds_span(const scopes__bounds *bounds, double shift,
                        double *from, double *to)
{
    *from = fmin(*from, bounds->points[0].x + shift);
    *to = fmax(*to, bounds->points[bounds->count - 1].x + shift);
}

/* From the first to the last moment at which a counter is known by any edge,
 * as `x` of edges' low ends. */
static void spans_make(scopes__graph *graph, double *from, double *to)
{
    for (uint32_t i = 0; i < graph->counter_count; i++) {
        from[i] = INFINITY;
        to[i] = -INFINITY;
    }
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const scopes__edge *edge = &graph->edges[i];
        double ahead = edge->corridor.line.value;
        bounds_span(&edge->above, 0, &from[edge->low], &to[edge->low]);
        bounds_span(&edge->below, 0, &from[edge->low], &to[edge->low]);
        bounds_span(&edge->above, ahead, &from[edge->high], &to[edge->high]);
        bounds_span(&edge->below, ahead, &from[edge->high], &to[edge->high]);
    }
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        scopes__edge *edge = &graph->edges[i];
        double ahead = edge->corridor.line.value;
        edge->width =
            width_of(edge, fmin(from[edge->low], from[edge->high] - ahead),
                     fmax(to[edge->low], to[edge->high] - ahead));
    }
}

static uint32_t find(uint32_t *set, uint32_t of)
{
    while (set[of] != of)
        of = set[of] = set[set[of]];
    return of;
}

static int by_width(const void *left, const void *right)
{
    const scopes__edge *a = *(const scopes__edge *const *)left;
    const scopes__edge *b = *(const scopes__edge *const *)right;

    if (a->width != b->width)
        return a->width < b->width ? -1 : 1;
    return (a > b) - (a < b);
}

/* From the narrowest edge to the widest: the last one that joins two parts of
 * the graph (Kruskal) is the widest that is needed. */
static double widest_needed(scopes__edge **sorted, uint32_t count,
                            uint32_t *set)
{
    double widest = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t a = find(set, sorted[i]->low), b = find(set, sorted[i]->high);
        if (a == b)
            continue;
        set[a] = b;
        widest = sorted[i]->width;
    }
    return widest;
}

int scopes__graph_choose(scopes__graph *graph)
{
    size_t capacity = graph->counter_count + 1u;
    scopes__edge **sorted = calloc(graph->edge_count + 1u, sizeof(*sorted));
    uint32_t *set = calloc(capacity, sizeof(*set));
    double *spans = calloc(2 * capacity, sizeof(*spans));
    int err = sorted && set && spans ? 0 : no_memory();
    double max;

    if (!err) {
        spans_make(graph, spans, spans + capacity);
        for (uint32_t i = 0; i < graph->counter_count; i++)
            set[i] = i;
        for (uint32_t i = 0; i < graph->edge_count; i++)
            sorted[i] = &graph->edges[i];
        qsort(sorted, graph->edge_count, sizeof(*sorted), by_width);
        max = WIDER * widest_needed(sorted, graph->edge_count, set);
        for (uint32_t i = 0; i < graph->edge_count; i++)
            graph->edges[i].chosen = graph->edges[i].width <= max;
    }
    free(sorted);
    free(set);
    free(spans);
    return err;
}

/* --- trees --- */

typedef struct tree {
    uint32_t *order; /* counters, as they are reached */
    uint32_t *edge;  /* by counter, to its parent */
    uint32_t *depth; /* by counter; PATHS_NONE: not reached */
    uint32_t count;
    uint32_t height;
    uint64_t pairs;
} tree;

static uint32_t other_end(const scopes__edge *edge, uint32_t end)
{
    return edge->low == end ? edge->high : edge->low;
}

/* Those of other trees are not passed. */
static void tree_visit(const scopes__graph *graph, tree *t, uint32_t from)
{
    for (uint32_t i = graph->topology_at[from];
         i < graph->topology_at[from + 1]; i++) {
        uint32_t way = graph->topology[i];
        uint32_t to = other_end(&graph->edges[way], from);
        if (graph->counters[to].reached || !graph->edges[way].chosen)
            continue;
        if (t->depth[to] == PATHS_NONE) {
            t->depth[to] = t->depth[from] + 1;
            t->edge[to] = way;
            t->order[t->count++] = to;
        } else if (t->depth[to] == t->depth[from] + 1 &&
                   graph->edges[way].pairs > graph->edges[t->edge[to]].pairs) {
            t->edge[to] = way;
        }
    }
}

static void tree_lay(const scopes__graph *graph, tree *t, uint32_t root)
{
    for (uint32_t i = 0; i < graph->counter_count; i++)
        t->depth[i] = PATHS_NONE;
    t->count = 1;
    t->order[0] = root;
    t->depth[root] = 0;
    t->edge[root] = PATHS_NONE;
    for (uint32_t i = 0; i < t->count; i++)
        tree_visit(graph, t, t->order[i]);
    t->height = t->depth[t->order[t->count - 1]];
    t->pairs = 0;
    for (uint32_t i = 1; i < t->count; i++)
        t->pairs += graph->edges[t->edge[t->order[i]]].pairs;
}

static bool better(const tree *a, const tree *b)
{
    if (a->count != b->count)
        return a->count > b->count;
    if (a->height != b->height)
        return a->height < b->height;
    return a->pairs > b->pairs;
}

static uint32_t best_root(const scopes__graph *graph, tree *t)
{
    uint32_t best = PATHS_NONE;
    tree of_best = {0};

    for (uint32_t i = 0; i < graph->counter_count; i++) {
        if (graph->counters[i].reached)
            continue;
        tree_lay(graph, t, i);
        if (best != PATHS_NONE && !better(t, &of_best))
            continue;
        best = i;
        of_best = *t;
    }
    return best;
}

/* Makes the tree part of the graph. */
static void tree_take(scopes__graph *graph, const tree *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t index = t->order[i], edge = t->edge[index];
        scopes__counter *counter = &graph->counters[index];
        counter->reached = true;
        counter->root = t->order[0];
        counter->depth = t->depth[index];
        counter->edge = edge;
        counter->parent = edge == PATHS_NONE
                              ? PATHS_NONE
                              : other_end(&graph->edges[edge], index);
        graph->order[graph->ordered++] = index;
    }
}

int scopes__graph_span(scopes__graph *graph, uint32_t root)
{
    size_t capacity = graph->counter_count + 1u;
    uint32_t *memory = calloc(3 * capacity, sizeof(*memory));
    tree t = {0};
    int err = topology_make(graph);

    graph->order = calloc(capacity, sizeof(*graph->order));
    if (!memory || !graph->order)
        err = no_memory();
    t.order = memory;
    t.edge = memory + capacity;
    t.depth = memory + 2 * capacity;
    while (!err && graph->ordered < graph->counter_count) {
        if (root == PATHS_NONE)
            root = best_root(graph, &t);
        tree_lay(graph, &t, root);
        tree_take(graph, &t);
        root = PATHS_NONE;
    }
    free(memory);
    return err;
}
