/* draw_child.c - Graphviz in a child process.
 *
 * Graphviz 2.42 leaks, remembers names of fonts that it has freed, and frees
 * twice when it gives back some layouts. So it runs in a child, which ends
 * without giving anything back, and tells through a pipe how it went: nothing
 * but DONE, or what was wrong. */
#include "viewer/draw/draw_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pastset/status.h"

#define DONE "done"

/* Graphviz calls exit() when it cannot write; what the parent has registered
 * for its end, and its output that is not written yet, are not the child's. */
static void leave(void)
{
    _exit(1);
}

/* The picture is in memory: what limits files (ulimit -f) is for the one that
 * it is written to in the end. */
static void lift_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_FSIZE, &limit);
    }
}

/* It does not outlive who waits for it, may be ended by any signal, and has
 * nothing of a server open. */
void viewer__draw_child_begin(pid_t parent, int a, int b)
{
    unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    signal(SIGINT, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (low > 3)
        close_range(3, low - 1, 0);
    if (high > low + 1)
        close_range(low + 1, high - 1, 0);
    close_range(high + 1, ~0U, 0);
}

int viewer__draw_fd(int fd)
{
    int above, failed;

    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    failed = errno;
    close(fd);
    errno = failed;
    return above;
}

static void __attribute__((noreturn))
child(const char *dot, const char *engine, const char *format, FILE *file,
      int pipe_fd)
{
    const char *problem;

    lift_limit();
    problem = atexit(leave) == 0 ? viewer__graphviz(dot, engine, format, file)
                                 : "no memory";

    if (problem)
        dprintf(pipe_fd, "%s%s%s", problem,
                *viewer__graphviz_said() ? ": " : "", viewer__graphviz_said());
    else
        dprintf(pipe_fd, "%s", DONE);
    _exit(0);
}

/* Reads what the child says, until it ends. */
static int listen_to(pid_t pid, int pipe_fd)
{
    char text[400];
    size_t used = 0;
    ssize_t got;
    int error = 0;

    do {
        got = read(pipe_fd, text + used, sizeof(text) - 1 - used);
        used += got > 0 ? (size_t)got : 0;
        error = got < 0 ? errno : 0;
    } while (got > 0 || (got < 0 && errno == EINTR));
    text[used] = 0;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (strcmp(text, DONE) == 0)
        return 0;
    if (error)
        return pastset_fail(PASTSET_EIO, "cannot read what Graphviz says: %s",
                            strerror(error));
    return pastset_fail(PASTSET_ENOTSUP, "%s",
                        used ? text : "Graphviz broke down");
}

static bool pipe_open(int *fds)
{
    int failed;

    if (pipe2(fds, O_CLOEXEC) != 0)
        return false;
    fds[0] = viewer__draw_fd(fds[0]);
    fds[1] = viewer__draw_fd(fds[1]);
    if (fds[0] >= 0 && fds[1] >= 0)
        return true;
    failed = errno;
    if (fds[0] >= 0)
        close(fds[0]);
    if (fds[1] >= 0)
        close(fds[1]);
    errno = failed;
    return false;
}

static int render(const char *dot, const char *engine, const char *format,
                  FILE *file)
{
    int fds[2], err;
    pid_t parent = getpid(), pid;

    if (!pipe_open(fds))
        return pastset_fail(pastset_status_from_errno(errno),
                            "cannot make a pipe: %s", strerror(errno));
    pid = fork();
    if (pid == 0) {
        viewer__draw_child_begin(parent, fileno(file), fds[1]);
        child(dot, engine, format, file, fds[1]);
    }
    err = pid < 0 ? pastset_fail(pastset_status_from_errno(errno),
                                 "cannot start a process: %s", strerror(errno))
                  : 0;
    close(fds[1]);
    if (!err)
        err = listen_to(pid, fds[0]);
    close(fds[0]);
    return err;
}

/* What Graphviz has written into the file of its child. */
static int file_read(char **out, size_t *bytes, FILE *file)
{
    off_t size = lseek(fileno(file), 0, SEEK_END);
    ssize_t got;

    *out = size > 0 ? malloc((size_t)size) : NULL;
    if (size <= 0 || !*out)
        return pastset_fail(size <= 0 ? PASTSET_EIO : PASTSET_ENOMEM,
                            size <= 0 ? "Graphviz has drawn nothing"
                                      : "no memory for the picture");
    got = pread(fileno(file), *out, (size_t)size, 0);
    *bytes = got > 0 ? (size_t)got : 0;
    return got == size
               ? 0
               : pastset_fail(PASTSET_EIO, "cannot read the picture: %s",
                              got < 0 ? strerror(errno) : "it died");
}

/* The child shares the file, and a file in memory cannot be full. */
int viewer__picture_make(char **out, size_t *bytes, const char *dot,
                         const char *engine, const char *format)
{
    int fd = viewer__draw_fd(memfd_create("picture", MFD_CLOEXEC));
    FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
    int err;

    *out = NULL;
    if (!file) {
        if (fd >= 0)
            close(fd);
        return pastset_no_memory("for a picture");
    }
    err = render(dot, engine, format, file);
    if (!err)
        err = file_read(out, bytes, file);
    fclose(file);
    return err;
}
