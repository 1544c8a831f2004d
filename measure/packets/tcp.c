/* tcp.c - follows TCP streams: which packets belong together.
 *
 * A flow is what goes on between two ends (address and port); it is found by a
 * hash table, and has one stream after another: a port may be used again. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "measure/packets/packets_internal.h"
#include "pastset/array.h"
#include "pastset/status.h"

#define LATE_MAX (1 << 24) /* bytes around the end of a stream */

measure_tcp *measure_tcp_create(void)
{
    return calloc(1, sizeof(measure_tcp));
}

static void flow_destroy(flow *f)
{
    free(f->sides[0].waiting);
    free(f->sides[1].waiting);
    free(f);
}

void measure_tcp_destroy(measure_tcp *tcp)
{
    flow *f, *next;

    if (!tcp)
        return;
    HASH_ITER(hh, tcp->flows, f, next)
    {
        HASH_DEL(tcp->flows, f);
        flow_destroy(f);
    }
    free(tcp->result.streams);
    free(tcp->result.messages);
    free(tcp);
}

/* --- flows --- */

/* The ends of a packet in one order for both directions; gives which of the
 * sides sent it. */
static unsigned name_ends(ends *of, const packet *p)
{
    int order = memcmp(p->from, p->to, 16);
    bool swap = order > 0 || (order == 0 && p->from_port > p->to_port);

    memcpy(of->low, swap ? p->to : p->from, 16);
    memcpy(of->high, swap ? p->from : p->to, 16);
    of->low_port = swap ? p->to_port : p->from_port;
    of->high_port = swap ? p->from_port : p->to_port;
    of->ipv6 = p->ipv6;
    return swap;
}

/* NULL: no memory. */
static flow *add_flow(measure_tcp *tcp, const ends *of)
{
    flow *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->ends = *of;
    HASH_ADD(hh, tcp->flows, ends, sizeof(f->ends), f);
    if (f->hh.tbl)
        return f;
    flow_destroy(f);
    return NULL;
}

static int begin_stream(measure_tcp *tcp, flow *f, uint32_t a);

/* Side `s` sent the first packet: who connected? If that was not seen, `s`. */
static unsigned who_connected(const packet *p, unsigned s)
{
    return (p->flags & PACKET_SYN) && (p->flags & PACKET_ACK) ? !s : s;
}

static int find_flow(flow **out, unsigned *s, measure_tcp *tcp, const packet *p)
{
    ends of;

    *s = name_ends(&of, p);
    HASH_FIND(hh, tcp->flows, &of, sizeof(of), *out);
    if (*out)
        return 0;
    *out = add_flow(tcp, &of);
    if (!*out)
        return pastset_no_memory("for %u streams", HASH_COUNT(tcp->flows) + 1);
    return begin_stream(tcp, *out, who_connected(p, *s));
}

/* --- streams --- */

static void name_end(measure_end *end, const flow *f, uint32_t s)
{
    inet_ntop(f->ends.ipv6 ? AF_INET6 : AF_INET, s ? f->ends.high : f->ends.low,
              end->address, sizeof(end->address));
    end->port = s ? f->ends.high_port : f->ends.low_port;
}

static int begin_stream(measure_tcp *tcp, flow *f, uint32_t a)
{
    measure_packets *result = &tcp->result;
    measure_stream *streams = pastset_array_grow(
        result->streams, result->stream_count, sizeof(*streams));

    if (!streams)
        return pastset_no_memory("for %zu streams", result->stream_count + 1);
    result->streams = streams;
    f->stream = (uint32_t)result->stream_count++;
    f->a = a;
    f->reset = false;
    memset(&streams[f->stream], 0, sizeof(*streams));
    name_end(&streams[f->stream].a, f, a);
    name_end(&streams[f->stream].b, f, !a);
    for (int s = 0; s < 2; s++) {
        waiting *kept = f->sides[s].waiting;

        memset(&f->sides[s], 0, sizeof(f->sides[s]));
        f->sides[s].scale = -1;
        f->sides[s].waiting = kept;
    }
    return 0;
}

