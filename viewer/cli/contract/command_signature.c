/* command_signature.c - eventspace signature RUN: what the processes of a run
 * are like, by metrics. */
#include "viewer/cli/contract/command_contract.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contracts/check/checker.h"
#include "contracts/contract/contract.h"
#include "contracts/signature/signature.h"
#include "pastset/status.h"
#include "viewer/cli/contract/learning.h"
#include "viewer/cli/contract/measured_run.h"
#include "viewer/report/signature_page.h"
#include "viewer/tables/output.h"

typedef struct signature_arguments {
    cli_learning learning;
    viewer_format format;
    bool detail;
    const char *contract; /* NULL: classes are those of the run */
    const char *output;   /* a page; NULL: a table */
} signature_arguments;

enum { KEY_CONTRACT = CLI_KEY_LEARNING_END };

static const struct argp_option signature_options[] = {
    CLI_INTERVAL_OPTION,
    {"tolerance", CLI_KEY_TOLERANCE, "SHARE", 0,
     "Put together what differs by no more than this share (default 0.1)", 0},
    {"metrics", CLI_KEY_METRICS, "FILE", 0,
     "Take the metrics from FILE: a contract, or the beginning of one; - is "
     "standard input",
     0},
    {"detail", 'd', NULL, 0,
     "Print a row for each process and interval, with all metrics", 0},
    {"output", 'o', "FILE", 0,
     "Write a page with pictures to FILE instead: the way of each process "
     "through the space of its metrics, and each metric over time",
     0},
    {"contract", KEY_CONTRACT, "FILE", 0,
     "Show in that page the classes that this contract promises, instead of "
     "those of the run itself",
     0},
    CLI_FORMAT_OPTION,
    {0},
};

static error_t parse_signature(int key, char *text, struct argp_state *state)
{
    signature_arguments *a = state->input;

    switch (key) {
    case 'd':
        a->detail = true;
        return 0;
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case 'o':
        a->output = text;
        return 0;
    case KEY_CONTRACT:
        a->contract = cli_input(text);
        return 0;
    case ARGP_KEY_END:
        if (a->contract && !a->output)
            argp_error(state, "--contract is for the page of --output");
        if (a->contract && (a->learning.metrics || a->learning.interval_ns ||
                            a->learning.tolerance > 0))
            argp_error(state, "with --contract metrics, intervals and the "
                              "tolerance are those of the contract");
        if (a->output && (a->detail || a->format != VIEWER_TABLE))
            argp_error(state, "--detail and --format are not for the page of "
                              "--output");
        if (a->contract)
            a->learning.metrics = a->contract;
        return cli_take_learning(&a->learning, key, text, state);
    default:
        return cli_take_learning(&a->learning, key, text, state);
    }
}

/* --- tables --- */

static const scopes_column class_columns[] = {
    {"process", "process", SCOPES_TEXT},
    {"metrics", "metrics", SCOPES_TEXT},
    {"class", "class", SCOPES_NUMBER},
    {"intervals", "intervals", SCOPES_COUNT},
    {"metric", "metric", SCOPES_TEXT},
    {"mean", "mean", SCOPES_REAL},
    {"deviation", "deviation", SCOPES_REAL},
};

static int print_table(scopes_table *table, viewer_format format)
{
    int err = table ? viewer_table_print(table, format, stdout)
                    : pastset_no_memory("for a table");

    if (!err && format == VIEWER_JSON)
        putchar('\n');
    scopes_table_destroy(table);
    return err;
}

/* Classes of a process follow one another; those of each kind count from 1. */
static int print_classes(const contracts_contract *c, viewer_format format)
{
    scopes_table *table = scopes_table_create(CLI_LIST(class_columns));
    int64_t number = 0;

    for (size_t i = 0; i < c->class_count && table; i++) {
        const contracts_class *k = &c->classes[i];
        bool goes_on =
            i > 0 && c->classes[i - 1].kind == k->kind &&
            (k->process ? c->classes[i - 1].process &&
                              strcmp(c->classes[i - 1].process, k->process) == 0
                        : !c->classes[i - 1].process);
        number = goes_on ? number + 1 : 1;
        for (size_t m = 0; m < c->sizes[k->kind]; m++) {
            scopes_table_text(table, k->process ? k->process : "all");
            scopes_table_text(table, contracts_kind_names[k->kind]);
            scopes_table_integer(table, number);
            scopes_table_integer(table, (int64_t)k->seen);
            scopes_table_text(table, contracts_metric_name(
                                         c->metrics, c->members[k->kind][m]));
            scopes_table_real(table, k->centroid[m]);
            scopes_table_real(table, k->deviation[m]);
        }
    }
    return print_table(table, format);
}

