/* wire_internal.h - frames between hosts, and connections of the loop.
 *
 * A TCP connection begins with the handshake (handshake.c): until both sides
 * have proven that they know the run's key, nothing is parsed. Then frames
 * follow, in both directions, each a fixed header and `bytes` of payload, in
 * the byte order of the hosts, which must be the same:
 *
 *    0 u32 bytes       payload that follows the header
 *    4 u32 id          of a request; its reply carries the same
 *    8 u16 kind        see wire_kind
 *   10 i16 status      REPLY: 0 or the error; REQUEST: the verb
 *   12 u32 stage       REQUEST, SPOILT, LEFT: the proxy from which it comes, by
 *                      its rank among the names of all nodes; GONE: the host
 *   16 u32 thread      REQUEST: number of the thread
 *   20 u32 sequence    REQUEST: its operation number
 *   24 u64 index       as in pastset_request, in and out
 *   32 u64 lost        REPLY: tuples gone; REQUEST: fields of the pattern
 *   40 u32 timeout_ms  REQUEST: 0 do not wait, UINT32_MAX no deadline
 *   44 u32 room        REQUEST: for the tuple; SPOILT: the error's number
 *
 * Payload: REQUEST write, exchange: the tuple; with a pattern: its values.
 * REPLY: the tuple, or the text of the error. HELLO: msgpack. FAILED, SPOILT,
 * LEFT, GONE: a text; with GONE, the name of the host before it. */
#ifndef PATHS_WIRE_INTERNAL_H
#define PATHS_WIRE_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define WIRE_TEXT_BYTES 1024 /* longest text of an error */
#define WIRE_HELLO_BYTES 512 /* longest HELLO */
#define WIRE_FOREVER UINT32_MAX

typedef enum wire_kind {
    WIRE_HELLO = 1, /* first frame of whoever connected */
    WIRE_WELCOME,   /* its answer */
    WIRE_REQUEST,
    WIRE_REPLY,
    WIRE_DONE,   /* member to coordinator: its threads have ended */
    WIRE_END,    /* coordinator to members: all threads have ended */
    WIRE_FAILED, /* the sender's host, or one it knows of, has failed */
    WIRE_SPOILT, /* a request that brings an error to a collective */
    WIRE_LEFT,   /* nobody contributes any more by the way of this proxy */
    WIRE_GONE,   /* coordinator to members: a host has died */
    WIRE_KINDS,
} wire_kind;

typedef struct wire_header {
    uint32_t bytes;
    uint32_t id;
    uint16_t kind;
    int16_t status;
    uint32_t stage;
    uint32_t thread;
    uint32_t sequence;
    uint64_t index;
    uint64_t lost;
    uint32_t timeout_ms;
    uint32_t room;
} wire_header;

_Static_assert(sizeof(wire_header) == 48, "no padding on the wire");

/* What a HELLO says. */
enum { ROLE_THREAD = 1, ROLE_LOOP, ROLE_MEMBER };

typedef struct wire_hello {
    uint16_t role;
    uint64_t digest; /* of the map */
    char host[128];  /* who speaks */
} wire_hello;

/* Encodes into `buffer`; returns the length, 0 when it does not fit. */
size_t wire_hello_encode(const wire_hello *hello, unsigned char *buffer,
                         size_t room);
/* Errors: PASTSET_EPROTO. */
int wire_hello_decode(wire_hello *out, const unsigned char *data, size_t bytes);

/* Is this a header that a peer may send now? `most` is the largest payload of
 * a request or reply. Errors: PASTSET_EPROTO. */
int wire_header_check(const wire_header *header, uint32_t most);

/* --- a connection of the loop: served, link or member --- */

struct paths_host;
typedef struct connection connection;

typedef struct connection_output {
    struct connection_output *next;
    size_t bytes, sent;
    unsigned char data[];
} connection_output;

typedef enum connection_state {
    CONNECTION_GREETING, /* the handshake; nothing is parsed */
    CONNECTION_HELLO,    /* proven; waits for HELLO */
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
    uint32_t peer;     /* host of the map, once it has said hello */
    uint64_t since_ms; /* loop time when it was accepted */
    _Atomic uint32_t references;

    unsigned char challenge[32]; /* of the handshake */
    /* Input, loop only: `buffer` holds [begin, end); when a payload did not
     * fit, the rest goes straight to `target`. */
    unsigned char *buffer;
    size_t begin, end;
    wire_header header;
    bool in_payload;
    unsigned char *target;
    size_t filled;
    void *request; /* the operation that the payload belongs to */
    unsigned char small[WIRE_TEXT_BYTES]; /* payloads of control frames */

    /* Output; any thread, under `lock`. */
    pthread_mutex_t lock;
    connection_output *out, *out_last;
    bool broken; /* nothing can be sent any more */
    bool flush_queued;
    connection *flush_next;
};

/* Takes the socket over and begins to watch it. Loop only. */
int connection_open(connection **out, struct paths_host *host, int fd,
                    connection_state state);
void connection_ref(connection *c);
void connection_unref(connection *c);
/* Closes it; `why` is told to member.c when it was open. Loop only. */
void connection_close(connection *c, const char *why);
/* Sends header and payload whole, now or as the socket takes them. Any
 * thread. Errors: PASTSET_EHOST, PASTSET_ENOMEM. */
int connection_send(connection *c, const wire_header *header,
                    const void *payload);
/* The loop: sends what others have queued. */
void connection_flush_all(struct paths_host *host);

/* What serve.c does with frames. `payload_at` gives the place for a payload
 * (NULL: refuse, close), `frame` is called when all of it is there. */
unsigned char *paths__serve_payload_at(connection *c);
void paths__serve_frame(connection *c);
/* It closes: the operation whose payload will not come, if there is one. */
void paths__serve_abandon(connection *c);

/* --- handshake.c --- */

/* Three passes as in ISO/IEC 9798-4 (mutual authentication by a message
 * authentication code), with libsodium's crypto_auth:
 *
 *   server -> client  "EVSP" version(4) challenge_s(32)
 *   client -> server  challenge_c(32) auth(key, "c" challenge_s challenge_c)
 *   server -> client  auth(key, "s" challenge_c challenge_s)
 *
 * Each pass has one length, so nothing has to be parsed. */
#define GREETING_BYTES 40
#define PROOF_BYTES 64
#define ANSWER_BYTES 32

void handshake_greet(unsigned char greeting[GREETING_BYTES],
                     unsigned char challenge[32]);
/* Client: makes the proof. Errors: PASTSET_EPROTO (not one of us). */
int handshake_prove(const uint8_t key[32],
                    const unsigned char greeting[GREETING_BYTES],
                    unsigned char challenge[32],
                    unsigned char proof[PROOF_BYTES]);
/* Server: checks the proof and makes the answer. Errors: PASTSET_EAUTH. */
int handshake_check(const uint8_t key[32], const unsigned char challenge[32],
                    const unsigned char proof[PROOF_BYTES],
                    unsigned char answer[ANSWER_BYTES]);
/* Client: checks the answer. Errors: PASTSET_EAUTH. */
int handshake_confirm(const uint8_t key[32],
                      const unsigned char greeting[GREETING_BYTES],
                      const unsigned char challenge[32],
                      const unsigned char answer[ANSWER_BYTES]);

#endif
