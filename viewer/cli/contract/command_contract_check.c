/* command_contract_check.c - eventspace contract check CONTRACT RUN: when,
 * where and why a run broke a contract. */
#include "viewer/cli/contract/command_contract.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contracts/check/checker.h"
#include "pastset/array.h"
#include "pastset/status.h"
#include "viewer/cli/contract/measured_run.h"
#include "viewer/cli/contract/promise.h"

typedef struct check_arguments {
    cli_promise promise;
    viewer_format format;
    bool detail;
} check_arguments;

static const struct argp_option check_options[] = {
    {"detail", 'd', NULL, 0,
     "Print a row for each process and interval, violated or not", 0},
    CLI_FORMAT_OPTION,
    {0},
};

static error_t parse_check(int key, char *text, struct argp_state *state)
{
    check_arguments *a = state->input;

    switch (key) {
    case 'd':
        a->detail = true;
        return 0;
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    default:
        return cli_take_promise(&a->promise, key, text, state);
    }
}

/* --- what was found --- */

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
} episode;

typedef struct checking {
    const check_arguments *a;
    const contracts_contract *c;
    cli_measured m;
    contracts_checker *checker;
    episode *episodes;
    size_t episode_count;
    size_t *open[CONTRACTS_KINDS]; /* by process: number + 1 of the episode */
    size_t *known;                 /* by process: intervals with a level */
    size_t violated;               /* intervals of processes */
    scopes_table *table;
} checking;

static const char *name_of(const checking *k, uint32_t process)
{
    return process < k->m.processes ? k->m.names[process] : "all";
}

static int64_t start_of(const checking *k, size_t interval)
{
    return k->m.course->from_ns + (int64_t)interval * k->m.course->interval_ns;
}

static int episode_begin(checking *k, uint32_t process, contracts_kind kind,
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
    return new->others &&new->metrics
               ? 0
               : pastset_no_memory("for what was violated");
}

static size_t *others_of(const checking *k, const episode *e, size_t cause)
{
    return &e->others[cause * ((size_t)k->m.processes + 1)];
}

static void episode_add(const checking *k, episode *e,
                        const contracts_judgement *j, size_t interval)
{
    const contracts_level *level = &j->levels[e->kind];

    e->count++;
    e->last = interval;
    e->level += level->level;
    e->metrics[level->metric].count++;
    e->metrics[level->metric].value += level->value;
    e->metrics[level->metric].expected += level->expected;
    e->causes[j->cause]++;
    if (j->other != CONTRACTS_NONE)
        others_of(k, e, j->cause)[j->other]++;
}

