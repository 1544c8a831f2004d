/* packets_internal.h - from a frame to a message: what the files that do it
 * tell each other.
 *
 *   packet_parse.c   one frame: its link, IP and TCP headers
 *   tcp.c            streams: which packets belong together
 *   tcp_bytes.c      which bytes are new, in which order
 *   tcp_messages.c   which of them were sent in one piece
 *   packets.c        where frames come from (libpcap) */
#ifndef MEASURE_PACKETS_INTERNAL_H
#define MEASURE_PACKETS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "measure/packets/tcp_internal.h"

enum {
    PACKET_FIN = 0x01,
    PACKET_SYN = 0x02,
    PACKET_RST = 0x04,
    PACKET_PSH = 0x08,
    PACKET_ACK = 0x10,
};

/* Of one TCP packet. */
typedef struct packet {
    int64_t at_ns;
    uint8_t from[16], to[16]; /* the first 4 bytes for IPv4 */
    uint16_t from_port, to_port;
    bool ipv6;
    uint8_t flags;
    uint8_t option_bytes;
    int8_t scale; /* SYN: of its windows; -1: none is told */
    uint16_t mss; /* SYN: 0: none is told */
    uint16_t window;
    uint32_t sequence, acknowledged;
    uint32_t payload; /* bytes */
} packet;

/* Is this a link-layer header type that measure__packet_parse knows? */
bool measure__packet_link_known(int link);
/* False: not TCP, a fragment, or damaged. */
bool measure__packet_parse(packet *out, int link, const uint8_t *bytes,
                           size_t count, size_t length);

/* A packet whose turn has not come, as bytes before it are missing. */
typedef struct waiting {
    int64_t at_ns;
    uint32_t sequence, payload;
    uint8_t flags, option_bytes;
} waiting;

/* What one end of a stream sends. */
typedef struct side {
    /* tcp_bytes.c */
    bool begun, ended, first_known;
    bool guessed; /* `next` is of a packet without bytes: it was one less if
                     that asked only whether somebody is there */
    uint32_t first, next; /* sequence numbers: of its SYN; expected now */
    waiting *waiting;     /* by sequence number */
    size_t waiting_count;

    /* What it told about what it takes. */
    uint16_t mss;
    int8_t scale; /* -1: not known */

    /* What the other end told of what came. */
    bool acknowledged_known, window_known;
    uint32_t acknowledged;   /* up to which sequence number it has come */
    uint32_t window_end;     /* up to which it may be sent */
    uint32_t first_window;   /* 0: none was seen */
    uint32_t max_window;     /* largest */
    int64_t acknowledged_ns; /* when it told that */

    /* tcp_messages.c: the message that is under way, if it has bytes. */
    measure_packet_message open;
    int64_t last_ns;   /* when the one before it began */
    bool doubtful;     /* may have ended with its last packet */
    bool pushed;       /* its last packet was marked */
    bool likely;       /* and was not full: it goes on only if a full one
                          follows */
    uint32_t unmarked; /* longest packet that was not marked */
    double spacing_ns; /* mean time between packets of a message */
} side;

/* The two ends of a flow. Without padding, as it is a key. */
typedef struct ends {
    uint8_t low[16], high[16];
    uint16_t low_port, high_port;
    uint16_t ipv6;
} ends;

typedef struct flow {
    ends ends;
    side sides[2];   /* sent by low, by high */
    uint32_t stream; /* index of the result */
    uint32_t a;      /* which of the sides is `a` */
    bool reset;
    UT_hash_handle hh;
} flow;

struct measure_tcp {
    measure_packets result;
    flow *flows; /* by their ends, in the order in which they began */
    bool over;
};

/* What the kernel counted. */
void measure__set_dropped(measure_tcp *tcp, uint64_t dropped);

/* --- tcp_bytes.c; errors: PASTSET_ENOMEM --- */

#define WINDOW_MAX (1 << 30) /* RFC 7323: no window is larger */

/* What a packet of side `s` brings. */
int measure__take_bytes(measure_tcp *tcp, flow *f, unsigned s, const packet *p);
/* The other end has what `s` sent up to there, whether it was seen or not. */
int measure__acknowledge(measure_tcp *tcp, flow *f, unsigned s,
                         const packet *p);
/* What the packet tells of what its sender takes; side `s` sends to it. */
void measure__learn_window(flow *f, unsigned s, const packet *p);
/* Does not wait any longer for what is before the first that waits. */
int measure__give_up(measure_tcp *tcp, flow *f, unsigned s);

/* --- tcp_messages.c --- */

/* Bytes that side `s` sent, each once and in order. `seen` is false for a gap:
 * the other end has them, but the capture has not. Errors: PASTSET_ENOMEM. */
int measure__message_add(measure_tcp *tcp, flow *f, unsigned s,
                         const waiting *part, uint32_t fresh, bool seen);
/* The message that is under way has ended. */
int measure__message_close(measure_tcp *tcp, flow *f, unsigned s);

#endif
