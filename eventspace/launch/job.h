/* job.h - the tasks of a parallel job, which mpirun or srun has started: which
 * of them this one is, and exchanging texts with the others.
 *
 * A launcher of jobs says by the environment where its server is, which speaks
 * PMIx (Open MPI, Slurm) or PMI-2 (MPICH, Slurm). The client library of that
 * server is loaded only where there is such a job; nothing depends on it else.
 *
 * Tasks meet in rounds: all of them give a text in each, and get those of the
 * others. One that cannot go on says why in its next round, in place of the
 * text, so all learn of it and none waits in vain. One that says nothing, as it
 * was killed or has never started, is waited for until the deadline.
 *
 * Threads:   one. Waiting is done on a thread of the job's own; one that has
 *            waited in vain is left behind, and its job is of no more use.
 * Ownership: open gives the job to you; close takes it back. */
#ifndef EVENTSPACE_JOB_H
#define EVENTSPACE_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENTSPACE_JOB_TEXT 480   /* bytes of a text, with its 0 */
#define EVENTSPACE_JOB_WAIT 60000 /* ms, where nothing else is said */

typedef struct eventspace_job eventspace_job;

/* Whether this process is a task of a job, or looks like one. */
bool eventspace_job_is_there(void);

/* Reaches the server. `wait_ms` is for each round; 0: EVENTSPACE_JOB_WAIT.
 * Errors: PASTSET_ENOENT (no client library: the text says which package has
 * it), PASTSET_ENOTSUP (tasks of srun without a server), PASTSET_EHOST (the
 * server does not answer), PASTSET_ENOMEM. */
int eventspace_job_open(eventspace_job **out, uint32_t wait_ms);
uint32_t eventspace_job_rank(const eventspace_job *job); /* from 0 */
uint32_t eventspace_job_size(const eventspace_job *job);

/* A round in which this task says that it cannot go on, because of the error
 * `err` of this thread. Returns `err`, with its text. */
int eventspace_job_fail(eventspace_job *job, int err);

/* Whether the first task reports the error of this one, so that a job with many
 * tasks says it once. NULL: of a job that could not be opened. */
bool eventspace_job_is_hushed(const eventspace_job *job);

/* Leaves the job, if that was not done; after a failure the tasks do so
 * together, as most launchers kill the others when one has ended. NULL is
 * allowed. */
void eventspace_job_close(eventspace_job *job);

#endif
