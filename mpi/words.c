/* words.c - what calls leave: an event for each, and a message for each end. */
#include "mpi/words.h"

#include <stdlib.h>

#include "pastset/status.h"

#define BIG UINT32_MAX
/* Bytes that both libraries send before they are received. */
#define UNASKED 2048

/* --- events --- */

static uint16_t status_of(int result)
{
    return result == MPI_SUCCESS ? 0 : (uint16_t)-PASTSET_EIO;
}

static eventspace_trace event_of(const mpi_call *call, int result,
                                 int64_t bytes)
{
    return (eventspace_trace){.start = call->start,
                              .end = call->end,
                              .sequence = ++call->self->thread->sequence,
                              .bytes = bytes < 0     ? 0
                                       : bytes > BIG ? BIG
                                                     : (uint32_t)bytes,
                              .status = status_of(result)};
}

static void leave(const mpi_call *call, const mpi_place *place,
                  eventspace_trace *event)
{
    event->operation = place->verb;
    if (__builtin_expect(place->is_lost, 0)) {
        eventspace_recorder_lose(mpi__recorder);
        return;
    }
    if (place->joining != MPI__NONE) { /* what is below comes up first */
        event->collector = place->joining;
        eventspace_record(call->self->thread, event);
    }
    event->collector = place->collector;
    eventspace_record(call->self->thread, event);
}

void mpi__note_local(const mpi_call *call, int result, int64_t bytes)
{
    eventspace_trace event;

    if (call->is_quiet)
        return;
    event = event_of(call, result, bytes);
    leave(call, mpi__place(call, MPI__LOCAL, NULL, 0), &event);
}

/* --- messages --- */

void mpi__message_leave(const mpi_call *call, const mpi_place *place,
                        eventspace_message *message)
{
    message->channel = place->channel;
    message->operation = place->operation;
    message->kind |= EVENTSPACE_MESSAGE_COUNTED;
    if (call->is_quiet)
        message->kind |= EVENTSPACE_MESSAGE_HIDDEN;
    if (__builtin_expect(place->is_lost, 0))
        eventspace_recorder_lose_message(call->self->thread);
    else if (place->channel != MPI__NONE)
        eventspace_record_message(call->self->thread, message);
}

void mpi__begin(const mpi_call *call, mpi_held *held, mpi_request_kind kind,
                int peer, int tag, MPI_Comm comm, bool ends)
{
    *held = (mpi_held){.kind = (uint8_t)kind,
                       .is_active = true,
                       .peer = peer,
                       .tag = tag,
                       .comm = mpi__comm_of(call->self, comm)};
    mpi__begins(call, held, ends);
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

/* An end of a message, with the event of its call. */
static void end_leave(const mpi_call *call, const mpi_held *held, int peer,
                      int tag, int64_t bytes)
{
    bool is_sent = held->kind == MPI__SEND;
    const mpi_place *place = place_of(call, held, peer);
    eventspace_message message = {.tick = is_sent ? call->start : call->end,
                                  .bytes = bytes < 0 ? 0 : (uint64_t)bytes,
                                  .ordinal = held->order,
                                  .tag = tag,
                                  .kind = is_sent
                                              ? EVENTSPACE_MESSAGE_SENT
                                              : EVENTSPACE_MESSAGE_RECEIVED};

    if (!call->is_quiet) {
        eventspace_trace event = event_of(call, MPI_SUCCESS, bytes);
        leave(call, place, &event);
    }
    message.call = call->self->thread->sequence;
    mpi__ended(call, held, place, &message);
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

    mpi__ended(call, held, place, &message);
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

void mpi__note_collective(const mpi_call *call, int result, mpi_target target,
                          int64_t bytes, int root, MPI_Comm comm)
{
    eventspace_trace event;

    if (call->is_quiet)
        return;
    event = event_of(call, result, bytes);
    leave(call, mpi__place(call, target, mpi__comm_of(call->self, comm), root),
          &event);
}

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

/* --- bytes --- */

int64_t mpi__bytes(mpi_self *self, int64_t count, MPI_Datatype type)
{
    uint64_t bits = MPI__BITS(type);
    mpi_type *known = &self->types[(bits >> 8 ^ bits >> 4 ^ bits) % MPI__TYPES];
    uint32_t now =
        atomic_load_explicit(&mpi__type_generation, memory_order_relaxed);
    MPI_Count bytes = 0;

    if (known->type == type && known->generation == now)
        return count * known->bytes;
    if (type == MPI_DATATYPE_NULL ||
        PMPI_Type_size_x(type, &bytes) != MPI_SUCCESS || bytes < 0)
        return 0;
    *known = (mpi_type){type, now, bytes};
    return count * bytes;
}

void mpi__type_freed(void)
{
    atomic_fetch_add(&mpi__type_generation, 1);
}

/* Of the group that is communicated with. */
int mpi__comm_size(MPI_Comm comm)
{
    int size = 0, inter = 0;

    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return 0;
    if (inter)
        PMPI_Comm_remote_size(comm, &size);
    else
        PMPI_Comm_size(comm, &size);
    return size;
}

int mpi__degree(MPI_Comm comm)
{
    int kind = MPI_UNDEFINED, rank, in, weighted, count = 0;

    if (PMPI_Topo_test(comm, &kind) != MPI_SUCCESS)
        return 0;
    if (kind == MPI_CART && PMPI_Cartdim_get(comm, &count) == MPI_SUCCESS)
        return 2 * count;
    if (kind == MPI_GRAPH && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS)
        PMPI_Graph_neighbors_count(comm, rank, &count);
    else if (kind == MPI_DIST_GRAPH)
        PMPI_Dist_graph_neighbors_count(comm, &in, &count, &weighted);
    return count;
}

/* By counts of either kind. */
#define BYTES_OF(suffix, number)                                               \
    int64_t mpi__bytes_of_all##suffix(mpi_self *self, const number *counts,    \
                                      MPI_Datatype type, int size)             \
    {                                                                          \
        int64_t count = 0;                                                     \
                                                                               \
        for (int i = 0; i < size; i++)                                         \
            count += counts[i];                                                \
        return mpi__bytes(self, count, type);                                  \
    }                                                                          \
    int64_t mpi__bytes_of_each##suffix(mpi_self *self, const number *counts,   \
                                       const MPI_Datatype *types, int size)    \
    {                                                                          \
        int64_t bytes = 0;                                                     \
                                                                               \
        for (int i = 0; i < size; i++)                                         \
            bytes += counts[i] ? mpi__bytes(self, counts[i], types[i]) : 0;    \
        return bytes;                                                          \
    }

