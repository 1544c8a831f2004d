/* command_report.c - eventspace report RUN -o FILE.html. */
#include "viewer/cli/command.h"

#include "pastset/status.h"
#include "viewer/report/report.h"

#include <stdlib.h>

typedef struct report_arguments {
    const char *run, *output;
} report_arguments;

static const struct argp_option report_options[] = {
    {"output", 'o', "FILE", 0,
     "The page (default RUN/report.html; of a packed run, beside it)", 0},
    {0},
};

static error_t parse_report(int key, char *text, struct argp_state *state)
{
    report_arguments *a = state->input;
    switch (key) {
    case 'o':
        a->output = text;
        return 0;
    case ARGP_KEY_ARG:
        cli_take(&a->run, text, state);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "the run directory is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int write_report(const report_arguments *a, const char *directory)
{
    eventspace_run *run;
    char *file = NULL;
    int err = eventspace_run_open(&run, directory);
    if (err)
        return err;
    if (!a->output)
        file = cli_beside(a->run, "report", ".html");
    if (!a->output && !file)
        err = pastset_fail(PASTSET_ENOMEM, "no memory for a file's name");
    if (!err)
        err = viewer_report(run, file ? file : a->output);
    if (!err && file)
        puts(file);
    free(file);
    eventspace_run_close(run);
    return err;
}

int cli_report(int argc, char **argv)
{
    static const struct argp argp = {
        report_options,
        parse_report,
        "RUN",
        "Writes one page that shows a run in a browser: when each thread "
        "communicated and computed, the totals, and the path map. It needs "
        "no network and no other file.",
        NULL,
        NULL,
        NULL};
    report_arguments a = {0};
    const char *directory;
    if (argp_parse(&argp, argc, argv, 0, NULL, &a))
        return COMMAND_USAGE;
    directory = cli_run_directory(a.run);
    return directory ? cli_end_output(write_report(&a, directory))
                     : COMMAND_FAILED;
}
