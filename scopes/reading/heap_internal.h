/* heap_internal.h - a binary heap of small keys, the least first: with it, a
 * few series that are in order are merged into one, in linear time but for
 * the logarithm of their number.
 *
 * Inline, since it is asked once or twice for each event; and it keeps the room
 * it has had, since it fills and empties all the time (others grow as in
 * pastset/array.h). When the next event is of the same series as the last one,
 * which is the rule, `replace` is done after one look. */
#ifndef SCOPES_HEAP_INTERNAL_H
#define SCOPES_HEAP_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "pastset/status.h"

typedef struct scopes__key {
    int64_t first;
    uint64_t second; /* between those of equal `first` */
    uint32_t source; /* whose key it is */
} scopes__key;

typedef struct scopes__heap {
    scopes__key *keys; /* keys[0] is the least, if count > 0 */
    uint32_t count, capacity;
} scopes__heap;

static inline bool scopes__key_before(const scopes__key *a,
                                      const scopes__key *b)
{
    return a->first != b->first ? a->first < b->first : a->second < b->second;
}

/* Lets `key` sink from place `at`. */
static inline void scopes__heap_sink(scopes__heap *heap, uint32_t at,
                                     scopes__key key)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count &&
            scopes__key_before(&heap->keys[child + 1], &heap->keys[child]))
            child++;
        if (!scopes__key_before(&heap->keys[child], &key))
            break;
        heap->keys[at] = heap->keys[child];
        at = child;
    }
    heap->keys[at] = key;
}

static inline void scopes__heap_rise(scopes__heap *heap, uint32_t at,
                                     scopes__key key)
{
    while (at > 0) {
        uint32_t parent = (at - 1) / 2;
        if (!scopes__key_before(&key, &heap->keys[parent]))
            break;
        heap->keys[at] = heap->keys[parent];
        at = parent;
    }
    heap->keys[at] = key;
}

/* Errors: PASTSET_ENOMEM. */
static inline int scopes__heap_add(scopes__heap *heap, scopes__key key)
{
    if (heap->count == heap->capacity) {
        uint32_t capacity = heap->capacity ? 2 * heap->capacity : 16;
        scopes__key *more = realloc(heap->keys, capacity * sizeof(*more));
        if (!more)
            return pastset_fail(PASTSET_ENOMEM, "no memory for the view");
        heap->keys = more;
        heap->capacity = capacity;
    }
    scopes__heap_rise(heap, heap->count++, key);
    return 0;
}

/* Puts `key` in the place of the least. */
static inline void scopes__heap_replace(scopes__heap *heap, scopes__key key)
{
    scopes__heap_sink(heap, 0, key);
}

/* Takes the least out. */
static inline void scopes__heap_drop(scopes__heap *heap)
{
    scopes__key last = heap->keys[--heap->count];

    if (heap->count > 0)
        scopes__heap_sink(heap, 0, last);
}

static inline void scopes__heap_fini(scopes__heap *heap)
{
    free(heap->keys);
    *heap = (scopes__heap){0};
}

#endif
