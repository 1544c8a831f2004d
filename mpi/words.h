/* words.h - what calls mean. Each word that calls.def uses has here what is to
 * be done before the PMPI_ call, with the names of roles for the arguments, and
 * after it. */
#ifndef MPI_WORDS_H
#define MPI_WORDS_H

#include "mpi/interpose.h"

/* The process records no more; `failure` NULL: it has finished. */
void mpi__over(const char *failure);

/* Those of a call before it, as it may free them. */
typedef struct mpi_hold {
    mpi_held *items;
    mpi_held few[4];
    int count;
    bool some; /* one of them is known */
} mpi_hold;

/* --- before a call --- */

/* It may have to wait for this peer, which may be any, or for all others of the
 * communicator. */
void mpi__waits(const mpi_call *call, mpi_target target, int peer, int tag,
                MPI_Comm comm);
/* Whether a send of so many bytes may have to wait for its receive: shorter
 * ones go along unasked, unless they are synchronous. */
bool mpi__may_block(const mpi_call *call, int64_t bytes);
/* For what is about to be sent, or received. */
void mpi__waits_for(const mpi_call *call, const mpi_held *held);
/* For those that were started: all of them, or one. */
void mpi__waits_for_held(const mpi_call *call, const mpi_hold *hold,
                         bool for_one);

void mpi__waits_and_sends(const mpi_call *call, const mpi_held *received,
                          const mpi_held *sent);
/* For members of the communicator: `flags` of a note say which of them. */
void mpi__waits_among(const mpi_call *call, mpi_target target, int root,
                      uint32_t flags, MPI_Comm comm);
/* For the root, or, as the root, for all others. */
void mpi__waits_with_root(const mpi_call *call, mpi_target target, int root,
                          int64_t bytes, MPI_Comm comm);
/* For those of lower rank. */
void mpi__waits_to_scan(const mpi_call *call, int64_t bytes, MPI_Comm comm);
/* For one of them at least, by rank in MPI_COMM_WORLD. */
void mpi__waits_for_ranks(const mpi_call *call, const uint32_t *ranks,
                          int count);
/* For all processes, to do the same. */
void mpi__waits_for_all(const mpi_call *call);

/* --- after a call --- */

/* It has asked for what has not come; after its event. Who does nothing else
 * for a while waits for it. */
void mpi__polled(const mpi_call *call, int peer, int tag, MPI_Comm comm);
void mpi__polled_held(const mpi_call *call, const mpi_hold *hold, bool for_one);

/* Nobody else is concerned. */
void mpi__note_local(const mpi_call *call, int result, int64_t bytes);
/* Says in `held` what is about to begin. */
void mpi__begin(const mpi_call *call, mpi_held *held, mpi_request_kind kind,
                int peer, int tag, MPI_Comm comm, bool ends);
/* A part of the call went to this peer. */
void mpi__note_sent(const mpi_call *call, int result, int64_t bytes,
                    const mpi_held *held);
/* What is known of one that began and has not ended. */
typedef enum mpi_doubt {
    MPI__IS_UNDER_WAY,
    MPI__MAY_HAVE_BEEN, /* it has failed */
    MPI__WAS_NONE,
} mpi_doubt;
void mpi__note_begun(const mpi_call *call, const mpi_held *held,
                     mpi_doubt doubt);
/* Writes down a tuple of the channel of the place. */
void mpi__message_leave(const mpi_call *call, const mpi_place *place,
                        const eventspace_message *message);
/* A receive ends without an event of its own. */
void mpi__end_alone(const mpi_call *call, const mpi_held *held);
/* Whether there was a message is not known. */
void mpi__spoiled(const mpi_call *call, const mpi_held *held);
/* As its status says. */
bool mpi__was_cancelled(const mpi_held *held, const MPI_Status *status);
/* A call whose send ends when it is received. */
bool mpi__is_synchronous(uint16_t number);
void mpi__note_collective(const mpi_call *call, int result, mpi_target target,
                          int64_t bytes, int root, MPI_Comm comm);
/* The same of one whose handle may have been freed. */
void mpi__note_together(const mpi_call *call, int result, mpi_target target,
                        int64_t bytes, int root, mpi_comm *comm);

/* Bytes of elements of a datatype. */
int64_t mpi__bytes(mpi_self *self, int64_t count, MPI_Datatype type);
int mpi__comm_size(MPI_Comm comm);
/* How many neighbors a process sends to. */
int mpi__degree(MPI_Comm comm);
/* Of so many. */
int64_t mpi__bytes_of_all(mpi_self *self, const int *counts, MPI_Datatype type,
                          int size);
int64_t mpi__bytes_of_each(mpi_self *self, const int *counts,
                           const MPI_Datatype *types, int size);
#ifdef MPICH_VERSION /* large counts */
int64_t mpi__bytes_of_all_c(mpi_self *self, const MPI_Count *counts,
                            MPI_Datatype type, int size);
