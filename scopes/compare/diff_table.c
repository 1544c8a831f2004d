/* diff_table.c - what a comparison has found, as rows.
 *
 * What was found stands first, causes before effects and slower before faster,
 * each with what makes most of a run first; then what only one side has. */
#include "scopes/compare/diff_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

static const scopes_column columns[] = {
    {"decision", "decision", SCOPES_TEXT},
    {"kind", "kind", SCOPES_TEXT},
    {"thread", "thread", SCOPES_TEXT},
    {"path", "path", SCOPES_TEXT},
    {"what", "what", SCOPES_TEXT},
    {"for_thread", "for thread", SCOPES_TEXT},
    {"statistic", "by", SCOPES_TEXT},
    {"base_ns", "base ms", SCOPES_TIME_NS},
    {"new_ns", "new ms", SCOPES_TIME_NS},
    {"change_ns", "change ms", SCOPES_TIME_NS},
    {"change_share", "change", SCOPES_SHARE},
    {"lower_share", "from", SCOPES_SHARE},
    {"upper_share", "to", SCOPES_SHARE},
    {"noise_share", "noise", SCOPES_SHARE},
    {"run_ns", "in a run ms", SCOPES_TIME_NS},
    {"base_count", "base count", SCOPES_COUNT},
    {"new_count", "new count", SCOPES_COUNT},
    {"first_step", "first step", SCOPES_NUMBER},
    {"last_step", "last step", SCOPES_NUMBER},
    {"p", "p", SCOPES_REAL},
};

static const char *const decisions[] = {
    [SCOPES__SLOWER] = "slower",
    [SCOPES__FASTER] = "faster",
    [SCOPES__UNSURE_SLOWER] = "slower?",
    [SCOPES__UNSURE_FASTER] = "faster?",
    [SCOPES__ONLY_BASE] = "only in base",
    [SCOPES__ONLY_NEW] = "only in new",
    [SCOPES__BELOW_THRESHOLD] = "below threshold",
    [SCOPES__NO_CHANGE] = "no change found",
    [SCOPES__TOO_SMALL] = "too small",
    [SCOPES__TOO_FEW] = "too few samples",
    [SCOPES__NOT_IN_ALL] = "not in all runs",
};

static const char *const kinds[] = {
    [SCOPES__REGION] = "region",   [SCOPES__COMPUTING] = "computing",
    [SCOPES__HOP] = "hop",         [SCOPES__OPERATION] = "operation",
    [SCOPES__WAITING] = "waiting", [SCOPES__STEP] = "step",
    [SCOPES__RUN] = "run",
};

static const char *const statistics[] = {
    [SCOPES__TYPICAL] = "typical",
    [SCOPES__RELATIVE] = "relative",
    [SCOPES__MEAN] = "mean",
};

/* --- the order --- */

/* A cause before its effects: slower, then faster. */
static int rank_of(const scopes__diff_item *item)
{
    bool faster = item->decision == SCOPES__FASTER ||
                  item->decision == SCOPES__UNSURE_FASTER;

    if (item->decision >= SCOPES__ONLY_BASE)
        return 4 + (int)item->decision;
    return 2 * faster + (item->kind >= SCOPES__WAITING);
}

static int compare(const void *left, const void *right)
{
    const scopes__diff_item *a = *(const scopes__diff_item *const *)left;
    const scopes__diff_item *b = *(const scopes__diff_item *const *)right;
    double x = fabs(a->total_ns), y = fabs(b->total_ns);

    if (rank_of(a) != rank_of(b))
        return rank_of(a) < rank_of(b) ? -1 : 1;
    if (x != y)
        return x > y ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (strcmp(a->thread, b->thread) != 0)
        return strcmp(a->thread, b->thread);
    if (strcmp(a->path, b->path) != 0)
        return strcmp(a->path, b->path);
    return strcmp(a->what, b->what);
}

/* --- cells --- */

static int64_t whole(double number)
{
    return isfinite(number) && fabs(number) < 9e18 ? llround(number)
                                                   : SCOPES_BLANK;
}

