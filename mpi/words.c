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
    if (__builtin_expect(place->collector == MPI__NONE, 0)) {
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
    eventspace_trace event = event_of(call, result, bytes);

    leave(call, mpi__place(call, MPI__LOCAL, 0, 0), &event);
}

static void message_leave(const mpi_call *call, const mpi_place *place,
                          const eventspace_trace *event, int64_t bytes,
                          uint64_t tick, int tag, uint16_t kind, uint32_t order)
{
    eventspace_message message = {.tick = tick,
                                  .bytes = bytes < 0 ? 0 : (uint64_t)bytes,
                                  .channel = place->channel,
                                  .ordinal = order,
                                  .call = event->sequence,
                                  .operation = place->operation,
                                  .tag = tag,
                                  .kind = kind | EVENTSPACE_MESSAGE_COUNTED,
                                  .status = event->status};

    if (__builtin_expect(place->collector == MPI__NONE, 0))
        eventspace_recorder_lose_message(call->self->thread);
    else if (place->channel != MPI__NONE)
        eventspace_record_message(call->self->thread, &message);
}

void mpi__note_sent(const mpi_call *call, int result, int64_t bytes, int dest,
                    int tag, MPI_Comm comm)
{
    const mpi_place *place =
        mpi__place(call, MPI__SENDS, MPI__BITS(comm), dest);
    eventspace_trace event = event_of(call, result, bytes);

    leave(call, place, &event);
    if (result == MPI_SUCCESS)
        message_leave(call, place, &event, bytes, call->start, tag,
                      EVENTSPACE_MESSAGE_SENT, mpi__next_sent());
}

void mpi__note_collective(const mpi_call *call, int result, mpi_target target,
                          int64_t bytes, int root, MPI_Comm comm)
{
    const mpi_place *place = mpi__place(call, target, MPI__BITS(comm), root);
    eventspace_trace event = event_of(call, result, bytes);

    leave(call, place, &event);
}

/* --- before --- */

/* What a call waits for: nothing that is known, one thing, or one of several.
 */
typedef struct awaited {
    mpi_target target; /* MPI__LOCAL: no single one */
    int peer, tag;
    MPI_Comm comm;
    bool is_any;
} awaited;

static uint64_t tag_of(int tag)
{
    return tag == MPI_ANY_TAG ? PATHS_NOTE_ANY_TAG : (uint64_t)(int64_t)tag;
}

