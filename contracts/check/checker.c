/* checker.c - distances, levels and violations; verdict.c says whose fault it
 * is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contracts/check/checker_internal.h"
#include "pastset/status.h"

#define UNITS 3.0 /* of a tolerance, or of a deviation */

/* --- distances --- */

/* A rate is kept where it is more than promised; unless it is less than what is
 * promised elsewhere: then it may be that which has become slower. */
static bool is_better(const checked *p, contracts_kind kind, size_t metric,
                      double value, double expected)
{
    return kind == CONTRACTS_PERFORMANCE && value > expected &&
           (value >= p->highest[metric] || expected >= p->highest[metric]);
}

/* Of one metric, in units. What an operation more or less makes of an interval
 * with few of them is none of what a program is like. */
static double off_by(const checked *p, const contracts_contract *c,
                     const contracts_class *class, size_t i, double value,
                     double *expected)
{
    size_t metric = c->members[class->kind][i];
    double factor = p->factors[metric], unit, off;

    *expected = factor * class->centroid[i];
    if (is_better(p, class->kind, metric, value, *expected))
        return 0;
    unit = fmax(factor * class->deviation[i],
                c->tolerance / UNITS * fabs(*expected));
    if (class->kind == CONTRACTS_INTRINSIC && p->operations > 0)
        unit = fmax(unit, fabs(*expected) / p->operations);
    if (class->kind == CONTRACTS_PERFORMANCE)
        unit = fmax(unit, p->grains[metric]);
    off = fabs(*expected - value);
    return off == 0 ? 0 : off / unit; /* INFINITY where it must not differ */
}

static contracts_level off_class(const checked *p, const contracts_contract *c,
                                 const contracts_class *class,
                                 const double *values)
{
    contracts_level out = {.distance = -1};

    for (size_t i = 0; i < c->sizes[class->kind]; i++) {
        double expected;
        double off = off_by(p, c, class, i, values[i], &expected);
        if (off <= out.distance)
            continue;
        out.distance = off;
        out.metric = (uint32_t)c->members[class->kind][i];
        out.value = values[i];
        out.expected = expected;
    }
    return out;
}

static void nothing_known(contracts_level *level)
{
    *level = (contracts_level){(double)NAN, (double)NAN, CONTRACTS_NONE,
                               (double)NAN, (double)NAN, false};
}

static const contracts_class *class_of(const contracts_checker *k,
                                       const checked *p, contracts_kind kind,
                                       size_t i)
{
    return &k->contract->classes[p->classes[kind][i]];
}

/* Is it promised with what the program does in this interval? */
static bool is_promised(const checked *p, const contracts_class *class)
{
    for (size_t i = 0; i < class->with_count; i++)
        if (class->with[i] == p->does)
            return true;
    return !class->has_with || p->does == 0;
}

/* The level by the nearest of the classes that are promised; `*nearest` is its
 * number, from 1, or 0. */
static int level_among(contracts_checker *k, const checked *p,
                       contracts_kind kind, contracts_level *out,
                       size_t *nearest)
{
    const contracts_contract *c = k->contract;
    double given[CONTRACTS_METRICS_MAX];
    int err;

    *nearest = 0;
    nothing_known(out);
    if (!contracts_values_of(given, c, kind, p->values))
        return 0;
    for (size_t i = 0; i < p->class_count[kind]; i++) {
        const contracts_class *class = class_of(k, p, kind, i);
        contracts_level one;
        if (!is_promised(p, class))
            continue;
        one = off_class(p, c, class, given);
        if (*nearest && one.distance >= out->distance)
            continue;
        *out = one;
        *nearest = i + 1;
    }
    if (!*nearest)
        return 0;
    k->variables[c->distance] = fmin(out->distance, 1e9);
    err = contracts_rules_infer(c->rules, k->variables);
    out->level = k->variables[c->conclusion];
    return err;
}

/* What is promised at most with what the program does. */
static void highest_find(const contracts_checker *k, checked *p)
{
    const contracts_contract *c = k->contract;

    for (size_t m = 0; m < k->metric_count; m++)
        p->highest[m] = -INFINITY;
    for (size_t i = 0; i < p->class_count[CONTRACTS_PERFORMANCE]; i++) {
        const contracts_class *class = class_of(k, p, CONTRACTS_PERFORMANCE, i);
        if (!is_promised(p, class))
            continue;
        for (size_t m = 0; m < c->sizes[CONTRACTS_PERFORMANCE]; m++) {
            size_t metric = c->members[CONTRACTS_PERFORMANCE][m];
            p->highest[metric] = fmax(p->highest[metric],
                                      p->factors[metric] * class->centroid[m]);
        }
    }
}

