/* spawn.c - starting one process of a run, with what launch.h says it is given.
 *
 * By fork and exec rather than uv_spawn, since the child has something to do in
 * between: it asks the kernel to be killed with the launcher. So no process
 * lives on without it, whatever the program is and however far it has come. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eventspace/launch/launch_internal.h"
#include "eventspace/run/run_internal.h"

#define TEXT_BYTES (3 * EVENTSPACE_PATH_BYTES + 512)
#define OURS 8 /* variables, at most */

/* --- the environment --- */

static bool is_ours(const char *variable)
{
    static const char *const names[] = {
        "EVENTSPACE_RUN=",         "EVENTSPACE_PROCESS=",
        "EVENTSPACE_LISTEN_FD=",   "EVENTSPACE_KEY_FD=",
        "EVENTSPACE_LAUNCHER_FD=", "EVENTSPACE_ARCHIVED=",
        "EVENTSPACE_RESTORED=",    "EVENTSPACE_RESTORED_STEP="};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

/* The variables that we give a process, one behind the other. */
typedef struct variables {
    char text[TEXT_BYTES];
    size_t used;
    char *at[OURS];
    size_t count;
} variables;

static void __attribute__((format(printf, 2, 3)))
variable_add(variables *v, const char *format, ...)
{
    va_list arguments;

    v->at[v->count++] = v->text + v->used;
    va_start(arguments, format);
    v->used += 1 + (size_t)vsnprintf(v->text + v->used, TEXT_BYTES - v->used,
                                     format, arguments);
    va_end(arguments);
}

static void variables_make(variables *v, const launch_plan *plan,
                           const char *process)
{
    variable_add(v, "EVENTSPACE_RUN=%.*s", EVENTSPACE_PATH_BYTES - 1,
                 plan->directory);
    variable_add(v, "EVENTSPACE_PROCESS=%.*s", EVENTSPACE_PATH_BYTES - 1,
                 process);
    variable_add(v, "EVENTSPACE_LISTEN_FD=%d", LAUNCH_LISTEN_FD);
    variable_add(v, "EVENTSPACE_KEY_FD=%d", LAUNCH_KEY_FD);
    variable_add(v, "EVENTSPACE_LAUNCHER_FD=%d", LAUNCH_LINE_FD);
    variable_add(v, "EVENTSPACE_ARCHIVED=%s",
                 !plan->archived ? "0"
                 : plan->patient ? "wait"
                                 : "1");
    if (!plan->restored_step)
        return;
    variable_add(v, "EVENTSPACE_RESTORED=%.*s", EVENTSPACE_PATH_BYTES - 1,
                 plan->restored_from);
    variable_add(v, "EVENTSPACE_RESTORED_STEP=%" PRIu64, plan->restored_step);
}

/* The environment of a process: ours, and what is said in launch.h. The array
 * is to be freed. */
static char **environment_make(const variables *v)
{
    size_t count = 0, used = 0;
    char **environment;

    while (environ[count])
        count++;
    environment = calloc(count + v->count + 1, sizeof(environment[0]));
    if (!environment)
        return NULL;
    for (char **from = environ; *from; from++) {
        if (!is_ours(*from))
            environment[used++] = *from;
    }
    memcpy(environment + used, v->at, v->count * sizeof(v->at[0]));
    return environment;
}

/* --- the child --- */

/* Nothing of what the launcher does with signals is left. */
static void signals_reset(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++) {
        struct sigaction now;
        if (sigaction(number, NULL, &now) == 0 &&
            (now.sa_handler != SIG_IGN || number == SIGPIPE))
            signal(number, SIG_DFL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Puts the files where they belong. They may stand in each other's places. */
static int files_place(int fds[LAUNCH_FDS], int *report)
{
    *report = fcntl(*report, F_DUPFD_CLOEXEC, LAUNCH_FDS);
    for (int i = 0; i < LAUNCH_FDS; i++) {
        fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, LAUNCH_FDS);
        if (fds[i] < 0)
            return -1;
    }
    for (int i = 0; i < LAUNCH_FDS; i++) {
        if (dup2(fds[i], i) < 0)
            return -1;
    }
    return 0;
}

/* Writes the error to `report`, which closes when there is none. */
_Noreturn static void become(const launch_plan *plan, char **environment,
                             int fds[LAUNCH_FDS], pid_t launcher, int report)
{
    int error;

    /* It may have died before it was asked. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != launcher)
        _exit(127);
    if (files_place(fds, &report) == 0) {
        signals_reset();
        execvpe(plan->argv[0], plan->argv, environment);
    }
    error = errno;
    if (write(report, &error, sizeof(error)) < 0)
        _exit(126);
    _exit(127);
}

/* --- the launcher --- */

/* A pipe with the key in it, whose writing end is closed: it holds more than
 * that, so nobody needs to wait. */
static int key_pipe_open(int *fd, const uint8_t *key)
{
    int ends[2], error = 0;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    if (write(ends[1], key, EVENTSPACE_KEY_BYTES) != EVENTSPACE_KEY_BYTES)
        error = -EIO;
    close(ends[1]);
    if (error)
        close(ends[0]);
    else
        *fd = ends[0];
    return error;
}

/* Waits until the child has become the program. */
static int report_read(int fd, pid_t pid)
{
    int error = 0;
    ssize_t got;

    do {
        got = read(fd, &error, sizeof(error));
    } while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof(error))
        return 0;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return -error;
}

/* In the place of the process. The signals wait meanwhile: a handler must not
 * run in the child, which shares the loop's files. */
static int fork_at(const launch_plan *plan, const launch_process *process,
                   char **environment, int fds[LAUNCH_FDS], pid_t *pid)
{
    launch_place place;
    sigset_t all, before;
    pid_t launcher = getpid();
    int report[2], error = 0;

    if (pipe2(report, O_CLOEXEC) != 0)
        return -errno;
    /* It was well when the sockets were opened. */
    if (eventspace__place_enter(&place, process->process) != 0) {
        error = -EPERM;
    } else {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        *pid = fork();
        if (*pid == 0)
            become(plan, environment, fds, launcher, report[1]);
        error = *pid < 0 ? -errno : 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        eventspace__place_leave(&place);
    }
    close(report[1]);
    if (!error)
        error = report_read(report[0], *pid);
    close(report[0]);
    return error;
}

int eventspace__spawn(const launch_plan *plan, const launch_process *process,
                      int output_fd, int errors_fd, int line_fd, pid_t *pid)
{
    int fds[LAUNCH_FDS] = {-1, output_fd, errors_fd, process->listen_fd,
                           -1, line_fd};
    variables ours = {.used = 0};
    char **environment;
    int error;

    variables_make(&ours, plan, process->name);
    environment = environment_make(&ours);
    error = environment ? 0 : -ENOMEM;
    if (error)
        goto done;
    error = key_pipe_open(&fds[LAUNCH_KEY_FD], plan->key);
    if (error)
        goto done;
    fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    error = fds[0] < 0 ? -errno : 0;
    if (error)
        goto done;
    error = fork_at(plan, process, environment, fds, pid);
done:
    if (fds[0] >= 0)
        close(fds[0]);
    if (fds[LAUNCH_KEY_FD] >= 0)
        close(fds[LAUNCH_KEY_FD]);
    free(environment);
    return error;
}