int64_t mpi__bytes_of_each_c(mpi_self *self, const MPI_Count *counts,
                             const MPI_Datatype *types, int size);
#define MPI__BYTES_OF_ALL(self, counts, type, size)                            \
    _Generic((counts), const MPI_Count *                                       \
             : mpi__bytes_of_all_c, default                                    \
             : mpi__bytes_of_all)(self, (const void *)(counts), type, size)
#define MPI__BYTES_OF_EACH(self, counts, types, size)                          \
    _Generic((counts), const MPI_Count *                                       \
             : mpi__bytes_of_each_c, default                                   \
             : mpi__bytes_of_each)(self, (const void *)(counts), types, size)
#else
#define MPI__BYTES_OF_ALL mpi__bytes_of_all
#define MPI__BYTES_OF_EACH mpi__bytes_of_each
#endif

/* --- requests --- */

void mpi__hold(mpi_hold *hold, mpi_self *self, int count,
               const MPI_Request *requests);
MPI_Status *mpi__statuses(mpi_self *self, int count);

void mpi__started(const mpi_call *call, int result, mpi_held *held,
                  MPI_Request request);
void mpi__sending(const mpi_call *call, int result, int64_t bytes,
                  mpi_held *held, MPI_Request request);
/* Who has to start a collective before it ends. */
typedef enum mpi_coming {
    MPI__COME_ALL,
    MPI__COME_SCAN, /* those of lower rank */
    MPI__COME_FROM_ROOT,
    MPI__COME_TO_ROOT, /* for the root: all; for others, nobody knows */
} mpi_coming;
void mpi__begun(const mpi_call *call, int result, int64_t bytes,
                mpi_coming coming, int root, MPI_Comm comm,
                MPI_Request request);
void mpi__starts(const mpi_call *call, mpi_hold *hold);
void mpi__note_start(const mpi_call *call, int result, mpi_hold *hold,
                     const MPI_Request *requests);
/* Those with these indexes have completed; NULL: all of them. `statuses` are
 * theirs, in that order. */
void mpi__note_completed(const mpi_call *call, int result, mpi_hold *hold,
                         int count, const int *indexes,
                         const MPI_Status *statuses);
/* A call that was to complete them has failed; `requests` as it left them. */
void mpi__note_failed(const mpi_call *call, int result, mpi_hold *hold,
                      const MPI_Request *requests);
void mpi__note_received(const mpi_call *call, int result, const mpi_held *held,
                        const MPI_Status *status);

/* `held`: as it began; `flag`: there is one. */
void mpi__note_probed(const mpi_call *call, int result, bool flag,
                      MPI_Message message, mpi_held *held,
                      const MPI_Status *status);
/* Has the receive of what was found failed? It may then still be received:
 * `message` as the call has left it. */
bool mpi__note_not_taken(const mpi_call *call, int result, const mpi_held *held,
                         MPI_Message message);
/* It is about to be freed: what is known of what it has taken. */
mpi_doubt mpi__frees(mpi_hold *hold, MPI_Request request);
void mpi__note_freed(const mpi_call *call, int result, mpi_hold *hold,
                     mpi_doubt doubt);
void mpi__cancelled(mpi_self *self, MPI_Request request);
/* Before it is: who makes another one may be given its handle. */
void mpi__type_freed(void);

/* --- words --- */

/* Of a function that is being made (calls.c): the call, what the PMPI_ one
 * gave, and whether it is recorded. */
#define MPI__NOTE_LOCAL(bytes) mpi__note_local(&this_call, outcome, bytes)
#define MPI__BYTES(count, type) mpi__bytes(this_call.self, count, type)
#define MPI__BYTES_UNLESS_IN_PLACE(buffer, count, type)                        \
    ((buffer) == MPI_IN_PLACE ? 0 : MPI__BYTES(count, type))
#define MPI__NOTE_COLLECTIVE(target, bytes, root, comm)                        \
    mpi__note_collective(&this_call, outcome, target, bytes, root, comm)

#define BEFORE_local()
#define AFTER_local() MPI__NOTE_LOCAL(0);
#define BEFORE_bytes(count, type)
#define AFTER_bytes(count, type) MPI__NOTE_LOCAL(MPI__BYTES(count, type));
#define BEFORE_bytes_in(buffer, count, type)
#define AFTER_bytes_in(buffer, count, type)                                    \
    MPI__NOTE_LOCAL(MPI__BYTES_UNLESS_IN_PLACE(buffer, count, type));
/* Of what several get: all, or so many. */
#define BEFORE_bytes_all(buffer, count, type, comm)
#define AFTER_bytes_all(buffer, count, type, comm)                             \
    MPI__NOTE_LOCAL(MPI__BYTES_UNLESS_IN_PLACE(buffer, count, type) *          \
                    mpi__comm_size(comm));
#define BEFORE_bytes_v(buffer, counts, type, size)
#define AFTER_bytes_v(buffer, counts, type, size)                              \
    MPI__NOTE_LOCAL(                                                           \
        (const void *)(buffer) == MPI_IN_PLACE                                 \
            ? 0                                                                \
            : MPI__BYTES_OF_ALL(this_call.self, counts, type, size));
