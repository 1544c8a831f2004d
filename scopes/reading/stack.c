/* stack.c - see stack_internal.h.
 *
 * Memory. Small stacks are in the heap. Larger ones are mappings of whole huge
 * pages, aligned to them; they grow to twice their size by moving the pages
 * into a larger mapping (mremap), for which the kernel moves an entry for every
 * 2 MiB.
 *
 * Sorting. A series is one or a few sequences in the order of `end`, put behind
 * each other (one for each stream), and where operations overlap, those that
 * took long stand too late by a few places. So: natural runs, of which the
 * short ones are made longer by insertion, are merged two and two. Before two
 * are merged, what is in its place already is left out at both ends; for runs
 * that overlap by a few tuples nothing else remains, and the whole is linear.
 */
#include "scopes/reading/stack_internal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pastset/array.h"
#include "pastset/status.h"

#define HUGE_BYTES (2u << 20)
#define FIRST_CAPACITY 256
#define TUPLES_MAX (SIZE_MAX / 4 / sizeof(eventspace_trace))

static int no_memory(size_t capacity)
{
    return pastset_no_memory("for %zu trace tuples", capacity);
}

/* --- memory --- */

/* Address space of whole huge pages, with memory (`PROT_READ | PROT_WRITE`) or
 * without. */
static unsigned char *huge_map(size_t bytes, int protection)
{
    size_t all = bytes + HUGE_BYTES;
    unsigned char *base =
        mmap(NULL, all, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
             -1, 0);
    size_t before;

    if (base == MAP_FAILED)
        return NULL;
    before = (HUGE_BYTES - (uintptr_t)base % HUGE_BYTES) % HUGE_BYTES;
    if (before)
        munmap(base, before);
    if (before < HUGE_BYTES)
        munmap(base + before + bytes, HUGE_BYTES - before);
    return base + before;
}

/* From the heap into a mapping. */
static int huge_begin(scopes_stack *stack, size_t bytes)
{
    unsigned char *to = huge_map(bytes, PROT_READ | PROT_WRITE);

    if (!to)
        return no_memory(bytes / sizeof(*stack->events));
    (void)madvise(to, bytes, MADV_HUGEPAGE); /* small pages do as well */
    if (stack->count)
        memcpy(to, stack->events, stack->count * sizeof(*stack->events));
    free(stack->events);
    stack->events = (eventspace_trace *)(void *)to;
    stack->mapped_bytes = bytes;
    return 0;
}

static int huge_grow(scopes_stack *stack, size_t bytes)
{
    unsigned char *to = huge_map(bytes, PROT_NONE);
    void *moved;

    if (!to)
        return no_memory(bytes / sizeof(*stack->events));
    /* It replaces the reservation, which is what keeps it aligned. */
    moved = mremap(stack->events, stack->mapped_bytes, bytes,
                   MREMAP_MAYMOVE | MREMAP_FIXED, to);
    if (moved == MAP_FAILED) {
        munmap(to, bytes);
        return no_memory(bytes / sizeof(*stack->events));
    }
    stack->events = moved;
    stack->mapped_bytes = bytes;
    return 0;
}

int scopes__stack_reserve(scopes_stack *stack, size_t capacity)
{
    size_t bytes;
    int err;

    if (capacity <= stack->capacity)
        return 0;
    if (capacity > TUPLES_MAX)
        return no_memory(capacity);
    if (capacity < 2 * stack->capacity)
        capacity = 2 * stack->capacity;
    if (capacity < FIRST_CAPACITY)
        capacity = FIRST_CAPACITY;
    bytes = capacity * sizeof(*stack->events);
    if (bytes < HUGE_BYTES && !stack->mapped_bytes) {
        eventspace_trace *events = realloc(stack->events, bytes);
        if (!events)
            return no_memory(capacity);
        stack->events = events;
        stack->capacity = capacity;
        return 0;
    }
    bytes = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    err = stack->mapped_bytes ? huge_grow(stack, bytes)
                              : huge_begin(stack, bytes);
    if (!err)
        stack->capacity = bytes / sizeof(*stack->events);
    return err;
}

void scopes__stack_fini(scopes_stack *stack)
{
    if (stack->mapped_bytes)
        munmap(stack->events, stack->mapped_bytes);
    else
        free(stack->events);
    memset(stack, 0, sizeof(*stack));
}

