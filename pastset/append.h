/* append.h - the shortest way into an element that has one writer.
 *
 *     unsigned char *slot = pastset_append_begin(appender);
 *     if (!slot)
 *         return pastset_write(pastset_appender_element(appender), ...);
 *     ... fill in the tuple, pastset_type.max_bytes long ...
 *     pastset_append_end(appender);
 *
 * Between begin and end nothing is visible to readers; end publishes with one
 * release store. No lock, no system call, no atomic read-modify-write.
 *
 * It is for elements made with `single_writer` and a type of fixed length.
 *
 * Threads: the element's one writer. */
#ifndef PASTSET_APPEND_H
#define PASTSET_APPEND_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pastset/element.h"

/* Is this build watched by ThreadSanitizer? */
#if defined(__SANITIZE_THREAD__)
#define PASTSET_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PASTSET_WATCHED 1
#endif
#endif

typedef struct pastset_appender {
    uint64_t next;              /* index of the tuple to be written */
    unsigned char *at;          /* its slot */
    unsigned char *begin, *end; /* of all slots */
    uint32_t stride_bytes;      /* from slot to slot */
    _Atomic uint64_t *last;     /* the element's counter, in shared memory */

    /* Below this index there is room and nobody waits: the one comparison
     * that stands for delta, the grown size, and readers that are held. 0
     * while readers are held. Written under the element's lock. */
    _Atomic uint64_t free_until;
    pastset_element *element;
} pastset_appender;

/* Borrowed from the element; NULL when it has not one writer or its tuples
 * differ in length. */
pastset_appender *pastset_element_appender(pastset_element *element);

static inline pastset_element *
pastset_appender_element(const pastset_appender *appender)
{
    return appender->element;
}

/* ThreadSanitizer does not know fences, and gcc says so. Where it watches, the
 * bytes that they order are atomics. */
#if defined(PASTSET_WATCHED) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
static inline void pastset__fence(memory_order order)
{
    atomic_thread_fence(order);
}
#if defined(PASTSET_WATCHED) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/* After end: readers are held, and may have waited for this tuple. */
void pastset__append_wake(pastset_appender *appender) __attribute__((cold));

/* The slot of the next tuple; NULL when it takes the long way. */
static inline unsigned char *pastset_append_begin(pastset_appender *appender)
{
    /* Acquire: pairs with the release in pastset__element_set_free(); whoever
     * consumed the slot's old tuple has done with it. */
    if (__builtin_expect(appender->next >=
                             atomic_load_explicit(&appender->free_until,
                                                  memory_order_acquire),
                         0))
        return NULL;
    /* Release: pairs with the acquire fence of a reader that copied this
     * slot's old tuple: seeing any byte of the new one, it sees the count
     * that says the old one is gone. Costs nothing on x86. */
    pastset__fence(memory_order_release);
    return appender->at;
}

/* Copies into the slot. A reader may be copying the slot's old tuple, and
 * will throw it away: a data race by the letter of C, so that where races are
 * watched for the bytes are moved one atomic at a time. */
static inline void pastset_append_store(unsigned char *slot, const void *from,
                                        size_t bytes)
{
#ifdef PASTSET_WATCHED
    for (size_t i = 0; i < bytes; i++)
        __atomic_store_n(slot + i, ((const unsigned char *)from)[i],
                         __ATOMIC_RELAXED);
#else
    memcpy(slot, from, bytes);
#endif
}

static inline void pastset_append_end(pastset_appender *appender)
{
    unsigned char *at = appender->at + appender->stride_bytes;

    appender->at = at == appender->end ? appender->begin : at;
    appender->next++;
    /* Release: pairs with the acquire in read.c; the payload is visible
     * before the count. */
    atomic_store_explicit(appender->last, appender->next, memory_order_release);
    /* Model: fence.pml. The store must not be overtaken by this load, or a
     * reader that begins to wait right now would be missed. The processor's
     * part of that fence is done by the reader (membarrier, in request.c), once
     * per wait instead of once per write. */
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&appender->free_until,
                                              memory_order_relaxed) == 0,
                         0))
        pastset__append_wake(appender);
}

#endif
