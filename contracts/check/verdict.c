/* verdict.c - whose fault a violation is. */
#include <math.h>

#include "contracts/check/checker_internal.h"
#include "scopes/causality/communication_times.h"

const char *const contracts_cause_names[CONTRACTS_CAUSES] = {
    "", "program", "processor", "sleeps", "waits", "link", "unknown"};

#define EXPLAINS (1 / 3.0) /* of what an operation takes longer */

/* Where of one of both it is not known when it had a processor, all of
 * computing counts as that. */
static void compare_alike(double *parts, double *usual)
{
    if (!isnan(parts[CONTRACTS_PART_READY]) &&
        !isnan(usual[CONTRACTS_PART_READY]))
        return;
    for (int i = 0; i < 2; i++) {
        double *one = i ? parts : usual;
        for (int k = CONTRACTS_PART_READY; k <= CONTRACTS_PART_SLEEPING; k++) {
            one[CONTRACTS_PART_COMPUTING] += isnan(one[k]) ? 0 : one[k];
            one[k] = 0;
        }
    }
}

/* Do others have the processor when it computes? Then they have it when it is
 * to be woken, too, which the kernel does not tell of. */
static bool is_crowded(const double *parts, const double *usual)
{
    double needs =
        parts[CONTRACTS_PART_COMPUTING] + parts[CONTRACTS_PART_READY];
    double needed =
        usual[CONTRACTS_PART_COMPUTING] + usual[CONTRACTS_PART_READY];
    double share = needs > 0 ? parts[CONTRACTS_PART_READY] / needs : 0;
    double was = needed > 0 ? usual[CONTRACTS_PART_READY] / needed : 0;

    return share - was > SCOPES_DISTURBED;
}

/* Which part of an operation has grown most. */
static contracts_cause grown_most(const checked *p, const double *quantities)
{
    static const contracts_cause causes[CONTRACTS_PARTS] = {
        [CONTRACTS_PART_COMPUTING] = CONTRACTS_PROCESSOR,
        [CONTRACTS_PART_READY] = CONTRACTS_PROCESSOR,
        [CONTRACTS_PART_SLEEPING] = CONTRACTS_SLEEPS,
        [CONTRACTS_PART_WAITING] = CONTRACTS_WAITS,
        [CONTRACTS_PART_TRANSFER] = CONTRACTS_LINK};
    double parts[CONTRACTS_PARTS], usual[CONTRACTS_PARTS];
    double grown[CONTRACTS_CAUSES] = {0}, all = 0;
    contracts_cause cause = CONTRACTS_UNKNOWN;

    if (!p->usual || !contracts_parts_of(parts, quantities))
        return CONTRACTS_UNKNOWN;
    for (int i = 0; i < CONTRACTS_PARTS; i++)
        usual[i] = p->slower * p->usual->parts[i];
    compare_alike(parts, usual);
    for (int i = 0; i < CONTRACTS_PARTS; i++) {
        grown[causes[i]] += parts[i] - usual[i];
        all += parts[i] - usual[i];
    }
    for (int i = 0; i < CONTRACTS_UNKNOWN; i++)
        if (grown[i] > grown[cause] && grown[i] > EXPLAINS * all)
            cause = (contracts_cause)i;
    if (cause == CONTRACTS_LINK && is_crowded(parts, usual))
        return CONTRACTS_PROCESSOR;
    return cause;
}

/* Whom it waits for longest, of those that something is wrong with, if there
 * are such. */
static uint32_t waits_for(const contracts_checker *k,
                          const contracts_course *course, size_t interval,
                          uint32_t process)
{
    size_t count;
    const contracts_wait *waits =
        contracts_course_waits(course, process, interval, &count);

    for (size_t i = 0; i < count; i++)
        if (k->judgements[waits[i].other].cause != CONTRACTS_NO_CAUSE)
            return waits[i].other;
    return count ? waits[0].other : CONTRACTS_NONE;
}

static void verdict(contracts_checker *k, const contracts_course *course,
                    size_t interval, uint32_t process)
{
    contracts_judgement *j = &k->judgements[process];

    j->waits_for = CONTRACTS_NONE;
    j->cause = CONTRACTS_NO_CAUSE;
    if (j->levels[CONTRACTS_INTRINSIC].is_violated)
        j->cause = CONTRACTS_PROGRAM;
    else if (j->levels[CONTRACTS_PERFORMANCE].is_violated)
        j->cause = grown_most(&k->processes[process],
                              contracts_course_at(course, process, interval));
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

static void waits_find(contracts_checker *k, const contracts_course *course,
                       size_t interval)
{
    for (uint32_t p = 0; p < k->process_count; p++) {
        contracts_judgement *j = &k->judgements[p];
        k->others[p] = j->cause == CONTRACTS_WAITS
                           ? waits_for(k, course, interval, p)
                           : CONTRACTS_NONE;
        if (j->cause == CONTRACTS_WAITS && k->others[p] == CONTRACTS_NONE)
            j->cause = CONTRACTS_UNKNOWN;
    }
    for (uint32_t p = 0; p < k->process_count; p++)
        if (k->judgements[p].cause == CONTRACTS_WAITS)
            k->judgements[p].waits_for = last_of(k, k->others, p);
}

/* The cause of most processes: those that wait are of the cause of the one that
 * they wait for. */
static void verdict_of_all(contracts_checker *k)
{
    contracts_judgement *all = &k->judgements[k->process_count];
    size_t votes[CONTRACTS_CAUSES] = {0};

    all->cause = CONTRACTS_NO_CAUSE;
    all->waits_for = CONTRACTS_NONE;
    if (all->levels[CONTRACTS_INTRINSIC].is_violated) {
        all->cause = CONTRACTS_PROGRAM;
        return;
    }
    if (!all->levels[CONTRACTS_PERFORMANCE].is_violated)
        return;
    for (uint32_t p = 0; p < k->process_count; p++) {
        const contracts_judgement *j = &k->judgements[p];
        votes[j->waits_for == CONTRACTS_NONE
                  ? j->cause
                  : k->judgements[j->waits_for].cause]++;
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
        verdict(k, course, interval, p);
    waits_find(k, course, interval);
    verdict_of_all(k);
}
