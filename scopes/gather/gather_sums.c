/* gather_sums.c - sums by collector and window: what `statistics` makes at a
 * leaf and the root adds up. They lie behind each other, as in a message, and
 * are found by a table with open addressing. */
#include "scopes/gather/gather_sums.h"

#include <stdlib.h>
#include <string.h>

#include "eventspace/collect/ticks.h"
#include "scopes/clocks/clock.h"

void scopes__gather_sums_init(gather_sums *s, uint64_t window_ns)
{
    memset(s, 0, sizeof(*s));
    s->window_ns = window_ns ? window_ns : 1000000000;
    s->meta.tick_hz = eventspace_ticks_hz();
}

void scopes__gather_sums_fini(gather_sums *s)
{
    free(s->items);
    free(s->table);
}

/* --- finding --- */

/* The place in the table: that of the item, or a free one. The table has twice
 * as many places as there can be items. */
static uint32_t place_of(const gather_sums *s, uint32_t collector,
                         uint64_t window)
{
    uint32_t mask = 2 * s->capacity - 1;
    uint64_t hash =
        collector * 0x9e3779b97f4a7c15u ^ window * 0xff51afd7ed558ccdu;
    uint32_t at = (uint32_t)(hash >> 32) & mask;

    for (; s->table[at]; at = (at + 1) & mask) {
        const scopes_statistic *item = &s->items[s->table[at] - 1];
        if (item->collector == collector && item->window == window)
            break;
    }
    return at;
}

void scopes__gather_sums_clear(gather_sums *s)
{
    if (s->used > s->capacity / 8) {
        memset(s->table, 0, 2 * (size_t)s->capacity * sizeof(*s->table));
    } else {
        /* From the last one: those before it are found without it. */
        for (uint32_t i = s->used; i-- > 0;)
            s->table[place_of(s, s->items[i].collector, s->items[i].window)] =
                0;
    }
    s->used = 0;
}

static int grow(gather_sums *s)
{
    uint32_t capacity = s->capacity ? 2 * s->capacity : 64;
    scopes_statistic *items = realloc(s->items, capacity * sizeof(*items));
    uint32_t *table = calloc(2 * (size_t)capacity, sizeof(*table));

    if (items)
        s->items = items;
    if (!items || !table) {
        free(table);
        return pastset_no_memory("for statistics");
    }
    free(s->table);
    s->table = table;
    s->capacity = capacity;
    for (uint32_t i = 0; i < s->used; i++)
        table[place_of(s, items[i].collector, items[i].window)] = i + 1;
    return 0;
}

/* The sum of a collector and window, made if there is none; NULL: no memory.
 */
static scopes_statistic *sum_of(gather_sums *s, uint32_t collector,
                                uint64_t window)
{
    uint32_t at;

    if (s->used == s->capacity && grow(s))
        return NULL;
    at = place_of(s, collector, window);
    if (!s->table[at]) {
        s->items[s->used] = (scopes_statistic){
            .collector = collector, .window = window, .min_ns = UINT64_MAX};
        s->table[at] = ++s->used;
    }
    return &s->items[s->table[at] - 1];
}

/* --- adding --- */

void scopes__gather_sums_clock(gather_sums *s, const eventspace_meta *meta)
{
    s->meta = *meta;
    s->from_ticks = s->to_ticks = 0;
}

static int64_t ns_of(int64_t ticks, double hz)
{
    return scopes__whole_ns((double)ticks * 1e9 / hz);
}

/* The window in which a tuple ended. Most end in that of the one before. */
static uint64_t window_of(gather_sums *s, uint64_t ticks)
{
    double hz = s->meta.tick_hz;
    uint64_t wall;

    if (ticks >= s->from_ticks && ticks < s->to_ticks)
        return s->window;
    wall = s->meta.start_wall_ns +
           (uint64_t)ns_of((int64_t)(ticks - s->meta.start_tick), hz);
    s->window = wall / s->window_ns;
    s->from_ticks = ticks;
    s->to_ticks =
        ticks +
        (uint64_t)((double)(s->window_ns - wall % s->window_ns) * hz / 1e9);
    return s->window;
}

int scopes__gather_sums_tuples(gather_sums *s, const void *events,
                               uint32_t count)
{
    const eventspace_trace *e = events;
    double hz = s->meta.tick_hz;

    for (uint32_t i = 0; i < count; i++, e++) {
        /* An end before its start counts as the start. */
        int64_t ticks = (int64_t)(e->end - e->start);
        uint64_t ns = ticks > 0 ? (uint64_t)ns_of(ticks, hz) : 0;
        scopes_statistic *sum = sum_of(s, e->collector, window_of(s, e->end));
        if (!sum)
            return PASTSET_ENOMEM;
        sum->count++;
        sum->failed += e->status != 0;
        sum->bytes += e->bytes;
        sum->total_ns += ns;
        sum->min_ns = ns < sum->min_ns ? ns : sum->min_ns;
        sum->max_ns = ns > sum->max_ns ? ns : sum->max_ns;
    }
    return 0;
}

int scopes__gather_sums_merge(gather_sums *s, const scopes_statistic *item)
{
    scopes_statistic *sum;

    if (!item->count)
        return 0;
    sum = sum_of(s, item->collector, item->window);
    if (!sum)
        return PASTSET_ENOMEM;
    sum->count += item->count;
    sum->failed += item->failed;
    sum->bytes += item->bytes;
    sum->total_ns += item->total_ns;
    if (item->min_ns < sum->min_ns)
        sum->min_ns = item->min_ns;
    if (item->max_ns > sum->max_ns)
        sum->max_ns = item->max_ns;
    return 0;
}
