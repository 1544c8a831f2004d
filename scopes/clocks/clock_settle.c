/* clock_settle.c - where counters form rings: lines by which no operation
 * arrives before it was sent, on no edge.
 *
 * Along the tree that is so by construction; but the errors of the edges add
 * up, and may be more than an edge that closes a ring allows. What each edge
 * allows are linear inequalities in the lines of its two counters, one for
 * each bound that binds. A line that does not fulfil one of them is moved to
 * where it does by the shortest way, together with that of the other counter;
 * and so on around all of them (Kaczmarz, or Agmon's relaxation), until nothing
 * has to be moved any more. This converges if there is such a place at all,
 * and the truth is one. To be there in finitely many steps, and not just at
 * the limit of what is possible, more is asked for at first: a part of what
 * the lines of edges are away from their bounds, at most that of the narrowest
 * one in the tree, for loose edges are not to move tight ones.
 *
 * Trees that are joined by messages in one direction only are moved as a whole
 * before that. How long the fastest of these took is not known; it is taken to
 * have taken no time where wall clocks say it took less. Where that is not
 * possible, as messages go around in a ring and rates differ, they are about
 * where they belong, and what is said above moves their lines, too. */
#include "scopes/clocks/clock_internal.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"

#define SWEEPS 400
/* Nanoseconds; more than the rounding of what follows. */
#define MIN_MARGIN 2

static const double parts[] = {0.2, 0.05, 0.01, 0};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

typedef struct move {
    scopes__counter *early, *late;
    double early_x, late_x;
} move;

static double line_at(const scopes__line *line, double x)
{
    return line->value + line->slope * (x - line->at);
}

static bool is_fixed(const scopes__counter *counter)
{
    return counter->how == SCOPES_CLOCK_REFERENCE;
}

static void line_move(scopes__counter *counter, double x, double by,
                      double reach)
{
    if (is_fixed(counter))
        return;
    counter->time.value += by;
    counter->time.slope += by * (x - counter->time.at) / (reach * reach);
}

/* How much a line at x moves when it is moved by 1: a slope counts as what it
 * makes at a distance of `reach`. */
static double weight(const scopes__counter *counter, double x, double reach)
{
    double far = (x - counter->time.at) / reach;
    return is_fixed(counter) ? 0 : 1 + far * far;
}

/* Moves two lines until one moment is `margin` before another. False when it
 * was. */
static bool mend(const move *m, double margin, double reach)
{
    double missing = line_at(&m->early->time, m->early_x) + margin -
                     line_at(&m->late->time, m->late_x);
    double weights =
        weight(m->early, m->early_x, reach) + weight(m->late, m->late_x, reach);

    if (missing <= 0 || weights <= 0)
        return false;
    line_move(m->early, m->early_x, -missing / weights, reach);
    line_move(m->late, m->late_x, missing / weights, reach);
    return true;
}

static bool mend_edge(scopes__graph *graph, const scopes__edge *edge,
                      double max, double reach)
{
    scopes__counter *low = &graph->counters[edge->low];
    scopes__counter *high = &graph->counters[edge->high];
    double margin = fmax(fmin(max, edge->corridor.margin / 2), MIN_MARGIN);
    bool moved = false;

    for (size_t i = 0; i < edge->above.count; i++) {
        scopes__point p = edge->above.points[i];
        move m = {low, high, p.x, p.x + p.y};
        moved |= mend(&m, margin, reach);
    }
    for (size_t i = 0; i < edge->below.count; i++) {
        scopes__point p = edge->below.points[i];
        move m = {high, low, p.x + p.y, p.x};
        moved |= mend(&m, margin, reach);
    }
    return moved;
}

static bool edge_fits(const scopes__edge *edge)
{
    return edge->corridor.margin > 2 * MIN_MARGIN;
}

/* False when nothing had to be moved. Edges whose bounds contradict each other
 * cannot be mended. */
static bool sweep(scopes__graph *graph, double margin, double reach)
{
    bool moved = false;

    for (uint32_t i = 0; i < graph->edges_all; i++) {
        if (edge_fits(&graph->edges[i]))
            moved |= mend_edge(graph, &graph->edges[i], margin, reach);
    }
    return moved;
}

static double violation(const move *m)
{
    return line_at(&m->early->time, m->early_x) -
           line_at(&m->late->time, m->late_x);
}

/* By how much something on the edge that goes from `low` to `high`, or back,
 * arrives too early at most; less than 0: too late. */
static double worst_up(const scopes__graph *graph, const scopes__edge *edge)
{
    double worst = -INFINITY;

    for (size_t i = 0; i < edge->above.count; i++) {
        scopes__point p = edge->above.points[i];
        move m = {&graph->counters[edge->low], &graph->counters[edge->high],
                  p.x, p.x + p.y};
        worst = fmax(worst, violation(&m));
    }
    return worst;
}

