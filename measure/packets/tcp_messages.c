/* tcp_messages.c - which bytes of a stream were sent in one piece.
 *
 * TCP carries bytes, not messages, but the kernel that sends leaves traces of
 * the calls that gave it the bytes. What was seen of Linux (6.18; the reasons
 * are inferred from captures):
 *
 *   - The last packet of each call is marked (PSH), and is as long as what was
 *     left. That ends a message.
 *   - Within a long call, full packets are marked too, when half of the other
 *     end's window has been sent since the last mark, or memory for sending is
 *     used up: a multiple of the segment size, or about 64 KiB where the
 *     network card (or the loopback) cuts them. So a full packet that is marked
 *     may be an end, or not.
 *   - So may one that just fills the window of the other end: the rest waits.
 *   - What is given to the network card in one piece for many packets is always
 *     marked at its end (Linux 5.5 and later). A call that has gone on for a
 *     while sends what there is when an acknowledgement comes, and that need
 *     not be full. So after many bytes the mark behind a full packet that has
 *     none tells nothing, if a full packet follows.
 *   - A packet that is not marked is no end, however long it is: mostly the
 *     window of the other end was too small for more. Only programs that
 *     cork their streams (sendfile behind a header) end so.
 *
 * Where a message may have ended, what follows decides: it has if the other
 * end then begins to send (the answer), or if nothing came for a time that is
 * long for this stream although the other end had acknowledged everything and
 * its window was open.
 *
 * An answer has to begin: two ends that send each other long messages at the
 * same time do not cut each other's. */
#include "measure/packets/packets_internal.h"
#include "pastset/array.h"
#include "pastset/status.h"

/* No packet of Linux is shorter than this because it has no room for more:
 * 15 pages, where one of 64 KiB was begun within a page. */
#define NEARLY_64K (15u * 4096u)
/* A shorter one is not full, whatever else. RFC 9293: what each end takes. */
#define SEGMENT_MIN 536u
/* Packets that are marked, not full, and within a call were seen after 1 MB and
 * more, where the window was not the reason; this is well below. */
#define LONG_CALL (512u << 10)
/* A sender that waits for room is woken, and has to get a processor first. */
#define PAUSE_MIN_NS 20e6
#define PAUSE_SPACINGS 20.0

static bool multiple(uint32_t bytes, uint32_t unit)
{
    return unit >= SEGMENT_MIN && bytes % unit == 0;
}

/* Could this packet not have been longer? */
static bool full(const flow *f, unsigned s, const waiting *part)
{
    const side *from = &f->sides[s];
    uint32_t told = f->sides[!s].mss;
    uint32_t bytes = part->payload;

    if (bytes >= NEARLY_64K)
        return true;
    if (bytes < SEGMENT_MIN)
        return false;
    if (told > part->option_bytes && multiple(bytes, told - part->option_bytes))
        return true;
    /* Linux sends at most half a window in one packet, and sets its segment
     * size by the first window. */
    if (from->first_window && multiple(bytes, from->first_window / 2))
        return true;
    if (from->max_window && bytes >= from->max_window / 2)
        return true;
    return !told && multiple(bytes, from->unmarked);
}

/* Has the sender filled the other end's window? Then it has to wait. */
static bool window_filled(const side *from)
{
    return from->window_known && (int32_t)(from->window_end - from->next) <= 0;
}

/* Has the other end all that side `from` sent before these bytes? */
static bool arrived(const side *from, uint32_t fresh)
{
    return !from->acknowledged_known ||
           (int32_t)(from->acknowledged - (from->next - fresh)) >= 0;
}

static bool paused(const side *from, int64_t at_ns)
{
    int64_t since = from->open.to_ns;
    double max = from->spacing_ns * PAUSE_SPACINGS;

    if (from->acknowledged_ns > since)
        since = from->acknowledged_ns;
    if (max < PAUSE_MIN_NS)
        max = PAUSE_MIN_NS;
    return (double)(at_ns - since) > max;
}

