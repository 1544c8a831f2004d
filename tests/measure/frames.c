/* frames.c - see frames.h. */
#include "tests/measure/frames.h"

#include <pcap/dlt.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/check.h"
#include "measure/packets/tcp_internal.h"

#define STEP_NS 10000

/* What is written, byte by byte; the lengths are filled in afterwards. */
typedef struct writer {
    uint8_t *bytes;
    size_t count;
} writer;

static void put8(writer *w, unsigned value)
{
    cr_assert_lt(w->count, FRAME_CAPACITY);
    w->bytes[w->count++] = (uint8_t)value;
}

static void put16(writer *w, unsigned value)
{
    put8(w, value >> 8);
    put8(w, value & 255);
}

static void put32(writer *w, uint32_t value)
{
    put16(w, value >> 16);
    put16(w, value & 0xffff);
}

static void put_many(writer *w, unsigned value, size_t count)
{
    while (count--)
        put8(w, value);
}

static void set16(writer *w, size_t at, size_t value)
{
    w->bytes[at] = (uint8_t)(value >> 8);
    w->bytes[at + 1] = (uint8_t)value;
}

static void put_link(writer *w, const segment *s)
{
    unsigned type = s->ipv6 ? 0x86dd : 0x0800;

    switch (s->link) {
    case DLT_EN10MB:
        put_many(w, 0x02, 12);
        for (unsigned i = 0; i < s->vlans; i++) {
            put16(w, i ? 0x8100 : 0x88a8);
            put16(w, 7);
        }
        put16(w, type);
        break;
    case DLT_LINUX_SLL:
        put_many(w, 0, 14);
        put16(w, type);
        break;
    case DLT_LINUX_SLL2:
        put16(w, type);
        put_many(w, 0, 18);
        break;
    case DLT_NULL: /* in the order of a small-endian machine */
        put8(w, s->ipv6 ? 10 : 2);
        put_many(w, 0, 3);
        break;
    case DLT_LOOP:
        put32(w, s->ipv6 ? 28 : 2);
        break;
    default:
        break;
    }
}

/* Gives where the length has to be written. */
static size_t put_ipv4(writer *w, const segment *s)
{
    size_t at = w->count + 2;

    put8(w, 0x40 | (5 + s->ip_options / 4));
    put8(w, 0);
    put16(w, 0); /* the length */
    put16(w, 1);
    put16(w, s->fragment);
    put8(w, 64);
    put8(w, 6);
    put16(w, 0);
    put32(w, 0x0a000001u + (s->from == B));
    put32(w, 0x0a000001u + (s->from == A));
    put_many(w, 1, s->ip_options);
    return at;
}

static void put_address(writer *w, unsigned last)
{
    put16(w, 0xfd00);
    put_many(w, 0, 13);
    put8(w, last);
}

static size_t put_ipv6(writer *w, const segment *s)
{
    static const uint8_t kinds[] = {0, 60, 43};
    size_t at = w->count + 4;
    unsigned last = s->fragment ? 44 : 6;

    put32(w, 0x60000000);
    put16(w, 0); /* the length */
    put8(w, s->extensions ? kinds[0] : last);
    put8(w, 64);
    put_address(w, 1 + (s->from == B));
    put_address(w, 1 + (s->from == A));
    for (unsigned i = 0; i < s->extensions; i++) {
        put8(w, i + 1 < s->extensions ? kinds[(i + 1) % 3] : last);
        put_many(w, 0, 7);
    }
    if (s->fragment) {
        put16(w, 6 << 8);
        put16(w, s->fragment);
        put32(w, 99);
    }
    return at;
}

static void put_tcp(writer *w, const segment *s)
{
    size_t start = w->count;
    uint16_t ports[2] = {s->from_port ? s->from_port : 1000,
                         s->to_port ? s->to_port : 2000};

    if (s->from == B && !s->from_port) {
        ports[0] = 2000;
        ports[1] = 1000;
    }
    put16(w, ports[0]);
    put16(w, ports[1]);
    put32(w, s->sequence);
    put32(w, s->acknowledged);
    put8(w, 0); /* the length */
    put8(w, s->flags);
    put16(w, s->window);
    put32(w, 0);
    if (s->mss) {
        put16(w, 0x0204);
        put16(w, s->mss);
    }
    if (s->scale >= 0) {
        put32(w, 0x01030300u | (unsigned)s->scale);
    }
    if (s->timestamps) {
        put32(w, 0x0101080a);
        put_many(w, 0, 8);
    }
    w->bytes[start + 12] = (uint8_t)((w->count - start) / 4 << 4);
}

