/* register_gather.h - makes the wrapper types of this layer known: traces,
 * filter, statistics, recorder.
 *
 * Threads: once, from one thread; calling it again does no harm. */
#ifndef SCOPES_REGISTER_GATHER_H
#define SCOPES_REGISTER_GATHER_H

/* The context (paths_process_options) of `traces`, `filter` and `recorder`. */
typedef struct scopes_leaf {
    const char *run; /* the run directory, where `traces` does not name one;
                        borrowed until the process is stopped */
} scopes_leaf;

/* Also calls eventspace_register. Errors: those of paths_wrapper_register. */
int scopes_register(void);

#endif
