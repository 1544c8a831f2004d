/* message_ticks.h - when the messages of a run were sent and received, in the
 * ticks of the processes: what clocks are made from.
 *
 * Which message is which follows from the order within each process alone, and
 * no clock is needed for it. Only those are given of which that is certain, and
 * whose processes have been recorded: who imports a trace does not know when in
 * its call a message was stamped.
 *
 * It takes 16 bytes for each message, and up to 130 for each communicator,
 * sender, receiver and tag that differ, after some 80 for each message while
 * they are put in order; and time that is linear in their number, but for that.
 *
 * Threads:   one. */
#ifndef SCOPES_MESSAGE_TICKS_H
#define SCOPES_MESSAGE_TICKS_H

#include "scopes/reading/messages.h"

/* The call that sends has begun at `sent`; the one in which the receive was
 * completed has ended at `received`. */
typedef struct scopes_message_ticks {
    uint32_t from, to; /* threads */
    uint64_t sent, received;
} scopes_message_ticks;

/* A non-zero answer ends the walk and is returned. */
typedef int scopes_message_ticks_visit(const scopes_message_ticks *message,
                                       void *context);
/* Those of one communicator, sender, receiver and tag lie behind each other, in
 * the order in which they were sent. Errors: PASTSET_ENOMEM, PASTSET_ENOSPC (of
 * a temporary file). */
int scopes_message_ticks_each(const eventspace_run *run,
                              const scopes_topology *topology,
                              scopes_message_ticks_visit *each, void *context);

#endif