#define BEFORE_bytes_w(buffer, counts, types, size)
#define AFTER_bytes_w(buffer, counts, types, size)                             \
    MPI__NOTE_LOCAL(                                                           \
        (const void *)(buffer) == MPI_IN_PLACE                                 \
            ? 0                                                                \
            : MPI__BYTES_OF_EACH(this_call.self, counts, types, size));
#define BEFORE_bytes_neighbors(count, type, comm)
#define AFTER_bytes_neighbors(count, type, comm)                               \
    MPI__NOTE_LOCAL(MPI__BYTES(count, type) * mpi__degree(comm));
#define BEFORE_bytes_rooted(buffer, count, type, root)
#define AFTER_bytes_rooted(buffer, count, type, root)                          \
    MPI__NOTE_LOCAL(                                                           \
        (root) < 0 ? 0 : MPI__BYTES_UNLESS_IN_PLACE(buffer, count, type));
#define BEFORE_io(count, type)
#define AFTER_io(count, type) MPI__NOTE_LOCAL(MPI__BYTES(count, type));
#define BEFORE_rma(count, type, target, window)
#define AFTER_rma(count, type, target, window)                                 \
    MPI__NOTE_LOCAL((target) < 0 ? 0 : MPI__BYTES(count, type));
#define BEFORE_rma_one(type, target, window)
#define AFTER_rma_one(type, target, window)                                    \
    MPI__NOTE_LOCAL((target) < 0 ? 0 : MPI__BYTES(1, type));

/* Point to point. */
#define MPI__WAITS(target, peer, tag, comm)                                    \
    if (is_on)                                                                 \
        mpi__waits(&this_call, target, peer, tag, comm);

#define MPI__SENDING(dest, tag, comm)                                          \
    mpi_held own_sent;                                                         \
    own_sent.kind = MPI__NOTHING;                                              \
    if (is_on)                                                                 \
        mpi__begin(&this_call, &own_sent, MPI__SEND, dest, tag, comm, true);
/* A receiver may wait for what is sent: what can be done after it, is. Where
 * there are several threads, their sends are in the order of their begin. */
#define BEFORE_send(count, type, dest, tag, comm)                              \
    mpi_held own_sent;                                                         \
    bool is_awaited =                                                          \
        is_on && mpi__may_block(&this_call, MPI__BYTES(count, type));          \
    own_sent.kind = MPI__NOTHING;                                              \
    if (is_awaited || (is_on && mpi__is_threaded))                             \
        mpi__begin(&this_call, &own_sent, MPI__SEND, dest, tag, comm, true);   \
    if (is_awaited)                                                            \
        mpi__waits_for(&this_call, &own_sent);
#define AFTER_send(count, type, dest, tag, comm)                               \
    if (own_sent.kind == MPI__NOTHING)                                         \
        mpi__begin(&this_call, &own_sent, MPI__SEND, dest, tag, comm, true);   \
    AFTER_sent(count, type)
#define AFTER_sent(count, type)                                                \
    mpi__note_sent(&this_call, outcome, MPI__BYTES(count, type), &own_sent);
#define BEFORE_isend(count, type, dest, tag, comm, request)                    \
    MPI__SENDING(dest, tag, comm)
#define AFTER_isend(count, type, dest, tag, comm, request)                     \
    mpi__sending(&this_call, outcome, MPI__BYTES(count, type), &own_sent,      \
                 *(request));
#define BEFORE_ibsend(count, type, dest, tag, comm, request)                   \
    MPI__SENDING(dest, tag, comm)
#define AFTER_ibsend(count, type, dest, tag, comm, request)                    \
    AFTER_sent(count, type)

#define MPI__RECEIVING(source, tag, comm, ends)                                \
    mpi_held own_held;                                                         \
    own_held.kind = MPI__NOTHING;                                              \
    if (is_on)                                                                 \
        mpi__begin(&this_call, &own_held, MPI__RECEIVE, source, tag, comm,     \
                   ends);
#define MPI__OWN_STATUS(status)                                                \
    MPI_Status own_status;                                                     \
    if (is_on && (status) == MPI_STATUS_IGNORE)                                \
        status = &own_status;

#define BEFORE_recv(count, type, source, tag, comm, status)                    \
    MPI__OWN_STATUS(status)                                                    \
    MPI__RECEIVING(source, tag, comm, true)                                    \
    if (is_on)                                                                 \
        mpi__waits_for(&this_call, &own_held);
#define AFTER_recv(count, type, source, tag, comm, status)                     \
    mpi__note_received(&this_call, outcome, &own_held, status);

#define BEFORE_sendrecv(count, type, dest, sendtag, source, recvtag, comm,     \
                        status)                                                \
    MPI__OWN_STATUS(status)                                                    \
    MPI__SENDING(dest, sendtag, comm)                                          \
    MPI__RECEIVING(source, recvtag, comm, true)                                \
    if (is_on)                                                                 \
        mpi__waits_and_sends(&this_call, &own_held, &own_sent);
