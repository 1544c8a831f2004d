/* thread_internal.h - a thread of the application, and its paths. */
#ifndef PATHS_THREAD_INTERNAL_H
#define PATHS_THREAD_INTERNAL_H

#include <pthread.h>

#include "paths/engine/executor_internal.h"
#include "paths/engine/process.h"
#include "pastset/waiter.h"

struct paths_path {
    paths_thread *thread;
    paths_path *next; /* of its thread */
    uint32_t edge;    /* of the map, from the thread */
    char *name;
    char *description;
    paths_stage *first;
    const pastset_type *type;
    uint32_t verbs;      /* that the map allows, a bit for each */
    uint32_t read_bytes; /* what a read of it brings, at most */
    pastset_cursor cursor;
    operation call; /* the one of paths_call */
    route_entry route[ROUTE_ENTRIES];
};

/* What a thread has committed: commit.c. */
typedef struct thread_commits {
    pastset_element *element; /* has `record`, for each step that was; NULL: the
                                 map has no restart */
    pastset_element **kept;   /* those that the thread alone writes */
    uint32_t kept_count;
    uint64_t *record;  /* of the last step: its number; and of each of these
                          where its tuples begin and end */
    uint64_t restored; /* goes on after this step; 0: begins */
} thread_commits;

struct paths_thread {
    executor executor;
    paths_process *process;
    const paths_map_node *node;
    uint32_t number;
    uint32_t sequence; /* of its last operation */
    paths_path *paths;
    thread_link **links;  /* to each process of the map; NULL: none yet */
    uint32_t pending;     /* operations that wait for a reply on its links */
    uint32_t under_way;   /* started by paths_start, not yet done */
    int64_t links_due_ns; /* the earliest deadline of these on links; 0: none */
    struct pollfd *poll_fds; /* to wait on its links; NULL: it has none */

    operation *oldest, *youngest; /* of these */

    operation *finished, *finished_last; /* of these: paths_poll's */

    /* Operations that others completed and this thread has to bring up. */
    _Atomic(operation *) mailbox;
    pastset_waiter waiter;
    int event_fd; /* rings instead, while it is in poll; -1: it has no links */
    _Atomic bool in_poll;

    pthread_t id;
    bool started;
    _Atomic bool ended;
    bool ended_told; /* loop only */
    paths_main *program;
    void *argument;
    int status;
    thread_commits commits;
};

/* --- uses.c: what the map allows --- */

/* The verbs, a bit for each, that a path allows: that of this edge of a thread,
 * over `count` nodes. */
uint32_t paths__uses_verbs(const paths_map *map, const paths_map_edge *edge,
                           const uint32_t *nodes, size_t count);
/* Finds what may come through each node: process->verbs. */
int paths__uses_make(paths_process *process);
/* The error of an operation that the map does not allow. */
int paths__uses_refuse(const paths_path *path, unsigned verb);

static inline bool is_allowed(uint32_t verbs, unsigned verb)
{
    return verbs >> (verb & 31) & 1;
}

/* --- commit.c --- */

/* Makes what threads commit into, in a map with restart=true; and, unless
 * `step` is 0, takes from the space of this process before, in file `before`,
 * what they had kept when they committed it. Errors: PASTSET_ENOENT (that is
 * not there any more), those of elements and spaces. */
int paths__commits_make(paths_process *process, const char *before,
                        uint64_t step);
void paths__commits_fini(paths_thread *thread);

/* --- path.c --- */

void paths__path_destroy(paths_path *path);

/* --- thread.c --- */

void *paths__thread_run(void *thread);
void paths__thread_fini(paths_thread *thread);
/* Shuts its links, so that a wait on them ends. Any thread. */
void paths__thread_interrupt(paths_thread *thread);

#endif
