/* processes.h - how the processes of a command use processors, from outside.
 *
 * Papers 000 (3.2) and 001 (2): no source, no library, no instrumentation.
 * All threads of the command and of what it starts are looked at every 20 ms:
 * running or not, and the kernel's own counts, which are exact. Where the
 * kernel allows it (perf_event_open; not with perf_event_paranoid 3, nor in
 * many containers), it also records each switch of each of them, so that
 * phases are exact and not to 20 ms.
 *
 * Threads:   one thread per watch; it is driven by calls.
 * Ownership: open gives, close takes back. */
#ifndef MEASURE_PROCESSES_H
#define MEASURE_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* In which a thread had a processor; CLOCK_MONOTONIC. */
typedef struct measure_run {
    int64_t from_ns, to_ns;
    int64_t before_ns; /* the length of all runs before it, together */
    bool ready; /* it went on being ready: until its next run it waited for
                   nothing but a processor */
} measure_run;

typedef struct measure_thread {
    pid_t pid, tid;
    int64_t start_ns, end_ns; /* as seen; CLOCK_MONOTONIC */
    uint64_t samples,
        running;       /* times it was looked at; was running or ready */
    int64_t cpu_ns;    /* the kernel's count */
    int64_t waited_ns; /* ready, without a processor */
    uint64_t switches; /* went to sleep */
    measure_run *runs; /* exact, or as wide as a probe tells */
    size_t run_count;
    measure_run *seen; /* found running or ready, by probing alone */
    size_t seen_count;
    char name[16];
} measure_thread;

typedef struct measure_process {
    pid_t pid, parent, session;
    char name[16];  /* comm */
    char label[64]; /* what it is called in the profile: $EVENTSPACE_PROCESS of
                       its environment, "rank3" of an MPI's, else
                       "comm", "comm-2" ... by order of start */
    char processors[64]; /* it may use: "0", "0-1" */
    uint32_t processor_count;
    int64_t cpu_ns;   /* of all its threads, by its own account when it ended
                         (wait4, or the last probe), the second method */
    uint64_t network; /* inode of its network namespace */
} measure_process;

typedef struct measure_processes {
    measure_process *processes;
    size_t process_count;
    measure_thread *threads;
    size_t thread_count;
    int64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
    int64_t interval_ns;
    bool exact;         /* runs are from the kernel's records */
    char why[160];      /* if not: why not, and what would help */
    uint64_t lost;      /* records of switches that the kernel dropped */
    int64_t probing_ns; /* processor time that watching took */
} measure_processes;

typedef struct measure_watch measure_watch;

typedef struct measure_watch_options {
    int64_t interval_ns; /* 0: 20 ms */
    bool no_switches;    /* do not ask for records of switches */
    bool no_sockets;     /* measure_watch_owner will not be asked */
    int errors; /* descriptor for the command's standard error; 0: as ours */
} measure_watch_options;

/* Starts argv[0] (found by PATH) as a child and begins to watch. Children that
 * lose their parent come to us (PR_SET_CHILD_SUBREAPER), so that the watch sees
 * all. `output` (-1: as ours) is its standard output.
 * Errors: PASTSET_ENOENT: no such program; PASTSET_EIO. */
int measure_watch_open(measure_watch **out, char **argv, int output,
                       const measure_watch_options *options);
/* Probes once if it is time; waits until then, or until `fd` (-1: none) can be
 * read, or all has ended. 1: go on; 0: all processes have ended. */
int measure_watch_step(measure_watch *watch, int fd);
/* Sends a signal to the command (an interruption is passed on). */
void measure_watch_signal(measure_watch *watch, int number);
/* What was seen; of a watch that has ended. The watch owns it. `exit_code` (may
 * be NULL) gets the command's, 128 + n for a signal. */
const measure_processes *measure_watch_result(measure_watch *watch,
                                              int *exit_code);
void measure_watch_close(measure_watch *watch);

/* Processor time that a thread had between two moments. */
int64_t measure_thread_cpu(const measure_thread *thread, int64_t from_ns,
                           int64_t to_ns);
/* For how long it had lost its processor to others. */
int64_t measure_thread_ready(const measure_thread *thread, int64_t from_ns,
                             int64_t to_ns);

/* Was it seen with a connection? */
bool measure_watch_connects(const measure_watch *watch, pid_t pid);

/* The processes that a socket belongs to: for those still alive, by
 * /proc/PID/net/tcp{,6} and /proc/PID/fd. The watch notes them while it
 * samples: (network namespace, local port, remote port) -> pid. 0: not known.
 */
pid_t measure_watch_owner(const measure_watch *watch, uint64_t network,
                          const char *local, uint16_t local_port,
                          const char *remote, uint16_t remote_port);

#endif
