/* host.h - one process of a run: its elements, its threads, its network side.
 *
 * Threads:   all functions from the thread that started the host; that thread
 *            becomes the network loop in paths_host_run.
 * Ownership: start gives the host to you; stop takes it back. */
#ifndef PATHS_HOST_H
#define PATHS_HOST_H

#include "paths/map.h"
#include "paths/paths.h"
#include "paths/wrapper.h"

#define PATHS_KEY_BYTES 32

typedef struct paths_host_options {
    const paths_map *map;        /* borrowed until stop */
    const char *host;            /* which host of the map this process is */
    const char *space_file;      /* NULL: elements in anonymous memory */
    int listen_fd;               /* a listening socket, taken over; -1: make one
                                    at the host's address */
    const uint8_t *key;          /* PATHS_KEY_BYTES, the run's; NULL only for a
                                    map of one host */
    uint32_t held_max;           /* operations held at most; 0: 1,000,000 */
    uint32_t connect_timeout_ms; /* to the other hosts, and for
                                    them to come; 0: 60,000 */
} paths_host_options;

/* Creates the host's elements and binds its stages; connects to nobody yet.
 * Errors: PASTSET_EMAP (the map's complaints), PASTSET_ENOENT (no such host),
 * PASTSET_EIO, PASTSET_ENOSPC, PASTSET_ELIMIT. */
int paths_host_start(paths_host **out, const paths_host_options *options);

/* Says what the threads of this host run: those whose name matches `pattern`
 * (as in fnmatch: "*", "worker?"). Later calls win.
 * Errors: PASTSET_ENOENT when no thread of the whole map matches. */
int paths_host_program(paths_host *host, const char *pattern,
                       paths_main *program, void *argument);

/* Joins the other hosts, runs the threads, serves the elements until the
 * threads of every host have ended, and returns the first error of the run.
 * Its text names the host, the thread and the path. */
int paths_host_run(paths_host *host);

void paths_host_stop(paths_host *host);

const char *paths_host_name(const paths_host *host);
const paths_map *paths_host_map(const paths_host *host);

#endif
