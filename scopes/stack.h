/* stack.h - a stack of trace tuples that may become large: what a series of a
 * store is put into.
 *
 * Beyond a few megabytes it asks for huge pages and grows by moving its pages
 * rather than its bytes: a store of millions of tuples costs as much for the
 * faults of small pages as for all of its copying.
 *
 * Threads:   one.
 * Ownership: all zero is an empty one; fini takes back. */
#ifndef SCOPES_STACK_H
#define SCOPES_STACK_H

#include <stddef.h>

#include "eventspace/trace.h"

typedef struct scopes_stack {
    eventspace_trace *events;
    size_t count, room;  /* tuples */
    size_t mapped_bytes; /* 0: it is in the heap */
} scopes_stack;

/* Makes room for at least `room` tuples. Errors: PASTSET_ENOMEM. */
int scopes__stack_reserve(scopes_stack *stack, size_t room);
void scopes__stack_fini(scopes_stack *stack);

/* Orders them by (start, sequence, thread); those that are equal in all stay as
 * they are. Linear for what is nearly in order. Errors: PASTSET_ENOMEM. */
int scopes__stack_sort(scopes_stack *stack);

#endif