/* First what it does, and then how fast it should do that: that is not known
 * where the contract knows what it does, but no rate that goes with it. */
static int level_find(contracts_checker *k, checked *p, contracts_kind kind,
                      contracts_level *out)
{
    size_t nearest;
    int err;

    if (kind == CONTRACTS_INTRINSIC) {
        err = level_among(k, p, kind, out, &nearest);
        p->does = out->level < CONTRACTS_VIOLATED_LEVEL ? nearest : 0;
        return err;
    }
    highest_find(k, p);
    return level_among(k, p, kind, out, &nearest);
}

/* What is not known neither violates nor ends a violation. */
static void violation_find(const contracts_checker *k, checked *p,
                           contracts_kind kind, contracts_level *level)
{
    if (!isnan(level->level))
        p->in_a_row[kind] = level->level >= CONTRACTS_VIOLATED_LEVEL
                                ? p->in_a_row[kind] + 1
                                : 0;
    level->is_violated =
        !isnan(level->level) && p->in_a_row[kind] >= k->contract->violated;
}

/* What a process does in an interval in which nothing ends: what ends next. */
static int does_ahead(contracts_checker *k, uint32_t process,
                      const contracts_course *course, size_t interval)
{
    checked ahead = k->processes[process];
    size_t next = contracts_course_ends_next(course, process, interval);
    contracts_level level;
    const double *quantities;
    int err;

    if (next == CONTRACTS_NEVER || next == interval)
        return 0;
    quantities = contracts_course_at(course, process, next);
    ahead.operations = quantities[CONTRACTS_OPERATIONS];
    ahead.values = k->ahead;
    err = contracts_metric_state_copy(&ahead.state, k->contract->metrics,
                                      k->processes[process].state);
    if (err)
        return err;
    contracts_metrics_next(k->contract->metrics, ahead.state, quantities,
                           ahead.values);
    err = level_find(k, &ahead, CONTRACTS_INTRINSIC, &level);
    k->processes[process].does = ahead.does;
    contracts_metric_state_destroy(ahead.state);
    return err;
}

static int judge(contracts_checker *k, uint32_t process,
                 const contracts_course *course, size_t interval)
{
    checked *p = &k->processes[process];
    int err = 0;

    for (int kind = 0; kind < CONTRACTS_KINDS && !err; kind++) {
        contracts_level *level = &k->judgements[process].levels[kind];
        err = level_find(k, p, (contracts_kind)kind, level);
        if (!err && kind == CONTRACTS_INTRINSIC && process < k->process_count)
            err = does_ahead(k, process, course, interval);
        violation_find(k, p, (contracts_kind)kind, level);
    }
    return err;
}

/* --- an interval --- */

static bool has_classes(const checked *p)
{
    return p->class_count[CONTRACTS_INTRINSIC] ||
           p->class_count[CONTRACTS_PERFORMANCE];
}

/* Of those that have classes of a metric's kind, each as where it is not
 * projected. */
static void mean_find(const contracts_checker *k, checked *all)
{
    const contracts_metrics *metrics = k->contract->metrics;

    all->operations = 0;
    for (uint32_t i = 0; i < all->member_count; i++)
        all->operations += k->processes[all->members[i]].operations;
    for (size_t m = 0; m < k->metric_count; m++) {
        contracts_kind kind = contracts_metric_is_intrinsic(metrics, m)
                                  ? CONTRACTS_INTRINSIC
                                  : CONTRACTS_PERFORMANCE;
        double sum = 0, grains = 0, count = 0;
        for (uint32_t i = 0; i < all->member_count; i++) {
            const checked *p = &k->processes[all->members[i]];
            if (!p->class_count[kind])
                continue;
            sum += p->values[m] / p->factors[m];
            grains += p->grains[m] / p->factors[m];
            count++;
        }
        all->values[m] = count > 0 ? sum / count : (double)NAN;
        all->grains[m] = count > 0 ? grains / (count * count) : 0;
    }
}

static int interval_take(contracts_checker *k, uint32_t process,
                         const contracts_course *course, size_t interval)
{
    const contracts_metrics *metrics = k->contract->metrics;
    const double *quantities = contracts_course_at(course, process, interval);
    checked *p = &k->processes[process];
    double *more = realloc(k->more, course->width * sizeof(*more));

    if (!more)
        return pastset_no_memory("for a contract");
    k->more = more;
    p->operations = quantities[CONTRACTS_OPERATIONS];
    contracts_course_one_more(more, course, process, interval);
    contracts_metrics_instead(metrics, p->state, more, p->grains);
    contracts_metrics_next(metrics, p->state, quantities, p->values);
    for (size_t m = 0; m < k->metric_count; m++)
        p->grains[m] = fabs(p->grains[m] - p->values[m]);
    return 0;
}

