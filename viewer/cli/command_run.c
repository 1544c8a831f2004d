/* command_run.c - eventspace run, eventspace key. */
#include "viewer/cli/command_archive.h"
#include "viewer/cli/command_losses.h"

#include "eventspace/launch/launch.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_REPLACE = 256,
    KEY_PROCESS,
    KEY_FILE,
    KEY_GRACE,
    KEY_ARCHIVE,
    KEY_SHARE,
    KEY_INTERVAL,
    KEY_WHEN_FULL,
};

static const struct argp_option run_options[] = {
    {"out", 'o', "RUN", 0, "The run directory", 0},
    {"replace", KEY_REPLACE, NULL, 0, "Replace an older run in it", 0},
    {"host", EVENTSPACE_RENAMED, "NAME", OPTION_HIDDEN, "process", 0},
    {"process", KEY_PROCESS, "NAME", 0,
     "Start this process only; the others are "
     "started by the same command elsewhere",
     0},
    {"key-file", KEY_FILE, "FILE", 0,
     "The key that all processes know, made by "
     "`eventspace key`; needed with --process",
     0},
    {"grace", KEY_GRACE, "SECONDS", 0,
     "How long the other processes may go on "
     "when one has failed (default 5)",
     0},
    {"archive", KEY_ARCHIVE, NULL, 0,
     "Save all events to RUN/PROCESS.archive while the run goes on; where that "
     "is not fast enough the program waits",
     0},
    {"archive-share", KEY_SHARE, "SHARE", 0,
     "The most of a processor that archiving may take (default 1)", 0},
    {"archive-interval", KEY_INTERVAL, "MS", 0,
     "How often the archive looks for new events (default 5)", 0},
    {"when-full", KEY_WHEN_FULL, "lose|wait|end", 0,
     "What to do when the archive cannot be written, as on a full disk: lose "
     "events and count them, wait for room, or end the run (default lose)",
     0},
    {0},
};

static uint32_t read_grace(const char *text, struct argp_state *state)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds > 0 && seconds <= 86400))
        argp_error(state, "'%s' is no number of seconds up to a day", text);
    uint32_t ms = (uint32_t)ceil(seconds * 1000);
    return ms;
}

typedef struct run_arguments {
    eventspace_launch_options launch;
    command_archiving archiving;
    command_losses losses;
    const char *_Atomic end; /* why the run is to end */
    bool archive;
} run_arguments;

static command_when_full read_when_full(const char *text,
                                        struct argp_state *state)
{
    static const char *const names[] = {[COMMAND_LOSE] = "lose",
                                        [COMMAND_WAIT] = "wait",
                                        [COMMAND_END] = "end"};

    return (command_when_full)cli_choice(
        text, CLI_LIST(names), "--when-full=%s: choose lose, wait or end",
        state);
}

static void check_run(const eventspace_launch_options *options,
                      struct argp_state *state)
{
    if (!options->map_file)
        argp_error(state, "the map is missing");
    else if (!options->directory)
        argp_error(state, "--out is missing: where does the run go?");
    else if (!options->argv)
        argp_error(state, "the program is missing");
    else if (options->process && !options->key_file)
        argp_error(state, "--process needs --key-file: a key that the other "
                          "processes know too");
}

/* The first argument is the map; the second is the program, and all that
 * follows it is the program's. */
static void take_argument(eventspace_launch_options *options, char *text,
                          struct argp_state *state)
{
    if (!options->map_file) {
        options->map_file = text;
        return;
    }
    options->argv = &state->argv[state->next - 1];
    state->next = state->argc;
}

