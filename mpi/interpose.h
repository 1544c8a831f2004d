/* interpose.h - an MPI program as it is, recorded: what all files of the
 * interposer share.
 *
 * The interposer is compiled once for each MPI, with its mpi.h. It has a
 * function of its own for each call of MPI (calls.def), which calls the PMPI_
 * one and records that as an event. A call belongs to a place: where in the
 * program it stands, and with whom it communicates. A place has a collector;
 * from there its path leads to a channel (from one rank to another in one
 * communicator), to the collective site of a communicator, or, where nobody
 * else is concerned, to an element of its own.
 *
 *     rank.c      the process: begin, end, threads
 *     places.c    the collectors of a thread, by place
 *     comms.c     communicators
 *     ends.c      channels and collective sites
 *     requests.c  what has been started and is not completed
 *     begun.c     what has begun first and has not ended
 *     words.c     what calls mean
 *     started.c   those that start something, or wait for it
 *     waits.c     what they wait for
 *     bytes.c     how much they move
 *     calls.c     the functions
 *     fortran.c   how calls of Fortran come there
 *
 * No message is sent for it between processes of the program, and on the way of
 * a call whose place is known there is no lock, no allocation and no system
 * call; but requests take a lock, one of many, where the program has asked for
 * MPI_THREAD_MULTIPLE.
 *
 * Threads: any; a `mpi_self` is for its own thread. */
#ifndef MPI_INTERPOSE_H
#define MPI_INTERPOSE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/collect/ticks.h"
#include "eventspace/record/recorder.h"
#include "pastset/verb.h"

#define MPI__NONE UINT32_MAX

#ifdef OPEN_MPI
/* Its handles are objects. A process that this library is loaded into may be a
 * child without MPI of one that has it. */
#pragma weak ompi_mpi_byte
#pragma weak ompi_mpi_comm_null
#pragma weak ompi_mpi_comm_self
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_datatype_null
#pragma weak ompi_message_null
#pragma weak ompi_mpi_win_null
#pragma weak ompi_request_null
#endif

/* Numbers of calls: MPI__CALL_MPI_Send and so on. */
typedef enum mpi_call_number {
#define CALL(name, parameters, arguments, word, roles) MPI__CALL_##name,
#define OWN(name) MPI__CALL_##name,
#define OLD(name) MPI__CALL_##name,
#include "mpi/calls.def"
#undef CALL
#undef OWN
#undef OLD
    MPI__CALLS
} mpi_call_number;

extern const char *const mpi__call_names[MPI__CALLS];

/* --- places.c --- */

typedef struct mpi_comm mpi_comm;

/* Where in the program, and with whom. */
typedef struct mpi_place_key {
    uintptr_t from;  /* where the call returns to; 0: only what is below it */
    mpi_comm *comm;  /* NULL */
    int32_t peer;    /* as the program names it; or 0 */
    uint16_t call;   /* mpi_call_number */
    uint16_t target; /* mpi_target */
    uint32_t poster; /* the number of the thread that has posted what is
                        received; MPI__NONE: the one that calls */
} mpi_place_key;

typedef enum mpi_target {
    MPI__LOCAL,     /* nobody else */
    MPI__SENDS,     /* the channel to `peer` */
    MPI__RECEIVES,  /* the channel from `peer` */
    MPI__JOINS,     /* a site where everybody waits for everybody */
    MPI__FROM_ROOT, /* an element that `peer` writes and all others read */
    MPI__TO_ROOT,   /* one that all others write and `peer` reads */
    MPI__COMES,     /* one that all write, as often as they come to it */
    MPI__PEER,      /* whom it would be with; no place of a call */
} mpi_target;

/* What a call needs of it is in one line of the cache: in the cold one of a
 * program that computes, each line costs as much as ten instructions. */
typedef struct mpi_place {
    _Alignas(64) mpi_place_key key;
    uint32_t collector;    /* MPI__NONE: there is none */
    uint32_t joining;      /* the collector at the site, below; MPI__NONE */
    uint32_t channel;      /* definition; MPI__NONE */
    uint32_t operation;    /* definition of what messages are of; MPI__NONE */
    uint32_t peer;         /* in MPI_COMM_WORLD, without whom it cannot end;
                              MPI__NONE */
    uint32_t communicator; /* as in a paths_executor_note */
    uint16_t verb;
    bool is_sorted;           /* ranks are in the order of MPI_COMM_WORLD */
    bool is_lost;             /* and so are its events */
    _Atomic uint32_t *rounds; /* how often it was come to; NULL */
} mpi_place;

