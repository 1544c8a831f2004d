/* diff_values.c - what one run says about an item: its two numbers (diff.h),
 * and which steps of different runs belong together. */
#include "scopes/compare/diff_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

static int no_memory(void)
{
    return pastset_no_memory("for comparing runs");
}

static double scaled(const scopes__diff_item *item, float ns)
{
    if (item->linear)
        return (double)ns;
    return log(ns > 1 ? (double)ns : 1);
}

/* --- steps that all runs have --- */

/* Leaves of `common` what a part has too. */
static size_t keep(uint32_t *common, size_t count,
                   const scopes__diff_part *part)
{
    size_t kept = 0, at = 0;

    for (size_t i = 0; i < count; i++) {
        while (at < part->count && part->samples[at].ordinal < common[i])
            at++;
        if (at < part->count && part->samples[at].ordinal == common[i])
            common[kept++] = common[i];
    }
    return kept;
}

/* The ordinals of the first run, each once. */
static size_t begin(uint32_t *common, const scopes__diff_part *part)
{
    size_t count = 0;

    for (size_t i = 0; i < part->count; i++)
        if (count == 0 || common[count - 1] != part->samples[i].ordinal)
            common[count++] = part->samples[i].ordinal;
    return count;
}

/* Walks the samples of common ordinals, once for each of them. */
static size_t next_common(const scopes__diff_part *part, uint32_t ordinal,
                          size_t *at)
{
    while (part->samples[*at].ordinal < ordinal)
        ++*at;
    return *at;
}

static int make_reference(const scopes_diff *diff, scopes__diff_item *item)
{
    size_t runs = diff->run_count;
    size_t *at = calloc(runs, sizeof(*at));
    double *room = calloc(runs, sizeof(*room));
    int err = 0;

    item->reference = calloc(item->common_count, sizeof(*item->reference));
    if (!at || !room || !item->reference)
        err = no_memory();
    for (size_t i = 0; i < item->common_count && !err; i++) {
        for (size_t run = 0; run < runs; run++) {
            const scopes__diff_part *part = &item->parts[run];
            room[run] = scaled(
                item,
                part->samples[next_common(part, item->common[i], &at[run])].ns);
        }
        scopes__diff_sort(room, runs);
        item->reference[i] = scopes__diff_median(room, runs);
    }
    free(at);
    free(room);
    return err;
}

static double second_quarter(const double *sorted, size_t count);

/* As if all samples were as those of the second quarter. */
static int make_typical(const scopes_diff *diff, scopes__diff_item *item)
{
    for (size_t run = 0; run < diff->run_count; run++) {
        scopes__diff_part *part = &item->parts[run];
        double *room = malloc((part->count + 1) * sizeof(*room));
        if (!room)
            return no_memory();
        for (size_t i = 0; i < part->count; i++)
            room[i] = (double)part->samples[i].ns;
        scopes__diff_sort(room, part->count);
        if (part->count)
            part->typical_ns =
                second_quarter(room, part->count) * (double)part->seen;
        free(room);
    }
    return 0;
}

/* --- what runs that lost events have left --- */

static bool has_any_lost(const scopes_diff *diff)
{
    for (size_t run = 0; run < diff->run_count; run++)
        if (diff->lost[run])
            return true;
    return false;
}

static bool is_numbered(const scopes_diff *diff, const scopes__diff_item *item)
{
    for (size_t run = 0; run < diff->run_count; run++)
        if (item->parts[run].gone)
            return false;
    return true;
}

/* All runs have lost about as much, at the same end: what they have left is
 * taken to be of the same steps. */
static bool is_alike(const scopes_diff *diff, const scopes__diff_item *item)
{
    uint64_t least = UINT64_MAX, most = 0;
    unsigned gone = 0;

    for (size_t run = 0; run < diff->run_count; run++) {
        uint64_t seen = item->parts[run].seen;
        least = seen < least ? seen : least;
        most = seen > most ? seen : most;
        gone |= item->parts[run].gone;
    }
    return gone != (SCOPES__GONE_BEFORE | SCOPES__GONE_AFTER) &&
           least >= most / 10 * 9;
}

/* --- aligning --- */

/* Of the samples that are kept where the most are dropped. */
static size_t least_kept(const scopes_diff *diff, const scopes__diff_item *item)
{
    size_t least = SIZE_MAX;
    unsigned level = 0;

    for (size_t run = 0; run < diff->run_count; run++)
        if (item->parts[run].level > level)
            level = item->parts[run].level;
    for (size_t run = 0; run < diff->run_count; run++) {
        const scopes__diff_part *part = &item->parts[run];
        size_t kept = part->count;
        if (part->level < level)
            kept = scopes__diff_kept(part, level);
        if (kept < least)
            least = kept;
    }
    return least;
}

static bool is_same_count(const scopes_diff *diff,
                          const scopes__diff_item *item)
{
    for (size_t run = 1; run < diff->run_count; run++)
        if (item->parts[run].seen != item->parts[0].seen)
            return false;
    return true;
}

