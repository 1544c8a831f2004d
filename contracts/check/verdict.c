/* verdict.c - whose fault a violation is. */
#include <math.h>

#include "contracts/check/checker_internal.h"
#include "scopes/causality/communication_times.h"

const char *const contracts_cause_names[CONTRACTS_CAUSES] = {
    "", "program", "processor", "sleeps", "waits", "link", "unknown"};

#define EXPLAINS (1 / 3.0) /* of what an operation takes longer */

static bool is_known(const double *parts)
{
    return !isnan(parts[CONTRACTS_PART_READY]) &&
           !isnan(parts[CONTRACTS_PART_SLEEPING]);
}

/* Where of one of both it is not known when it had a processor, all of
 * computing counts as that. */
static void compare_alike(double *parts, double *usual)
{
    if (is_known(parts) && is_known(usual))
        return;
    for (int i = 0; i < 2; i++) {
        double *one = i ? parts : usual;
        for (int k = CONTRACTS_PART_READY; k <= CONTRACTS_PART_SLEEPING; k++) {
            one[CONTRACTS_PART_COMPUTING] += isnan(one[k]) ? 0 : one[k];
            one[k] = 0;
        }
    }
}

/* How much of the time that it needs a processor others have it. Slow intervals
 * have few operations, and it may be that the processor was never taken away
 * within one: so those before count as well, each half as much as the next. */
static void crowd_note(checked *p, const double *quantities)
{
    double ready = quantities[CONTRACTS_READY];
    double needs = quantities[CONTRACTS_CPU] + ready;

    if (isnan(needs)) {
        p->ready = p->needs = 0;
        return;
    }
    p->ready = p->ready / 2 + ready;
    p->needs = p->needs / 2 + needs;
}

/* Do others have the processor when it computes? Then they have it when it is
 * to be woken, too, which the kernel does not tell of. */
static bool is_crowded(const checked *p)
{
    const double *usual = p->usual->parts;
    double needed =
        usual[CONTRACTS_PART_COMPUTING] + usual[CONTRACTS_PART_READY];
    double share = p->needs > 0 ? p->ready / p->needs : 0;
    double was = needed > 0 ? usual[CONTRACTS_PART_READY] / needed : 0;

    return is_known(usual) && share - was > SCOPES_DISTURBED;
}

static contracts_cause most_of(const double grown[CONTRACTS_CAUSES],
                               double least)
{
    contracts_cause most = CONTRACTS_UNKNOWN;

    for (int i = 0; i < CONTRACTS_UNKNOWN; i++)
        if (grown[i] > grown[most] && grown[i] > least)
            most = (contracts_cause)i;
    return most;
}

static void grown_of(double grown[CONTRACTS_CAUSES], const double *parts,
                     const double *usual)
{
    static const contracts_cause causes[CONTRACTS_PARTS] = {
        [CONTRACTS_PART_COMPUTING] = CONTRACTS_PROCESSOR,
        [CONTRACTS_PART_READY] = CONTRACTS_PROCESSOR,
        [CONTRACTS_PART_SLEEPING] = CONTRACTS_SLEEPS,
        [CONTRACTS_PART_WAITING] = CONTRACTS_WAITS,
        [CONTRACTS_PART_TRANSFER] = CONTRACTS_LINK};

    for (int i = 0; i < CONTRACTS_CAUSES; i++)
        grown[i] = 0;
    for (int i = 0; i < CONTRACTS_PARTS; i++)
        grown[causes[i]] += parts[i] - usual[i];
}

static double sum_of(const double *numbers, int count)
{
    double sum = 0;

    for (int i = 0; i < count; i++)
        sum += numbers[i];
    return sum;
}

/* Which part of an operation has grown most, and by how much: nothing, if it
 * has not become slower by as much as the contract tolerates, unless it
 * `is_violated`. */
