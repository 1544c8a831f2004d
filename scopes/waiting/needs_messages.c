/* needs_messages.c - whom operations need by what both ends of messages have
 * left: see waiting_internal.h. */
#include "scopes/waiting/waiting_internal.h"

#include <string.h>

#include "scopes/causality/tree_internal.h"
#include "scopes/reading/message_pairs.h"

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* MPI_Sendrecv also ends when its receive does, and the others do not wait for
 * the receive. */
static uint8_t blocking_of(const char *call)
{
    if (begins_with(call, "MPI_Ssend"))
        return SCOPES__MAY_BLOCK | SCOPES__BLOCKS;
    return begins_with(call, "MPI_Send") && !begins_with(call, "MPI_Sendrecv")
               ? SCOPES__MAY_BLOCK
               : 0;
}

static uint32_t process_of(const scopes__waiting *w, uint32_t operation)
{
    return w->times->threads[scopes__waiting_operation(w, operation)->thread]
        .process;
}

/* How far the time between a send's end and its receive's start may be off. */
static int64_t uncertain_ns(const scopes__waiting *w, uint32_t send,
                            uint32_t receive)
{
    const scopes_clocks *clocks = w->in.clocks;
    uint32_t from = process_of(w, send), to = process_of(w, receive);
    int64_t sent_ns = scopes__waiting_operation(w, send)->end_ns;
    int64_t begun_ns = scopes__waiting_operation(w, receive)->start_ns;
    int64_t ns = scopes__certain_ns(
        clocks, from, scopes_clocks_ticks(clocks, from, sent_ns), to,
        scopes_clocks_ticks(clocks, to, begun_ns));

    return ns == INT64_MAX ? 0 : ns;
}

/* A send that was held ends soon after its receive has begun: as clocks have
 * it, maybe before. */
static bool may_have_waited(const scopes__waiting *w, uint32_t send,
                            uint32_t receive)
{
    int64_t late_ns = scopes__waiting_operation(w, receive)->start_ns -
                      scopes__waiting_operation(w, send)->end_ns;

    return late_ns < 0 || late_ns < uncertain_ns(w, send, receive);
}

static void need(scopes__waiting *w, uint32_t operation, uint32_t other)
{
    if (!(w->flags[operation] & SCOPES__MEETS))
        w->needs[operation] = other;
}

static void take(scopes__waiting *w, const scopes_message_pair *pair)
{
    const scopes_message_end *sent = pair->sent, *received = pair->received;
    uint32_t send = scopes__waiting_find(w, sent->thread, sent->call);
    uint32_t receive =
        scopes__waiting_find(w, received->thread, received->call);
    uint8_t blocking = blocking_of(sent->operation);

    if (send == SCOPES_MISSING || receive == SCOPES_MISSING)
        return;
    need(w, receive, send);
    if (!blocking || !may_have_waited(w, send, receive))
        return;
    need(w, send, receive);
    w->flags[send] |= blocking;
}

int scopes__waiting_messages(scopes__waiting *w)
{
    scopes_message_pairs *pairs;
    int err = scopes_message_pairs_make(&pairs, w->in.run, w->in.topology,
                                        w->in.clocks);

    if (err)
        return err;
    for (size_t i = 0; i < pairs->count; i++) {
        if (pairs->items[i].sent && pairs->items[i].received)
            take(w, &pairs->items[i]);
    }
    scopes_message_pairs_destroy(pairs);
    return 0;
}