/* Finds the ordinals that all runs have, if these are half at least. */
static int find_common(const scopes_diff *diff, scopes__diff_item *item)
{
    uint32_t *common = malloc((item->parts[0].count + 1) * sizeof(*common));
    size_t count;

    if (!common)
        return no_memory();
    count = begin(common, &item->parts[0]);
    for (size_t run = 1; run < diff->run_count; run++)
        count = keep(common, count, &item->parts[run]);
    if (count == 0 || 2 * count < least_kept(diff, item)) {
        free(common);
        return 0;
    }
    item->common = common;
    item->common_count = count;
    return diff->summary.repeated && !item->linear ? make_reference(diff, item)
                                                   : 0;
}

/* Aligned where runs have at least half of their steps in common. Parts of runs
 * are not compared step by step: they are of different steps. */
int scopes__diff_align(const scopes_diff *diff, scopes__diff_item *item)
{
    bool lost = has_any_lost(diff), numbered = is_numbered(diff, item);
    int err = make_typical(diff, item);

    if (!err && numbered)
        err = find_common(diff, item);
    item->same_count = is_same_count(diff, item) && !(lost && numbered);
    item->apart = lost && !item->common && (numbered || !is_alike(diff, item));
    return err;
}

/* --- values --- */

/* Those samples of a unit that count, less their references, into `out`. */
static size_t take_unit(const scopes__diff_item *item,
                        const scopes__diff_unit *unit, double *out, bool plain)
{
    const scopes__diff_part *part = &item->parts[unit->run];
    size_t all = item->common ? item->common_count : part->count;
    size_t from = all * unit->part / unit->parts;
    size_t to = all * (unit->part + 1) / unit->parts;
    size_t count = 0, at = 0;

    for (size_t i = from; i < to; i++) {
        float ns;
        at = item->common ? next_common(part, item->common[i], &at) : i;
        ns = part->samples[at].ns;
        out[count++] = plain ? (double)ns
                             : scaled(item, ns) -
                                   (item->reference ? item->reference[i] : 0);
    }
    return count;
}

static double mean_of(const double *values, size_t from, size_t to)
{
    double sum = 0;

    for (size_t i = from; i < to; i++)
        sum += values[i];
    return sum / (double)(to - from);
}

/* Of what is sorted, the mean of the second quarter. */
static double second_quarter(const double *sorted, size_t count)
{
    size_t from = count / 4, to = (count + 1) / 2;

    return mean_of(sorted, from, to);
}

bool scopes__diff_value(const scopes_diff *diff, const scopes__diff_item *item,
                        size_t unit, scopes__diff_statistic statistic,
                        double *room, double *out)
{
    const scopes__diff_unit *u = &diff->units[unit];
    bool plain = statistic == SCOPES__MEAN;
    size_t count = item->parts[u->run].count;

    if (count < u->parts || (item->common && item->common_count < u->parts))
        return false;
    count = take_unit(item, u, room, plain);
    if (plain) {
        const scopes__diff_part *part = &item->parts[u->run];
        *out = item->same_count && u->parts == 1
                   ? part->total_ns / (double)part->seen
                   : mean_of(room, 0, count);
        if (!item->linear)
            *out = log(*out > 1 ? *out : 1);
    } else {
        scopes__diff_sort(room, count);
        *out = second_quarter(room, count);
    }
    return true;
}

/* --- in which steps --- */

/* The median of a side's samples of one step, not scaled. */
static double side_median(const scopes_diff *diff,
                          const scopes__diff_item *item, scopes_diff_side side,
                          uint32_t ordinal, size_t *at, double *room)
{
    size_t count = 0;

    for (size_t run = 0; run < diff->run_count; run++) {
        const scopes__diff_part *part = &item->parts[run];
        if (diff->sides[run] == side)
            room[count++] =
                (double)part->samples[next_common(part, ordinal, &at[run])].ns;
    }
    scopes__diff_sort(room, count);
    return scopes__diff_median(room, count);
}

/* The first and the last step of what is left when a twentieth of the change is
 * cut off at either end. */
int scopes__diff_steps(const scopes_diff *diff, scopes__diff_item *item)
{
    size_t runs = diff->run_count, count = item->common_count;
    size_t *at = calloc(runs, sizeof(*at));
    double *room = calloc(runs + count + 1, sizeof(*room));
    double *sums = room + runs, sum = 0;

    if (!at || !room) {
        free(at);
        free(room);
        return no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t step = item->common[i];
        double base = side_median(diff, item, SCOPES_DIFF_BASE, step, at, room);
        sum += side_median(diff, item, SCOPES_DIFF_NEW, step, at, room) - base;
        sums[i] = sum;
    }
    for (size_t i = 0; i < count && sum != 0; i++) {
        if (!item->first_step && sums[i] / sum >= 0.05)
            item->first_step = item->common[i];
        if (sums[i] / sum <= 0.95)
            item->last_step = item->common[i + 1 < count ? i + 1 : i];
    }
    if (item->last_step < item->first_step)
        item->last_step = item->first_step;
    free(at);
    free(room);
    return 0;
}