#define DETAIL_FIRST 2 /* columns before those of metrics */

static void detail_rows(scopes_table *table, const contracts_contract *c,
                        const contracts_signature *s, const cli_measured *m)
{
    for (uint32_t p = 0; p < s->rows; p++) {
        for (size_t i = 0; i < s->intervals; i++) {
            scopes_table_text(table,
                              contracts_row_name(c, m->names, s->processes, p));
            scopes_table_integer(table,
                                 s->from_ns + (int64_t)i * s->interval_ns);
            for (size_t k = 0; k < s->metric_count; k++)
                scopes_table_real(table, contracts_signature_at(s, p, i)[k]);
        }
    }
}

static int print_detail(const contracts_contract *c,
                        const contracts_signature *s, const cli_measured *m,
                        viewer_format format)
{
    scopes_column columns[DETAIL_FIRST + CONTRACTS_METRICS_MAX] = {
        {"process", "process", SCOPES_TEXT},
        {"start_ns", "from ms", SCOPES_TIME_NS}};
    scopes_table *table;

    for (size_t k = 0; k < s->metric_count; k++) {
        const char *name = contracts_metric_name(s->metrics, k);
        columns[DETAIL_FIRST + k] = (scopes_column){name, name, SCOPES_REAL};
    }
    table = scopes_table_create(columns, DETAIL_FIRST + s->metric_count);
    detail_rows(table, c, s, m);
    return print_table(table, format);
}

#define PAGE_MAX 200000 /* rows of processes and intervals */

static int page_check(const contracts_contract *c, const contracts_signature *s,
                      const cli_measured *m, const signature_arguments *a)
{
    contracts_checker *checker;
    int err;

    if (s->intervals * s->rows > PAGE_MAX)
        return pastset_fail(PASTSET_EINVAL,
                            "%zu intervals of %u processes are more than a "
                            "page can show: take longer ones by --interval",
                            s->intervals, s->processes);
    if (!a->contract)
        return 0;
    err = contracts_checker_create(&checker, c, m->names, m->processes);
    contracts_checker_destroy(checker);
    return err;
}

static int write_page(const contracts_contract *c, const contracts_signature *s,
                      const cli_measured *m, const signature_arguments *a)
{
    viewer_signature_page page = {a->learning.run, a->contract, c, s, m->names};
    viewer_output *output;
    int err = page_check(c, s, m, a);

    if (err)
        return err;
    err = viewer_output_begin(&output, a->output);
    if (err)
        return err;
    err = viewer_signature_page_print(&page, viewer_output_file(output));
    return viewer_output_end(output, err);
}

/* --- the command --- */

static int tell(contracts_contract *c, eventspace_run *run,
                const signature_arguments *a)
{
    contracts_signature *signature = NULL;
    cli_measured m;
    int err = cli_measured_begin(&m, run, a->learning.run, c);

    if (!err)
        err = contracts_contract_signature(&signature, c, m.course, m.names);
    if (!err && a->detail && !a->output)
        err = print_detail(c, signature, &m, a->format);
    if (!err && (a->output || !a->detail) && !a->contract)
        err = contracts_contract_learn(
            c, &(contracts_example){m.course, signature, m.names}, 1);
    if (err == PASTSET_EINVAL && signature && a->output)
        err = 0; /* without classes there is still something to see */
    if (!err && a->output)
        err = write_page(c, signature, &m, a);
    else if (!err && !a->detail)
        err = print_classes(c, a->format);
    contracts_signature_destroy(signature);
    cli_measured_end(&m);
    return err;
}

int cli_signature(int argc, char **argv)
{
    static const struct argp argp = {
        signature_options,
        parse_signature,
        "RUN",
        "Shows what the processes of a run are like: the classes of values "
        "around which their metrics stay, interval by interval."
        "\vIntrinsic metrics tell what a program asks for, wherever it runs, "
        "and performance metrics how fast it goes on.",
        NULL,
        NULL,
        NULL};
    signature_arguments a = {0};
    contracts_contract *c;
    eventspace_run *run;
    int err;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    if (cli_learning_begin(&c, &a.learning))
        return cli_fail();
    run = cli_open_run(a.learning.run);
    err = run ? tell(c, run, &a) : 0;
    if (run)
        eventspace_run_close(run);
    contracts_contract_destroy(c);
    return run ? cli_end_output(err) : COMMAND_FAILED;
}
