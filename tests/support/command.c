/* command.c - see command.h. */
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIN_S 60

unsigned timeout(unsigned seconds)
{
    const char *slow = getenv("EVENTSPACE_TEST_SLOW");
    int factor = slow ? atoi(slow) : 1;

    return factor > 1 ? seconds * (unsigned)factor : seconds;
}

/* Waits at a descriptor of the process rather than asking again and again. */
int child_wait(pid_t pid, unsigned seconds)
{
    /* Only what hangs is to fail: who takes longer than less than that may be
     * on a machine that is busy. */
    unsigned max = timeout(seconds < MIN_S ? MIN_S : seconds);
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    int status, ready;

    cr_assert_geq(fd, 0, "process %d: %s", (int)pid, strerror(errno));
    do {
        ready = poll(&ended, 1, (int)max * 1000);
    } while (ready < 0 && errno == EINTR);
    close(fd);
    if (ready == 0) {
        kill(-pid, SIGKILL); /* a command, with what it has started */
        kill(pid, SIGKILL);
    }
    waitpid(pid, &status, 0);
    cr_assert_eq(ready, 1, "process %d did not end within %u s", (int)pid, max);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void start(command *p, const char *program, va_list rest)
{
    char *argv[COMMAND_ARGUMENTS] = {(char *)(uintptr_t)program};

    for (int i = 1; i < COMMAND_ARGUMENTS - 1; i++) {
        argv[i] = va_arg(rest, char *);
        if (!argv[i])
            break;
    }
    memset(p, 0, sizeof(*p));
    p->output_fd = memfd_create("output", MFD_CLOEXEC);
    cr_assert_geq(p->output_fd, 0);
    p->pid = fork();
    cr_assert_geq(p->pid, 0);
    if (p->pid)
        return;
    setpgid(0, 0);
    dup2(p->output_fd, STDOUT_FILENO);
    dup2(p->output_fd, STDERR_FILENO);
    execvp(program, argv);
    _exit(127);
}

void command_start(command *p, const char *program, ...)
{
    va_list rest;

    va_start(rest, program);
    start(p, program, rest);
    va_end(rest);
}

void command_wait(command *p, unsigned seconds)
{
    off_t bytes;

    p->exit_code = child_wait(p->pid, seconds);
    bytes = lseek(p->output_fd, 0, SEEK_END);
    p->output = calloc(1, (size_t)bytes + 1);
    cr_assert(p->output &&
              pread(p->output_fd, p->output, (size_t)bytes, 0) == bytes);
}

void command_free(command *p)
{
    close(p->output_fd);
    free(p->output);
    p->output = NULL;
}

char *command_run(int exit_code, unsigned seconds, const char *program, ...)
{
    command p;
    va_list rest;
    char *output;

    va_start(rest, program);
    start(&p, program, rest);
    va_end(rest);
    command_wait(&p, seconds);
    cr_assert_eq(p.exit_code, exit_code, "%s: exit code %d, not %d:\n%s",
                 program, p.exit_code, exit_code, p.output);
    output = p.output;
    p.output = NULL;
    command_free(&p);
    return output;
}