static error_t parse_run(int key, char *text, struct argp_state *state)
{
    run_arguments *arguments = state->input;
    eventspace_launch_options *options = &arguments->launch;
    switch (key) {
    case 'o':
        options->directory = text;
        return 0;
    case KEY_REPLACE:
        options->replace = true;
        return 0;
    case KEY_PROCESS:
        options->process = text;
        return 0;
    case KEY_FILE:
        options->key_file = text;
        return 0;
    case KEY_GRACE:
        options->grace_ms = read_grace(text, state);
        return 0;
    case KEY_ARCHIVE:
        arguments->archive = true;
        return 0;
    case KEY_SHARE:
        arguments->archiving.throttle.share = cli_share(text, state);
        arguments->archive = true;
        return 0;
    case KEY_INTERVAL:
        arguments->archiving.throttle.interval_ms =
            (uint32_t)cli_number(text, 1, 3600000, state);
        arguments->archive = true;
        return 0;
    case KEY_WHEN_FULL:
        arguments->archiving.when_full = read_when_full(text, state);
        arguments->archive = true;
        return 0;
    case ARGP_KEY_ARG:
        take_argument(options, text, state);
        return 0;
    case ARGP_KEY_END:
        check_run(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The launcher checks the map as well, but tells the first diagnostic only. */
static int check_before(const char *file)
{
    paths_map *map = cli_read_map(file);
    if (!map)
        return COMMAND_FAILED;
    int err = cli_check_map(map, stderr);
    paths_map_destroy(map);
    return err ? COMMAND_FAILED : COMMAND_OK;
}

/* The processes have been started: from here on there is something to archive,
 * and to lose. Processes that are to be archived would wait for ever for an
 * archiver that could not be made. */
static void observers_begin(void *context)
{
    run_arguments *arguments = context;

    cli_losses_watch(&arguments->losses);
    if (arguments->archive &&
        cli_archiving_start(&arguments->archiving) != COMMAND_OK)
        atomic_store(&arguments->end, "its archive cannot be made");
}

static int launch(run_arguments *arguments)
{
    eventspace_launch_options *options = &arguments->launch;
    command_archiving *archiving = &arguments->archiving;
    int code = COMMAND_FAILED;
    int err;

    if (arguments->archive) {
        archiving->directory = options->directory;
        archiving->process = options->process;
        archiving->until = SCOPES_ARCHIVER_STOP;
        archiving->end = &arguments->end;
        options->archived = true;
        options->patient = archiving->when_full == COMMAND_WAIT;
        options->end = &arguments->end;
    }
    arguments->losses.directory = options->directory;
    arguments->losses.process = options->process;
    arguments->losses.patient = options->patient;
    options->signal = &arguments->losses.signal;
    options->started = observers_begin;
    options->context = arguments;
    err = eventspace_launch(options, &code);
    if (err)
        cli_fail();
    if (archiving->running)
        scopes_archiver_stop(archiving->archiver);
    if (cli_archiving_end(archiving) != COMMAND_OK)
        code = COMMAND_FAILED;
    if (!err &&
        cli_losses_end(&arguments->losses, arguments->archive) != COMMAND_OK)
        code = COMMAND_FAILED;
    return err ? COMMAND_FAILED : code;
}

int cli_run(int argc, char **argv)
{
    static const struct argp argp = {
        run_options,
        parse_run,
        "MAP --out RUN -- PROGRAM [ARGUMENTS]",
        "Starts the program once for each process of the map and passes on "
        "what they print. When one fails, all are ended.\vThe run directory "
        "holds the map, and for each process its elements and how it ended; "
        "see `eventspace info`.",
        NULL,
        NULL,
        NULL};
    run_arguments arguments = {.archive = false};
    if (eventspace_options_parse(&argp, argc, argv, ARGP_IN_ORDER, 1,
                                 &arguments))
        return COMMAND_USAGE;
    if (check_before(arguments.launch.map_file))
        return COMMAND_FAILED;
    return launch(&arguments);
}

/* --- key --- */

static error_t parse_key(int key, char *text, struct argp_state *state)
{
    return cli_take_one(state->input, "the file", key, text, state);
}

int cli_key(int argc, char **argv)
{
    static const struct argp argp = {
        NULL,
        parse_key,
        "FILE",
        "Writes a new random key to a file that only you may read. Copy it to "
        "the machines of the other processes, and start each with `eventspace "
        "run --process NAME --key-file FILE`.",
        NULL,
        NULL,
        NULL};
    const char *file = NULL;
    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &file))
        return COMMAND_USAGE;
    return eventspace_key_create(file) ? cli_fail() : COMMAND_OK;
}
