/* instrument.h - instrumenting is a function from path map to path map.
 *
 * Paper 004, section 4.2. A collector stands on an edge of the map: behind
 * the stage it leaves and before the stage it goes to. The collector on an
 * edge that enters a proxy stands on the proxy's process, and the one on an
 * edge that leaves a proxy on the process where that edge arrives.
 *
 * Inserted collectors are nodes of kind `collector` with the attributes
 *   id      its number in trace tuples: 0, 1, 2 ... in the order of the edges
 *   trace   the name of the trace element that it writes to
 *   detail  1, if it is one of those that record only while they are asked to
 *           (`eventspace tune RUN trace_detail=1`)
 * and, on the graph, trace_capacity (tuples), trace_policy (`grow`, `discard`
 * or `block`) and trace_prefault (`true`, `false`), which a collector may
 * override by attributes of its own without the prefix "trace_": capacity,
 * policy, prefault.
 *
 * Node names: "<path>.ec<k>", where <path> is "<thread>.<as>" and k counts the
 * collectors of that path from 1 on its way down; for an edge below a join,
 * which is on many paths, "<stage above>.ec". */
#ifndef EVENTSPACE_INSTRUMENT_H
#define EVENTSPACE_INSTRUMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "paths/map/path_map.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum eventspace_collectors {
    EVENTSPACE_NO_COLLECTORS,     /* takes out the ones that are there */
    EVENTSPACE_THREAD_COLLECTORS, /* one on each edge that leaves a thread */
    EVENTSPACE_ALL_COLLECTORS,    /* one on every edge: before and after
                                     every wrapper */
} eventspace_collectors;

/* Which collectors share a trace element. */
typedef enum eventspace_trace_per {
    /* Those above the first proxy: one per thread, named "trace.<thread>";
     * the others: one per process, "trace.<process>". Fewest pages, and each
     * written by one thread. */
    EVENTSPACE_TRACE_PER_THREAD,
    /* One per collector, named "trace.<collector>". */
    EVENTSPACE_TRACE_PER_COLLECTOR,
} eventspace_trace_per;

typedef struct eventspace_instrument_options {
    eventspace_collectors collectors; /* that always record, */
    eventspace_collectors detail;     /* and those that do while asked to: of
                                         edges where there is none yet */
    eventspace_trace_per trace_per;
    uint64_t trace_capacity;  /* tuples; 0: 262,144 */
    const char *trace_policy; /* NULL: "discard" */
    bool prefault;
} eventspace_instrument_options;

/* Makes an instrumented copy of the map. Collectors that are in it already
 * are taken out first, so that instrumenting twice gives the same as once.
 * Errors: PASTSET_ENOMEM, PASTSET_EINVAL (an unknown policy). */
int eventspace_instrument(paths_map **out, const paths_map *map,
                          const eventspace_instrument_options *options);

#ifdef __cplusplus
}
#endif

#endif
