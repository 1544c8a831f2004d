/* scheduler_model.h - how a scheduler shares a processor between a program that
 * is busy and idle in turns and others that are always busy.
 *
 * A busy phase of `busy` seconds follows an idle one of `idle` seconds, and
 * `load` processes compete for the processor. How much longer the two then
 * take is
 *
 *   extra = max(0, load * busy - min(idle, load * credit))
 *
 * `credit` is the scheduler model's only parameter: for how long a process that
 * has slept is served before others when it wakes up.
 *
 *   credit   without bound: papers 000 (2.1) and 001 (3.2), who saw FreeBSD
 *            give back all the time that a process had slept. With one
 *            competitor: no change if busy <= idle, else an increase of
 *            (busy - idle)/(busy + idle).
 *   fair     none: who sleeps loses what it did not use. Linux from 6.6 on
 *            (EEVDF), by measurement: see docs/prediction.md.
 *   bounded  anything in between, as Linux before that.
 *   eevdf    as fair, over long times and in all formulas; but the replay
 *            follows what Linux does at each wake-up (replay_eevdf_internal.h).
 * A thread that waits for others between short phases loses more than by
 * `fair`: it waits for slices to end. `slice` is the base slice of the machine.
 *
 * Threads: any. */
#ifndef PREDICT_SCHEDULER_MODEL_H
#define PREDICT_SCHEDULER_MODEL_H

#include <stddef.h>
#include <stdint.h>

typedef struct predict_scheduler {
    double credit_s; /* 0: fair; INFINITY: credit */
    double slice_s;  /* of eevdf, whose credit is 0; else 0 */
} predict_scheduler;

/* The slice of the machine that was profiled (predict_scheduler_on). */
#define PREDICT_SLICE_PROFILED (-1.0)
/* Where it is not known: that of a machine of 8 processors or more, by
 * predict_scheduler_slice. */
#define PREDICT_SLICE_DEFAULT 2.8e-3

#define PREDICT_SCHEDULER_CREDIT ((predict_scheduler){.credit_s = INFINITY})
#define PREDICT_SCHEDULER_FAIR ((predict_scheduler){.credit_s = 0})
#define PREDICT_SCHEDULER_EEVDF                                                \
    ((predict_scheduler){.slice_s = PREDICT_SLICE_PROFILED})

/* Where nothing is known: today's Linux. */
#define PREDICT_SCHEDULER_DEFAULT PREDICT_SCHEDULER_EEVDF

/* Seconds that a phase takes longer. All arguments >= 0; `load` need not be a
 * whole number (a load average). NaN when they make no sense. */
double predict_scheduler_extra(predict_scheduler scheduler, double busy_s,
                               double idle_s, double load);

/* The base slice that Linux gives a machine with that many processors, in
 * seconds: 0.7 ms (0.75 ms up to 6.14) times 1 + floor(log2(processors)), and
 * no more than four times that. `version` as in 6.15: 6, 15. */
double predict_scheduler_slice(uint32_t processors, const int version[2]);

/* The same with a slice, if it is one of PREDICT_SLICE_PROFILED: `slice_s`, or,
 * if that is 0, PREDICT_SLICE_DEFAULT. */
predict_scheduler predict_scheduler_on(predict_scheduler scheduler,
                                       double slice_s);

/* "credit", "fair", or a time: "bounded:6ms"; "eevdf" or
 * "eevdf:1.4ms", with the slice. The text of any law fits into 32
 * bytes. Errors: PASTSET_EINVAL. */
int predict_scheduler_parse(predict_scheduler *out, const char *text);
const char *predict_scheduler_text(predict_scheduler scheduler, char *buffer,
                                   size_t bytes);

/* What was measured of a process that is busy and idle in turns. */
typedef struct predict_scheduler_sample {
    double busy_s, idle_s; /* alone */
    double load;
    double extra_s; /* per phase, longer than alone */
} predict_scheduler_sample;

/* The scheduler model that fits best: least squares of extra/(load*busy) over
 * `credit_s` from 0 to the longest idle phase; a credit that is no better than
 * `fair` or than `credit` by more than the scatter gives these. `error` (may be
 * NULL) gets the root mean square of what remains, as a share of load*busy.
 * Errors: PASTSET_EINVAL when there is no sample that tells. */
int predict_scheduler_fit(predict_scheduler *out, double *error,
                          const predict_scheduler_sample *samples,
                          size_t count);

#endif