#define AFTER_sendrecv(count, type, dest, sendtag, source, recvtag, comm,      \
                       status)                                                 \
    AFTER_sent(count, type)                                                    \
        AFTER_recv(count, type, source, recvtag, comm, status)

#define BEFORE_irecv(count, type, source, tag, comm, request)                  \
    MPI__RECEIVING(source, tag, comm, false)
#define AFTER_irecv(count, type, source, tag, comm, request)                   \
    mpi__started(&this_call, outcome, &own_held, *(request));
#define BEFORE_isendrecv(count, type, dest, sendtag, source, recvtag, comm,    \
                         request)                                              \
    MPI__SENDING(dest, sendtag, comm)                                          \
    BEFORE_irecv(count, type, source, recvtag, comm, request)
#define AFTER_isendrecv(count, type, dest, sendtag, source, recvtag, comm,     \
                        request)                                               \
    AFTER_sent(count, type)                                                    \
        AFTER_irecv(count, type, source, recvtag, comm, request)

#define MPI__PERSISTENT(what, with, its_tag, its_comm, its_bytes)              \
    ((mpi_held){.kind = what,                                                  \
                .is_persistent = true,                                         \
                .peer = with,                                                  \
                .tag = its_tag,                                                \
                .comm = mpi__comm_of(this_call.self, its_comm),                \
                .bytes = its_bytes})
#define BEFORE_send_init(count, type, dest, tag, comm, request)
#define AFTER_send_init(count, type, dest, tag, comm, request)                 \
    mpi__started(                                                              \
        &this_call, outcome,                                                   \
        &MPI__PERSISTENT(MPI__SEND, dest, tag, comm, MPI__BYTES(count, type)), \
        *(request));
#define BEFORE_recv_init(count, type, source, tag, comm, request)
#define AFTER_recv_init(count, type, source, tag, comm, request)               \
    mpi__started(&this_call, outcome,                                          \
                 &MPI__PERSISTENT(MPI__RECEIVE, source, tag, comm, 0),         \
                 *(request));
#define BEFORE_psend_init(partitions, count, type, dest, tag, comm, request)
#define AFTER_psend_init(partitions, count, type, dest, tag, comm, request)    \
    MPI__NOTE_LOCAL((partitions)*MPI__BYTES(count, type));
#define BEFORE_precv_init(partitions, count, type, source, tag, comm, request)
#define AFTER_precv_init(partitions, count, type, source, tag, comm, request)  \
    AFTER_psend_init(partitions, count, type, source, tag, comm, request)

#define MPI__HOLD(how_many, requests)                                          \
    mpi_hold own_hold;                                                         \
    own_hold.count = 0;                                                        \
    own_hold.some = false;                                                     \
    if (is_on)                                                                 \
        mpi__hold(&own_hold, this_call.self, how_many, requests);
#define MPI__STARTS(count, requests)                                           \
    MPI__HOLD(count, requests)                                                 \
    if (is_on)                                                                 \
        mpi__starts(&this_call, &own_hold);
#define BEFORE_start(request) MPI__STARTS(1, request)
#define AFTER_start(request)                                                   \
    mpi__note_start(&this_call, outcome, &own_hold, request);
#define BEFORE_startall(count, requests) MPI__STARTS(count, requests)
#define AFTER_startall(count, requests)                                        \
    mpi__note_start(&this_call, outcome, &own_hold, requests);

#define BEFORE_probe(source, tag, comm)                                        \
    MPI__WAITS(MPI__RECEIVES, source, tag, comm)
#define AFTER_probe(source, tag, comm) MPI__NOTE_LOCAL(0);
#define BEFORE_mprobe(source, tag, comm, message, status)                      \
    MPI__OWN_STATUS(status)                                                    \
    MPI__RECEIVING(source, tag, comm, false)                                   \
    if (is_on)                                                                 \
        mpi__waits_for(&this_call, &own_held);
#define AFTER_mprobe(source, tag, comm, message, status)                       \
    mpi__note_probed(&this_call, outcome, true, *(message), &own_held, status);
#define BEFORE_improbe(source, tag, comm, flag, message, status)               \
    MPI__OWN_STATUS(status)                                                    \
    MPI__RECEIVING(source, tag, comm, false)
#define AFTER_improbe(source, tag, comm, flag, message, status)                \
    mpi__note_probed(&this_call, outcome, *(flag), *(message), &own_held,      \
                     status);                                                  \
    if (outcome == MPI_SUCCESS && !*(flag))                                    \
        mpi__polled(&this_call, source, tag, comm);
#define BEFORE_iprobe(source, tag, comm, flag)
#define AFTER_iprobe(source, tag, comm, flag)                                  \
    MPI__NOTE_LOCAL(0);                                                        \
    if (outcome == MPI_SUCCESS && !*(flag))                                    \
        mpi__polled(&this_call, source, tag, comm);