_Static_assert(offsetof(mpi_place, rounds) <= 64, "it is");

typedef struct mpi_places {
    mpi_place **slots; /* a hash table */
    uint32_t count, mask;
    mpi_place *last; /* that was found: a call asks before it and after it */
} mpi_places;

/* How many bytes an element of a datatype has, as known. */
typedef struct mpi_type {
    MPI_Datatype type;
    uint32_t generation; /* 0: nothing is known */
    int64_t bytes;
} mpi_type;

#define MPI__TYPES 16 /* of which a thread knows the size; a power of two */

/* What a handle is that of, as known. */
typedef struct mpi_known_comm {
    uint64_t handle;
    mpi_comm *comm;
    uint32_t generation; /* 0: nothing is known */
} mpi_known_comm;

#define MPI__COMMS 16 /* that a thread knows; a power of two */

/* That a thread asks again and again for what has not come, and does nothing
 * else meanwhile. */
typedef struct mpi_polling {
    uint64_t since;
    uintptr_t from; /* as in mpi_place_key, of the first */
    int peer, tag;
    uint32_t sequence; /* of the last */
    uint32_t count;
    bool is_mixed; /* not all of them ask for the same */
} mpi_polling;

/* What a thread has; what each call needs comes first. */
typedef struct mpi_self {
    _Alignas(64) eventspace_recorded_thread *thread;
    mpi_places places;
    bool inside; /* a call: what MPI calls itself is not recorded */
    int held_capacity, status_capacity;
    mpi_type types[MPI__TYPES];
    mpi_known_comm comms[MPI__COMMS];
    mpi_polling polling;
    struct mpi_held *held; /* for calls with many requests */
    MPI_Status *statuses;
} mpi_self;

/* A call that is being recorded. */
typedef struct mpi_call {
    mpi_self *self;
    uint64_t start;
    uintptr_t from;
    uint64_t end; /* not next to the start: two stores, one of them just made,
                     are not loaded by one load */
    uint16_t number;
    bool is_quiet; /* recording is off: which messages there were is all that is
                      written down */
} mpi_call;

const mpi_place *mpi__place_look(const mpi_call *call, mpi_target target,
                                 mpi_comm *comm, int peer);

/* The place of a call; never NULL. `comm` NULL: none. */
static inline const mpi_place *
mpi__place(const mpi_call *call, mpi_target target, mpi_comm *comm, int peer)
{
    const mpi_place *last = call->self->places.last;

    if (last && last->key.from == call->from && last->key.comm == comm &&
        last->key.peer == peer && last->key.call == call->number &&
        last->key.target == target && last->key.poster == MPI__NONE)
        return last;
    return mpi__place_look(call, target, comm, peer);
}

/* Where the call receives what the thread with that number has posted. */
const mpi_place *mpi__place_of(const mpi_call *call, mpi_comm *comm, int peer,
                               uint32_t poster);
/* Only the channel of what that thread has begun: `peer` may be
 * MPI_ANY_SOURCE. */
const mpi_place *mpi__place_of_channel(const mpi_call *call, mpi_target target,
                                       mpi_comm *comm, int peer,
                                       uint32_t poster);
/* Whom this peer is: only `peer` and `communicator` of it are right. */
const mpi_place *mpi__peer(mpi_self *self, mpi_comm *comm, int peer);
/* Gives back those of a thread. */
void mpi__places_free(mpi_places *places);

/* --- comms.c, ends.c --- */

/* Handles are numbers in one MPI and pointers in the other. */
#define MPI__BITS(handle) ((uint64_t)(uintptr_t)(handle))

/* Counts the handles that were freed: what was known of one may be wrong. */
extern _Atomic uint32_t mpi__comm_generation, mpi__type_generation;

