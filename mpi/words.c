/* words.c - what calls leave: an event for each, and a message for each end. */
#include "mpi/words.h"

#include <stdlib.h>

#include "pastset/status.h"

#define BIG UINT32_MAX
/* Bytes that both libraries send before they are received. */
#define UNASKED 2048

/* --- sends that may wait --- */

static bool is_synchronous(uint16_t number)
{
    switch (number) {
    case MPI__CALL_MPI_Ssend:
    case MPI__CALL_MPI_Issend:
#ifdef MPICH_VERSION
    case MPI__CALL_MPI_Ssend_c:
    case MPI__CALL_MPI_Issend_c:
#endif
        return true;
    default:
        return false;
    }
}

bool mpi__may_block(const mpi_call *call, int64_t bytes)
{
    return bytes > UNASKED || is_synchronous(call->number);
}

/* --- events --- */

static uint16_t status_of(int result)
{
    return result == MPI_SUCCESS ? 0 : (uint16_t)-PASTSET_EIO;
}

static inline void event_leave(const mpi_call *call, const mpi_place *place,
                               uint32_t collector, int64_t bytes,
                               uint16_t status)
{
    eventspace_trace event = {.start = call->start,
                              .end = call->end,
                              .collector = collector,
                              .sequence = call->self->thread->sequence,
                              .bytes = bytes < 0     ? 0
                                       : bytes > BIG ? BIG
                                                     : (uint32_t)bytes,
                              .operation = place->verb,
                              .status = status};

    eventspace_record(call->self->thread, &event);
}

static void leave(const mpi_call *call, const mpi_place *place, int result,
                  int64_t bytes)
{
    uint16_t status = status_of(result);

    call->self->thread->sequence++;
    if (__builtin_expect(place->is_lost, 0)) {
        eventspace_recorder_lose(mpi__recorder);
        return;
    }
    if (place->joining != MPI__NONE) /* what is below comes up first */
        event_leave(call, place, place->joining, bytes, status);
    event_leave(call, place, place->collector, bytes, status);
}

void mpi__note_local(const mpi_call *call, int result, int64_t bytes)
{
    if (!call->is_quiet)
        leave(call, mpi__place(call, MPI__LOCAL, NULL, 0), result, bytes);
}

/* --- messages --- */

void mpi__message_leave(const mpi_call *call, const mpi_place *place,
                        const eventspace_message *message)
{
    eventspace_message own = *message;

    own.channel = place->channel;
    own.operation = place->operation;
    own.kind |= EVENTSPACE_MESSAGE_COUNTED;
    if (call->is_quiet)
        own.kind |= EVENTSPACE_MESSAGE_HIDDEN;
    if (__builtin_expect(place->is_lost, 0))
        eventspace_recorder_lose_message(call->self->thread);
    else if (place->channel != MPI__NONE)
        eventspace_record_message(call->self->thread, &own);
}

void mpi__begin(const mpi_call *call, mpi_held *held, mpi_request_kind kind,
                int peer, int tag, MPI_Comm comm, bool ends)
{
    /* One by one, as gcc clears what is as long as this by `rep stos`. */
    held->request = 0;
    held->kind = (uint8_t)kind;
    held->is_persistent = held->is_cancelled = held->is_message =
        held->is_taken = held->is_synchronous = false;
    held->is_active = true;
    held->peer = peer;
    held->tag = tag;
    held->id = 0;
    held->comm = mpi__comm_of(call->self, comm);
    held->bytes = 0;
    held->world = held->communicator = held->collector = held->flags = 0;
    held->posted = NULL;
    mpi__begins(call, held, ends);
}

static void ended(const mpi_call *call, const mpi_held *held,
                  const mpi_place *place, const eventspace_message *message)
{
    if (mpi__overtook(held))
        mpi__ended(call, held, place, message);
    else
        mpi__message_leave(call, place, message);
}

/* Where its end belongs; `peer` as it turned out. */
static const mpi_place *place_of(const mpi_call *call, const mpi_held *held,
                                 int peer)
{
    if (call->is_quiet)
        return mpi__place_of_channel(
            call, held->kind == MPI__SEND ? MPI__SENDS : MPI__RECEIVES,
            held->comm, peer, held->thread);
    if (held->kind == MPI__SEND)
        return mpi__place(call, MPI__SENDS, held->comm, peer);
    return mpi__place_of(call, held->comm, peer, held->thread);
}

static inline eventspace_message
end_message(const mpi_call *call, const mpi_held *held, int tag, int64_t bytes)
{
    bool is_sent = held->kind == MPI__SEND;

    return (eventspace_message){
        .tick = is_sent ? call->start : call->end,
        .bytes = bytes < 0 ? 0 : (uint64_t)bytes,
        .ordinal = held->order,
        .call = call->self->thread->sequence,
        .tag = tag,
        .kind =
            (is_sent ? EVENTSPACE_MESSAGE_SENT : EVENTSPACE_MESSAGE_RECEIVED) |
            EVENTSPACE_MESSAGE_COUNTED};
}

/* An end of a message, with the event of its call. */
static void end_leave(const mpi_call *call, const mpi_held *held, int peer,
                      int tag, int64_t bytes)
{
    const mpi_place *place = place_of(call, held, peer);

    if (!call->is_quiet)
        leave(call, place, MPI_SUCCESS, bytes);
    if (call->is_quiet || place->channel == MPI__NONE || mpi__overtook(held)) {
        eventspace_message message = end_message(call, held, tag, bytes);
        ended(call, held, place, &message);
    } else { /* in registers: see eventspace_record */
        eventspace_message message = end_message(call, held, tag, bytes);
        message.channel = place->channel;
        message.operation = place->operation;
        eventspace_record_message(call->self->thread, &message);
    }
}

