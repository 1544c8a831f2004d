/* parallel_internal.h - work in parts, on all processors that the process may
 * use.
 *
 * Threads: any. Within a part there is one thread: parts of parts are done one
 * after the other. */
#ifndef SCOPES_PARALLEL_INTERNAL_H
#define SCOPES_PARALLEL_INTERNAL_H

#include <stddef.h>

typedef int scopes__part(size_t part, void *context);

/* Calls `part` for each number below `count`, lower ones first. After an error
 * no further part is begun, and the error of the lowest part that failed is
 * returned, with its text. Without threads, which may be refused, all is done
 * by the caller. */
int scopes__parallel(size_t count, scopes__part *part, void *context);

#endif