static contracts_cause grown_most(const contracts_checker *k, const checked *p,
                                  const double *quantities, bool is_violated,
                                  double *by)
{
    double parts[CONTRACTS_PARTS], usual[CONTRACTS_PARTS];
    double grown[CONTRACTS_CAUSES], all;
    contracts_cause cause;

    *by = 0;
    if (!p->usual || !contracts_parts_of(parts, quantities))
        return CONTRACTS_UNKNOWN;
    for (int i = 0; i < CONTRACTS_PARTS; i++)
        usual[i] = p->slower * p->usual->parts[i];
    compare_alike(parts, usual);
    grown_of(grown, parts, usual);
    all = sum_of(grown, CONTRACTS_CAUSES);
    if (!is_violated &&
        all <= k->contract->tolerance * sum_of(usual, CONTRACTS_PARTS))
        return CONTRACTS_NO_CAUSE;
    cause = most_of(grown, EXPLAINS * all);
    *by = grown[cause];
    return cause == CONTRACTS_LINK && is_crowded(p) ? CONTRACTS_PROCESSOR
                                                    : cause;
}

/* --- others --- */

/* How much longer it waits for this one, or the rest takes, than is usual: of
 * an operation, in seconds. */
static double grown_with(const contracts_checker *k, double operations,
                         const contracts_between *with, bool is_waiting)
{
    const checked *p = &k->processes[with->process];
    double seconds = is_waiting ? with->waiting : with->transfer;
    double usual =
        is_waiting ? p->waiting[with->other] : p->transfer[with->other];

    return seconds / (operations > 0 ? operations : 1) - p->slower * usual;
}

typedef enum suspicion {
    ANYBODY,
    NOT_WELL,   /* something is wrong with it */
    ANOTHER_WAY /* and it does not only wait itself */
} suspicion;

static bool is_suspected(const contracts_checker *k, uint32_t process,
                         suspicion suspected)
{
    contracts_cause cause = k->causes[process];

    return suspected == ANYBODY ||
           (cause != CONTRACTS_NO_CAUSE &&
            (suspected == NOT_WELL || cause != CONTRACTS_WAITS));
}

/* With which of these it has grown most, and by `least` at least;
 * CONTRACTS_NONE. */
static uint32_t most_with(const contracts_checker *k,
                          const contracts_course *course, size_t interval,
                          uint32_t process, suspicion suspected, double *least)
{
    const double *q = contracts_course_at(course, process, interval);
    bool is_waiting = k->causes[process] == CONTRACTS_WAITS;
    uint32_t found = CONTRACTS_NONE;
    size_t count;
    const contracts_between *with =
        contracts_course_betweens(course, process, interval, &count);

    for (size_t i = 0; i < count; i++) {
        double grown =
            grown_with(k, q[CONTRACTS_OPERATIONS], &with[i], is_waiting);
        if (!(grown > *least) || !is_suspected(k, with[i].other, suspected))
            continue;
        *least = grown;
        found = with[i].other;
    }
    return found;
}

/* With whom it has grown most, if that explains it: of those with whom
 * something is wrong, if these explain a third of what the one does with whom
 * it has grown most. */
static uint32_t other_of(const contracts_checker *k,
                         const contracts_course *course, size_t interval,
                         uint32_t process)
{
    double most = EXPLAINS * k->grown[process], least;
    uint32_t first = most_with(k, course, interval, process, ANYBODY, &most);

    if (first == CONTRACTS_NONE || k->causes[process] != CONTRACTS_WAITS)
        return first;
    for (suspicion s = ANOTHER_WAY; s > ANYBODY; s--) {
        uint32_t found;
        least = EXPLAINS * most;
        found = most_with(k, course, interval, process, s, &least);
        if (found != CONTRACTS_NONE)
            return found;
    }
    return first;
}

/* It has no processor to answer by, or does something else: then the link to it
 * is not slow. It must have become slower itself by a third as much. */
static bool is_busy_itself(const contracts_checker *k, uint32_t process,
                           double grown)
{
    contracts_cause cause = k->causes[process];

    return (cause == CONTRACTS_PROCESSOR || cause == CONTRACTS_SLEEPS ||
            cause == CONTRACTS_PROGRAM) &&
           k->grown[process] >= EXPLAINS * grown;
}

static void others_find(contracts_checker *k, const contracts_course *course,
                        size_t interval)
{
    for (uint32_t p = 0; p < k->process_count; p++) {
        bool is_link = k->causes[p] == CONTRACTS_LINK;
        k->others[p] = k->links[p] = CONTRACTS_NONE;
        if (is_link || k->causes[p] == CONTRACTS_WAITS)
            (is_link ? k->links : k->others)[p] =
                other_of(k, course, interval, p);
    }
    for (uint32_t p = 0; p < k->process_count; p++) {
        uint32_t other = k->links[p];
        if (other != CONTRACTS_NONE && is_busy_itself(k, other, k->grown[p])) {
            k->causes[p] = CONTRACTS_WAITS;
            k->others[p] = other;
        }
        if (k->causes[p] == CONTRACTS_WAITS && k->others[p] == CONTRACTS_NONE)
            k->causes[p] = CONTRACTS_UNKNOWN;
    }
}

