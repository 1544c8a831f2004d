/* started.c - what calls mean that start something, or wait for what was
 * started. */
#include "mpi/words.h"

#include <stdlib.h>

static mpi_held *held_room(mpi_self *self, int count)
{
    if (count > self->held_capacity) {
        mpi_held *more =
            realloc(self->held, (size_t)count * sizeof(*self->held));
        if (!more)
            return NULL;
        self->held = more;
        self->held_capacity = count;
    }
    return self->held;
}

MPI_Status *mpi__statuses(mpi_self *self, int count)
{
    if (count > self->status_capacity) {
        MPI_Status *more =
            realloc(self->statuses, (size_t)count * sizeof(*self->statuses));
        if (!more)
            return MPI_STATUSES_IGNORE;
        self->statuses = more;
        self->status_capacity = count;
    }
    return self->statuses;
}

void mpi__hold(mpi_hold *hold, mpi_self *self, int count,
               const MPI_Request *requests)
{
    const int few = (int)(sizeof(hold->few) / sizeof(*hold->few));

    hold->items = count <= few ? hold->few : held_room(self, count);
    hold->count = hold->items && count > 0 ? count : 0;
    for (int i = 0; i < hold->count; i++) {
        mpi_held *held = &hold->items[i];
        held->kind = MPI__NOTHING;
        held->request = 0;
        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        held->request = MPI__BITS(requests[i]);
        if ((mpi__is_threaded
                 ? mpi__request_take(held, MPI__BITS(requests[i]), false)
                 : mpi__request_find(held, MPI__BITS(requests[i]), false)))
            hold->some = true;
    }
}

bool mpi__note_not_taken(const mpi_call *call, int result, const mpi_held *held,
                         MPI_Message message)
{
    if (result == MPI_SUCCESS)
        return false;
    if (held->kind != MPI__NOTHING && message != MPI_MESSAGE_NULL)
        mpi__request_add(held);
    else if (held->kind != MPI__NOTHING)
        mpi__spoiled(call, held);
    mpi__note_local(call, result, 0);
    return true;
}

static void peer_fill(const mpi_call *call, mpi_held *held)
{
    const mpi_place *peer = mpi__peer(call->self, held->comm, held->peer);

    held->world = peer->peer;
    held->communicator = peer->communicator;
}

void mpi__started(const mpi_call *call, int result, mpi_held *held,
                  MPI_Request request)
{
    bool is_receive = held->kind == MPI__RECEIVE && held->is_active;

    mpi__note_local(call, result, held->bytes);
    if (result != MPI_SUCCESS && is_receive)
        mpi__withdrawn(call, held);
    if (result != MPI_SUCCESS || held->kind == MPI__NOTHING ||
        held->peer == MPI_PROC_NULL)
        return;
    held->request = MPI__BITS(request);
    peer_fill(call, held);
    if (is_receive)
        mpi__open_add(held);
    mpi__request_add(held);
}

/* What the library may keep until there is a receive for it: a send that is
 * synchronous, or longer than what goes along unasked. */
void mpi__sending(const mpi_call *call, int result, int64_t bytes,
                  mpi_held *held, MPI_Request request)
{
    mpi__note_sent(call, result, bytes, held);
    if (result != MPI_SUCCESS || held->peer == MPI_PROC_NULL ||
        !mpi__may_block(call, bytes))
        return;
    held->request = MPI__BITS(request);
    held->bytes = bytes;
    held->is_synchronous = mpi__is_synchronous(call->number);
    peer_fill(call, held);
    mpi__request_add(held);
}