#define BEFORE_mrecv(count, type, message, status)                             \
    mpi_held own_held;                                                         \
    own_held.kind = MPI__NOTHING;                                              \
    MPI__OWN_STATUS(status)                                                    \
    if (is_on)                                                                 \
        mpi__request_take(&own_held, MPI__BITS(*(message)), true);
#define AFTER_mrecv(count, type, message, status)                              \
    if (!mpi__note_not_taken(&this_call, outcome, &own_held, *(message)))      \
        mpi__note_received(&this_call, outcome, &own_held, status);
#define BEFORE_imrecv(count, type, message, request)                           \
    mpi_held own_held;                                                         \
    own_held.kind = MPI__NOTHING;                                              \
    own_held.bytes = 0;                                                        \
    if (is_on)                                                                 \
        mpi__request_take(&own_held, MPI__BITS(*(message)), true);
#define AFTER_imrecv(count, type, message, request)                            \
    if (!mpi__note_not_taken(&this_call, outcome, &own_held, *(message))) {    \
        own_held.is_message = false;                                           \
        mpi__started(&this_call, outcome, &own_held, *(request));              \
    }

/* Requests. */
#define MPI__HOLD_ONE(request, status)                                         \
    MPI_Status own_status;                                                     \
    MPI__HOLD(1, request)                                                      \
    if (own_hold.some && (status) == MPI_STATUS_IGNORE)                        \
        status = &own_status;
#define MPI__HOLD_ANY(count, requests, status)                                 \
    MPI_Status own_status;                                                     \
    MPI__HOLD(count, requests)                                                 \
    if (own_hold.some && (status) == MPI_STATUS_IGNORE)                        \
        status = &own_status;
#define MPI__HOLD_MANY(count, requests, statuses)                              \
    MPI__HOLD(count, requests)                                                 \
    if (own_hold.some && (statuses) == MPI_STATUSES_IGNORE)                    \
        statuses = mpi__statuses(this_call.self, count);
#define MPI__COMPLETED(requests, count, indexes, statuses)                     \
    if (outcome == MPI_SUCCESS || outcome == MPI_ERR_IN_STATUS)                \
        mpi__note_completed(&this_call, outcome, &own_hold, count, indexes,    \
                            statuses);                                         \
    else                                                                       \
        mpi__note_failed(&this_call, outcome, &own_hold, requests);

#define MPI__POLLED(in_vain, for_one)                                          \
    if (outcome == MPI_SUCCESS && (in_vain))                                   \
        mpi__polled_held(&this_call, &own_hold, for_one);

#define MPI__WAITS_FOR(for_one)                                                \
    if (is_on)                                                                 \
        mpi__waits_for_held(&this_call, &own_hold, for_one);
#define BEFORE_wait(request, status)                                           \
    MPI__HOLD_ONE(request, status)                                             \
    MPI__WAITS_FOR(false)
#define AFTER_wait(request, status) MPI__COMPLETED(request, 1, NULL, status)
#define BEFORE_test(request, flag, status) MPI__HOLD_ONE(request, status)
#define AFTER_test(request, flag, status)                                      \
    MPI__COMPLETED(request, *(flag) ? 1 : 0, NULL, status)                     \
    MPI__POLLED(!*(flag), false)
#define BEFORE_waitall(count, requests, statuses)                              \
    MPI__HOLD_MANY(count, requests, statuses)                                  \
    MPI__WAITS_FOR(false)
#define AFTER_waitall(count, requests, statuses)                               \
    MPI__COMPLETED(requests, count, NULL, statuses)
#define BEFORE_testall(count, requests, flag, statuses)                        \
    MPI__HOLD_MANY(count, requests, statuses)
#define AFTER_testall(count, requests, flag, statuses)                         \
    MPI__COMPLETED(requests, *(flag) ? count : 0, NULL, statuses)              \
    MPI__POLLED(!*(flag), false)
#define BEFORE_waitany(count, requests, index, status)                         \
    MPI__HOLD_ANY(count, requests, status)                                     \
    MPI__WAITS_FOR(true)
#define AFTER_waitany(count, requests, index, status)                          \
    MPI__COMPLETED(requests, *(index) == MPI_UNDEFINED ? 0 : 1, index, status)
#define BEFORE_testany(count, requests, index, flag, status)                   \
    MPI__HOLD_ANY(count, requests, status)
#define AFTER_testany(count, requests, index, flag, status)                    \
    MPI__COMPLETED(requests, *(flag) && *(index) != MPI_UNDEFINED ? 1 : 0,     \
                   index, status)                                              \
    MPI__POLLED(!*(flag), true)
#define BEFORE_waitsome(count, requests, done, indexes, statuses)              \
    MPI__HOLD_MANY(count, requests, statuses)                                  \
    MPI__WAITS_FOR(true)
#define AFTER_waitsome(count, requests, done, indexes, statuses)               \
    MPI__COMPLETED(requests, *(done) == MPI_UNDEFINED ? 0 : *(done), indexes,  \
                   statuses)                                                   \
    MPI__POLLED(*(done) == 0, true)
