/* command_run.c - eventspace run, eventspace key. */
#include "viewer/cli/command_archive.h"
#include "viewer/cli/command_losses.h"
#include "viewer/cli/command_mpi.h"

#include "eventspace/launch/job.h"
#include "eventspace/launch/launch.h"
#include "pastset/status.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY_MS 86400000

enum {
    KEY_REPLACE = 256,
    KEY_PROCESS,
    KEY_GRACE,
    KEY_END_ALL,
    KEY_ARCHIVE,
    KEY_SHARE,
    KEY_INTERVAL,
    KEY_WHEN_FULL,
    KEY_ALONE,
    KEY_MPI,
    KEY_WATCH,
    KEY_START_WITHIN,
};

static const struct argp_option run_options[] = {
    {"output", 'o', "RUN", 0, "Write the run to the directory RUN", 0},
    {"out", EVENTSPACE_RENAMED, "RUN", OPTION_HIDDEN, "output", 0},
    {"replace", KEY_REPLACE, NULL, 0, "Replace an older run in that directory",
     0},
    {"host", EVENTSPACE_RENAMED, "NAME", OPTION_HIDDEN, "process", 0},
    {"process", KEY_PROCESS, "NAME", 0,
     "Start only this process; start the others elsewhere with the same "
     "command",
     0},
    {"key", 'k', "FILE", 0,
     "Read the key that all processes share from FILE, written by `eventspace "
     "key`; required with --process",
     0},
    {"mpi", KEY_MPI, "COUNT", 0,
     "Start an MPI program as it is, without a map, in COUNT processes, and "
     "record its calls, by the launcher of its MPI and `eventspace mpi`",
     0},
    CLI_DEADLOCKS_OPTION(KEY_WATCH),
    {"alone", KEY_ALONE, NULL, 0,
     "Start all processes here, also as a task of mpirun or srun", 0},
    {"start-within", KEY_START_WITHIN, "TIME", 0,
     "As a task of mpirun or srun, fail if the other tasks have not started "
     "within TIME (default 1min)",
     0},
    {"key-file", EVENTSPACE_RENAMED, "FILE", OPTION_HIDDEN, "key", 0},
    {"grace", KEY_GRACE, "TIME", 0,
     "When one process has failed, end the others after TIME (default 5s)", 0},
    {"end-all", KEY_END_ALL, NULL, 0,
     "Also when one process was killed, end the others after the time of "
     "--grace",
     0},
    {NULL, 'n', "COUNT", OPTION_HIDDEN, NULL, 0}, /* of mpirun: see below */
    {"archive", KEY_ARCHIVE, NULL, 0,
     "Save all events to RUN/PROCESS.archive during the run; if that is too "
     "slow, the program waits",
     0},
    {"archive-share", KEY_SHARE, "SHARE", 0,
     "Let archiving use at most this share of a processor (default 1)", 0},
    {"archive-interval", KEY_INTERVAL, "TIME", 0,
     "Look for new events to archive every TIME (default 5ms)", 0},
    {"when-full", KEY_WHEN_FULL, "lose|wait|end", 0,
     "When the archive cannot be written, because the disk is full for "
     "example, lose events and count them, wait for room, or end the run "
     "(default lose)",
     0},
    {0},
};

