/* failure.c - why a run ends, and why what waits for a process does.
 *
 * The first cause is kept, and is what all who come later are told. */
#include <stdio.h>
#include <string.h>

#include "paths/engine/process_internal.h"

static void failure_set(paths_process *process, int status, bool of_thread)
{
    pthread_mutex_lock(&process->failure_lock);
    if (of_thread && !process->thread_failure[0])
        snprintf(process->thread_failure, sizeof(process->thread_failure), "%s",
                 pastset_error());
    if (!atomic_load(&process->failed)) {
        if (of_thread)
            snprintf(process->failure, sizeof(process->failure),
                     "process %s: %s", process_name(process, process->self),
                     pastset_error());
        else
            snprintf(process->failure, sizeof(process->failure), "%s",
                     pastset_error());
        atomic_store(&process->failed, status);
    }
    if (process->loop_open) /* else a stage told it in its `fini` */
        paths__wake(&process->wakeup);
    pthread_mutex_unlock(&process->failure_lock);
}

void paths_process_fail(paths_process *process, int status)
{
    failure_set(process, status, false);
}

void paths__process_fail_thread(paths_process *process, int status)
{
    failure_set(process, status, true);
}

const char *paths__failure_of(const char *text, const char *name)
{
    static const char word[] = "process ";
    size_t bytes = strlen(name);

    if (strncmp(text, word, sizeof(word) - 1) != 0)
        return NULL;
    text += sizeof(word) - 1;
    if (strncmp(text, name, bytes) != 0 || strncmp(text + bytes, ": ", 2) != 0)
        return NULL;
    return text + bytes + 2;
}

int paths__process_failure(paths_process *process)
{
    int status;

    pthread_mutex_lock(&process->failure_lock);
    status = atomic_load(&process->failed);
    pastset_fail(status, "the run ends: %s", process->failure);
    pthread_mutex_unlock(&process->failure_lock);
    return status;
}

/* --- processes that have died --- */

int paths__orphaned(paths_stage *stage)
{
    paths_process *process = stage->process;
    int status;

    pthread_mutex_lock(&process->failure_lock);
    status =
        pastset_fail(PASTSET_EHOST,
                     "no thread is left at the other end of element \"%s\": %s",
                     process->map->nodes[stage->node].name, process->loss);
    pthread_mutex_unlock(&process->failure_lock);
    return status;
}

int paths__gone_why(paths_process *process, uint32_t other)
{
    peer *p = &process->peers[other];
    int status;

    if (!atomic_load(&p->dead))
        return 0;
    pthread_mutex_lock(&process->failure_lock);
    status = p->why ? pastset_fail(PASTSET_EHOST, "%s", p->why)
                    : pastset_fail(PASTSET_EHOST, "process %s died",
                                   process_name(process, other));
    pthread_mutex_unlock(&process->failure_lock);
    return status;
}
