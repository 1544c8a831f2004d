/* detail_internal.h - collectors that record while more is asked for.
 *
 * A collector with detail=N in the map writes events while the number
 * "trace_detail" of its process, a tunable (eventspace/tunable.h), is N at
 * least. That is 0 at first, or what the graph's trace_detail says.
 *
 * Threads:   any, but for the mark: see there. */
#ifndef EVENTSPACE_DETAIL_INTERNAL_H
#define EVENTSPACE_DETAIL_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "paths/wrappers/wrapper.h"

#define EVENTSPACE__DETAIL_MAX 9

/* Of a process, all 0 at first. */
typedef struct eventspace__detail {
    const _Atomic uint64_t *told; /* NULL: no collector asks for it */
    _Atomic uint64_t seen;        /* of which there is a mark */
} eventspace__detail;

/* What the graph says. Errors: PASTSET_EMAP (it is no such number). */
int eventspace__detail_initial(uint64_t *out, const paths_map *map);

/* For a stage whose node has detail=N: makes the tunable, if it is not there,
 * and gives what is told where the stage is to record. Errors: PASTSET_EMAP
 * (that is no such number), PASTSET_ENOMEM, PASTSET_ENOSPC. */
int eventspace__detail_open(eventspace__detail *detail, uint64_t *level,
                            paths_stage *stage);

/* Leaves a mark, "trace_detail = 1", in the trace of the thread that calls. The
 * network loop has no trace: it leaves this to others. */
void eventspace__detail_mark(eventspace__detail *detail, uint64_t told,
                             const paths_operation *op);

/* Is so much asked for? Doubles of 0 and more are in the order of their bits;
 * and what somebody else has written to the file is too much, not too little.
 * Two loads that nobody writes to, as long as nothing changes. */
static inline bool eventspace__detail_is_on(eventspace__detail *detail,
                                            uint64_t level,
                                            const paths_operation *op)
{
    uint64_t told = atomic_load_explicit(detail->told, memory_order_relaxed);

    if (__builtin_expect(
            told != atomic_load_explicit(&detail->seen, memory_order_relaxed),
            0))
        eventspace__detail_mark(detail, told, op);
    return told >= level;
}

#endif
