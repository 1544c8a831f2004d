/* gather_sums.h - statistics, by collector and window.
 *
 * Threads: one at a time for each gather_sums. */
#ifndef SCOPES_GATHER_SUMS_H
#define SCOPES_GATHER_SUMS_H

#include "scopes/gather/gather.h"

typedef struct gather_sums {
    scopes_statistic *items;
    uint32_t *table; /* place in `items` plus one; open addressing */
    uint32_t used, capacity;
    uint64_t window_ns;
    eventspace_meta meta; /* whose ticks they are */
    /* What the last tuple's end was turned into. */
    uint64_t from_ticks, to_ticks, window;
} gather_sums;

void scopes__gather_sums_init(gather_sums *s, uint64_t window_ns);
void scopes__gather_sums_fini(gather_sums *s);
void scopes__gather_sums_clear(gather_sums *s);
/* Errors: PASTSET_ENOMEM. */
int scopes__gather_sums_tuples(gather_sums *s, const void *events,
                               uint32_t count);
int scopes__gather_sums_merge(gather_sums *s, const scopes_statistic *item);
/* Takes the clock of a process from a record of kind META. */
void scopes__gather_sums_clock(gather_sums *s, const eventspace_meta *meta);

#endif
