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

static int usual_learn(const learning *l, uint32_t process)
{
    double sum[CONTRACTS_PARTS] = {0}, operations = 0;
    contracts_usual *usual;

    for (size_t i = 0; i < l->course->intervals; i++) {
        const double *q = contracts_course_at(l->course, process, i);
        double parts[CONTRACTS_PARTS];
        if (!contracts_parts_of(parts, q) || q[CONTRACTS_OPERATIONS] == 0)
            continue;
        operations += q[CONTRACTS_OPERATIONS];
        for (int k = 0; k < CONTRACTS_PARTS; k++)
            sum[k] += parts[k] * q[CONTRACTS_OPERATIONS];
    }
    if (operations == 0)
        return 0;
    usual = more((void **)&l->c->usual, &l->c->usual_count, sizeof(*usual));
    if (!usual || !(usual->process = strdup(l->names[process])))
        return pastset_no_memory("for a contract");
    for (int k = 0; k < CONTRACTS_PARTS; k++)
        usual->parts[k] = sum[k] / operations;
    return 0;
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
