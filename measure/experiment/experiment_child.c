/* experiment_child.c - runs a command and tells how long it took.
 *
 * From its start to its end, as a user sees it. It stays in our session, as
 * competitors do: see measure/load/load.h. */
#include "measure/experiment/experiment_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/load/load_internal.h"
#include "pastset/status.h"
#include "paths/engine/processors.h"

bool measure__experiment_stopped(const experiment_setup *s)
{
    return s->options->stop && *s->options->stop;
}

void measure__experiment_tell(const experiment_setup *s, const char *what,
                              uint32_t done, uint32_t all)
{
    if (s->options->progress)
        s->options->progress(s->options->context, what, done, all);
}

char **measure__experiment_arguments(const experiment_setup *s, const char *map,
                                     const char *run_directory)
{
    const char *front[] = {s->eventspace, "run",       map, "--output",
                           run_directory, "--replace", "--"};
    size_t fronts = s->options->map ? sizeof(front) / sizeof(*front) : 0;
    size_t count = 0;
    char **out;
    while (s->options->argv[count])
        count++;
    out = calloc(fronts + count + 1, sizeof(*out));
    if (!out)
        return NULL;
    /* As execvp wants them: it changes none. */
    memcpy(out, front, fronts * sizeof(*out));
    memcpy(out + fronts, s->options->argv, count * sizeof(*out));
    return out;
}

/* Does not come back. */
static void become(const experiment_setup *s, char *const *argv, int said,
                   pid_t parent)
{
    int none = open("/dev/null", O_RDWR);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(127);
    if (!s->options->map) {
        cpu_set_t set;
        CPU_ZERO(&set);
        for (size_t i = 0; i < s->processor_count; i++)
            CPU_SET(s->processors[i], &set);
        sched_setaffinity(0, sizeof(set), &set);
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    dup2(none, 0);
    dup2(none, 1);
    dup2(said, 2);
    execvp(argv[0], argv);
    dprintf(2, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* Gives the status of waitpid; a signal that asks us to end is passed on. */
static int await(const experiment_setup *s, pid_t pid)
{
    bool told = false;
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        if (!measure__experiment_stopped(s))
            continue;
        kill(pid, told ? SIGKILL : SIGTERM);
        told = true;
    }
    return status;
}

int measure__experiment_said_open(const experiment_setup *s)
{
    char file[EXPERIMENT_PATH];
    int said;

    snprintf(file, sizeof(file), "%s/said", s->folder);
    said = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return said >= 0
               ? said
               : pastset_fail(PASTSET_EIO, "%s: %s", file, strerror(errno));
}

const char *measure__experiment_said_last(int said,
                                          char buffer[EXPERIMENT_SAID])
{
    off_t end = lseek(said, 0, SEEK_END);
    off_t from = end > EXPERIMENT_SAID - 1 ? end - (EXPERIMENT_SAID - 1) : 0;
    ssize_t got = pread(said, buffer, EXPERIMENT_SAID - 1, from);
    char *line;
    buffer[got > 0 ? got : 0] = '\0';
    while (got > 0 && buffer[got - 1] == '\n')
        buffer[--got] = '\0';
    line = strrchr(buffer, '\n');
    return line ? line + 1 : buffer;
}

static int judge(const experiment_setup *s, int status, int said)
{
    char buffer[EXPERIMENT_SAID];
    const char *line = measure__experiment_said_last(said, buffer);
    if (measure__experiment_stopped(s))
        return pastset_fail(PASTSET_ECANCELED, "interrupted");
    if (WIFSIGNALED(status))
        return pastset_fail(PASTSET_EAPP, "it was ended by signal %d%s%s",
                            WTERMSIG(status), *line ? ": " : "", line);
    if (WEXITSTATUS(status) != 0)
        return pastset_fail(PASTSET_EAPP, "it failed with exit code %d%s%s",
                            WEXITSTATUS(status), *line ? ": " : "", line);
    return 0;
}

int measure__experiment_time(double *out_s, const experiment_setup *s,
                             char *const *argv)
{
    pid_t parent = getpid(), pid;
    double start;
    int status, err, said = measure__experiment_said_open(s);
    if (said < 0)
        return said;
    start = measure__seconds();
    pid = fork();
    if (pid == 0)
        become(s, argv, said, parent);
    if (pid < 0) {
        err = pastset_fail(PASTSET_EIO, "a process: %s", strerror(errno));
    } else {
        status = await(s, pid);
        *out_s = measure__seconds() - start;
        err = judge(s, status, said);
    }
    close(said);
    return err;
}
