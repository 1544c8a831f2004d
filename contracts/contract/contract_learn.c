/* contract_learn.c - what is expected, from a run that was as it should be. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contracts/contract/contract_internal.h"
#include "contracts/signature/classes.h"
#include "pastset/array.h"
#include "pastset/status.h"

typedef struct learning {
    contracts_contract *c;
    const contracts_course *course;
    const contracts_signature *signature;
    const char *const *names;
} learning;

static void *more(void **items, size_t *count, size_t bytes)
{
    void *grown = pastset_array_grow(*items, *count, bytes);

    if (!grown)
        return NULL;
    *items = grown;
    return memset((char *)grown + bytes * (*count)++, 0, bytes);
}

static double *copy(const double *numbers, size_t count)
{
    double *out = malloc((count + 1) * sizeof(*out));

    return out ? memcpy(out, numbers, count * sizeof(*out)) : NULL;
}

/* --- classes --- */

static int class_add(const learning *l, const char *name, contracts_kind kind,
                     const contracts_classes *found, size_t i)
{
    contracts_class *new =
        more((void **)&l->c->classes, &l->c->class_count, sizeof(*new));
    size_t count = found->metrics;

    if (!new)
        return pastset_no_memory("for a contract");
    new->kind = kind;
    new->seen = found->sizes[i];
    new->process = name ? strdup(name) : NULL;
    new->centroid = copy(&found->centroids[i * count], count);
    new->deviation = copy(&found->deviations[i * count], count);
    return (new->process || !name) && new->centroid &&new->deviation
               ? 0
               : pastset_no_memory("for a contract");
}

#define NO_CLASS SIZE_MAX /* or nothing is known */

/* By interval: in which class of a kind it is. */
typedef struct by_interval {
    size_t *of[CONTRACTS_KINDS];
    size_t first[CONTRACTS_KINDS], count[CONTRACTS_KINDS]; /* in the contract */
} by_interval;

/* The points of the intervals of which all is known; what `in` tells is which
 * these are. Gives how many. */
static size_t points_take(const learning *l, uint32_t process,
                          contracts_kind kind, double *points, size_t *in)
{
    size_t size = l->c->sizes[kind], count = 0;

    for (size_t i = 0; i < l->signature->intervals; i++)
        if (contracts_values_of(
                &points[count * size], l->c, kind,
                contracts_signature_at(l->signature, process, i)))
            in[count++] = i;
    return count;
}

/* From the class of each point to that of each interval. */
static void intervals_find(size_t *of, const size_t *points, const size_t *in,
                           size_t count, size_t intervals)
{
    for (size_t i = 0; i < intervals; i++)
        of[i] = NO_CLASS;
    for (size_t i = 0; i < count; i++)
        of[in[i]] = points[i];
}

/* Of a process, or of all. */
static int classes_learn(const learning *l, uint32_t process, const char *name,
                         contracts_kind kind, by_interval *by)
{
    size_t size = l->c->sizes[kind], intervals = l->signature->intervals, count;
    double *points = malloc((intervals * size + 1) * sizeof(*points));
    size_t *of = calloc(2 * intervals + 1, sizeof(*of)), *in = of + intervals;
    contracts_class_options options = {.tolerance = l->c->tolerance};
    contracts_classes found = {0};
    int err = points && of ? 0 : pastset_no_memory("for a contract");

    count = err ? 0 : points_take(l, process, kind, points, in);
    if (count)
        err = contracts_classes_find(&found, of, points, count, size, &options);
    by->first[kind] = l->c->class_count;
    for (size_t i = 0; i < found.count && !err; i++)
        err = class_add(l, name, kind, &found, i);
    by->count[kind] = l->c->class_count - by->first[kind];
    if (!err)
        intervals_find(by->of[kind], of, in, count, intervals);
    contracts_classes_fini(&found);
    free(of);
    free(points);
    return err;
}

/* An interval in which nothing ends is of what ends next, as in a check. */
static void ahead_find(const learning *l, uint32_t process, size_t *of)
{
    for (size_t i = 0; i < l->signature->intervals; i++) {
        size_t next = contracts_course_ends_next(l->course, process, i);
        if (next != CONTRACTS_NEVER)
            of[i] = of[next];
    }
}

#define OFTEN 3 /* intervals: once may be by chance */

/* With which intrinsic classes this one of performance was seen. */
static int with_learn(const learning *l, const by_interval *by, size_t number)
{
    contracts_class *class =
        &l->c->classes[by->first[CONTRACTS_PERFORMANCE] + number];

    class->has_with = true;
    for (size_t k = 0; k < by->count[CONTRACTS_INTRINSIC]; k++) {
        size_t seen = 0, *more;
        for (size_t i = 0; i < l->signature->intervals; i++)
            seen += by->of[CONTRACTS_PERFORMANCE][i] == number &&
                    by->of[CONTRACTS_INTRINSIC][i] == k;
        if (seen < OFTEN)
            continue;
        more =
            pastset_array_grow(class->with, class->with_count, sizeof(*more));
        if (!more)
            return pastset_no_memory("for a contract");
        class->with = more;
        more[class->with_count++] = k + 1;
    }
    return 0;
}

