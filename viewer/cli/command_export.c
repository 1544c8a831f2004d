/* command_export.c - eventspace export: a run in the formats of other tools
 * (viewer/export/export.h). */
#include "viewer/cli/command.h"
#include "viewer/cli/command_window.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pastset/status.h"
#include "viewer/export/export.h"
#include "viewer/tables/facts.h"
#include "viewer/tables/output.h"

typedef struct export_arguments {
    const char *run, *output;
    const char *thread_list, *collector_list, *process_list; /* NULL: all */
    bool has_format;
    viewer_export_format format;
    scopes_snapshot_options window;
} export_arguments;

enum { KEY_THREAD = 256, KEY_COLLECTOR, KEY_PROCESS };

static const struct argp_option export_options[] = {
    {"format", 'f', "chrome|perfetto|otf2|csv|jsonl|prometheus", 0,
     "Write this format", 0},
    {"output", 'o', "FILE", 0,
     "Write to FILE, for otf2 to a new directory (default: standard output)",
     0},
    {"thread", KEY_THREAD, "LIST", 0,
     "Export only the events of these threads: numbers, names and patterns, "
     "such as 0,3-5 or 'w*'",
     0},
    {"process", KEY_PROCESS, "NAME", 0,
     "Export only the events of this process", 0},
    {"collector", KEY_COLLECTOR, "LIST", 0,
     "Export only the events of these collectors: ids, names and patterns", 0},
    {0},
};

static viewer_export_format read_format(const char *text,
                                        struct argp_state *state)
{
    static const char *const names[] = {
        [VIEWER_EXPORT_CHROME] = "chrome",
        [VIEWER_EXPORT_PERFETTO] = "perfetto",
        [VIEWER_EXPORT_OTF2] = "otf2",
        [VIEWER_EXPORT_CSV] = "csv",
        [VIEWER_EXPORT_JSONL] = "jsonl",
        [VIEWER_EXPORT_PROMETHEUS] = "prometheus"};

    return (viewer_export_format)cli_choice(
        text, CLI_LIST(names),
        "the format '%s' is not one of chrome, perfetto, otf2, csv, jsonl, "
        "prometheus",
        state);
}

static void check_export(const export_arguments *a, struct argp_state *state)
{
    bool to_stdout = !a->output || strcmp(a->output, "-") == 0;

    if (!a->run)
        argp_error(state, "the run directory is missing");
    if (!a->has_format)
        argp_error(state, "the format is missing: --format="
                          "chrome|perfetto|otf2|csv|jsonl|prometheus");
    if (a->format == VIEWER_EXPORT_OTF2 && to_stdout)
        argp_error(state, "OTF2 is a directory: name a new one by --output");
    if (a->format == VIEWER_EXPORT_PERFETTO && to_stdout &&
        isatty(STDOUT_FILENO))
        argp_error(state, "the format perfetto is not for a terminal: name a "
                          "file by --output");
    if (a->format == VIEWER_EXPORT_PROMETHEUS &&
        (a->thread_list || a->collector_list || a->process_list ||
         cli_has_window(&a->window)))
        argp_error(state, "the format prometheus is of the whole run: it takes "
                          "no options but --output");
}

