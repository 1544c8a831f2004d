/* clock_one_way.c - what is certain of clocks to which nothing but one-way
 * messages leads: a bound from one side, which is all that they tell.
 *
 * `ahead` of an edge is a line (clock_internal.h) that keeps below its bounds
 * from above, whose slope is within what is possible. At some moment the
 * highest of these lines is one along the part of the hull that is there, or,
 * where that is too steep or ends, one that is as steep as it may be.
 *
 * What several edges say counts together, so that a tree from which messages go
 * to some processes of another one, and to which they come from others, is
 * bounded on both sides. */
#include "scopes/clocks/clock_internal.h"

#include <math.h>

/* Lines are flat: so many steps come as near as a double can tell. */
#define STEPS 8

typedef struct range {
    double from, to;
} range;

/* Of the outermost line at x. */
static double slope_at(const scopes__bounds *bounds, double x)
{
    const scopes__point *p = bounds->points;
    double outwards = bounds->above ? 1 : -1;
    size_t i = 0;

    while (i < bounds->count && p[i].x <= x)
        i++;
    if (i == 0)
        return -outwards * SCOPES__SLOPE_MAX;
    if (i == bounds->count)
        return outwards * SCOPES__SLOPE_MAX;
    return fmax(
        fmin((p[i].y - p[i - 1].y) / (p[i].x - p[i - 1].x), SCOPES__SLOPE_MAX),
        -SCOPES__SLOPE_MAX);
}

/* The outermost that `ahead` can be at x; infinite where there are no bounds.
 * `slack` is by how much each may be wrong. */
static double outermost(const scopes__bounds *bounds, double x, double slack)
{
    double slope = slope_at(bounds, x);
    double most = bounds->above ? INFINITY : -INFINITY;

    for (size_t i = 0; i < bounds->count; i++) {
        scopes__point p = bounds->points[i];
        double y = p.y + slope * (x - p.x);
        most = bounds->above ? fmin(most, y + slack) : fmax(most, y - slack);
    }
    return most;
}

/* Where the other counter may be when this one is at x. */
static range high_at(const scopes__edge *edge, double low, double slack)
{
    return (range){low + outermost(&edge->below, low, slack),
                   low + outermost(&edge->above, low, slack)};
}

/* By steps, each of which is nearer by the slope. */
static double low_by(const scopes__bounds *bounds, double high, double slack)
{
    double low = high;

    for (int i = 0; i < STEPS; i++)
        low = high - outermost(bounds, low, slack);
    return low;
}

static range low_at(const scopes__edge *edge, double high, double slack)
{
    return (range){
        edge->above.count ? low_by(&edge->above, high, slack) : -INFINITY,
        edge->below.count ? low_by(&edge->below, high, slack) : INFINITY};
}

/* From the moments of one counter to those of another one of its tree, over the
 * root. */
static bool down(const scopes__graph *graph, uint32_t counter, double *from,
                 double *to)
{
    const scopes__counter *c = &graph->counters[counter];

    return c->parent == PATHS_NONE ||
           (down(graph, c->parent, from, to) &&
            scopes__edge_pass(graph, c->edge, c->parent, from, to));
}

static bool across(const scopes__graph *graph, uint32_t counter, uint32_t other,
                   double *from, double *to)
{
    if (counter == other)
        return true;
    for (; graph->counters[counter].parent != PATHS_NONE;
         counter = graph->counters[counter].parent)
        if (!scopes__edge_pass(graph, graph->counters[counter].edge, counter,
                               from, to))
            return false;
    return down(graph, other, from, to);
}

/* What an edge says that leads to the tree of the root `reference`, from the
 * one of `counter`, which is at x. */
static range by_edge(const scopes__graph *graph, const scopes__edge *edge,
                     uint32_t counter, uint32_t reference, double x,
                     double slack)
{
    const scopes__counter *counters = graph->counters;
    bool is_low = counters[edge->high].root == reference;
    uint32_t own = is_low ? edge->low : edge->high;
    uint32_t its = is_low ? edge->high : edge->low;
    range unknown = {-INFINITY, INFINITY}, at_from, at_to;
    double from = x, to = x;

    if (counters[its].root != reference ||
        counters[own].root != counters[counter].root ||
        !across(graph, counter, own, &from, &to))
        return unknown;
    at_from = is_low ? high_at(edge, from, slack) : low_at(edge, from, slack);
    at_to = is_low ? high_at(edge, to, slack) : low_at(edge, to, slack);
    from = at_from.from;
    to = at_to.to;
    if (from > -INFINITY) {
        double at = from;
        if (!across(graph, its, reference, &from, &at))
            return unknown;
    }
    if (to < INFINITY) {
        double at = to;
        if (!across(graph, its, reference, &at, &to))
            return unknown;
    }
    return (range){from, to};
}

void scopes__one_way_at_root(const scopes__graph *graph, uint32_t counter,
                             uint32_t reference, double x, double slack,
                             double *from, double *to)
{
    *from = -INFINITY;
    *to = INFINITY;
    for (uint32_t i = graph->edge_count; i < graph->edges_all; i++) {
        range r =
            by_edge(graph, &graph->edges[i], counter, reference, x, slack);
        *from = fmax(*from, r.from);
        *to = fmin(*to, r.to);
    }
    if (*from > *to) { /* there are no such clocks */
        *from = -INFINITY;
        *to = INFINITY;
    }
}
