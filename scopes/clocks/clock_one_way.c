/* clock_one_way.c - what is certain of clocks to which nothing but one-way
 * messages leads: a bound from one side, which is all that they tell.
 *
 * `ahead` of an edge is a line (clock_internal.h) that keeps below its bounds
 * from above, whose slope is within what is possible. At some moment the
 * highest of these lines is one along the part of the hull that is there, or,
 * where that is too steep or ends, one that is as steep as it may be.
 *
 * What is known of one counter goes on over all edges to the others, until no
 * more is known of any. So one may be bounded on both sides after all, if
 * messages go around in a ring. */
#include "scopes/clocks/clock_internal.h"

#include <math.h>
#include <stdlib.h>

/* Nanoseconds: what is less is no change, as around a ring there is no end. */
#define FINE 0.01

/* Lines are flat: so many steps come as near as a double can tell. */
#define STEPS 8

typedef struct range {
    double from, to;
    uint32_t changed; /* of a counter: in which sweep */
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
                   low + outermost(&edge->above, low, slack), 0};
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
        edge->below.count ? low_by(&edge->below, high, slack) : INFINITY, 0};
}

/* Of the other end of an edge, when the counter at the one end is within a
 * range; `low` says at which. */
static range passed(const scopes__edge *edge, bool low, range at, double slack)
{
    range r = {-INFINITY, INFINITY, 0};
    const scopes__corridor *corridor = &edge->corridor;
    void (*both)(const scopes__corridor *, double, double *, double *) =
        low ? scopes__corridor_high : scopes__corridor_low;
    range (*one)(const scopes__edge *, double, double) = low ? high_at : low_at;
    bool is_two_sided = edge->above.count && edge->below.count;
    double unused;

    if (is_two_sided && corridor->count == 0)
        return r; /* it contradicts itself */
    if (at.from > -INFINITY && is_two_sided)
        both(corridor, at.from, &r.from, &unused);
    else if (at.from > -INFINITY)
        r.from = one(edge, at.from, slack).from;
    if (at.to < INFINITY && is_two_sided)
        both(corridor, at.to, &unused, &r.to);
    else if (at.to < INFINITY)
        r.to = one(edge, at.to, slack).to;
    return r;
}

/* False when it was within the other one. */
static bool narrow(range *r, range by, uint32_t sweep)
{
    range before = *r;

    r->from = fmax(r->from, by.from);
    r->to = fmin(r->to, by.to);
    if (!(r->from > before.from + FINE) && !(r->to < before.to - FINE))
        return false;
    r->changed = sweep;
    return true;
}

/* Over edges at an end of which something has changed since the last one. */
static bool sweep(const scopes__graph *graph, range *at, double slack,
                  uint32_t number)
{
    bool changed = false;

    for (uint32_t i = 0; i < graph->edges_all; i++) {
        const scopes__edge *edge = &graph->edges[i];
        range *low = &at[edge->low], *high = &at[edge->high];
        if (low->changed + 1 >= number)
            changed |= narrow(high, passed(edge, true, *low, slack), number);
        if (high->changed + 1 >= number)
            changed |= narrow(low, passed(edge, false, *high, slack), number);
    }
    return changed;
}

/* Where edges lie in the worst order, a sweep goes over one of them. */
void scopes__one_way_at_root(const scopes__graph *graph, uint32_t counter,
                             uint32_t reference, double x, double slack,
                             double *from, double *to)
{
    range *at = malloc((graph->counter_count + 1u) * sizeof(*at));
    range unknown = {-INFINITY, INFINITY, 0}, found = unknown;
    bool changed = at != NULL;

    for (uint32_t i = 0; at && i < graph->counter_count; i++)
        at[i] = i == counter ? (range){x, x, 1} : unknown;
    for (uint32_t i = 0; i < graph->counter_count && changed; i++)
        changed = sweep(graph, at, slack, i + 2);
    if (at && at[reference].from <= at[reference].to)
        found = at[reference];
    free(at);
    *from = found.from;
    *to = found.to;
}
