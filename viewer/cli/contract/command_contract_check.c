/* command_contract_check.c - eventspace contract check CONTRACT RUN: when,
 * where and why a run broke a contract. */
#include "viewer/cli/contract/command_contract.h"

#include "viewer/cli/contract/judging.h"
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

static int print(const check_arguments *a, const cli_judging *judging)
{
    bool is_kept = cli_judging_violated(judging) == 0;
    int err;

    if (a->format == VIEWER_TABLE && is_kept)
        printf("The contract was kept.%s", a->detail ? "\n\n" : "\n");
    if (a->format == VIEWER_TABLE && is_kept && !a->detail)
        return 0;
    err = viewer_table_print(a->detail ? cli_judging_detail(judging)
                                       : cli_judging_violations(judging),
                             a->format, stdout);
    if (!err && a->format == VIEWER_JSON)
        putchar('\n');
    return err;
}

/* Gives the exit code. */
static int check(const contracts_contract *c, eventspace_run *run,
                 const void *arguments)
{
    const check_arguments *a = arguments;
    cli_judging *judging;
    int code, err = cli_judging_make(&judging, c, run, a->promise.run,
                                     (cli_judging_tables){.detail = a->detail});

    if (!err)
        err = print(a, judging);
    code = cli_end_output(err);
    if (code == COMMAND_OK && cli_judging_violated(judging) > 0)
        code = CLI_CONTRACT_VIOLATED;
    cli_judging_destroy(judging);
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
