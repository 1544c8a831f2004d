/* exchange.h - keys that go from each thread to each other one.
 *
 * Thread j reads its keys from the element keys_<j>, to which all others write
 * tuples of some keys, each with its sender. A thread has some writes and one
 * observe under way at any time (paths_start), for two reasons: the tuples to
 * several threads travel at once; and while its own writes wait for room, it
 * goes on to take out what is for it. So no circle of threads can come about
 * in which each waits for room that the next should make.
 *
 * Threads:   belongs to the thread of the run that opened it. */
#ifndef IS_EXCHANGE_H
#define IS_EXCHANGE_H

#include "paths/paths.h"

/* A tuple of keys_<j>. */
typedef struct key_chunk {
    uint32_t sender; /* the number of its thread */
    uint32_t count;
    uint32_t keys[];
} key_chunk;

#define KEY_CHUNK_BYTES(count) (sizeof(key_chunk) + (count) * sizeof(uint32_t))

typedef struct key_exchange key_exchange;

/* Opens the paths to_<j>, to each other thread's element, and `keys`.
 * Errors: PASTSET_ENOMEM, those of paths_open. */
int key_exchange_open(key_exchange **out, paths_thread *self);

/* Sends the first send[0] of the keys to thread 0, the next send[1] to thread
 * 1, and so on, and takes receive[i] keys from thread i into `into`, in the
 * order in which they come. What a thread sends itself is copied.
 * Errors: PASTSET_EAPP (other tuples came), those of paths_start. After an
 * error the thread must end: operations may still be under way. */
int key_exchange_run(key_exchange *x, const uint32_t *keys,
                     const uint32_t *send, const uint32_t *receive,
                     uint32_t *into);

/* May be NULL. After an error, operations under way still use the memory, and
 * the run ends them when the thread has ended; so it is not freed then. */
void key_exchange_close(key_exchange *x);

#endif
