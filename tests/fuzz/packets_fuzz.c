/* packets_fuzz.c - any bytes as frames of any link. Whatever they claim, what
 * is found adds up: messages have bytes, belong to streams and stand by time,
 * and there are no more bytes in them than frames and gaps could bring.
 *
 * The input is a sequence of frames: a byte that chooses the link, one for how
 * long the frame was on the wire beyond what is there, one for the time that
 * passed, one with the length; then the bytes of the frame. */
#include <pcap/dlt.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure/packets/packets.h"
#include "pastset/status.h"
#include "measure/packets/tcp_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s (%s)\n", what, pastset_error());
    abort();
}

static void check(const measure_packets *found, uint64_t frames, uint64_t max)
{
    uint64_t bytes = 0, gaps = 0;

    must(found->packets + found->not_tcp == frames, "each frame is counted");
    for (size_t i = 0; i < found->stream_count; i++) {
        must(found->streams[i].a.address[0] && found->streams[i].b.address[0],
             "ends have addresses");
        gaps += found->streams[i].gaps;
    }
    for (size_t i = 0; i < found->message_count; i++) {
        const measure_packet_message *m = &found->messages[i];
        must(m->bytes > 0, "messages have bytes");
        must(m->stream < found->stream_count, "messages belong to streams");
        must(m->from_ns <= m->to_ns, "messages end after they began");
        must(!i || found->messages[i - 1].from_ns <= m->from_ns,
             "messages stand by time");
        bytes += m->bytes;
    }
    must(bytes <= max + gaps, "messages are of what was sent");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const int links[] = {DLT_EN10MB,     DLT_RAW,  DLT_LINUX_SLL,
                                DLT_LINUX_SLL2, DLT_NULL, DLT_LOOP,
                                DLT_IPV4,       DLT_IPV6};
    measure_tcp *tcp = measure_tcp_create();
    const measure_packets *found;
    uint64_t frames = 0, max = 0;
    int64_t now = 0;

    must(tcp, "there is memory");
    while (bytes >= 4) {
        size_t count = data[3] < bytes - 4 ? data[3] : bytes - 4;
        size_t length = count + (size_t)data[1] * data[1];
        now += data[2] * 1000;
        must(measure_tcp_frame(tcp, links[data[0] % 8], now, data + 4, count,
                               length) == 0,
             "frames are taken or passed over");
        frames++;
        max += length;
        data += 4 + count;
        bytes -= 4 + count;
    }
    must(measure_tcp_end(tcp, &found) == 0, "it ends");
    check(found, frames, max);
    measure_tcp_destroy(tcp);
    return 0;
}
