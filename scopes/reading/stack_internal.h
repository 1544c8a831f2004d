/* stack_internal.h - memory for many trace tuples, and sorting them: what the
 * series of an event table are put into.
 *
 * Large ones are mappings of huge pages: for an event table of millions of
 * tuples, the faults of small pages cost as much as all of its copying.
 *
 * Threads:   one.
 * Ownership: all zero is an empty stack; fini takes back. */
#ifndef SCOPES_STACK_INTERNAL_H
#define SCOPES_STACK_INTERNAL_H

#include <stddef.h>

#include "eventspace/collect/trace.h"

typedef struct scopes_stack {
    eventspace_trace *events;
    size_t count, capacity; /* tuples */
    size_t mapped_bytes;    /* 0: it is in the heap */
} scopes_stack;

/* Makes room for at least `capacity` tuples. Errors: PASTSET_ENOMEM. */
int scopes__stack_reserve(scopes_stack *stack, size_t capacity);
void scopes__stack_fini(scopes_stack *stack);

/* Orders tuples by (start, sequence, thread); those that are equal in all stay
 * as they are. Linear for what is nearly in order. `spare` gets the room that
 * it takes, and may be used again. Errors: PASTSET_ENOMEM. */
int scopes__sort(eventspace_trace *events, size_t count, scopes_stack *spare);

#endif