#define BEFORE_request_free(request)                                           \
    mpi_doubt own_doubt = MPI__IS_UNDER_WAY;                                   \
    MPI__HOLD(1, request)                                                      \
    if (is_on)                                                                 \
        own_doubt = mpi__frees(&own_hold, *(request));
#define AFTER_request_free(request)                                            \
    mpi__note_freed(&this_call, outcome, &own_hold, own_doubt);
#define BEFORE_cancel(request)                                                 \
    if (is_on)                                                                 \
        mpi__cancelled(this_call.self, *(request));
#define AFTER_cancel(request) MPI__NOTE_LOCAL(0);

/* Collectives. What a call that has no buffer of its own passes for its
 * datatype, or what root there is in a group of two, is not looked at. */
#define MPI__WAITS_WITH_ROOT(target, bytes, root, comm)                        \
    if (is_on)                                                                 \
        mpi__waits_with_root(&this_call, target, root,                         \
                             (root) < 0 ? 0 : (bytes), comm);
#define BEFORE_barrier(comm) MPI__WAITS(MPI__JOINS, 0, 0, comm)
#define AFTER_barrier(comm) MPI__NOTE_COLLECTIVE(MPI__JOINS, 0, 0, comm);
#define BEFORE_bcast(count, type, root, comm)                                  \
    MPI__WAITS_WITH_ROOT(MPI__FROM_ROOT, MPI__BYTES(count, type), root, comm)
#define AFTER_bcast(count, type, root, comm)                                   \
    MPI__NOTE_COLLECTIVE(                                                      \
        MPI__FROM_ROOT, (root) < 0 ? 0 : MPI__BYTES(count, type), root, comm);
#define BEFORE_scatter(buffer, count, type, root, comm)                        \
    MPI__WAITS_WITH_ROOT(MPI__FROM_ROOT,                                       \
                         MPI__BYTES_UNLESS_IN_PLACE(buffer, count, type),      \
                         root, comm)
#define AFTER_scatter(buffer, count, type, root, comm)                         \
    MPI__NOTE_COLLECTIVE(                                                      \
        MPI__FROM_ROOT,                                                        \
        (root) < 0 ? 0 : MPI__BYTES_UNLESS_IN_PLACE(buffer, count, type),      \
        root, comm);
#define BEFORE_reduce(count, type, root, comm)                                 \
    MPI__WAITS_WITH_ROOT(MPI__TO_ROOT, MPI__BYTES(count, type), root, comm)
#define AFTER_reduce(count, type, root, comm)                                  \
    MPI__NOTE_COLLECTIVE(                                                      \
        MPI__TO_ROOT, (root) < 0 ? 0 : MPI__BYTES(count, type), root, comm);
#define BEFORE_gather(buffer, count, type, received, root, comm)               \
    MPI__WAITS_WITH_ROOT(MPI__TO_ROOT,                                         \
                         MPI__BYTES_UNLESS_IN_PLACE(buffer, count, type),      \
                         root, comm)
#define AFTER_gather(buffer, count, type, received, root, comm)                \
    MPI__NOTE_COLLECTIVE(                                                      \
        MPI__TO_ROOT,                                                          \
        (root) < 0 ? 0 : MPI__BYTES_UNLESS_IN_PLACE(buffer, count, type),      \
        root, comm);
#define MPI__NOTE_JOINED(bytes, comm)                                          \
    MPI__NOTE_COLLECTIVE(MPI__JOINS, bytes, 0, comm);
#define BEFORE_allreduce(count, type, comm) MPI__WAITS(MPI__JOINS, 0, 0, comm)
#define AFTER_allreduce(count, type, comm)                                     \
    MPI__NOTE_JOINED(MPI__BYTES(count, type), comm)
#define BEFORE_scan(count, type, comm)                                         \
    if (is_on)                                                                 \
        mpi__waits_to_scan(&this_call, MPI__BYTES(count, type), comm);
#define AFTER_scan(count, type, comm)                                          \
    MPI__NOTE_COLLECTIVE(MPI__COMES, MPI__BYTES(count, type), 0, comm);
#define BEFORE_allgather(buffer, count, type, comm)                            \
    MPI__WAITS(MPI__JOINS, 0, 0, comm)
#define AFTER_allgather(buffer, count, type, comm)                             \
    MPI__NOTE_JOINED(MPI__BYTES_UNLESS_IN_PLACE(buffer, count, type), comm)
#define BEFORE_alltoall(buffer, count, type, comm)                             \
    MPI__WAITS(MPI__JOINS, 0, 0, comm)
#define AFTER_alltoall(buffer, count, type, comm)                              \
    MPI__NOTE_JOINED(MPI__BYTES_UNLESS_IN_PLACE(buffer, count, type) *         \
                         mpi__comm_size(comm),                                 \
                     comm)
