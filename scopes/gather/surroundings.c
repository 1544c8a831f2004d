/* surroundings.c - see surroundings.h. */
#include "scopes/gather/surroundings.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

void scopes__surroundings_fini(surroundings *s)
{
    free(s->items);
}

/* The first that does not end before it. */
static size_t place_of(const surroundings *s, uint64_t ns)
{
    size_t low = 0, high = s->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->items[middle].end_ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool scopes__surroundings_meet(const surroundings *s, uint64_t begin_ns,
                               uint64_t end_ns)
{
    size_t at = place_of(s, begin_ns);

    return at < s->count && s->items[at].begin_ns <= end_ns;
}

int scopes__surroundings_add(surroundings *s, const scopes_surroundings *time,
                             bool *news)
{
    scopes_surroundings joined = *time;
    size_t from = place_of(s, time->begin_ns), to = from;
    scopes_surroundings *items;

    if (news)
        *news = false;
    if (from < s->count && s->items[from].begin_ns <= time->begin_ns &&
        s->items[from].end_ns >= time->end_ns)
        return 0;
    items = pastset_array_grow(s->items, s->count, sizeof(*items));
    if (!items)
        return pastset_no_memory("for what is asked for");
    s->items = items;
    for (; to < s->count && s->items[to].begin_ns <= time->end_ns; to++) {
        if (s->items[to].begin_ns < joined.begin_ns)
            joined.begin_ns = s->items[to].begin_ns;
        if (s->items[to].end_ns > joined.end_ns)
            joined.end_ns = s->items[to].end_ns;
    }
    memmove(s->items + from + 1, s->items + to,
            (s->count - to) * sizeof(*s->items));
    s->items[from] = joined;
    s->count = s->count - (to - from) + 1;
    if (news)
        *news = true;
    return 0;
}

void scopes__surroundings_forget(surroundings *s, uint64_t before_ns)
{
    size_t gone = place_of(s, before_ns);

    memmove(s->items, s->items + gone, (s->count - gone) * sizeof(*s->items));
    s->count -= gone;
}
