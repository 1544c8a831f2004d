/* wire_internal.h - frames between hosts, and connections of the loop.
 *
 * A TCP connection begins with the handshake (handshake_internal.h), of three
 * messages of fixed lengths. Only when both sides have proven that they know
 * the run's key, and who they are, frames are looked at: WELCOME (or FAILED,
 * with the reason of a refusal) first, from the side that was called, and then
 * in both directions what is below. Each has a fixed header and `bytes` of
 * payload, in the byte order of the hosts, which must be the same:
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
 * text; with GONE, the name of the host before it. */
#ifndef PATHS_WIRE_INTERNAL_H
#define PATHS_WIRE_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "paths/net/handshake_internal.h"

#define WIRE_TEXT_BYTES 1024 /* longest text of an error */
#define WIRE_FOREVER UINT32_MAX

typedef enum wire_kind {
    WIRE_WELCOME = 2, /* whoever connected is let in */
    WIRE_REQUEST,
    WIRE_REPLY,
    WIRE_DONE,   /* member to coordinator: its threads have ended */
    WIRE_END,    /* coordinator to members: all threads have ended */
    WIRE_FAILED, /* the sender's host, or one it knows of, has failed */
    WIRE_SPOILT, /* a request that brings an error to a collective */
    WIRE_LEFT,   /* nobody contributes any more by the way of this proxy */
    WIRE_GONE,   /* a host has died: coordinator to members; or to it */
    WIRE_ENDED,  /* once one has died: a thread has ended; to and from it */
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

#define WIRE_HEADER_BYTES 48
_Static_assert(sizeof(wire_request) == WIRE_HEADER_BYTES &&
                   sizeof(wire_spoilt) == WIRE_HEADER_BYTES &&
                   sizeof(wire_reply) == WIRE_HEADER_BYTES &&
                   sizeof(wire_left) == WIRE_HEADER_BYTES &&
                   sizeof(wire_ended) == WIRE_HEADER_BYTES &&
                   sizeof(wire_header) == WIRE_HEADER_BYTES,
               "no padding on the wire");

/* Do the fields of its kind hold what they may? `max` is the largest payload
 * of a request or reply. Errors: PASTSET_EPROTO. */
int paths__wire_header_check(const wire_header *header, uint32_t max);

/* --- a connection of the loop: served, link or member --- */

struct paths_host;
typedef struct connection connection;

typedef struct connection_output {
    struct connection_output *next;
    size_t bytes, sent;
    unsigned char data[];
} connection_output;

typedef enum connection_state {
    CONNECTION_GREETING, /* its first message has not come */
    CONNECTION_ANSWERED, /* it has, but may be an old one: its proof has not */
    CONNECTION_OPEN,
    CONNECTION_CLOSED,
} connection_state;

#define CONNECTION_BUFFER 65536

struct connection {
    uv_poll_t poll; /* first: the loop's handle */
    struct paths_host *host;
    connection *next, *previous; /* of the host; loop only */
    int fd;
    connection_state state; /* loop only */
    uint16_t role;
    bool outgoing;     /* this side connected */
    uint32_t peer;     /* host of the map, once it is open */
    uint64_t since_ms; /* loop time when it was accepted */
    _Atomic uint32_t references;

    handshake handshake; /* accepted: until it is open, then wiped */
    /* Input, loop only: `buffer` holds [begin, end); when a payload did not
     * fit, the rest goes straight to `target`. */
    unsigned char *buffer;
    size_t begin, end;
    wire_header header;
    bool in_payload;
    unsigned char *target;
    size_t filled;
    bool away;     /* nobody takes the payload: it is thrown away */
    void *request; /* the operation that the payload belongs to */
    unsigned char small[WIRE_TEXT_BYTES]; /* payloads of control frames, and
                                             the handshake's messages */

    /* Output; any thread, under `lock`. */
    pthread_mutex_t lock;
    connection_output *out, *out_last;
    bool broken;       /* nothing can be sent any more */
    const char *broke; /* why this side broke it off; NULL: it did not */
    bool flush_queued;
    connection *flush_next;
};

/* Takes the socket over and begins to watch it. Loop only. */
int paths__connection_open(connection **out, struct paths_host *host, int fd,
                           connection_state state);
void paths__connection_ref(connection *c);
void paths__connection_unref(connection *c);
/* Closes it; `why` is told to member.c when it was open. Loop only. */
void paths__connection_close(connection *c, const char *why);
/* Sends header and payload whole, now or as the socket takes them. Any
 * thread. Errors: PASTSET_EHOST, PASTSET_ENOMEM. */
int paths__connection_send(connection *c, const wire_header *header,
                           const void *payload);
/* The loop: sends what others have queued. */
void paths__connection_flush_all(struct paths_host *host);

/* --- unauthenticated.c: those who have not proven that they belong here --- */

/* Takes a socket over that came to the door. Loop only, as all. */
void paths__unauthenticated_accept(struct paths_host *host, int fd);
/* There is something to read from one that is not open. */
void paths__unauthenticated_read(connection *c);
/* Those that do not prove it in time are closed. */
void paths__unauthenticated_tidy(struct paths_host *host);

/* --- serve.c: what is done with frames --- */

/*  `payload_at` gives the place for a payload
 * (NULL: refuse, close), `frame` is called when all of it is there. */
unsigned char *paths__serve_payload_at(connection *c);
void paths__serve_frame(connection *c);
/* It closes: the operation whose payload will not come, if there is one. */
void paths__serve_abandon(connection *c);

#endif
