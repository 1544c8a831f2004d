/* diff.h - two programs, or one program before and after a change, compared by
 * several runs of each: what became slower, where, and by how much.
 *
 * Items. A run is taken apart into what can be compared, named by the map and
 * not by when it happened: `item`s of one kind each,
 *
 *   region     a thread in a region of the program (eventspace/regions.h),
 *              without what it communicated there
 *   computing  a thread between the operation before and one on a path
 *   hop        one hop of a collective: down, at the element, up
 *   operation  an operation of a thread on a path, without its waiting
 *   waiting    what of an operation its thread waited for another one
 *   step       from the end of a step, by the last thread, to that of the next
 *   run        the whole run
 *
 * The first four are what a thread, or a hop, does itself: causes. The others
 * are effects: whoever waits longer, waits for somebody who became slower. So
 * causes stand first. Times without a processor (`runnable`) are nobody's.
 * Computing, operations and waiting have one sample in each step; hops one in
 * each round; regions one for each time in them. Samples of different runs
 * belong together when step or round is the same.
 *
 * The values of a run. Of each item a run gives up to three numbers:
 *
 *   typical   the mean of log(time / reference) over the second quarter of its
 *             samples, in their order. The reference of a step is the median
 *             over all runs of both sides, so that steps that do different work
 *             are comparable. What disturbs a program on a shared machine makes
 *             it slower and never faster, so the lower half has the least of
 *             it; many samples have less noise than one minimum; and the lowest
 *             quarter is left out because a change in a few steps makes those
 *             steps of the other side the lowest.
 *   relative  of causes: `typical` less the median of that of all that threads
 *             compute in the run (regions and computing), if these are four
 *             items or more. How fast a machine is changes from run to run,
 *             by some per cent, and for all threads alike; this is without
 *             it. It cannot tell an item that became slower from all others
 *             that became faster: so it counts only if `typical` agrees, or
 *             is so uncertain that it cannot. That is decided by the ratio of
 *             the likelihoods, at odds of a thousand to one for one item
 *             against all others by one and the same factor.
 *   mean      the logarithm of the mean of all samples: for what became slower
 *             in a few steps only, which the second quarter does not see.
 *
 * Of waiting and steps, which may take no time at all, times are neither
 * logarithms nor divided by a reference.
 *
 * The test. A unit is a run. Steps of a run are not independent (they share the
 * processor's clock rate, the places of memory pages, the neighbours), so
 * however many they are, they stand for one run. Of each item and number the
 * statistic is Student's t of the two sides, by pooled variance. Where either
 * side has a quarter of all runs, values are drawn in to the median +- 3
 * standard deviations, as the median absolute deviation tells these, so that
 * one bad run does not hide a change. All items are tested at once, by the
 * maximum of all |t| over permutations of which run belongs to which side
 * (Westfall and Young 1993, single step): `p` is the share of permutations
 * whose maximum is not below the |t| of the item. So the probability to report
 * anything at all where nothing changed is at most 1 - confidence, whatever the
 * distribution of the noise and however items depend on each other, if the runs
 * of both sides are exchangeable: made in turn, on one machine. References,
 * limits and which items are large enough are computed without looking at the
 * sides, so they do not disturb this. All permutations are counted if they are
 * at most 20,000, else as many random ones by a fixed seed.
 *
 * The change is the median of the differences of all pairs of runs (Hodges and
 * Lehmann), of what the base takes in the median of its runs, and its interval
 * that +- c standard errors, where c is the `confidence` quantile of the
 * maxima: all intervals of a table hold at once. A change is reported when p <=
 * 1 - confidence, it is at least `threshold` of the item, and at least
 * threshold * min_share of the run.
 *
 * What is tested. An item is, if it takes `min_share` of the run or more, in as
 * many runs as are half of the smaller side; what it typically takes for
 * `typical`, all of it for `mean`.
 *
 * Lost events. What lies next to them looks different, though nothing is. So of
 * a run that lost some, only the time in which it has all is compared
 * (diff_whole.c), and only items of which the steps are known and are those of
 * the other runs. Hops and regions are numbered by what is there; they are
 * compared if all runs have about as many left, at the same end. Other items
 * are `partial`.
 *
 * Of each item at most 16,384 samples of a run are kept, by step, the same
 * steps in all runs; `mean` knows all of them where runs have the same number
 * of steps. So memory is bounded by the number of items and runs.
 *
 * Too few runs. With a and b runs p cannot be below 2 / C(a + b, a), or half of
 * the permutations' number where a and b differ. When that is above
 * 1 - confidence, the units are parts of runs: each run is cut into as many
 * parts as make ten units of a side. These know what differs within runs and
 * not what differs between them; so such a change may be noise (`repeated` is
 * false), and its decision says "slower?".
 *
 * Threads:   one thread per comparison.
 * Ownership: create gives, destroy takes back. Snapshots are borrowed during
 *            add. */
#ifndef SCOPES_DIFF_H
#define SCOPES_DIFF_H

#include "scopes/reading/snapshot.h"
#include "scopes/tables/table.h"

typedef struct scopes_diff scopes_diff;

typedef enum scopes_diff_side {
    SCOPES_DIFF_BASE,
    SCOPES_DIFF_NEW
} scopes_diff_side;

typedef struct scopes_diff_options {
    double confidence; /* 0.99 */
    double threshold;  /* changes below it are not reported, 0.01 */
    double min_share;  /* items that take less of a run are not tested, 0.01 */
    bool with_others; /* times in which others had a thread's processor count as
                         its own; for when not all runs know them */
} scopes_diff_options;

typedef struct scopes_diff_summary {
    size_t runs[2];  /* by side */
    size_t units[2]; /* what was permuted: the runs, or parts of them */
    bool repeated;   /* the runs */
    size_t items;    /* on both sides */
    size_t tested;   /* large enough, and in all runs */
    size_t partial;  /* large enough, and not in all runs, or not of the same
                        steps */
    size_t slower, faster, small, unsure; /* of these: `small` are below the
                                             threshold, `unsure` those that are
                                             slower or faster, not repeated */
    size_t only[2];                       /* items of one side */
    double typical_detectable; /* half the width of the interval of what a
                                  thread computes, in the median; NaN */
} scopes_diff_summary;

/* Errors: PASTSET_ENOMEM. */
int scopes_diff_create(scopes_diff **out, const scopes_diff_options *options);
/* NULL is allowed. */
void scopes_diff_destroy(scopes_diff *diff);

/* Takes one run. Errors: PASTSET_ENOMEM. */
int scopes_diff_add(scopes_diff *diff, scopes_diff_side side,
                    const scopes_snapshot *snapshot);

/* Do some of the runs so far know when threads had no processor, and others
 * not? Then they are comparable only `with_others`. */
bool scopes_diff_is_mixed(const scopes_diff *diff);

/* Compares, once, when all runs have been taken; each side has one at least.
 * `out` may be NULL. Errors: PASTSET_ENOMEM, PASTSET_EINVAL (a side without
 * runs), PASTSET_ENOENT (nothing that is in
 * both can be tested). */
int scopes_diff_compare(scopes_diff *diff, scopes_diff_summary *out);

/* What was found, causes first, each with the most time of a run first; with
 * `all` every item. Texts live as long as the comparison.
 * Errors: PASTSET_ENOMEM. */
int scopes_diff_table(scopes_table **out, const scopes_diff *diff, bool all);

#endif
