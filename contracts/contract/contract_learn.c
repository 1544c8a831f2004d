/* contract_learn.c - what is expected, from runs that were as they should be.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contracts/contract/contract_internal.h"
#include "contracts/signature/classes.h"
#include "pastset/array.h"
#include "pastset/status.h"

typedef struct learning {
    contracts_contract *c;
    const contracts__examples *all;
    uint32_t process;  /* that is learnt from, by name; behind them: all, and
                          groups */
    uint32_t *members; /* of all, or of a group: by name */
    uint32_t member_count;
    bool *learnt[CONTRACTS_KINDS]; /* by name: it has classes of this kind */
} learning;

static bool is_process(const learning *l)
{
    return l->process < l->all->name_count;
}

/* NULL: all. */
static const char *name_of(const learning *l)
{
    return l->process == l->all->name_count
               ? NULL
               : contracts_row_name(l->c, l->all->names, l->all->name_count,
                                    l->process);
}

/* Which process that is in the run of this place; or CONTRACTS__ABSENT. */
static uint32_t number_at(const learning *l, const contracts__place *at)
{
    return contracts__examples_number(l->all, at->run, l->process);
}

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

static int class_add(const learning *l, contracts_kind kind,
                     const contracts_classes *found, size_t i)
{
    const char *name = name_of(l);
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

/* By place: in which class of a kind it is. */
typedef struct by_place {
    size_t *of[CONTRACTS_KINDS];
    size_t first[CONTRACTS_KINDS], count[CONTRACTS_KINDS]; /* in the contract */
} by_place;

/* As a check does it (checker.c): the mean of those that have classes of this
 * kind. False: it is not known of one of them. */
static bool mean_at(const learning *l, const contracts__place *at,
                    contracts_kind kind, size_t metric, double *value,
                    double *grain)
{
    const contracts_signature *from = at->example->signature;
    double values = 0, grains = 0, count = 0;

    for (uint32_t i = 0; i < l->member_count; i++) {
        uint32_t number =
            contracts__examples_number(l->all, at->run, l->members[i]);
        if (!l->learnt[kind][l->members[i]] || number == CONTRACTS__ABSENT)
            continue;
        values += contracts_signature_at(from, number, at->interval)[metric];
        grains +=
            contracts_signature_grains_at(from, number, at->interval)[metric];
        count++;
    }
    *value = values / count;
    *grain = grains / (count * count);
    return count > 0 && !isnan(values) && !isnan(grains);
}

static bool means_take(const learning *l, const contracts__place *at,
                       contracts_kind kind, double *points, double *grains)
{
    bool is_known = l->c->sizes[kind] > 0;

    for (size_t m = 0; m < l->c->sizes[kind] && is_known; m++)
        is_known = mean_at(l, at, kind, l->c->members[kind][m], &points[m],
                           &grains[m]);
    return is_known;
}

static bool process_take(const learning *l, const contracts__place *at,
                         contracts_kind kind, double *points, double *grains)
{
    const contracts_signature *from = at->example->signature;
    uint32_t number = number_at(l, at);

    return number != CONTRACTS__ABSENT &&
           contracts_values_of(
               points, l->c, kind,
               contracts_signature_at(from, number, at->interval)) &&
           contracts_values_of(
               grains, l->c, kind,
               contracts_signature_grains_at(from, number, at->interval));
}

/* The points of the intervals of which all is known, with their grains; what
 * `in` tells is which these are. Gives how many. */
static size_t points_take(const learning *l, contracts_kind kind,
                          double *points, double *grains, size_t *in)
{
    size_t size = l->c->sizes[kind], count = 0;

    for (size_t i = 0; i < l->all->place_count; i++)
        if ((is_process(l) ? process_take : means_take)(
                l, &l->all->places[i], kind, &points[count * size],
                &grains[count * size]))
            in[count++] = i;
    return count;
}

/* From the class of each point to that of each place. */
static void places_find(size_t *of, const size_t *points, const size_t *in,
                        size_t count, size_t places)
{
    for (size_t i = 0; i < places; i++)
        of[i] = NO_CLASS;
    for (size_t i = 0; i < count; i++)
        of[in[i]] = points[i];
}

static int classes_learn(const learning *l, contracts_kind kind, by_place *by)
{
    size_t size = l->c->sizes[kind], places = l->all->place_count, count;
    double *points = malloc((places * size + 1) * sizeof(*points));
    double *grains = malloc((places * size + 1) * sizeof(*grains));
    size_t *of = calloc(2 * places + 1, sizeof(*of)), *in = of + places;
    /* Phases of a program are told apart as far as they can be: the check alone
     * allows for an operation more in what it does. */
    contracts_class_options options = {
        .tolerance = l->c->tolerance,
        .grains = kind == CONTRACTS_PERFORMANCE ? grains : NULL};
    contracts_classes found = {0};
    int err = points && grains && of ? 0 : pastset_no_memory("for a contract");

    count = err ? 0 : points_take(l, kind, points, grains, in);
    if (count)
        err = contracts_classes_find(&found, of, points, count, size, &options);
    by->first[kind] = l->c->class_count;
    for (size_t i = 0; i < found.count && !err; i++)
        err = class_add(l, kind, &found, i);
    by->count[kind] = l->c->class_count - by->first[kind];
    if (is_process(l))
        l->learnt[kind][l->process] = by->count[kind] > 0;
    if (!err)
        places_find(by->of[kind], of, in, count, places);
    contracts_classes_fini(&found);
    free(of);
    free(points);
    free(grains);
    return err;
}

/* An interval in which nothing ends is of what ends next, as in a check. */
static void ahead_find(const learning *l, size_t *of)
{
    for (size_t i = 0; i < l->all->place_count; i++) {
        const contracts__place *at = &l->all->places[i];
        uint32_t number = number_at(l, at);
        size_t next = number == CONTRACTS__ABSENT
                          ? CONTRACTS_NEVER
                          : contracts_course_ends_next(at->example->course,
                                                       number, at->interval);
        if (next != CONTRACTS_NEVER)
            of[i] = of[i + next - at->interval];
    }
}

#define OFTEN 3 /* intervals: once may be by chance */

/* With which intrinsic classes this one of performance was seen. */
static int with_learn(const learning *l, const by_place *by, size_t number)
{
    contracts_class *class =
        &l->c->classes[by->first[CONTRACTS_PERFORMANCE] + number];

    class->has_with = true;
    for (size_t k = 0; k < by->count[CONTRACTS_INTRINSIC]; k++) {
        size_t seen = 0, *more;
        for (size_t i = 0; i < l->all->place_count; i++)
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

static int kinds_learn(const learning *l)
{
    size_t *of = calloc(CONTRACTS_KINDS * l->all->place_count + 1, sizeof(*of));
    by_place by = {.of = {of, of + l->all->place_count}};
    int err = of ? 0 : pastset_no_memory("for a contract");

    for (int k = 0; k < CONTRACTS_KINDS && !err; k++)
        if (l->c->sizes[k])
            err = classes_learn(l, (contracts_kind)k, &by);
    if (is_process(l) && by.count[CONTRACTS_INTRINSIC] && !err)
        ahead_find(l, by.of[CONTRACTS_INTRINSIC]);
    for (size_t i = 0; i < by.count[CONTRACTS_PERFORMANCE] && !err &&
                       by.count[CONTRACTS_INTRINSIC];
         i++)
        err = with_learn(l, &by, i);
    free(of);
    return err;
}

/* --- what is usual --- */

/* What an operation took there; false: the interval is left out. */
static bool parts_at(const learning *l, const contracts__place *at,
                     double *operations, double parts[CONTRACTS_PARTS])
{
    uint32_t number = number_at(l, at);
    const double *q;

    if (number == CONTRACTS__ABSENT)
        return false;
    q = contracts_course_at(at->example->course, number, at->interval);
    *operations = q[CONTRACTS_OPERATIONS];
    return contracts_parts_of(parts, q) && *operations > 0;
}

/* Seconds, by other process. */
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
    if (!peer || !(peer->name = strdup(l->all->names[other])))
        return pastset_no_memory("for a contract");
    peer->waiting = waiting;
    peer->transfer = transfer;
    return 0;
}

static void others_sum(const learning *l, const contracts__place *at,
                       with_others *sum)
{
    const uint32_t *called = &l->all->called[l->all->first[at->run]];
    size_t count;
    const contracts_between *with = contracts_course_betweens(
        at->example->course, number_at(l, at), at->interval, &count);

    for (size_t k = 0; k < count; k++) {
        sum->waiting[called[with[k].other]] += with[k].waiting;
        sum->transfer[called[with[k].other]] += with[k].transfer;
    }
}

static int peers_learn(const learning *l, double operations,
                       contracts_usual *usual, with_others *sum)
{
    int err = 0;

    for (size_t i = 0; i < l->all->place_count; i++) {
        double parts[CONTRACTS_PARTS], here;
        if (parts_at(l, &l->all->places[i], &here, parts))
            others_sum(l, &l->all->places[i], sum);
    }
    for (uint32_t p = 0; p < l->all->name_count && !err; p++)
        err = peer_add(l, usual, p, sum->waiting[p] / operations,
                       sum->transfer[p] / operations);
    return err;
}

static int usual_add(const learning *l, const double sum[CONTRACTS_PARTS],
                     double operations)
{
    contracts_usual *usual =
        more((void **)&l->c->usual, &l->c->usual_count, sizeof(*usual));
    with_others others = {
        calloc((size_t)l->all->name_count + 1, sizeof(double)),
        calloc((size_t)l->all->name_count + 1, sizeof(double))};
    int err = 0;

    if (!usual || !(usual->process = strdup(name_of(l))) || !others.waiting ||
        !others.transfer)
        err = pastset_no_memory("for a contract");
    for (int k = 0; k < CONTRACTS_PARTS && !err; k++)
        usual->parts[k] = sum[k] / operations;
    if (!err)
        err = peers_learn(l, operations, usual, &others);
    free(others.waiting);
    free(others.transfer);
    return err;
}

static int usual_learn(const learning *l)
{
    double sum[CONTRACTS_PARTS] = {0}, all = 0;

    for (size_t i = 0; i < l->all->place_count; i++) {
        double parts[CONTRACTS_PARTS], operations;
        if (!parts_at(l, &l->all->places[i], &operations, parts))
            continue;
        all += operations;
        for (int k = 0; k < CONTRACTS_PARTS; k++)
            sum[k] += parts[k] * operations;
    }
    return all > 0 ? usual_add(l, sum, all) : 0;
}

/* --- all of it --- */

static int names_check(const learning *l)
{
    for (uint32_t p = 0; p < l->all->name_count; p++)
        if (strpbrk(l->all->names[p], "\"\n"))
            return pastset_fail(PASTSET_EINVAL,
                                "the name of the process %s cannot be written "
                                "into a contract",
                                l->all->names[p]);
    return 0;
}

/* Whose mean is learnt from: of all, or of a group. */
static int members_find(learning *l)
{
    uint32_t count = l->all->name_count;

    free(l->members);
    if (l->process > count) {
        l->members =
            contracts_group_members(&l->c->groups[l->process - count - 1],
                                    l->all->names, count, &l->member_count);
        return l->members ? 0 : PASTSET_ENOMEM;
    }
    l->members = malloc(((size_t)count + 1) * sizeof(*l->members));
    if (!l->members)
        return pastset_no_memory("for a contract");
    for (l->member_count = 0; l->member_count < count; l->member_count++)
        l->members[l->member_count] = l->member_count;
    return 0;
}

static int all_learn(learning *l)
{
    uint32_t count = l->all->name_count;
    int err = names_check(l);

    if (!err)
        err = contracts_groups_check(l->c, l->all->names, count);
    for (int k = 0; k < CONTRACTS_KINDS && !err; k++) {
        l->learnt[k] = calloc((size_t)count + 1, sizeof(**l->learnt));
        if (!l->learnt[k])
            err = pastset_no_memory("for a contract");
    }
    for (; l->process <= count + l->c->group_count && !err; l->process++) {
        err = is_process(l) ? 0 : members_find(l);
        if (!err)
            err = kinds_learn(l);
        if (!err && is_process(l))
            err = usual_learn(l);
    }
    for (int k = 0; k < CONTRACTS_KINDS; k++)
        free(l->learnt[k]);
    free(l->members);
    return err;
}

int contracts_contract_learn(contracts_contract *c,
                             const contracts_example *runs, size_t count)
{
    contracts__examples all;
    learning l = {.c = c, .all = &all};
    int err = contracts__examples_create(&all, runs, count);

    contracts__contract_forget(c);
    if (!err)
        err = all_learn(&l);
    contracts__examples_fini(&all);
    if (!err && c->class_count == 0)
        err = pastset_fail(PASTSET_EINVAL,
                           "in no three intervals of %g s a process was alike "
                           "within the tolerance of %g: take other intervals, "
                           "a longer run or a larger tolerance",
                           c->interval_s, c->tolerance);
    return err;
}