static int take(checking *k, uint32_t process, const contracts_judgement *j,
                size_t interval)
{
    int err = 0;

    for (int kind = 0; kind < CONTRACTS_KINDS && !err; kind++) {
        const contracts_level *level = &j->levels[kind];
        k->known[process] += !isnan(level->level);
        if (!level->is_violated) {
            if (!isnan(level->level))
                k->open[kind][process] = 0;
            continue;
        }
        k->violated++;
        if (!k->open[kind][process])
            err = episode_begin(k, process, (contracts_kind)kind, interval);
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
};

static void detail_row(checking *k, uint32_t process,
                       const contracts_judgement *j, size_t interval)
{
    const contracts_level *intrinsic = &j->levels[CONTRACTS_INTRINSIC];
    const contracts_level *performance = &j->levels[CONTRACTS_PERFORMANCE];

    scopes_table_text(k->table, name_of(k, process));
    scopes_table_integer(k->table, start_of(k, interval));
    scopes_table_real(k->table, intrinsic->level);
    scopes_table_real(k->table, intrinsic->distance);
    scopes_table_real(k->table, performance->level);
    scopes_table_real(k->table, performance->distance);
    scopes_table_text(k->table,
                      intrinsic->is_violated
                          ? performance->is_violated ? "both" : "intrinsic"
                      : performance->is_violated ? "performance"
                                                 : "");
    scopes_table_text(k->table, contracts_cause_names[j->cause]);
    scopes_table_text(k->table,
                      j->other == CONTRACTS_NONE ? "" : name_of(k, j->other));
}

static size_t most_of(const size_t *counts, size_t count)
{
    size_t most = 0;

    for (size_t i = 1; i < count; i++)
        if (counts[i] > counts[most])
            most = i;
    return most;
}

static size_t metric_of(const checking *k, const episode *e)
{
    size_t most = 0;

    for (size_t i = 1; i < contracts_metrics_count(k->c->metrics); i++)
        if (e->metrics[i].count > e->metrics[most].count)
            most = i;
    return most;
}

/* Whom the cause of most intervals names. */
static const char *other_name(const checking *k, const episode *e, size_t cause)
{
    const size_t *others = others_of(k, e, cause);
    size_t other = most_of(others, k->m.processes);

    return others[other] > 0 ? name_of(k, (uint32_t)other) : "";
}

static void episode_row(const checking *k, const episode *e)
{
    size_t cause = most_of(e->causes, CONTRACTS_CAUSES);
    size_t metric = metric_of(k, e);
    double count = (double)e->metrics[metric].count;

    scopes_table_text(k->table, name_of(k, e->process));
    scopes_table_text(k->table, contracts_kind_names[e->kind]);
    scopes_table_integer(k->table, start_of(k, e->first));
    scopes_table_integer(k->table, start_of(k, e->last + 1));
    scopes_table_integer(k->table, (int64_t)e->count);
    scopes_table_real(k->table, e->level / (double)e->count);
    scopes_table_text(k->table, contracts_metric_name(k->c->metrics, metric));
    scopes_table_real(k->table, e->metrics[metric].value / count);
    scopes_table_real(k->table, e->metrics[metric].expected / count);
    scopes_table_text(k->table, contracts_cause_names[cause]);
    scopes_table_text(k->table, other_name(k, e, cause));
}

/* --- a check --- */

static int intervals_check(checking *k)
{
    int err = 0;

    for (size_t i = 0; i < k->m.course->intervals && !err; i++) {
        const contracts_judgement *all;
        err = contracts_checker_next(k->checker, &all, k->m.course, i);
        for (uint32_t p = 0; p <= k->m.processes && !err; p++) {
            err = take(k, p, &all[p], i);
            if (k->a->detail)
                detail_row(k, p, &all[p], i);
        }
    }
    return err;
}

static int check_begin(checking *k, eventspace_run *run)
{
    int err = cli_measured_begin(&k->m, run, k->a->promise.run, k->c);

    if (err)
        return err;
    k->known = calloc((size_t)k->m.processes + 1, sizeof(*k->known));
    if (!k->known)
        return pastset_no_memory("for a contract");
    for (int kind = 0; kind < CONTRACTS_KINDS; kind++) {
        k->open[kind] = calloc((size_t)k->m.processes + 1, sizeof(size_t));
        if (!k->open[kind])
            return pastset_no_memory("for a contract");
    }
    k->table = k->a->detail ? scopes_table_create(CLI_LIST(detail_columns))
                            : scopes_table_create(CLI_LIST(columns));
    return k->table ? contracts_checker_create(&k->checker, k->c, k->m.names,
                                               k->m.processes)
                    : pastset_no_memory("for a table");
}

/* What was not judged was not kept. */
static void warn_of_unknown(const checking *k)
{
    size_t most = 0;

    for (uint32_t p = 0; p < k->m.processes; p++) {
        if (!contracts_checker_knows(k->checker, p))
            fprintf(stderr,
                    "eventspace: the contract is not about %s: it is not "
                    "judged\n",
                    k->m.names[p]);
        most = k->known[p] > most ? k->known[p] : most;
    }
    for (uint32_t p = 0; p < k->m.processes; p++)
        if (contracts_checker_knows(k->checker, p) && k->known[p] < most / 2)
            fprintf(stderr,
                    "eventspace: %s is judged in %zu intervals only, others in "
                    "up to %zu: it ended early, was in one operation, or has "
                    "lost events\n",
                    k->m.names[p], k->known[p] / CONTRACTS_KINDS,
                    most / CONTRACTS_KINDS);
}

static bool is_any_known(const checking *k)
{
    for (uint32_t p = 0; p <= k->m.processes; p++)
        if (k->known[p])
            return true;
    return false;
}

static int print(const checking *k)
{
    int err;

    if (!is_any_known(k))
        return pastset_fail(PASTSET_EINVAL,
                            "%s: of no interval of %g s a metric is known that "
                            "the contract is about: the run may be too short",
                            k->a->promise.run, k->c->interval_s);
    warn_of_unknown(k);
    for (size_t i = 0; i < k->episode_count && !k->a->detail; i++)
        episode_row(k, &k->episodes[i]);
    if (k->a->format == VIEWER_TABLE && k->violated == 0)
        printf("The contract was kept.%s", k->a->detail ? "\n\n" : "\n");
    if (k->a->format == VIEWER_TABLE && k->violated == 0 && !k->a->detail)
        return 0;
    err = viewer_table_print(k->table, k->a->format, stdout);
    if (!err && k->a->format == VIEWER_JSON)
        putchar('\n');
    return err;
}

static void check_end(checking *k)
{
    for (size_t i = 0; i < k->episode_count; i++) {
        free(k->episodes[i].others);
        free(k->episodes[i].metrics);
    }
    free(k->episodes);
    free(k->known);
    for (int kind = 0; kind < CONTRACTS_KINDS; kind++)
        free(k->open[kind]);
    scopes_table_destroy(k->table);
    contracts_checker_destroy(k->checker);
    cli_measured_end(&k->m);
}

/* Gives the exit code. */
static int check(const contracts_contract *c, eventspace_run *run,
                 const void *arguments)
{
    const check_arguments *a = arguments;
    checking k = {.a = a, .c = c};
    int err = check_begin(&k, run), code;

    if (!err)
        err = intervals_check(&k);
    if (!err)
        err = print(&k);
    code = cli_end_output(err);
    if (code == COMMAND_OK && k.violated > 0)
        code = CLI_CONTRACT_VIOLATED;
    check_end(&k);
    return code;
}

int cli_contract_check(int argc, char **argv)
{
    static const struct argp argp = {
        check_options,
        parse_check,
        "CONTRACT RUN",
        "Says when, where and why a run did not do what a contract promises, "
        "which `eventspace contract make` has made of another run."
        "\vThe exit code is 0 if the contract was kept, and 3 if it was "
        "violated.",
        NULL,
        NULL,
        NULL};
    check_arguments a = {0};

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    return cli_use_promise(&a.promise, check, &a);
}