static double finite_share(double share)
{
    return isfinite(share) ? share : (double)NAN;
}

/* What a change in the item's own scale is, in ns and as a share. */
static double in_ns(const scopes__diff_item *item, double change)
{
    const scopes__diff_result *r = &item->results[item->statistic];

    return item->linear ? change : r->level * expm1(change);
}

static void add_share(scopes_table *out, const scopes__diff_item *item,
                      double change)
{
    const scopes__diff_result *r = &item->results[item->statistic];

    scopes_table_real(out, item->linear && !(r->level > 0)
                               ? (double)NAN
                               : finite_share(in_ns(item, change) / r->level));
}

/* The standard deviation between units, from that of a difference. */
static double noise_of(const scopes_diff *diff, const scopes__diff_result *r)
{
    double a = (double)diff->base_units;
    double b = (double)(diff->unit_count - diff->base_units);

    return r->error / sqrt(1 / a + 1 / b);
}

static void add_result(scopes_table *out, const scopes_diff *diff,
                       const scopes__diff_item *item)
{
    const scopes__diff_result *r = &item->results[item->statistic];
    double c = diff->critical * r->error;

    scopes_table_text(out, statistics[item->statistic]);
    scopes_table_integer(out, whole(r->level));
    scopes_table_integer(out, whole(r->level + in_ns(item, r->change)));
    scopes_table_integer(out, whole(in_ns(item, r->change)));
    add_share(out, item, r->change);
    add_share(out, item, r->change - c);
    add_share(out, item, r->change + c);
    add_share(out, item, noise_of(diff, r));
    scopes_table_integer(out, whole(item->total_ns));
}

static void add_no_result(scopes_table *out)
{
    scopes_table_text(out, "");
    for (int i = 0; i < 3; i++)
        scopes_table_integer(out, SCOPES_BLANK);
    for (int i = 0; i < 4; i++)
        scopes_table_real(out, (double)NAN);
    scopes_table_integer(out, SCOPES_BLANK);
}

static void add_row(scopes_table *out, const scopes_diff *diff,
                    const scopes__diff_item *item)
{
    const scopes__diff_result *r = &item->results[item->statistic];

    scopes_table_text(out, decisions[item->decision]);
    scopes_table_text(out, kinds[item->kind]);
    scopes_table_text(out, item->thread);
    scopes_table_text(out, item->path);
    scopes_table_text(out, item->what);
    scopes_table_text(out, item->for_thread ? item->for_thread : "");
    if (r->values)
        add_result(out, diff, item);
    else
        add_no_result(out);
    scopes_table_integer(out, whole(item->count[0]));
    scopes_table_integer(out, whole(item->count[1]));
    scopes_table_integer(out,
                         item->first_step ? item->first_step : SCOPES_BLANK);
    scopes_table_integer(out,
                         item->first_step ? item->last_step : SCOPES_BLANK);
    scopes_table_real(out, r->values ? r->p : (double)NAN);
}

int scopes_diff_table(scopes_table **out, const scopes_diff *diff, bool all)
{
    size_t count = 0, items = HASH_COUNT(diff->items);
    const scopes__diff_item **rows = malloc((items + 1) * sizeof(*rows));
    scopes_table *table =
        rows ? scopes_table_create(columns, sizeof(columns) / sizeof(*columns))
             : NULL;
    int err = 0;

    *out = NULL;
    if (!table) {
        free(rows);
        return pastset_no_memory("for comparing runs");
    }
    for (const scopes__diff_item *i = diff->items; i; i = i->hh.next)
        if (all || i->decision < SCOPES__BELOW_THRESHOLD)
            rows[count++] = i;
    qsort(rows, count, sizeof(*rows), compare);
    for (size_t i = 0; i < count; i++)
        add_row(table, diff, rows[i]);
    free(rows);
    err = scopes_table_status(table);
    if (err)
        scopes_table_destroy(table);
    else
        *out = table;
    return err;
}
