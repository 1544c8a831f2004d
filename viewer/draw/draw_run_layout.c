/* draw_run_layout.c - where the processes of a run are drawn.
 *
 * A shape that was recognised is drawn by its own rule, so that the first
 * process of a ring is on top and a grid has its rows; Graphviz only renders
 * it. Lines are straight, unless another node is in their way. */
#include "viewer/draw/draw_run_internal.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"

#define TURN (2 * M_PI)
#define CHAIN_MAX 8    /* longer ones are bent to a circle */
#define STAR_MAX 40    /* nodes around a hub, in one circle */
#define BEND 1.3       /* of diameters */
#define INWARDS 0.8    /* of the way from the middle */
#define GRID_STEP 2.3  /* from node to node, in diameters */
#define LAYER_STEP 1.3 /* from layer to layer */

static viewer__point point_at(double radius, double turns)
{
    return (viewer__point){radius * sin(TURN * turns),
                           radius * cos(TURN * turns)};
}

static double radius_of(double nodes, double step)
{
    return fmax(nodes * step / TURN, 2.2 * step / 1.5);
}

/* From the top, clockwise; of so many places, of which the last may be free. */
static void place_circle(viewer__picture_of_run *p, uint32_t places,
                         double step)
{
    double radius = radius_of(places, step * p->diameter);

    for (uint32_t i = 0; i < p->traffic->place_count; i++) {
        uint32_t place =
            p->shape.pattern == VIEWER_RING || p->shape.pattern == VIEWER_CHAIN
                ? p->shape.order[i]
                : i;
        p->points[place] = point_at(radius, (double)i / places);
    }
}