/* An end of paths: what a place leads to. */
typedef struct mpi_end {
    mpi_target target; /* as asked for, or MPI__LOCAL where it is not known */
    uint32_t upper;   /* definition to which paths lead: a wrapper or element */
    uint32_t peer;    /* in MPI_COMM_WORLD; MPI__NONE */
    uint32_t root;    /* in MPI_COMM_WORLD; MPI__NONE */
    uint32_t channel; /* definition; MPI__NONE */
    uint32_t communicator; /* as in a place, as are these: */
    _Atomic uint32_t *rounds;
    bool is_sorted;
    char name[200]; /* of whom it is with: " to rank_1", " on NAME" */
} mpi_end;

/* Before others: the process is number `rank` of those of MPI_COMM_WORLD. */
void mpi__comms_begin(void);
/* Errors: those of eventspace_recorder_define. */
int mpi__end_of(mpi_end *out, const mpi_place_key *key);
mpi_comm *mpi__comm_look(mpi_known_comm *known, MPI_Comm comm, uint32_t now)
    __attribute__((cold));

/* What a handle is that of, which may be freed then; NULL: of none. */
static inline mpi_comm *mpi__comm_of(mpi_self *self, MPI_Comm comm)
{
    uint64_t handle = MPI__BITS(comm);
    mpi_known_comm *known =
        &self->comms[(handle >> 8 ^ handle >> 4 ^ handle) % MPI__COMMS];
    uint32_t now =
        atomic_load_explicit(&mpi__comm_generation, memory_order_relaxed);

    if (known->handle == handle && known->generation == now)
        return known->comm;
    return mpi__comm_look(known, comm, now);
}

/* A communicator was made of another one by a call that all of its processes
 * make; or of a group, with a tag or a name. Handles may be MPI_COMM_NULL. */
void mpi__comm_made(MPI_Comm parent, MPI_Comm made);
void mpi__comm_named(MPI_Comm parent, const char *by, MPI_Comm made);
void mpi__comm_tagged(MPI_Comm parent, const char *by, int tag, MPI_Comm made);
/* Before it is: who makes another one may be given its handle. */
void mpi__comm_freed(MPI_Comm comm);
/* A window of the same processes, whose handle is then one of these, too. */
void mpi__window_made(MPI_Comm parent, MPI_Win made);
#define MPI__GROUP 16
/* The ranks in MPI_COMM_WORLD of a small group; 0: not known. */
int mpi__group_ranks(MPI_Group group, uint32_t out[MPI__GROUP]);
/* To whom a window is opened, and was last. */
void mpi__window_post(MPI_Win window, MPI_Group group);
int mpi__window_posted(MPI_Win window, uint32_t out[MPI__GROUP]);

/* --- fortran.c --- */

/* Where to go for a function of a library. Assembly code knows this. */
typedef struct mpi_way {
    void *to;         /* the function; at first what finds it */
    const char *name; /* its symbol */
    uint16_t number;  /* mpi_call_number */
} mpi_way;

/* A call of Fortran that this thread has made and that has not come to its
 * function of C yet. Assembly code knows this. */
typedef struct mpi_note {
    const mpi_way *way; /* of the PMPI_ function; NULL: there is none */
    uintptr_t from;     /* where in the program the call returns to */
} mpi_note;

extern _Thread_local mpi_note mpi__note
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* What the way leads to. */
void *mpi__way_to(mpi_way *way);

/* Where in the program the call stands that has come to the function of C with
 * this number, which returns to `from`. */
static inline uintptr_t mpi__from(uint16_t number, const void *from)
{
    const mpi_way *way = mpi__note.way;

    if (__builtin_expect(!way, 1))
        return (uintptr_t)from;
    mpi__note.way = NULL;
    return way->number == number ? mpi__note.from : (uintptr_t)from;
}

/* --- rank.c --- */

extern eventspace_recorder *mpi__recorder; /* NULL: nothing is recorded */
extern uint32_t mpi__rank, mpi__size;
extern bool mpi__is_threaded;    /* several threads may call at once */
extern uint64_t mpi__poll_ticks; /* so long who polls is not said to wait */
extern _Atomic bool mpi__is_on;  /* MPI_Pcontrol may switch it off */

/* That of the thread that calls; NULL: not known yet, or not recording. */
extern _Thread_local mpi_self *mpi__self
    __attribute__((tls_model("initial-exec")));
