/* tcp_bytes.c - the bytes of one side of a stream, each once and in order.
 *
 * A packet before the sequence number that is expected was sent again, and is
 * dropped as far as its bytes were there; one behind it waits. What the other
 * end acknowledges without our having seen it is a gap: the capture has missed
 * it. It counts as sent, so that a message is as long as it was. */
#include <string.h>

#include "measure/packets/packets_internal.h"
#include "pastset/array.h"
#include "pastset/status.h"

#define WAITING_MAX 1024 /* packets of one side; then it is a gap */

/* The turn of these bytes has come. */
static int take(measure_tcp *tcp, flow *f, unsigned s, const waiting *part)
{
    side *from = &f->sides[s];
    uint32_t end = part->sequence + part->payload;
    uint32_t fresh = end - from->next;
    int err = 0;

    if ((int32_t)fresh > 0) {
        from->next = end;
        err = measure__message_add(tcp, f, s, part, fresh, true);
    }
    if (!err && (part->flags & PACKET_FIN) && !from->ended &&
        end == from->next) {
        from->ended = true;
        from->next++;
        err = measure__message_close(tcp, f, s);
    }
    return err;
}

/* The capture has missed what is before `sequence`. */
static int miss(measure_tcp *tcp, flow *f, unsigned s, uint32_t sequence,
                int64_t at_ns)
{
    side *from = &f->sides[s];
    waiting part = {.at_ns = at_ns};
    uint32_t missed = sequence - from->next;

    tcp->result.streams[f->stream].gaps += missed;
    from->next = sequence;
    return measure__message_add(tcp, f, s, &part, missed, false);
}

/* Those whose turn has come. */
static int drain(measure_tcp *tcp, flow *f, unsigned s)
{
    side *from = &f->sides[s];
    size_t taken = 0;
    int err = 0;

    while (!err && taken < from->waiting_count &&
           (int32_t)(from->waiting[taken].sequence - from->next) <= 0)
        err = take(tcp, f, s, &from->waiting[taken++]);
    if (taken) {
        from->waiting_count -= taken;
        memmove(from->waiting, from->waiting + taken,
                from->waiting_count * sizeof(*from->waiting));
    }
    return err;
}

int measure__give_up(measure_tcp *tcp, flow *f, unsigned s)
{
    side *from = &f->sides[s];
    int err =
        miss(tcp, f, s, from->waiting[0].sequence, from->waiting[0].at_ns);

    return err ? err : drain(tcp, f, s);
}

static int put_waiting(measure_tcp *tcp, flow *f, unsigned s,
                       const waiting *part)
{
    side *from = &f->sides[s];
    waiting *all =
        pastset_array_grow(from->waiting, from->waiting_count, sizeof(*all));
    size_t at = from->waiting_count;

    if (!all)
        return pastset_no_memory("for packets that wait");
    from->waiting = all;
    for (; at && (int32_t)(all[at - 1].sequence - part->sequence) > 0; at--)
        ;
    memmove(all + at + 1, all + at, (from->waiting_count - at) * sizeof(*all));
    all[at] = *part;
    from->waiting_count++;
    if (from->waiting_count > WAITING_MAX)
        return measure__give_up(tcp, f, s);
    return 0;
}

/* What a side sends is seen to begin at `sequence`, or one before. */
static void settle(side *from, uint32_t sequence)
{
    if (from->guessed && sequence == from->next + 1)
        from->next = sequence;
    from->guessed = false;
}

int measure__acknowledge(measure_tcp *tcp, flow *f, unsigned s, const packet *p)
{
    side *from = &f->sides[s];
    int err = 0;

    if (!from->begun)
        return 0;
    settle(from, p->acknowledged);
    for (;;) {
        int32_t ahead = (int32_t)(p->acknowledged - from->next);
        uint32_t to = p->acknowledged;

        /* One more than was sent: a FIN that was not seen. */
        if (err || ahead <= 0 || ahead > WINDOW_MAX ||
            (ahead == 1 && !from->waiting_count))
            break;
        if (from->waiting_count &&
            (int32_t)(to - from->waiting[0].sequence) > 0)
            to = from->waiting[0].sequence;
        err = miss(tcp, f, s, to, p->at_ns);
        if (!err)
            err = drain(tcp, f, s);
    }
    return err;
}

void measure__learn_window(flow *f, unsigned s, const packet *p)
{
    side *from = &f->sides[s];
    const side *to = &f->sides[!s];
    bool syn = p->flags & PACKET_SYN;
    /* Scaled if both ends have told how; a SYN's is not. */
    bool scaled = !syn && to->scale >= 0 && from->scale >= 0;
    uint32_t window = (uint32_t)p->window << (scaled ? to->scale : 0);

    if (syn && !from->first_window)
        from->first_window = window;
    /* Without the SYNs nobody knows what windows mean. */
    if (from->first_window && window > from->max_window)
        from->max_window = window;
    if (!(p->flags & PACKET_ACK) ||
        (from->acknowledged_known &&
         (int32_t)(p->acknowledged - from->acknowledged) < 0))
        return;
    from->acknowledged = p->acknowledged;
    from->acknowledged_known = true;
    from->acknowledged_ns = p->at_ns;
    from->window_end = p->acknowledged + window;
    from->window_known = from->first_known && to->first_known;
}

int measure__take_bytes(measure_tcp *tcp, flow *f, unsigned s, const packet *p)
{
    side *from = &f->sides[s];
    waiting part = {.at_ns = p->at_ns,
                    .sequence = p->sequence + ((p->flags & PACKET_SYN) != 0),
                    .payload = p->payload,
                    .flags = p->flags,
                    .option_bytes = p->option_bytes};
    int err;

    if (!part.payload && !(part.flags & PACKET_FIN))
        return 0;
    settle(from, part.sequence);
    if ((int32_t)(part.sequence - from->next) > 0)
        return put_waiting(tcp, f, s, &part);
    err = take(tcp, f, s, &part);
    return err ? err : drain(tcp, f, s);
}
