/* affinity.c - processors, and children that end with us. */
#include "measure/load/load_internal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "pastset/status.h"

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double measure__cpu_seconds(void)
{
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

double measure__seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

int measure__bind(pid_t pid, int processor, cpu_set_t *before)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (before && sched_getaffinity(pid, sizeof(*before), before))
        CPU_ZERO(before); /* of which measure__unbind makes nothing */
    if (processor < 0)
        return 0;
    if (processor < CPU_SETSIZE)
        CPU_SET(processor, &set);
    if (sched_setaffinity(pid, sizeof(set), &set) == 0)
        return 0;
    if (errno == EINVAL)
        return pastset_fail(
            PASTSET_EINVAL,
            "processor %d does not exist or may not be used: this machine has "
            "%ld, numbered from 0 (see `taskset -cp $$`)",
            processor, sysconf(_SC_NPROCESSORS_ONLN));
    return pastset_fail(PASTSET_EIO, "cannot bind to processor %d: %s",
                        processor, strerror(errno));
}

void measure__unbind(pid_t pid, const cpu_set_t *before)
{
    if (CPU_COUNT(before))
        sched_setaffinity(pid, sizeof(*before), before);
}

int measure__processor_after(int other)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set))
        return other;
    for (int i = 1; i <= CPU_SETSIZE; i++) {
        int next = (other + i) % CPU_SETSIZE;
        if (CPU_ISSET(next, &set))
            return next;
    }
    return other;
}

int measure__processor_first(void)
{
    return measure__processor_after(CPU_SETSIZE - 1);
}

/* Handlers and masks of the caller are not for it: Ctrl-C ends it too. */
static void forget_signals(void)
{
    sigset_t none;
    for (int i = 1; i < NSIG; i++)
        if (i != SIGKILL && i != SIGSTOP)
            signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

int measure__child_begin(pid_t parent)
{
    forget_signals();
    /* Of a parent that died before this nobody tells. */
    return prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent;
}
