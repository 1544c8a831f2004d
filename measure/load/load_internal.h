/* load_internal.h - processes of our own, and how the scheduler model is
 * probed. */
#ifndef MEASURE_LOAD_INTERNAL_H
#define MEASURE_LOAD_INTERNAL_H

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "predict/models/scheduler_model.h"

/* Binds a process (0: the calling thread) to a processor; -1 leaves it.
 * `before` (may be NULL) gets what it was. Errors: PASTSET_EINVAL: there is no
 * such processor for us; PASTSET_EIO. */
int measure__bind(pid_t pid, int processor, cpu_set_t *before);
void measure__unbind(pid_t pid, const cpu_set_t *before);

/* The first processor that the calling thread may use; the next one after
 * `other`, or `other` itself if there is no second. */
int measure__processor_first(void);
int measure__processor_after(int other);

/* A name for processors of a machine: the same in all of its network namespaces
 * and containers, until it boots again. `boot` is the kernel's boot id; `out`
 * is of MEASURE_PLACE_BYTES and gets "boot-5a01c7d2e34b-0-3,6", or "" if `boot`
 * is no such id. Sets that are too long to be told are told by a hash. */
void measure__place_name(char *out, const char *boot, const cpu_set_t *set);

/* To be called first in a child: signals as at the start of a program, and
 * dead when the thread that forked it is. Non-zero: the parent is dead. */
int measure__child_begin(pid_t parent);

/* A small file of /proc as text; 0 bytes when it is gone, as threads do. */
size_t measure__slurp(int folder, const char *name, char *text,
                      size_t capacity);

/* Who runs or is ready on a processor (-1: on any), none of this process. */
typedef struct measure__competitors {
    unsigned threads;
    double load; /* as many threads like one of this process would be */
} measure__competitors;

/* From a folder like /proc, and from that one now. Errors: PASTSET_ENOTSUP,
 * PASTSET_ENOMEM. */
int measure__competitors_read(measure__competitors *out, const char *proc,
                              int processor);
int measure__competitors_now(measure__competitors *out, int processor);

/* Time of a processor, in ticks of the kernel's. What the host of a virtual
 * machine has stolen is not idle: we could not have used it. */
typedef struct measure__ticks {
    uint64_t all, idle, stolen;
} measure__ticks;

/* Of a processor (-1: of all), from a file like /proc/stat, and from that one
 * now. Errors: PASTSET_EINVAL (no such processor), PASTSET_ENOTSUP. */
int measure__ticks_read(measure__ticks *out, FILE *file, int processor);
int measure__ticks_now(measure__ticks *out, int processor);
/* Threads that run or are ready on all processors, from a text like
 * /proc/loadavg, and now. Errors: PASTSET_ENOTSUP. */
int measure__running_read(unsigned *out, const char *text);
int measure__running_now(unsigned *out);

double measure__cpu_seconds(void); /* of the calling thread */
double measure__seconds(void);     /* CLOCK_MONOTONIC */

/* A pair of an idle and a busy phase, repeated. */
typedef struct measure__phases {
    double busy_s, idle_s; /* wanted */
    double pair_s;   /* measured: from before the idle to after the busy one */
    double middle_s; /* the median of them */
    double slow;     /* wall time of busy phases by their processor time */
} measure__phases;

/* On the processor that the calling thread is bound to. */
int measure__phases_run(measure__phases *phases, unsigned rounds);

/* The samples of a fit: `with` competitors, beside `alone`. */
predict_scheduler_sample measure__phases_sample(const measure__phases *alone,
                                                const measure__phases *with,
                                                double load);

#endif
