/* needs_messages.c - whom operations need by what both ends of messages have
 * left: see waiting_internal.h. */
#include "scopes/waiting/waiting_internal.h"

#include <string.h>

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

static void take(scopes__waiting *w, const scopes_message_pair *pair)
{
    const scopes_message_end *sent = pair->sent, *received = pair->received;
    uint32_t send = scopes__waiting_find(w, sent->thread, sent->call);
    uint32_t receive =
        scopes__waiting_find(w, received->thread, received->call);
    uint8_t blocking = blocking_of(sent->operation);

    if (send == SCOPES_MISSING || receive == SCOPES_MISSING)
        return;
    w->others[receive] = send;
    if (!blocking || scopes__waiting_operation(w, receive)->start_ns >=
                         scopes__waiting_operation(w, send)->end_ns)
        return;
    w->others[send] = receive;
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