/* Which collective it is that was started, and for whom its end waits. */
static bool round_fill(const mpi_call *call, mpi_held *held, mpi_coming coming,
                       int root)
{
    const mpi_place *place = mpi__place(call, MPI__COMES, held->comm, 0);
    bool has_root =
        coming == MPI__COME_FROM_ROOT || coming == MPI__COME_TO_ROOT;
    uint32_t its = MPI__NONE;

    if (!place->rounds || place->collector == MPI__NONE)
        return false;
    held->collector = place->collector;
    held->order = atomic_fetch_add(place->rounds, 1) + 1;
    if (has_root)
        its = mpi__peer(call->self, held->comm, root)->peer;
    if (coming == MPI__COME_FROM_ROOT)
        held->world = its;
    if (coming == MPI__COME_SCAN)
        held->flags =
            PATHS_NOTE_ONE | (place->is_sorted ? PATHS_NOTE_LOWER : 0);
    return !has_root || (its != MPI__NONE &&
                         (its == mpi__rank) == (coming == MPI__COME_TO_ROOT));
}

void mpi__begun(const mpi_call *call, int result, int64_t bytes,
                mpi_coming coming, int root, MPI_Comm comm, MPI_Request request)
{
    mpi_held held = {.request = MPI__BITS(request),
                     .kind = MPI__ROUND,
                     .is_active = true,
                     .comm = mpi__comm_of(call->self, comm),
                     .world = MPI__NONE};

    if (call->is_quiet)
        return; /* it has no event, and so is not counted */
    mpi__note_collective(call, result, MPI__COMES, bytes, 0, comm);
    if (result == MPI_SUCCESS && round_fill(call, &held, coming, root))
        mpi__request_add(&held);
}

/* One library gives some of them another handle when they start. */
static void handle_follow(mpi_held *held, MPI_Request request)
{
    if (mpi__is_threaded) { /* it was taken out */
        held->request = MPI__BITS(request);
        mpi__request_add(held);
        return;
    }
    if (held->request == MPI__BITS(request)) {
        mpi__request_update(held);
        return;
    }
    mpi__request_remove(held);
    held->request = MPI__BITS(request);
    mpi__request_add(held);
}

/* Where another thread may be given the handle that one has had before it
 * starts, it is taken out until it has. */
void mpi__starts(const mpi_call *call, mpi_hold *hold)
{
    for (int i = 0; i < hold->count && hold->some; i++) {
        mpi_held *held = &hold->items[i];
        if (held->kind == MPI__NOTHING)
            continue;
        if (mpi__is_threaded)
            mpi__request_remove(held);
        held->is_cancelled = false;
        mpi__begins(call, held, false);
    }
}

/* One that is said to have started, in a call that has not failed. */
static void started(const mpi_call *call, mpi_held *held, MPI_Request request)
{
    held->is_active = true;
    if (held->kind == MPI__RECEIVE)
        mpi__open_add(held);
    handle_follow(held, request);
    if (held->kind == MPI__SEND)
        mpi__note_sent(call, MPI_SUCCESS, held->bytes, held);
}

void mpi__note_start(const mpi_call *call, int result, mpi_hold *hold,
                     const MPI_Request *requests)
{
    bool sent = false;

    for (int i = 0; i < hold->count; i++) {
        mpi_held *held = &hold->items[i];
        if (held->kind == MPI__NOTHING)
            continue;
        sent |= held->kind == MPI__SEND && result == MPI_SUCCESS;
        if (result == MPI_SUCCESS) {
            started(call, held, requests[i]);
            continue;
        }
        mpi__spoiled(call, held);
        if (mpi__is_threaded)
            mpi__request_add(held);
    }
    if (!sent)
        mpi__note_local(call, result, 0);
}

static void settle(mpi_held *held)
{
    if (held->kind == MPI__RECEIVE)
        mpi__open_remove(held);
    if (held->is_persistent) {
        held->is_active = false;
        mpi__request_update(held);
    } else if (!held->is_taken) {
        mpi__request_remove(held);
    }
    held->kind = MPI__NOTHING;
}

/* Those that were taken out before a call and have not completed in it. */
static void put_back(const mpi_hold *hold)
{
    for (int i = 0; i < hold->count && hold->some; i++)
        if (hold->items[i].kind != MPI__NOTHING && hold->items[i].is_taken)
            mpi__request_add(&hold->items[i]);
}

/* Where each has a status of its own, some may not have completed. */
static int result_of(int result, const MPI_Status *status)
{
    return result == MPI_ERR_IN_STATUS ? status->MPI_ERROR : result;
}

