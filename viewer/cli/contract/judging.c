/* judging.c - see judging.h. */
#include "viewer/cli/contract/judging.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contracts/check/checker.h"
#include "pastset/array.h"
#include "pastset/status.h"
#include "viewer/cli/command.h"
#include "viewer/cli/contract/measured_run.h"

/* Of the intervals in which a metric was the one that is farthest off. */
typedef struct metric_sum {
    size_t count;
    double value, expected;
} metric_sum;

/* Intervals, one after the other, in which a process violates a contract. Those
 * in between that are not known are not counted. */
typedef struct episode {
    uint32_t process;
    contracts_kind kind;
    size_t first, last, count;
    double level; /* the sum */
    size_t causes[CONTRACTS_CAUSES];
    metric_sum *metrics; /* by metric */
    size_t *others;      /* by cause, then by process: in how many intervals */
    size_t *links;       /* by link of the cluster: the same; NULL: no links */
} episode;

/* Intervals that are off, and too few so far to violate a contract: they belong
 * to the violation if enough follow. */
typedef struct off_so_far {
    struct {
        size_t interval;
        contracts_level level;
    } * all;
    size_t count, room;
} off_so_far;

struct cli_judging {
    const contracts_contract *c;
    cli_measured m;
    contracts_checker *checker;
    episode *episodes;
    size_t episode_count;
    uint32_t rows;                    /* of judgements */
    size_t *open[CONTRACTS_KINDS];    /* by row: number + 1 of the episode */
    off_so_far *off[CONTRACTS_KINDS]; /* by row */
    size_t *known;                    /* by row: intervals with a level */
    size_t violated;                  /* intervals of processes */
    scopes_table *violations, *detail;
    scopes_table *levels[CONTRACTS_KINDS];
    scopes_column *level_columns;
    char (*level_keys)[16]; /* a name may be that of another column */
    double
        *highest; /* by kind, then by row: of intervals that are shown as one */
};

static const char *name_of(const cli_judging *k, uint32_t row)
{
    return contracts_checker_name(k->checker, row);
}

static int64_t start_of(const cli_judging *k, size_t interval)
{
    return k->m.course->from_ns + (int64_t)interval * k->m.course->interval_ns;
}

static int episode_begin(cli_judging *k, uint32_t process, contracts_kind kind,
                         size_t interval)
{
    episode *new =
        pastset_array_grow(k->episodes, k->episode_count, sizeof(*new));

    if (!new)
        return pastset_no_memory("for what was violated");
    k->episodes = new;
    new += k->episode_count;
    *new = (episode){.process = process, .kind = kind, .first = interval};
    k->open[kind][process] = ++k->episode_count;
    new->others =
        calloc(CONTRACTS_CAUSES * ((size_t)k->m.processes + 1), sizeof(size_t));
    new->metrics = calloc(contracts_metrics_count(k->c->metrics) + 1,
                          sizeof(*new->metrics));
    if (k->c->cluster)
        new->links = calloc(k->c->cluster->link_count + 1, sizeof(*new->links));
    return new->others &&new->metrics && (new->links || !k->c->cluster)
               ? 0
               : pastset_no_memory("for what was violated");
}

static size_t *others_of(const cli_judging *k, const episode *e, size_t cause)
{
    return &e->others[cause * ((size_t)k->m.processes + 1)];
}

static void level_add(episode *e, const contracts_level *level, size_t interval)
{
    e->count++;
    e->last = interval;
    e->level += level->level;
    e->metrics[level->metric].count++;
    e->metrics[level->metric].value += level->value;
    e->metrics[level->metric].expected += level->expected;
}

static void episode_add(const cli_judging *k, episode *e,
                        const contracts_judgement *j, size_t interval)
{
    level_add(e, &j->levels[e->kind], interval);
    e->causes[j->cause]++;
    if (j->other != CONTRACTS_NONE)
        others_of(k, e, j->cause)[j->other]++;
    if (j->link != CONTRACTS_NONE)
        e->links[j->link]++;
}

/* --- what is violated --- */

