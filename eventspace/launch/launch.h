/* launch.h - starting the processes of a path map.
 *
 * The launcher makes the run directory, writes RUN/pathmap.dot with the
 * addresses that are really used, opens a listening socket for each process
 * that it starts, and starts the program once per process with, in the
 * environment,
 *
 *   EVENTSPACE_RUN          the run directory
 *   EVENTSPACE_PROCESS      the process's name
 *   EVENTSPACE_LISTEN_FD    the listening socket
 *   EVENTSPACE_KEY_FD       a pipe from which the run's 32 byte key is read
 *   EVENTSPACE_LAUNCHER_FD  a socket to the launcher (paths/engine/process.h)
 *   EVENTSPACE_RESTORED, EVENTSPACE_RESTORED_STEP
 *                           when all were started again: a run directory, and
 *                           the step with which they kept in it what they go
 *                           on with
 *   EVENTSPACE_ARCHIVED     "1": somebody saves all trace tuples while it runs;
 *                           "wait": and on a full disk the process waits for
 *                           room
 *
 * and an empty standard input. Lines that a process prints come out on the same
 * stream of the launcher, each with "name| " in front. When a process fails the
 * others are given a grace period to end by themselves, then SIGTERM, and
 * SIGKILL a second later (`term_ms`); one that is killed by a signal has died,
 * and unless it is the first, or `end_all`, the others go on as far as they
 * can; but if the map has restart=true, all others are killed, what the run
 * directory has is set aside in RUN/before.1 and so on, and all are started
 * again, until no step is committed in between. SIGINT,
 * SIGTERM and SIGHUP, unless they are ignored, end all of them beginning with
 * SIGTERM; the second one kills them. A process that did not live to say how it
 * ended gets that said in its meta file, and if it ended before it had joined
 * the others, the launcher tells them, here and on other machines; for those
 * that are not there yet it waits for up to a minute after the process's start.
 * Processes are killed when the launcher dies.
 *
 * In a job (job.h) each task is a launcher of one process. The launchers agree
 * on addresses, which the map need not have, and on the key; the first makes
 * the run directory; and none starts its process before all have come so far.
 * Lines are printed without a name, which the launcher of the job puts there.
 *
 * While processes run, the launcher handles these signals and ignores SIGPIPE.
 * It raises its limit of open files, which the processes inherit, as far as it
 * may.
 *
 * Threads: one launch at a time, from a thread that waits for it. */
#ifndef EVENTSPACE_LAUNCH_H
#define EVENTSPACE_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/launch/job.h"

typedef struct eventspace_launch_options {
    const char *map_file;
    const char *directory; /* the run directory; must not exist, or be empty, or
                              hold an older run when `replace`, or (with
                              `process`) the same map and nothing of that
                              process */
    bool replace;          /* removes the files that a run makes, no others;
                              with `process` those of that process */
    const char *process;   /* start this process only, all having addresses with
                              ports in the map; NULL: all of them */
    eventspace_job *job;   /* start the process of this task's rank only; NULL:
                              no job. Not with `process` */
    const char *key_file;  /* 64 hex digits; needed with `process`; NULL: a new
                              random key for this run */
    char *const *argv;     /* the program and its arguments, ended by NULL */
    uint32_t grace_ms;     /* 0: 5,000 */
    uint32_t term_ms;      /* between SIGTERM and SIGKILL; 0: 1,000 */
    bool end_all;          /* also when one was killed the others are ended */
    int *signal;           /* becomes the number of the signal that ended the
                              launcher; may be NULL */
    char *failure; /* becomes what failed first: "process h1: killed by signal
                      9 (Killed)"; is left alone when nothing did, and when all
                      were ended by a signal to the launcher; may be NULL */
    size_t failure_bytes;
    char *chosen; /* of a job: becomes the name of the process, before `started`
                     is called; may be NULL */
    size_t chosen_bytes;
    bool hushed;   /* and from then on nothing is said of the processes, nor
                      by them on standard error: they are helpers of the
                      caller, who says it */
    bool archived; /* an archiver runs beside the processes: collectors
                      wait rather than write over what it has not
                      saved yet, whatever the map says; */
    bool patient;  /* and rather than lose for want of disk */
    /* Becomes a reason when the run is to be ended, from any thread: the
     * processes get SIGTERM, as when the launcher is interrupted. NULL: by
     * nobody. */
    const char *_Atomic *end;
    /* Called once all processes were started, for the first time, before it
     * waits for them; not when none was. The launcher starts no further process
     * after it, so that threads may be made. NULL: nobody is told. */
    void (*started)(void *context);
    /* Called when all of them have ended, before their files are settled, which
     * takes room for a second copy: who has the first one open, or has to write
     * something himself, should be done. NULL: nobody is told. */
    void (*ended)(void *context);
    void *context;
} eventspace_launch_options;

/* Runs until every started process has ended. `*exit_code`: 0 when all ended
 * well, 128 + N when the first that failed was killed by signal N, or when none
 * had failed and the launcher received it, else 1.
 * Prints the processes' lines and, when something failed, one line per failed
 * process.
 * Errors (nothing was started): PASTSET_EIO, PASTSET_EMAP (with the map's
 * first diagnostic: call paths_map_check to show them all), PASTSET_EEXIST,
 * PASTSET_EINVAL (also: a job has more or fewer tasks than the map has
 * processes), PASTSET_ENOENT (no such process, no such program),
 * PASTSET_EFORMAT, PASTSET_EAUTH (the key file), PASTSET_ELIMIT,
 * PASTSET_ENOMEM, PASTSET_EAPP (another task of the
 * job cannot go on), PASTSET_ETIMEDOUT (one has not come). */
int eventspace_launch(const eventspace_launch_options *options, int *exit_code);

/* Raises the limit of open files to what this process may have: connections of
 * a process and files of a run are as many. */
void eventspace_files_allow_many(void);

/* Writes a new random key to a file that only its owner may read.
 * Errors: PASTSET_EIO, PASTSET_EEXIST. */
int eventspace_key_create(const char *file);
/* Errors: PASTSET_EIO, PASTSET_EFORMAT, PASTSET_EAUTH (others than its owner
 * have access to the file). */
int eventspace_key_load(uint8_t key[32], const char *file);

#endif
