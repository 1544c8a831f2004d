/* launch_internal.h - between the files that start a run: launch.c prepares
 * it with run_directory.c, children.c runs its processes. */
#ifndef EVENTSPACE_LAUNCH_INTERNAL_H
#define EVENTSPACE_LAUNCH_INTERNAL_H

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>
#include <uv.h>

#include "eventspace/launch/job.h"
#include "paths/engine/process.h"
#include "paths/map/map.h"
#include "paths/net/address.h"

#define EVENTSPACE_KEY_BYTES 32

/* --- run_directory.c --- */

/* Makes the run directory, or sees to it that the one that is there can be
 * used: it is empty, or holds the same run and nothing of `process`, or an
 * older run of which, with `replace`, the files are removed. `process` is NULL
 * when all processes are started here. `*made`: it was not there before.
 * Errors: PASTSET_EEXIST with what to do, PASTSET_EIO, PASTSET_ENOENT. */
int eventspace__directory_prepare(const char *directory, const paths_map *map,
                                  const char *process, bool replace,
                                  bool *made);

/* Moves the files of the processes of a run into a run directory in it,
 * RUN/before.NUMBER, whose name `to` becomes. The map, of which it gets one of
 * its own, stays.
 * Errors: PASTSET_EIO, PASTSET_ENOSPC ... (of writing the map). */
int eventspace__directory_set_aside(char *to, size_t capacity,
                                    const char *directory,
                                    const paths_map *map);

/* --- place.c --- */

/* What is to be gone back to. */
typedef struct launch_place {
    int back; /* descriptor of a network namespace; -1: none */
    bool bound;
    cpu_set_t set;
} launch_place;

/* Until `leave`, the calling thread is in the network namespace (attribute
 * `netns`) and on the processors (`affinity`) of the process, and so is what it
 * starts and opens. After an error it is where it was.
 * Errors: PASTSET_ENOENT: no such namespace; PASTSET_ENOTSUP: no right to enter
 * it; PASTSET_EINVAL: no such processor. */
int eventspace__place_enter(launch_place *place,
                            const paths_map_process *process);
void eventspace__place_leave(launch_place *place);

/* --- job_meet.c, host_address.c --- */

/* The launchers of a job: all call these functions in their order. An error is
 * one that the others know (eventspace__job_exchange), or that they are to be
 * told (eventspace_job_fail). */
typedef struct launch_meeting {
    eventspace_job *job;
    uint32_t rank;
    bool one_machine;
    uint8_t open_key[32], secret_key[32];
} launch_meeting;

/* All have the same map. `key` is the run's, and only looked at in the first
 * task. */
int eventspace__meet_begin(launch_meeting *m, eventspace_job *job,
                           const paths_map *map, const uint8_t *key);
/* Where the process of this task listens if the map does not say it. */
int eventspace__meet_listen_at(const launch_meeting *m,
                               char out[PATHS_ADDRESS_TEXT]);
/* Puts the addresses of all processes into the map, this one's being `mine`,
 * and gets the key. */
int eventspace__meet_addresses(launch_meeting *m, paths_map *map,
                               const char *mine, uint8_t *key);
/* The first task has made the run directory, and all see it. */
int eventspace__meet_directory(launch_meeting *m, const char *directory,
                               const paths_map *map);

/* Errors: PASTSET_ENOENT: it has none but loopback. */
int eventspace__host_address(char out[PATHS_ADDRESS_TEXT]);

/* --- children.c --- */

/* A process to be started. */
typedef struct launch_process {
    const char *name;
    int listen_fd; /* stays the caller's */
    const paths_map_process *process;
} launch_process;