static const char *violated_text(bool intrinsic, bool performance)
{
    return intrinsic     ? performance ? "both" : "intrinsic"
           : performance ? "performance"
                         : "";
}

#define DETAIL_VIOLATED 6 /* of its columns */

/* The rows of an interval follow each other. */
static void detail_mark(cli_judging *k, uint32_t row, size_t interval,
                        contracts_kind kind)
{
    size_t at = interval * k->rows + row;
    bool has_other;

    if (at >= scopes_table_rows(k->detail)) /* memory was out */
        return;
    has_other = *scopes_table_cell(k->detail, at, DETAIL_VIOLATED).text != '\0';
    scopes_table_set_text(
        k->detail, at, DETAIL_VIOLATED,
        violated_text(has_other || kind == CONTRACTS_INTRINSIC,
                      has_other || kind == CONTRACTS_PERFORMANCE));
}

static int off_keep(off_so_far *off, const contracts_level *level,
                    size_t interval)
{
    if (off->count == off->room) {
        void *grown =
            pastset_array_grow(off->all, off->count, sizeof(*off->all));
        if (!grown)
            return pastset_no_memory("for what was violated");
        off->all = grown;
        off->room++;
    }
    off->all[off->count].interval = interval;
    off->all[off->count++].level = *level;
    return 0;
}

/* What was off before is known now to violate the contract. */
static void off_join(cli_judging *k, uint32_t row, episode *e)
{
    off_so_far *off = &k->off[e->kind][row];

    for (size_t i = 0; i < off->count; i++) {
        size_t interval = off->all[i].interval;
        level_add(e, &off->all[i].level, interval);
        k->violated++;
        if (k->detail)
            detail_mark(k, row, interval, e->kind);
    }
    if (off->count)
        e->first = off->all[0].interval;
    off->count = 0;
}

static int take(cli_judging *k, uint32_t process, const contracts_judgement *j,
                size_t interval)
{
    int err = 0;

    for (int kind = 0; kind < CONTRACTS_KINDS && !err; kind++) {
        const contracts_level *level = &j->levels[kind];
        k->known[process] += !isnan(level->level);
        if (isnan(level->level))
            continue;
        if (level->level < CONTRACTS_VIOLATED_LEVEL)
            k->open[kind][process] = k->off[kind][process].count = 0;
        else if (!level->is_violated)
            err = off_keep(&k->off[kind][process], level, interval);
        if (!level->is_violated)
            continue;
        k->violated++;
        if (!k->open[kind][process]) {
            err = episode_begin(k, process, (contracts_kind)kind, interval);
            if (!err)
                off_join(k, process, &k->episodes[k->episode_count - 1]);
        }
        if (!err)
            episode_add(k, &k->episodes[k->open[kind][process] - 1], j,
                        interval);
    }
    return err;
}

/* --- tables --- */

static const scopes_column columns[] = {
    {"process", "process", SCOPES_TEXT},
    {"contract", "contract", SCOPES_TEXT},
    {"start_ns", "from ms", SCOPES_TIME_NS},
    {"end_ns", "to ms", SCOPES_TIME_NS},
    {"intervals", "intervals", SCOPES_COUNT},
    {"level", "level", SCOPES_REAL},
    {"metric", "metric", SCOPES_TEXT},
    {"measured", "measured", SCOPES_REAL},
    {"expected", "expected", SCOPES_REAL},
    {"cause", "cause", SCOPES_TEXT},
    {"other", "other", SCOPES_TEXT},
    {"link", "link", SCOPES_TEXT}, /* where the contract has a cluster */
};

static const scopes_column detail_columns[] = {
    {"process", "process", SCOPES_TEXT},
    {"start_ns", "from ms", SCOPES_TIME_NS},
    {"intrinsic_level", "intrinsic level", SCOPES_REAL},
    {"intrinsic_distance", "distance", SCOPES_REAL},
    {"performance_level", "performance level", SCOPES_REAL},
    {"performance_distance", "distance", SCOPES_REAL},
    {"violated", "violated", SCOPES_TEXT},
    {"cause", "cause", SCOPES_TEXT},
    {"other", "other", SCOPES_TEXT},
    {"link", "link", SCOPES_TEXT}, /* where the contract has a cluster */
};

