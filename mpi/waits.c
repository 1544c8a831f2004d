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
    const mpi_held *also; /* from somebody else; NULL */
} awaited;

static paths_executor_note note_of(const mpi_call *call, const awaited *what)
{
    const mpi_place *place =
        what->target == MPI__LOCAL
            ? mpi__place(call, MPI__LOCAL, NULL, 0)
            : mpi__place(call, what->target, what->comm, what->peer);

    return (paths_executor_note){
        .since = call->start,
        .tag = what->tag == MPI_ANY_TAG ? PATHS_NOTE_ANY_TAG
                                        : (uint64_t)(int64_t)what->tag,
        .first = place->collector,
        .stage = place->collector,
        .peer = MPI__NONE,
        .peer_thread = place->peer,
        .under_way = mpi__open(),
        .flags = what->is_any ? PATHS_NOTE_ANY : 0,
        .verb = what->target == MPI__RECEIVES ? PASTSET_TAKE : place->verb};
}

static void note_give(const mpi_call *call, paths_executor_note *note)
{
    if (note->stage != MPI__NONE)
        eventspace_record_waiting(call->self->thread, note);
}

static void wait_for(const mpi_call *call, const awaited *what)
{
    paths_executor_note note;

    if (call->is_quiet)
        return;
    note = note_of(call, what);
    if (what->also) {
        note.peer =
            mpi__place(call, MPI__RECEIVES, what->also->comm, what->also->peer)
                ->peer;
        note.flags |= PATHS_NOTE_BOTH;
    }
    note_give(call, &note);
}

void mpi__waits(const mpi_call *call, mpi_target target, int peer, int tag,
                MPI_Comm comm)
{
    if (peer != MPI_PROC_NULL)
        wait_for(call,
                 &(awaited){target, peer, tag, mpi__comm_of(call->self, comm),
                            peer == MPI_ANY_SOURCE, NULL});
}

static awaited awaited_by(const mpi_held *held)
{
    return (awaited){held->kind == MPI__SEND ? MPI__SENDS : MPI__RECEIVES,
                     held->peer,
                     held->tag,
                     held->comm,
                     held->peer == MPI_ANY_SOURCE,
                     NULL};
}

void mpi__waits_for(const mpi_call *call, const mpi_held *held)
{
    awaited what = awaited_by(held);

    if (held->peer != MPI_PROC_NULL)
        wait_for(call, &what);
}

/* While it sends to somebody who may not yet have its message when what is
 * received has come. */
void mpi__waits_and_sends(const mpi_call *call, const mpi_held *received,
                          const mpi_held *sent)
{
    awaited what = awaited_by(received);
    paths_executor_note note;

    if (received->peer == MPI_PROC_NULL || call->is_quiet)
        return;
    note = note_of(call, &what);
    if (sent->peer != MPI_PROC_NULL)
        note.peer = mpi__place(call, MPI__SENDS, sent->comm, sent->peer)->peer;
    note_give(call, &note);
}

void mpi__waits_for_all(const mpi_call *call)
{
    paths_executor_note note;

    if (call->is_quiet)
        return;
    note = note_of(call, &(awaited){.target = MPI__LOCAL});
    note.flags = PATHS_NOTE_ALL;
    note_give(call, &note);
}

static bool may_wait(const mpi_held *held)
{
    return held->kind != MPI__NOTHING && held->is_active;
}

/* One that is not known may be the one that comes. */
static awaited awaited_of(const mpi_hold *hold, bool for_one)
{
    const mpi_held *first = NULL, *also = NULL;
    awaited what;
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
        if (!first || first->peer == MPI_ANY_SOURCE ||
            (first->kind == MPI__SEND && held->peer != MPI_ANY_SOURCE))
            first = held;
        else if (held->kind == MPI__RECEIVE && held->peer != MPI_ANY_SOURCE &&
                 held->peer != first->peer)
            also = held;
    }
    if (!first || (for_one && count > 1))
        return (awaited){
            .target = MPI__LOCAL, .tag = MPI_ANY_TAG, .is_any = first != NULL};
    what = awaited_by(first);
    what.also = for_one ? NULL : also;
    return what;
}

void mpi__waits_for_held(const mpi_call *call, const mpi_hold *hold,
                         bool for_one)
{
    awaited what = awaited_of(hold, for_one);

    wait_for(call, &what);
}

/* --- polling --- */

static void polling_note(const mpi_call *call, const awaited *what)
{
    const mpi_polling *polling = &call->self->polling;
    awaited any = {.target = MPI__LOCAL, .tag = MPI_ANY_TAG, .is_any = true};
    paths_executor_note note = note_of(call, polling->is_mixed ? &any : what);

    note.flags |= PATHS_NOTE_POLLS;
    note.since = polling->since;
    note.at = call->end;
    note.bytes = polling->count;
    note_give(call, &note);
}

/* After its event. Seldom is more to be done than to count. */
static void polled(const mpi_call *call, const awaited *what)
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
        polling_note(call, what);
}

void mpi__polled(const mpi_call *call, int peer, int tag, MPI_Comm comm)
{
    if (peer != MPI_PROC_NULL)
        polled(call, &(awaited){MPI__RECEIVES, peer, tag,
                                mpi__comm_of(call->self, comm),
                                peer == MPI_ANY_SOURCE, NULL});
}

void mpi__polled_held(const mpi_call *call, const mpi_hold *hold, bool for_one)
{
    awaited what = awaited_of(hold, for_one);

    if (what.target != MPI__LOCAL || what.is_any)
        polled(call, &what);
}
