/* message.h - messages that threads sent and received by other means than
 * paths, such as MPI, for whoever looks at a space.
 *
 * A trace tuple (trace.h) tells of a call. What it sent or received is said
 * beside it, by one tuple for each end of a message, in an element of the
 * calling thread that is called "~messages." and its number, in the order of
 * the calls.
 *
 * A channel goes from one thread to another in a communicator; those, and kinds
 * of calls, are what the process has defined (define/definition.h). The n-th
 * message of a channel with a tag that was sent is the n-th that was received,
 * whatever the order in which receives end: both have the ordinal n, from 0.
 * Who cannot tell which one it is says EVENTSPACE_MESSAGE_UNKNOWN: then nobody
 * may take it for another's counterpart.
 *
 * Of a process that is killed, or goes on, it must be known which sends and
 * receives have begun before those that are there and have not ended: for these
 * there is a tuple of their own, before that of the first that overtook them.
 */
#ifndef EVENTSPACE_MESSAGE_H
#define EVENTSPACE_MESSAGE_H

#include <stdint.h>

#define EVENTSPACE_MESSAGES_PREFIX "~messages."
#define EVENTSPACE_MESSAGE_TYPE "u64[2] u32[4] i32 u16[2]"
#define EVENTSPACE_MESSAGE_UNKNOWN UINT32_MAX

/* Added to the kind of an end whose process has only counted: `ordinal` is then
 * the number of the send among all sends of the process, or of the receive
 * among all that it has posted, and which message of the channel and tag it is
 * follows from their order. (A receive that was posted earlier gets the message
 * that was sent earlier, whatever the order in which they end.) */
#define EVENTSPACE_MESSAGE_COUNTED 0x100

/* Added to the kind of an end while which the program had switched recording
 * off: it has no trace tuple, and says only that it is one of the order. */
#define EVENTSPACE_MESSAGE_HIDDEN 0x200

/* Tag of a receive that takes any. */
#define EVENTSPACE_MESSAGE_ANY_TAG (-1)

typedef enum eventspace_message_kind {
    EVENTSPACE_MESSAGE_SENT,
    EVENTSPACE_MESSAGE_RECEIVED,
    EVENTSPACE_MESSAGE_SENDING,   /* has begun; its end, if there is one, has
                                     the same `ordinal`. `status` other than 0:
                                     it has failed, and may have been sent */
    EVENTSPACE_MESSAGE_POSTED,    /* likewise. Its channel may be one from
                                     anybody */
    EVENTSPACE_MESSAGE_WITHDRAWN, /* a receive that was posted and has taken
                                     none */
    EVENTSPACE_MESSAGE_KINDS
} eventspace_message_kind;

typedef struct eventspace_message {
    uint64_t tick;      /* when, in the call; as in trace.h */
    uint64_t bytes;     /* of the message */
    uint32_t channel;   /* definition of the process */
    uint32_t ordinal;   /* or EVENTSPACE_MESSAGE_UNKNOWN */
    uint32_t call;      /* `sequence` of the trace tuple */
    uint32_t operation; /* definition of the process: the kind of the call;
                           UINT32_MAX: none */
    int32_t tag;
    uint16_t kind;
    uint16_t status; /* 0, or minus a code of pastset/status.h */
} eventspace_message;

_Static_assert(sizeof(eventspace_message) == 40, "as its type says");

#endif