static scopes_table *table_create(const cli_judging *k,
                                  const scopes_column *all, size_t count)
{
    return scopes_table_create(all, k->c->cluster ? count : count - 1);
}

static void link_cell(const cli_judging *k, scopes_table *table, uint32_t link)
{
    char text[CONTRACTS_LINK_BYTES];

    if (!k->c->cluster)
        return;
    contracts_link_text(text, k->c, link);
    scopes_table_copy(table, text);
}

static void detail_row(cli_judging *k, uint32_t process,
                       const contracts_judgement *j, size_t interval)
{
    const contracts_level *intrinsic = &j->levels[CONTRACTS_INTRINSIC];
    const contracts_level *performance = &j->levels[CONTRACTS_PERFORMANCE];

    scopes_table_text(k->detail, name_of(k, process));
    scopes_table_integer(k->detail, start_of(k, interval));
    scopes_table_real(k->detail, intrinsic->level);
    scopes_table_real(k->detail, intrinsic->distance);
    scopes_table_real(k->detail, performance->level);
    scopes_table_real(k->detail, performance->distance);
    scopes_table_text(k->detail, violated_text(intrinsic->is_violated,
                                               performance->is_violated));
    scopes_table_text(k->detail, contracts_cause_names[j->cause]);
    scopes_table_text(k->detail,
                      j->other == CONTRACTS_NONE ? "" : name_of(k, j->other));
    link_cell(k, k->detail, j->link);
}

/* Of each process and of all, of some intervals that follow each other: the
 * highest of them. */
static void level_rows(cli_judging *k, const contracts_judgement *all,
                       size_t interval)
{
    size_t each =
        (k->m.course->intervals + CLI_LEVELS_MAX - 1) / CLI_LEVELS_MAX;
    bool is_first = interval % each == 0,
         is_last = (interval + 1) % each == 0 ||
                   interval + 1 == k->m.course->intervals;

    for (int kind = 0; kind < CONTRACTS_KINDS; kind++) {
        double *highest = &k->highest[(size_t)kind * k->rows];
        if (is_last)
            scopes_table_integer(k->levels[kind],
                                 start_of(k, interval - interval % each));
        for (uint32_t p = 0; p < k->rows; p++) {
            double level = all[p].levels[kind].level;
            highest[p] = is_first ? level : fmax(highest[p], level);
            if (is_last)
                scopes_table_real(k->levels[kind], highest[p]);
        }
    }
}

static size_t most_of(const size_t *counts, size_t count)
{
    size_t most = 0;

    for (size_t i = 1; i < count; i++)
        if (counts[i] > counts[most])
            most = i;
    return most;
}

static size_t metric_of(const cli_judging *k, const episode *e)
{
    size_t most = 0;

    for (size_t i = 1; i < contracts_metrics_count(k->c->metrics); i++)
        if (e->metrics[i].count > e->metrics[most].count)
            most = i;
    return most;
}

/* Whom the cause of most intervals names. */
static const char *other_name(const cli_judging *k, const episode *e,
                              size_t cause)
{
    const size_t *others = others_of(k, e, cause);
    size_t other = most_of(others, k->m.processes);

    return others[other] > 0 ? name_of(k, (uint32_t)other) : "";
}

/* The link that is named in most intervals; CONTRACTS_NONE. */
static uint32_t link_name(const cli_judging *k, const episode *e)
{
    size_t most;

    if (!e->links)
        return CONTRACTS_NONE;
    most = most_of(e->links, k->c->cluster->link_count);
    return e->links[most] > 0 ? (uint32_t)most : CONTRACTS_NONE;
}

