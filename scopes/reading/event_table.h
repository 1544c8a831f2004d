/* event_table.h - trace tuples in memory, by collector: what views are made
 * from.
 *
 * Series are in the order of `start` (then of `sequence`, then of `thread`). A
 * event table takes 36 bytes for each tuple that is wanted (twice that while a
 * run that goes on, or an archive, is loaded), so for large runs a window or
 * the collectors that a view needs are asked for.
 *
 * Threads:   an event table that is loaded may be read by any number of
 * threads. Ownership: load gives, free takes back. */
#ifndef SCOPES_EVENT_TABLE_H
#define SCOPES_EVENT_TABLE_H

#include "scopes/reading/source.h"

/* The tuples of one collector. */
typedef struct scopes_series {
    const eventspace_trace *events;
    size_t count;
    uint32_t node;    /* of the map; PATHS_NONE: no collector has this id */
    uint32_t process; /* of the map */
} scopes_series;

typedef struct scopes_event_table {
    const paths_map *map;
    scopes_series *series;  /* by collector id */
    uint32_t collectors;    /* highest id + 1 */
    scopes_ledger *ledgers; /* by process */
    scopes_ledger ledger;   /* of all processes */
    uint64_t strange; /* tuples of collectors that the map does not have: seen,
                         and in no series */
    uint64_t *before; /* by collector: what scopes_event_table_number has
                         counted; NULL: nothing */
    eventspace_trace *memory; /* of all series */
    size_t memory_bytes;
} scopes_event_table;

/* `filter` NULL: everything. Errors: PASTSET_ENOMEM. */
int scopes_event_table_load(scopes_event_table **out, scopes_source *source,
                            const scopes_filter *filter);
/* NULL is allowed. */
void scopes_event_table_destroy(scopes_event_table *event_table);

/* The number that the first tuple of a collector's series has among all of its
 * tuples in the run; SCOPES_NO_NUMBER: not known, as some were left out and
 * have not been counted. */
#define SCOPES_NO_NUMBER UINT64_MAX
uint64_t scopes_event_table_first(const scopes_event_table *event_table,
                                  uint32_t collector);

/* The series of a collector; an empty one when there is none. */
const scopes_series *scopes_event_series(const scopes_event_table *event_table,
                                         uint32_t collector);

#endif