typedef struct run_arguments {
    eventspace_launch_options launch;
    command_archiving archiving;
    command_losses losses;
    const char *_Atomic end; /* why the run is to end */
    char failure[1400];
    char chosen[300]; /* the process of this task of a job */
    bool archive;
    bool alone;
    uint64_t ranks; /* of an MPI program; 0: it is none */
    command_deadlocks watch;
    uint32_t start_within_ms;
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

/* A program in place of the map is what people type first. */
static bool is_program(const char *file)
{
    struct stat status;

    return stat(file, &status) == 0 && S_ISREG(status.st_mode) &&
           access(file, X_OK) == 0;
}

static void check_run(const run_arguments *arguments, struct argp_state *state)
{
    const eventspace_launch_options *options = &arguments->launch;

    if (!options->map_file && !arguments->ranks)
        argp_error(state, "the map is missing");
    else if (options->map_file && strcmp(options->map_file, "-") == 0)
        argp_error(state, "the map must be a file, as each process reads it: "
                          "write it to one with --output");
    else if (!options->argv && !arguments->ranks &&
             is_program(options->map_file))
        argp_error(state,
                   "the map is missing: '%s' is a program. `eventspace map "
                   "generate` makes a map; then run `eventspace run MAP "
                   "--output=RUN -- %s`",
                   options->map_file, options->map_file);
    else if (!options->directory || !*options->directory)
        argp_error(state, "--output is missing: write the run to which "
                          "directory?");
    else if (!options->argv)
        argp_error(state, "the program is missing");
    else if (arguments->watch != COMMAND_DEADLOCKS_NOT && !arguments->ranks)
        argp_error(state, "--watch is for MPI programs: see --mpi");
    else if (options->process && !options->key_file)
        argp_error(state, "--process needs --key: the key that all processes "
                          "share; `eventspace key` makes one");
}

/* The first argument is the map; the second is the program, and all that
 * follows it is the program's. */
static void take_argument(run_arguments *arguments, char *text,
                          struct argp_state *state)
{
    eventspace_launch_options *options = &arguments->launch;

    if (!options->map_file && !arguments->ranks) {
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
    case 'k':
        options->key_file = text;
        return 0;
    case 'n':
        argp_error(state,
                   "there is no option -n: the number of processes is in the "
                   "map. Make one by `eventspace map generate "
                   "--application=FILE --processes=%s --output=MAP`, and run "
                   "`eventspace run MAP --output=RUN -- PROGRAM`",
                   strspn(text, "0123456789") == strlen(text) ? text : "N");
        return 0;
    case KEY_GRACE:
        options->grace_ms = cli_time_ms(text, 1, DAY_MS, state);
        return 0;
    case KEY_END_ALL:
        options->end_all = true;
        return 0;
    case KEY_MPI:
        if (paths_parse_number(text, &arguments->ranks) ||
            arguments->ranks == 0 || arguments->ranks > 1000000)
            argp_error(state, "--mpi=%s: give a number of processes", text);
        return 0;
    case KEY_WATCH:
        arguments->watch = cli_deadlocks_read(text, state);
        return 0;
    case KEY_ALONE:
        arguments->alone = true;
        return 0;
    case KEY_START_WITHIN:
        arguments->start_within_ms = cli_time_ms(text, 1, DAY_MS, state);
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
            cli_time_ms(text, 1, COMMAND_INTERVAL_MS, state);
        arguments->archive = true;
        return 0;
    case KEY_WHEN_FULL:
        arguments->archiving.when_full = read_when_full(text, state);
        arguments->archive = true;
        return 0;
    case ARGP_KEY_ARG:
        take_argument(arguments, text, state);
        return 0;
    case ARGP_KEY_END:
        check_run(arguments, state);
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

    if (*arguments->chosen) {
        arguments->losses.process = arguments->chosen;
        arguments->archiving.process = arguments->chosen;
    }
    cli_losses_watch(&arguments->losses);
    if (arguments->archive &&
        cli_archiving_start(&arguments->archiving) != COMMAND_OK)
        atomic_store(&arguments->end, "its archive cannot be made");
}

/* An archive that has to have the last events on a disk that is nearly full
 * comes before the copies of files. */
static void observers_end(void *context)
{
    command_archiving *archiving = &((run_arguments *)context)->archiving;

    if (archiving->running)
        scopes_archiver_stop(archiving->archiver);
    cli_archiving_end(archiving);
}

static int launch(run_arguments *arguments)
{
    eventspace_launch_options *options = &arguments->launch;
    command_archiving *archiving = &arguments->archiving;
    int code = COMMAND_FAILED;
    bool whole;
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
    arguments->losses.program = options->argv[0];
    arguments->losses.failure = arguments->failure;
    arguments->losses.patient = options->patient;
    options->signal = &arguments->losses.signal;
    options->failure = arguments->failure;
    options->failure_bytes = sizeof(arguments->failure);
    options->chosen = arguments->chosen;
    options->chosen_bytes = sizeof(arguments->chosen);
    options->started = observers_begin;
    options->ended = observers_end;
    options->context = arguments;
    err = eventspace_launch(options, &code);
    if (err && !(options->job && eventspace_job_is_hushed(options->job)))
        cli_fail();
    if (err) /* then it may not have been told the end */
        observers_end(arguments);
    whole = !archiving->failed;
    if (!err)
        whole &= cli_losses_end(&arguments->losses, arguments->archive) ==
                 COMMAND_OK;
    /* Last, where people look: what led to all the other lines. A task of a job
     * knows of its own process only. */
    if (*arguments->failure && !options->job)
        fprintf(stderr, "eventspace: the first to fail was %s\n",
                arguments->failure);
    return err || (!whole && code == COMMAND_OK) ? COMMAND_FAILED : code;
}

/* One of many tasks, each of which starts a process. The first one alone tells
 * what is wrong with the map: the others find the same. */
static int launch_in_job(run_arguments *arguments)
{
    eventspace_job *job;
    int code;

    if (eventspace_job_open(&job, arguments->start_within_ms) != 0)
        return eventspace_job_is_hushed(NULL) ? COMMAND_FAILED : cli_fail();
    if (eventspace_job_rank(job) == 0 &&
        check_before(arguments->launch.map_file) != COMMAND_OK) {
        eventspace_job_fail(job, PASTSET_EMAP);
        code = COMMAND_FAILED;
    } else {
        arguments->launch.job = job;
        code = launch(arguments);
    }
    eventspace_job_close(job);
    return code;
}

int cli_run(int argc, char **argv)
{
    static const struct argp argp = {
        run_options,
        parse_run,
        "MAP --output RUN -- PROGRAM [ARGUMENTS]",
        "Starts the program once for each process of the map and passes on "
        "what they print. If one fails, the others are ended after the time "
        "of --grace. If one is killed, those that do not need it continue, "
        "unless --end-all is given.\vThe run "
        "directory holds the map and, for each process, its elements and how "
        "it ended; see `eventspace info`.",
        NULL,
        NULL,
        NULL};
    run_arguments arguments = {.archive = false};
    if (eventspace_options_parse(&argp, argc, argv, ARGP_IN_ORDER, 1,
                                 &arguments))
        return COMMAND_USAGE;
    if (arguments.ranks)
        return cli_mpi_launch(arguments.ranks, arguments.launch.directory,
                              arguments.launch.replace, arguments.watch,
                              arguments.launch.argv);
    if (!arguments.alone && !arguments.launch.process &&
        eventspace_job_is_there())
        return launch_in_job(&arguments);
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
        "Writes a new random key to FILE, which only you may read. Copy it to "
        "the machines of the other processes, and start each of them with "
        "`eventspace run --process NAME --key FILE`.",
        NULL,
        NULL,
        NULL};
    const char *file = NULL;
    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &file))
        return COMMAND_USAGE;
    return eventspace_key_create(file) ? cli_fail() : COMMAND_OK;
}
