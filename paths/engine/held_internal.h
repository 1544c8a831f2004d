/* held_internal.h - held operations and their timers. */
#ifndef PATHS_HELD_INTERNAL_H
#define PATHS_HELD_INTERNAL_H

#include "paths/engine/operation_internal.h"

/* The one that is due first is at the top. */
typedef struct heap {
    operation **items;
    uint32_t count, capacity;
    uint64_t order; /* of the next that is put in */
} heap;

/* --- held.c --- */

/* Another process that does not answer by a deadline and this is given up: it
 * ends the operation itself, and knows better why. */
#define PATHS__GRACE_NS 2000000000

/* Before an operation is held: puts it in the list, sets its deadline.
 * Errors: PASTSET_ELIMIT, and the process's failure. */
int paths__hold(operation *o);
/* It is no longer held. */
void paths__unhold(operation *o);
/* It was not held after all, so that its home has not let go of it, unless it
 * had (`left`) before. */
void paths__unhold_again(operation *o, bool left);
/* Under held_lock: takes it out, if it is held and its stage lets go of it; it
 * is the caller's then, who resumes it. Else the loop looks again in a moment.
 */
bool paths__held_take(paths_process *process, operation *o);
/* The loop: takes out what is due: in one list those that were held for some
 * time and go on, in the other those whose deadline has passed. Linked by
 * held_next. */
void paths__held_due(paths_process *process, operation **due, operation **late);
void paths__timers_fini(paths_process *process);

/* --- ending.c --- */

/* Ends it if it is still held: its deadline passed. Its home. */
void paths__end(operation *o, int status);
/* Ends every held operation, because the run ends or has ended. */
void paths__end_all(paths_process *process);
/* Ends those that came over a connection that is closed. */
void paths__end_from(paths_process *process, const connection *from);
/* Ends those of which `is` is true, with the error and its text. */
void paths__end_those(paths_process *process,
                      bool (*is)(const operation *o, const void *context),
                      const void *context, int status, const char *text);
/* The loop: what is due. */
void paths__timers_run(paths_process *process);

#endif
