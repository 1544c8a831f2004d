/* helper.c - threads of the runtime's own; see collector_internal.h. */
#include "eventspace/collect/collector_internal.h"

#include <signal.h>

int eventspace__helper_start(pthread_t *thread, void *(*run)(void *))
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
