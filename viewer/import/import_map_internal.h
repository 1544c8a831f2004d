/* import_map_internal.h - the path map of an imported trace.
 *
 * Each use (import_uses_internal.h) becomes a path: an edge from its thread to
 * a collector, whose id is the number of the use, and from there to what it is
 * used at: an element, or the wrapper of a collective above one. Processes
 * stand in it by the names that the trace gives them, as far as processes may
 * have these.
 *
 * Messages that are not matched (import_uses_internal.h) get two elements, one
 * that is written and one that is read, and collectives that are not have no
 * wrapper, since nobody knows what belongs together. */
#ifndef VIEWER_IMPORT_MAP_INTERNAL_H
#define VIEWER_IMPORT_MAP_INTERNAL_H

#include "paths/map/map.h"
#include "viewer/import/import_uses_internal.h"

/* The stream that a thread's collectors write to. */
#define IMPORT_TRACE_FORMAT "trace.%u"

/* The n-th process of the trace is the n-th of the map, the n-th thread has
 * number n. Errors: PASTSET_ENOMEM. */
int viewer__import_map_make(paths_map **out, const otf2_trace *trace,
                            const import_uses *uses);

#endif
