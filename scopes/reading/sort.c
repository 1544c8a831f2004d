/* sort.c - see sort_internal.h.
 *
 * A series is one or a few sequences in the order of `end`, put behind each
 * other (one for each stream), and where operations overlap, those that took
 * long stand too late by a few places. So: natural runs, of which the short
 * ones are made longer by insertion, are merged two and two. Before two are
 * merged, what is in its place already is left out at both ends; for runs that
 * overlap by a few tuples nothing else remains, and the whole is linear.
 *
 * What is sorted are numbers that say where tuples are; tuples are moved to
 * their places afterwards, each of them once. */
#include "scopes/reading/sort_internal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"

#define SHORTEST_RUN 24

/* Must `one` stand behind `other`? */
static inline bool is_behind(const eventspace_trace *events, uint32_t one,
                             uint32_t other)
{
    const eventspace_trace *a = &events[one], *b = &events[other];

    if (a->start != b->start)
        return a->start > b->start;
    if (a->sequence != b->sequence)
        return a->sequence > b->sequence;
    return a->thread > b->thread;
}

/* Puts [sorted, count) into the sorted ones before them. */
static void insert(uint32_t *items, size_t sorted, size_t count,
                   const eventspace_trace *events)
{
    for (size_t i = sorted; i < count; i++) {
        uint32_t moving = items[i];
        size_t at = i;
        while (at > 0 && is_behind(events, items[at - 1], moving))
            at--;
        memmove(&items[at + 1], &items[at], (i - at) * sizeof(*items));
        items[at] = moving;
    }
}

/* The length of the run that begins here, which is sorted afterwards. */
static size_t run_take(uint32_t *items, size_t count,
                       const eventspace_trace *events)
{
    size_t length = 1;

    while (length < count &&
           !is_behind(events, items[length - 1], items[length]))
        length++;
    if (length < SHORTEST_RUN && length < count) {
        size_t longer = count < SHORTEST_RUN ? count : SHORTEST_RUN;
        insert(items, length, longer, events);
        length = longer;
    }
    return length;
}

/* How many of the last of `items` must stand behind `one`: looked for from
 * the end, in steps that double and then by bisecting. */
static size_t tail_behind(const uint32_t *items, size_t count, uint32_t one,
                          const eventspace_trace *events)
{
    size_t low = 0, high = 1;

    while (high <= count && is_behind(events, items[count - high], one)) {
        low = high;
        high *= 2;
    }
    high = high - 1 < count ? high - 1 : count;
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (is_behind(events, items[count - middle], one))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* How many of the first of `items` must `one` stand behind. */
static size_t head_before(const uint32_t *items, size_t count, uint32_t one,
                          const eventspace_trace *events)
{
    size_t low = 0, high = 1;

    while (high <= count && is_behind(events, one, items[high - 1])) {
        low = high;
        high *= 2;
    }
    high = high - 1 < count ? high - 1 : count;
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (is_behind(events, one, items[middle - 1]))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Merges [0, middle) with [middle, count). `spare` has room for the first. */
static void merge(uint32_t *items, size_t middle, size_t count, uint32_t *spare,
                  const eventspace_trace *events)
{
    size_t left, right, begin, at;

    if (!is_behind(events, items[middle - 1], items[middle]))
        return;
    /* The others stay where they are. */
    left = tail_behind(items, middle, items[middle], events);
    count = middle + head_before(items + middle, count - middle,
                                 items[middle - 1], events);
    begin = middle - left;
    memcpy(spare, items + begin, left * sizeof(*items));
    at = begin;
    right = middle;
    for (size_t i = 0; i < left;) {
        if (right < count && is_behind(events, spare[i], items[right]))
            items[at++] = items[right++];
        else
            items[at++] = spare[i++];
    }
}

/* Finds the runs; where each ends comes back in `*ends`. */
static int runs_find(uint32_t *items, size_t count, size_t **ends, size_t *runs,
                     const eventspace_trace *events)
{
    size_t end = 0;

    *ends = NULL;
    *runs = 0;
    while (end < count) {
        size_t *more = scopes__array_grow(*ends, *runs, sizeof(*more));
        if (!more) {
            scopes__free(*ends);
            return scopes__no_room("to sort events");
        }
        *ends = more;
        end += run_take(items + end, count - end, events);
        (*ends)[(*runs)++] = end;
    }
    return 0;
}

/* Merges run after run with its neighbour, until there is one. */
static void runs_merge(uint32_t *items, size_t *ends, size_t runs,
                       uint32_t *spare, const eventspace_trace *events)
{
    while (runs > 1) {
        size_t left = 0, begin = 0;
        for (size_t i = 0; i < runs; i += 2) {
            size_t end = ends[i + 1 < runs ? i + 1 : i];
            if (i + 1 < runs)
                merge(items + begin, ends[i] - begin, end - begin, spare,
                      events);
            ends[left++] = begin = end;
        }
        runs = left;
    }
}

/* --- all of it --- */

static int sort(uint32_t *items, size_t count, const eventspace_trace *events)
{
    uint32_t *spare = NULL;
    size_t *ends, runs;
    int err = runs_find(items, count, &ends, &runs, events);

    if (err)
        return err;
    if (runs > 1) {
        spare = scopes__allocate(count * sizeof(*spare));
        if (!spare)
            err = scopes__no_room("to sort events");
    }
    if (!err)
        runs_merge(items, ends, runs, spare, events);
    scopes__free(spare);
    scopes__free(ends);
    return err;
}

int scopes__sort_numbers(uint32_t *numbers, size_t count,
                         const eventspace_trace *events)
{
    if (count >= UINT32_MAX)
        return pastset_fail(PASTSET_ENOTSUP,
                            "%zu events of one collector are too many: look at "
                            "a part of the run",
                            count);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = i;
    return sort(numbers, count, events);
}

/* Puts into each place the tuple whose number is there: one circle of tuples
 * after the other. */
static void move(eventspace_trace *events, uint32_t *from, size_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        eventspace_trace first = events[i];
        uint32_t at = i;
        if (from[i] == i)
            continue;
        while (from[at] != i) {
            uint32_t next = from[at];
            events[at] = events[next];
            from[at] = at;
            at = next;
        }
        events[at] = first;
        from[at] = at;
    }
}

int scopes__sort(eventspace_trace *events, size_t count)
{
    uint32_t *from = scopes__allocate(count * sizeof(*from));
    int err;

    if (!from)
        return scopes__no_room("to sort events");
    err = scopes__sort_numbers(from, count, events);
    if (!err)
        move(events, from, count);
    scopes__free(from);
    return err;
}
