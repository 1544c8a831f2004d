/* diff.c - the course of a comparison: units, values, decisions. */
#include "scopes/compare/diff_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

#define UNITS 10 /* of a side, where runs are cut into parts */

static int no_memory(void)
{
    return pastset_no_memory("for comparing runs");
}

static void *grown(void *array, size_t count, size_t item_bytes, int *err)
{
    void *more = pastset_array_grow(array, count, item_bytes);

    if (!more)
        *err = no_memory();
    return more ? more : array;
}

int scopes_diff_add(scopes_diff *diff, scopes_diff_side side,
                    const scopes_snapshot *snapshot)
{
    size_t run = diff->run_count;
    int err = 0;

    diff->sides = grown(diff->sides, run, sizeof(*diff->sides), &err);
    diff->runs_ns = grown(diff->runs_ns, run, sizeof(*diff->runs_ns), &err);
    diff->scheduling =
        grown(diff->scheduling, run, sizeof(*diff->scheduling), &err);
    diff->lost = grown(diff->lost, run, sizeof(*diff->lost), &err);
    if (err)
        return err;
    diff->sides[run] = side;
    diff->runs_ns[run] = 0;
    diff->scheduling[run] = diff->lost[run] = false;
    err = scopes__diff_take(diff, snapshot);
    diff->run_count++;
    diff->summary.runs[side]++;
    return err;
}

bool scopes_diff_is_mixed(const scopes_diff *diff)
{
    for (size_t run = 1; run < diff->run_count; run++)
        if (diff->scheduling[run] != diff->scheduling[0])
            return true;
    return false;
}

/* --- units --- */

/* The least p that these units can give. */
static double least_p(size_t a, size_t b)
{
    double ways = 1;

    for (size_t i = 1; i <= a; i++)
        ways = ways * (double)(b + i) / (double)i;
    return (a == b ? 2 : 1) / ways;
}

static size_t parts_of_a_run(const scopes_diff *diff, scopes_diff_side side)
{
    size_t runs = diff->summary.runs[side];

    return diff->summary.repeated || runs >= UNITS ? 1
                                                   : (UNITS + runs - 1) / runs;
}

/* Runs, or parts of them, those of the base first. */
static int make_units(scopes_diff *diff)
{
    scopes_diff_summary *s = &diff->summary;
    const scopes_diff_side sides[] = {SCOPES_DIFF_BASE, SCOPES_DIFF_NEW};

    s->repeated =
        least_p(s->runs[0], s->runs[1]) <= 1 - diff->options.confidence + 1e-12;
    for (size_t i = 0; i < 2; i++)
        s->units[i] = s->runs[i] * parts_of_a_run(diff, sides[i]);
    diff->units = calloc(s->units[0] + s->units[1], sizeof(*diff->units));
    if (!diff->units)
        return no_memory();
    for (size_t i = 0; i < 2; i++) {
        size_t parts = parts_of_a_run(diff, sides[i]);
        for (size_t run = 0; run < diff->run_count; run++) {
            for (size_t p = 0; p < parts && diff->sides[run] == sides[i]; p++)
                diff->units[diff->unit_count++] =
                    (scopes__diff_unit){run, p, parts};
        }
    }
    diff->base_units = s->units[0];
    return 0;
}

/* --- items that can be tested --- */