size_t frame_make(uint8_t out[FRAME_CAPACITY], const segment *s, size_t *length)
{
    writer w = {out, 0};
    size_t network, told, at;

    put_link(&w, s);
    network = w.count;
    at = s->ipv6 ? put_ipv6(&w, s) : put_ipv4(&w, s);
    put_tcp(&w, s);
    told = w.count - network + s->payload - (s->ipv6 ? 40 : 0);
    set16(&w, at, s->length_untold ? 0 : told);
    *length = w.count + s->payload + s->padding;
    return w.count;
}

/* --- a conversation --- */

void talk_begin(talk *t)
{
    *t = (talk){.tcp = measure_tcp_create(),
                .now_ns = 1700000000000000000,
                .ports = {1000, 2000},
                .mss = 1460,
                .window = {64000, 64000}};
    cr_assert_not_null(t->tcp);
}

void talk_wait(talk *t, int64_t ns)
{
    t->now_ns += ns;
}

static void tell(talk *t, unsigned from, uint32_t sequence, uint32_t bytes,
                 uint8_t flags)
{
    uint8_t frame[FRAME_CAPACITY];
    size_t length, count;
    segment s = {.link = DLT_EN10MB,
                 .from = from,
                 .ipv6 = t->ipv6,
                 .from_port = t->ports[from],
                 .to_port = t->ports[!from],
                 .sequence = sequence,
                 .acknowledged = flags & ACK ? t->next[!from] : 0,
                 .flags = flags,
                 .window = t->window[from],
                 .mss = flags & SYN ? t->mss : 0,
                 .scale = -1,
                 .payload = bytes};

    count = frame_make(frame, &s, &length);
    t->now_ns += STEP_NS;
    check_status(
        measure_tcp_frame(t->tcp, DLT_EN10MB, t->now_ns, frame, count, length),
        0);
}

void talk_connect(talk *t, uint32_t first_a, uint32_t first_b)
{
    t->next[A] = first_a;
    tell(t, A, t->next[A]++, 0, SYN);
    t->next[B] = first_b;
    tell(t, B, t->next[B]++, 0, SYN | ACK);
    tell(t, A, t->next[A], 0, ACK);
}

void talk_send(talk *t, unsigned from, uint32_t bytes, uint8_t flags)
{
    uint32_t at = t->next[from];

    t->next[from] += bytes + ((flags & FIN) != 0);
    tell(t, from, at, bytes, flags | ACK);
}

void talk_send_at(talk *t, unsigned from, int32_t at, uint32_t bytes,
                  uint8_t flags)
{
    tell(t, from, t->next[from] + (uint32_t)at, bytes,
         flags == SYN ? SYN : flags | ACK);
}

void talk_acknowledge(talk *t, unsigned from)
{
    tell(t, from, t->next[from], 0, ACK);
}

void talk_miss(talk *t, unsigned from, uint32_t bytes)
{
    t->next[from] += bytes;
}

const measure_packets *talk_result(talk *t)
{
    const measure_packets *found;

    check_status(measure_tcp_end(t->tcp, &found), 0);
    return found;
}

/* "a100 b20": who sent how much, in order, of all streams. */
static const char *shape(const measure_packets *found)
{
    static char text[4096];
    size_t used = 0;

    text[0] = 0;
    for (size_t i = 0; i < found->message_count && used < sizeof(text) - 40;
         i++)
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "%s%c%llu",
                             i ? " " : "", found->messages[i].back ? 'b' : 'a',
                             (unsigned long long)found->messages[i].bytes);
    return text;
}

void talk_check(talk *t, const char *want)
{
    const measure_packets *found = talk_result(t);

    cr_assert_str_eq(shape(found), want, "found \"%s\", not \"%s\"",
                     shape(found), want);
}

void talk_end(talk *t)
{
    measure_tcp_destroy(t->tcp);
}
