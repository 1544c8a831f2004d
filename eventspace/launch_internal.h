/* launch_internal.h - between the files that start a run: launch.c prepares
 * it with directory.c, process.c runs its processes. */
#ifndef EVENTSPACE_LAUNCH_INTERNAL_H
#define EVENTSPACE_LAUNCH_INTERNAL_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "paths/map.h"

#define EVENTSPACE_KEY_BYTES 32

/* --- directory.c --- */

/* Makes the run directory, or sees to it that the one that is there can be
 * used: it is empty, or holds the same run and nothing of `host`, or an older
 * run of which, with `replace`, the files are removed. `host` is NULL when
 * all hosts are started here. `*made`: it was not there before.
 * Errors: PASTSET_EEXIST with what to do, PASTSET_EIO, PASTSET_ENOENT. */
int eventspace__directory_prepare(const char *directory, const paths_map *map,
                                  const char *host, bool replace, bool *made);

/* Writes RUN/pathmap.dot in one step. Errors: PASTSET_EIO, PASTSET_ENOMEM. */
int eventspace__directory_map(const char *directory, const paths_map *map);

/* --- place.c --- */

/* What is to be gone back to. */
typedef struct launch_place {
    int back; /* descriptor of a network namespace; -1: none */
    bool bound;
    cpu_set_t set;
} launch_place;

/* Until `leave`, the calling thread is in the network namespace (attribute
 * `netns`) and on the processors (`affinity`) of the host, and so is what it
 * starts and opens. After an error it is where it was.
 * Errors: PASTSET_ENOENT: no such namespace; PASTSET_ENOTSUP: no right to enter
 * it; PASTSET_EINVAL: no such processor. */
int eventspace__place_enter(launch_place *place, const paths_map_host *host);
void eventspace__place_leave(launch_place *place);

/* --- process.c --- */

/* A host to be started. */
typedef struct launch_host {
    const char *name;
    int listen_fd; /* stays the caller's */
    const paths_map_host *host;
} launch_host;

typedef struct launch_plan {
    const char *directory; /* as an absolute path */
    const launch_host *hosts;
    size_t host_count;
    char *const *argv;
    const uint8_t *key; /* EVENTSPACE_KEY_BYTES */
    uint32_t grace_ms;
    void (*started)(void *context); /* may be NULL */
    void *context;
} launch_plan;

/* Starts the processes and runs until all have ended. `*exit_code` as in
 * eventspace_launch.
 * Errors, when not even the first one could be started: PASTSET_ENOENT (no
 * such program), PASTSET_EIO, PASTSET_ENOMEM, PASTSET_ELIMIT. */
int eventspace__processes_run(const launch_plan *plan, int *exit_code);

#endif
