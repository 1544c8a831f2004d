/* classes_test.c - classes of points that are made with known ones. */
#include "contracts/signature/classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"

static double uniform(void)
{
    static uint32_t state = 12345;

    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / 16777216.0;
}

/* Sums of twelve are nearly normal. */
static double normal(void)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += uniform();
    return sum;
}

#define METRICS 3

/* Points of classes of these sizes around their centres, shuffled with others
 * that are of none. */
static size_t made(double *points, size_t *truth, size_t classes,
                   const double (*centres)[METRICS], const size_t *sizes,
                   double scatter, size_t others)
{
    size_t count = 0;

    for (size_t c = 0; c < classes; c++)
        for (size_t i = 0; i < sizes[c]; i++, count++) {
            truth[count] = c;
            for (size_t m = 0; m < METRICS; m++)
                points[count * METRICS + m] =
                    centres[c][m] * (1 + scatter * normal());
        }
    for (size_t i = 0; i < others; i++, count++) {
        truth[count] = SIZE_MAX;
        for (size_t m = 0; m < METRICS; m++)
            points[count * METRICS + m] = 1e3 * pow(3, (double)(i + m));
    }
    for (size_t i = count; i-- > 1;) {
        size_t k = (size_t)(uniform() * (double)(i + 1)), t = truth[i];
        double one[METRICS];
        truth[i] = truth[k];
        truth[k] = t;
        memcpy(one, &points[i * METRICS], sizeof(one));
        memcpy(&points[i * METRICS], &points[k * METRICS], sizeof(one));
        memcpy(&points[k * METRICS], one, sizeof(one));
    }
    return count;
}

/* The largest first; each point in its own, and those of none in none. */
Test(classes, are_those_that_points_were_made_of, .timeout = 60)
{
    static const double centres[][METRICS] = {
        {100, 5, 0.01}, {130, 5, 0.01}, {100, 5, 0.02}, {-400, 1, 7}};
    static const size_t sizes[] = {50, 400, 80, 200};
    static const size_t order[] = {3, 0, 2, 1}; /* by size */
    static double points[740 * METRICS];
    static size_t truth[740], found[740];
    contracts_classes k;
    size_t count = made(points, truth, 4, centres, sizes, 0.01, 10);

    check_status(
        contracts_classes_find(&k, found, points, count, METRICS, NULL), 0);
    cr_assert_eq(k.count, 4, "%zu classes", k.count);
    cr_assert_eq(k.noise, 10, "%zu are of none", k.noise);
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(found[i],
                     truth[i] == SIZE_MAX ? SIZE_MAX : order[truth[i]]);
    for (size_t c = 0; c < 4; c++) {
        cr_assert_eq(k.sizes[order[c]], sizes[c]);
        for (size_t m = 0; m < METRICS; m++) {
            double off = k.centroids[order[c] * METRICS + m] - centres[c][m];
            double size = fabs(centres[c][m]);
            double deviation = k.deviations[order[c] * METRICS + m];
            cr_assert_lt(fabs(off), 0.006 * size);
            cr_assert(deviation > 0.007 * size && deviation < 0.013 * size,
                      "%g of %g", deviation, size);
        }
    }
    contracts_classes_fini(&k);
}

/* The number follows from the tolerance. */
Test(classes, are_as_many_as_the_tolerance_tells_apart, .timeout = 60)
{
    static const double centres[][METRICS] = {{100, 5, 1}, {103, 5, 1}};
    static const size_t sizes[] = {100, 100};
    static double points[200 * METRICS];
    static size_t truth[200];
    contracts_classes k;
    size_t count = made(points, truth, 2, centres, sizes, 0.0005, 0);

    check_status(
        contracts_classes_find(&k, NULL, points, count, METRICS,
                               &(contracts_class_options){.tolerance = 0.01}),
        0);
    cr_assert_eq(k.count, 2);
    contracts_classes_fini(&k);
    check_status(
        contracts_classes_find(&k, NULL, points, count, METRICS,
                               &(contracts_class_options){.tolerance = 0.05}),
        0);
    cr_assert_eq(k.count, 1);
    cr_assert_eq(k.sizes[0], 200);
    contracts_classes_fini(&k);
}

Test(classes, need_neighbours, .timeout = 60)
{
    double points[] = {1, 1.001, 5, 7, 7.01, 7.02};
    size_t found[6];
    contracts_classes k;

    check_status(contracts_classes_find(&k, found, points, 6, 1, NULL), 0);
    cr_assert_eq(k.count, 1);
    cr_assert_eq(k.noise, 3);
    cr_assert_eq(found[5], 0);
    contracts_classes_fini(&k);
    check_status(contracts_classes_find(&k, found, points, 0, 1, NULL), 0);
    cr_assert_eq(k.count, 0);
    contracts_classes_fini(&k);
    points[2] = NAN;
    check_status(contracts_classes_find(&k, found, points, 6, 1, NULL),
                 PASTSET_EINVAL);
    check_status(contracts_classes_find(&k, found, points, 6, 0, NULL),
                 PASTSET_EINVAL);
}

/* A metric that is 0 throughout tells nothing apart, and is no hindrance. */
Test(classes, may_have_a_metric_that_is_zero, .timeout = 60)
{
    double points[] = {5, 0, 5.01, 0, 4.99, 0, 5, 0};
    contracts_classes k;

    check_status(contracts_classes_find(&k, NULL, points, 4, 2, NULL), 0);
    cr_assert_eq(k.count, 1);
    cr_assert_eq(k.sizes[0], 4);
    contracts_classes_fini(&k);
}
