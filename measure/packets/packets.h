/* packets.h - the messages of programs, from the packets between them.
 *
 * Papers 000 (3.1) and 001 (2): traffic is watched as tcpdump does, and what
 * the application sent is put together again.
 *
 * A TCP stream is followed in both directions by its sequence numbers:
 * retransmissions are dropped, packets out of order wait for those before.
 * A message is what went in one direction up to the end of one of the sender's
 * calls, which the kernel marks (PSH). Marks on full packets, and some others,
 * may stand within a call as well; then it has ended if the other end begins
 * to send, or after a pause that is long for the stream. tcp_messages.c tells
 * more, and docs/prediction.md how often this is right.
 *
 * What was written in one piece after another without waiting, the kernel may
 * put together on a slow link: such messages are found as one.
 *
 * Threads:   one thread per capture.
 * Ownership: open gives, close takes back. */
#ifndef MEASURE_PACKETS_H
#define MEASURE_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct measure_end {
    char address[46]; /* as text */
    uint16_t port;
} measure_end;

typedef struct measure_stream {
    measure_end a, b; /* a: who connected, or who was seen first */
    uint64_t gaps;    /* bytes that were not seen; they count in messages */
} measure_stream;

typedef struct measure_packet_message {
    int64_t from_ns, to_ns; /* first and last packet; wall clock (REALTIME) */
    uint64_t bytes;
    uint32_t stream;
    uint32_t packets;
    bool back; /* from b to a */
} measure_packet_message;

typedef struct measure_packets {
    measure_stream *streams;
    size_t stream_count;
    measure_packet_message *messages; /* by from_ns */
    size_t message_count;
    uint64_t packets, dropped; /* taken; missed, as the kernel counted */
    uint64_t not_tcp;          /* of the interface, passed over */
} measure_packets;

typedef struct measure_capture measure_capture;

/* Begins to capture on an interface ("lo") of this network namespace. `filter`
 * is an expression of pcap-filter(7), NULL: "tcp".
 * Errors: PASTSET_ENOTSUP: no right to (the text says which: CAP_NET_RAW, and
 * what works without); PASTSET_ENOENT: no such interface; PASTSET_EINVAL. */
int measure_capture_open(measure_capture **out, const char *interface,
                         const char *filter);
/* A file that tcpdump wrote. Errors: PASTSET_EIO, PASTSET_EFORMAT. */
int measure_capture_read(measure_capture **out, const char *file,
                         const char *filter);
/* Readable when packets are there; -1 for files. */
int measure_capture_fd(const measure_capture *capture);
/* Takes what is there without waiting; to be called some times a second, lest
 * the kernel has to drop packets. Errors: PASTSET_EIO, PASTSET_ENOMEM. */
int measure_capture_step(measure_capture *capture);
/* Ends it and gives what was found; the capture owns it. What came until now is
 * taken before, which may need a twentieth of a second. Also after an error
 * `out` gets what was found until then, if there is memory. */
int measure_capture_end(measure_capture *capture, const measure_packets **out);
void measure_capture_close(measure_capture *capture);

#endif
