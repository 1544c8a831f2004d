/* words.c - what calls leave: an event for each, and a message for each end. */
#include "mpi/words.h"

#include "pastset/status.h"

#define BIG UINT32_MAX
/* Bytes that both libraries send before they are received. */
#define UNASKED 2048

/* --- sends that may wait --- */

bool mpi__is_synchronous(uint16_t number)
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
    return bytes > UNASKED || mpi__is_synchronous(call->number);
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

void mpi__end_alone(const mpi_call *call, const mpi_held *held)
{
    eventspace_message message = end_message(call, held, held->tag, 0);

    ended(call, held, place_of(call, held, held->peer), &message);
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

void mpi__spoiled(const mpi_call *call, const mpi_held *held)
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
    mpi__spoiled(call, held);
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

bool mpi__was_cancelled(const mpi_held *held, const MPI_Status *status)
{
    int flag = 0;

    return held->is_cancelled &&
           PMPI_Test_cancelled(status, &flag) == MPI_SUCCESS && flag;
}

/* As PMPI_Get_elements_x has it, for who waits for it as short as it can be:
 * what mpi.h shows of a status. */
static int64_t bytes_of(const MPI_Status *status)
{
    MPI_Count bytes = 0;

#ifdef OPEN_MPI
    if (status->_ucount <= INT64_MAX)
        return (int64_t)status->_ucount;
#else
    if (status->count_hi_and_cancelled == 0 && status->count_lo >= 0)
        return status->count_lo;
#endif
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    return bytes;
}

void mpi__note_received(const mpi_call *call, int result, const mpi_held *held,
                        const MPI_Status *status)
{
    if (result == MPI_SUCCESS && held->kind == MPI__RECEIVE && status &&
        !mpi__was_cancelled(held, status)) {
        end_leave(call, held, status->MPI_SOURCE, status->MPI_TAG,
                  bytes_of(status));
        return;
    }
    if (held->kind == MPI__RECEIVE) {
        if (result == MPI_SUCCESS && status)
            mpi__withdrawn(call, held);
        else
            mpi__spoiled(call, held);
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