/* The first call of a thread; NULL: it is not recorded. */
mpi_self *mpi__self_make(void) __attribute__((cold));

/* The name of the process of a rank. */
void mpi__rank_name(char out[32], uint32_t rank);

static inline bool mpi__call_begin(mpi_call *call, uint16_t number,
                                   const void *returns_to)
{
    uintptr_t from = mpi__from(number, returns_to);
    mpi_self *self = mpi__self;

    if (__builtin_expect(!self, 0))
        self = mpi__self_make();
    if (!self || self->inside)
        return false;
    self->inside = true;
    *call = (mpi_call){
        .self = self,
        .start = eventspace_ticks(),
        .from = from,
        .number = number,
        .is_quiet = !atomic_load_explicit(&mpi__is_on, memory_order_relaxed)};
    return true;
}

static inline void mpi__call_end(mpi_call *call)
{
    call->end = eventspace_ticks();
}

static inline void mpi__call_leave(const mpi_call *call)
{
    call->self->inside = false;
}

/* --- requests.c --- */

typedef enum mpi_request_kind {
    MPI__NOTHING, /* it is not known, or nobody else is concerned */
    MPI__SEND,
    MPI__RECEIVE,
    MPI__ROUND, /* a collective */
} mpi_request_kind;

/* A receive that is posted and not completed; in a list. */
typedef struct mpi_posted {
    struct mpi_posted *next, *before;
    uint32_t peer, communicator;
    int32_t tag;
} mpi_posted;

/* What was started, or can be. */
typedef struct mpi_held {
    uint64_t request; /* the handle */
    uint8_t kind;
    bool is_persistent, is_active, is_cancelled, is_message;
    bool is_taken;       /* it is not among the others */
    bool is_synchronous; /* a send that ends when it is received */
    int32_t peer;
    uint32_t id; /* tells it from those that have had the same handle; between
                    the two that are read together, as in mpi_call */
    int32_t tag;
    uint32_t order;  /* among the sends, or the receives, of the process */
    uint32_t thread; /* number of the one that began it */
    mpi_comm *comm;
    int64_t bytes;             /* of a send */
    uint32_t world;            /* the peer in MPI_COMM_WORLD; MPI__NONE */
    uint32_t communicator;     /* as in a place */
    uint32_t collector, flags; /* of a collective: where it was started, and
                                  what its note says; `order` is its round */
    mpi_posted *posted;        /* of a receive; NULL */
} mpi_held;

/* Errors: there is no memory, which is counted as a loss when it completes. */
void mpi__request_add(const mpi_held *held);
/* `is_message` parts handles of messages from those of requests. False: it is
 * not there, and `out` says so. */
bool mpi__request_find(mpi_held *out, uint64_t request, bool is_message);
/* The same, and takes it out, unless it is persistent: one that is not freed
 * when it completes. */
bool mpi__request_take(mpi_held *out, uint64_t request, bool is_message);
void mpi__request_remove(const mpi_held *held);
void mpi__request_update(const mpi_held *held);

/* A receive is posted; one is completed, or will be by nobody. */
void mpi__open_add(mpi_held *held);
void mpi__open_remove(mpi_held *held);
extern _Atomic int32_t mpi__open_receives;

/* How many are posted and not completed. */
static inline uint32_t mpi__open(void)
{
    int32_t open =
        atomic_load_explicit(&mpi__open_receives, memory_order_relaxed);

    return open > 0 ? (uint32_t)open : 0;
}

/* The first of them; NULL: none, or, where there are threads, not known. */
const mpi_posted *mpi__open_first(void);

/* --- begun.c --- */

/* A send, or the receive of a message, is about to begin: says its order and
 * its thread. `ends`: the call in which it ends is this one. */
void mpi__begins(const mpi_call *call, mpi_held *held, bool ends);
/* One that has ended began before some that have not, which is to be said. */
bool mpi__overtook(const mpi_held *held);
/* It has: writes this down, and before it, which of those that began before it
 * have not ended. */
void mpi__ended(const mpi_call *call, const mpi_held *held,
                const mpi_place *place, const eventspace_message *message)
    __attribute__((cold));
/* It has not been, or has no message. */
void mpi__withdrawn(const mpi_call *call, const mpi_held *held);

#endif
