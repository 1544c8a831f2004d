/* event_table.h - trace tuples by collector: what views are made from.
 *
 * Series are in the order of `start` (then of `sequence`, then of `thread`). An
 * event table takes 36 bytes for each tuple that is wanted (twice that while a
 * run that goes on, or an archive, is loaded); where that is more than there is
 * room for in memory, they lie in a file (scopes/memory/memory.h).
 * So for large runs a window or the collectors that a view needs are asked for.
 *
 * Threads:   an event table that is loaded may be read by any number of
 * threads. Ownership: load gives, free takes back, before the source. */
#ifndef SCOPES_EVENT_TABLE_H
#define SCOPES_EVENT_TABLE_H

#include "scopes/reading/source.h"

/* Where tuples are. */
typedef struct scopes_events {
    const eventspace_trace *base;
    const uint32_t *at; /* of each: how many lie before it from `base` on; NULL:
                           they lie in their order */
} scopes_events;

static inline const eventspace_trace *scopes_event_at(scopes_events events,
                                                      size_t i)
{
    return &events.base[events.at ? events.at[i] : i];
}

/* The tuples of one collector. */
typedef struct scopes_series {
    scopes_events events;
    size_t count;
    uint32_t node;    /* of the map; PATHS_NONE: no collector has this id */
    uint32_t process; /* of the map; PATHS_NONE: nothing has this id */
} scopes_series;

/* What views share while several of them are made (scopes_views_make). */
struct scopes__memo;

typedef struct scopes_event_table {
    const paths_map *map;
    const eventspace_run *run; /* NULL: of tuples in memory */
    scopes_series *series;     /* by collector id */
    uint32_t collectors;       /* highest id + 1: of collectors, then of what
                                  processes define (eventspace_run_definition_of) */
    scopes_ledger *ledgers;    /* by process */
    scopes_ledger ledger;      /* of all processes */
    bool all_times; /* it was asked for tuples of all times and threads */
    uint64_t
        *from_ticks;    /* by process: the part of the run that counts; NULL: */
    uint64_t *to_ticks; /* from the first, to the last */
    uint64_t strange; /* tuples of collectors that the map does not have: seen,
                         and in no series */
    uint64_t *before; /* by collector: what scopes_event_table_number has
                         counted; NULL: nothing */
    bool *failed_before; /* by collector: one of those has failed */
    struct scopes__memo *memo;
    eventspace_trace *tuples; /* of all series */
    uint32_t *at;             /* of those that do not lie in their order */
} scopes_event_table;

/* `filter` NULL: everything. Errors: PASTSET_ENOMEM, PASTSET_ENOSPC. */
int scopes_event_table_load(scopes_event_table **out, scopes_source *source,
                            const scopes_filter *filter);
/* What of it counts from now on, as in a filter; it is that which it was loaded
 * with. For who needs all tuples to know which belong together, and is asked
 * for a part of the run. Errors: PASTSET_ENOMEM. */
int scopes_event_table_set_part(scopes_event_table *event_table,
                                const uint64_t *from_ticks,
                                const uint64_t *to_ticks);
/* NULL is allowed. */
void scopes_event_table_destroy(scopes_event_table *event_table);

/* The number that the first tuple of a collector's series has among all of its
 * tuples in the run; SCOPES_NO_NUMBER: not known, as some were left out and
 * have not been counted. */
#define SCOPES_NO_NUMBER UINT64_MAX
uint64_t scopes_event_table_first(const scopes_event_table *event_table,
                                  uint32_t collector);

/* The same, if none of those before it has failed, nor one in the series: only
 * then its place tells the round of an operation that nobody has met. False:
 * not known. */
bool scopes_event_table_first_round(uint64_t *out,
                                    const scopes_event_table *event_table,
                                    uint32_t collector);

/* The series of a collector; an empty one when there is none. */
const scopes_series *scopes_event_series(const scopes_event_table *event_table,
                                         uint32_t collector);

#endif
