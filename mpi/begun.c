/* begun.c - sends and receives in the order in which they began.
 *
 * Which message is which follows from that order, and is written down when they
 * end. If one ends and an earlier one has not, a process that is killed then
 * would not have the earlier one: it is written down as begun. So each that was
 * overtaken has one tuple more, and the others none.
 *
 * In a queue are those that began after all that have ended, or of which it is
 * written down that they began. Where only one thread calls MPI, a call that
 * waits cannot be overtaken, and is in none. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "mpi/interpose.h"
#include "mpi/words.h"

#define ROOM_AT_FIRST 256 /* a power of two */

typedef struct begun {
    mpi_comm *comm; /* NULL: it was withdrawn */
    uint32_t order, thread;
    int32_t peer, tag;
} begun;

typedef struct queue {
    pthread_mutex_t lock;
    _Atomic uint32_t next; /* order */
    _Atomic uint32_t head; /* order of the first in it; MPI__NONE: it is empty.
                              What it has lost is written down before */
    begun *items;          /* a ring */
    uint32_t first, count, mask;
} __attribute__((aligned(64))) queue;

static queue sends = {.lock = PTHREAD_MUTEX_INITIALIZER, .head = MPI__NONE},
             receives = {.lock = PTHREAD_MUTEX_INITIALIZER, .head = MPI__NONE};

static queue *queue_lock(const mpi_held *held)
{
    queue *q = held->kind == MPI__SEND ? &sends : &receives;

    if (mpi__is_threaded)
        pthread_mutex_lock(&q->lock);
    return q;
}

/* The i-th of those in it. */
static begun *item(queue *q, uint32_t i)
{
    return &q->items[(q->first + i) & q->mask];
}

/* Release: who sees the head by the acquire in mpi__overtook sees what was
 * written down before it was moved. */
static void queue_unlock(queue *q)
{
    atomic_store_explicit(&q->head, q->count ? item(q, 0)->order : MPI__NONE,
                          memory_order_release);
    if (mpi__is_threaded)
        pthread_mutex_unlock(&q->lock);
}

/* Those that were withdrawn, but for the last ones, are still there. */
static void compact(queue *q)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < q->count; i++)
        if (item(q, i)->comm)
            *item(q, kept++) = *item(q, i);
    q->count = kept;
}

static bool grow(queue *q)
{
    uint32_t room = q->items ? 2 * (q->mask + 1) : ROOM_AT_FIRST;
    begun *more;

    compact(q);
    if (q->items && q->count <= q->mask / 2)
        return true;
    more = malloc(room * sizeof(*more));
    if (!more)
        return q->items && q->count <= q->mask;
    for (uint32_t i = 0; i < q->count; i++)
        more[i] = *item(q, i);
    free(q->items);
    q->items = more;
    q->first = 0;
    q->mask = room - 1;
    return true;
}

static void push(const mpi_call *call, queue *q, const mpi_held *held)
{
    if ((!q->items || q->count > q->mask) && !grow(q)) {
        eventspace_recorder_lose_message(call->self->thread);
        return;
    }
    *item(q, q->count++) =
        (begun){held->comm, held->order, held->thread, held->peer, held->tag};
}

void mpi__begins(const mpi_call *call, mpi_held *held, bool ends)
{
    bool may_be_overtaken =
        mpi__is_threaded || (held->kind == MPI__RECEIVE && !ends);
    queue *q = queue_lock(held);

    held->thread = call->self->thread->number;
    held->order = atomic_load_explicit(&q->next, memory_order_relaxed);
    atomic_store_explicit(&q->next, held->order + 1, memory_order_relaxed);
    if (may_be_overtaken && held->comm && held->peer != MPI_PROC_NULL)
        push(call, q, held);
    queue_unlock(q);
}

static begun *find(queue *q, uint32_t order)
{
    uint32_t low = 0, high = q->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        begun *b = item(q, middle);
        if (b->order == order)
            return b;
        if (b->order < order)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void write_down(const mpi_call *call, uint8_t kind, const begun *b)
{
    mpi_held held = {.kind = kind,
                     .peer = b->peer,
                     .tag = b->tag,
                     .order = b->order,
                     .thread = b->thread,
                     .comm = b->comm};

    mpi__note_begun(call, &held, MPI__IS_UNDER_WAY);
}

bool mpi__overtook(const mpi_held *held)
{
    const queue *q = held->kind == MPI__SEND ? &sends : &receives;

    /* Acquire: pairs with the release in queue_unlock. */
    return atomic_load_explicit(&q->head, memory_order_acquire) <= held->order;
}

void mpi__ended(const mpi_call *call, const mpi_held *held,
                const mpi_place *place, const eventspace_message *message)
{
    queue *q = queue_lock(held);

    while (q->count && item(q, 0)->order <= held->order) {
        const begun *b = item(q, 0);
        q->first++;
        q->count--;
        if (b->comm && b->order != held->order)
            write_down(call, held->kind, b);
    }
    mpi__message_leave(call, place, message);
    queue_unlock(q);
}

void mpi__withdrawn(const mpi_call *call, const mpi_held *held)
{
    queue *q = queue_lock(held);
    begun *b = find(q, held->order);

    if (b)
        b->comm = NULL;
    while (q->count && !item(q, q->count - 1)->comm)
        q->count--;
    queue_unlock(q);
    if (!b && held->comm)
        mpi__note_begun(call, held, MPI__WAS_NONE);
}
