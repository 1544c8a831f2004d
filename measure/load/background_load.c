/* background_load.c - processes that are always busy, to compete with a
 * program.
 *
 * They are forked and not threads, so that they count to no one's threads and
 * a program that is probed does not have them. They stay in the session and
 * the scheduling group of the caller (load.h says why).
 *
 * One that is busy for a share of its time counts its own processor time, not
 * the time of the day: busy for `share` of a period, then asleep for the rest
 * of it. Against a program that is always busy on a fair scheduler its busy
 * phase takes twice as long, and in a cycle of 1 + share the program gets 1:
 * the load average that it makes alone is what the program is slowed down by,
 * as the models take it (predict/models/scheduler_model.h). */
#include "measure/load/load.h"

#include "measure/load/load_internal.h"
#include "pastset/status.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The mean length of a cycle of one that is busy for a share. Long enough to
 * hold several slices of a scheduler, short enough that a program of a second
 * meets many. */
#define PERIOD_S 0.05

enum { MAX = 1024 };

struct measure_background_load {
    uint32_t count;
    pid_t pids[];
};

/* --- in the child: only what may be done after a fork of many threads --- */

_Noreturn static void spin_always(void)
{
    for (volatile unsigned long turns = 0;; turns++) {
    }
}

/* Cycles differ in length, half to one and a half of the mean, so that they
 * fall into no step with a program that is periodic itself. */
_Noreturn static void spin_share(double share)
{
    uint32_t random = (uint32_t)getpid() * 2654435761u;
    for (;;) {
        double period, until, idle;
        struct timespec t = {0, 0};
        random = random * 1664525u + 1013904223u;
        period = PERIOD_S * (0.5 + (double)(random >> 8) / 16777216.0);
        until = measure__cpu_seconds() + period * share;
        while (measure__cpu_seconds() < until) {
        }
        idle = period * (1 - share);
        t.tv_nsec = (long)(idle * 1e9); /* under a second: see PERIOD_S */
        nanosleep(&t, NULL);
    }
}

_Noreturn static void compete(pid_t parent, int ready, double share)
{
    prctl(PR_SET_TIMERSLACK, 1);
    if (measure__child_begin(parent) || write(ready, "", 1) != 1)
        _exit(1);
    /* Whoever waits for the end of a pipe must not wait for us. */
    close_range(0, ~0u, 0);
    if (share < 1)
        spin_share(share);
    spin_always();
}

/* --- in the caller --- */

static int wait_ready(int ready)
{
    char byte;
    ssize_t got;
    do
        got = read(ready, &byte, 1);
    while (got < 0 && errno == EINTR);
    return got == 1 ? 0
                    : pastset_fail(PASTSET_EIO,
                                   "a competing process died at its start");
}

static int start_one(measure_background_load *c, int processor, double share)
{
    pid_t parent = getpid();
    int ends[2], err;
    if (pipe2(ends, O_CLOEXEC))
        return pastset_fail(PASTSET_EIO, "cannot make a pipe: %s",
                            strerror(errno));
    pid_t pid = fork();
    if (pid == 0)
        compete(parent, ends[1], share);
    close(ends[1]);
    if (pid < 0) {
        err = pastset_fail(PASTSET_EIO, "cannot start a competing process: %s",
                           strerror(errno));
    } else {
        c->pids[c->count++] = pid;
        err = measure__bind(pid, processor, NULL);
        if (!err)
            err = wait_ready(ends[0]);
    }
    close(ends[0]);
    return err;
}

int measure_background_load_create(measure_background_load **out, int processor,
                                   double load)
{
    measure_background_load *c;
    double whole = floor(load);
    int err = 0;
    *out = NULL;
    if (!(load >= 0 && load <= MAX))
        return pastset_fail(PASTSET_EINVAL,
                            "a load of %g: it must be from 0 to %d", load, MAX);
    c = calloc(1, sizeof(*c) + ((size_t)whole + 1) * sizeof(*c->pids));
    if (!c)
        return pastset_no_memory("for competitors");
    while (!err && c->count < (uint32_t)whole)
        err = start_one(c, processor, 1);
    /* Less than a thousandth of a period is nothing. */
    if (!err && load - whole >= 0.001)
        err = start_one(c, processor, load - whole);
    if (err)
        measure_background_load_destroy(c);
    else
        *out = c;
    return err;
}

void measure_background_load_destroy(measure_background_load *background_load)
{
    if (!background_load)
        return;
    for (uint32_t i = 0; i < background_load->count; i++)
        kill(background_load->pids[i], SIGKILL);
    for (uint32_t i = 0; i < background_load->count; i++)
        while (waitpid(background_load->pids[i], NULL, 0) < 0 &&
               errno == EINTR) {
        }
    free(background_load);
}
