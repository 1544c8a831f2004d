/* clock_corridor.c - the lines that keep within bounds.
 *
 * A line is a point of the plane of (value, slope), and each bound a half of
 * that plane. What they have in common is a convex polygon: a rectangle that
 * is cut by one bound after the other. It has few corners, and the greatest
 * and least value of all its lines, at any moment, is that of a corner.
 *
 * The line that is taken for the true one is the centroid of the polygon: the
 * mean of all lines that are possible. It depends on all bounds that bind, and
 * not just on those few between which there is least room: of runs of a second
 * and less its error was mostly the smaller one, compared with the middle of
 * the highest straight strip between the bounds.
 *
 * When no line keeps within the bounds a counter has not run at a constant
 * rate. Then bounds are drawn apart until one does, by halving. */
#include "scopes/clocks/clock_internal.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"

/* Nanoseconds: as exactly as it is sought how far bounds are to be drawn
 * apart. */
#define FINE 0.01
#define HALVINGS 64

typedef struct cutter {
    const scopes__bounds *above, *below;
    double middle;            /* x */
    double length;            /* of all bounds, in x */
    double lowest, highest;   /* of `above`, the highest of `below` */
    size_t capacity;          /* of each of these: */
    scopes__point *from, *to; /* polygons */
} cutter;

/* What is left of a convex polygon where a x + b y <= c: a corner more at most.
 * That is not relied on, since numbers from damaged files may be no numbers. */
static size_t cut(const scopes__point *in, size_t count, scopes__point *out,
                  size_t capacity, double a, double b, double c)
{
    size_t kept = 0;

    for (size_t i = 0; i < count && kept + 1 < capacity; i++) {
        scopes__point p = in[i], q = in[i + 1 < count ? i + 1 : 0];
        double p_beyond = a * p.x + b * p.y - c;
        double q_beyond = a * q.x + b * q.y - c;
        double part;
        if (p_beyond <= 0)
            out[kept++] = p;
        if ((p_beyond <= 0) == (q_beyond <= 0))
            continue;
        part = p_beyond / (p_beyond - q_beyond);
        out[kept++] =
            (scopes__point){p.x + part * (q.x - p.x), p.y + part * (q.y - p.y)};
    }
    return kept;
}

static size_t cut_by(cutter *c, size_t count, const scopes__bounds *bounds,
                     double slack)
{
    double side = bounds->above ? 1 : -1;

    for (size_t i = 0; i < bounds->count && count; i++) {
        scopes__point *to = c->to;
        count = cut(c->from, count, to, c->capacity, side,
                    side * (bounds->points[i].x - c->middle),
                    side * bounds->points[i].y + slack);
        c->to = c->from;
        c->from = to;
    }
    return count;
}

/* The polygon in `from`, when every bound is moved outwards by `slack`. */
static size_t polygon(cutter *c, double slack)
{
    double max = c->lowest + SCOPES__SLOPE_MAX * c->length + slack + 1;
    double min = c->highest - SCOPES__SLOPE_MAX * c->length - slack - 1;

    if (min > max)
        return 0;
    c->from[0] = (scopes__point){min, -SCOPES__SLOPE_MAX};
    c->from[1] = (scopes__point){max, -SCOPES__SLOPE_MAX};
    c->from[2] = (scopes__point){max, SCOPES__SLOPE_MAX};
    c->from[3] = (scopes__point){min, SCOPES__SLOPE_MAX};
    return cut_by(c, cut_by(c, 4, c->above, slack), c->below, slack);
}

/* From triangles around the first corner. A polygon without area is given by
 * that corner. */
static scopes__point centroid(const scopes__point *p, size_t count)
{
    scopes__point sum = {0, 0};
    double area = 0;

    for (size_t i = 1; i + 1 < count; i++) {
        scopes__point a = {p[i].x - p[0].x, p[i].y - p[0].y};
        scopes__point b = {p[i + 1].x - p[0].x, p[i + 1].y - p[0].y};
        double twice = a.x * b.y - a.y * b.x;
        area += twice;
        sum.x += twice * (a.x + b.x) / 3;
        sum.y += twice * (a.y + b.y) / 3;
    }
    if (!(fabs(area) > 0))
        return p[0];
    return (scopes__point){p[0].x + sum.x / area, p[0].y + sum.y / area};
}

