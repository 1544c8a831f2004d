/* waits.c - what calls are about to wait for, or ask for again and again. */
#include "mpi/words.h"

/* --- before --- */

/* What a call waits for: nothing that is known, one thing, or one of several.
 */
typedef struct awaited {
    mpi_target target; /* MPI__LOCAL: no single one */
    int peer, tag;
    mpi_comm *comm;
    bool is_any;
} awaited;

static uint64_t tag_of(int tag)
{
    return tag == MPI_ANY_TAG ? PATHS_NOTE_ANY_TAG : (uint64_t)(int64_t)tag;
}

static const mpi_place *place_of(const mpi_call *call, const awaited *what)
{
    return what->target == MPI__LOCAL
               ? mpi__place(call, MPI__LOCAL, NULL, 0)
               : mpi__place(call, what->target, what->comm, what->peer);
}

/* Inline: see eventspace_record. */
static inline paths_executor_note
note_at(const mpi_call *call, const awaited *what, const mpi_place *place)
{
    bool takes = what->is_any || what->target == MPI__RECEIVES;

    return (paths_executor_note){.since = call->start,
                                 .tag = tag_of(what->tag),
                                 .first = place->collector,
                                 .stage = place->collector,
                                 .peer_thread = place->peer,
                                 .communicator = place->communicator,
                                 .under_way = mpi__open(),
                                 .flags = what->is_any ? PATHS_NOTE_ANY : 0,
                                 .verb = takes ? PASTSET_TAKE : place->verb};
}

static paths_executor_note note_of(const mpi_call *call, const awaited *what)
{
    return note_at(call, what, place_of(call, what));
}

/* Receives that are posted, at most so many: what comes to them does not wait
 * for who posted them. */
#define POSTED (PATHS_NOTE_PARTS / 2 - 2)

static void part_give(const mpi_call *call, paths_executor_note part,
                      uint32_t flags)
{
    part.flags |= flags | PATHS_NOTE_PART;
    eventspace_record_waiting(call->self->thread, &part);
}

static uint32_t posted_give(const mpi_call *call)
{
    uint32_t count = 0;

    if (mpi__open() > POSTED)
        return 0;
    for (const mpi_posted *p = mpi__open_first(); p; p = p->next, count++)
        part_give(call,
                  (paths_executor_note){.since = call->start,
                                        .tag = tag_of(p->tag),
                                        .first = MPI__NONE,
                                        .stage = MPI__NONE,
                                        .peer_thread = p->peer,
                                        .communicator = p->communicator,
                                        .verb = PASTSET_TAKE},
                  PATHS_NOTE_POSTED);
    return count;
}

static void note_give(const mpi_call *call, paths_executor_note *note)
{
    if (note->stage != MPI__NONE)
        eventspace_record_waiting(call->self->thread, note);
}

/* What waits for itself only has parts where others are posted. */
static void wait_alone(const mpi_call *call, paths_executor_note *note)
{
    if (note->stage == MPI__NONE)
        return;
    if (note->under_way)
        note->parts = posted_give(call);
    if (note->parts) {
        part_give(call, *note, 0);
        note->parts++;
    }
    note_give(call, note);
}

static void waits_at(const mpi_call *call, const awaited *what, uint32_t flags)
{
    const mpi_place *place = place_of(call, what);

    if (place->collector == MPI__NONE)
        return;
    if (mpi__open() == 0) { /* the short way of most */
        paths_executor_note note = note_at(call, what, place);
        note.flags |= flags;
        eventspace_record_waiting(call->self->thread, &note);
    } else {
        paths_executor_note note = note_at(call, what, place);
        note.flags |= flags;
        wait_alone(call, &note);
    }
}

static void wait_for(const mpi_call *call, const awaited *what)
{
    if (!call->is_quiet)
        waits_at(call, what, 0);
}

static awaited awaited_by(const mpi_held *held)
{
    return (awaited){held->kind == MPI__SEND ? MPI__SENDS : MPI__RECEIVES,
                     held->peer, held->tag, held->comm,
                     held->peer == MPI_ANY_SOURCE};
}

void mpi__waits(const mpi_call *call, mpi_target target, int peer, int tag,
                MPI_Comm comm)
{
    if (peer != MPI_PROC_NULL)
        wait_for(call,
                 &(awaited){target, peer, tag, mpi__comm_of(call->self, comm),
                            peer == MPI_ANY_SOURCE});
}

void mpi__waits_for(const mpi_call *call, const mpi_held *held)
{
    awaited what = awaited_by(held);

    if (held->peer != MPI_PROC_NULL)
        wait_for(call, &what);
}

void mpi__waits_among(const mpi_call *call, mpi_target target, int root,
                      uint32_t flags, MPI_Comm comm)
{
    awaited what = {target, root, 0, mpi__comm_of(call->self, comm), false};

    if (call->is_quiet)
        return;
    if (target == MPI__COMES &&
        !mpi__place(call, target, what.comm, root)->rounds)
        flags = 0;
    waits_at(call, &what, flags);
}

/* What takes longer than it takes the others to come is not waited for. */
#define QUICK (1 << 20)

