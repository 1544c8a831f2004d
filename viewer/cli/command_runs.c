/* command_runs.c - runs as arguments of commands. */
#include "viewer/cli/command.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "eventspace/run/run_map.h"
#include "pastset/status.h"
#include "viewer/cli/packed_runs.h"

bool cli_is_packed(const char *run)
{
    struct stat status;

    return stat(run, &status) == 0 && S_ISREG(status.st_mode);
}

const char *cli_run_directory(const char *run)
{
    return cli_is_packed(run) ? cli_run_unpack(run) : run;
}

eventspace_run *cli_open_run(const char *run)
{
    const char *directory;
    eventspace_run *opened = NULL;

    cli_refuse_large_files();
    directory = cli_run_directory(run);
    if (directory && eventspace_run_open(&opened, directory) != 0)
        cli_fail();
    if (opened && *eventspace_run_problem(opened))
        fprintf(stderr, "eventspace: %s\n", eventspace_run_problem(opened));
    return opened;
}

void cli_warn_of_definitions(const char *directory)
{
    char problem[EVENTSPACE_RUN_PROBLEM];
    paths_map *map;
    uint32_t nodes;

    if (eventspace_run_map_read(&map, directory, problem, sizeof(problem),
                                &nodes) != 0)
        return; /* which the command finds out as well */
    if (*problem)
        fprintf(stderr, "eventspace: %s\n", problem);
    paths_map_destroy(map);
}

/* Processes that still run need no word: there will be more to see. */
static void warn_of_processes(const eventspace_run *run, const char *name)
{
    size_t count = eventspace_run_process_count(run), bad = 0;

    for (size_t i = 0; i < count; i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        bad +=
            !process->has_meta || (process->meta.state != EVENTSPACE_RUNNING &&
                                   process->meta.state != EVENTSPACE_FINISHED);
    }
    if (bad)
        fprintf(stderr,
                "eventspace: %zu of %zu processes are missing or did not "
                "end well: `eventspace info %s` says why; they are shown as "
                "far as there are events\n",
                bad, count, name);
}

/* What could not be read is in no answer, and no count of it may be known. */
void cli_warn_of_damage(const eventspace_run *run)
{
    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        if (eventspace_run_is_damaged(process))
            fprintf(stderr, "eventspace: process %s: %s\n", process->name,
                    process->problem);
    }
}

void cli_warn_of_run(const eventspace_run *run, const char *name)
{
    warn_of_processes(run, name);
    cli_warn_of_damage(run);
}

void cli_warn_of_strange(uint64_t events)
{
    if (events > 0)
        fprintf(stderr,
                "eventspace: %" PRIu64 " events are of collectors that the map "
                "does not have\n",
                events);
}

int cli_find_process(const eventspace_run *run, const char *name, uint32_t *out)
{
    *out = name ? paths_map_find_process(eventspace_run_map(run), name)
                : PATHS_NONE;
    return name && *out == PATHS_NONE
               ? pastset_fail(PASTSET_ENOENT, "the run has no process \"%s\"",
                              name)
               : 0;
}

/* --- names --- */

char *cli_packed_name(const char *file, const char *suffix)
{
    size_t length = strlen(file), end = strlen(CLI_PACKED_SUFFIX);
    char *name;

    if (length > end && strcmp(file + length - end, CLI_PACKED_SUFFIX) == 0)
        length -= end;
    else if (!*suffix)
        suffix = ".run";
    return asprintf(&name, "%.*s%s", (int)length, file, suffix) < 0 ? NULL
                                                                    : name;
}

char *cli_beside(const char *run, const char *name, const char *suffix)
{
    char *file;

    if (cli_is_packed(run))
        return cli_packed_name(run, suffix);
    return asprintf(&file, "%s/%s%s", run, name, suffix) < 0 ? NULL : file;
}

/* --- what became of its events --- */

void cli_print_ledger(const scopes_ledger *ledger, FILE *file)
{
    fprintf(file, "events: %" PRIu64 " recorded, %" PRIu64 " read, ",
            ledger->recorded, ledger->read);
    if (ledger->filtered > 0)
        fprintf(file, "%" PRIu64 " filtered, ", ledger->filtered);
    if (ledger->unread > 0)
        fprintf(file, "%" PRIu64 " unread, ", ledger->unread);
    fprintf(file, "%" PRIu64 " lost", ledger->lost);
}

const char *cli_size_text(uint64_t bytes, char *buffer)
{
    if (bytes < 1000)
        snprintf(buffer, CLI_TEXT_BYTES, "%" PRIu64 " B", bytes);
    else if (bytes < 1000000)
        snprintf(buffer, CLI_TEXT_BYTES, "%.1f kB", (double)bytes / 1e3);
    else
        snprintf(buffer, CLI_TEXT_BYTES, "%.1f MB", (double)bytes / 1e6);
    return buffer;
}
