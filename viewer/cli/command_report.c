/* command_report.c - eventspace report RUN -o FILE.html: the page, of one run
 * or of two side by side, and in it the tables of view scripts, and what a
 * contract says of the run. */
#include "viewer/cli/command_sql.h"
#include "viewer/cli/command_window.h"
#include "viewer/cli/contract/contract_panels.h"

#include "pastset/status.h"
#include "viewer/report/report.h"

#include <stdlib.h>
#include <string.h>

#define SCRIPTS_MAX 32

enum { KEY_SCRIPT = 256, KEY_PARAM, KEY_FULL, KEY_CONTRACT };

typedef struct report_arguments {
    const char *runs[2];
    size_t run_count;
    const char *output;
    scopes_snapshot_options window;
    const char *scripts[SCRIPTS_MAX];
    size_t script_count;
    cli_parameters parameters;
    const char *contract_file; /* NULL: none */
    contracts_contract *contract;
    bool full;
} report_arguments;

static const struct argp_option report_options[] = {
    {"output", 'o', "FILE", 0,
     "Write the page to FILE (default RUN/report.html, or next to a packed "
     "run; of two runs OTHER/compared.html)",
     0},
    {"full", KEY_FULL, NULL, 0,
     "Put every operation into the page, however many there are", 0},
    {"script", KEY_SCRIPT, "FILE", 0,
     "Add the table of this view script to the page; may be repeated", 0},
    {"param", KEY_PARAM, "NAME=VALUE", 0,
     "Give the parameter :NAME of the scripts this value; may be repeated", 0},
    {"contract", KEY_CONTRACT, "FILE", 0,
     "Show when, where and why the run broke this contract", 0},
    {0},
};

static void take_script(report_arguments *a, const char *text,
                        struct argp_state *state)
{
    if (a->script_count == SCRIPTS_MAX)
        argp_error(state, "there are more than %d scripts", SCRIPTS_MAX);
    a->scripts[a->script_count++] = text;
}