#define BEFORE_alltoallv(buffer, counts, type, comm)                           \
    MPI__WAITS(MPI__JOINS, 0, 0, comm)
#define AFTER_alltoallv(buffer, counts, type, comm)                            \
    MPI__NOTE_JOINED((buffer) == MPI_IN_PLACE                                  \
                         ? 0                                                   \
                         : MPI__BYTES_OF_ALL(this_call.self, counts, type,     \
                                             mpi__comm_size(comm)),            \
                     comm)
#define BEFORE_alltoallw(buffer, counts, types, comm)                          \
    MPI__WAITS(MPI__JOINS, 0, 0, comm)
#define AFTER_alltoallw(buffer, counts, types, comm)                           \
    MPI__NOTE_JOINED((buffer) == MPI_IN_PLACE                                  \
                         ? 0                                                   \
                         : MPI__BYTES_OF_EACH(this_call.self, counts, types,   \
                                              mpi__comm_size(comm)),           \
                     comm)
#define BEFORE_reduce_scatter(counts, type, comm)                              \
    MPI__WAITS(MPI__JOINS, 0, 0, comm)
#define AFTER_reduce_scatter(counts, type, comm)                               \
    MPI__NOTE_JOINED(                                                          \
        MPI__BYTES_OF_ALL(this_call.self, counts, type, mpi__comm_size(comm)), \
        comm)
#define BEFORE_reduce_scatter_block(count, type, comm)                         \
    MPI__WAITS(MPI__JOINS, 0, 0, comm)
#define AFTER_reduce_scatter_block(count, type, comm)                          \
    MPI__NOTE_JOINED(MPI__BYTES(count, type) * mpi__comm_size(comm), comm)

/* Collectives that are started. */
#define MPI__BEGUN(bytes, coming, root, comm, request)                         \
    mpi__begun(&this_call, outcome, bytes, coming, root, comm, *(request));
#define BEFORE_begin(comm, request)
#define AFTER_begin(comm, request)                                             \
    MPI__BEGUN(0, MPI__COME_ALL, 0, comm, request)
#define BEFORE_begin_bytes(count, type, comm, request)
#define AFTER_begin_bytes(count, type, comm, request)                          \
    MPI__BEGUN(MPI__BYTES(count, type), MPI__COME_ALL, 0, comm, request)
#define BEFORE_begin_in(buffer, count, type, comm, request)
#define AFTER_begin_in(buffer, count, type, comm, request)                     \
    MPI__BEGUN(MPI__BYTES_UNLESS_IN_PLACE(buffer, count, type), MPI__COME_ALL, \
               0, comm, request)
#define BEFORE_begin_all(buffer, count, type, comm, request)
#define AFTER_begin_all(buffer, count, type, comm, request)                    \
    MPI__BEGUN(MPI__BYTES_UNLESS_IN_PLACE(buffer, count, type) *               \
                   mpi__comm_size(comm),                                       \
               MPI__COME_ALL, 0, comm, request)
#define BEFORE_begin_v(buffer, counts, type, comm, request)
#define AFTER_begin_v(buffer, counts, type, comm, request)                     \
    MPI__BEGUN((const void *)(buffer) == MPI_IN_PLACE                          \
                   ? 0                                                         \
                   : MPI__BYTES_OF_ALL(this_call.self, counts, type,           \
                                       mpi__comm_size(comm)),                  \
               MPI__COME_ALL, 0, comm, request)
#define BEFORE_begin_w(buffer, counts, types, comm, request)
#define AFTER_begin_w(buffer, counts, types, comm, request)                    \
    MPI__BEGUN((const void *)(buffer) == MPI_IN_PLACE                          \
                   ? 0                                                         \
                   : MPI__BYTES_OF_EACH(this_call.self, counts, types,         \
                                        mpi__comm_size(comm)),                 \
               MPI__COME_ALL, 0, comm, request)
#define BEFORE_begin_scan(count, type, comm, request)
#define AFTER_begin_scan(count, type, comm, request)                           \
    MPI__BEGUN(MPI__BYTES(count, type), MPI__COME_SCAN, 0, comm, request)
#define BEFORE_begin_bcast(count, type, root, comm, request)
#define AFTER_begin_bcast(count, type, root, comm, request)                    \
    MPI__BEGUN((root) < 0 ? 0 : MPI__BYTES(count, type), MPI__COME_FROM_ROOT,  \
               root, comm, request)
#define BEFORE_begin_scatter(buffer, count, type, root, comm, request)
#define AFTER_begin_scatter(buffer, count, type, root, comm, request)          \
    MPI__BEGUN((root) < 0 ? 0                                                  \
                          : MPI__BYTES_UNLESS_IN_PLACE(buffer, count, type),   \
               MPI__COME_FROM_ROOT, root, comm, request)
#define BEFORE_begin_reduce(count, type, root, comm, request)
#define AFTER_begin_reduce(count, type, root, comm, request)                   \
    MPI__BEGUN((root) < 0 ? 0 : MPI__BYTES(count, type), MPI__COME_TO_ROOT,    \
               root, comm, request)
