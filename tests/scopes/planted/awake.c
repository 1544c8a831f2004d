/* awake.c - processors that do not sleep, as those of machines on which times
 * are measured (idle=poll): a virtual one may take 0.1 ms to wake.
 *
 * On each processor a thread computes whenever nobody else would. Ends with
 * who started it. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *awake(void *number)
{
    volatile uint64_t turns = 0;
    cpu_set_t its;

    CPU_ZERO(&its);
    CPU_SET((uintptr_t)number, &its);
    if (sched_setaffinity(0, sizeof(its), &its) != 0)
        return NULL;
    for (;;)
        turns++;
}

/* A session has a weight of its own (autogroup). */
static void give_way(void)
{
    struct sched_param how = {0};
    FILE *group;

    setsid();
    sched_setscheduler(0, SCHED_IDLE, &how);
    group = fopen("/proc/self/autogroup", "w");
    if (group) {
        fputs("19", group);
        fclose(group);
    }
}

int main(void)
{
    cpu_set_t ours;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (sched_getaffinity(0, sizeof(ours), &ours) != 0)
        return 1;
    give_way();
    for (uintptr_t i = 0; i < CPU_SETSIZE; i++) {
        pthread_t id;
        if (CPU_ISSET(i, &ours) &&
            pthread_create(&id, NULL, awake, (void *)i) != 0)
            return 1;
    }
    pause();
    return 0;
}
