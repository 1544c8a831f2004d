/* top_mirror.c - see top_mirror.h. */
#include "viewer/live/top_mirror.h"

#include "pastset/status.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT 200 /* of 10 ms */

static void run_scope(const viewer_mirror *m, const char *address,
                      const char *key)
{
    int log = creat(m->log, 0600);
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setpgid(0, 0); /* the keys of the terminal are not for it */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execl("/proc/self/exe", "eventspace", "scope", "--connect", address,
          "--output", m->run, key ? "--key" : (char *)NULL, key, (char *)NULL);
    _exit(127);
}

int viewer_mirror_open(viewer_mirror *m, const char *address, const char *key)
{
    const char *temporary = getenv("TMPDIR");

    memset(m, 0, sizeof(*m));
    snprintf(m->directory, sizeof(m->directory), "%s/eventspace-top-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(m->directory)) {
        int failed = errno;
        *m->directory = '\0';
        return pastset_fail(PASTSET_EIO, "no directory for a mirror: %s",
                            strerror(failed));
    }
    snprintf(m->run, sizeof(m->run), "%s/run", m->directory);
    snprintf(m->log, sizeof(m->log), "%s/log", m->directory);
    m->pid = fork();
    if (m->pid == 0)
        run_scope(m, address, key);
    if (m->pid > 0)
        return 0;
    m->pid = 0;
    return pastset_fail(PASTSET_EIO, "fork: %s", strerror(errno));
}

bool viewer_mirror_ended(viewer_mirror *m)
{
    int status;

    if (m->pid > 0 && waitpid(m->pid, &status, WNOHANG) == m->pid) {
        m->pid = 0;
        m->failed = status != 0;
    }
    return m->pid <= 0;
}

/* What the scope said last. */
static int tell_failure(const viewer_mirror *m)
{
    static const char *said = "eventspace: ";
    char line[512], last[512] = "it ended without a message";
    FILE *log = fopen(m->log, "re");

    while (log && fgets(line, sizeof(line), log)) {
        line[strcspn(line, "\n")] = '\0';
        if (*line)
            memcpy(last, line, sizeof(last));
    }
    if (log)
        fclose(log);
    return pastset_fail(
        PASTSET_EIO, "the scope: %s",
        strncmp(last, said, strlen(said)) == 0 ? last + strlen(said) : last);
}

int viewer_mirror_status(const viewer_mirror *m)
{
    return m->failed ? tell_failure(m) : 0;
}

int viewer_mirror_ready(viewer_mirror *m)
{
    char map[sizeof(m->run) + 16];
    bool ended = viewer_mirror_ended(m);

    snprintf(map, sizeof(map), "%s/pathmap.dot", m->run);
    if (access(map, R_OK) == 0)
        return 1;
    return ended ? tell_failure(m) : 0;
}

static int remove_one(const char *file, const struct stat *what, int kind,
                      struct FTW *where)
{
    (void)what;
    (void)kind;
    (void)where;
    return remove(file);
}

/* The scope writes out what it has, unless the other side does not answer. */
static void scope_end(pid_t pid)
{
    const struct timespec pause = {.tv_nsec = 10000000};

    kill(pid, SIGTERM);
    for (int i = 0; i < TIMEOUT; i++) {
        if (waitpid(pid, NULL, WNOHANG) != 0)
            return;
        nanosleep(&pause, NULL);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

void viewer_mirror_close(viewer_mirror *m)
{
    if (m->pid > 0) {
        scope_end(m->pid);
        m->pid = 0;
    }
    if (*m->directory)
        nftw(m->directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    *m->directory = '\0';
}
