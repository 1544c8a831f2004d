/* command_serve.c - eventspace serve: runs in a browser while they go on, and
 * what a contract says of them. */
#include "viewer/cli/command.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/memory/memory.h"
#include "viewer/cli/contract/contract_panels.h"
#include "viewer/serve/run_server.h"

#define INTERVAL_MIN_NS 50000000
#define INTERVAL_MAX_NS (3600 * (uint64_t)1000000000)

enum { KEY_LISTEN = 256, KEY_MEMORY, KEY_CONTRACT };

typedef struct serve_arguments {
    viewer_serve_run runs[VIEWER_SERVE_RUNS_MAX];
    size_t run_count;
    viewer_serve_options options;
    uint64_t memory_bytes;     /* 0: as much as it takes */
    const char *contract_file; /* NULL: none */
    contracts_contract *contract;
} serve_arguments;

static const struct argp_option serve_options[] = {
    {"listen", KEY_LISTEN, "ADDRESS:PORT", 0,
     "Listen at this address; port 0 is any that is free (default "
     "127.0.0.1:0)",
     0},
    {"interval", 'i', "TIME", 0,
     "Tell what is new every TIME, and make nothing again sooner (default 1s)",
     0},
    {"contract", KEY_CONTRACT, "FILE", 0,
     "Show when, where and why the run breaks this contract", 0},
    CLI_MEMORY_OPTION(KEY_MEMORY),
    {0},
};

static void take_run(serve_arguments *a, const char *run,
                     struct argp_state *state)
{
    if (a->run_count == VIEWER_SERVE_RUNS_MAX)
        argp_error(state, "there are more than %d runs", VIEWER_SERVE_RUNS_MAX);
    a->runs[a->run_count++].name = run;
}

static error_t parse_serve(int key, char *text, struct argp_state *state)
{
    serve_arguments *a = state->input;

    switch (key) {
    case KEY_LISTEN:
        a->options.listen = text;
        return 0;
    case 'i':
        a->options.interval_ns =
            (int64_t)cli_time(text, INTERVAL_MIN_NS, INTERVAL_MAX_NS, state);
        return 0;
    case KEY_CONTRACT:
        a->contract_file = cli_input(text);
        return 0;
    case KEY_MEMORY:
        a->memory_bytes = cli_memory(text, state);
        return 0;
    case ARGP_KEY_ARG:
        take_run(a, text, state);
        return 0;
    case ARGP_KEY_END:
        if (a->run_count == 0)
            argp_error(state, "the run directory is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- what a contract says --- */

static int contract_panels_make(void **made, viewer_report_run *of,
                                void *context)
{
    const serve_arguments *a = context;
    const char *slash = strrchr(a->contract_file, '/');
    cli_contract_panels *panels = calloc(1, sizeof(*panels));
    int err;

    *made = panels;
    if (!panels)
        return pastset_no_memory("for what a contract says");
    err = cli_contract_panels_make_again(panels, a->contract,
                                         slash ? slash + 1 : a->contract_file,
                                         of->run, of->name);
    of->panels = panels->panels;
    of->panel_count = panels->count;
    return err;
}

static void contract_panels_end(void *made)
{
    cli_contract_panels_fini(made);
    free(made);
}

/* --- until a signal --- */

/* A second signal ends it at once, whatever is being made. */
static void signals_wait(const sigset_t *ending)
{
    int number;

    while (sigwait(ending, &number) != 0)
        ;
    pthread_sigmask(SIG_UNBLOCK, ending, NULL);
}

static int serve(serve_arguments *a)
{
    viewer_server *server;
    sigset_t ending;
    int err;

    if (a->contract)
        a->options.panels =
            (viewer_serve_panels){contract_panels_make, contract_panels_end, a};
    cli_block_ending(&ending);
    err = viewer_server_open(&server, a->runs, a->run_count, &a->options);
    if (err)
        return err;
    puts(viewer_server_address(server));
    if (fflush(stdout) == 0)
        signals_wait(&ending);
    viewer_server_close(server);
    return 0;
}

/* --- the command --- */

static bool find_runs(serve_arguments *a)
{
    for (size_t i = 0; i < a->run_count; i++) {
        a->runs[i].directory = cli_run_directory(a->runs[i].name);
        if (!a->runs[i].directory)
            return false;
        cli_warn_of_definitions(a->runs[i].directory);
    }
    return true;
}

int cli_serve(int argc, char **argv)
{
    static const struct argp argp = {
        serve_options,
        parse_serve,
        "RUN...",
        "Shows runs in a browser, also while they go on: the page of "
        "`eventspace report`, made again as there is more to show, and what "
        "each thread does now. Several runs are shown side by side. Prints the "
        "address of the page, and ends when it is interrupted.\vThe address "
        "has a token in it: whoever knows it can read the runs. It is "
        "reached from this machine only, unless --listen says otherwise; what "
        "is sent is not encrypted.",
        NULL,
        NULL,
        NULL};
    serve_arguments a = {.run_count = 0};
    int code;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    if (scopes_memory_limit(a.memory_bytes))
        return cli_fail();
    if (!find_runs(&a))
        return COMMAND_FAILED;
    if (a.contract_file &&
        contracts_contract_read(&a.contract, a.contract_file))
        return cli_fail();
    code = cli_end_output(serve(&a));
    contracts_contract_destroy(a.contract);
    return code;
}