int contracts_checker_next(contracts_checker *k,
                           const contracts_judgement **out,
                           const contracts_course *course, size_t interval)
{
    int err = 0;

    for (uint32_t i = 0; i < k->process_count && !err; i++)
        err = interval_take(k, i, course, interval);
    for (uint32_t row = k->process_count; row < k->rows; row++)
        mean_find(k, &k->processes[row]);
    for (uint32_t row = 0; row < k->rows && !err; row++)
        err = judge(k, row, course, interval);
    if (!err)
        contracts__verdicts(k, course, interval);
    *out = k->judgements;
    return err;
}

static bool are_same(const contracts_metrics *a, const contracts_metrics *b)
{
    size_t count = contracts_metrics_count(a);

    if (contracts_metrics_count(b) != count)
        return false;
    for (size_t m = 0; m < count; m++)
        if (strcmp(contracts_metric_name(a, m), contracts_metric_name(b, m)) ||
            strcmp(contracts_metric_text(a, m), contracts_metric_text(b, m)))
            return false;
    return true;
}

/* Groups may be others, and have another order. */
static checked *row_of(const contracts_checker *k, uint32_t row,
                       const char *name)
{
    if (row <= k->process_count)
        return &k->processes[row];
    for (row = k->process_count + 1; row < k->rows; row++)
        if (strcmp(k->processes[row].name, name) == 0)
            return &k->processes[row];
    return NULL;
}

void contracts_checker_continue(contracts_checker *k, contracts_checker *before)
{
    bool is_same = are_same(k->contract->metrics, before->contract->metrics);

    for (uint32_t row = 0; row < k->rows; row++) {
        checked *p = &k->processes[row];
        checked *was = row_of(before, row, p->name);
        if (!was)
            continue;
        memcpy(p->in_a_row, was->in_a_row, sizeof(p->in_a_row));
        p->ready = was->ready;
        p->needs = was->needs;
        if (is_same && row < k->process_count) {
            contracts_metric_state *state = p->state;
            p->state = was->state;
            was->state = state;
        }
    }
}

uint32_t contracts_checker_rows(const contracts_checker *k)
{
    return k->rows;
}

const char *contracts_checker_name(const contracts_checker *k, uint32_t row)
{
    return row == k->process_count ? "all" : k->processes[row].name;
}

bool contracts_checker_knows(const contracts_checker *k, uint32_t row)
{
    const checked *p = &k->processes[row];

    for (uint32_t i = 0; i < p->member_count; i++)
        if (has_classes(&k->processes[p->members[i]]))
            return has_classes(p);
    return row < k->process_count && has_classes(p);
}

/* --- all of it --- */

static int classes_find(contracts_checker *k, checked *p)
{
    const contracts_contract *c = k->contract;

    for (int kind = 0; kind < CONTRACTS_KINDS; kind++) {
        p->classes[kind] = calloc(c->class_count + 1, sizeof(uint32_t));
        if (!p->classes[kind])
            return pastset_no_memory("for a contract");
        for (size_t i = 0; i < c->class_count; i++)
            if (c->classes[i].kind == (contracts_kind)kind &&
                contracts_class_is_of(&c->classes[i], p->name))
                p->classes[kind][p->class_count[kind]++] = (uint32_t)i;
    }
    return 0;
}

/* How many times as long its operations are expected to take as in the run that
 * the contract is from. */
static double slower_of(const contracts_contract *c, const char *process)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < c->projection_count && process; i++) {
        if (strcmp(c->projections[i].process, process) != 0)
            continue;
        sum += c->projections[i].factor;
        count++;
    }
    return count ? (double)count / sum : 1;
}

static void peers_find(checked *p, const char *const *names, uint32_t count)
{
    for (size_t i = 0; p->usual && i < p->usual->peer_count; i++) {
        const contracts_peer *peer = &p->usual->peers[i];
        for (uint32_t other = 0; other < count; other++) {
            if (strcmp(names[other], peer->name) != 0)
                continue;
            p->waiting[other] = peer->waiting;
            p->transfer[other] = peer->transfer;
        }
    }
}

/* Of all (NULL), or of a group. */
static int members_find(const contracts_checker *k, checked *p,
                        const contracts_group *group, const char *const *names)
{
    if (group) {
        p->members = contracts_group_members(group, names, k->process_count,
                                             &p->member_count);
        return p->members ? 0 : PASTSET_ENOMEM;
    }
    p->members = malloc(((size_t)k->process_count + 1) * sizeof(*p->members));
    if (!p->members)
        return pastset_no_memory("for a contract");
    for (uint32_t i = 0; i < k->process_count; i++)
        p->members[p->member_count++] = i;
    return 0;
}

