/* command_deadlocks.h - --watch: a process beside an MPI program tells on
 * standard error when ranks wait for each other for ever. */
#ifndef VIEWER_COMMAND_DEADLOCKS_H
#define VIEWER_COMMAND_DEADLOCKS_H

#include <argp.h>

/* What is done about a deadlock. */
typedef enum command_deadlocks {
    COMMAND_DEADLOCKS_NOT,
    COMMAND_DEADLOCKS_TELL, /* --watch */
    COMMAND_DEADLOCKS_END,  /* --watch=end: and the program is ended */
} command_deadlocks;

#define COMMAND_DEADLOCK 4 /* the exit code, where it is the command's own */

#define CLI_DEADLOCKS_OPTION(key)                                              \
    {                                                                          \
        "watch", key, "end", OPTION_ARG_OPTIONAL,                              \
            "Say on standard error when ranks wait for each other and none "   \
            "of them can ever go on; with --watch=end, also end the program",  \
            0                                                                  \
    }

command_deadlocks cli_deadlocks_read(const char *text,
                                     struct argp_state *state);

/* Watches this process, which is about to become rank 0, from another one that
 * is no child of it. A run that cannot be watched goes on; a line says so. */
void cli_deadlocks_beside(const char *directory, command_deadlocks how);
/* Starts the program and watches it until it has ended. The exit code is its
 * own, as of a shell, or COMMAND_DEADLOCK if it was ended for one. */
int cli_deadlocks_run(const char *directory, command_deadlocks how,
                      char *const *program);

#endif
