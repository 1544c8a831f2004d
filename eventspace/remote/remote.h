/* remote.h - tasks on other machines: programs that a command such as ssh
 * starts there, and what is said to each over its standard input and output.
 *
 * What a task says comes as lines, and as bytes whose number a line has told.
 * Nothing is waited for longer than the caller says. A task that is not needed
 * any more sees the end of its input, and ends by itself.
 *
 * Threads:   one at a time for each task.
 * Ownership: start gives the task to you; end takes it back. */
#ifndef EVENTSPACE_REMOTE_H
#define EVENTSPACE_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/launch/job.h"

#define EVENTSPACE_REMOTE_LINE 1024 /* bytes of a line, with its 0 */

typedef struct eventspace_remote eventspace_remote;

/* Starts `argv`. `name` is for texts. The command is a group of processes of
 * its own, so that what a terminal sends does not come to it; when this process
 * ends it gets SIGHUP, and the end of its input. Errors: PASTSET_EIO,
 * PASTSET_ENOMEM. */
int eventspace_remote_start(eventspace_remote **out, const char *name,
                            char *const *argv);
/* The same by the shell: `command` with each {machine} in it replaced by
 * `machine` (or, where it has none, with the machine behind it), and then
 * `program`. Errors: also PASTSET_EINVAL: the machine's name has characters
 * with a special meaning to a shell. */
int eventspace_remote_start_on(eventspace_remote **out, const char *machine,
                               const char *command, const char *program);

/* The next line that it says, without its end, and what comes behind it, both
 * before `until_ns` (pastset_now_ns).
 * Errors, with a text that names the task: PASTSET_ETIMEDOUT, PASTSET_EHOST (it
 * has ended), PASTSET_EPROTO (a line that is too long). */
int eventspace_remote_line(eventspace_remote *task,
                           char line[EVENTSPACE_REMOTE_LINE], int64_t until_ns);
int eventspace_remote_bytes(eventspace_remote *task, void *out, size_t bytes,
                            int64_t until_ns);

/* Errors: PASTSET_EHOST, PASTSET_ETIMEDOUT (it takes nothing for 10 s). */
int eventspace_remote_say(eventspace_remote *task, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int eventspace_remote_send(eventspace_remote *task, const void *data,
                           size_t bytes);
/* It hears no more. */
void eventspace_remote_hush(eventspace_remote *task);

/* Whether it has ended, and how: its exit code, or 128 and the signal. */
bool eventspace_remote_has_ended(eventspace_remote *task, int *exit_code);
/* Ends it, if it has not. NULL is allowed. */
void eventspace_remote_end(eventspace_remote *task);

/* --- tasks that meet as those of a job (job.h) --- */

/* Serves the rounds of a job whose tasks are these, by rank, until all have
 * left it. Errors: as of eventspace_remote_line. */
int eventspace_remote_serve(eventspace_remote *const *tasks, uint32_t count,
                            int64_t until_ns);

/* Of a task: the job that is served at the other end of these streams, which
 * stay the caller's and are not used for anything else until it is closed. Its
 * tasks have no files in common. One job in a process.
 * Errors: those of eventspace_job_open. */
int eventspace_remote_job_open(eventspace_job **out, FILE *in, FILE *to,
                               uint32_t rank, uint32_t size);

#endif
