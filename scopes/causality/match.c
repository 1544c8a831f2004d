/* match.c - the same operations at two collectors.
 *
 * An operation is known by (thread, sequence), which is put together into one
 * key of 64 bits. Both lists of keys are brought into the order of the keys,
 * and merged. For that nothing has to be compared: one pass counts the keys of
 * each thread, one puts them there, and as each thread's operations pass a
 * collector in their order, its keys are in order then. A list that is not
 * (operations of paths_start, or numbers that no thread can have, in damaged
 * data) is sorted. */
#include "scopes/causality/rounds_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"

/* A key, and where it stood. */
typedef struct placed {
    uint64_t key;
    uint32_t at;
} placed;

static int no_memory(void)
{
    return scopes__no_room("to match operations");
}

static int by_key(const void *a, const void *b)
{
    const placed *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->at < y->at ? -1 : 1;
}

static uint32_t thread_of(uint64_t key)
{
    return (uint32_t)(key >> 32);
}

static bool in_order(const placed *list, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (list[i].key < list[i - 1].key)
            return false;
    }
    return true;
}

/* The keys of threads from `low` to `high`, by thread, and for each thread as
 * they came. `starts` has room for one more than there are threads. */
static size_t spread(placed *out, const uint64_t *keys, size_t count,
                     uint32_t low, uint32_t high, size_t *starts)
{
    size_t threads = (size_t)high - low + 1;

    memset(starts, 0, (threads + 1) * sizeof(*starts));
    for (size_t i = 0; i < count; i++) {
        uint32_t thread = thread_of(keys[i]);
        if (thread >= low && thread <= high)
            starts[thread - low + 1]++;
    }
    for (size_t i = 0; i < threads; i++)
        starts[i + 1] += starts[i];
    for (size_t i = 0; i < count; i++) {
        uint32_t thread = thread_of(keys[i]);
        if (thread >= low && thread <= high)
            out[starts[thread - low]++] = (placed){keys[i], (uint32_t)i};
    }
    return starts[threads - 1];
}

static size_t select_all(placed *out, const uint64_t *keys, size_t count,
                         uint32_t low, uint32_t high)
{
    size_t taken = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t thread = thread_of(keys[i]);
        if (thread >= low && thread <= high)
            out[taken++] = (placed){keys[i], (uint32_t)i};
    }
    return taken;
}

/* The keys of threads from `low` to `high` in their order. */
static int order(placed **out, size_t *taken, const uint64_t *keys,
                 size_t count, uint32_t low, uint32_t high)
{
    size_t threads = (size_t)high - low + 1, *starts = NULL;
    bool few = threads <= 1024 + count;
    placed *list = scopes__allocate((count + 1) * sizeof(*list));

    if (few)
        starts = scopes__allocate((threads + 1) * sizeof(*starts));
    if (!list || (few && !starts)) {
        scopes__free(list);
        scopes__free(starts);
        return no_memory();
    }
    *taken = few ? spread(list, keys, count, low, high, starts)
                 : select_all(list, keys, count, low, high);
    scopes__free(starts);
    if (!in_order(list, *taken))
        qsort(list, *taken, sizeof(*list), by_key);
    *out = list;
    return 0;
}

static void merge(uint32_t *out, const placed *upper, size_t count,
                  const placed *lower, size_t lower_count)
{
    size_t k = 0;

    for (size_t i = 0; i < count && k < lower_count; i++) {
        while (k < lower_count && lower[k].key < upper[i].key)
            k++;
        if (k < lower_count && lower[k].key == upper[i].key)
            out[upper[i].at] = lower[k].at;
    }
}

int scopes__match_keys(uint32_t *out, const uint64_t *upper, size_t count,
                       const uint64_t *lower, size_t lower_count)
{
    placed *ups = NULL, *downs = NULL;
    size_t up_count = 0, down_count = 0;
    uint32_t low = UINT32_MAX, high = 0;
    int err;

    memset(out, 0xff, count * sizeof(*out));
    if (count == 0 || lower_count == 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t thread = thread_of(upper[i]);
        low = thread < low ? thread : low;
        high = thread > high ? thread : high;
    }
    err = order(&ups, &up_count, upper, count, low, high);
    if (!err)
        err = order(&downs, &down_count, lower, lower_count, low, high);
    merge(out, ups, up_count, downs, down_count); /* nothing, after an error */
    scopes__free(ups);
    scopes__free(downs);
    return err;
}

uint64_t *scopes__keys(const scopes_series *series)
{
    uint64_t *keys = scopes__allocate((series->count + 1) * sizeof(*keys));

    for (size_t i = 0; keys && i < series->count; i++)
        keys[i] = scopes__key(scopes_event_at(series->events, i));
    return keys;
}

int scopes_match(uint32_t **out, const scopes_series *upper,
                 const scopes_series *lower)
{
    uint64_t *ups = scopes__keys(upper), *downs = scopes__keys(lower);
    uint32_t *found = scopes__allocate((upper->count + 1) * sizeof(*found));
    int err = ups && downs && found ? 0 : no_memory();

    if (!err)
        err = scopes__match_keys(found, ups, upper->count, downs, lower->count);
    scopes__free(ups);
    scopes__free(downs);
    if (err)
        scopes__free(found);
    *out = err ? NULL : found;
    return err;
}

void scopes_match_free(uint32_t *matches)
{
    scopes__free(matches);
}
