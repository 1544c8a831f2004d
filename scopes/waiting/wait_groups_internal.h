/* wait_groups_internal.h - waits in groups, the last to end first: a group is
 * the waits of a round of a collective for the one who came last, as far as
 * they ended when that one came; each other wait is a group of its own. Those
 * that end together are in the order of `waits`.
 *
 * Threads:   any.
 * Ownership: make gives, free takes back. */
#ifndef SCOPES_WAIT_GROUPS_INTERNAL_H
#define SCOPES_WAIT_GROUPS_INTERNAL_H

#include "scopes/waiting/waiting_internal.h"

typedef struct scopes__wait_group {
    int64_t to_ns;
    uint32_t first; /* wait */
} scopes__wait_group;

typedef struct scopes__wait_groups {
    scopes__wait_group *items;
    uint32_t count;
    uint32_t *next; /* by wait: the next one of its group; SCOPES_MISSING */
} scopes__wait_groups;

/* Errors: PASTSET_ENOMEM, PASTSET_ENOSPC. */
int scopes__wait_groups_make(scopes__wait_groups *groups,
                             const scopes__waiting *waiting);
/* Also of what was not made, if it is zero. */
void scopes__wait_groups_free(scopes__wait_groups *groups);

#endif
