/* remote.c - a command, and the socket that is its standard input and output.
 *
 * A socket rather than two pipes: writing to one who has gone away is an error
 * then, and no signal. */
#include "eventspace/remote/remote_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pastset/status.h"
#include "pastset/text.h"
#include "pastset/waiter.h"

#define SAY_S 10

struct eventspace_remote {
    char *name;
    pid_t pid; /* 0: it has been waited for */
    int fd;
    int exit_code;
    size_t used, at; /* of what came */
    char came[4096];
};

/* --- starting --- */

_Noreturn static void become(char *const *argv, int fd, pid_t parent)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    fd = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* it may stand in their places */
    if (prctl(PR_SET_PDEATHSIG, SIGHUP) != 0 || getppid() != parent ||
        dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
        _exit(126);
    execvp(argv[0], argv);
    fprintf(stderr, "eventspace: cannot start %s: %s\n", argv[0],
            strerror(errno));
    _exit(127);
}

static int begin(eventspace_remote *task, char *const *argv)
{
    const struct timeval patience = {.tv_sec = SAY_S};
    pid_t parent = getpid();
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return pastset_fail(PASTSET_EIO, "%s: no socket: %s", task->name,
                            strerror(errno));
    setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    fflush(NULL);
    task->pid = fork();
    if (task->pid == 0)
        become(argv, ends[1], parent);
    close(ends[1]);
    task->fd = ends[0];
    if (task->pid < 0) {
        task->pid = 0;
        return pastset_fail(PASTSET_EIO, "%s: no process can be started: %s",
                            task->name, strerror(errno));
    }
    setpgid(task->pid, task->pid);
    return 0;
}

int eventspace__remote_of(eventspace_remote **out, const char *name, int fd)
{
    eventspace_remote *task = calloc(1, sizeof(*task));

    *out = NULL;
    if (task)
        task->name = strdup(name);
    if (!task || !task->name) {
        free(task);
        return pastset_no_memory("for a task: %s", name);
    }
    task->fd = fd;
    *out = task;
    return 0;
}

int eventspace_remote_start(eventspace_remote **out, const char *name,
                            char *const *argv)
{
    int err = eventspace__remote_of(out, name, -1);

    if (!err)
        err = begin(*out, argv);
    if (err) {
        eventspace_remote_end(*out);
        *out = NULL;
    }
    return err;
}

/* It becomes a part of a command line. */
static bool is_plain(const char *name)
{
    return *name && *name != '-' &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:@")] == 0;
}

static char *line_make(const char *machine, const char *command,
                       const char *program)
{
    static const char mark[] = "{machine}";
    bool has_mark = strstr(command, mark) != NULL;
    char *line;
    size_t bytes;
    FILE *file = pastset_text_begin(&line, &bytes);

    if (!file)
        return NULL;
    for (const char *at; (at = strstr(command, mark));
         command = at + strlen(mark))
        fprintf(file, "%.*s%s", (int)(at - command), command, machine);
    fprintf(file, "%s%s%s %s", command, has_mark ? "" : " ",
            has_mark ? "" : machine, program);
    return pastset_text_end(file) ? line : NULL;
}

