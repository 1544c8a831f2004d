/* command_report.c - eventspace report RUN -o FILE.html: the page, and the
 * tables of view scripts in it. */
#include "viewer/cli/command_sql.h"
#include "viewer/cli/command_window.h"

#include "pastset/status.h"
#include "viewer/report/report.h"

#include <stdlib.h>
#include <string.h>

#define SCRIPTS_MAX 32

enum { KEY_SCRIPT = 256, KEY_PARAM };

typedef struct report_arguments {
    const char *run, *output;
    scopes_snapshot_options window;
    const char *scripts[SCRIPTS_MAX];
    size_t script_count;
    cli_parameters parameters;
} report_arguments;

static const struct argp_option report_options[] = {
    {"output", 'o', "FILE", 0,
     "Write the page to FILE (default RUN/report.html, or next to a packed "
     "run)",
     0},
    {"script", KEY_SCRIPT, "FILE", 0,
     "Add the table of this view script to the page; may be repeated", 0},
    {"param", KEY_PARAM, "NAME=VALUE", 0,
     "Give the parameter :NAME of the scripts this value; may be repeated", 0},
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
    case KEY_SCRIPT:
        take_script(a, text, state);
        return 0;
    case KEY_PARAM:
        cli_parameter(&a->parameters, text, state);
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->window;
        return 0;
    case ARGP_KEY_END:
        if (a->parameters.count > 0 && a->script_count == 0)
            argp_error(state, "--param is for the scripts of --script");
        /* fallthrough */
    default:
        return cli_take_one(&a->run, "the run directory", key, text, state);
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
    viewer_report_panel shown[SCRIPTS_MAX];
    size_t count;
} panels;

static void panels_fini(panels *p)
{
    for (size_t i = 0; i < p->count; i++) {
        viewer_sql_result_fini(&p->all[i].result);
        viewer_script_fini(&p->all[i].script);
        free(p->all[i].file);
    }
}

static const char *name_of(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash ? slash + 1 : file;
}

/* Each script has tables of its own. */
static int panel_take(panel *p, eventspace_run *run, const report_arguments *a,
                      const char *name)
{
    viewer_sql *sql = NULL;
    int err = viewer_script_find(&p->file, name,
                                 cli_is_packed(a->run) ? NULL : a->run);

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

static int panels_take(panels *p, eventspace_run *run,
                       const report_arguments *a)
{
    int err = 0;

    for (size_t i = 0; i < a->script_count && !err; i++) {
        panel *one = &p->all[p->count++];
        err = panel_take(one, run, a, a->scripts[i]);
        if (err)
            break;
        p->shown[i] = (viewer_report_panel){.title = *one->script.title
                                                         ? one->script.title
                                                         : name_of(one->file),
                                            .table = one->result.table};
    }
    return err;
}

/* --- the command --- */

static int write_page(eventspace_run *run, const report_arguments *a,
                      const char *file)
{
    panels p = {.count = 0};
    int err = panels_take(&p, run, a);

    if (!err)
        err = viewer_report(run, a->run, &a->window, p.shown, p.count, file);
    panels_fini(&p);
    return err;
}

static int write_report(eventspace_run *run, const report_arguments *a)
{
    char *file = NULL;
    int err;
    if (a->output)
        return write_page(run, a, a->output);
    file = cli_beside(a->run, "report", ".html");
    err = file ? write_page(run, a, file)
               : pastset_no_memory("for a file's name");
    if (!err)
        puts(file);
    free(file);
    return err;
}

int cli_report(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_window, 0, NULL, 0},
                                                 {0}};
    static const struct argp argp = {
        report_options,
        parse_report,
        "RUN",
        "Writes one page that shows a run in a browser: when each thread "
        "communicated and computed, the totals, and the path map. It needs "
        "no network and no other file.",
        children,
        NULL,
        NULL};
    report_arguments a = {.window = SCOPES_SNAPSHOT_ALL};
    eventspace_run *run;
    int err;
    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    run = cli_open_run(a.run);
    if (!run)
        return COMMAND_FAILED;
    err = write_report(run, &a);
    if (!err)
        cli_warn_of_damage(run);
    eventspace_run_close(run);
    return cli_end_output(err);
}
