/* messages.h - the messages of a run: what its threads sent and received by
 * other means than paths, both ends of each together.
 *
 * Processes say of each end which channel it went by, with which tag, and its
 * number among those (eventspace/collect/message.h). Two ends that agree in all
 * of that are one message; so nothing has to be guessed, and what was sent and
 * not received is there, too. While a run goes on, what is there is that of the
 * moment at which it was opened.
 *
 * Threads:   one.
 * Ownership: what is given is the caller's; texts are the run's or theirs. */
#ifndef SCOPES_MESSAGES_H
#define SCOPES_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/collect/message.h"
#include "scopes/causality/topology.h"
#include "eventspace/run/run.h"

/* What a message is known by. */
typedef struct scopes_message_key {
    uint32_t communicator; /* number, from 0 */
    uint32_t from, to;     /* numbers of threads */
    int32_t tag;
    uint32_t ordinal; /* or EVENTSPACE_MESSAGE_UNKNOWN */
} scopes_message_key;

/* One end, as its thread has it. */
typedef struct scopes_message_end {
    scopes_message_key key;
    uint16_t kind; /* eventspace_message_kind */
    bool is_received;
    bool is_hidden;        /* its call was not recorded */
    uint32_t counted_by;   /* the thread in whose order it is, where its process
                              has only counted it (message.h); PATHS_NONE */
    uint32_t thread, call; /* `sequence` of the thread's operation */
    uint64_t tick;         /* of the thread's process */
    uint64_t bytes;
    const char *operation; /* "MPI_Isend"; "" */
    uint16_t status;
} scopes_message_end;

typedef struct scopes_messages scopes_messages;

/* What there is now. `topology` is of the run's map. Errors: PASTSET_ENOMEM. */
int scopes_messages_open(scopes_messages **out, const eventspace_run *run,
                         const scopes_topology *topology);
/* NULL is allowed. */
void scopes_messages_close(scopes_messages *messages);

/* The next end of a thread whose call was recorded, in the order of its calls;
 * false: there are no more. What a damaged file has of channels that nobody has
 * defined, or that are another thread's, is counted and left out; what was sent
 * to or received from a process that has recorded nothing is left out. */
bool scopes_messages_next(scopes_messages *messages, uint32_t thread,
                          scopes_message_end *out);

/* The name of one, as a key has its number. */
const char *scopes_messages_communicator(const scopes_messages *messages,
                                         uint32_t number);

/* -1, 0 or 1: by communicator, from, to, tag, ordinal. */
int scopes_message_compare(const scopes_message_key *a,
                           const scopes_message_key *b);

#endif
