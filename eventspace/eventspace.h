/* eventspace.h - starting one process of a run, from inside the application.
 *
 *     static int worker(paths_thread *self, void *argument) { ... }
 *
 *     int main(void)
 *     {
 *         eventspace *es;
 *         int err = eventspace_start(&es);
 *         if (!err)
 *             err = eventspace_program(es, "*", worker, NULL);
 *         return eventspace_finish(es, err);
 *     }
 *
 * The program is started by `eventspace run MAP --output RUN -- PROGRAM`, once
 * for every process of the map.
 *
 * Threads:   all from the main thread.
 * Ownership: finish takes back what start gave. */
#ifndef EVENTSPACE_EVENTSPACE_H
#define EVENTSPACE_EVENTSPACE_H

#include "paths/paths.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eventspace eventspace;

/* Reads what `eventspace run` has left in the environment (see launch.h),
 * opens this process's files in the run directory and makes its stages.
 * `*out` is NULL after an error.
 * Errors: PASTSET_ENOENT (not started by `eventspace run`), those of
 * eventspace_start. */
int eventspace_start(eventspace **out);

typedef struct eventspace_options {
    /* What wrapper types of the program's own get at the start of the process;
     * ended by one without a type. NULL: nothing. */
    const struct paths_wrapper_context *contexts;
} eventspace_options;

/* The same with options, which are needed for this call only. */
int eventspace_start_with(eventspace **out, const eventspace_options *options);

/* Says what the threads whose names match `pattern` run. */
int eventspace_program(eventspace *es, const char *pattern, paths_main *program,
                       void *argument);

/* The directory of this run; the place for an application's results. */
const char *eventspace_directory(const eventspace *es);

/* When `status` is 0, runs the process until all threads of all processes have
 * ended. Then writes how it ended into the run directory, tells an error on
 * standard error (this is the one function that prints), and gives the exit
 * code for main: 0 or 1. `es` may be NULL. */
int eventspace_finish(eventspace *es, int status);

#ifdef __cplusplus
}
#endif

#endif