static double worst_down(const scopes__graph *graph, const scopes__edge *edge)
{
    double worst = -INFINITY;

    for (size_t i = 0; i < edge->below.count; i++) {
        scopes__point p = edge->below.points[i];
        move m = {&graph->counters[edge->high], &graph->counters[edge->low],
                  p.x + p.y, p.x};
        worst = fmax(worst, violation(&m));
    }
    return worst;
}

/* A nanosecond, for rounding. */
static bool is_violated(const scopes__graph *graph, const scopes__edge *edge)
{
    return fmax(worst_up(graph, edge), worst_down(graph, edge)) > -1;
}

static bool any_violated(const scopes__graph *graph)
{
    for (uint32_t i = 0; i < graph->edges_all; i++) {
        if (edge_fits(&graph->edges[i]) && is_violated(graph, &graph->edges[i]))
            return true;
    }
    return false;
}

/* The least of an edge of a tree; where there are none, next to nothing. */
static double narrowest(const scopes__graph *graph)
{
    double min = INFINITY;

    for (uint32_t i = 0; i < graph->counter_count; i++) {
        uint32_t edge = graph->counters[i].edge;
        if (edge != PATHS_NONE)
            min = fmin(min, graph->edges[edge].corridor.margin);
    }
    return isfinite(min) ? fmax(min, MIN_MARGIN) : MIN_MARGIN;
}

static void bounds_span(const scopes__bounds *bounds, double *from, double *to)
{
    if (!bounds->count)
        return;
    *from = fmin(*from, bounds->points[0].x);
    *to = fmax(*to, bounds->points[bounds->count - 1].x);
}

/* Half of the time over which there are bounds. */
static double reach_of(const scopes__graph *graph)
{
    double from = INFINITY, to = -INFINITY;

    for (uint32_t i = 0; i < graph->edges_all; i++) {
        bounds_span(&graph->edges[i].above, &from, &to);
        bounds_span(&graph->edges[i].below, &from, &to);
    }
    return fmax((to - from) / 2, 1);
}

int scopes__graph_settle(scopes__graph *graph)
{
    scopes__line *before;
    double reach;

    if (!any_violated(graph))
        return 0;
    before = calloc(graph->counter_count, sizeof(*before));
    if (!before)
        return pastset_no_memory("to settle clocks");
    for (uint32_t i = 0; i < graph->counter_count; i++)
        before[i] = graph->counters[i].time;
    reach = reach_of(graph);
    for (size_t part = 0; part < PARTS; part++) {
        for (int i = 0; i < SWEEPS; i++) {
            if (!sweep(graph, parts[part] * narrowest(graph), reach))
                break;
        }
        if (!any_violated(graph))
            break;
    }
    /* There is no such place: counters are no straight lines then, and those
     * of the tree are as good as any. */
    if (any_violated(graph)) {
        for (uint32_t i = 0; i < graph->counter_count; i++)
            graph->counters[i].time = before[i];
    }
    free(before);
    return 0;
}

/* --- trees that nothing in both directions joins --- */

/* One tree is to be moved so much farther than another at least. */
typedef struct apart {
    uint32_t from, to; /* roots */
    double least;
} apart;

static void apart_add(apart *list, uint32_t *count, uint32_t from, uint32_t to,
                      double least)
{
    if (from != to && least > -INFINITY)
        list[(*count)++] = (apart){from, to, least + MIN_MARGIN};
}

/* The longest way to each root (Bellman and Ford). Where there is none, as a
 * ring would move them again and again, what has come of it so far. */
static void longest_ways(const apart *list, uint32_t count, uint32_t roots,
                         double *moved)
{
    bool changed = true;

    for (uint32_t sweeps = 0; changed && sweeps <= roots; sweeps++) {
        changed = false;
        for (uint32_t i = 0; i < count; i++) {
            double to = moved[list[i].from] + list[i].least;
            if (moved[list[i].to] >= to)
                continue;
            moved[list[i].to] = to;
            changed = true;
        }
    }
}

int scopes__graph_part_trees(scopes__graph *graph, uint32_t fixed)
{
    double *moved = calloc(graph->counter_count + 1u, sizeof(*moved));
    apart *list = calloc(2u * graph->edges_all + 1u, sizeof(*list));
    uint32_t count = 0, roots = 0;
    int err = moved && list ? 0 : pastset_no_memory("to part clocks");

    for (uint32_t i = 0; i < graph->counter_count; i++)
        roots += graph->counters[i].root == i;
    for (uint32_t i = 0; !err && i < graph->edges_all; i++) {
        const scopes__edge *edge = &graph->edges[i];
        uint32_t low = graph->counters[edge->low].root;
        uint32_t high = graph->counters[edge->high].root;
        apart_add(list, &count, low, high, worst_up(graph, edge));
        apart_add(list, &count, high, low, worst_down(graph, edge));
    }
    if (!err)
        longest_ways(list, count, roots, moved);
    for (uint32_t i = 0; !err && i < graph->counter_count; i++)
        graph->counters[i].time.value +=
            moved[graph->counters[i].root] - moved[graph->counters[fixed].root];
    free(list);
    free(moved);
    return err;
}
