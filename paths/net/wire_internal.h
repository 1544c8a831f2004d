/* wire_internal.h - frames between processes.
 *
 * A TCP connection begins with the handshake (handshake_internal.h), of three
 * messages of fixed lengths. Only when both sides have proven that they know
 * the run's key, and who they are, frames are looked at: WELCOME (or FAILED,
 * with the reason of a refusal) first, from the side that was called, and then
 * in both directions what is below. Each has a fixed header and `bytes` of
 * payload, in the byte order of the processes, which must be the same:
 *
 *    0 u32 bytes       payload that follows the header
 *    4 u32 id          of a request; its reply carries the same
 *    8 u16 kind        see wire_kind
 *   10                 fields of its kind
 *
 *         REQUEST            SPOILT         REPLY       LEFT       ENDED
 *   10    u16 verb           u16 verb       i16 status
 *   12    u32 proxy          u32 proxy                  u32 proxy  u32 node
 *   16    u32 thread         u32 thread     u32 thread
 *   20    u32 sequence       u32 sequence   u32 sequence
 *   24    u64 index          u64 index      u64 index
 *   32    u64 pattern_fields                u64 lost
 *   40    u32 timeout_ms     u32 timeout_ms
 *   44    u32 capacity       u32 error
 *
 * What has no name is zero, and is not looked at. Nodes of the map are told by
 * their rank among the names of all of them.
 *
 * Payload: REQUEST write, exchange: the tuple; with a pattern: its values.
 * REPLY: the tuple, or the text of the error. FAILED, SPOILT, LEFT, GONE: a
 * text; with GONE, the name of the process before it. RELAY: a name. */
#ifndef PATHS_WIRE_INTERNAL_H
#define PATHS_WIRE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "paths/net/frame.h"
#include "paths/net/handshake_internal.h"

#define WIRE_TEXT_BYTES 1024 /* longest text of an error */
#define WIRE_FOREVER UINT32_MAX

typedef enum wire_kind {
    WIRE_WELCOME = 2, /* whoever connected is let in */
    WIRE_REQUEST,
    WIRE_REPLY,
    WIRE_DONE,     /* member to coordinator: its threads have ended */
    WIRE_END,      /* coordinator to members: all threads have ended */
    WIRE_FAILED,   /* the sender's process, or one it knows of, has failed */
    WIRE_SPOILT,   /* a request that brings an error to a collective */
    WIRE_LEFT,     /* nobody contributes any more by the way of this proxy */
    WIRE_GONE,     /* a process has died: coordinator to members; or to it */
    WIRE_ENDED,    /* once one has died: a thread has ended; to and from it */
    WIRE_RELAY,    /* asks for a way on to another process: its name */
    WIRE_COMPLETE, /* coordinator to members: all have joined */
    WIRE_KINDS,
} wire_kind;

/* A thread's or the loop's operation, from the proxy where it leaves. */
typedef struct wire_request {
    uint32_t bytes;
    uint32_t id;
    uint16_t kind;
    uint16_t verb;           /* a pastset_verb */
    uint32_t proxy;          /* its rank */
    uint32_t thread;         /* whose operation it is: its number */
    uint32_t sequence;       /* and the operation's */
    uint64_t index;          /* as in pastset_request */
    uint64_t pattern_fields; /* of the values in the payload; 0: none */
    uint32_t timeout_ms;     /* 0: do not wait; WIRE_FOREVER: no deadline */
    uint32_t capacity;       /* room for the tuple that comes back */
} wire_request;

/* Begins as a REQUEST does. */
typedef struct wire_spoilt {
    uint32_t bytes;
    uint32_t id;
    uint16_t kind;
    uint16_t verb;
    uint32_t proxy;
    uint32_t thread;
    uint32_t sequence;
    uint64_t index;
    uint64_t reserved;
    uint32_t timeout_ms;
    uint32_t error; /* a status without its sign, above 0 */
} wire_spoilt;

typedef struct wire_reply {
    uint32_t bytes;
    uint32_t id;
    uint16_t kind;
    int16_t status; /* 0, or the error */
    uint32_t reserved;
    uint32_t thread;
    uint32_t sequence;
    uint64_t index; /* of the tuple */
    uint64_t lost;  /* read_next: tuples gone before this one */
    uint64_t reserved_too;
} wire_reply;

typedef struct wire_left {
    uint32_t bytes;
    uint32_t id;
    uint16_t kind;
    uint16_t reserved;
    uint32_t proxy; /* its rank */
    uint64_t reserved_too[4];
} wire_left;

typedef struct wire_ended {
    uint32_t bytes;
    uint32_t id;
    uint16_t kind;
    uint16_t reserved;
    uint32_t node; /* the thread's rank */
    uint64_t reserved_too[4];
} wire_ended;

/* The others have no fields of their own. */
typedef union wire_header {
    struct {
        uint32_t bytes;
        uint32_t id;
        uint16_t kind;
        uint16_t reserved[19];
    };
    wire_request request;
    wire_spoilt spoilt;
    wire_reply reply;
    wire_left left;
    wire_ended ended;
} wire_header;

_Static_assert(sizeof(wire_request) == PATHS_FRAME_HEADER_BYTES &&
                   sizeof(wire_spoilt) == PATHS_FRAME_HEADER_BYTES &&
                   sizeof(wire_reply) == PATHS_FRAME_HEADER_BYTES &&
                   sizeof(wire_left) == PATHS_FRAME_HEADER_BYTES &&
                   sizeof(wire_ended) == PATHS_FRAME_HEADER_BYTES &&
                   sizeof(wire_header) == PATHS_FRAME_HEADER_BYTES,
               "no padding on the wire");

/* Do the fields of its kind hold what they may? `max` is the largest payload
 * of a request or reply. Errors: PASTSET_EPROTO. */
int paths__wire_header_check(const wire_header *header, uint32_t max);

#endif