/* --- packets --- */

/* Is it of another stream than the one that is under way? */
static bool is_new(const flow *f, unsigned s, const packet *p)
{
    const side *from = &f->sides[s];
    int32_t ahead = (int32_t)(p->sequence - from->next);

    if (p->flags & PACKET_SYN) {
        if (!from->begun)
            return f->reset;
        return !from->first_known || from->first != p->sequence;
    }
    if (!p->payload)
        return false;
    /* Over: what comes late lies near. */
    if (f->reset || (f->sides[0].ended && f->sides[1].ended))
        return !from->begun || ahead > LATE_MAX || ahead < -LATE_MAX;
    return from->begun && (ahead > WINDOW_MAX || ahead < -WINDOW_MAX);
}

static int close_flow(measure_tcp *tcp, flow *f)
{
    int err = 0;

    for (unsigned s = 0; s < 2; s++) {
        while (!err && f->sides[s].waiting_count)
            err = measure__give_up(tcp, f, s);
        if (!err)
            err = measure__message_close(tcp, f, s);
    }
    return err;
}

static void begin_side(side *from, const packet *p)
{
    if (p->flags & PACKET_SYN) {
        from->first = p->sequence;
        from->first_known = true;
        from->mss = p->mss;
        from->scale = p->scale;
    } else
        from->guessed = !p->payload;
    from->next = p->sequence + ((p->flags & PACKET_SYN) != 0);
    from->begun = true;
}

static int take_packet(measure_tcp *tcp, const packet *p)
{
    flow *f = NULL;
    unsigned s;
    int err = find_flow(&f, &s, tcp, p);

    if (!err && is_new(f, s, p)) {
        err = close_flow(tcp, f);
        if (!err)
            err = begin_stream(tcp, f, who_connected(p, s));
    }
    if (err)
        return err;
    if (p->flags & PACKET_RST) {
        f->reset = true;
        return close_flow(tcp, f);
    }
    if (!f->sides[s].begun)
        begin_side(&f->sides[s], p);
    if (p->flags & PACKET_ACK)
        err = measure__acknowledge(tcp, f, !s, p);
    if (err)
        return err;
    measure__learn_window(f, !s, p);
    return measure__take_bytes(tcp, f, s, p);
}

int measure_tcp_frame(measure_tcp *tcp, int link, int64_t at_ns,
                      const uint8_t *bytes, size_t count, size_t length)
{
    packet p;

    if (tcp->over)
        return pastset_fail(PASTSET_EINVAL,
                            "the capture has ended: no frame can be added");
    if (!measure__packet_parse(&p, link, bytes, count, length)) {
        tcp->result.not_tcp++;
        return 0;
    }
    tcp->result.packets++;
    p.at_ns = at_ns;
    return take_packet(tcp, &p);
}

/* --- the result --- */

static int by_time(const void *x, const void *y)
{
    const measure_packet_message *p = x, *q = y;

    if (p->from_ns != q->from_ns)
        return p->from_ns < q->from_ns ? -1 : 1;
    if (p->to_ns != q->to_ns)
        return p->to_ns < q->to_ns ? -1 : 1;
    if (p->stream != q->stream)
        return p->stream < q->stream ? -1 : 1;
    return p->back - q->back;
}

void measure__set_dropped(measure_tcp *tcp, uint64_t dropped)
{
    tcp->result.dropped = dropped;
}

int measure_tcp_end(measure_tcp *tcp, const measure_packets **out)
{
    int err = 0;

    for (flow *f = tcp->flows; !err && !tcp->over && f; f = f->hh.next)
        err = close_flow(tcp, f);
    if (err)
        return err;
    if (!tcp->over && tcp->result.message_count)
        qsort(tcp->result.messages, tcp->result.message_count,
              sizeof(*tcp->result.messages), by_time);
    tcp->over = true;
    *out = &tcp->result;
    return 0;
}
