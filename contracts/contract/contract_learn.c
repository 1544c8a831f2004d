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

/* Of a process, or of all. */
static int classes_learn(const learning *l, uint32_t process, const char *name,
                         contracts_kind kind)
{
    size_t size = l->c->sizes[kind], count = 0;
    double *points =
        malloc((l->signature->intervals * size + 1) * sizeof(*points));
    contracts_class_options options = {.tolerance = l->c->tolerance};
    contracts_classes found;
    int err;

    if (!points)
        return pastset_no_memory("for a contract");
    for (size_t i = 0; i < l->signature->intervals; i++)
        count += contracts_values_of(
            &points[count * size], l->c, kind,
            contracts_signature_at(l->signature, process, i));
    err = count ? contracts_classes_find(&found, NULL, points, count, size,
                                         &options)
                : 0;
    for (size_t i = 0; count && i < found.count && !err; i++)
        err = class_add(l, name, kind, &found, i);
    if (count)
        contracts_classes_fini(&found);
    free(points);
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
        for (int k = 0; k < CONTRACTS_KINDS && !err; k++)
            err =
                c->sizes[k] ? classes_learn(&l, p, name, (contracts_kind)k) : 0;
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
