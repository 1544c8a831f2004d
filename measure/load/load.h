/* load.h - how loaded this machine is, and which scheduler model its scheduler
 * follows.
 *
 * Threads: one thread per call. */
#ifndef MEASURE_LOAD_H
#define MEASURE_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "predict/models/scheduler_model.h"

/* Processes that compete for a processor. */
typedef struct measure_background_load measure_background_load;

/* `load` processes that are busy, bound to the processor (-1: where the caller
 * may run). The load need not be whole: the last of them is then busy for that
 * share of its time, when it is alone. Against a busy program on a fair
 * scheduler it costs just that share of the program's time.
 *
 * They are in the caller's session. Linux with autogroup (see
 * /proc/sys/kernel/sched_autogroup_enabled) shares a processor first between
 * sessions, then within them: a program of four threads gets four fifths of it
 * against a competitor of its own session, and half against one of another.
 * The models count processes, which is right within a session; so start the
 * program from the same session too.
 *
 * They end with us whatever happens: with the thread that started them
 * (PR_SET_PDEATHSIG), which therefore must live as long as they are wanted.
 * They are bound and compete when this comes back.
 * Errors: PASTSET_EINVAL: no such processor; PASTSET_EIO, PASTSET_ENOMEM. */
int measure_background_load_create(measure_background_load **out, int processor,
                                   double load);
void measure_background_load_destroy(
    measure_background_load *background_load); /* or NULL */

#define MEASURE_PLACE_BYTES 64
#define MEASURE_PLACE_BEGINS "boot-" /* the names of places, all of them */

/* Processes that compete for the processors of a mask, on average over
 * `seconds_s`: those running or ready that are none of ours, by looking at
 * /proc each 10 ms, and how busy each processor is by /proc/stat. */
typedef struct measure_load {
    double load;    /* what a thread of ours competes with, in threads like it:
                       by their nice values, and as the kernel divides a
                       processor among sessions */
    double running; /* mean number of running or ready threads, ours not
                       counted */
    double average; /* the kernel's load average of one minute */
    double busy;    /* share of the processors' time that was used */
    uint32_t processors;
    char place[MEASURE_PLACE_BYTES]; /* which processors of which machine these
                                        are; "": the kernel does not tell */
} measure_load;
int measure_load_now(measure_load *out, int processor, double seconds_s);

typedef struct measure_scheduler_options {
    int processor;    /* -1: the first that we may use */
    double seconds_s; /* in all; 0: 6 */
    void (*progress)(void *context, double share);
    void *context;
} measure_scheduler_options;

/* Runs phases of many lengths alone and against competitors, and fits a
 * scheduler model. `samples` (freed by the caller; NULL: not wanted) gets what
 * was measured. Errors: those above; PASTSET_EAGAIN: the processor is loaded
 * already, so that nothing can be told. */
int measure_scheduler(predict_scheduler *out, double *error,
                      predict_scheduler_sample **samples, size_t *count,
                      const measure_scheduler_options *options);

#endif