static int row_create(contracts_checker *k, uint32_t row,
                      const char *const *names)
{
    const contracts_contract *c = k->contract;
    bool is_process = row < k->process_count;
    uint32_t group = row - k->process_count - 1;
    const char *name = row == k->process_count ? NULL
                       : is_process            ? names[row]
                                               : c->groups[group].name;
    size_t others = is_process ? k->process_count : 0;
    checked *p = &k->processes[row];
    int err;

    p->name = name ? strdup(name) : NULL;
    if (name && !p->name)
        return pastset_no_memory("for a contract");
    p->waiting = calloc(others + 1, sizeof(*p->waiting));
    p->transfer = calloc(others + 1, sizeof(*p->transfer));
    p->values = calloc(k->metric_count + 1, sizeof(*p->values));
    p->grains = calloc(k->metric_count + 1, sizeof(*p->grains));
    p->factors = calloc(k->metric_count + 1, sizeof(*p->factors));
    p->highest = calloc(k->metric_count + 1, sizeof(*p->highest));
    if (!p->values || !p->grains || !p->factors || !p->highest || !p->waiting ||
        !p->transfer)
        return pastset_no_memory("for a contract");
    for (size_t m = 0; m < k->metric_count; m++)
        p->factors[m] = contracts_factor_of(c, name, m);
    p->slower = slower_of(c, name);
    for (size_t i = 0; i < c->usual_count && is_process; i++)
        if (strcmp(c->usual[i].process, name) == 0)
            p->usual = &c->usual[i];
    peers_find(p, names, k->process_count);
    err = classes_find(k, p);
    if (!err && !is_process)
        err = members_find(k, p, name ? &c->groups[group] : NULL, names);
    return err ? err : contracts_metric_state_create(&p->state, c->metrics);
}

static bool is_for_any(const contracts_checker *k)
{
    for (uint32_t p = 0; p < k->process_count; p++)
        if (has_classes(&k->processes[p]))
            return true;
    return false;
}

int contracts_checker_create(contracts_checker **out,
                             const contracts_contract *contract,
                             const char *const *names, uint32_t processes)
{
    contracts_checker *k = calloc(1, sizeof(*k));
    int err = 0;

    *out = NULL;
    if (!k)
        return pastset_no_memory("for a contract");
    k->contract = contract;
    k->metric_count = contracts_metrics_count(contract->metrics);
    k->process_count = processes;
    k->rows = processes + 1 + (uint32_t)contract->group_count;
    k->processes = calloc(k->rows, sizeof(*k->processes));
    k->judgements = calloc(k->rows, sizeof(*k->judgements));
    k->variables = calloc(contracts_rules_count(contract->rules) + 1,
                          sizeof(*k->variables));
    k->causes = calloc((size_t)processes + 1, sizeof(*k->causes));
    k->grown = calloc((size_t)processes + 1, sizeof(*k->grown));
    k->others = calloc((size_t)processes + 1, sizeof(*k->others));
    k->links = calloc((size_t)processes + 1, sizeof(*k->links));
    k->ahead = calloc(k->metric_count + 1, sizeof(*k->ahead));
    if (!k->ahead || !k->processes || !k->judgements || !k->variables ||
        !k->causes || !k->grown || !k->others || !k->links)
        err = pastset_no_memory("for a contract");
    if (!err)
        err = contracts_groups_check(contract, names, processes);
    for (uint32_t row = 0; row < k->rows && !err; row++)
        err = row_create(k, row, names);
    if (!err)
        err = contracts__network_create(&k->network, contract->cluster, names,
                                        processes);
    if (!err && !is_for_any(k))
        err = pastset_fail(PASTSET_EINVAL,
                           "the contract has classes of none of the processes "
                           "of this run (the first one is %s)",
                           processes ? names[0] : "missing");
    if (err)
        contracts_checker_destroy(k);
    else
        *out = k;
    return err;
}

void contracts_checker_destroy(contracts_checker *k)
{
    if (!k)
        return;
    for (uint32_t p = 0; k->processes && p < k->rows; p++) {
        checked *one = &k->processes[p];
        contracts_metric_state_destroy(one->state);
        for (int kind = 0; kind < CONTRACTS_KINDS; kind++)
            free(one->classes[kind]);
        free(one->name);
        free(one->members);
        free(one->values);
        free(one->grains);
        free(one->factors);
        free(one->highest);
        free(one->waiting);
        free(one->transfer);
    }
    free(k->processes);
    free(k->judgements);
    free(k->variables);
    free(k->causes);
    free(k->grown);
    free(k->others);
    free(k->links);
    free(k->ahead);
    free(k->more);
    contracts__network_fini(&k->network);
    free(k);
}
