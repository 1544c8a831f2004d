/* tunable.h - numbers of a program that can be changed while it runs.
 *
 *     eventspace_tunable *batch;
 *     int err = eventspace_tunable_open(&batch, self, "batch", 16, 1, 1024);
 *     ...
 *     for (int i = 0; i < eventspace_tunable_get(batch); i++)
 *         ...
 *
 * `eventspace tune RUN batch=64` changes it from outside, in all processes of
 * the run that have it or in some; so does `eventspace contract watch`, by a
 * command of --on-violation, or with --balance by itself. A process has one
 * number of a name, which all of its threads share. They see a new one as soon
 * as they ask, each for itself: where all have to go over to it in the same
 * round, one of them asks, and tells the others.
 *
 * A program that has more to do when it is changed than to read it has a
 * function called then (eventspace_tunable_call): by the thread, where it asks.
 *
 * A thread that sees a new number leaves a mark in its trace, "batch = 64"
 * (regions.h), where the map has collectors. Each number is a name of the
 * process then, of 65,536; after a thousand, marks say "batch is changed".
 *
 * Names: up to 100 bytes, without =; not trace_detail, which the runtime has.
 *
 * Threads:   those of the map, each with a handle of its own.
 * Ownership: a handle is there until its thread ends.
 * Errors:    PASTSET_EINVAL (no name, one that is too long; `initial` is not
 *            from `least` to `most`, or they are no numbers; another thread has
 *            opened it with other ones; not a thread of the map),
 *            PASTSET_ENOMEM, PASTSET_ENOSPC. */
#ifndef EVENTSPACE_TUNABLE_H
#define EVENTSPACE_TUNABLE_H

#include <stdint.h>

#include "paths/paths.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eventspace_tunable {
    double value;         /* as it was seen last */
    uint64_t seen;        /* what was told then */
    const uint64_t *told; /* in the process's space */
} eventspace_tunable;

/* It is `initial` until it is changed, and never less than `least` or more than
 * `most`. The same name gives a thread the same handle. */
int eventspace_tunable_open(eventspace_tunable **out, paths_thread *self,
                            const char *name, double initial, double least,
                            double most);

/* Changes it for all threads of this process. Errors: PASTSET_EINVAL (it cannot
 * be so much). */
int eventspace_tunable_set(eventspace_tunable *tunable, double value);

/* From then on calls `changed` whenever this thread sees a new number, right in
 * eventspace_tunable_get; NULL: no more. It may use this and other tunables. */
void eventspace_tunable_call(eventspace_tunable *tunable,
                             void (*changed)(double value, void *argument),
                             void *argument);

/* For eventspace_tunable_get. */
void eventspace__tunable_look(eventspace_tunable *tunable);

/* What it is now: a load and a comparison. */
static inline double eventspace_tunable_get(eventspace_tunable *tunable)
{
    if (__builtin_expect(__atomic_load_n(tunable->told, __ATOMIC_ACQUIRE) !=
                             tunable->seen,
                         0))
        eventspace__tunable_look(tunable);
    return tunable->value;
}

#ifdef __cplusplus
}
#endif

#endif