static paths_executor_note note_of(const mpi_call *call, const awaited *what)
{
    const mpi_place *place =
        what->target == MPI__LOCAL
            ? mpi__place(call, MPI__LOCAL, 0, 0)
            : mpi__place(call, what->target, MPI__BITS(what->comm), what->peer);
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

static void wait_for(const mpi_call *call, const awaited *what)
{
    paths_executor_note note = note_of(call, what);

    wait_alone(call, &note);
}

void mpi__waits(const mpi_call *call, mpi_target target, int peer, int tag,
                MPI_Comm comm)
{
    if (peer != MPI_PROC_NULL)
        wait_for(call,
                 &(awaited){target, peer, tag, comm, peer == MPI_ANY_SOURCE});
}

static void waits_at(const mpi_call *call, const awaited *what, uint32_t flags)
{
    paths_executor_note note = note_of(call, what);

    note.flags |= flags;
    wait_alone(call, &note);
}

void mpi__waits_among(const mpi_call *call, mpi_target target, int root,
                      uint32_t flags, MPI_Comm comm)
{
    const mpi_place *place = mpi__place(call, target, MPI__BITS(comm), root);
    bool is_known = target != MPI__COMES || place->rounds;

    waits_at(call, &(awaited){target, root, 0, comm, false},
             is_known ? flags : 0);
}

/* What takes longer than it takes the others to come is not waited for. */
#define QUICK (1 << 20)

void mpi__waits_with_root(const mpi_call *call, mpi_target target, int root,
                          int64_t bytes, MPI_Comm comm)
{
    const mpi_place *place = mpi__place(call, target, MPI__BITS(comm), root);
    bool for_one = place->verb == PASTSET_WRITE && root >= 0 && bytes <= QUICK;

    waits_at(call, &(awaited){target, root, 0, comm, false},
             for_one ? PATHS_NOTE_ONE : 0);
}

void mpi__waits_to_scan(const mpi_call *call, int64_t bytes, MPI_Comm comm)
{
    const mpi_place *place = mpi__place(call, MPI__COMES, MPI__BITS(comm), 0);
    uint32_t flags = bytes <= QUICK ? PATHS_NOTE_ONE : 0;

    mpi__waits_among(call, MPI__COMES, 0,
                     place->is_sorted ? flags | PATHS_NOTE_LOWER : flags, comm);
}

/* While it sends to `dest`, who may not yet have its message when what is
 * received has come. */
void mpi__waits_and_sends(const mpi_call *call, int peer, int tag,
                          MPI_Comm comm, int dest, int sendtag)
{
    paths_executor_note note, sends;

    if (peer == MPI_PROC_NULL) {
        mpi__waits(call, MPI__SENDS, dest, sendtag, comm);
        return;
    }
    note = note_of(call, &(awaited){MPI__RECEIVES, peer, tag, comm,
                                    peer == MPI_ANY_SOURCE});
    if (dest == MPI_PROC_NULL || note.stage == MPI__NONE) {
        wait_alone(call, &note);
        return;
    }
    note.parts = 2 + (note.under_way ? posted_give(call) : 0);
    part_give(call, note, 0);
    sends = note_of(call, &(awaited){MPI__SENDS, dest, sendtag, comm, false});
    part_give(call, sends, PATHS_NOTE_MAYBE);
    note_give(call, &note);
}

void mpi__waits_for_all(const mpi_call *call)
{
    paths_executor_note note = note_of(call, &(awaited){.target = MPI__LOCAL});

    note.flags = PATHS_NOTE_ALL;
    wait_alone(call, &note);
}

void mpi__waits_for_ranks(const mpi_call *call, const uint32_t *ranks,
                          int count)
{
    paths_executor_note note = note_of(call, &(awaited){.target = MPI__LOCAL});

    if (count == 0 || note.stage == MPI__NONE)
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
    return (awaited){first->kind == MPI__SEND ? MPI__SENDS : MPI__RECEIVES,
                     first->peer, first->tag, first->comm,
                     first->peer == MPI_ANY_SOURCE};
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
    paths_executor_note note = note_of(call, &what);

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
        polled(
            call,
            &(awaited){MPI__RECEIVES, peer, tag, comm, peer == MPI_ANY_SOURCE},
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

/* By counts of either kind. */
#define BYTES_OF(suffix, number)                                               \
    int64_t mpi__bytes_of_all##suffix(mpi_self *self, const number *counts,    \
                                      MPI_Datatype type, MPI_Comm comm)        \
    {                                                                          \
        int size = mpi__comm_size(comm);                                       \
        int64_t count = 0;                                                     \
                                                                               \
        for (int i = 0; i < size; i++)                                         \
            count += counts[i];                                                \
        return mpi__bytes(self, count, type);                                  \
    }                                                                          \
    int64_t mpi__bytes_of_each##suffix(mpi_self *self, const number *counts,   \
                                       const MPI_Datatype *types,              \
                                       MPI_Comm comm)                          \
    {                                                                          \
        int size = mpi__comm_size(comm);                                       \
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
    const mpi_place *place;
    eventspace_trace event;
    MPI_Count bytes = 0;

    if (result != MPI_SUCCESS || held->kind != MPI__RECEIVE || !status ||
        was_cancelled(held, status)) {
        mpi__note_local(call, result, 0);
        return;
    }
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    place = mpi__place_of(call, MPI__BITS(held->comm), status->MPI_SOURCE,
                          held->thread);
    event = event_of(call, result, bytes);
    leave(call, place, &event);
    message_leave(call, place, &event, bytes, call->end, status->MPI_TAG,
                  EVENTSPACE_MESSAGE_RECEIVED, held->order);
}

void mpi__note_probed(const mpi_call *call, int result, MPI_Message message,
                      MPI_Comm comm, const MPI_Status *status)
{
    mpi_held held = {.kind = MPI__RECEIVE,
                     .is_active = true,
                     .is_message = true,
                     .request = MPI__BITS(message),
                     .comm = comm};

    mpi__note_local(call, result, 0);
    if (result != MPI_SUCCESS)
        return;
    held.peer = status->MPI_SOURCE;
    held.tag = status->MPI_TAG;
    held.order = mpi__next_posted();
    held.thread = call->self->thread->number;
    mpi__request_add(&held);
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
    const mpi_place *peer =
        mpi__peer(call->self, MPI__BITS(held->comm), held->peer);

    held->world = peer->peer;
    held->communicator = peer->communicator;
}

void mpi__started(const mpi_call *call, int result, const mpi_held *held,
                  MPI_Request request)
{
    mpi_held own = *held;

    mpi__note_local(call, result, own.bytes);
    own.request = MPI__BITS(request);
    if (result == MPI_SUCCESS && own.kind != MPI__NOTHING &&
        own.peer != MPI_PROC_NULL) {
        peer_fill(call, &own);
        if (own.kind == MPI__RECEIVE && own.is_active)
            mpi__open_add(&own);
        mpi__request_add(&own);
    }
}

static bool is_synchronous(uint16_t number)
{
#ifdef MPICH_VERSION
    if (number == MPI__CALL_MPI_Issend_c)
        return true;
#endif
    return number == MPI__CALL_MPI_Issend;
}

/* What the library may keep until there is a receive for it: a send that is
 * synchronous, or longer than what goes along unasked. */
void mpi__sending(const mpi_call *call, int result, int64_t bytes,
                  const mpi_held *held, MPI_Request request)
{
    mpi_held own = *held;

    mpi__note_sent(call, result, bytes, held->peer, held->tag, held->comm);
    own.request = MPI__BITS(request);
    own.bytes = bytes;
    own.is_synchronous = is_synchronous(call->number);
    if (result != MPI_SUCCESS || own.peer == MPI_PROC_NULL ||
        (bytes <= UNASKED && !own.is_synchronous))
        return;
    peer_fill(call, &own);
    mpi__request_add(&own);
}

/* Which collective it is that was started, and for whom its end waits. */
static bool round_fill(const mpi_call *call, mpi_held *held, mpi_coming coming,
                       int root)
{
    const mpi_place *place =
        mpi__place(call, MPI__COMES, MPI__BITS(held->comm), 0);
    bool has_root =
        coming == MPI__COME_FROM_ROOT || coming == MPI__COME_TO_ROOT;
    uint32_t its = MPI__NONE;

    if (!place->rounds || place->collector == MPI__NONE)
        return false;
    held->collector = place->collector;
    held->order = atomic_fetch_add(place->rounds, 1) + 1;
    if (has_root)
        its = mpi__peer(call->self, MPI__BITS(held->comm), root)->peer;
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
                     .comm = comm,
                     .world = MPI__NONE};

    mpi__note_collective(call, result, MPI__COMES, bytes, 0, comm);
    if (result == MPI_SUCCESS && round_fill(call, &held, coming, root))
        mpi__request_add(&held);
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

void mpi__note_start(const mpi_call *call, int result, mpi_hold *hold,
                     const MPI_Request *requests)
{
    bool sent = false;

    for (int i = 0; i < hold->count && result == MPI_SUCCESS; i++) {
        mpi_held *held = &hold->items[i];
        mpi_held before = *held;
        if (held->kind == MPI__NOTHING)
            continue;
        if (before.request != MPI__BITS(requests[i]))
            mpi__request_remove(&before);
        held->is_active = true;
        held->thread = call->self->thread->number;
        if (held->kind == MPI__RECEIVE) {
            held->order = mpi__next_posted();
            mpi__open_add(held);
        }
        handle_follow(held, requests[i]);
        if (held->kind == MPI__SEND) {
            mpi__note_sent(call, result, held->bytes, held->peer, held->tag,
                           held->comm);
            sent = true;
        }
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
    mpi_held *held = &hold->items[0];
    const mpi_place *place;
    eventspace_trace event = {.sequence = 0};

    mpi__note_local(call, result, 0);
    if (result != MPI_SUCCESS || !hold->some)
        return;
    mpi__request_remove(held);
    if (held->kind != MPI__RECEIVE || !held->is_active)
        return;
    mpi__open_remove(held);
    if (held->peer < 0 || held->tag < 0) {
        eventspace_recorder_lose_message(call->self->thread);
        return;
    }
    place =
        mpi__place_of(call, MPI__BITS(held->comm), held->peer, held->thread);
    event.sequence = call->self->thread->sequence;
    message_leave(call, place, &event, 0, call->end, held->tag,
                  EVENTSPACE_MESSAGE_RECEIVED, held->order);
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