static void episode_row(const cli_judging *k, const episode *e)
{
    size_t cause = most_of(e->causes, CONTRACTS_CAUSES);
    size_t metric = metric_of(k, e);
    double count = (double)e->metrics[metric].count;

    scopes_table_text(k->violations, name_of(k, e->process));
    scopes_table_text(k->violations, contracts_kind_names[e->kind]);
    scopes_table_integer(k->violations, start_of(k, e->first));
    scopes_table_integer(k->violations, start_of(k, e->last + 1));
    scopes_table_integer(k->violations, (int64_t)e->count);
    scopes_table_real(k->violations, e->level / (double)e->count);
    scopes_table_text(k->violations,
                      contracts_metric_name(k->c->metrics, metric));
    scopes_table_real(k->violations, e->metrics[metric].value / count);
    scopes_table_real(k->violations, e->metrics[metric].expected / count);
    scopes_table_text(k->violations, contracts_cause_names[cause]);
    scopes_table_text(k->violations, other_name(k, e, cause));
    link_cell(k, k->violations,
              cause == CONTRACTS_LINK ? link_name(k, e) : CONTRACTS_NONE);
}

/* --- all of it --- */

/* A table that is not whole has no memory for the rest. */
static int tables_status(const cli_judging *k)
{
    const scopes_table *const all[] = {k->violations, k->detail,
                                       k->levels[CONTRACTS_INTRINSIC],
                                       k->levels[CONTRACTS_PERFORMANCE]};
    int err = 0;

    for (size_t i = 0; i < sizeof(all) / sizeof(*all) && !err; i++)
        err = all[i] ? scopes_table_status(all[i]) : 0;
    return err;
}

static int intervals_judge(cli_judging *k)
{
    int err = 0;

    for (size_t i = 0; i < k->m.course->intervals && !err; i++) {
        const contracts_judgement *all;
        err = contracts_checker_next(k->checker, &all, k->m.course, i);
        for (uint32_t p = 0; p < k->rows && !err; p++) {
            err = take(k, p, &all[p], i);
            if (k->detail)
                detail_row(k, p, &all[p], i);
        }
        if (k->levels[0] && !err)
            level_rows(k, all, i);
    }
    for (size_t i = 0; i < k->episode_count && !err; i++)
        episode_row(k, &k->episodes[i]);
    return err ? err : tables_status(k);
}

static int levels_begin(cli_judging *k)
{
    size_t width = (size_t)k->rows + 1;

    k->level_keys = calloc(width, sizeof(*k->level_keys));
    k->level_columns = calloc(width, sizeof(*k->level_columns));
    k->highest = calloc(CONTRACTS_KINDS * width, sizeof(*k->highest));
    if (!k->level_keys || !k->level_columns || !k->highest)
        return pastset_no_memory("for a table");
    k->level_columns[0] =
        (scopes_column){"start_ns", "from ms", SCOPES_TIME_NS};
    for (uint32_t p = 0; p < k->rows; p++) {
        char *key = k->level_keys[p];
        snprintf(key, sizeof(k->level_keys[p]), "p%u", p);
        k->level_columns[p + 1] = (scopes_column){
            p == k->m.processes ? "all" : key, name_of(k, p), SCOPES_SHARE};
    }
    for (int kind = 0; kind < CONTRACTS_KINDS; kind++) {
        k->levels[kind] = scopes_table_create(k->level_columns, width);
        if (!k->levels[kind])
            return pastset_no_memory("for a table");
    }
    return 0;
}

static int tables_begin(cli_judging *k, cli_judging_tables tables)
{
    k->violations = table_create(k, CLI_LIST(columns));
    if (tables.detail)
        k->detail = table_create(k, CLI_LIST(detail_columns));
    if (!k->violations || (tables.detail && !k->detail))
        return pastset_no_memory("for a table");
    return tables.levels ? levels_begin(k) : 0;
}

static int begin(cli_judging *k, eventspace_run *run, const char *name,
                 cli_judging_tables tables)
{
    int err = tables.again ? cli_measured_take(&k->m, run, name, k->c)
                           : cli_measured_begin(&k->m, run, name, k->c);

    if (!err)
        err = contracts_checker_create(&k->checker, k->c, k->m.names,
                                       k->m.processes);
    if (err)
        return err;
    k->rows = contracts_checker_rows(k->checker);
    k->known = calloc(k->rows, sizeof(*k->known));
    if (!k->known)
        return pastset_no_memory("for a contract");
    for (int kind = 0; kind < CONTRACTS_KINDS; kind++) {
        k->open[kind] = calloc(k->rows, sizeof(size_t));
        k->off[kind] = calloc(k->rows, sizeof(**k->off));
        if (!k->open[kind] || !k->off[kind])
            return pastset_no_memory("for a contract");
    }
    return tables_begin(k, tables);
}

