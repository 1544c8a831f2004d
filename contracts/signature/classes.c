#include "contracts/signature/classes.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

#define TOLERANCE 0.1
#define LEAST 3
#define NONE SIZE_MAX

typedef struct search {
    const double *points, *grains;
    size_t count, metrics, least;
    double tolerance;
    double *small;   /* by metric: what is less counts as much as this */
    size_t sorted;   /* the metric that tells most points apart */
    size_t *order;   /* points, by that one */
    size_t *places;  /* by point: its place there */
    size_t *classes; /* by point */
    size_t *waiting; /* points of a class whose neighbours were not looked at */
    size_t *next;    /* by place: itself, or one behind it up to which all are
                        in classes */
} search;

/* --- neighbours --- */

static const double *point_at(const search *s, size_t i)
{
    return &s->points[i * s->metrics];
}

static double grain_of(const search *s, size_t i, size_t m)
{
    return s->grains ? s->grains[i * s->metrics + m] : 0;
}

static bool are_neighbours(const search *s, size_t i, size_t k)
{
    const double *a = point_at(s, i), *b = point_at(s, k);

    for (size_t m = 0; m < s->metrics; m++) {
        double size = fmax(fmax(fabs(a[m]), fabs(b[m])), s->small[m]);
        double grain = fmin(grain_of(s, i, m), grain_of(s, k, m));
        if (fabs(a[m] - b[m]) > fmax(s->tolerance * size, grain))
            return false;
    }
    return true;
}

/* How far from this value neighbours may be, on the side where it is more. */
static double reach_of(const search *s, double value)
{
    double small = s->tolerance * s->small[s->sorted];

    return s->tolerance < 1 ? fmax(s->tolerance / (1 - s->tolerance) *
                                       fabs(value) * (1 + 1e-12),
                                   small)
                            : (double)INFINITY;
}

/* The first place with at least this value, or with more. */
static size_t place_of(const search *s, double value, bool more)
{
    size_t low = 0, high = s->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        double at = point_at(s, s->order[middle])[s->sorted];
        if (at < value || (more && at == value))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Those that may be neighbours of a point by the sorted metric are from here
 * on;
 * `*until` gets their end. */
static size_t near(const search *s, size_t i, size_t *until)
{
    double value = point_at(s, i)[s->sorted];
    double reach = fmax(reach_of(s, value), grain_of(s, i, s->sorted));
    size_t from = place_of(s, value - reach, false);

    *until = place_of(s, value + reach, true);
    return from;
}

static bool is_dense(const search *s, size_t i)
{
    size_t until, at = near(s, i, &until), found = 0;

    for (; at < until && found < s->least; at++)
        found += are_neighbours(s, i, s->order[at]);
    return found >= s->least;
}

/* --- classes --- */

/* The first place from this one on whose point is in no class. */
static size_t free_from(search *s, size_t at)
{
    size_t found = at;

    while (s->next[found] != found)
        found = s->next[found];
    while (s->next[at] != found) {
        size_t next = s->next[at];
        s->next[at] = found;
        at = next;
    }
    return found;
}

static void class_take(search *s, size_t i, size_t class, size_t *waiting)
{
    s->classes[i] = class;
    s->next[s->places[i]] = s->places[i] + 1;
    s->waiting[(*waiting)++] = i;
}

static void class_grow(search *s, size_t i, size_t class)
{
    size_t waiting = 0;

    class_take(s, i, class, &waiting);
    while (waiting > 0) {
        size_t at, until, one = s->waiting[--waiting];
        if (!is_dense(s, one))
            continue;
        at = free_from(s, near(s, one, &until));
        for (; at < until; at = free_from(s, at + 1))
            if (are_neighbours(s, one, s->order[at]))
                class_take(s, s->order[at], class, &waiting);
    }
}

static size_t classes_grow(search *s)
{
    size_t count = 0;

    for (size_t i = 0; i < s->count; i++)
        s->classes[i] = NONE;
    for (size_t i = 0; i < s->count; i++)
        if (s->classes[i] == NONE && is_dense(s, i))
            class_grow(s, i, count++);
    return count;
}

/* --- what they are like --- */

/* The number of each class when the largest comes first. */
static void classes_order(search *s, size_t count, size_t *sizes)
{
    memset(sizes, 0, count * sizeof(*sizes));
    for (size_t i = 0; i < s->count; i++)
        if (s->classes[i] != NONE)
            sizes[s->classes[i]]++;
    for (size_t c = 0; c < count; c++) {
        size_t largest = c, size;
        for (size_t k = c + 1; k < count; k++)
            if (sizes[k] > sizes[largest])
                largest = k;
        size = sizes[largest];
        sizes[largest] = sizes[c];
        sizes[c] = size;
        for (size_t i = 0; i < s->count && largest != c; i++) {
            if (s->classes[i] == c)
                s->classes[i] = largest;
            else if (s->classes[i] == largest)
                s->classes[i] = c;
        }
    }
}

static void classes_sum(contracts_classes *out, const search *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->classes[i] == NONE) {
            out->noise++;
            continue;
        }
        for (size_t m = 0; m < s->metrics; m++)
            out->centroids[s->classes[i] * s->metrics + m] +=
                point_at(s, i)[m] / (double)out->sizes[s->classes[i]];
    }
    for (size_t i = 0; i < s->count; i++) {
        for (size_t m = 0; m < s->metrics && s->classes[i] != NONE; m++) {
            size_t at = s->classes[i] * s->metrics + m;
            double off = point_at(s, i)[m] - out->centroids[at];
            out->deviations[at] +=
                off * off / (double)out->sizes[s->classes[i]];
        }
    }
    for (size_t at = 0; at < out->count * out->metrics; at++)
        out->deviations[at] = sqrt(out->deviations[at]);
}

