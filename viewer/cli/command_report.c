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
     "Write the page to FILE (default RUN/report.html, or next to a packed "
     "run)",
     0},
    {0},
};

static error_t parse_report(int key, char *text, struct argp_state *state)
{
    report_arguments *a = state->input;
    switch (key) {
    case 'o':
        a->output = text;
        return 0;
    default:
        return cli_take_one(&a->run, "the run directory", key, text, state);
    }
}

static int write_report(eventspace_run *run, const report_arguments *a)
{
    char *file = NULL;
    int err;
    if (a->output)
        return viewer_report(run, a->output);
    file = cli_beside(a->run, "report", ".html");
    err = file ? viewer_report(run, file)
               : pastset_no_memory("for a file's name");
    if (!err)
        puts(file);
    free(file);
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
    eventspace_run *run;
    int err;
    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    run = cli_open_run(a.run);
    if (!run)
        return COMMAND_FAILED;
    err = write_report(run, &a);
    eventspace_run_close(run);
    return cli_end_output(err);
}
