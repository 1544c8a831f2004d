/* command_runs.c - runs as arguments of commands, also packed ones.
 *
 * A packed run is unpacked into a temporary directory. A child process waits
 * for the end of this one, whatever that may be, and removes it. */
#include "viewer/cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eventspace/run/run_map.h"
#include "pastset/status.h"
#include "viewer/pack/pack.h"

typedef struct unpacked {
    struct unpacked *next;
    char run[PATH_MAX];
} unpacked;

static struct {
    char directory[PATH_MAX]; /* has one for each of the runs */
    pid_t remover;            /* 0: there is no directory yet */
    int alive; /* a pipe: the remover sees its end when this process ends */
    unpacked *runs;
    unsigned count;
} temporary;

/* In the child, where all signals are blocked: what interrupts the parent is
 * not for it. Nothing of the parent's is used but the pipe. */
static void remover_run(int alive)
{
    char byte;
    ssize_t got;

    setsid();
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    while ((got = read(alive, &byte, 1)) < 0 && errno == EINTR)
        ;
    if (got == 0)
        viewer_remove(temporary.directory);
    _exit(0);
}

/* A pipe whose ends are none of the three standard files, which may be closed.
 */
static int pipe_make(int ends[2])
{
    int low[2];

    if (pipe2(low, O_CLOEXEC) != 0)
        return pastset_fail_errno(temporary.directory);
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
        if (ends[i] < 0)
            pastset_fail_errno(temporary.directory);
        close(low[i]);
    }
    if (ends[0] >= 0 && ends[1] >= 0)
        return 0;
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    return PASTSET_ELIMIT;
}

static void temporary_end(void)
{
    if (temporary.remover <= 0)
        return;
    close(temporary.alive);
    waitpid(temporary.remover, NULL, 0);
    temporary.remover = 0;
    for (unpacked *next, *u = temporary.runs; u; u = next) {
        next = u->next;
        free(u);
    }
}

static int remover_start(void)
{
    int ends[2] = {-1, -1};
    int err = pipe_make(ends);

    if (err)
        return err;
    temporary.remover = fork();
    if (temporary.remover == 0) {
        close(ends[1]);
        remover_run(ends[0]);
    }
    if (temporary.remover < 0) {
        close(ends[1]);
        close(ends[0]);
        return pastset_fail_errno(temporary.directory);
    }
    close(ends[0]);
    temporary.alive = ends[1];
    atexit(temporary_end);
    return 0;
}

/* From the directory to the one who removes it no signal comes between. */
static int directory_make(const char *folder)
{
    sigset_t all, before;
    int err = 0;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    if (!mkdtemp(temporary.directory))
        err = pastset_fail_errno(folder);
    else
        err = remover_start();
    if (err)
        rmdir(temporary.directory);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return err;
}

static int temporary_make(void)
{
    const char *folder = getenv("TMPDIR");

    if (!folder || !*folder)
        folder = "/tmp";
    if ((size_t)snprintf(temporary.directory, sizeof(temporary.directory),
                         "%s/eventspace.XXXXXX",
                         folder) >= sizeof(temporary.directory))
        return pastset_fail(PASTSET_EINVAL, "TMPDIR: the name is too long");
    return directory_make(folder);
}

bool cli_is_packed(const char *run)
{
    struct stat status;

    return stat(run, &status) == 0 && S_ISREG(status.st_mode);
}

static int unpack_temporarily(unpacked *u, const char *file)
{
    char directory[PATH_MAX + 16];
    int err = temporary.remover ? 0 : temporary_make();

    if (err)
        return err;
    snprintf(directory, sizeof(directory), "%s/%u", temporary.directory,
             temporary.count++);
    if (mkdir(directory, 0700) != 0)
        return pastset_fail_errno(directory);
    err = viewer_unpack(u->run, file, directory);
    if (err == PASTSET_ENOSPC || err == PASTSET_EIO)
        pastset_fail_while(err, "unpacking %s (TMPDIR says where)", file);
    return err;
}

const char *cli_run_directory(const char *run)
{
    unpacked *u;
    int err;

    if (!cli_is_packed(run))
        return run;
    u = malloc(sizeof(*u));
    err = u ? unpack_temporarily(u, run)
            : pastset_fail(PASTSET_ENOMEM, "%s: no memory to unpack it", run);
    if (err) {
        free(u);
        cli_fail();
        return NULL;
    }
    u->next = temporary.runs;
    temporary.runs = u;
    return u->run;
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
