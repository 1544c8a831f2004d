/* command_deadlocks.c - see command_deadlocks.h. */
#include "viewer/cli/command_deadlocks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pastset/status.h"
#include "pastset/waiter.h"
#include "viewer/cli/command.h"
#include "viewer/live/watch.h"

#define LOOK_MS 100
#define SHARE 20 /* of its time, a look takes one part at most */
#define GRACE_MS 5000

command_deadlocks cli_deadlocks_read(const char *text, struct argp_state *state)
{
    if (!text)
        return COMMAND_DEADLOCKS_TELL;
    if (strcmp(text, "end") != 0)
        argp_error(state, "--watch=%s: it is --watch or --watch=end", text);
    return COMMAND_DEADLOCKS_END;
}

/* --- looking --- */

static void tell(const char *lines)
{
    size_t length;

    fputs("eventspace: deadlock: none of these can ever go on\n", stderr);
    for (; *lines; lines += length + 1) {
        length = strcspn(lines, "\n");
        fprintf(stderr, "eventspace: deadlock: %.*s\n", (int)length, lines);
        if (!lines[length])
            break;
    }
}

static bool has_ended(int pidfd, int wait_ms)
{
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};

    return poll(&ended, 1, wait_ms) > 0;
}

/* Until a deadlock is found, which is told, or nobody is left: the process and
 * all of the run. */
static bool watch(viewer_watch *w, int pidfd)
{
    int wait_ms = LOOK_MS;
    bool is_over;

    while (!(is_over = has_ended(pidfd, wait_ms)) ||
           viewer_watch_is_running(w)) {
        int64_t before_ns = pastset_now_ns(), took_ms;
        const char *found = viewer_watch_look(w, is_over);
        if (found) {
            tell(found);
            return true;
        }
        took_ms = (pastset_now_ns() - before_ns) / 1000000;
        wait_ms = took_ms * SHARE > LOOK_MS ? (int)(took_ms * SHARE) : LOOK_MS;
        if (has_ended(pidfd, 0)) /* the run may not have ended with it */
            poll(NULL, 0, wait_ms);
    }
    return false;
}

static void signal_send(int pidfd, int signal)
{
    (void)pidfd_send_signal(pidfd, signal, NULL, 0);
}

static void end(int pidfd)
{
    signal_send(pidfd, SIGTERM);
    if (!has_ended(pidfd, GRACE_MS))
        signal_send(pidfd, SIGKILL);
}

/* --- beside rank 0 --- */

/* Whoever started rank 0 knows by its files when it has ended. */
static void files_close(int pidfd)
{
    int null = open("/dev/null", O_RDWR);

    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(pidfd, STDERR_FILENO + 1);
    closefrom(STDERR_FILENO + 2);
}

static void __attribute__((noreturn))
watch_beside(const char *directory, command_deadlocks how, int pidfd)
{
    viewer_watch *w;

    files_close(pidfd);
    pidfd = STDERR_FILENO + 1;
    if (viewer_watch_create(&w, directory))
        _exit(cli_fail());
    if (watch(w, pidfd) && how == COMMAND_DEADLOCKS_END)
        end(pidfd);
    viewer_watch_destroy(w);
    _exit(COMMAND_OK);
}

void cli_deadlocks_beside(const char *directory, command_deadlocks how)
{
    int pidfd = pidfd_open(getpid(), 0);
    pid_t child = pidfd >= 0 ? fork() : -1;

    if (child == 0) {
        if (fork() == 0)
            watch_beside(directory, how, pidfd);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    else
        fprintf(stderr, "eventspace: nobody watches %s: %s\n", directory,
                strerror(errno));
    if (pidfd >= 0)
        close(pidfd);
}

/* --- as the parent --- */

static int child_pidfd = -1;

/* What a terminal sends has come to the child as well. */
static void pass_on(int signal, siginfo_t *info, void *unused)
{
    (void)unused;
    if (info->si_code <= 0 && child_pidfd >= 0)
        signal_send(child_pidfd, signal);
}

static void signals_pass_on(void)
{
    static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action = {.sa_sigaction = pass_on,
                               .sa_flags = SA_SIGINFO | SA_RESTART};

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        sigaction(all[i], &action, NULL);
}

static void __attribute__((noreturn))
become(char *const *program, const sigset_t *signals)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, signals, NULL);
    execvp(program[0], program);
    (void)pastset_fail(errno == ENOENT ? PASTSET_ENOENT : PASTSET_EIO,
                       "%s: %s: the launcher of the program's MPI is not there",
                       program[0], strerror(errno));
    _exit(cli_fail());
}

static int code_of(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return COMMAND_FAILED;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int cli_deadlocks_run(const char *directory, command_deadlocks how,
                      char *const *program)
{
    viewer_watch *w;
    sigset_t all, before;
    pid_t child;
    bool is_ended;

    if (viewer_watch_create(&w, directory))
        return cli_fail();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    child = fork();
    if (child == 0)
        become(program, &before);
    child_pidfd = child > 0 ? pidfd_open(child, 0) : -1;
    signals_pass_on();
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child_pidfd < 0) {
        (void)pastset_fail(PASTSET_EIO, "the program: %s", strerror(errno));
        viewer_watch_destroy(w);
        return cli_fail();
    }
    is_ended = watch(w, child_pidfd) && how == COMMAND_DEADLOCKS_END;
    viewer_watch_destroy(w);
    if (is_ended)
        end(child_pidfd);
    return is_ended ? (code_of(child), COMMAND_DEADLOCK) : code_of(child);
}
