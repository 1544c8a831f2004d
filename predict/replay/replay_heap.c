/* replay_heap.c - a heap with four children to each entry: half as deep as one
 * with two, and the four lie side by side. It fills and empties all the time,
 * and keeps the room it has had (see pastset/array.h for other arrays). */
#include <stdlib.h>

#include "pastset/status.h"
#include "predict/replay/replay_internal.h"

static bool before(const replay_entry *a, const replay_entry *b)
{
    return a->key < b->key || (a->key == b->key && a->order < b->order);
}

static int grow(replay_heap *heap)
{
    size_t capacity = heap->capacity ? 2 * heap->capacity : 16;
    replay_entry *entries =
        realloc(heap->entries, capacity * sizeof(*heap->entries));

    if (!entries)
        return pastset_no_memory("for %zu entries of the replay", capacity);
    heap->entries = entries;
    heap->capacity = capacity;
    return 0;
}

int predict__replay_heap_push(replay_heap *heap, double key, double rest,
                              uint32_t actor)
{
    replay_entry entry = {key, rest, heap->order++, actor};
    size_t i = heap->count;
    int err = i == heap->capacity ? grow(heap) : 0;

    if (err)
        return err;
    heap->count++;
    while (i > 0 && before(&entry, &heap->entries[(i - 1) / 4])) {
        heap->entries[i] = heap->entries[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    heap->entries[i] = entry;
    return 0;
}

replay_entry predict__replay_heap_pop(replay_heap *heap)
{
    replay_entry *entries = heap->entries;
    replay_entry top = entries[0], last = entries[--heap->count];
    size_t i = 0;

    for (;;) {
        size_t min = 4 * i + 1, end = min + 4;
        if (min >= heap->count)
            break;
        if (end > heap->count)
            end = heap->count;
        for (size_t child = min + 1; child < end; child++) {
            if (before(&entries[child], &entries[min]))
                min = child;
        }
        if (!before(&entries[min], &last))
            break;
        entries[i] = entries[min];
        i = min;
    }
    entries[i] = last;
    return top;
}

void predict__replay_heap_fini(replay_heap *heap)
{
    free(heap->entries);
    *heap = (replay_heap){0};
}
