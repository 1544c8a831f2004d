/* processes_internal.h - what the files of a watch share.
 *
 *   processes.c        starting, waiting
 *   processes_sum.c    the result
 *   processes_file.c   small files of /proc
 *   processes_known.c  the lists of processes and threads
 *   processes_probe.c  looking at them in /proc
 *   processes_label.c  what a process is called
 *   processes_socket.c which sockets it has
 *
 * What users see (measure_process, measure_thread) stands in arrays of its own;
 * what only the watch needs stands beside it, at the same index. */
#ifndef MEASURE_PROCESSES_INTERNAL_H
#define MEASURE_PROCESSES_INTERNAL_H

#include "measure/processes/processes.h"
#include "measure/processes/switches_internal.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include <time.h>

#define MEASURE__NONE SIZE_MAX

typedef struct measure__thread {
    int stat_fd, times_fd, children_fd; /* -1: not open */
    size_t process;
    bool gone;
    int64_t times_ns; /* when its times were last read; 0: never */
} measure__thread;

typedef struct measure__process {
    int stat_fd;
    bool gone;   /* nothing of it runs any more */
    bool reaped; /* and its parent (we) has taken its account */
    bool fresh;  /* its environment is to be read (again) */
    bool own;    /* `label` is from its environment, or its parent's was */
    uint32_t looks;
    uint32_t threads;        /* that we know and that live */
    int64_t last_ns;         /* when it was last looked at */
    int64_t end_ns;          /* of its last thread, if it is gone */
    int64_t stat_ns;         /* its account then, to a tick */
    int64_t reaped_ns;       /* its account and that of all it waited for; -1 */
    int64_t sockets_next_ns; /* when to look for sockets again */
} measure__process;

/* A socket of a process. */
typedef struct measure__socket {
    uint64_t inode, network;
    pid_t pid;
    char local[46], remote[46];
    uint16_t local_port, remote_port; /* 0: listens, or not known yet */
    bool known;
    uint8_t tries; /* it was looked for in the tables */
} measure__socket;

/* From a thread's number to its newest entry. */
typedef struct measure__number {
    pid_t tid;
    size_t thread;
    UT_hash_handle hh;
} measure__number;

struct measure_watch {
    measure_processes result;
    measure__process *processes;
    measure__thread *threads;
    measure__number *by_tid;
    measure_switches *switches;
    measure__socket *sockets;
    size_t socket_count;
    size_t sockets_known;
    pid_t command, self;
    int command_fd; /* pidfd; -1 */
    int exit_status;
    bool command_ended;
    bool finished; /* accounts are made up */
    bool memory;   /* ran out */
    int was_subreaper;
    pid_t *before; /* children that we had already */
    size_t before_count;
    long files_left;          /* that may be kept open */
    bool no_sockets;          /* nobody wants to know of them */
    bool no_children;         /* the kernel has no `children` files */
    int64_t next_ns, last_ns; /* samples */
    uint64_t samples;
};

/* --- processes_file.c --- */

/* Reads a small file of /proc; its descriptor is kept in `*fd`, if there may be
 * another. The length, or -1: it is gone, and the text is empty. */
long measure__read(measure_watch *w, int *fd, char *text, size_t capacity,
                   const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void measure__drop(measure_watch *w, int *fd);

/* --- processes_known.c --- */

int64_t measure__now(clockid_t clock);
/* The newest entry of a number, living or not; MEASURE__NONE. */
size_t measure__find_thread(const measure_watch *w, pid_t tid);
void measure__index_fini(measure_watch *w);
size_t measure__find_process(const measure_watch *w, pid_t pid);
/* Adds, a process with its first thread, unless it lives already.
 * MEASURE__NONE: no memory. */
size_t measure__add_process(measure_watch *w, pid_t pid, pid_t parent,
                            int64_t at_ns);
size_t measure__add_thread(measure_watch *w, pid_t pid, pid_t tid,
                           int64_t at_ns);
/* Found ended now; if the kernel's records tell when, that is kept. */
void measure__end_thread(measure_watch *w, size_t thread);
void measure__end_process(measure_watch *w, size_t process);
/* It was found running or ready at a probe, and until the next. */
void measure__add_seen(measure_watch *w, size_t thread, int64_t from_ns,
                       int64_t to_ns);
extern const measure_switches_told measure__told;

/* --- processes_probe.c --- */

/* Looks at everything once. */
void measure__sample(measure_watch *w);
/* Whether nothing is left. */
bool measure__all_ended(const measure_watch *w);

/* --- processes_label.c --- */

/* Those of a process that is about to start. */
void measure__begin_label(measure_watch *w, size_t process,
                          const char *program);
/* Name, processors, label; at each of the first looks and after an exec. */
void measure__look_at_label(measure_watch *w, size_t process);
/* At each look: programs bind themselves, some to each processor in turn while
 * they find out what the machine is like (hwloc, and so Open MPI). */
void measure__look_at_processors(measure_process *p);
/* "-2", "-3" ... to those with the same name, at the end. */
void measure__number_labels(measure_watch *w);

/* --- processes_sum.c --- */

/* Orders runs, makes up accounts. */
void measure__sum(measure_watch *w);

/* --- processes_socket.c --- */

void measure__look_at_sockets(measure_watch *w, size_t process);

#endif
