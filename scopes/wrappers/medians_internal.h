/* medians_internal.h - the median of the durations of each collector, as they
 * come, to 3 percent.
 *
 * Durations are counted in classes, 32 for each power of two: a few kilobytes
 * for a collector, however many there are.
 *
 * Threads: one at a time for each scopes_medians. */
#ifndef SCOPES_MEDIANS_INTERNAL_H
#define SCOPES_MEDIANS_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#define SCOPES_MEDIANS_FEWEST 20 /* durations that a median is of */

typedef struct scopes_median scopes_median;

typedef struct scopes_medians {
    scopes_median **of; /* by id; NULL: none yet */
    size_t count;
} scopes_medians;

/* Takes a duration in, and gives the median of those of this collector that
 * came before it; 0 while they are too few. Errors: PASTSET_ENOMEM. */
int scopes__medians_take(scopes_medians *m, uint32_t collector, uint64_t ticks,
                         uint64_t *median);
void scopes__medians_fini(scopes_medians *m);

#endif