/* What was not judged was not kept. */
static void warn_of_unknown(const cli_judging *k)
{
    size_t most = 0;

    cli_measured_warn_of_machines(&k->m, k->c);

    for (uint32_t p = 0; p < k->m.processes; p++) {
        if (!contracts_checker_knows(k->checker, p))
            fprintf(stderr,
                    "eventspace: the contract is not about %s: it is not "
                    "judged\n",
                    k->m.names[p]);
        most = k->known[p] > most ? k->known[p] : most;
    }
    for (uint32_t row = k->m.processes; row < k->rows; row++)
        if (contracts_checker_knows(k->checker, row) && k->known[row] == 0)
            fprintf(stderr,
                    "eventspace: the mean of %s is known in no interval: it is "
                    "not judged\n",
                    name_of(k, row));
    for (uint32_t row = k->m.processes + 1; row < k->rows; row++)
        if (!contracts_checker_knows(k->checker, row))
            fprintf(stderr,
                    "eventspace: the contract promises nothing of the group "
                    "%s, or of none of its processes in this run: it is not "
                    "judged\n",
                    name_of(k, row));
    for (uint32_t p = 0; p < k->m.processes; p++)
        if (contracts_checker_knows(k->checker, p) && k->known[p] < most / 2)
            fprintf(stderr,
                    "eventspace: %s is judged in %zu intervals only, others in "
                    "up to %zu: it ended early, was in one operation, or has "
                    "lost events\n",
                    k->m.names[p], k->known[p] / CONTRACTS_KINDS,
                    most / CONTRACTS_KINDS);
}

static bool is_any_known(const cli_judging *k)
{
    for (uint32_t p = 0; p < k->rows; p++)
        if (k->known[p])
            return true;
    return false;
}

int cli_judging_make(cli_judging **out, const contracts_contract *contract,
                     eventspace_run *run, const char *name,
                     cli_judging_tables tables)
{
    cli_judging *k = calloc(1, sizeof(*k));
    int err;

    *out = k;
    if (!k)
        return pastset_no_memory("for a contract");
    k->c = contract;
    err = begin(k, run, name, tables);
    if (!err)
        err = intervals_judge(k);
    if (!err && !is_any_known(k))
        err = pastset_fail(PASTSET_EINVAL,
                           "%s: of no interval of %g s a metric is known that "
                           "the contract is about: the run may be too short",
                           name, contract->interval_s);
    if (!err) {
        if (!tables.again)
            warn_of_unknown(k);
        return 0;
    }
    cli_judging_destroy(k);
    *out = NULL;
    return err;
}

void cli_judging_destroy(cli_judging *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->episode_count; i++) {
        free(k->episodes[i].others);
        free(k->episodes[i].metrics);
        free(k->episodes[i].links);
    }
    free(k->episodes);
    free(k->known);
    for (int kind = 0; kind < CONTRACTS_KINDS; kind++) {
        for (uint32_t row = 0; k->off[kind] && row < k->rows; row++)
            free(k->off[kind][row].all);
        free(k->off[kind]);
        free(k->open[kind]);
        scopes_table_destroy(k->levels[kind]);
    }
    free(k->level_keys);
    free(k->level_columns);
    free(k->highest);
    scopes_table_destroy(k->violations);
    scopes_table_destroy(k->detail);
    contracts_checker_destroy(k->checker);
    cli_measured_end(&k->m);
    free(k);
}

size_t cli_judging_violated(const cli_judging *k)
{
    return k->violated;
}

const scopes_table *cli_judging_violations(const cli_judging *k)
{
    return k->violations;
}

const scopes_table *cli_judging_detail(const cli_judging *k)
{
    return k->detail;
}

const scopes_table *cli_judging_levels(const cli_judging *k,
                                       contracts_kind kind)
{
    return k->levels[kind];
}
