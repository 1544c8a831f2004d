/* dying_app.c - an application of which one process dies at a chosen moment.
 *
 *     DYING_PROCESS=h1 DYING_PHASE=running DYING_HOW=killed DYING_FILE=FILE
 *
 * Its threads stand in a ring: each writes to the next by path `out` and reads
 * what comes by path `in`, so that none can go on without the others. What
 * happens to the process, when it has come to that phase:
 *
 *   killed    it kills itself
 *   exits     it exits with code 3
 *   orphaned  it kills the process $LAUNCHER, and does not end by itself
 *
 * The file then has the time of that, in nanoseconds. The phases are
 *
 *   main       before it says anything to the library
 *   started    between eventspace_start and eventspace_finish
 *   dialling   before it connects to another process
 *   connected  before it says anything on that connection
 *   joining    the first process: it has told the launcher that it lets
 *              another in
 *   welcomed   the first process: and that other one, but not the launcher that
 *              it did
 *   joined     it has told the launcher that a process has joined
 *   running    its thread runs
 *   done       it has said DONE; the first process: is about to say END
 *   end        END has come; the first process: one process was told
 *   finished   after eventspace_finish
 *
 * For those in the middle of the library its system calls are seen here, as
 * this program's functions take the place of the C library's. A process that
 * nothing ends does so itself, and makes the file $DYING_LIVED. */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "eventspace/eventspace.h"
#include "paths/engine/process.h"
#include "paths/net/wire_internal.h"
#include "tests/support/dying_app.h"

#define ROUNDS 20

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

static bool is(const char *name, const char *value)
{
    return strcmp(setting(name), value) == 0;
}

static void note_time(void)
{
    struct timespec now;
    char text[32];
    int fd = open(setting("DYING_FILE"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    int bytes;

    clock_gettime(CLOCK_MONOTONIC, &now);
    bytes = snprintf(text, sizeof(text), "%lld\n",
                     (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    if (write(fd, text, (size_t)bytes) != bytes)
        _exit(4);
    close(fd);
}

static void at(const char *phase)
{
    static atomic_flag been = ATOMIC_FLAG_INIT;

    if (getenv("EVENTSPACE_PROCESS") == NULL ||
        !is("DYING_PROCESS", getenv("EVENTSPACE_PROCESS")) ||
        !is("DYING_PHASE", phase) || atomic_flag_test_and_set(&been))
        return;
    note_time();
    if (is("DYING_HOW", "exits"))
        _exit(3);
    if (is("DYING_HOW", "orphaned"))
        kill(atoi(setting("LAUNCHER")), SIGKILL);
    else
        kill(getpid(), SIGKILL);
    while (strcmp(phase, "running") != 0)
        pause();
}

/* --- in place of the C library's --- */

int connect(int fd, const struct sockaddr *address, socklen_t bytes)
{
    int r;

    at("dialling");
    r = (int)syscall(SYS_connect, fd, address, bytes);
    if (r == 0)
        at("connected");
    return r;
}

ssize_t send(int fd, const void *data, size_t bytes, int flags)
{
    ssize_t r = syscall(SYS_sendto, fd, data, bytes, flags, NULL, 0);

    if (bytes == sizeof(paths_joined)) { /* nothing else is so short */
        paths_joined said;
        memcpy(&said, data, sizeof(said));
        at(said.state == PATHS_COME ? "joined" : "joining");
    }
    return r;
}

static int kind_of(const void *data, size_t bytes)
{
    wire_header header;

    if (bytes < sizeof(header))
        return 0;
    memcpy(&header, data, sizeof(header));
    return header.kind;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    int kind =
        kind_of(message->msg_iov[0].iov_base, message->msg_iov[0].iov_len);
    ssize_t r;

    if (kind == WIRE_END)
        at("done");
    r = syscall(SYS_sendmsg, fd, message, flags);
    if (kind == WIRE_WELCOME)
        at("welcomed");
    if (kind == WIRE_DONE)
        at("done");
    if (kind == WIRE_END)
        at("end");
    return r;
}

ssize_t recv(int fd, void *data, size_t capacity, int flags)
{
    ssize_t r = syscall(SYS_recvfrom, fd, data, capacity, flags, NULL, NULL);

    if (r > 0 && kind_of(data, (size_t)r) == WIRE_END)
        at("end");
    return r;
}

/* --- the application --- */

static void on_alarm(int number)
{
    int fd = open(setting("DYING_LIVED"), O_WRONLY | O_CREAT, 0600);

    (void)number;
    _exit(fd < 0 ? 5 : 6);
}

static int go_round(paths_thread *self, void *argument)
{
    paths_path *out, *in;
    bool for_ever = is("DYING_HOW", "orphaned") && is("DYING_PHASE", "running");
    uint64_t value = 0;
    int err = paths_open(&out, self, "out");

    (void)argument;
    if (!err)
        err = paths_open(&in, self, "in");
    for (int i = 0; !err && (i < ROUNDS || for_ever); i++) {
        if (i == ROUNDS / 2)
            at("running");
        err = paths_write(out, &value, sizeof(value));
        if (!err)
            err = paths_observe(in, &value, sizeof(value));
    }
    return err;
}

int main(void)
{
    eventspace *es;
    int err;

    signal(SIGALRM, on_alarm);
    alarm(DYING_APP_SECONDS);
    at("main");
    err = eventspace_start(&es);
    if (!err)
        err = eventspace_program(es, "*", go_round, NULL);
    at("started");
    err = eventspace_finish(es, err);
    at("finished");
    return err;
}
