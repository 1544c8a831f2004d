/* packed_runs.c - see packed_runs.h.
 *
 * A child process waits for the end of this one, whatever that may be, and
 * removes the directory. */
#include "viewer/cli/packed_runs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pastset/status.h"
#include "viewer/cli/command.h"
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

int cli_begin_packed(char *const *words)
{
    (void)words;
    return COMMAND_OK;
}

const char *cli_run_unpack(const char *file)
{
    unpacked *u = malloc(sizeof(*u));
    int err =
        u ? unpack_temporarily(u, file)
          : pastset_fail(PASTSET_ENOMEM, "%s: no memory to unpack it", file);

    if (err) {
        free(u);
        cli_fail();
        return NULL;
    }
    u->next = temporary.runs;
    temporary.runs = u;
    return u->run;
}
