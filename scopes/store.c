/* store.c - trace tuples by collector.
 *
 * One pass, as the tuples are copied twice at most: from the space or archive
 * into a buffer that stays in the cache, and from there into the series. How
 * many each series will have is not known before, and counting would cost as
 * much as reading, so they grow (stack.h). */
#include "scopes/store.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/stack.h"

/* The id of a node that is a collector; UINT64_MAX of others. */
static int map_id(const paths_map *map, uint32_t node, uint64_t *id)
{
    *id = UINT64_MAX;
    if (strcmp(map->nodes[node].type, "collector") != 0)
        return 0;
    return paths_node_number(map, &map->nodes[node], "id", UINT64_MAX, id);
}

/* The collectors of the map: where each stands. */
static int series_make(scopes_store *store)
{
    const paths_map *map = store->map;
    uint64_t id;
    int err;

    for (uint32_t i = 0; i < map->node_count; i++) {
        err = map_id(map, i, &id);
        if (err)
            return err;
        if (id < map->node_count && id >= store->collectors)
            store->collectors = (uint32_t)id + 1;
    }
    store->series = calloc(store->collectors + 1u, sizeof(*store->series));
    store->stacks = calloc(store->collectors + 1u, sizeof(*store->stacks));
    if (!store->series || !store->stacks)
        return pastset_fail(PASTSET_ENOMEM, "no memory for %u collectors",
                            store->collectors);
    for (uint32_t i = 0; i < store->collectors; i++)
        store->series[i].node = store->series[i].host = PATHS_NONE;
    for (uint32_t i = 0; i < map->node_count; i++) {
        err = map_id(map, i, &id);
        if (!err && id < store->collectors) {
            store->series[id].node = i;
            store->series[id].host = map->nodes[i].host;
        }
    }
    return 0;
}

static int store_create(scopes_store **out, const paths_map *map)
{
    scopes_store *store = calloc(1, sizeof(*store));
    int err;

    *out = NULL;
    if (!store)
        return pastset_fail(PASTSET_ENOMEM, "no memory for a store");
    store->map = map;
    store->ledgers = calloc(map->host_count + 1u, sizeof(*store->ledgers));
    err = store->ledgers
              ? series_make(store)
              : pastset_fail(PASTSET_ENOMEM, "no memory for %u hosts",
                             map->host_count);
    if (err) {
        scopes_store_free(store);
        return err;
    }
    *out = store;
    return 0;
}

void scopes_store_free(scopes_store *store)
{
    if (!store)
        return;
    for (uint32_t i = 0; store->stacks && i < store->collectors; i++)
        scopes__stack_fini(&store->stacks[i]);
    free(store->stacks);
    free(store->series);
    free(store->ledgers);
    free(store);
}

/* Puts tuples into their series. */
static int put(scopes_store *store, const eventspace_trace *events,
               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t id = events[i].collector;
        scopes_stack *stack;
        if (__builtin_expect(id >= store->collectors ||
                                 store->series[id].node == PATHS_NONE,
                             0)) {
            store->strange++;
            continue;
        }
        stack = &store->stacks[id];
        if (__builtin_expect(stack->count == stack->room, 0)) {
            int err = scopes__stack_reserve(stack, stack->count + 1);
            if (err)
                return err;
        }
        stack->events[stack->count++] = events[i];
    }
    return 0;
}

static int put_batch(const scopes_batch *batch, void *context)
{
    return put(context, batch->events, batch->count);
}

/* Sorts the series, and shows them. */
static int store_finish(scopes_store *store)
{
    for (uint32_t i = 0; i < store->collectors; i++) {
        scopes_stack *stack = &store->stacks[i];
        int err = scopes__stack_sort(stack);
        if (err)
            return err;
        store->series[i].events = stack->events;
        store->series[i].count = stack->count;
    }
    return 0;
}

static int store_give(scopes_store **out, scopes_store *store, int err)
{
    if (!err)
        err = store_finish(store);
    if (err) {
        scopes_store_free(store);
        return err;
    }
    *out = store;
    return 0;
}

static void ledger_add(scopes_ledger *ledger, const scopes_ledger *more)
{
    ledger->made += more->made;
    ledger->seen += more->seen;
    ledger->missed += more->missed;
    ledger->beside += more->beside;
}

int scopes_store_load(scopes_store **out, scopes_source *source,
                      const scopes_wanted *wanted)
{
    const paths_map *map = eventspace_run_map(scopes_source_run(source));
    scopes_store *store;
    int err;

    *out = NULL;
    err = store_create(&store, map);
    if (err)
        return err;
    for (uint32_t i = 0; i < map->host_count && !err; i++) {
        err = scopes_source_each(source, i, wanted, put_batch, store,
                                 &store->ledgers[i]);
        ledger_add(&store->ledger, &store->ledgers[i]);
    }
    return store_give(out, store, err);
}

int scopes_store_make(scopes_store **out, const paths_map *map,
                      const eventspace_trace *events, size_t count,
                      const scopes_ledger *ledger)
{
    scopes_store *store;
    int err;

    *out = NULL;
    err = store_create(&store, map);
    if (err)
        return err;
    err = put(store, events, count);
    if (ledger)
        store->ledger = *ledger;
    else
        store->ledger = (scopes_ledger){.made = count, .seen = count};
    return store_give(out, store, err);
}

const scopes_series *scopes_store_series(const scopes_store *store,
                                         uint32_t collector)
{
    static const scopes_series none = {.node = PATHS_NONE, .host = PATHS_NONE};

    return collector < store->collectors ? &store->series[collector] : &none;
}