/* Whom it waits for in the end. Some may wait for each other: then for the
 * first of these. */
static uint32_t last_of(const contracts_checker *k, const uint32_t *others,
                        uint32_t process)
{
    uint32_t at = process, first;

    for (uint32_t i = 0; i < k->process_count; i++) {
        if (others[at] == CONTRACTS_NONE)
            return at;
        at = others[at];
    }
    first = at; /* it is in the circle */
    for (uint32_t i = others[at]; i != at; i = others[i])
        first = i < first ? i : first;
    return first == process ? others[process] : first;
}

/* --- verdicts --- */

/* What is off for an interval only is what the contract allows: it is the cause
 * where nothing else is. */
static void cause_find(contracts_checker *k, const contracts_course *course,
                       size_t interval, uint32_t process)
{
    const contracts_level *levels = k->judgements[process].levels;
    const contracts_level *intrinsic = &levels[CONTRACTS_INTRINSIC];
    const double *quantities = contracts_course_at(course, process, interval);
    bool is_slow = levels[CONTRACTS_PERFORMANCE].is_violated;

    crowd_note(&k->processes[process], quantities);
    k->causes[process] = grown_most(k, &k->processes[process], quantities,
                                    is_slow, &k->grown[process]);
    if (intrinsic->is_violated ||
        (intrinsic->level >= CONTRACTS_VIOLATED_LEVEL && !is_slow))
        k->causes[process] = CONTRACTS_PROGRAM;
}

static bool is_violated(const contracts_judgement *j)
{
    return j->levels[CONTRACTS_INTRINSIC].is_violated ||
           j->levels[CONTRACTS_PERFORMANCE].is_violated;
}

static void verdict(contracts_checker *k, uint32_t process)
{
    contracts_judgement *j = &k->judgements[process];

    j->other = CONTRACTS_NONE;
    j->cause = is_violated(j) ? k->causes[process] : CONTRACTS_NO_CAUSE;
    if (j->cause == CONTRACTS_WAITS)
        j->other = last_of(k, k->others, process);
    if (j->cause == CONTRACTS_LINK)
        j->other = k->links[process];
}

/* The cause of most processes: those that wait are of the cause of the one that
 * they wait for. */
static void verdict_of_mean(contracts_checker *k, uint32_t row)
{
    contracts_judgement *all = &k->judgements[row];
    const checked *of = &k->processes[row];
    size_t votes[CONTRACTS_CAUSES] = {0};

    all->cause = CONTRACTS_NO_CAUSE;
    all->other = CONTRACTS_NONE;
    if (all->levels[CONTRACTS_INTRINSIC].is_violated) {
        all->cause = CONTRACTS_PROGRAM;
        return;
    }
    if (!all->levels[CONTRACTS_PERFORMANCE].is_violated)
        return;
    for (uint32_t i = 0; i < of->member_count; i++) {
        const contracts_judgement *j = &k->judgements[of->members[i]];
        votes[j->cause == CONTRACTS_WAITS ? k->causes[j->other] : j->cause]++;
    }
    votes[CONTRACTS_NO_CAUSE] = votes[CONTRACTS_WAITS] = 0;
    all->cause = CONTRACTS_UNKNOWN;
    for (int cause = CONTRACTS_PROGRAM; cause < CONTRACTS_UNKNOWN; cause++)
        if (votes[cause] > 0 && votes[cause] >= votes[all->cause])
            all->cause = (contracts_cause)cause;
}

void contracts__verdicts(contracts_checker *k, const contracts_course *course,
                         size_t interval)
{
    for (uint32_t p = 0; p < k->process_count; p++)
        cause_find(k, course, interval, p);
    others_find(k, course, interval);
    for (uint32_t p = 0; p < k->process_count; p++)
        verdict(k, p);
    for (uint32_t row = k->process_count; row < k->rows; row++)
        verdict_of_mean(k, row);
    contracts__network_suspect(k, course, interval);
}
