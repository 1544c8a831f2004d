/* requests.c - what has been started and is not completed, by its handle.
 *
 * As soon as MPI has completed a request, another thread may be given its
 * handle for one of its own. Where there are several threads, a request that
 * may complete in a call is therefore taken out before the call, and put back
 * after it if it has not. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/interpose.h"

#define SHARDS 16
#define FIRST 256 /* entries of a shard at first; a power of two */

/* Open addressing; `request` 0 is a free entry, and `kind` MPI__NOTHING one
 * that was removed. */
typedef struct shard {
    pthread_mutex_t lock;
    mpi_held *items;
    uint32_t used, mask; /* `used` with those that were removed */
    mpi_held first[FIRST];
} __attribute__((aligned(64))) shard;

static shard shards[SHARDS] = {
    [0 ... SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static _Atomic uint32_t ids;

static uint64_t mix(uint64_t key)
{
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

/* Handles begin at 1 here, so that none is that of a free entry. */
static uint64_t key_of(uint64_t request, bool is_message)
{
    return (request << 1 | is_message) + 1;
}

static shard *shard_lock(uint64_t key)
{
    shard *s = &shards[mix(key) >> 60];

    if (mpi__is_threaded)
        pthread_mutex_lock(&s->lock);
    if (!s->items) {
        s->items = s->first;
        s->mask = FIRST - 1;
    }
    return s;
}

static void shard_unlock(shard *s)
{
    if (mpi__is_threaded)
        pthread_mutex_unlock(&s->lock);
}

/* With the id of `own`, unless that is NULL: another thread may have been given
 * the same handle meanwhile. */
static mpi_held *find(const shard *s, uint64_t key, const mpi_held *own)
{
    for (uint32_t at = (uint32_t)mix(key) & s->mask;; at = (at + 1) & s->mask) {
        mpi_held *held = &s->items[at];
        if (!held->request)
            return NULL;
        if (held->request == key && held->kind != MPI__NOTHING &&
            (!own || held->id == own->id))
            return held;
    }
}

/* Where one with this key is, or else belongs. */
static mpi_held *entry_for(mpi_held *items, uint32_t mask, uint64_t key)
{
    mpi_held *gone = NULL;

    for (uint32_t at = (uint32_t)mix(key) & mask;; at = (at + 1) & mask) {
        mpi_held *held = &items[at];
        if (!held->request)
            return gone ? gone : held;
        if (held->kind == MPI__NOTHING)
            gone = gone ? gone : held;
        else if (held->request == key)
            return held;
    }
}

/* Entries that no search has to go past any more are free again: as long as
 * there are about as many requests at once, a shard does not fill up. */
static void drop(shard *s, mpi_held *held)
{
    uint32_t at = (uint32_t)(held - s->items);

    held->kind = MPI__NOTHING;
    if (s->items[(at + 1) & s->mask].request)
        return;
    for (; s->items[at].request && s->items[at].kind == MPI__NOTHING;
         at = (at - 1) & s->mask) {
        s->items[at].request = 0;
        s->used--;
    }
}

/* Twice as many, or as many without those that were removed. */
static bool grow(shard *s)
{
    uint32_t live = 0, mask = s->mask;
    mpi_held *more;

    for (uint32_t i = 0; i <= s->mask; i++)
        live += s->items[i].kind != MPI__NOTHING;
    if (live > s->mask / 4)
        mask = 2 * mask + 1;
    more = calloc(mask + 1u, sizeof(*more));
    if (!more)
        return false;
    for (uint32_t i = 0; i <= s->mask; i++)
        if (s->items[i].kind != MPI__NOTHING)
            *entry_for(more, mask, s->items[i].request) = s->items[i];
    if (s->items != s->first)
        free(s->items);
    s->items = more;
    s->mask = mask;
    s->used = live;
    return true;
}

static uint32_t id_next(void)
{
    uint32_t now = atomic_load_explicit(&ids, memory_order_relaxed);

    if (mpi__is_threaded)
        return atomic_fetch_add_explicit(&ids, 1, memory_order_relaxed);
    atomic_store_explicit(&ids, now + 1, memory_order_relaxed);
    return now;
}

/* If there is one, nobody has seen its end, as it was in a call that MPI has
 * made, of a function for an attribute say: its handle is that of another one
 * now. What is free, or gone, is of kind MPI__NOTHING. */
static void replace(mpi_held *old, const mpi_held *own)
{
    if (old->kind == MPI__RECEIVE && old->is_active && !old->is_message)
        mpi__open_remove(old);
    *old = *own;
}

void mpi__request_add(const mpi_held *held)
{
    mpi_held own = *held, *at;
    shard *s;

    own.id = id_next();
    own.request = key_of(held->request, held->is_message);
    s = shard_lock(own.request);
    if (s->used < s->mask / 2 || grow(s)) {
        at = entry_for(s->items, s->mask, own.request);
        s->used += !at->request;
        replace(at, &own);
    }
    shard_unlock(s);
}

static bool look(mpi_held *out, uint64_t request, bool is_message, bool take)
{
    uint64_t key = key_of(request, is_message);
    shard *s = shard_lock(key);
    mpi_held *held = find(s, key, NULL);

    if (held) {
        *out = *held;
        out->request = request;
        out->is_taken = take && !held->is_persistent;
        if (out->is_taken)
            drop(s, held);
    } else {
        out->kind = MPI__NOTHING;
    }
    shard_unlock(s);
    return held != NULL;
}

bool mpi__request_find(mpi_held *out, uint64_t request, bool is_message)
{
    return look(out, request, is_message, false);
}

bool mpi__request_take(mpi_held *out, uint64_t request, bool is_message)
{
    return look(out, request, is_message, true);
}

void mpi__request_remove(const mpi_held *gone)
{
    uint64_t key = key_of(gone->request, gone->is_message);
    shard *s = shard_lock(key);
    mpi_held *held = find(s, key, gone);

    if (held)
        drop(s, held);
    shard_unlock(s);
}

void mpi__request_update(const mpi_held *changed)
{
    uint64_t key = key_of(changed->request, changed->is_message);
    shard *s = shard_lock(key);
    mpi_held *held = find(s, key, changed);

    if (held) {
        *held = *changed;
        held->request = key;
    }
    shard_unlock(s);
}

_Atomic int32_t mpi__open_receives;

static void open_change(int by)
{
    if (mpi__is_threaded)
        atomic_fetch_add_explicit(&mpi__open_receives, by,
                                  memory_order_relaxed);
    else
        atomic_store_explicit(
            &mpi__open_receives,
            atomic_load_explicit(&mpi__open_receives, memory_order_relaxed) +
                by,
            memory_order_relaxed);
}

/* Of one thread at a time; those that are free, too, are in a list. */
static mpi_posted *posted_first, *posted_free;

#define POSTED_AT_ONCE 64

static mpi_posted *posted_new(void)
{
    mpi_posted *p = posted_free;

    if (!p) {
        p = calloc(POSTED_AT_ONCE, sizeof(*p));
        for (int i = 0; p && i < POSTED_AT_ONCE - 1; i++)
            p[i].next = &p[i + 1];
    }
    if (p)
        posted_free = p->next;
    return p;
}

void mpi__open_add(mpi_held *held)
{
    mpi_posted *p = mpi__is_threaded ? NULL : posted_new();

    open_change(1);
    held->posted = p;
    if (!p)
        return;
    *p = (mpi_posted){posted_first, NULL, held->world, held->communicator,
                      held->tag};
    if (posted_first)
        posted_first->before = p;
    posted_first = p;
}

void mpi__open_remove(mpi_held *held)
{
    mpi_posted *p = held->posted;

    open_change(-1);
    held->posted = NULL;
    if (!p)
        return;
    if (p->before)
        p->before->next = p->next;
    else
        posted_first = p->next;
    if (p->next)
        p->next->before = p->before;
    p->next = posted_free;
    posted_free = p;
}

const mpi_posted *mpi__open_first(void)
{
    return mpi__is_threaded ? NULL : posted_first;
}