BYTES_OF(, int)
#ifdef MPICH_VERSION
BYTES_OF(_c, MPI_Count)
#endif

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

void mpi__started(const mpi_call *call, int result, const mpi_held *held,
                  MPI_Request request)
{
    mpi_held own = *held;

    mpi__note_local(call, result, own.bytes);
    own.request = MPI__BITS(request);
    if (result != MPI_SUCCESS && own.kind == MPI__RECEIVE && own.is_active)
        mpi__withdrawn(call, held);
    if (result == MPI_SUCCESS && own.kind != MPI__NOTHING &&
        own.peer != MPI_PROC_NULL) {
        if (own.kind == MPI__RECEIVE && own.is_active)
            mpi__open_change(1);
        mpi__request_add(&own);
    }
}

/* What the library may keep until there is a receive for it: a send that is
 * synchronous, or longer than what goes along unasked. */
void mpi__sending(const mpi_call *call, int result, int64_t bytes,
                  const mpi_held *held, MPI_Request request)
{
    mpi_held own = *held;

    mpi__note_sent(call, result, bytes, held);
    own.request = MPI__BITS(request);
    own.bytes = bytes;
    if (result == MPI_SUCCESS && own.peer != MPI_PROC_NULL &&
        (bytes > UNASKED || call->number == MPI__CALL_MPI_Issend))
        mpi__request_add(&own);
}

/* One library gives some of them another handle when they start. */
static void handle_follow(mpi_held *held, MPI_Request request)
{
    if (held->request == MPI__BITS(request)) {
        mpi__request_update(held);
        return;
    }
    mpi__request_remove(held);
    held->request = MPI__BITS(request);
    mpi__request_add(held);
}

void mpi__starts(const mpi_call *call, mpi_hold *hold)
{
    for (int i = 0; i < hold->count && hold->some; i++)
        if (hold->items[i].kind != MPI__NOTHING)
            mpi__begins(call, &hold->items[i], false);
}

/* One that is said to have started, in a call that has not failed. */
static void started(const mpi_call *call, mpi_held *held, MPI_Request request)
{
    held->is_active = true;
    if (held->kind == MPI__RECEIVE)
        mpi__open_change(1);
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
        if (result == MPI_SUCCESS)
            started(call, held, requests[i]);
        else
            spoiled(call, held);
    }
    if (!sent)
        mpi__note_local(call, result, 0);
}

static void settle(mpi_held *held)
{
    if (held->kind == MPI__RECEIVE)
        mpi__open_change(-1);
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

    if (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS)
        count = 0;
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

/* A receive that nobody waits for still takes a message; which one is not known
 * where it would have taken several. */
void mpi__note_freed(const mpi_call *call, int result, const mpi_hold *hold)
{
    const mpi_held *held = &hold->items[0];
    eventspace_message message = {.tick = call->end,
                                  .ordinal = held->order,
                                  .tag = held->tag,
                                  .kind = EVENTSPACE_MESSAGE_RECEIVED};

    mpi__note_local(call, result, 0);
    if (result != MPI_SUCCESS || !hold->some)
        return;
    mpi__request_remove(held);
    if (held->kind != MPI__RECEIVE || !held->is_active)
        return;
    mpi__open_change(-1);
    if (held->peer < 0 || held->tag < 0)
        return; /* it has begun, and nobody will know how it has ended */
    message.call = call->self->thread->sequence;
    mpi__ended(call, held, place_of(call, held, held->peer), &message);
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
