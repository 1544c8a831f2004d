/* guest_app.c - what the runtime takes of the process that it is a guest in:
 * its thread prints how many descriptors there are, and waits for a signal that
 * is sent to the process, which every thread of the program's blocks. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "eventspace/eventspace.h"

static int descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

static int worker(paths_thread *self, void *argument)
{
    int number = 0;

    (void)self;
    printf("descriptors %d\n", descriptors());
    kill(getpid(), SIGUSR1);
    sigwait(argument, &number);
    printf("signal %d\n", number == SIGUSR1);
    fflush(stdout);
    return 0;
}

int main(void)
{
    sigset_t signals;
    eventspace *es;
    int err = eventspace_start(&es);

    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (!err)
        err = eventspace_program(es, "*", worker, &signals);
    return eventspace_finish(es, err);
}
