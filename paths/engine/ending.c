/* ending.c - ends held operations early: a deadline has passed, a connection
 * has closed, nobody is left at the other end, the run is over.
 *
 * Whoever takes one out of the list resumes it with the error, and it goes its
 * way like any other. */
#include <stdio.h>

#include "paths/engine/process_internal.h"
#include "paths/net/connection_internal.h"
#include "paths/wrappers/collectives_internal.h"

void paths__end(operation *o, int status)
{
    paths_process *process = o->home->process;
    bool ours;

    pthread_mutex_lock(&process->held_lock);
    ours = paths__held_take(process, o);
    pthread_mutex_unlock(&process->held_lock);
    if (ours)
        paths_resume(&o->op, status);
}

/* Resumes a list that was taken out of the process's, linked by held_next. */
static void resume_list(operation *list, int status)
{
    while (list) {
        operation *next = list->held_next;
        if (status < 0)
            pastset_fail(status, "%s", pastset_status_text(status));
        if (paths__current && !paths__current->thread)
            paths__executor_runs(paths__current, list);
        paths_resume(&list->op, status);
        list = next;
    }
}

void paths__end_those(paths_process *process,
                      bool (*is)(const operation *o, const void *context),
                      const void *context, int status, const char *text)
{
    operation *list = NULL, *next;

    pthread_mutex_lock(&process->held_lock);
    for (operation *o = process->held; o; o = next) {
        next = o->held_next;
        if (!is(o, context))
            continue;
        if (paths__held_take(process, o)) {
            o->held_next = list;
            list = o;
        }
    }
    pthread_mutex_unlock(&process->held_lock);
    pastset_fail(status, "%s", text);
    for (operation *o = list; o; o = o->held_next)
        paths__keep_text(o, status);
    resume_list(list, status);
}

static bool is_any(const operation *o, const void *context)
{
    (void)o;
    (void)context;
    return true;
}

void paths__end_all(paths_process *process)
{
    char why[1100];
    bool any;
    int status;

    pthread_mutex_lock(&process->held_lock);
    any = process->held != NULL;
    pthread_mutex_unlock(&process->held_lock);
    if (!any) /* and whoever stops a process keeps his error text */
        return;
    status = atomic_load(&process->failed)
                 ? paths__process_failure(process)
                 : pastset_fail(PASTSET_ECANCELED, "the run has ended");
    snprintf(why, sizeof(why), "%s", pastset_error());
    paths__end_those(process, is_any, NULL, status, why);
}

/* Contributions stay: whose process has died is told by the coordinator, and by
 * nobody who has only lost a connection. */
static bool is_from(const operation *o, const void *from)
{
    return o->from == from && !o->stage->joins;
}

void paths__end_from(paths_process *process, const connection *from)
{
    char text[300];

    snprintf(text, sizeof(text), "process %s died: it closed the connection",
             from->peer == PATHS_NONE ? "?"
                                      : process_name(process, from->peer));
    paths__end_those(process, is_from, from, PASTSET_EHOST, text);
}

void paths__timers_run(paths_process *process)
{
    operation *due, *late;

    paths__held_due(process, &due, &late);
    resume_list(due, PATHS_PASS);
    if (late && atomic_load(&process->failed)) { /* that is why they end */
        int status = paths__process_failure(process);
        for (operation *o = late; o; o = o->held_next)
            paths__keep_text(o, status);
        resume_list(late, status);
    } else {
        for (const operation *o = late; o; o = o->held_next) {
            if (!o->rising && o->stage->proxy)
                paths__collective_lost_step(o->stage, NULL, PASTSET_ETIMEDOUT);
        }
        resume_list(late, PASTSET_ETIMEDOUT);
    }
}
