/* executor_internal.h - who runs operations, and the notes of what he is in.
 *
 * An executor is a thread that runs operations: the network loop (number 0) or
 * a thread of the application. */
#ifndef PATHS_EXECUTOR_INTERNAL_H
#define PATHS_EXECUTOR_INTERNAL_H

#include "paths/engine/executor.h"
#include "paths/engine/operation_internal.h"
#include "pastset/append.h"

typedef struct executor {
    uint32_t number;      /* 0: the loop */
    paths_thread *thread; /* NULL: the loop */
    paths_process *process;

    /* Notes of what it is in; see executor.h. Its own. */
    pastset_appender *notes; /* NULL: it makes none */
    uint64_t noted_since;
    uint32_t noted_sequence; /* of the operation that the last note is about */
    bool noted;              /* the last note is not that it goes on */
} executor;

extern _Thread_local executor *paths__current;
/* Sets it for the calling thread, or (NULL) takes it away. */
void paths__current_set(executor *e);

int paths__executors_make(paths_process *process);
/* About to wait for an operation. Its home. */
void paths__executor_waits(executor *e, const operation *o);
/* About to connect to a process. */
void paths__executor_connects(executor *e, uint32_t to);
/* The loop: about to carry an operation on. */
void paths__executor_runs(executor *e, const operation *o);
void paths__executor_is(executor *e, paths_activity activity);

/* Goes on, if it has noted that it waits. */
static inline void paths__executor_goes_on(executor *e)
{
    if (e->noted)
        paths__executor_is(e, PATHS_COMPUTING);
}

#endif
