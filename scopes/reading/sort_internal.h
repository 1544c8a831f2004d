/* sort_internal.h - bringing trace tuples into their order.
 *
 * Threads: any, each with its own. */
#ifndef SCOPES_SORT_INTERNAL_H
#define SCOPES_SORT_INTERNAL_H

#include <stddef.h>

#include "scopes/reading/event_table.h"

/* Orders tuples by (start, sequence, thread); those that are equal in all stay
 * as they are. Linear for what is nearly in order. Errors: PASTSET_ENOMEM,
 * PASTSET_ENOSPC. */
int scopes__sort(eventspace_trace *events, size_t count);
/* Leaves them where they are, and gives in `numbers` (scopes_events.at) in
 * which order they stand. */
int scopes__sort_numbers(uint32_t *numbers, size_t count,
                         const eventspace_trace *events);

#endif
