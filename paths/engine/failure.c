/* failure.c - why a run ends, and why what waits for a host does.
 *
 * The first cause is kept, and is what all who come later are told. */
#include <stdio.h>

#include "paths/engine/host_internal.h"

static void failure_set(paths_host *host, int status, bool of_thread)
{
    pthread_mutex_lock(&host->failure_lock);
    if (of_thread && !host->thread_failure[0])
        snprintf(host->thread_failure, sizeof(host->thread_failure), "%s",
                 pastset_error());
    if (!atomic_load(&host->failed)) {
        if (of_thread)
            snprintf(host->failure, sizeof(host->failure), "host %s: %s",
                     host_name(host, host->self), pastset_error());
        else
            snprintf(host->failure, sizeof(host->failure), "%s",
                     pastset_error());
        atomic_store(&host->failed, status);
    }
    pthread_mutex_unlock(&host->failure_lock);
    uv_async_send(&host->wakeup);
}

void paths_host_fail(paths_host *host, int status)
{
    failure_set(host, status, false);
}

void paths__host_fail_thread(paths_host *host, int status)
{
    failure_set(host, status, true);
}

int paths__host_failure(paths_host *host)
{
    int status;

    pthread_mutex_lock(&host->failure_lock);
    status = atomic_load(&host->failed);
    pastset_fail(status, "the run ends: %s", host->failure);
    pthread_mutex_unlock(&host->failure_lock);
    return status;
}

/* --- hosts that have died --- */

int paths__orphaned(paths_stage *stage)
{
    paths_host *host = stage->host;
    int status;

    pthread_mutex_lock(&host->failure_lock);
    status = pastset_fail(PASTSET_EHOST,
                          "nobody is left at the other end of element \"%s\": "
                          "%s",
                          host->map->nodes[stage->node].name, host->loss);
    pthread_mutex_unlock(&host->failure_lock);
    return status;
}

int paths__gone_why(paths_host *host, uint32_t other)
{
    peer *p = &host->peers[other];
    int status;

    if (!atomic_load(&p->dead))
        return 0;
    pthread_mutex_lock(&host->failure_lock);
    status = p->why ? pastset_fail(PASTSET_EHOST, "%s", p->why)
                    : pastset_fail(PASTSET_EHOST, "host %s died",
                                   host_name(host, other));
    pthread_mutex_unlock(&host->failure_lock);
    return status;
}