#define BEFORE_begin_gather(buffer, count, type, root, comm, request)
#define AFTER_begin_gather(buffer, count, type, root, comm, request)           \
    MPI__BEGUN((root) < 0 ? 0                                                  \
                          : MPI__BYTES_UNLESS_IN_PLACE(buffer, count, type),   \
               MPI__COME_TO_ROOT, root, comm, request)

/* Windows, whose handles stand for communicators. */
#define MPI__WINDOW(window) ((MPI_Comm)(uintptr_t)MPI__BITS(window))
#define MPI__WAITS_FOR_EACH(comm)                                              \
    if (is_on)                                                                 \
        mpi__waits_among(&this_call, MPI__COMES, 0, PATHS_NOTE_ALL, comm);
#define BEFORE_window(comm, window) MPI__WAITS_FOR_EACH(comm)
#define AFTER_window(comm, window)                                             \
    if (outcome == MPI_SUCCESS)                                                \
        mpi__window_made(comm, *(window));                                     \
    MPI__NOTE_COLLECTIVE(MPI__COMES, 0, 0, comm);
#define BEFORE_fence(window) MPI__WAITS_FOR_EACH(MPI__WINDOW(window))
#define AFTER_fence(window)                                                    \
    MPI__NOTE_COLLECTIVE(MPI__COMES, 0, 0, MPI__WINDOW(window));
#define BEFORE_window_free(window)                                             \
    mpi_comm *own_window = NULL;                                               \
    if (is_on) {                                                               \
        MPI_Comm its_window = MPI__WINDOW(*(window));                          \
        own_window = mpi__comm_of(this_call.self, its_window);                 \
        MPI__WAITS_FOR_EACH(its_window)                                        \
        mpi__comm_freed(its_window);                                           \
    }
#define AFTER_window_free(window)                                              \
    mpi__note_together(&this_call, outcome, MPI__COMES, 0, 0, own_window);
#define BEFORE_window_start(group)                                             \
    if (is_on) {                                                               \
        uint32_t ranks[MPI__GROUP];                                            \
        int count = mpi__group_ranks(group, ranks);                            \
        mpi__waits_for_ranks(&this_call, ranks, count);                        \
    }
#define AFTER_window_start(group) MPI__NOTE_LOCAL(0);
#define BEFORE_window_post(group, window)                                      \
    if (is_on)                                                                 \
        mpi__window_post(window, group);
#define AFTER_window_post(group, window) MPI__NOTE_LOCAL(0);
#define BEFORE_window_wait(window)                                             \
    if (is_on) {                                                               \
        uint32_t ranks[MPI__GROUP];                                            \
        int count = mpi__window_posted(window, ranks);                         \
        mpi__waits_for_ranks(&this_call, ranks, count);                        \
    }
#define AFTER_window_wait(window) MPI__NOTE_LOCAL(0);

/* Handles. */
#define BEFORE_comm(parent, made) MPI__WAITS(MPI__JOINS, 0, 0, parent)
#define AFTER_comm(parent, made)                                               \
    if (outcome == MPI_SUCCESS)                                                \
        mpi__comm_made(parent, *(made));                                       \
    MPI__NOTE_JOINED(0, parent)
#define BEFORE_comm_idup(parent, made)
#define AFTER_comm_idup(parent, made)                                          \
    if (outcome == MPI_SUCCESS)                                                \
        mpi__comm_made(parent, *(made));                                       \
    MPI__NOTE_LOCAL(0);
#define BEFORE_comm_group(parent, group, tag, made)
#define AFTER_comm_group(parent, group, tag, made)                             \
    if (outcome == MPI_SUCCESS)                                                \
        mpi__comm_tagged(parent, "group", tag, *(made));                       \
    MPI__NOTE_LOCAL(0);
#define BEFORE_comm_named(by, made)
#define AFTER_comm_named(by, made)                                             \
    if (outcome == MPI_SUCCESS)                                                \
        mpi__comm_named(MPI_COMM_NULL, by, *(made));                           \
    MPI__NOTE_LOCAL(0);
#define BEFORE_intercomm(own, peer, tag, made)
#define AFTER_intercomm(own, peer, tag, made)                                  \
    if (outcome == MPI_SUCCESS)                                                \
        mpi__comm_tagged(MPI_COMM_NULL, "inter", tag, *(made));                \
    MPI__NOTE_LOCAL(0);
#define BEFORE_comm_free(comm)                                                 \
    if (is_on)                                                                 \
        mpi__comm_freed(*(comm));
#define AFTER_comm_free(comm) MPI__NOTE_LOCAL(0);
#define BEFORE_comm_name(comm, name)
#define AFTER_comm_name(comm, name) MPI__NOTE_LOCAL(0);
#define BEFORE_type_free(type)                                                 \
    if (is_on)                                                                 \
        mpi__type_freed();
#define AFTER_type_free(type) MPI__NOTE_LOCAL(0);

#endif
