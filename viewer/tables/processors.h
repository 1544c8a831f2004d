/* processors.h - for how much of their time the threads of a run had no
 * processor while others ran: then it was shared by too many, and what
 * operations took is also the work of others. */
#ifndef VIEWER_PROCESSORS_H
#define VIEWER_PROCESSORS_H

#include <stddef.h>

#include "scopes/reading/snapshot.h"

typedef struct viewer_processors {
    double share;     /* of the time of the threads of which it is known, all
                         together; NAN: of none */
    const char *most; /* the thread that was without for longest; NULL: none */
    double most_ns;
} viewer_processors;

/* Of a whole run. */
viewer_processors viewer_processors_of(const scopes_snapshot *snapshot);

/* "threads lacked one for 14 % of their time, t1 longest: for 312 ms"; "" if it
 * is not known. Else gives `text`. */
const char *viewer_processors_says(const viewer_processors *processors,
                                   char *text, size_t bytes);

#endif