static const mpi_place *begun_make(eventspace_message *out,
                                   const mpi_call *call, const mpi_held *held,
                                   mpi_doubt doubt)
{
    bool is_sent = held->kind == MPI__SEND;

    *out = (eventspace_message){
        .tick = call->end,
        .ordinal = held->order,
        .call = call->self->thread->sequence,
        .tag =
            held->tag == MPI_ANY_TAG ? EVENTSPACE_MESSAGE_ANY_TAG : held->tag,
        .kind = doubt == MPI__WAS_NONE ? EVENTSPACE_MESSAGE_WITHDRAWN
                : is_sent              ? EVENTSPACE_MESSAGE_SENDING
                                       : EVENTSPACE_MESSAGE_POSTED,
        .status = doubt == MPI__MAY_HAVE_BEEN ? (uint16_t)-PASTSET_EIO : 0};

    return mpi__place_of_channel(call, is_sent ? MPI__SENDS : MPI__RECEIVES,
                                 held->comm, held->peer, held->thread);
}

void mpi__note_begun(const mpi_call *call, const mpi_held *held,
                     mpi_doubt doubt)
{
    eventspace_message message;
    const mpi_place *place = begun_make(&message, call, held, doubt);

    mpi__message_leave(call, place, &message);
}

/* Whether there was a message is not known. */
static void spoiled(const mpi_call *call, const mpi_held *held)
{
    eventspace_message message;
    const mpi_place *place =
        begun_make(&message, call, held, MPI__MAY_HAVE_BEEN);

    ended(call, held, place, &message);
}

void mpi__note_sent(const mpi_call *call, int result, int64_t bytes,
                    const mpi_held *held)
{
    if (result == MPI_SUCCESS) {
        end_leave(call, held, held->peer, held->tag, bytes);
        return;
    }
    spoiled(call, held);
    mpi__note_local(call, result, bytes);
}

void mpi__note_together(const mpi_call *call, int result, mpi_target target,
                        int64_t bytes, int root, mpi_comm *comm)
{
    if (!call->is_quiet)
        leave(call, mpi__place(call, target, comm, root), result, bytes);
}

void mpi__note_collective(const mpi_call *call, int result, mpi_target target,
                          int64_t bytes, int root, MPI_Comm comm)
{
    if (!call->is_quiet)
        mpi__note_together(call, result, target, bytes, root,
                           mpi__comm_of(call->self, comm));
}

/* --- receiving --- */

static bool was_cancelled(const mpi_held *held, const MPI_Status *status)
{
    int flag = 0;

    return held->is_cancelled &&
           PMPI_Test_cancelled(status, &flag) == MPI_SUCCESS && flag;
}

void mpi__note_received(const mpi_call *call, int result, const mpi_held *held,
                        const MPI_Status *status)
{
    MPI_Count bytes = 0;

    if (result == MPI_SUCCESS && held->kind == MPI__RECEIVE && status &&
        !was_cancelled(held, status)) {
        PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
        end_leave(call, held, status->MPI_SOURCE, status->MPI_TAG, bytes);
        return;
    }
    if (held->kind == MPI__RECEIVE) {
        if (result == MPI_SUCCESS && status)
            mpi__withdrawn(call, held);
        else
            spoiled(call, held);
    }
    mpi__note_local(call, result, 0);
}

/* Who has asked for one from anybody knows now from whom it is. */
void mpi__note_probed(const mpi_call *call, int result, bool flag,
                      MPI_Message message, mpi_held *held,
                      const MPI_Status *status)
{
    mpi__note_local(call, result, 0);
    mpi__withdrawn(call, held);
    if (result != MPI_SUCCESS || !flag)
        return;
    held->request = MPI__BITS(message);
    held->is_message = true;
    held->peer = status->MPI_SOURCE;
    held->tag = status->MPI_TAG;
    mpi__begins(call, held, false);
    mpi__request_add(held);
}

/* --- requests --- */

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
    held->is_synchronous = is_synchronous(call->number);
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
        spoiled(call, held);
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

/* Those that it has freed have ended, too, and whether they have had messages
 * is not known. */
void mpi__note_failed(const mpi_call *call, int result, mpi_hold *hold,
                      const MPI_Request *requests)
{
    for (int i = 0; i < hold->count && hold->some; i++) {
        mpi_held *held = &hold->items[i];
        if (held->kind == MPI__NOTHING || requests[i] != MPI_REQUEST_NULL)
            continue;
        if (held->kind == MPI__RECEIVE)
            spoiled(call, held);
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
    return was_cancelled(held, &status) ? MPI__WAS_NONE : MPI__IS_UNDER_WAY;
}

/* A receive that nobody waits for still takes a message; which one is not known
 * where it would have taken several. */
void mpi__note_freed(const mpi_call *call, int result, mpi_hold *hold,
                     mpi_doubt doubt)
{
    mpi_held *held = &hold->items[0];
    eventspace_message message = {.tick = call->end,
                                  .kind = EVENTSPACE_MESSAGE_RECEIVED};

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
    message.ordinal = held->order;
    message.tag = held->tag;
    message.call = call->self->thread->sequence;
    ended(call, held, place_of(call, held, held->peer), &message);
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
