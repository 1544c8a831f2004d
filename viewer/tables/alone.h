/* alone.h - how long a run had one thread only: before any other one began, and
 * after all others had ended. Nobody waits then, so that no cause of waiting
 * tells it. */
#ifndef VIEWER_ALONE_H
#define VIEWER_ALONE_H

#include <stddef.h>
#include <stdint.h>

#include "scopes/reading/snapshot.h"

typedef struct viewer_alone {
    const char *first, *last; /* the threads, of the map; NULL: not known, or
                                 less than a twentieth of the run */
    int64_t begin_ns, end_ns; /* how long each was alone */
    int64_t run_ns;           /* from the first begin to the last end */
} viewer_alone;

/* Of a whole run in which all threads are known to have begun and ended; else,
 * and of less than two threads, nothing is known. */
viewer_alone viewer_alone_of(const scopes_snapshot *snapshot);

/* "t0 for the last 4.9 s (61 %), when all others had ended"; "" if nobody was.
 * Gives `text`. */
const char *viewer_alone_says(const viewer_alone *alone, char *text,
                              size_t bytes);

#endif
