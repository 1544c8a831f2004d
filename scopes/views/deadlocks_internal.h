/* deadlocks_internal.h - deadlocks.c follows who can go on, deadlocks_release.c
 * says of one thread whether it can, by what the others can. */
#ifndef SCOPES_DEADLOCKS_INTERNAL_H
#define SCOPES_DEADLOCKS_INTERNAL_H

#include "scopes/causality/arrived.h"
#include "scopes/views/view_internal.h"

/* By thread number. */
typedef struct scopes__graph {
    const scopes_view_input *view_input;
    scopes_arrived *arrived;        /* NULL: not looked for yet */
    const scopes_pending **threads; /* NULL: nothing is known of it */
    bool *stuck;                    /* as far as has been followed */
    uint32_t count;
} scopes__graph;

/* Can the thread that waits for this be released, by those of whom it is not
 * said that they are stuck, or by what has come already? */
bool scopes__can_go_on(const scopes__graph *g, const scopes_pending *p);

#endif
