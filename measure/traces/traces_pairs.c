/* traces_pairs.c - whose message is whose, in processes that communicate by
 * other means than paths.
 *
 * A receive has exactly the message of its send (scopes/causality/cause.h).
 * Whether a send has waited for its receive its times tell: one of a message
 * that libraries may keep back, that lasted until after its receive began. (Of
 * one that ended just then, two could have waited for each other.) */
#include "measure/traces/traces_ranks_internal.h"

#include "pastset/request.h"

#define UNASKED 2048 /* bytes that go along without being asked for */

static bool may_wait(const ranks *r, const ranks_operation *sent)
{
    if (measure__ranks_is_like(r, sent, "MPI_I") ||
        measure__ranks_is_like(r, sent, "MPI_Start"))
        return false; /* who began it did not wait */
    return measure__ranks_bytes(r, sent) > UNASKED ||
           measure__ranks_is_like(r, sent, "MPI_Ssend");
}

static bool has_waited(const ranks *r, const ranks_operation *sent,
                       const ranks_operation *received)
{
    return sent->start_ns < received->start_ns &&
           received->start_ns < sent->end_ns && may_wait(r, sent);
}

/* What goes there and back after the receiver has come is halved. */
static int64_t half_way(const ranks_operation *sent,
                        const ranks_operation *received)
{
    int64_t end_ns =
        sent->end_ns < received->end_ns ? sent->end_ns : received->end_ns;

    return end_ns > received->start_ns ? (end_ns - received->start_ns) / 2 : 0;
}

static int pair(ranks *r, ranks_operation *sent, ranks_operation *received)
{
    bool waited = has_waited(r, sent, received);
    uint32_t first;
    int err = measure__ranks_messages(r->t, &first, waited ? 2 : 1);

    if (err)
        return err;
    sent->kind = RANKS_SENDS;
    received->kind = RANKS_RECEIVES;
    sent->message = received->message = first;
    r->t->messages[first].at_ns = sent->start_ns;
    r->t->messages[first].to = received->process;
    if (waited) {
        sent->ready = received->ready = first + 1;
        r->t->messages[first].at_ns =
            received->start_ns + half_way(sent, received);
        r->t->messages[first + 1].at_ns = received->start_ns;
        r->t->messages[first + 1].to = sent->process;
    }
    return 0;
}

int measure__ranks_pair(ranks *r)
{
    traces *t = r->t;
    int err = scopes_causes_create(
        &t->causes, t->topology, t->snapshot->event_table, t->snapshot->clocks);

    for (size_t i = 0; i < r->count && !err; i++) {
        ranks_operation *o = &r->operations[i];
        const eventspace_trace *event =
            scopes_event_at(t->streams[o->stream].events, o->event);
        scopes_cause cause;
        uint32_t other;
        if (event->operation != PASTSET_TAKE || event->status)
            continue;
        cause = scopes_causes_of(t->causes, o->stream, o->event);
        if (cause.collector == PATHS_NONE)
            continue;
        other = t->streams[cause.collector].below[cause.event];
        if (other != TRACES_NONE && other != i &&
            r->operations[other].message == TRACES_NONE)
            err = pair(r, &r->operations[other], o);
    }
    return err;
}
