/* processes.c - starting a command and watching it until all has ended.
 *
 * The child waits on a pipe until the records of its switches are set up, and
 * tells through another one why its exec failed, which closes when it did not.
 * Waiting is poll(2): for the next probe, for the caller's descriptor, and for
 * the end of the command (a pidfd), so that its end is known when it comes and
 * not 20 ms later. */
#include "measure/processes/processes_internal.h"

#include "pastset/array.h"
#include "pastset/status.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define INTERVAL_NS 20000000

/* --- starting --- */

static void child(char **argv, int output, int errors, int go, int failed)
{
    char ready;
    int error;
    if (read(go, &ready, 1) != 1)
        _exit(127); /* whoever started us has given up */
    if (output >= 0 && output != STDOUT_FILENO &&
        dup2(output, STDOUT_FILENO) < 0)
        _exit(127);
    if (errors > 0 && errors != STDERR_FILENO &&
        dup2(errors, STDERR_FILENO) < 0)
        _exit(127);
    execvp(argv[0], argv);
    error = errno;
    if (write(failed, &error, sizeof(error)) != sizeof(error))
        _exit(127);
    _exit(127);
}

/* The children that we have are none of the command's. */
static int note_children(measure_watch *w)
{
    char text[16384], *rest = text;
    int fd = -1;
    if (measure__read(w, &fd, text, sizeof(text), "/proc/%d/task/%d/children",
                      w->self, w->self) < 0) {
        w->no_children = true;
        return 0;
    }
    measure__drop(w, &fd);
    for (char *word; (word = strtok_r(rest, " \n", &rest));) {
        void *grown =
            pastset_array_grow(w->before, w->before_count, sizeof(*w->before));
        if (!grown)
            return pastset_no_memory("to watch");
        w->before = grown;
        w->before[w->before_count++] = (pid_t)atoi(word);
    }
    return 0;
}

static int exec_failed(const char *program, int error)
{
    if (error == ENOENT)
        return pastset_fail(PASTSET_ENOENT, "%s: no such program", program);
    return pastset_fail(PASTSET_EIO, "cannot start %s: %s", program,
                        strerror(error));
}

/* Lets the child go; what it says, if its exec fails. */
static int let_go(measure_watch *w, const char *program, int go, int failed)
{
    int error = 0;
    ssize_t got;
    w->result.start_ns = measure__now(CLOCK_MONOTONIC);
    if (write(go, "", 1) != 1)
        return pastset_fail(PASTSET_EIO, "cannot start %s: %s", program,
                            strerror(errno));
    do
        got = read(failed, &error, sizeof(error));
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return 0;
    waitpid(w->command, NULL, 0);
    return exec_failed(program, got == (ssize_t)sizeof(error) ? error : EIO);
}

static void close_both(const int ends[2])
{
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

static int start(measure_watch *w, char **argv, int output,
                 const measure_watch_options *options)
{
    int go[2] = {-1, -1}, failed[2] = {-1, -1};
    int err;
    if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC)) {
        err = pastset_fail(PASTSET_EIO, "cannot make a pipe: %s",
                           strerror(errno));
        goto done;
    }
    w->command = fork();
    if (w->command < 0) {
        err = pastset_fail(PASTSET_EIO, "cannot start a process: %s",
                           strerror(errno));
        goto done;
    }
    if (w->command == 0) {
        close(go[1]);
        child(argv, output, options ? options->errors : 0, go[0], failed[1]);
    }
    close(failed[1]);
    failed[1] = -1;
    if (!options || !options->no_switches)
        w->switches = measure_switches_open(w->command, w->result.why,
                                            sizeof(w->result.why));
    else
        snprintf(w->result.why, sizeof(w->result.why),
                 "context switches were not requested");
    err = let_go(w, argv[0], go[1], failed[0]);
done:
    close_both(go);
    close_both(failed);
    return err;
}