int eventspace_remote_start_on(eventspace_remote **out, const char *machine,
                               const char *command, const char *program)
{
    char *argv[] = {(char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c",
                    NULL, NULL};
    char name[128];
    int err;

    *out = NULL;
    if (!is_plain(machine))
        return pastset_fail(PASTSET_EINVAL,
                            "machine \"%.60s\": the name has characters with "
                            "a special meaning to a shell",
                            machine);
    argv[2] = line_make(machine, command, program);
    if (!argv[2])
        return pastset_no_memory("for a command");
    snprintf(name, sizeof(name), "machine %s", machine);
    err = eventspace_remote_start(out, name, argv);
    free(argv[2]);
    return err;
}

const char *eventspace__remote_name(const eventspace_remote *task)
{
    return task->name;
}

/* --- hearing --- */

/* Waits for more than is there. */
static int more(eventspace_remote *task, int64_t until_ns)
{
    struct pollfd poll_it = {.fd = task->fd, .events = POLLIN};
    ssize_t got;

    if (task->at > 0) {
        memmove(task->came, task->came + task->at, task->used - task->at);
        task->used -= task->at;
        task->at = 0;
    }
    for (;;) {
        int64_t left_ns = until_ns - pastset_now_ns();
        int left_ms = left_ns <= 0              ? 0
                      : left_ns > 3600000000000 ? 3600000
                                                : (int)(left_ns / 1000000) + 1;
        int n = poll(&poll_it, 1, left_ms);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            return pastset_fail(PASTSET_ETIMEDOUT, "%s does not answer",
                                task->name);
        got = recv(task->fd, task->came + task->used,
                   sizeof(task->came) - task->used, 0);
        if (got < 0 && errno == EINTR)
            continue;
        break;
    }
    if (got <= 0)
        return pastset_fail(PASTSET_EHOST,
                            "%s has ended, or the connection to "
                            "it",
                            task->name);
    task->used += (size_t)got;
    return 0;
}

int eventspace_remote_line(eventspace_remote *task,
                           char line[EVENTSPACE_REMOTE_LINE], int64_t until_ns)
{
    for (;;) {
        char *from = task->came + task->at;
        char *end = memchr(from, '\n', task->used - task->at);
        size_t bytes = end ? (size_t)(end - from) : task->used - task->at;
        int err;

        if (memchr(from, 0, bytes))
            return pastset_fail(PASTSET_EPROTO,
                                "%s says a line with a byte of "
                                "0 in it",
                                task->name);
        if (bytes >= EVENTSPACE_REMOTE_LINE)
            return pastset_fail(PASTSET_EPROTO,
                                "%s says a line of more than "
                                "%d bytes",
                                task->name, EVENTSPACE_REMOTE_LINE - 1);
        if (end) {
            memcpy(line, from, bytes);
            line[bytes] = '\0';
            task->at += bytes + 1;
            return 0;
        }
        err = more(task, until_ns);
        if (err)
            return err;
    }
}

int eventspace_remote_bytes(eventspace_remote *task, void *out, size_t bytes,
                            int64_t until_ns)
{
    unsigned char *to = out;

    while (bytes > 0) {
        size_t there = task->used - task->at;
        size_t some = there < bytes ? there : bytes;
        int err;

        memcpy(to, task->came + task->at, some);
        task->at += some;
        to += some;
        bytes -= some;
        err = bytes > 0 ? more(task, until_ns) : 0;
        if (err)
            return err;
    }
    return 0;
}

/* --- saying --- */

int eventspace_remote_send(eventspace_remote *task, const void *data,
                           size_t bytes)
{
    const char *from = data;

    while (bytes > 0) {
        ssize_t sent = send(task->fd, from, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return pastset_fail(PASTSET_ETIMEDOUT,
                                "%s has taken nothing for %d s", task->name,
                                SAY_S);
        if (sent < 0)
            return pastset_fail(PASTSET_EHOST,
                                "%s has ended, or the connection to it",
                                task->name);
        from += sent;
        bytes -= (size_t)sent;
    }
    return 0;
}

int eventspace_remote_say(eventspace_remote *task, const char *format, ...)
{
    va_list arguments;
    char *text;
    int length, err;

    va_start(arguments, format);
    length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return pastset_no_memory("for a line");
    err = eventspace_remote_send(task, text, (size_t)length);
    free(text);
    return err;
}

void eventspace_remote_hush(eventspace_remote *task)
{
    shutdown(task->fd, SHUT_WR);
}

/* --- the end --- */

static void how_it_ended(eventspace_remote *task, int status)
{
    task->pid = 0;
    task->exit_code =
        WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool eventspace_remote_has_ended(eventspace_remote *task, int *exit_code)
{
    int status = 0;
    pid_t got = task->pid ? waitpid(task->pid, &status, WNOHANG) : 0;

    if (got < 0 && errno == ECHILD) { /* nobody knows how */
        task->pid = 0;
        task->exit_code = 1;
    } else if (got > 0) {
        how_it_ended(task, status);
    }
    *exit_code = task->exit_code;
    return task->pid == 0;
}

void eventspace_remote_end(eventspace_remote *task)
{
    int status = 0;

    if (!task)
        return;
    if (task->fd >= 0)
        close(task->fd);
    if (task->pid) {
        kill(-task->pid, SIGKILL);
        while (waitpid(task->pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    free(task->name);
    free(task);
}
