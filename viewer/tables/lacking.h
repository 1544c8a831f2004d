/* lacking.h - for how much of their time the threads of a run had no
 * processor while others ran: then it was shared by too many, and what
 * operations took is also the work of others. */
#ifndef VIEWER_LACKING_H
#define VIEWER_LACKING_H

#include <stddef.h>

#include "scopes/reading/snapshot.h"

typedef struct viewer_lacking {
    double share;     /* of the time of the threads of which it is known, all
                         together; NAN: of none */
    const char *most; /* the thread that was without for longest; NULL: none */
    double most_ns;
    bool is_of_mpi; /* threads that call MPI: others are not known */
} viewer_lacking;

/* Of a whole run. */
viewer_lacking viewer_lacking_of(const scopes_snapshot *snapshot);

/* "threads lacked one for 14 % of their time, t1 longest: for 312 ms"; "" if it
 * is not known. Else gives `text`. */
const char *viewer_lacking_says(const viewer_lacking *processors, char *text,
                                size_t bytes);

#endif
