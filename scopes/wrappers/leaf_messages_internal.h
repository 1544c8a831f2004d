/* leaf_messages_internal.h - what a scope's leaf gives of the messages of a
 * process (eventspace/collect/message.h), beside its trace tuples.
 *
 * Threads:   one at a time.
 * Ownership: make gives, destroy takes back; the run is borrowed. */
#ifndef SCOPES_LEAF_MESSAGES_INTERNAL_H
#define SCOPES_LEAF_MESSAGES_INTERNAL_H

#include "eventspace/run/run.h"
#include "scopes/gather/gather_message.h"

typedef struct leaf_messages leaf_messages;

/* `process` of the run's map. NULL: no memory. */
leaf_messages *scopes__leaf_messages_make(const eventspace_run *run,
                                          size_t process);
void scopes__leaf_messages_destroy(leaf_messages *m);

/* Puts what has come since into a part of the message. False: there is more. */
bool scopes__leaf_messages_put(leaf_messages *m, gather_writer *w);

#endif