static error_t parse_export(int key, char *text, struct argp_state *state)
{
    export_arguments *a = state->input;

    switch (key) {
    case 'f':
        a->format = read_format(text, state);
        a->has_format = true;
        return 0;
    case 'o':
        a->output = text;
        return 0;
    case KEY_THREAD:
        a->thread_list = cli_nodes(text, &eventspace_kind_threads, state);
        return 0;
    case KEY_COLLECTOR:
        a->collector_list = cli_nodes(text, &eventspace_kind_collectors, state);
        return 0;
    case KEY_PROCESS:
        a->process_list = text;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->window;
        return 0;
    case ARGP_KEY_ARG:
        cli_take(&a->run, text, state);
        return 0;
    case ARGP_KEY_END:
        check_export(a, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- what a person should know of the run --- */

static void tell_of_run(const eventspace_run *run, const scopes_ledger *ledger,
                        viewer_export_format format)
{
    cli_warn_of_damage(run);
    if (format == VIEWER_EXPORT_PROMETHEUS)
        return;
    if (ledger->lost > 0) {
        fputs("eventspace: ", stderr);
        cli_print_ledger(ledger, stderr);
        putc('\n', stderr);
    }
    if (ledger->read == 0)
        fputs("eventspace: there are no such events\n", stderr);
}

/* --- writing --- */

static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

static void on_signal(int number)
{
    viewer_export_stop = number;
}

/* Signals end an export with nothing half written left behind; a second one
 * ends it at once. */
static void signals_catch(void)
{
    struct sigaction action = {.sa_handler = on_signal,
                               .sa_flags = (int)SA_RESETHAND};
    cli_catch(&action);
}

static int directory_fail(const char *directory, int error)
{
    return pastset_fail(pastset_status_from_errno(error), "%s: %s%s", directory,
                        strerror(error),
                        error == EEXIST ? "; name a new directory" : "");
}

/* A directory is made under another name, which it loses when it is whole. */
static int write_directory(eventspace_run *run, const char *directory,
                           const viewer_export_options *options,
                           scopes_ledger *ledger)
{
    char part[PATH_MAX];
    struct stat there;
    int err, length = (int)strlen(directory);

    while (length > 1 && directory[length - 1] == '/')
        length--;
    if (lstat(directory, &there) == 0)
        return directory_fail(directory, EEXIST);
    if (snprintf(part, sizeof(part), "%.*s.%ld.part", length, directory,
                 (long)getpid()) >= (int)sizeof(part))
        return directory_fail(directory, ENAMETOOLONG);
    signals_catch();
    if (mkdir(part, 0777) != 0)
        return directory_fail(directory, errno);
    err = viewer_export_otf2(run, options, part, ledger);
    if (err)
        pastset_fail_while(err, "%s", directory);
    else if (rename(part, directory) != 0)
        err = directory_fail(directory, errno);
    if (err)
        nftw(part, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return err;
}

/* What is written to standard output is there in part after an error; a file
 * or a directory is there when it is whole. */
static int write_file(eventspace_run *run, const export_arguments *a,
                      const viewer_export_options *options,
                      scopes_ledger *ledger)
{
    viewer_output *output;
    int err;

    if (a->format == VIEWER_EXPORT_OTF2)
        return write_directory(run, a->output, options, ledger);
    if (!a->output || strcmp(a->output, "-") == 0) {
        err = viewer_export(run, a->format, options, stdout, ledger);
        if (err && ferror(stdout))
            pastset_fail_while(err, "standard output");
        return err;
    }
    signals_catch();
    err = viewer_output_begin(&output, a->output);
    if (err)
        return err;
    err = viewer_export(run, a->format, options, viewer_output_file(output),
                        ledger);
    return viewer_output_end(output, err);
}

static int export_run(eventspace_run *run, const export_arguments *a)
{
    const paths_map *map = eventspace_run_map(run);
    paths_number_list threads = {0}, collectors = {0};
    bool *processes = NULL;
    uint32_t process = PATHS_NONE;
    viewer_export_options options = {.from_ns = a->window.from_ns,
                                     .to_ns = a->window.to_ns,
                                     .last_ns = a->window.last_ns};
    scopes_ledger ledger = {0};
    int err = cli_find_process(run, a->process_list, &process);

    if (!err && a->thread_list)
        err = eventspace_node_list_read(&threads, a->thread_list,
                                        &eventspace_kind_threads, map, a->run);
    if (!err && a->collector_list)
        err =
            eventspace_node_list_read(&collectors, a->collector_list,
                                      &eventspace_kind_collectors, map, a->run);
    if (!err && process != PATHS_NONE) {
        processes = calloc(map->process_count, sizeof(*processes));
        if (!processes)
            err = pastset_no_memory("for an export");
        else
            processes[process] = true;
    }
    options.threads = a->thread_list ? &threads : NULL;
    options.collectors = a->collector_list ? &collectors : NULL;
    options.processes = processes;
    if (!err)
        err = write_file(run, a, &options, &ledger);
    if (!err)
        tell_of_run(run, &ledger, a->format);
    free(processes);
    paths_number_list_fini(&threads);
    paths_number_list_fini(&collectors);
    return err;
}

int cli_export(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_window, 0, NULL, 0},
                                                 {0}};
    static const struct argp argp = {
        export_options,
        parse_export,
        "RUN",
        "Writes the events of a run in the format of another tool.\vchrome is "
        "JSON for chrome://tracing, ui.perfetto.dev and speedscope; perfetto "
        "is the same as Perfetto's protobuf; otf2 is a directory for "
        "otf2-print "
        "and Vampir; csv and jsonl have an event on each line; prometheus "
        "is the state of the run, as text for Prometheus. The run may still be "
        "going on, and its processes may have been killed.",
        children,
        NULL,
        NULL};
    export_arguments a = {.window = SCOPES_SNAPSHOT_ALL};
    eventspace_run *run;
    int err;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    /* A reader that went away is an error like any other. */
    signal(SIGPIPE, SIG_IGN);
    run = cli_open_run(a.run);
    if (!run)
        return COMMAND_FAILED;
    err = export_run(run, &a);
    eventspace_run_close(run);
    if (err)
        cli_fail();
    /* Whoever waits for it is to see how it ended. */
    if (err && viewer_export_stop) {
        signal(viewer_export_stop, SIG_DFL);
        raise(viewer_export_stop);
    }
    return err ? COMMAND_FAILED : COMMAND_OK;
}
