/* regions.h - parts of a program by name, in its trace.
 *
 *     eventspace_region_begin(self, "assemble");
 *     ...
 *     eventspace_region_end(self, "assemble");
 *     eventspace_mark(self, "converged");
 *
 * A region leaves one event of 36 bytes when it ends, a mark one at once, at
 * the cost of a collector. The view `regions` and SQL show them.
 * Regions of a thread may lie within each other, 64 deep, and end in the
 * reverse order. Where the map has no collectors nothing is recorded, and the
 * calls cost a comparison.
 *
 * Names: up to 255 bytes, 65,536 of them in a process. The same name is the
 * same region, wherever its text is.
 *
 * Threads: those of the map, each for itself, and not in a signal handler.
 * Errors: PASTSET_EINVAL (no name, a name that is too long; an end of a region
 * that is not the innermost one; not a thread of the map), PASTSET_ELIMIT (too
 * deep, or too many names), PASTSET_ENOMEM. Nothing is recorded then, and a
 * begin that failed needs no end. A full disk is no error: what is lost is
 * counted, as for collectors. */
#ifndef EVENTSPACE_REGIONS_H
#define EVENTSPACE_REGIONS_H

#include "paths/paths.h"

#ifdef __cplusplus
extern "C" {
#endif

int eventspace_region_begin(paths_thread *self, const char *name);
int eventspace_region_end(paths_thread *self, const char *name);
int eventspace_mark(paths_thread *self, const char *name);

#ifdef __cplusplus
}
#endif

#endif
