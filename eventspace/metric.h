/* metric.h - what a program counts itself, in its trace.
 *
 *     eventspace_metric *cells;
 *     int err = eventspace_metric_open(&cells, self, "cells");
 *     ...
 *     eventspace_metric_add(cells, columns);
 *
 * About each 10 ms, and when a thread ends, what it has added is one event of
 * 36 bytes: so much from then until now. The thread writes it itself, when it
 * adds something. So an addition costs as much as one to a variable, and a
 * comparison. What was added since the last event of a thread is not known
 * while it runs, nor if it is killed: a thread that has nothing to add for long
 * may add 0. Views show totals up to 2^63 - 1.
 *
 * The view `metrics`, SQL and exports show them, and contracts may be of them:
 *
 *     metric intrinsic message_cells = program("cells") / messages;
 *
 * Where the map has no collectors nothing is recorded.
 *
 * Names: up to 255 bytes; a process has 65,536 of them, with those of regions
 * and marks. Threads that count by the same name count the same thing, and each
 * has a handle of its own.
 *
 * Threads:   those of the map, each for itself. `total` may be read by its
 *            thread.
 * Ownership: a handle is there until its thread ends.
 * Errors:    PASTSET_EINVAL (no name, one that is too long; not a thread of the
 *            map), PASTSET_ELIMIT (too many names), PASTSET_ENOMEM, PASTSET_EIO
 *            (no thread for it). A full disk is no error: what is lost is
 *            counted, as for collectors. */
#ifndef EVENTSPACE_METRIC_H
#define EVENTSPACE_METRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "paths/paths.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct eventspace_metric {
    uint64_t total; /* what was added so far */
    bool is_due;    /* it is time for an event */
} eventspace_metric;

/* The same name gives a thread the same handle. */
int eventspace_metric_open(eventspace_metric **out, paths_thread *self,
                           const char *name);

/* For eventspace_metric_add. */
void eventspace__metric_write(eventspace_metric *metric);

/* Relaxed: whoever says that it is due says nothing else. */
static inline void eventspace_metric_add(eventspace_metric *metric,
                                         uint64_t count)
{
    metric->total += count;
    if (__builtin_expect(__atomic_load_n(&metric->is_due, __ATOMIC_RELAXED), 0))
        eventspace__metric_write(metric);
}

#ifdef __cplusplus
}
#endif

#endif