/* Of a process, or of all. */
static int kinds_learn(const learning *l, uint32_t process, const char *name)
{
    size_t intervals = l->signature->intervals;
    size_t *of = calloc(CONTRACTS_KINDS * intervals + 1, sizeof(*of));
    by_interval by = {.of = {of, of + intervals}};
    int err = of ? 0 : pastset_no_memory("for a contract");

    for (int k = 0; k < CONTRACTS_KINDS && !err; k++)
        if (l->c->sizes[k])
            err = classes_learn(l, process, name, (contracts_kind)k, &by);
    if (name && by.count[CONTRACTS_INTRINSIC] && !err)
        ahead_find(l, process, by.of[CONTRACTS_INTRINSIC]);
    for (size_t i = 0; i < by.count[CONTRACTS_PERFORMANCE] && !err &&
                       by.count[CONTRACTS_INTRINSIC];
         i++)
        err = with_learn(l, &by, i);
    free(of);
    return err;
}

/* --- what is usual --- */

/* Of these intervals: others of them are left out. */
static bool is_usable(const learning *l, uint32_t process, size_t interval,
                      double parts[CONTRACTS_PARTS])
{
    const double *q = contracts_course_at(l->course, process, interval);

    return contracts_parts_of(parts, q) && q[CONTRACTS_OPERATIONS] > 0;
}

/* Seconds, by process. */
typedef struct with_others {
    double *waiting, *transfer;
} with_others;

#define LITTLE 0.01 /* of an operation: not worth a line, of so many ranks */

static int peer_add(const learning *l, contracts_usual *usual, uint32_t other,
                    double waiting, double transfer)
{
    double operation = 0;
    contracts_peer *peer;

    for (int k = 0; k < CONTRACTS_PARTS; k++)
        operation += isnan(usual->parts[k]) ? 0 : usual->parts[k];
    if (waiting + transfer <= LITTLE * operation)
        return 0;
    peer = more((void **)&usual->peers, &usual->peer_count, sizeof(*peer));
    if (!peer || !(peer->name = strdup(l->names[other])))
        return pastset_no_memory("for a contract");
    peer->waiting = waiting;
    peer->transfer = transfer;
    return 0;
}

static int peers_learn(const learning *l, uint32_t process, double operations,
                       contracts_usual *usual, with_others *sum)
{
    int err = 0;

    for (size_t i = 0; i < l->course->intervals; i++) {
        double parts[CONTRACTS_PARTS];
        size_t count;
        const contracts_between *with =
            contracts_course_betweens(l->course, process, i, &count);
        if (!is_usable(l, process, i, parts))
            continue;
        for (size_t k = 0; k < count; k++) {
            sum->waiting[with[k].other] += with[k].waiting;
            sum->transfer[with[k].other] += with[k].transfer;
        }
    }
    for (uint32_t p = 0; p < l->course->processes && !err; p++)
        err = peer_add(l, usual, p, sum->waiting[p] / operations,
                       sum->transfer[p] / operations);
    return err;
}

static int usual_add(const learning *l, uint32_t process,
                     const double sum[CONTRACTS_PARTS], double operations)
{
    contracts_usual *usual =
        more((void **)&l->c->usual, &l->c->usual_count, sizeof(*usual));
    with_others others = {
        calloc((size_t)l->course->processes + 1, sizeof(double)),
        calloc((size_t)l->course->processes + 1, sizeof(double))};
    int err = 0;

    if (!usual || !(usual->process = strdup(l->names[process])) ||
        !others.waiting || !others.transfer)
        err = pastset_no_memory("for a contract");
    for (int k = 0; k < CONTRACTS_PARTS && !err; k++)
        usual->parts[k] = sum[k] / operations;
    if (!err)
        err = peers_learn(l, process, operations, usual, &others);
    free(others.waiting);
    free(others.transfer);
    return err;
}

static int usual_learn(const learning *l, uint32_t process)
{
    double sum[CONTRACTS_PARTS] = {0}, operations = 0;

    for (size_t i = 0; i < l->course->intervals; i++) {
        const double *q = contracts_course_at(l->course, process, i);
        double parts[CONTRACTS_PARTS];
        if (!is_usable(l, process, i, parts))
            continue;
        operations += q[CONTRACTS_OPERATIONS];
        for (int k = 0; k < CONTRACTS_PARTS; k++)
            sum[k] += parts[k] * q[CONTRACTS_OPERATIONS];
    }
    return operations > 0 ? usual_add(l, process, sum, operations) : 0;
}

int contracts_contract_learn(contracts_contract *c,
                             const contracts_course *course,
                             const contracts_signature *signature,
                             const char *const *names)
{
    learning l = {c, course, signature, names};
    int err = 0;

    contracts__contract_forget(c);
    for (uint32_t p = 0; p <= course->processes && !err; p++) {
        const char *name = p < course->processes ? names[p] : NULL;
        if (name && strpbrk(name, "\"\n"))
            return pastset_fail(PASTSET_EINVAL,
                                "the name of the process %s cannot be written "
                                "into a contract",
                                name);
        err = kinds_learn(&l, p, name);
        if (!err && name)
            err = usual_learn(&l, p);
    }
    if (!err && c->class_count == 0)
        err = pastset_fail(PASTSET_EINVAL,
                           "in no three intervals of %g s a process was alike "
                           "within the tolerance of %g: take other intervals, "
                           "a longer run or a larger tolerance",
                           c->interval_s, c->tolerance);
    return err;
}
