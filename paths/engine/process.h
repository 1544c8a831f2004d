/* process.h - one process of a run: its elements, its threads, its network
 * side; and speaking for one that has ended.
 *
 * Threads:   all functions from the thread that started the process; that
 *            thread becomes the network loop in paths_process_run.
 * Ownership: start gives the process to you; stop takes it back. */
#ifndef PATHS_PROCESS_H
#define PATHS_PROCESS_H

#include "paths/map/map.h"
#include "paths/paths.h"
#include "paths/wrappers/wrapper.h"
#include "pastset/element.h"

#define PATHS_KEY_BYTES 32

typedef struct paths_process_options {
    const paths_map *map;        /* borrowed until stop */
    const char *process;         /* which process of the map this one is */
    const char *space_file;      /* NULL: elements in anonymous memory */
    int listen_fd;               /* a listening socket, taken over; -1: make one
                                    at the process's address */
    const uint8_t *key;          /* PATHS_KEY_BYTES, the run's; NULL only for a
                                    map of one process */
    uint32_t held_max;           /* operations held at most; 0: 1,000,000 */
    uint32_t connect_timeout_ms; /* to the other processes, and for
                                    them to come; 0: 60,000 */
    uint32_t refused_ms; /* of that, how long a process is tried again at
                            whose address nobody listens; 0: all */
    int launcher_fd;     /* a stream socket, taken over, to whoever
                            started this process: it writes there who has joined
                            (paths_joined, below: itself; at the first process,
                            each other), and fails when the other end is closed;
                            0 or less: none */
    /* For the types of wrappers, in any order, ended by one without a type.
     * Those of types that the process has no stages of are not looked at. NULL:
     * none. Needed only until the process has started. */
    const paths_wrapper_context *contexts;
    uint64_t (*ticks)(void); /* the stamp of the notes of what executors are
                                in (executor.h); NULL: CLOCK_MONOTONIC */
    /* All processes were started again: the threads go on after this step, with
     * what they had kept in the space of this process before. 0: they begin.
     * Errors of the start: PASTSET_ENOENT (they cannot go back so far). */
    uint64_t restored_step;
    const char *restored_space;
    /* Each thread of the application calls these, before its program and after,
     * with its number, and how many operations it has begun. NULL: nothing. */
    void (*thread_begins)(uint32_t thread);
    void (*thread_ends)(uint32_t thread, uint32_t operations);
} paths_process_options;

/* Creates the process's elements and binds its stages; connects to nobody yet.
 * Errors: PASTSET_EMAP (the map's diagnostics), PASTSET_ENOENT (no such
 * process), PASTSET_EIO, PASTSET_ENOSPC, PASTSET_ELIMIT. */
int paths_process_start(paths_process **out,
                        const paths_process_options *options);

/* Says what the threads of this process run: those whose name matches `pattern`
 * (as in fnmatch: "*", "worker?"). Later calls win.
 * Errors: PASTSET_ENOENT when no thread of the whole map matches. */
int paths_process_program(paths_process *process, const char *pattern,
                          paths_main *program, void *argument);

/* Joins the other processes, runs the threads, serves the elements until the
 * threads of every process have ended, and returns the first error of the run.
 * Its text names the process, the thread and the path. */
int paths_process_run(paths_process *process);

void paths_process_stop(paths_process *process);

const char *paths_process_name(const paths_process *process);

/* The last step that all threads of a process have committed, by the file of
 * its space; 0: one of them has committed none, or there is no such file;
 * UINT64_MAX: it has no threads. For a process that has ended. Errors:
 * PASTSET_EIO, PASTSET_EFORMAT, PASTSET_ENOMEM. */
int paths_process_committed(uint64_t *step, const paths_map *map,
                            const char *process, const char *space_file);

/* --- for whoever starts the processes --- */

/* How far another process has come, as a process knows. It writes that to its
 * launcher_fd each time it changes, one paths_joined at a time. */
typedef enum paths_join {
    PATHS_NOT_COME,
    PATHS_COMING, /* is being let in: it knows that now, or comes again. Of
                     itself: it has reached the first process */
    PATHS_COME    /* has joined, or was told why not */
} paths_join;

typedef struct paths_joined {
    uint32_t process; /* in the map */
    uint32_t state;   /* paths_join */
} paths_joined;

typedef struct paths_stand_in paths_stand_in;

typedef struct paths_stand_in_options {
    const paths_map *map;    /* borrowed until destroy; with addresses */
    const char *process;     /* the one that has ended */
    int listen_fd;           /* its socket; stays the caller's */
    const uint8_t *key;      /* PATHS_KEY_BYTES */
    const paths_join *joins; /* who had joined the first process, or how far
                                this one had come, by process of the map; NULL:
                                nobody, and not at all */
    bool died;        /* killed: the others go on as far as they can, unless
                         it is the first process; else the run fails */
    const char *how;  /* "process h1 died: ..." */
    uint32_t wait_ms; /* for processes that are not there yet; 0: 60,000 */
} paths_stand_in_options;

/* Takes the place of a process that has ended before it had joined the others,
 * to tell them. Errors: PASTSET_ENOENT (no such process), PASTSET_ENOMEM,
 * PASTSET_ELIMIT, PASTSET_EIO. */
int paths_stand_in_create(paths_stand_in **out,
                          const paths_stand_in_options *options);
/* Returns when all who had to be told are, or have not come in time. Any
 * thread. Errors, of no consequence: PASTSET_EHOST, PASTSET_EAUTH,
 * PASTSET_ECANCELED. */
int paths_stand_in_run(paths_stand_in *stand_in);
/* Has it return soon. Any thread. */
void paths_stand_in_cancel(paths_stand_in *stand_in);
/* Not while it runs. NULL is allowed. */
void paths_stand_in_destroy(paths_stand_in *stand_in);

/* The elements of the stage's process. Those of the map are to be read only:
 * paths write them, and one that a collective alone leads to has one writer. */
pastset_space *paths_process_space(paths_process *process);

#endif