static int classes_make(contracts_classes *out, search *s)
{
    out->count = classes_grow(s);
    out->metrics = s->metrics;
    out->centroids = calloc(out->count * s->metrics + 1, sizeof(double));
    out->deviations = calloc(out->count * s->metrics + 1, sizeof(double));
    out->sizes = calloc(out->count + 1, sizeof(*out->sizes));
    if (!out->centroids || !out->deviations || !out->sizes)
        return pastset_no_memory("for classes");
    classes_order(s, out->count, out->sizes);
    classes_sum(out, s);
    return 0;
}

/* --- a search --- */

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int by_sorted(const void *a, const void *b, void *context)
{
    const search *s = context;
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    double x = point_at(s, i)[s->sorted], y = point_at(s, k)[s->sorted];

    return x != y ? (x > y) - (x < y) : (i > k) - (i < k);
}

#define SMALL                                                                  \
    0.01 /* of the median size, or of the mean one where that is 0             \
          */

static void small_find(search *s, size_t m, double *sizes)
{
    double mean = 0, typical;

    for (size_t i = 0; i < s->count; i++) {
        sizes[i] = fabs(point_at(s, i)[m]);
        mean += sizes[i] / (double)s->count;
    }
    qsort(sizes, s->count, sizeof(*sizes), by_number);
    typical = sizes[s->count / 2];
    s->small[m] = SMALL * (typical > 0 ? typical : mean);
}

/* How much of its values points are apart, at most. */
static double spread_of(const search *s, size_t m)
{
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < s->count; i++) {
        least = fmin(least, point_at(s, i)[m]);
        most = fmax(most, point_at(s, i)[m]);
    }
    return most > least ? (most - least) / fmax(fabs(most), fabs(least)) : 0;
}

static void sorted_find(search *s)
{
    double most = -1;

    for (size_t m = 0; m < s->metrics; m++) {
        double spread = spread_of(s, m);
        if (spread <= most)
            continue;
        most = spread;
        s->sorted = m;
    }
}

static int search_begin(search *s)
{
    double *sizes = malloc((s->count + 1) * sizeof(*sizes));

    s->small = calloc(s->metrics, sizeof(*s->small));
    s->order = malloc((s->count + 1) * sizeof(*s->order));
    s->places = malloc((s->count + 1) * sizeof(*s->places));
    s->classes = malloc((s->count + 1) * sizeof(*s->classes));
    s->waiting = malloc((s->count + 1) * sizeof(*s->waiting));
    s->next = malloc((s->count + 2) * sizeof(*s->next));
    if (!sizes || !s->small || !s->order || !s->places || !s->classes ||
        !s->waiting || !s->next) {
        free(sizes);
        return pastset_no_memory("for classes");
    }
    for (size_t m = 0; m < s->metrics && s->count > 0; m++)
        small_find(s, m, sizes);
    free(sizes);
    sorted_find(s);
    for (size_t i = 0; i < s->count; i++)
        s->order[i] = i;
    qsort_r(s->order, s->count, sizeof(*s->order), by_sorted, s);
    for (size_t i = 0; i < s->count; i++)
        s->places[s->order[i]] = i;
    for (size_t i = 0; i < s->count + 2; i++)
        s->next[i] = i;
    return 0;
}

static void search_end(search *s)
{
    free(s->small);
    free(s->order);
    free(s->places);
    free(s->classes);
    free(s->waiting);
    free(s->next);
}

int contracts_classes_find(contracts_classes *out, size_t *classes,
                           const double *points, size_t count, size_t metrics,
                           const contracts_class_options *options)
{
    double tolerance =
        options && options->tolerance != 0 ? options->tolerance : TOLERANCE;
    search s = {.points = points,
                .grains = options ? options->grains : NULL,
                .count = count,
                .metrics = metrics,
                .tolerance = tolerance};
    int err;

    memset(out, 0, sizeof(*out));
    s.least = options && options->least ? options->least : LEAST;
    if (!(tolerance > 0) || isinf(tolerance) || metrics == 0)
        return pastset_fail(PASTSET_EINVAL,
                            "classes need metrics, and a tolerance above 0");
    for (size_t i = 0; i < count * metrics; i++)
        if (!isfinite(points[i]) || (s.grains && !isfinite(s.grains[i])))
            return pastset_fail(PASTSET_EINVAL,
                                "a point of a signature is no number");
    err = search_begin(&s);
    if (!err)
        err = classes_make(out, &s);
    if (!err && classes)
        memcpy(classes, s.classes, count * sizeof(*classes));
    search_end(&s);
    if (err)
        contracts_classes_fini(out);
    return err;
}

void contracts_classes_fini(contracts_classes *classes)
{
    free(classes->centroids);
    free(classes->deviations);
    free(classes->sizes);
    memset(classes, 0, sizeof(*classes));
}
