/* clock_hull.c - of many bounds of a line, those that bind.
 *
 * A line keeps below a set of points if it keeps below their lower convex
 * hull, whose corners are a few dozen of a million. Points come one after the
 * other, nearly sorted, and are gathered behind the corners that are known;
 * when the room is full the hull of all of them is made (Andrew's monotone
 * chain) and the rest forgotten. So the time is linear, the memory does not
 * grow with the number of points, and points in any order are only slower. */
#include "scopes/clocks/clock_internal.h"

#include <stdlib.h>

#include "pastset/status.h"

#define CAPACITY_FIRST 64
#define CAPACITY_USUAL 4096
#define STEPS_EACH 16

static int compare(const void *left, const void *right)
{
    const scopes__point *a = left, *b = right;

    if (a->x != b->x)
        return a->x < b->x ? -1 : 1;
    return (a->y > b->y) - (a->y < b->y);
}

/* Nearly sorted points are sorted by insertion. False when they are not: it
 * has taken many more steps than there are points. */
static bool sort_nearly(scopes__point *points, size_t count)
{
    size_t steps = 0;

    for (size_t i = 1; i < count && steps < STEPS_EACH * count; i++) {
        scopes__point point = points[i];
        size_t at = i;
        for (; at > 0 && points[at - 1].x > point.x; at--)
            points[at] = points[at - 1];
        points[at] = point;
        steps += i - at;
    }
    return steps < STEPS_EACH * count;
}

/* Whether b, between a and c, is needed: it lies on the outer side of the line
 * from a to c. */
static bool binds(const scopes__point *a, const scopes__point *b,
                  const scopes__point *c, bool above)
{
    double turn = (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);

    return above ? turn > 0 : turn < 0;
}

/* Puts a point behind a hull, of points with other or the same x. */
static size_t hull_add(scopes__point *hull, size_t count, scopes__point point,
                       bool above)
{
    if (count && hull[count - 1].x == point.x) {
        if (above ? hull[count - 1].y <= point.y : hull[count - 1].y >= point.y)
            return count;
        count--;
    }
    while (count > 1 &&
           !binds(&hull[count - 2], &hull[count - 1], &point, above))
        count--;
    hull[count] = point;
    return count + 1;
}

void scopes__bounds_reduce(scopes__bounds *bounds)
{
    size_t kept = 0;

    if (bounds->count && !bounds->sorted &&
        !sort_nearly(bounds->points, bounds->count))
        qsort(bounds->points, bounds->count, sizeof(bounds->points[0]),
              compare);
    for (size_t i = 0; i < bounds->count; i++)
        kept = hull_add(bounds->points, kept, bounds->points[i], bounds->above);
    bounds->count = kept;
    bounds->sorted = true;
}

static int make_room(scopes__bounds *bounds)
{
    size_t capacity = bounds->capacity ? 2 * bounds->capacity : CAPACITY_FIRST;
    scopes__point *points;

    if (bounds->capacity >= CAPACITY_USUAL) {
        scopes__bounds_reduce(bounds);
        if (bounds->count < bounds->capacity / 2)
            return 0;
    }
    points = realloc(bounds->points, capacity * sizeof(points[0]));
    if (!points)
        return pastset_no_memory("for %zu bounds of a "
                                 "clock",
                                 capacity);
    bounds->points = points;
    bounds->capacity = capacity;
    return 0;
}

int scopes__bounds_add(scopes__bounds *bounds, double x, double y)
{
    int err = bounds->count == bounds->capacity ? make_room(bounds) : 0;

    if (err)
        return err;
    if (bounds->count == 0)
        bounds->sorted = true;
    else if (x < bounds->points[bounds->count - 1].x)
        bounds->sorted = false;
    bounds->points[bounds->count++] = (scopes__point){x, y};
    return 0;
}

void scopes__bounds_fini(scopes__bounds *bounds)
{
    free(bounds->points);
    *bounds = (scopes__bounds){.above = bounds->above};
}
