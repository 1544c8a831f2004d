/* rules_area.c - the centroid of what lies below sets.
 *
 * Each set, cut off or multiplied, is a polygon, and so is what is below all of
 * them: it only changes its direction where one of them does, or where two of
 * them cross. Between two such places it is a straight line, of which the area
 * and its moment are known exactly. */
#include <math.h>
#include <stdlib.h>

#include "contracts/rules/rules_internal.h"
#include "pastset/status.h"

typedef struct area {
    const contracts__set *sets;
    const double *heights;
    size_t count;
    bool is_product;
    double *places;
    size_t place_count;
} area;

/* A set as it was concluded. At a place where it rises or falls at once, `side`
 * says from where: below 0 from the left. */
static double height_at(const area *a, size_t i, double x, int side)
{
    const double *p = a->sets[i].x;
    double degree;

    if (x < p[0] || x > p[3] || (x == p[0] && side < 0) ||
        (x == p[3] && side > 0))
        degree = 0;
    else if (x < p[1] || (x == p[1] && side < 0 && p[0] < p[1]))
        degree = (x - p[0]) / (p[1] - p[0]);
    else if (x > p[2] || (x == p[2] && side > 0 && p[2] < p[3]))
        degree = (p[3] - x) / (p[3] - p[2]);
    else
        degree = 1;
    return a->is_product ? degree * a->heights[i] : fmin(degree, a->heights[i]);
}

static double top_at(const area *a, double x, int side)
{
    double top = 0;

    for (size_t i = 0; i < a->count; i++) {
        double own = height_at(a, i, x, side);
        top = a->is_product ? top + own : fmax(top, own);
    }
    return top;
}

/* --- places --- */

static void place(area *a, double x, double from, double to)
{
    if (x > from && x < to)
        a->places[a->place_count++] = x;
}

/* Its corners, and where it is cut off. */
static void places_of(area *a, size_t i, double from, double to)
{
    const double *x = a->sets[i].x;
    double height = a->heights[i];

    for (int k = 0; k < 4; k++)
        place(a, x[k], from, to);
    if (a->is_product)
        return;
    place(a, x[0] + height * (x[1] - x[0]), from, to);
    place(a, x[3] - height * (x[3] - x[2]), from, to);
}

static int by_place(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void places_sort(area *a)
{
    qsort(a->places, a->place_count, sizeof(*a->places), by_place);
}

/* Between two places that are next to each other two sets are straight lines,
 * and cross once at most. */
static void crossings(area *a)
{
    size_t count = a->place_count;

    for (size_t p = 0; p + 1 < count; p++) {
        double x = a->places[p], y = a->places[p + 1];
        for (size_t i = 0; i < a->count; i++) {
            for (size_t k = 0; k < i; k++) {
                double left = height_at(a, i, x, 1) - height_at(a, k, x, 1);
                double right = height_at(a, i, y, -1) - height_at(a, k, y, -1);
                if ((left < 0 && right > 0) || (left > 0 && right < 0))
                    place(a, x + (y - x) * left / (left - right), x, y);
            }
        }
    }
    places_sort(a);
}

/* --- sums --- */

static double centroid(const area *a)
{
    double sum = 0, moment = 0, origin = a->places[0];

    for (size_t p = 0; p + 1 < a->place_count; p++) {
        double x = a->places[p], width = a->places[p + 1] - x;
        double left, right;
        if (width <= 0)
            continue;
        left = top_at(a, x, 1);
        right = top_at(a, a->places[p + 1], -1);
        sum += width * (left + right) / 2;
        moment += width * ((x - origin) * (left + right) / 2 +
                           width * (left + 2 * right) / 6);
    }
    return sum > 0 ? origin + moment / sum : NAN;
}

double contracts__centroid(const contracts__set *sets, const double *heights,
                           size_t count, double from, double to,
                           bool is_product, int *err)
{
    area a = {.sets = sets,
              .heights = heights,
              .count = count,
              .is_product = is_product};
    /* Between two of 2 + 6n places, each two of n sets may cross. */
    size_t room = 2 + 6 * count, most = room;
    double found;

    if (!is_product)
        most += room * count * count / 2;
    a.places = calloc(most, sizeof(*a.places));
    if (!a.places) {
        *err = pastset_no_memory("for a rulebase");
        return NAN;
    }
    a.places[a.place_count++] = from;
    for (size_t i = 0; i < count; i++)
        places_of(&a, i, from, to);
    a.places[a.place_count++] = to;
    places_sort(&a);
    if (!is_product)
        crossings(&a);
    found = centroid(&a);
    free(a.places);
    return found;
}
