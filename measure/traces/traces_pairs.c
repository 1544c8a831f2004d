/* traces_pairs.c - whose message is whose, in processes that communicate by
 * other means than paths.
 *
 * A receive has exactly the message of its send (scopes/causality/cause.h).
 * Whether a send has waited for its receive its times tell: one of a message
 * that libraries may keep back, that lasted until after its receive began. (Of
 * one that ended just then, two could have waited for each other.)
 *
 * A short one waits too, where its sender runs ahead of its receiver: what
 * ranks of one machine have for messages that were not received yet holds so
 * many. Then it lasts until the receiver has been in MPI and has made room. So
 * one that lasts for long has waited for the last call of its receiver that
 * ended meanwhile.
 *
 * Of Open MPI over TCP, packets show more. What is longer than 64 KiB its
 * sender announces, and sends when the receiver has asked for it. Both go over
 * one connection: if two send to each other, the second one to come asks at
 * once for what was announced before, and gets it; its own announcement is
 * answered behind all that, and so its data follows those of the first one.
 * (Two that come at the same moment, within a message's latency, both ask
 * before they send.) MPICH does not do that. */
#include "measure/traces/traces_ranks_internal.h"

#include <string.h>

#include "pastset/request.h"

#define ANNOUNCED 65536 /* bytes: what is longer Open MPI announces */
#define UNASKED 2048    /* bytes that go along without being asked for */
#define LONG_NS 20000   /* what a send that waits for nobody does not take */

/* A name that any machine may have says nothing. */
static bool is_named(const traces_process *p)
{
    return *p->machine && strcmp(p->machine, "(none)") != 0 &&
           strcmp(p->machine, "localhost") != 0;
}

/* Nor do two of one name that have counters of their own stand on one. */
static bool are_on_one_machine(const traces_process *a, const traces_process *b)
{
    return *a->machine && strcmp(a->machine, b->machine) == 0 &&
           strcmp(a->counter, b->counter) == 0;
}

bool measure__ranks_are_in_turns(const ranks *r, uint32_t a, uint32_t b,
                                 uint64_t bytes)
{
    const traces_process *p = &r->t->processes[a], *q = &r->t->processes[b];

    return bytes > ANNOUNCED && strncmp(p->library, "Open MPI", 8) == 0 &&
           is_named(p) && is_named(q) && strcmp(p->machine, q->machine) != 0;
}

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

/* Had an earlier message of its sender not been received when this one was
 * sent? If all had, there was room, and it lasted for another reason. */
static bool was_behind(const ranks *r, const ranks_operation *sent,
                       const ranks_operation *received)
{
    const ranks_operation *first = &r->operations[r->threads[received->thread]];

    for (const ranks_operation *o = received;
         o-- > first && o->end_ns > sent->start_ns;) {
        const traces_message *m = &r->t->messages[o->message];
        if (o->kind == RANKS_RECEIVES && m->from == sent->process &&
            m->at_ns < sent->start_ns)
            return true;
    }
    return false;
}

/* The call of the receiver that made room for a message, before it received
 * it; NULL: the sender did not wait. */
static ranks_operation *room_of(ranks *r, const ranks_operation *sent,
                                const ranks_operation *received)
{
    size_t at;
    ranks_operation *o;

    if (sent->end_ns - sent->start_ns < LONG_NS ||
        !measure__ranks_is_call(r, sent, "MPI_Send") ||
        !are_on_one_machine(&r->t->processes[sent->process],
                            &r->t->processes[received->process]) ||
        !was_behind(r, sent, received))
        return NULL;
    at = measure__ranks_call_at(r, received->thread, sent->end_ns);
    if (at == r->threads[received->thread])
        return NULL;
    o = &r->operations[at - 1];
    return o->end_ns > sent->start_ns && o->end_ns <= received->start_ns &&
                   o < received
               ? o
               : NULL;
}

static int pair(ranks *r, ranks_operation *sent, ranks_operation *received)
{
    bool waited = has_waited(r, sent, received);
    ranks_operation *room = waited ? NULL : room_of(r, sent, received);
    uint32_t first;
    int err = measure__ranks_messages(r->t, &first, waited || room ? 2 : 1);

    if (err)
        return err;
    sent->kind = RANKS_SENDS;
    received->kind = RANKS_RECEIVES;
    sent->message = received->message = first;
    r->t->messages[first].at_ns = sent->start_ns;
    r->t->messages[first].from = sent->process;
    r->t->messages[first].to = received->process;
    if (waited) {
        sent->ready = received->ready = first + 1;
        r->t->messages[first].at_ns =
            received->start_ns + half_way(sent, received);
        r->t->messages[first + 1].at_ns = received->start_ns;
        r->t->messages[first + 1].to = sent->process;
    }
    if (room) {
        r->t->messages[first + 1].next = room->room;
        sent->ready = room->room = first + 1;
        r->t->messages[first].at_ns = room->end_ns;
        r->t->messages[first + 1].at_ns = room->end_ns;
        r->t->messages[first + 1].to = sent->process;
    }
    return 0;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Two operations of one call, which sends to the one whose message it receives,
 * and who has waited for it. */
static void turns_find(ranks *r, ranks_operation *one, ranks_operation *other)
{
    traces *t = r->t;
    ranks_operation *sent = one->kind == RANKS_SENDS ? one : other;
    ranks_operation *received = one->kind == RANKS_SENDS ? other : one;
    int64_t came_ns;

    if (sent->kind != RANKS_SENDS || received->kind != RANKS_RECEIVES ||
        received->ready == TRACES_NONE || sent->ready != TRACES_NONE ||
        t->messages[sent->message].to != t->messages[received->ready].to ||
        !measure__ranks_are_in_turns(
            r, sent->process, t->messages[sent->message].to,
            least_of(measure__ranks_bytes(r, sent),
                     measure__ranks_bytes(r, received))))
        return;
    sent->is_second = true;
    came_ns = t->messages[received->message].at_ns;
    t->messages[sent->message].at_ns =
        came_ns + (sent->end_ns > came_ns ? (sent->end_ns - came_ns) / 2 : 0);
}

static bool are_of_one_call(const ranks_operation *a, const ranks_operation *b)
{
    return a->thread == b->thread && a->start_ns == b->start_ns &&
           a->end_ns == b->end_ns;
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
    for (size_t i = 0; i + 1 < r->count && !err; i++)
        if (are_of_one_call(&r->operations[i], &r->operations[i + 1]))
            turns_find(r, &r->operations[i], &r->operations[i + 1]);
    return err;
}