/* --- sorting --- */

#define SHORTEST_RUN 24

typedef eventspace_trace tuple;

/* Must `a` stand behind `b`? */
static inline bool is_behind(const tuple *a, const tuple *b)
{
    if (a->start != b->start)
        return a->start > b->start;
    if (a->sequence != b->sequence)
        return a->sequence > b->sequence;
    return a->thread > b->thread;
}

/* Puts [sorted, count) into the sorted ones before them. */
static void insert(tuple *events, size_t sorted, size_t count)
{
    for (size_t i = sorted; i < count; i++) {
        tuple moving = events[i];
        size_t at = i;
        while (at > 0 && is_behind(&events[at - 1], &moving))
            at--;
        memmove(&events[at + 1], &events[at], (i - at) * sizeof(*events));
        events[at] = moving;
    }
}

/* The length of the run that begins here, which is sorted afterwards. */
static size_t run_take(tuple *events, size_t count)
{
    size_t length = 1;

    while (length < count && !is_behind(&events[length - 1], &events[length]))
        length++;
    if (length < SHORTEST_RUN && length < count) {
        size_t longer = count < SHORTEST_RUN ? count : SHORTEST_RUN;
        insert(events, length, longer);
        length = longer;
    }
    return length;
}

/* How many of the last of `events` must stand behind `one`: looked for from
 * the end, in steps that double and then by bisecting. */
static size_t tail_behind(const tuple *events, size_t count, const tuple *one)
{
    size_t low = 0, high = 1;

    while (high <= count && is_behind(&events[count - high], one)) {
        low = high;
        high *= 2;
    }
    high = high - 1 < count ? high - 1 : count;
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (is_behind(&events[count - middle], one))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* How many of the first of `events` must `one` stand behind. */
static size_t head_before(const tuple *events, size_t count, const tuple *one)
{
    size_t low = 0, high = 1;

    while (high <= count && is_behind(one, &events[high - 1])) {
        low = high;
        high *= 2;
    }
    high = high - 1 < count ? high - 1 : count;
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (is_behind(one, &events[middle - 1]))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Merges [0, middle) with [middle, count). `spare` has room for the first. */
static void merge(tuple *events, size_t middle, size_t count, tuple *spare)
{
    size_t left, right, begin, at;

    if (!is_behind(&events[middle - 1], &events[middle]))
        return;
    /* The others stay where they are. */
    left = tail_behind(events, middle, &events[middle]);
    count = middle +
            head_before(events + middle, count - middle, &events[middle - 1]);
    begin = middle - left;
    memcpy(spare, events + begin, left * sizeof(*events));
    at = begin;
    right = middle;
    for (size_t i = 0; i < left;) {
        if (right < count && is_behind(&spare[i], &events[right]))
            events[at++] = events[right++];
        else
            events[at++] = spare[i++];
    }
}

/* Finds the runs; where each ends comes back in `*ends`. */
static int runs_find(tuple *events, size_t count, size_t **ends, size_t *runs)
{
    size_t end = 0;

    *ends = NULL;
    *runs = 0;
    while (end < count) {
        size_t *more = pastset_array_grow(*ends, *runs, sizeof(*more));
        if (!more) {
            free(*ends);
            return no_memory(*runs + 1);
        }
        *ends = more;
        end += run_take(events + end, count - end);
        (*ends)[(*runs)++] = end;
    }
    return 0;
}

/* Merges run after run with its neighbour, until there is one. */
static void runs_merge(tuple *events, size_t *ends, size_t runs, tuple *spare)
{
    while (runs > 1) {
        size_t left = 0, begin = 0;
        for (size_t i = 0; i < runs; i += 2) {
            size_t end = ends[i + 1 < runs ? i + 1 : i];
            if (i + 1 < runs)
                merge(events + begin, ends[i] - begin, end - begin, spare);
            ends[left++] = begin = end;
        }
        runs = left;
    }
}

int scopes__sort(eventspace_trace *events, size_t count, scopes_stack *spare)
{
    size_t *ends, runs;
    int err = runs_find(events, count, &ends, &runs);

    if (err)
        return err;
    if (runs > 1)
        err = scopes__stack_reserve(spare, count);
    if (!err)
        runs_merge(events, ends, runs, spare->events);
    free(ends);
    return err;
}