static error_t parse_report(int key, char *text, struct argp_state *state)
{
    report_arguments *a = state->input;
    switch (key) {
    case 'o':
        a->output = text;
        return 0;
    case KEY_FULL:
        a->full = true;
        return 0;
    case KEY_SCRIPT:
        take_script(a, text, state);
        return 0;
    case KEY_CONTRACT:
        a->contract_file = cli_input(text);
        return 0;
    case KEY_PARAM:
        cli_parameter(&a->parameters, text, state);
        return 0;
    case ARGP_KEY_ARG:
        if (a->run_count == 2)
            argp_error(state,
                       "'%s' is one too many: a page shows two runs at "
                       "most; `eventspace diff` compares more",
                       text);
        a->runs[a->run_count++] = text;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->window;
        return 0;
    case ARGP_KEY_END:
        if (a->parameters.count > 0 && a->script_count == 0)
            argp_error(state, "--param is for the scripts of --script");
        if (a->run_count == 0)
            argp_error(state, "the run directory is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- panels --- */

/* What a script gives. The table is the result's, and the title is in one of
 * the other two. */
typedef struct panel {
    char *file;
    viewer_script script;
    viewer_sql_result result;
} panel;

typedef struct panels {
    panel all[SCRIPTS_MAX];
    size_t count;
    cli_contract_panels contract;
    viewer_report_panel shown[CLI_CONTRACT_PANELS_MAX + SCRIPTS_MAX];
    size_t shown_count;
} panels;

static void panels_fini(panels *p)
{
    for (size_t i = 0; i < p->count; i++) {
        viewer_sql_result_fini(&p->all[i].result);
        viewer_script_fini(&p->all[i].script);
        free(p->all[i].file);
    }
    cli_contract_panels_fini(&p->contract);
}

static const char *name_of(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash ? slash + 1 : file;
}

/* Each script has tables of its own. */
static int panel_take(panel *p, eventspace_run *run, const char *of,
                      const report_arguments *a, const char *name)
{
    viewer_sql *sql = NULL;
    int err = viewer_script_find(&p->file, name, cli_is_packed(of) ? NULL : of);

    if (!err)
        err = viewer_script_read(&p->script, p->file);
    if (!err)
        err = viewer_sql_open(&sql, run);
    if (!err)
        err = cli_script_run(&p->script, sql, name_of(p->file), &a->parameters,
                             false, &p->result);
    viewer_sql_close(sql);
    return err;
}

static int panels_take(panels *p, eventspace_run *run, const char *of,
                       const report_arguments *a)
{
    int err = 0;

    if (a->contract) {
        err = cli_contract_panels_make(&p->contract, a->contract,
                                       name_of(a->contract_file), run, of);
        memcpy(p->shown, p->contract.panels, sizeof(p->contract.panels));
        p->shown_count = p->contract.count;
    }
    for (size_t i = 0; i < a->script_count && !err; i++) {
        panel *one = &p->all[p->count++];
        err = panel_take(one, run, of, a, a->scripts[i]);
        if (err)
            break;
        p->shown[p->shown_count++] = (viewer_report_panel){
            .title =
                *one->script.title ? one->script.title : name_of(one->file),
            .table = one->result.table,
            .chart = one->script.chart,
            .columns = one->script.columns,
            .column_count = one->script.column_count};
    }
    return err;
}

/* --- the command --- */

static int write_pages(const report_arguments *a, const viewer_report_run *runs,
                       const char *file)
{
    if (a->run_count == 2)
        return viewer_report_pair(runs, &a->window, a->full, file);
    return viewer_report(runs->run, runs->name, &a->window, runs->panels,
                         runs->panel_count, a->full, file);
}

static int write_report(const report_arguments *a,
                        const viewer_report_run *runs)
{
    const char *beside = a->runs[a->run_count - 1];
    bool both = a->run_count == 2;
    char *file = NULL;
    int err;

    if (a->output)
        return write_pages(a, runs, a->output);
    file =
        cli_beside(beside, both ? "compared" : "report",
                   both && cli_is_packed(beside) ? ".compared.html" : ".html");
    err = file ? write_pages(a, runs, file)
               : pastset_no_memory("for a file's name");
    if (!err)
        puts(file);
    free(file);
    return err;
}

/* Those that could be opened are to be closed in any case. */
static int open_runs(eventspace_run **opened, const report_arguments *a)
{
    for (size_t i = 0; i < a->run_count; i++) {
        opened[i] = cli_open_run(a->runs[i]);
        if (!opened[i])
            return COMMAND_FAILED;
    }
    return COMMAND_OK;
}

static int report_opened(eventspace_run **opened, const report_arguments *a)
{
    panels *taken = calloc(a->run_count, sizeof(*taken));
    viewer_report_run runs[2];
    int err = taken ? 0 : pastset_no_memory("for panels");

    for (size_t i = 0; i < a->run_count && !err; i++) {
        err = panels_take(&taken[i], opened[i], a->runs[i], a);
        runs[i] = (viewer_report_run){.run = opened[i],
                                      .name = a->runs[i],
                                      .panels = taken[i].shown,
                                      .panel_count = taken[i].shown_count};
    }
    if (!err)
        err = write_report(a, runs);
    for (size_t i = 0; i < a->run_count; i++) {
        if (!err)
            cli_warn_of_damage(opened[i]);
        if (taken)
            panels_fini(&taken[i]);
    }
    free(taken);
    return cli_end_output(err);
}

int cli_report(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_window, 0, NULL, 0},
                                                 {0}};
    static const struct argp argp = {
        report_options,
        parse_report,
        "RUN [OTHER]",
        "Writes one page that shows a run in a browser: what it waited for, "
        "when each thread communicated and computed, each view as a picture, "
        "and the path map. It needs no network and no other file. Of two runs "
        "it says first which took longer and what differs, and shows them "
        "side by side.",
        children,
        NULL,
        NULL};
    report_arguments a = {.window = SCOPES_SNAPSHOT_ALL};
    eventspace_run *opened[2] = {NULL, NULL};
    int code;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    if (a.contract_file &&
        contracts_contract_read(&a.contract, a.contract_file))
        return cli_fail();
    code = open_runs(opened, &a);
    if (code == COMMAND_OK)
        code = report_opened(opened, &a);
    contracts_contract_destroy(a.contract);
    for (size_t i = 0; i < 2; i++)
        eventspace_run_close(opened[i]);
    return code;
}