void mpi__note_completed(const mpi_call *call, int result, mpi_hold *hold,
                         int count, const int *indexes,
                         const MPI_Status *statuses)
{
    bool some = false;

    for (int i = 0; i < count && hold->some; i++) {
        mpi_held *held = &hold->items[indexes ? indexes[i] : i];
        int own = MPI_SUCCESS;
        if (!held->kind || !held->is_active)
            continue;
        if (statuses && statuses != MPI_STATUSES_IGNORE)
            own = result_of(result, &statuses[i]);
        if (own == MPI_ERR_PENDING)
            continue;
        if (held->kind == MPI__RECEIVE) {
            mpi__note_received(call, own, held,
                               statuses == MPI_STATUSES_IGNORE ? NULL
                                                               : &statuses[i]);
            some = true;
        }
        settle(held);
    }
    if (!some)
        mpi__note_local(call, result, 0);
    put_back(hold);
}

/* One that is persistent may keep its handle: which of several has failed, is
 * not known then. */
static bool has_ended(const mpi_hold *hold, const mpi_held *held,
                      MPI_Request request)
{
    return held->kind != MPI__NOTHING && held->is_active &&
           (request == MPI_REQUEST_NULL ||
            (held->is_persistent && hold->count == 1));
}

/* Those that it has freed have ended, too, and whether they have had messages
 * is not known. */
void mpi__note_failed(const mpi_call *call, int result, mpi_hold *hold,
                      const MPI_Request *requests)
{
    for (int i = 0; i < hold->count && hold->some; i++) {
        mpi_held *held = &hold->items[i];
        if (!has_ended(hold, held, requests[i]))
            continue;
        if (held->kind == MPI__RECEIVE)
            mpi__spoiled(call, held);
        held->is_persistent &= requests[i] != MPI_REQUEST_NULL;
        settle(held);
    }
    mpi__note_local(call, result, 0);
    put_back(hold);
}

/* Another thread may be given the handle as soon as it is free. Whether one was
 * cancelled, nobody can ask then. */
mpi_doubt mpi__frees(mpi_hold *hold, MPI_Request request)
{
    mpi_held *held = &hold->items[0];
    MPI_Status status;
    int is_complete = 0;

    if (!hold->some)
        return MPI__IS_UNDER_WAY;
    mpi__request_remove(held);
    if (!held->is_active || !held->is_cancelled)
        return MPI__IS_UNDER_WAY;
    if (PMPI_Request_get_status(request, &is_complete, &status) !=
            MPI_SUCCESS ||
        !is_complete)
        return MPI__MAY_HAVE_BEEN;
    return mpi__was_cancelled(held, &status) ? MPI__WAS_NONE
                                             : MPI__IS_UNDER_WAY;
}

/* A receive that nobody waits for still takes a message; which one is not known
 * where it would have taken several. */
void mpi__note_freed(const mpi_call *call, int result, mpi_hold *hold,
                     mpi_doubt doubt)
{
    mpi_held *held = &hold->items[0];

    mpi__note_local(call, result, 0);
    if (!hold->some)
        return;
    if (result != MPI_SUCCESS) {
        mpi__request_add(held);
        return;
    }
    if (held->kind != MPI__RECEIVE || !held->is_active)
        return;
    mpi__open_remove(held);
    if (doubt == MPI__WAS_NONE)
        mpi__withdrawn(call, held);
    if (doubt != MPI__IS_UNDER_WAY || held->peer < 0 || held->tag < 0)
        return; /* it has begun, and nobody will know how it has ended */
    mpi__end_alone(call, held);
}

/* Of a send, nobody knows here whether its message has left. */
void mpi__cancelled(mpi_self *self, MPI_Request request)
{
    mpi_held held;

    if (!mpi__request_find(&held, MPI__BITS(request), false) ||
        held.kind != MPI__RECEIVE) {
        eventspace_recorder_lose_message(self->thread);
        return;
    }
    held.is_cancelled = true;
    mpi__request_update(&held);
}