int measure__message_close(measure_tcp *tcp, flow *f, unsigned s)
{
    side *from = &f->sides[s];
    measure_packets *result = &tcp->result;
    measure_packet_message *messages;

    if (!from->open.bytes)
        return 0;
    messages = pastset_array_grow(result->messages, result->message_count,
                                  sizeof(*messages));
    if (!messages)
        return pastset_no_memory("for %zu messages", result->message_count + 1);
    result->messages = messages;
    from->open.stream = f->stream;
    from->open.back = s != f->a;
    messages[result->message_count++] = from->open;
    from->open = (measure_packet_message){0};
    from->doubtful = false;
    from->pushed = false;
    return 0;
}

/* A marked packet that is not full, in a long call: may the call go on? */
static bool mark_misleads(const flow *f, unsigned s, const waiting *part,
                          bool behind_full)
{
    uint32_t told = f->sides[!s].mss;
    bool many =
        told > part->option_bytes && part->payload > told - part->option_bytes;

    return f->sides[s].open.bytes > LONG_CALL && (many || behind_full);
}

/* The end of the last packet: is it that of the message? If that is not sure,
 * it is `doubtful`. */
static bool judge(flow *f, unsigned s, const waiting *part, bool seen)
{
    side *from = &f->sides[s];
    bool is_full = seen && full(f, s, part);
    bool behind_full = from->open.packets > 1 && !from->doubtful;

    from->pushed = part->flags & PACKET_PSH;
    from->likely = false;
    from->doubtful = true;
    if (!seen) /* its mark was not seen either */
        return false;
    if (from->pushed) {
        if (is_full || window_filled(from))
            return false;
        from->likely = mark_misleads(f, s, part, behind_full);
        return !from->likely;
    }
    if (part->payload > from->unmarked)
        from->unmarked = part->payload;
    from->doubtful = !is_full && !window_filled(from);
    return false;
}

/* Does the message that is under way end before this packet? */
static bool ends_before(const flow *f, unsigned s, const waiting *part,
                        uint32_t fresh, bool seen)
{
    const side *from = &f->sides[s];

    if (!from->open.bytes || !from->doubtful || !from->pushed)
        return false;
    if (from->likely && seen && !full(f, s, part))
        return true;
    return arrived(from, fresh) && paused(from, part->at_ns);
}

/* Mean time between packets of one message, the last few weighing most. */
static void learn_spacing(side *from, int64_t at_ns)
{
    double spacing = (double)(at_ns - from->open.to_ns);

    if (from->doubtful || spacing < 0)
        return;
    from->spacing_ns += (spacing - from->spacing_ns) / 16;
}

/* Messages of one side stand in the order in which they were sent, also if the
 * first packet of one was lost and came later than the next one's. */
static void begin(side *from, int64_t at_ns)
{
    if (at_ns <= from->last_ns)
        at_ns = from->last_ns + 1;
    from->last_ns = at_ns;
    from->open.from_ns = from->open.to_ns = at_ns;
}

int measure__message_add(measure_tcp *tcp, flow *f, unsigned s,
                         const waiting *part, uint32_t fresh, bool seen)
{
    side *from = &f->sides[s];
    const side *other = &f->sides[!s];
    int err = 0;

    if (!fresh)
        return 0;
    if (ends_before(f, s, part, fresh, seen))
        err = measure__message_close(tcp, f, s);
    if (!err && !from->open.bytes && other->open.bytes && other->doubtful &&
        arrived(other, 0))
        err = measure__message_close(tcp, f, !s);
    if (err)
        return err;
    if (from->open.bytes)
        learn_spacing(from, part->at_ns);
    else
        begin(from, part->at_ns);
    if (part->at_ns > from->open.to_ns)
        from->open.to_ns = part->at_ns;
    from->open.bytes += fresh;
    from->open.packets += seen;
    return judge(f, s, part, seen) ? measure__message_close(tcp, f, s) : 0;
}