static int compare_samples(const void *a, const void *b)
{
    const scopes__diff_sample *x = a, *y = b;

    return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

static void complete(const scopes_diff *diff, scopes__diff_item *item, int *err)
{
    while (item->part_count < diff->run_count && !*err) {
        item->parts =
            grown(item->parts, item->part_count, sizeof(*item->parts), err);
        if (!*err)
            item->parts[item->part_count++] = (scopes__diff_part){0};
    }
    for (size_t i = 0; i < item->part_count; i++) {
        scopes__diff_part *part = &item->parts[i];
        if (part->count)
            qsort(part->samples, part->count, sizeof(*part->samples),
                  compare_samples);
    }
}

/* How many samples the runs of a side have, in the median. */
static double count_of(const scopes_diff *diff, const scopes__diff_item *item,
                       scopes_diff_side side, double *room)
{
    size_t count = 0;

    for (size_t run = 0; run < diff->run_count; run++)
        if (diff->sides[run] == side)
            room[count++] = (double)item->parts[run].seen;
    scopes__diff_sort(room, count);
    return scopes__diff_median(room, count);
}

static bool is_on(const scopes_diff *diff, const scopes__diff_item *item,
                  scopes_diff_side side)
{
    for (size_t run = 0; run < diff->run_count; run++)
        if (diff->sides[run] == side && item->parts[run].seen > 0)
            return true;
    return false;
}

/* Does it take enough of as many runs as are half of the smaller side? So what
 * only one side has much of is not left out, and what took long in some run is;
 * which side a run is on plays no part. */
static bool is_large(const scopes_diff *diff, const scopes__diff_item *item,
                     scopes__diff_statistic statistic, double *room)
{
    const size_t *runs = diff->summary.runs;
    size_t half = ((runs[0] < runs[1] ? runs[0] : runs[1]) + 1) / 2;
    double share;

    for (size_t run = 0; run < diff->run_count; run++) {
        const scopes__diff_part *part = &item->parts[run];
        double ns =
            statistic == SCOPES__MEAN ? part->total_ns : part->typical_ns;
        room[run] = diff->runs_ns[run] > 0 ? ns / diff->runs_ns[run] : 0;
    }
    scopes__diff_sort(room, diff->run_count);
    share = room[diff->run_count - half];
    return share > 0 && share >= diff->options.min_share;
}

/* Has a run of this side lost events? Then what it does not have may have been
 * in what is lost. */
static bool has_lost(const scopes_diff *diff, scopes_diff_side side)
{
    for (size_t run = 0; run < diff->run_count; run++)
        if (diff->sides[run] == side && diff->lost[run])
            return true;
    return false;
}

/* What is known without a test. */
static void place(scopes_diff *diff, scopes__diff_item *item, double *room)
{
    bool base = is_on(diff, item, SCOPES_DIFF_BASE);
    bool new = is_on(diff, item, SCOPES_DIFF_NEW);

    item->decision = SCOPES__NO_CHANGE;
    if (base && new) {
        diff->summary.items++;
        /* Each thread has a begin and an end. */
        diff->any_common |= item->kind < SCOPES__STEP && *item->path;
    } else if (has_lost(diff, base ? SCOPES_DIFF_NEW : SCOPES_DIFF_BASE)) {
        item->decision = SCOPES__NOT_IN_ALL;
        diff->summary.partial += is_large(diff, item, SCOPES__MEAN, room);
    } else {
        item->decision = base ? SCOPES__ONLY_BASE : SCOPES__ONLY_NEW;
        diff->summary.only[base ? 0 : 1]++;
    }
}

static double *make_room(const scopes_diff *diff, const scopes__diff_item *item)
{
    size_t most = 1;

    for (size_t run = 0; run < diff->run_count; run++)
        if (item->parts[run].count > most)
            most = item->parts[run].count;
    return malloc(most * sizeof(double));
}

/* Puts the values of all units into `values`. `has`: none is without. */
static int make_values(const scopes_diff *diff, const scopes__diff_item *item,
                       scopes__diff_statistic statistic, double *values,
                       bool *has)
{
    double *room = make_room(diff, item);

    if (!room)
        return no_memory();
    *has = !item->apart;
    for (size_t i = 0; i < diff->unit_count && *has; i++)
        *has = scopes__diff_value(diff, item, i, statistic, room, &values[i]);
    free(room);
    return 0;
}

static bool is_in_all(const scopes_diff *diff, const scopes__diff_item *item)
{
    for (size_t run = 0; run < diff->run_count; run++)
        if (item->parts[run].count == 0)
            return false;
    return !item->apart;
}

/* An item with one sample in a run has one number. */
static bool is_single(const scopes__diff_item *item)
{
    return item->count[0] <= 1 && item->count[1] <= 1;
}

/* Which a faster machine makes shorter; or might, as what a wrapper computes.
 */
static bool is_cause(const scopes__diff_item *item)
{
    return item->kind < SCOPES__WAITING && !is_single(item);
}

static bool is_computing(const scopes__diff_item *item)
{
    return (item->kind == SCOPES__COMPUTING || item->kind == SCOPES__REGION) &&
           !is_single(item);
}

/* The values of all statistics but the relative one, each with room for the
 * same drawn in. */
static int item_values(scopes_diff *diff, scopes__diff_item *item,
                       double *values, double *room)
{
    const scopes__diff_statistic statistics[] = {SCOPES__TYPICAL, SCOPES__MEAN};
    bool large = false, any = false, has = false;
    int err = 0;

    for (size_t i = 0; i < 2 && !err; i++) {
        scopes__diff_statistic s = statistics[i];
        scopes__diff_result *r = &item->results[s];
        double *own = values + 2 * s * diff->unit_count;
        if ((s == SCOPES__MEAN && is_single(item)) ||
            !is_large(diff, item, s, room))
            continue;
        large = true;
        err = make_values(diff, item, s, own, &has);
        if (!err && has) {
            r->values = own;
            r->drawn = own + diff->unit_count;
            any = true;
        }
    }
    diff->summary.tested += any;
    if (any || err)
        return err;
    item->decision = !large                  ? SCOPES__TOO_SMALL
                     : is_in_all(diff, item) ? SCOPES__TOO_FEW
                                             : SCOPES__NOT_IN_ALL;
    diff->summary.partial += item->decision == SCOPES__NOT_IN_ALL;
    return 0;
}

/* --- how fast a run was as a whole --- */

/* Items, for a median that one of them hardly moves. */
#define COMPUTING_LEAST 4

/* Without references, values of different items are not alike: only how they
 * differ from run to run counts. */
static void centre(const scopes_diff *diff, double *room)
{
    for (scopes__diff_item *i = diff->items; i; i = i->hh.next) {
        scopes__diff_result *r = &i->results[SCOPES__TYPICAL];
        if (!is_computing(i) || !r->values)
            continue;
        memcpy(room, r->values, diff->unit_count * sizeof(*room));
        scopes__diff_sort(room, diff->unit_count);
        r->centre = scopes__diff_median(room, diff->unit_count);
    }
}

static double relative_speed(const scopes_diff *diff, size_t unit, double *room)
{
    size_t count = 0;

    for (const scopes__diff_item *i = diff->items; i; i = i->hh.next) {
        const scopes__diff_result *r = &i->results[SCOPES__TYPICAL];
        if (is_computing(i) && r->values)
            room[count++] = r->values[unit] - r->centre;
    }
    scopes__diff_sort(room, count);
    return count < COMPUTING_LEAST ? (double)NAN
                                   : scopes__diff_median(room, count);
}

static void relative_values(scopes_diff *diff, double *room)
{
    centre(diff, room);
    for (size_t unit = 0; unit < diff->unit_count; unit++) {
        double speed = relative_speed(diff, unit, room);
        if (isnan(speed))
            return;
        for (scopes__diff_item *i = diff->items; i; i = i->hh.next) {
            scopes__diff_result *r = &i->results[SCOPES__RELATIVE];
            const double *typical = i->results[SCOPES__TYPICAL].values;
            if (!is_cause(i) || !typical)
                continue;
            r->values = i->results[SCOPES__TYPICAL].drawn + diff->unit_count;
            r->drawn = r->values + diff->unit_count;
            r->values[unit] = typical[unit] - speed;
        }
    }
}

static int make_items(scopes_diff *diff, double *room)
{
    size_t row = 2 * SCOPES__STATISTICS * diff->unit_count, at = 0;
    int err = 0;

    for (scopes__diff_item *i = diff->items; i && !err; i = i->hh.next) {
        complete(diff, i, &err);
        if (err)
            break;
        place(diff, i, room);
        i->count[0] = count_of(diff, i, SCOPES_DIFF_BASE, room);
        i->count[1] = count_of(diff, i, SCOPES_DIFF_NEW, room);
    }
    diff->memory =
        calloc(HASH_COUNT(diff->items) + 1, row * sizeof(*diff->memory));
    if (!err && !diff->memory)
        err = no_memory();
    for (scopes__diff_item *i = diff->items; i && !err; i = i->hh.next) {
        if (i->decision != SCOPES__NO_CHANGE)
            continue;
        err = scopes__diff_align(diff, i);
        if (!err)
            err = item_values(diff, i, diff->memory + row * at++, room);
    }
    if (!err)
        relative_values(diff, room);
    return err;
}

/* --- decisions --- */

/* The change as a share of what it was; of an item that took no time before
 * it is infinite. */
static double share_of(const scopes__diff_item *item,
                       const scopes__diff_result *r, double change)
{
    if (!item->linear)
        return expm1(change);
    if (change == 0)
        return 0;
    return r->level > 0 ? change / r->level : change > 0 ? INFINITY : -INFINITY;
}

/* A change in a run, in ns. */
static double run_change(const scopes__diff_item *item,
                         const scopes__diff_result *r)
{
    double ns = item->linear ? r->change : r->level * expm1(r->change);

    return ns * item->count[1];
}

static bool is_small(const scopes_diff *diff, const scopes__diff_item *item,
                     const scopes__diff_result *r)
{
    double of_run =
        diff->options.threshold * diff->options.min_share * diff->run_ns;

    return fabs(share_of(item, r, r->change)) < diff->options.threshold ||
           fabs(run_change(item, r)) < of_run;
}

/* That one item changed, against that all others did, by one and the same
 * factor. */
#define ODDS 1000.0

/* What became slower relative to the rest of its run either became slower, or
 * the rest became faster. That is told from the typical time itself, by the
 * likelihood of both if its error is normal. */
static bool has_the_rest_changed(const scopes__diff_item *item,
                                 const scopes__diff_result *r)
{
    const scopes__diff_result *typical = &item->results[SCOPES__TYPICAL];
    double by = fabs(r->change);
    double own = r->change > 0 ? typical->change : -typical->change;

    return r == &item->results[SCOPES__RELATIVE] && by > 0 &&
           own < by / 2 - typical->error * typical->error * log(ODDS) / by;
}

static scopes__diff_decision decide(const scopes_diff *diff,
                                    const scopes__diff_item *item,
                                    const scopes__diff_result *r)
{
    bool slower = r->change > 0;

    if (!r->values || r->p > 1 - diff->options.confidence + 1e-12 ||
        r->change == 0 || has_the_rest_changed(item, r))
        return SCOPES__NO_CHANGE;
    if (is_small(diff, item, r))
        return SCOPES__BELOW_THRESHOLD;
    if (diff->summary.repeated)
        return slower ? SCOPES__SLOWER : SCOPES__FASTER;
    return slower ? SCOPES__UNSURE_SLOWER : SCOPES__UNSURE_FASTER;
}

/* The thread for which it waits longer than before. */
static const char *longer_for(const scopes_diff *diff,
                              const scopes__diff_item *item)
{
    const char *found = NULL;
    double most = 0;

    for (size_t i = 0; i < item->wait_count; i++) {
        const scopes__diff_for *w = &item->waits[i];
        double change = w->ns[1] / (double)diff->summary.runs[1] -
                        w->ns[0] / (double)diff->summary.runs[0];
        if (item->total_ns < 0)
            change = -change;
        if (change > most) {
            most = change;
            found = w->thread;
        }
    }
    return found;
}

/* Shown is the first of the numbers that has changed: `typical` before those
 * that need an explanation. */
static int conclude(scopes_diff *diff, scopes__diff_item *item)
{
    item->statistic =
        item->results[SCOPES__TYPICAL].values ? SCOPES__TYPICAL : SCOPES__MEAN;
    item->decision = decide(diff, item, &item->results[item->statistic]);
    for (unsigned s = 0; s < SCOPES__STATISTICS; s++) {
        scopes__diff_decision d = decide(diff, item, &item->results[s]);
        if (d < item->decision) {
            item->decision = d;
            item->statistic = s;
        }
    }
    item->total_ns = run_change(item, &item->results[item->statistic]);
    item->for_thread = longer_for(diff, item);
    return item->decision < SCOPES__ONLY_BASE ? scopes__diff_steps(diff, item)
                                              : 0;
}

static void count_decision(scopes_diff_summary *s, scopes__diff_decision d)
{
    s->slower += d == SCOPES__SLOWER;
    s->faster += d == SCOPES__FASTER;
    s->small += d == SCOPES__BELOW_THRESHOLD;
    s->unsure += d == SCOPES__UNSURE_SLOWER || d == SCOPES__UNSURE_FASTER;
}

/* What a change of this item would have to be, to be found. */
static double detectable_of(const scopes_diff *diff,
                            const scopes__diff_item *item)
{
    double least = (double)NAN;

    for (unsigned s = 0; s < SCOPES__STATISTICS && is_computing(item); s++)
        if (item->results[s].values)
            least = fmin(least, expm1(diff->critical * item->results[s].error));
    return least;
}

static int conclude_all(scopes_diff *diff, double *room)
{
    size_t count = 0;
    int err = 0;

    for (scopes__diff_item *i = diff->items; i && !err; i = i->hh.next) {
        double detectable;
        if (i->decision != SCOPES__NO_CHANGE)
            continue;
        err = conclude(diff, i);
        count_decision(&diff->summary, i->decision);
        detectable = detectable_of(diff, i);
        if (!isnan(detectable))
            room[count++] = detectable;
    }
    scopes__diff_sort(room, count);
    diff->summary.typical_detectable = scopes__diff_median(room, count);
    return err;
}

/* The median time of a run. */
static void measure_runs(scopes_diff *diff, double *room)
{
    memcpy(room, diff->runs_ns, diff->run_count * sizeof(*room));
    scopes__diff_sort(room, diff->run_count);
    diff->run_ns = scopes__diff_median(room, diff->run_count);
}

static bool has_too_few(const scopes_diff *diff)
{
    for (const scopes__diff_item *i = diff->items; i; i = i->hh.next)
        if (i->decision == SCOPES__TOO_FEW)
            return true;
    return false;
}

static int check_items(const scopes_diff *diff)
{
    if (!diff->any_common)
        return pastset_fail(
            PASTSET_ENOENT,
            "the runs have nothing in common: no thread has a path or region "
            "of the same name on both sides");
    if (diff->summary.tested == 0 && diff->summary.partial)
        return pastset_fail(
            PASTSET_ENOENT,
            "nothing can be compared: as events are missing, the runs have no "
            "samples of the same steps. If trace elements were full, give them "
            "more room: see --trace-size of `eventspace map instrument`");
    if (diff->summary.tested == 0 && has_too_few(diff))
        return pastset_fail(
            PASTSET_ENOENT,
            "nothing can be compared: where runs are so few, their steps are, "
            "and the runs have fewer than %d. Give more runs of each",
            UNITS);
    if (diff->summary.tested == 0)
        return pastset_fail(
            PASTSET_ENOENT,
            "nothing can be compared: no thread, hop or region that all runs "
            "have takes %g of them or more",
            diff->options.min_share);
    return 0;
}

static int check_sides(const scopes_diff *diff)
{
    if (diff->summary.runs[0] && diff->summary.runs[1])
        return 0;
    return pastset_fail(PASTSET_EINVAL, "there are no runs to compare %s",
                        diff->summary.runs[0] ? "with" : "");
}

int scopes_diff_compare(scopes_diff *diff, scopes_diff_summary *out)
{
    size_t count = HASH_COUNT(diff->items) + diff->run_count;
    double *room = NULL;
    int err = check_sides(diff);

    if (!err)
        err = make_units(diff);
    if (!err) {
        room = calloc(count + diff->unit_count, sizeof(*room));
        err = room ? 0 : no_memory();
    }
    if (!err)
        err = make_items(diff, room);
    if (!err)
        err = check_items(diff);
    if (!err)
        err = scopes__diff_permute(diff);
    if (!err) {
        measure_runs(diff, room);
        err = conclude_all(diff, room);
    }
    free(room);
    if (out)
        *out = diff->summary;
    return err;
}
