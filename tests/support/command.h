/* command.h - commands and other processes, with a deadline on each. */
#ifndef TESTS_SUPPORT_COMMAND_H
#define TESTS_SUPPORT_COMMAND_H

#include <sys/types.h>

#define COMMAND_ARGUMENTS 64

/* How long a test may take that takes `seconds` here; more under sanitizers
 * (EVENTSPACE_TEST_SLOW in the environment is the factor). */
unsigned timeout(unsigned seconds);

/* A command that is running. Standard output and error go into one text, in
 * their order. */
typedef struct process {
    pid_t pid;
    int exit_code; /* after command_wait: or minus the signal that ended it */
    char *output;  /* after command_wait */
    int output_fd; /* a file without a name */
} command;

/* The arguments end with NULL. A command that does not even start has exit
 * code 127. */
void command_start(command *p, const char *program, ...)
    __attribute__((sentinel));
/* Waits until it has ended. It is killed, and the test fails, when that takes
 * longer than timeout(seconds), and than a minute: what is quick when it is
 * alone need not be so on a busy machine. */
void command_wait(command *p, unsigned seconds);
void command_free(command *p);

/* Starts and waits: the test fails unless the exit code is this. Gives the
 * output, which the caller frees. */
char *command_run(int exit_code, unsigned seconds, const char *program, ...)
    __attribute__((sentinel));

/* In front of a command: its standard output only. What views say on standard
 * error depends on what else the machine does. */
#define COMMAND_QUIET "sh", "-c", "exec \"$@\" 2>/dev/null", "sh"

/* Waits for a child that was forked; its exit code, or minus its signal. Kills
 * it after timeout(seconds), and fails. */
int child_wait(pid_t pid, unsigned seconds);

#endif
