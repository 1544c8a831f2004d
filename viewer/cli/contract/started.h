/* started.h - commands that are started while something is watched, and how
 * they ended. Nobody waits for them: the watching goes on.
 *
 * Threads:   one thread per list.
 * Ownership: `{0}` is an empty list; end gives back what it has, and leaves to
 *            themselves the commands that still run. */
#ifndef VIEWER_STARTED_H
#define VIEWER_STARTED_H

#include <stddef.h>

typedef struct cli_started_one cli_started_one;

typedef struct cli_started {
    cli_started_one *list;
    size_t count;
} cli_started;

/* Gives `command` to the shell, with the environment as it is, for what is
 * called `why`. What it prints goes to standard error. That it cannot be
 * started is told. SIGCHLD has to be as at the start of a program. */
void cli_started_add(cli_started *s, const char *command, const char *why);
/* Tells of those that have ended, and not with exit code 0. */
void cli_started_reap(cli_started *s);
/* The same, once more; those that are about to end have a second for that. */
void cli_started_end(cli_started *s);

#endif
