/* connection_internal.h - a connection of the loop: served, link or member. */
#ifndef PATHS_CONNECTION_INTERNAL_H
#define PATHS_CONNECTION_INTERNAL_H

#include "paths/engine/process_internal.h"
#include "paths/net/channel_internal.h"
#include "paths/net/handshake_internal.h"
#include "paths/net/wire_internal.h"

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
    paths_process *process;
    connection *next, *previous; /* of the process; loop only */
    channel channel;
    connection_state state; /* loop only */
    uint16_t role;
    bool outgoing;     /* this side connected */
    uint32_t peer;     /* process of the map, once it is open */
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

/* What is done with what comes. The process sets it; loop only. */
struct connection_handler {
    /* There is something to read from one that is not open. */
    void (*greeting)(connection *c);
    /* Its header has come: the place for the payload (NULL: refuse, close). */
    unsigned char *(*payload_at)(connection *c);
    /* All of it is there. */
    void (*frame)(connection *c);
    /* What has come was changed on the way: it is going to be closed. */
    void (*broken)(connection *c);
    /* It has closed; `open`: it had been open until now. */
    void (*closed)(connection *c, bool open, const char *why);
};

/* Takes the channel over and begins to watch it. Loop only. */
int paths__connection_open(connection **out, paths_process *process,
                           channel over, connection_state state);
void paths__connection_ref(connection *c);
void paths__connection_unref(connection *c);
/* Closes it, and tells the handler `why`. Loop only. */
void paths__connection_close(connection *c, const char *why);
/* Sends header and payload whole, now or as the socket takes them. Any
 * thread. Errors: PASTSET_EHOST, PASTSET_ENOMEM. */
int paths__connection_send(connection *c, const wire_header *header,
                           const void *payload);
/* The loop: sends what others have queued. */
void paths__connection_flush_all(paths_process *process);

#endif