typedef struct launch_plan {
    const paths_map *map;  /* with the addresses that are used */
    const char *directory; /* as an absolute path */
    const launch_process *processes;
    size_t process_count; /* fewer than in the map: others are started
                             elsewhere */
    char *const *argv;
    const uint8_t *key; /* EVENTSPACE_KEY_BYTES */
    uint32_t grace_ms, term_ms;
    bool end_all;
    int *signal;   /* may be NULL */
    char *failure; /* may be NULL */
    size_t failure_bytes;
    bool hushed;
    bool archived, patient;
    bool in_job;  /* started by a launcher of jobs, which says whose lines they
                     are, and sends signals to all that it has started */
    pid_t parent; /* of the job: without it the run ends; 0: goes on */
    const char *_Atomic *end;       /* may be NULL */
    void (*started)(void *context); /* may be NULL */
    void *context;
    bool restarts;          /* when one dies the others are killed, as all are
                               to be started again */
    uint64_t restored_step; /* their threads go on after it; 0: they begin */
    const char *restored_from; /* with what they kept in this run directory */
} launch_plan;

/* Starts the processes and runs until all have ended. `*exit_code` as in
 * eventspace_launch. `*again`: with `restarts`, one has died before the run was
 * over, and nothing else has ended it.
 * Errors, when not even the first one could be started: PASTSET_ENOENT (no
 * such program), PASTSET_EIO, PASTSET_ENOMEM, PASTSET_ELIMIT. */
int eventspace__processes_run(const launch_plan *plan, int *exit_code,
                              bool *again);
/* After `*again` SIGINT, SIGTERM and SIGHUP wait: for the next call, which
 * takes them, or for this. */
void eventspace__signals_release(void);

/* --- restart.c --- */

typedef struct launch_restart {
    uint32_t in_vain;    /* starts, of the last ones, after which no step was
                            committed by all */
    uint64_t step;       /* the last that all have committed; 0: none */
    char from[PATH_MAX]; /* the run directory with what they had
                                        kept then */
} launch_restart;

/* One has died, and all others have ended: sets aside what is in the run
 * directory, and finds out where to go on.
 * Errors: PASTSET_EAPP (no step was committed for several times), those of
 * eventspace__directory_set_aside and of reading spaces. */
int eventspace__restart_prepare(launch_restart *r, const char *directory,
                                const paths_map *map);

/* --- spawn.c --- */

/* The files of a process, behind its input, output and errors. */
enum { LAUNCH_LISTEN_FD = 3, LAUNCH_KEY_FD, LAUNCH_LINE_FD, LAUNCH_FDS };

/* Starts the program as this process; SIGCHLD must not be ignored. Returns 0 or
 * a negative errno. */
int eventspace__spawn(const launch_plan *plan, const launch_process *process,
                      int output_fd, int errors_fd, int line_fd, pid_t *pid);

/* --- notice.c --- */

/* What the launcher alone knows of a process. All of it on the loop's
 * thread. */
typedef struct launch_notice {
    const launch_plan *plan;
    const launch_process *process;
    uint32_t self; /* in the map */
    uv_loop_t *loop;
    uint64_t since_ms; /* loop time of its start */
    int line_fd;
    uv_poll_t line;
    bool open;
    paths_join *joins; /* by process of the map: has it joined */
    uv_work_t work;
    paths_stand_in *stand_in; /* speaks; NULL: not, or no longer */
    void (*over)(void *context);
    void *context;
} launch_notice;

typedef enum launch_end {
    LAUNCH_DIED,
    LAUNCH_FAILED,
    LAUNCH_ENDED_WELL
} launch_end;

/* Opens the line to a process, and stores the process's end of it. `joins`, of
 * zeros and lent, is for each process of the map. Returns 0 or a negative
 * errno; it can be told of by the notice after that, too. */
int eventspace__notice_open(launch_notice *n, const launch_plan *plan,
                            const launch_process *process, uv_loop_t *loop,
                            paths_join *joins, int *child_fd);
/* Takes in what the process has said. The loop does, too. */
void eventspace__notice_read(launch_notice *n);
void eventspace__notice_close(launch_notice *n);
/* It has ended: is there anybody who cannot know? */
bool eventspace__notice_is_due(launch_notice *n);
/* Begins to tell them; calls `over` when that is done.
 * Errors: PASTSET_ENOMEM, PASTSET_ELIMIT, PASTSET_EIO. */
int eventspace__notice_send(launch_notice *n, launch_end end, const char *how);
/* Nobody is left to be told: it is over soon. */
void eventspace__notice_cancel(launch_notice *n);

#endif
