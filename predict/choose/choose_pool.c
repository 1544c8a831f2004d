/* choose_pool.c - the best placements so far.
 *
 * A sorted array: most that is added is worse than all of it and refused by
 * one comparison. */
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "predict/choose/choose_internal.h"

int predict__pool_init(predict__pool *pool, uint32_t nodes, uint32_t capacity)
{
    *pool = (predict__pool){.capacity = capacity, .nodes = nodes};
    pool->items = calloc(capacity, sizeof(*pool->items));
    if (!pool->items)
        return pastset_no_memory("for %u placements", capacity);
    for (uint32_t i = 0; i < capacity; i++) {
        pool->items[i].machines = calloc(nodes + 1, sizeof(uint32_t));
        if (!pool->items[i].machines)
            return pastset_no_memory("for %u placements", capacity);
    }
    return 0;
}

void predict__pool_fini(predict__pool *pool)
{
    for (uint32_t i = 0; pool->items && i < pool->capacity; i++)
        free(pool->items[i].machines);
    free(pool->items);
    *pool = (predict__pool){0};
}

static int compare(const predict_placement *a, const predict_placement *b,
                   uint32_t nodes)
{
    if (a->time_s != b->time_s)
        return a->time_s < b->time_s ? -1 : 1;
    for (uint32_t i = 0; i < nodes; i++) {
        if (a->machines[i] != b->machines[i])
            return a->machines[i] < b->machines[i] ? -1 : 1;
    }
    return 0;
}

void predict__pool_add(predict__pool *pool, const predict_placement *placement)
{
    uint32_t low = 0, high = pool->count;
    uint32_t *machines;

    if (pool->count == pool->capacity &&
        compare(placement, &pool->items[pool->count - 1], pool->nodes) >= 0)
        return;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare(placement, &pool->items[middle], pool->nodes);
        if (order == 0)
            return;
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    /* The machines of the last one, or of one that is not used yet, become
     * those of the new one. */
    if (pool->count < pool->capacity)
        pool->count++;
    machines = pool->items[pool->count - 1].machines;
    memmove(&pool->items[low + 1], &pool->items[low],
            (pool->count - 1 - low) * sizeof(*pool->items));
    pool->items[low] = *placement;
    pool->items[low].machines = machines;
    memcpy(machines, placement->machines, pool->nodes * sizeof(*machines));
}
