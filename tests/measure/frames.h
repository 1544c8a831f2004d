/* frames.h - frames made by hand, for the tests of messages from packets.
 *
 * Two ends talk: a is 10.0.0.1:1000 (or fd00::1), b is 10.0.0.2:2000. Only
 * headers are made, as a capture cuts them. */
#ifndef TESTS_MEASURE_FRAMES_H
#define TESTS_MEASURE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/packets/packets.h"
#include "measure/packets/tcp_internal.h"

#define FRAME_CAPACITY 256

enum { FIN = 0x01, SYN = 0x02, RST = 0x04, PSH = 0x08, ACK = 0x10 };
enum { A = 0, B = 1 }; /* who sends */

typedef struct segment {
    int link; /* DLT_ */
    unsigned from;
    bool ipv6;
    unsigned vlans;      /* tags of Ethernet */
    unsigned ip_options; /* bytes of IPv4, a multiple of 4 */
    unsigned extensions; /* headers of IPv6 of 8 bytes */
    uint16_t fragment;   /* the field of IPv4, or of a fragment header */
    bool length_untold;  /* the IP length is 0 */
    unsigned padding;    /* behind the packet */
    uint16_t from_port, to_port; /* 0: the usual */
    uint32_t sequence, acknowledged;
    uint8_t flags;
    uint16_t window;
    uint16_t mss;    /* option; 0: none */
    int scale;       /* option; -1: none */
    bool timestamps; /* option, 12 bytes */
    uint32_t payload;
} segment;

/* Gives the bytes of the headers; `length` gets that of the whole frame. */
size_t frame_make(uint8_t out[FRAME_CAPACITY], const segment *s,
                  size_t *length);

/* A conversation: what is sent is told to `tcp` as Ethernet frames. */
typedef struct talk {
    measure_tcp *tcp;
    int64_t now_ns;
    uint32_t next[2]; /* sequence numbers */
    uint16_t ports[2];
    bool ipv6;
    uint16_t mss;
    uint16_t window[2];
} talk;

/* Nothing is sent yet. Each thing that is sent takes 10 us. */
void talk_begin(talk *t);
void talk_wait(talk *t, int64_t ns);
/* The three packets of a connection, from A; the sequence numbers begin here,
 * SYN included. */
void talk_connect(talk *t, uint32_t first_a, uint32_t first_b);
/* `bytes` from one end, in order; PSH tells the flags (ACK is there). */
void talk_send(talk *t, unsigned from, uint32_t bytes, uint8_t flags);
/* The same anywhere in the stream: `at` is relative to what was sent so far.
 * Does not count as sent. */
void talk_send_at(talk *t, unsigned from, int32_t at, uint32_t bytes,
                  uint8_t flags);
/* `from` acknowledges all that the other sent. */
void talk_acknowledge(talk *t, unsigned from);
/* As if it had been sent, but the capture missed it. */
void talk_miss(talk *t, unsigned from, uint32_t bytes);

/* Ends the capture; borrowed until talk_end. */
const measure_packets *talk_result(talk *t);
/* Ends it too; the messages have to be these: "a100 b20" if a sent 100 bytes
 * and b then 20, of all streams by time. */
void talk_check(talk *t, const char *want);
void talk_end(talk *t);

#endif
