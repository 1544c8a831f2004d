/* tcp.c - follows TCP streams: which packets belong together.
 *
 * A flow is what goes on between two ends (address and port); it is found by a
 * hash table, and has one stream after another: a port may be used again. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "measure/packets/packets_internal.h"
#include "pastset/status.h"

#define LATE_MAX (1 << 24) /* bytes around the end of a stream */

void *measure__grow(void *items, size_t *capacity, size_t count, size_t bytes)
{
    size_t more = *capacity ? *capacity * 2 : 64;
    void *grown;

    if (count < *capacity)
        return items;
    grown = realloc(items, more * bytes);
    if (grown)
        *capacity = more;
    return grown;
}

measure_tcp *measure_tcp_create(void)
{
    return calloc(1, sizeof(measure_tcp));
}

void measure_tcp_free(measure_tcp *tcp)
{
    if (!tcp)
        return;
    for (size_t i = 0; i < tcp->flow_count; i++) {
        free(tcp->flows[i].sides[0].waiting);
        free(tcp->flows[i].sides[1].waiting);
    }
    free(tcp->flows);
    free(tcp->table);
    free(tcp->result.streams);
    free(tcp->result.messages);
    free(tcp);
}

/* --- flows --- */

static size_t hash_flow(const flow *f)
{
    uint64_t h = (uint64_t)f->low_port << 16 | f->high_port;
    uint64_t words[4];

    memcpy(words, f->low, 16);
    memcpy(words + 2, f->high, 16);
    for (int i = 0; i < 4; i++)
        h = (h ^ words[i]) * 0x9e3779b97f4a7c15u;
    return (size_t)(h ^ h >> 29);
}

static bool same_flow(const flow *x, const flow *y)
{
    return x->low_port == y->low_port && x->high_port == y->high_port &&
           x->ipv6 == y->ipv6 && memcmp(x->low, y->low, 16) == 0 &&
           memcmp(x->high, y->high, 16) == 0;
}

/* The ends of a packet in one order for both directions; gives which of the
 * sides sent it. */
static unsigned name_flow(flow *f, const packet *p)
{
    int order = memcmp(p->from, p->to, 16);
    bool swap = order > 0 || (order == 0 && p->from_port > p->to_port);

    memset(f, 0, sizeof(*f));
    memcpy(f->low, swap ? p->to : p->from, 16);
    memcpy(f->high, swap ? p->from : p->to, 16);
    f->low_port = swap ? p->to_port : p->from_port;
    f->high_port = swap ? p->from_port : p->to_port;
    f->ipv6 = p->ipv6;
    return swap;
}

static void put_in_table(measure_tcp *tcp, size_t index)
{
    uint32_t *slot =
        &tcp->table[hash_flow(&tcp->flows[index]) & (tcp->table_size - 1)];

    tcp->flows[index].next = *slot;
    *slot = (uint32_t)index + 1;
}

static int grow_table(measure_tcp *tcp)
{
    size_t size = tcp->table_size ? tcp->table_size * 2 : 256;
    uint32_t *table = calloc(size, sizeof(*table));

    if (!table)
        return pastset_fail(PASTSET_ENOMEM, "no memory for %zu streams", size);
    free(tcp->table);
    tcp->table = table;
    tcp->table_size = size;
    for (size_t i = 0; i < tcp->flow_count; i++)
        put_in_table(tcp, i);
    return 0;
}

static int begin_stream(measure_tcp *tcp, flow *f, uint32_t a);

/* Side `s` sent the first packet: who connected? If that was not seen, `s`. */
static unsigned who_connected(const packet *p, unsigned s)
{
    return (p->flags & PACKET_SYN) && (p->flags & PACKET_ACK) ? !s : s;
}

static int find_flow(flow **out, unsigned *s, measure_tcp *tcp, const packet *p)
{
    flow name, *flows;
    uint32_t at;

    *s = name_flow(&name, p);
    at = tcp->table_size ? tcp->table[hash_flow(&name) & (tcp->table_size - 1)]
                         : 0;
    for (; at; at = (*out)->next) {
        *out = &tcp->flows[at - 1];
        if (same_flow(*out, &name))
            return 0;
    }
    if (tcp->flow_count >= tcp->table_size && grow_table(tcp) != 0)
        return PASTSET_ENOMEM;
    flows = measure__grow(tcp->flows, &tcp->flow_capacity, tcp->flow_count,
                          sizeof(*flows));
    if (!flows)
        return pastset_fail(PASTSET_ENOMEM, "no memory for %zu streams",
                            tcp->flow_count + 1);
    tcp->flows = flows;
    *out = &flows[tcp->flow_count];
    **out = name;
    put_in_table(tcp, tcp->flow_count++);
    return begin_stream(tcp, *out, who_connected(p, *s));
}

/* --- streams --- */

static void name_end(measure_end *end, const flow *f, uint32_t s)
{
    inet_ntop(f->ipv6 ? AF_INET6 : AF_INET, s ? f->high : f->low, end->address,
              sizeof(end->address));
    end->port = s ? f->high_port : f->low_port;
}

static int begin_stream(measure_tcp *tcp, flow *f, uint32_t a)
{
    measure_packets *result = &tcp->result;
    measure_stream *streams =
        measure__grow(result->streams, &tcp->stream_capacity,
                      result->stream_count, sizeof(*streams));

    if (!streams)
        return pastset_fail(PASTSET_ENOMEM, "no memory for %zu streams",
                            result->stream_count + 1);
    result->streams = streams;
    f->stream = (uint32_t)result->stream_count++;
    f->a = a;
    f->reset = false;
    memset(&streams[f->stream], 0, sizeof(*streams));
    name_end(&streams[f->stream].a, f, a);
    name_end(&streams[f->stream].b, f, !a);
    for (int s = 0; s < 2; s++) {
        waiting *kept = f->sides[s].waiting;
        size_t capacity = f->sides[s].waiting_capacity;

        memset(&f->sides[s], 0, sizeof(f->sides[s]));
        f->sides[s].scale = -1;
        f->sides[s].waiting = kept;
        f->sides[s].waiting_capacity = capacity;
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

    for (size_t i = 0; !err && !tcp->over && i < tcp->flow_count; i++)
        err = close_flow(tcp, &tcp->flows[i]);
    if (err)
        return err;
    if (!tcp->over && tcp->result.message_count)
        qsort(tcp->result.messages, tcp->result.message_count,
              sizeof(*tcp->result.messages), by_time);
    tcp->over = true;
    *out = &tcp->result;
    return 0;
}
