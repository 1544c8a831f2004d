/* classes.h - equivalence classes: the places in a metric space around which
 * the points of a signature stay (paper 003, 6; figure 3).
 *
 * By density (DBSCAN): two points are neighbours if no metric of theirs differs
 * by more than the tolerance, that share of the larger one of both (or, near 0,
 * of a hundredth of its median size), nor by more than the grains of both: what
 * is counted comes in whole numbers; a point with
 * enough neighbours makes these one class with itself, and so on from each of
 * them. So the number of classes follows from the tolerance. Points that are in
 * no class are noise: what happened once is not what is expected.
 *
 * Threads:   any.
 * Ownership: find gives, fini takes back. */
#ifndef CONTRACTS_CLASSES_H
#define CONTRACTS_CLASSES_H

#include <stddef.h>
#include <stdint.h>

typedef struct contracts_classes {
    size_t count, metrics;
    double *centroids;  /* class by class, a value for each metric: the mean */
    double *deviations; /* the same: standard deviations */
    size_t *sizes;      /* points of each class, the largest class first */
    size_t noise;       /* points of none */
} contracts_classes;

typedef struct contracts_class_options {
    double tolerance; /* a share; 0: 0.1 */
    size_t least;     /* neighbours, itself among them, that make a class; 0: 3
                       */
    const double *grains; /* as points: two are alike, too, where they differ by
                             no more than either's; NULL: 0 */
} contracts_class_options;

/* `points`: point by point, a value for each of `metrics`, which are finite.
 * `classes` (may be NULL) gets the number of each point's class, SIZE_MAX for
 * noise. Errors: PASTSET_EINVAL, PASTSET_ENOMEM; then `out` is empty. */
int contracts_classes_find(contracts_classes *out, size_t *classes,
                           const double *points, size_t count, size_t metrics,
                           const contracts_class_options *options);
void contracts_classes_fini(contracts_classes *classes);

#endif