/* How far bounds have to be drawn apart so that a line fits. A horizontal one
 * fits in any case when it is far enough, and a slope gains no more than it
 * rises over the whole length. */
static double apart(cutter *c)
{
    double fits = fmax((c->highest - c->lowest) / 2, 0) + FINE;
    double fails = fmax(fits - SCOPES__SLOPE_MAX * c->length / 2 - 2 * FINE, 0);

    for (int i = 0; i < HALVINGS && fits - fails > FINE; i++) {
        double half = fails + (fits - fails) / 2;
        if (polygon(c, half))
            fits = half;
        else
            fails = half;
    }
    return fits;
}

/* The least that the line is away from any bound. */
static double margin_of(const scopes__line *line, const scopes__bounds *bounds)
{
    double min = INFINITY;

    for (size_t i = 0; i < bounds->count; i++) {
        scopes__point p = bounds->points[i];
        double y = line->value + line->slope * (p.x - line->at);
        min = fmin(min, bounds->above ? p.y - y : y - p.y);
    }
    return min;
}

static void line_find(cutter *c, scopes__corridor *out)
{
    size_t count = polygon(c, 0);
    scopes__point centre;

    if (count == 0)
        count = polygon(c, apart(c));
    centre = count ? centroid(c->from, count)
                   : (scopes__point){(c->lowest + c->highest) / 2, 0};
    out->line = (scopes__line){c->middle, centre.x, centre.y};
    out->margin =
        fmin(margin_of(&out->line, c->above), margin_of(&out->line, c->below));
}

static void cutter_measure(cutter *c)
{
    const scopes__bounds *sides[] = {c->above, c->below};
    double from = INFINITY, to = -INFINITY;

    c->lowest = INFINITY;
    c->highest = -INFINITY;
    for (int s = 0; s < 2; s++) {
        const scopes__point *p = sides[s]->points;
        from = fmin(from, p[0].x);
        to = fmax(to, p[sides[s]->count - 1].x);
        for (size_t i = 0; i < sides[s]->count; i++) {
            if (sides[s]->above)
                c->lowest = fmin(c->lowest, p[i].y);
            else
                c->highest = fmax(c->highest, p[i].y);
        }
    }
    c->length = to - from;
    c->middle = from + c->length / 2;
}

int scopes__corridor_make(scopes__corridor *out, const scopes__bounds *above,
                          const scopes__bounds *below, double slack)
{
    /* Each cut takes away a corner at least when it adds two. */
    size_t capacity = above->count + below->count + 5;
    cutter c = {.above = above,
                .below = below,
                .capacity = capacity,
                .from = malloc(capacity * sizeof(scopes__point)),
                .to = malloc(capacity * sizeof(scopes__point))};

    *out = (scopes__corridor){0};
    if (!c.from || !c.to) {
        free(c.from);
        free(c.to);
        return pastset_no_memory("for %zu lines", capacity);
    }
    cutter_measure(&c);
    line_find(&c, out);
    out->count = polygon(&c, slack);
    out->corners = c.from;
    free(c.to);
    return 0;
}

void scopes__corridor_high(const scopes__corridor *corridor, double low,
                           double *from, double *to)
{
    *from = corridor->count ? INFINITY : -INFINITY;
    *to = -*from;
    for (size_t i = 0; i < corridor->count; i++) {
        const scopes__point *p = &corridor->corners[i];
        double high = low + p->x + p->y * (low - corridor->line.at);
        *from = fmin(*from, high);
        *to = fmax(*to, high);
    }
}

/* The inverse of a corner's line is no line in (value, slope), but a quotient
 * of two, so that its least and greatest too are at corners. */
void scopes__corridor_low(const scopes__corridor *corridor, double high,
                          double *from, double *to)
{
    double at = corridor->line.at;

    *from = corridor->count ? INFINITY : -INFINITY;
    *to = -*from;
    for (size_t i = 0; i < corridor->count; i++) {
        const scopes__point *p = &corridor->corners[i];
        double low = at + (high - at - p->x) / (1 + p->y);
        *from = fmin(*from, low);
        *to = fmax(*to, low);
    }
}
