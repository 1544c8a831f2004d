/* message_pairs.h - the messages of a run, both ends of each put together and
 * placed in time.
 *
 * Threads:   one while they are made; then they may be read by any.
 * Ownership: make gives, destroy takes back. Texts are the run's. */
#ifndef SCOPES_MESSAGE_PAIRS_H
#define SCOPES_MESSAGE_PAIRS_H

#include "scopes/clocks/clock.h"
#include "scopes/reading/messages.h"

/* A message. One of its ends may be missing: NULL. */
typedef struct scopes_message_pair {
    const scopes_message_end *sent, *received;
    int64_t sent_ns, received_ns; /* of ends that are there */
    bool is_half; /* there was another end, whose call was not recorded */
} scopes_message_pair;

typedef struct scopes_message_pairs {
    scopes_message_pair *items; /* in the order in which they were sent, or
                                   received if nobody has sent them */
    size_t count;
    uint64_t damaged; /* ends that were left out (messages.h) */
    scopes_messages *messages;
    void *ends;
} scopes_message_pairs;

/* Errors: PASTSET_ENOMEM, PASTSET_ENOSPC (of a temporary file). */
int scopes_message_pairs_make(scopes_message_pairs **out,
                              const eventspace_run *run,
                              const scopes_topology *topology,
                              const scopes_clocks *clocks);
/* NULL is allowed. */
void scopes_message_pairs_destroy(scopes_message_pairs *pairs);

/* What both ends have; of the one that is there. */
const scopes_message_key *
scopes_message_pair_key(const scopes_message_pair *pair);
const char *scopes_message_pair_communicator(const scopes_message_pairs *pairs,
                                             const scopes_message_pair *pair);

/* What is to be said of one whose ends do not agree: "not received", "not
 * sent", "lengths differ", "other end not recorded", as the program had
 * switched recording off, or "ambiguous", where an end does not know which
 * message it is of. NULL: nothing. */
const char *scopes_message_pair_fault(const scopes_message_pair *pair);

#endif