static void place_chain(viewer__picture_of_run *p)
{
    uint32_t count = p->traffic->place_count;

    if (count > CHAIN_MAX) {
        place_circle(p, count + 2, 1.6);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        p->points[p->shape.order[i]] =
            (viewer__point){GRID_STEP * p->diameter * i, 0};
}

/* Where there are many, every second one stands further out. */
static void place_star(viewer__picture_of_run *p)
{
    uint32_t others = p->traffic->place_count - 1, count = 0;
    uint32_t slots = others + others % 2;
    bool is_double = others > STAR_MAX;
    double step = (is_double ? 0.68 : 1.4) * p->diameter;
    double inner = fmax(radius_of(slots, step), 2.4 * p->diameter);

    for (uint32_t i = 0; i <= others; i++) {
        if (i == p->shape.hub) {
            p->points[i] = (viewer__point){0, 0};
            continue;
        }
        p->points[i] =
            point_at(inner + (is_double && count % 2 ? 2 * p->diameter : 0),
                     (double)count / slots);
        count++;
    }
}

/* The third dimension goes up and to the right. */
static void place_grid(viewer__picture_of_run *p)
{
    const uint32_t *sides = p->shape.sides;
    double step =
        p->diameter * (sides[2] > 1 ? 1.5 + LAYER_STEP * sides[2] : GRID_STEP);
    double layer = LAYER_STEP * p->diameter;
    uint32_t cell[3];

    for (uint32_t i = 0; i < p->traffic->place_count; i++) {
        viewer__shape_cell(&p->shape, i, cell);
        p->points[i] = (viewer__point){step * cell[0] + layer * cell[2],
                                       0.75 * layer * cell[2] - step * cell[1]};
    }
}

static void place_all(viewer__picture_of_run *p)
{
    switch (p->shape.pattern) {
    case VIEWER_STAR:
        place_star(p);
        return;
    case VIEWER_GRID:
        place_grid(p);
        return;
    case VIEWER_CHAIN:
        place_chain(p);
        return;
    case VIEWER_APART:
    case VIEWER_RING:
    case VIEWER_DENSE:
    case VIEWER_OTHER:
        break;
    }
    place_circle(p, p->traffic->place_count,
                 p->shape.pattern == VIEWER_DENSE ? 1.5 : 1.7);
}

static double diameter_of(uint32_t places)
{
    return places <= 16 ? 46 : places <= 64 ? 34 : places <= 144 ? 26 : 20;
}

int viewer__layout(viewer__picture_of_run *p)
{
    uint32_t places = p->traffic->place_count;

    p->diameter = diameter_of(places);
    p->width_max = 0.15 * p->diameter;
    p->width_min = 0.5;
    if (p->shape.pattern == VIEWER_DENSE) {
        p->width_max = fmax(fmin(40.0 / places, p->width_max), 0.4);
        p->width_min = 0.2;
    }
    if (p->shape.pattern == VIEWER_OTHER)
        return 0;
    p->points = calloc((size_t)places + 1, sizeof(*p->points));
    if (!p->points)
        return pastset_no_memory("for a picture of the run");
    place_all(p);
    return 0;
}

/* --- lines --- */

static viewer__point along(viewer__point a, viewer__point b, double share)
{
    return (viewer__point){a.x + share * (b.x - a.x),
                           a.y + share * (b.y - a.y)};
}

static double length_of(viewer__point a, viewer__point b)
{
    return hypot(b.x - a.x, b.y - a.y);
}

/* So far from `a` towards `b`. */
static viewer__point towards(viewer__point a, viewer__point b, double distance)
{
    double length = length_of(a, b);

    return length > 0 ? along(a, b, distance / length) : a;
}

static bool is_in_the_way(const viewer__picture_of_run *p, viewer__point at,
                          viewer__point a, viewer__point b)
{
    double length = length_of(a, b);
    double share = ((at.x - a.x) * (b.x - a.x) + (at.y - a.y) * (b.y - a.y)) /
                   (length * length);

    return share > 0 && share < 1 &&
           length_of(at, along(a, b, share)) < 0.55 * p->diameter;
}

static bool is_blocked(const viewer__picture_of_run *p, const viewer_link *link)
{
    for (uint32_t i = 0; i < p->traffic->place_count; i++)
        if (i != link->ends[0] && i != link->ends[1] &&
            is_in_the_way(p, p->points[i], p->points[link->ends[0]],
                          p->points[link->ends[1]]))
            return true;
    return false;
}

static bool is_round(const viewer_shape *shape)
{
    return shape->pattern != VIEWER_GRID && shape->pattern != VIEWER_CHAIN;
}

/* Where lines have only nodes around them, they bend to the middle, where there
 * are none; else to a side. */
static viewer__point aside(const viewer__picture_of_run *p, viewer__point at,
                           viewer__point a, viewer__point b)
{
    double bend = BEND * p->diameter / length_of(a, b);

    if (is_round(&p->shape))
        return (viewer__point){INWARDS * at.x, INWARDS * at.y};
    return (viewer__point){at.x + bend * (a.y - b.y),
                           at.y + bend * (b.x - a.x)};
}

/* A cubic curve whose ends are the middles of the nodes. */
static void curve_make(viewer__point c[4], const viewer__picture_of_run *p,
                       const viewer_link *link)
{
    viewer__point a = p->points[link->ends[0]], b = p->points[link->ends[1]];
    uint32_t apart = link->ends[1] - link->ends[0];
    bool is_next = apart == 1 || apart == p->traffic->place_count - 1;
    bool is_bent =
        p->shape.pattern == VIEWER_DENSE ? !is_next : is_blocked(p, link);
    double share = is_bent && !is_round(&p->shape) ? 0.12 : 0.33;

    c[0] = a;
    c[1] = along(a, b, share);
    c[2] = along(b, a, share);
    c[3] = b;
    for (int i = 1; i < 3 && is_bent; i++)
        c[i] = aside(p, c[i], a, b);
}

void viewer__layout_line(FILE *file, const viewer__picture_of_run *p,
                         const viewer_link *link, double arrow, bool is_back)
{
    double radius = p->diameter / 2 + 1;
    viewer__point c[4], begin, end;

    curve_make(c, p, link);
    begin = towards(c[0], c[1], radius);
    end = towards(c[3], c[2], radius);
    c[0] = towards(c[0], c[1], radius + (is_back ? arrow : 0));
    c[3] = towards(c[3], c[2], radius + (is_back ? 0 : arrow));
    if (arrow > 0 && is_back)
        fprintf(file, "s,%.1f,%.1f ", begin.x, begin.y);
    else if (arrow > 0)
        fprintf(file, "e,%.1f,%.1f ", end.x, end.y);
    for (int i = 0; i < 4; i++)
        fprintf(file, "%s%.1f,%.1f", i ? " " : "", c[i].x, c[i].y);
}
