/* command_losses.h - a run of which events are lost says so: at once when its
 * file system is full, and in the end in any case. */
#ifndef VIEWER_COMMAND_LOSSES_H
#define VIEWER_COMMAND_LOSSES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "pastset/waiter.h"

typedef struct command_losses {
    const char *directory;
    const char *process; /* NULL: of all */
    const char *program;
    const char *failure; /* becomes what failed first; "": nothing did */
    bool patient;        /* processes wait for room on a full disk */
    int signal; /* that ended the run: some may not have joined for it */
    /* What follows is filled in. */
    pthread_t thread;
    pastset_waiter waiter;
    atomic_bool stopped;
    bool running;
} command_losses;

/* Looks from now on, in a thread that takes no signals. A run that cannot be
 * looked at goes on. */
void cli_losses_watch(command_losses *losses);
/* Ends that, and says on standard error what is lost, and whether there was a
 * run at all; `archived`: an archiver has counted that, and what is left to say
 * is what processes have noted. COMMAND_FAILED: something was lost for want of
 * disk, or no process has joined. */
int cli_losses_end(command_losses *losses, bool archived);

#endif