void mpi__waits_with_root(const mpi_call *call, mpi_target target, int root,
                          int64_t bytes, MPI_Comm comm)
{
    awaited what = {target, root, 0, mpi__comm_of(call->self, comm), false};
    uint16_t verb;

    if (call->is_quiet)
        return;
    verb = mpi__place(call, target, what.comm, root)->verb;
    waits_at(call, &what,
             verb == PASTSET_WRITE && root >= 0 && bytes <= QUICK
                 ? PATHS_NOTE_ONE
                 : 0);
}

void mpi__waits_to_scan(const mpi_call *call, int64_t bytes, MPI_Comm comm)
{
    uint32_t flags = bytes <= QUICK ? PATHS_NOTE_ONE : 0;

    if (call->is_quiet)
        return;
    if (mpi__place(call, MPI__COMES, mpi__comm_of(call->self, comm), 0)
            ->is_sorted)
        flags |= PATHS_NOTE_LOWER;
    mpi__waits_among(call, MPI__COMES, 0, flags, comm);
}

/* While it sends to somebody who may not yet have its message when what is
 * received has come. */
void mpi__waits_and_sends(const mpi_call *call, const mpi_held *received,
                          const mpi_held *sent)
{
    awaited its = awaited_by(received), own = awaited_by(sent);
    paths_executor_note note, sends;

    if (call->is_quiet)
        return;
    if (received->peer == MPI_PROC_NULL) {
        mpi__waits_for(call, sent);
        return;
    }
    note = note_of(call, &its);
    if (sent->peer == MPI_PROC_NULL || note.stage == MPI__NONE) {
        wait_alone(call, &note);
        return;
    }
    note.parts = 2 + (note.under_way ? posted_give(call) : 0);
    part_give(call, note, 0);
    sends = note_of(call, &own);
    part_give(call, sends, PATHS_NOTE_MAYBE);
    note_give(call, &note);
}

void mpi__waits_for_all(const mpi_call *call)
{
    paths_executor_note note;

    if (call->is_quiet)
        return;
    note = note_of(call, &(awaited){.target = MPI__LOCAL});
    note.flags = PATHS_NOTE_ALL;
    wait_alone(call, &note);
}

void mpi__waits_for_ranks(const mpi_call *call, const uint32_t *ranks,
                          int count)
{
    paths_executor_note note;

    if (count == 0 || call->is_quiet)
        return;
    note = note_of(call, &(awaited){.target = MPI__LOCAL});
    if (note.stage == MPI__NONE)
        return;
    note.parts = (uint32_t)count + (note.under_way ? posted_give(call) : 0);
    for (int i = 0; i < count; i++) {
        paths_executor_note part = note;
        part.peer_thread = ranks[i];
        part.verb = PASTSET_READ_NEXT;
        part_give(call, part, 0);
    }
    note.flags = PATHS_NOTE_ONE;
    note_give(call, &note);
}

/* --- before, of those that were started --- */

static bool may_wait(const mpi_held *held)
{
    return held->kind != MPI__NOTHING && held->is_active;
}

/* As one that the call is told to wait for. One that is not known may be the
 * one that comes. */
static awaited awaited_of(const mpi_hold *hold, bool for_one)
{
    const mpi_held *first = NULL;
    int count = 0;

    for (int i = 0; i < hold->count && hold->some; i++) {
        const mpi_held *held = &hold->items[i];
        if (held->kind == MPI__NOTHING && held->request && for_one)
            return (awaited){.target = MPI__LOCAL};
        if (!may_wait(held))
            continue;
        count++;
        /* Without this one it cannot end; a send, or one from anybody, says
         * less. */
        if (held->kind != MPI__ROUND &&
            (!first || first->peer == MPI_ANY_SOURCE ||
             (first->kind == MPI__SEND && held->peer != MPI_ANY_SOURCE)))
            first = held;
    }
    if (!first || (for_one && count > 1))
        return (awaited){
            .target = MPI__LOCAL, .tag = MPI_ANY_TAG, .is_any = first != NULL};
    return awaited_by(first);
}

static paths_executor_note held_note(const mpi_call *call, const mpi_held *held)
{
    bool is_round = held->kind == MPI__ROUND;
    uint32_t at = is_round ? held->collector : MPI__NONE;
    bool is_any = held->kind == MPI__RECEIVE && held->peer == MPI_ANY_SOURCE;

    return (paths_executor_note){
        .since = call->start,
        .tag = is_round ? held->order : tag_of(held->tag),
        .first = at,
        .stage = at,
        .peer_thread = held->world,
        .communicator = held->communicator,
        .flags = is_round ? PATHS_NOTE_ROUND | held->flags
                 : is_any ? PATHS_NOTE_ANY
                          : 0,
        .verb = held->kind == MPI__RECEIVE ? PASTSET_TAKE : PASTSET_WRITE};
}

/* What there is of a call's requests. */
typedef struct held_counts {
    uint32_t receives, others, maybes; /* that may wait; sends that may not */
    bool has_unknown;
} held_counts;