static void set_limits(measure_watch *w)
{
    struct rlimit files;
    /* Half of the files that we may have open are for the watch. */
    w->files_left = getrlimit(RLIMIT_NOFILE, &files) ? 256
                    : files.rlim_cur > 65536         ? 32768
                                                     : (long)files.rlim_cur / 2;
    prctl(PR_GET_CHILD_SUBREAPER, &w->was_subreaper);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int measure_watch_open(measure_watch **out, char **argv, int output,
                       const measure_watch_options *options)
{
    measure_watch *w = calloc(1, sizeof(*w));
    int err;
    *out = NULL;
    if (!w)
        return pastset_no_memory("to watch %s", argv[0]);
    w->command_fd = -1;
    w->self = getpid();
    w->result.interval_ns = options && options->interval_ns > 0
                                ? options->interval_ns
                                : INTERVAL_NS;
    w->no_sockets = options && options->no_sockets;
    set_limits(w);
    err = note_children(w);
    if (!err)
        err = start(w, argv, output, options);
    if (!err) {
        size_t process =
            measure__add_process(w, w->command, w->self, w->result.start_ns);
        w->next_ns = w->result.start_ns;
        w->command_fd = (int)syscall(SYS_pidfd_open, w->command, 0);
        if (process != MEASURE__NONE)
            measure__begin_label(w, process, argv[0]);
    }
    if (err) {
        measure_watch_close(w);
        return err;
    }
    *out = w;
    return 0;
}

/* --- waiting --- */

static void sample(measure_watch *w)
{
    int64_t before = measure__now(CLOCK_THREAD_CPUTIME_ID);
    measure__sample(w);
    w->result.probing_ns += measure__now(CLOCK_THREAD_CPUTIME_ID) - before;
    w->result.end_ns = measure__now(CLOCK_MONOTONIC);
    if (w->command_ended && w->command_fd >= 0) {
        close(w->command_fd);
        w->command_fd = -1;
    }
}

static void set_next(measure_watch *w)
{
    int64_t now = measure__now(CLOCK_MONOTONIC);
    w->next_ns += w->result.interval_ns;
    if (w->next_ns <= now)
        w->next_ns = now + w->result.interval_ns;
}

int measure_watch_step(measure_watch *w, int fd)
{
    struct pollfd polled[2] = {{.fd = w->command_fd, .events = POLLIN},
                               {.fd = fd, .events = POLLIN}};
    int64_t left = w->next_ns - measure__now(CLOCK_MONOTONIC);
    struct timespec wait = {.tv_sec = left / 1000000000,
                            .tv_nsec = left % 1000000000};
    bool due = left <= 0;
    if (w->finished)
        return 0;
    if (!due)
        due = ppoll(polled, 2, &wait, NULL) == 0 || polled[0].revents;
    if (!due)
        return 1;
    sample(w);
    if (measure__now(CLOCK_MONOTONIC) >= w->next_ns)
        set_next(w);
    return !measure__all_ended(w);
}

void measure_watch_signal(measure_watch *w, int number)
{
    if (!w->command_ended) {
        kill(w->command, number);
        return;
    }
    for (size_t i = 0; i < w->result.process_count; i++)
        if (!w->processes[i].gone)
            kill(w->result.processes[i].pid, number);
}

/* --- the result --- */

/* By the records the last end is exact; else it was when we saw it. */
static void set_end(measure_watch *w)
{
    int64_t last = 0;
    for (size_t i = 0; i < w->result.thread_count; i++)
        if (w->result.threads[i].end_ns > last)
            last = w->result.threads[i].end_ns;
    if (w->switches && last > w->result.start_ns && last < w->result.end_ns)
        w->result.end_ns = last;
}

const measure_processes *measure_watch_result(measure_watch *w, int *exit_code)
{
    if (!w->finished) {
        measure__sum(w);
        set_end(w);
        w->finished = true;
    }
    if (exit_code)
        *exit_code = WIFSIGNALED(w->exit_status)
                         ? 128 + WTERMSIG(w->exit_status)
                         : WEXITSTATUS(w->exit_status);
    return w->memory ? NULL : &w->result;
}

void measure_watch_close(measure_watch *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->result.thread_count; i++) {
        measure__thread *t = &w->threads[i];
        measure__drop(w, &t->stat_fd);
        measure__drop(w, &t->times_fd);
        measure__drop(w, &t->children_fd);
        free(w->result.threads[i].runs);
        free(w->result.threads[i].seen);
    }
    for (size_t i = 0; i < w->result.process_count; i++)
        measure__drop(w, &w->processes[i].stat_fd);
    if (w->command_fd >= 0)
        close(w->command_fd);
    prctl(PR_SET_CHILD_SUBREAPER, w->was_subreaper);
    measure_switches_close(w->switches);
    free(w->result.processes);
    free(w->result.threads);
    free(w->processes);
    free(w->threads);
    measure__index_fini(w);
    free(w->sockets);
    free(w->before);
    free(w);
}