static bool is_maybe(const mpi_held *held)
{
    return held->kind == MPI__SEND && !held->is_synchronous;
}

static held_counts count_of(const mpi_hold *hold, bool for_one)
{
    held_counts n = {0};

    for (int i = 0; i < hold->count; i++) {
        const mpi_held *held = &hold->items[i];
        n.has_unknown |= held->kind == MPI__NOTHING && held->request;
        if (!may_wait(held))
            continue;
        if (held->kind == MPI__RECEIVE)
            n.receives++;
        else if (for_one || !is_maybe(held))
            n.others++;
        else
            n.maybes++;
    }
    return n;
}

/* How many parts there are. Of what all have to come of, some are enough. */
static uint32_t parts_give(const mpi_call *call, const mpi_hold *hold,
                           const held_counts *n, bool for_one)
{
    uint32_t sure = n->receives + n->others, given = 0;
    bool has_maybes = sure + n->maybes <= POSTED;
    uint32_t maybe = n->has_unknown ? PATHS_NOTE_POSTED : PATHS_NOTE_MAYBE;

    if (mpi__open() > n->receives)
        given = posted_give(call);
    for (int i = 0; i < hold->count; i++) {
        const mpi_held *held = &hold->items[i];
        bool is_sure = for_one || !is_maybe(held);
        if (!may_wait(held) || (!is_sure && !has_maybes) ||
            given >= PATHS_NOTE_PARTS)
            continue;
        part_give(call, held_note(call, held), is_sure ? 0 : maybe);
        given++;
    }
    return given;
}

/* The call's note tells of the only one. */
static bool is_alone(const held_counts *n, const awaited *what)
{
    return n->receives + n->others + n->maybes == 1 &&
           (what->target == MPI__SENDS || what->target == MPI__RECEIVES) &&
           mpi__open() == n->receives && !(n->maybes && n->has_unknown);
}

static void held_give(const mpi_call *call, const mpi_hold *hold, bool for_one,
                      const awaited *what, paths_executor_note *note)
{
    held_counts n = count_of(hold, for_one);
    uint32_t all = n.receives + n.others + n.maybes;
    bool is_known = hold->some && all > 0 && !(for_one && n.has_unknown);

    if (is_known && !is_alone(&n, what) && note->stage != MPI__NONE &&
        !(for_one && all > POSTED)) { /* else any may be the one */
        note->flags &= ~PATHS_NOTE_ANY;
        note->flags |= for_one ? PATHS_NOTE_ONE : 0;
        note->parts = parts_give(call, hold, &n, for_one);
    }
    note_give(call, note);
}

void mpi__waits_for_held(const mpi_call *call, const mpi_hold *hold,
                         bool for_one)
{
    awaited what = awaited_of(hold, for_one);
    paths_executor_note note;

    if (call->is_quiet)
        return;
    note = note_of(call, &what);
    held_give(call, hold, for_one, &what, &note);
}

/* --- polling --- */

/* `hold` NULL: it asks for no requests. */
static void polling_note(const mpi_call *call, const awaited *what,
                         const mpi_hold *hold, bool for_one)
{
    const mpi_polling *polling = &call->self->polling;
    awaited any = {.target = MPI__LOCAL, .tag = MPI_ANY_TAG, .is_any = true};
    paths_executor_note note = note_of(call, polling->is_mixed ? &any : what);

    note.flags |= PATHS_NOTE_POLLS;
    note.since = polling->since;
    note.at = call->end;
    note.bytes = polling->count;
    if (hold && !polling->is_mixed)
        held_give(call, hold, for_one, what, &note);
    else
        wait_alone(call, &note);
}

/* After its event. Seldom is more to be done than to count. */
static void polled(const mpi_call *call, const awaited *what,
                   const mpi_hold *hold, bool for_one)
{
    mpi_polling *polling = &call->self->polling;
    uint32_t sequence = call->self->thread->sequence;

    if (call->is_quiet)
        return;
    if (polling->sequence + 1 != sequence)
        *polling = (mpi_polling){.since = call->start,
                                 .from = call->from,
                                 .peer = what->peer,
                                 .tag = what->tag};
    else if (polling->from != call->from || polling->peer != what->peer ||
             polling->tag != what->tag)
        polling->is_mixed = true;
    polling->sequence = sequence;
    polling->count++;
    if (call->end - polling->since >= mpi__poll_ticks)
        polling_note(call, what, hold, for_one);
}

void mpi__polled(const mpi_call *call, int peer, int tag, MPI_Comm comm)
{
    if (peer != MPI_PROC_NULL)
        polled(call,
               &(awaited){MPI__RECEIVES, peer, tag,
                          mpi__comm_of(call->self, comm),
                          peer == MPI_ANY_SOURCE},
               NULL, false);
}

void mpi__polled_held(const mpi_call *call, const mpi_hold *hold, bool for_one)
{
    awaited what = awaited_of(hold, for_one);
    held_counts n = count_of(hold, for_one);

    if (hold->some && n.receives + n.others + n.maybes > 0 &&
        !(for_one && n.has_unknown))
        polled(call, &what, hold, for_one);
}
