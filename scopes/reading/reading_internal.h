/* reading_internal.h - what the event table asks of its source, and the
 * snapshot of its event table. */
#ifndef SCOPES_READING_INTERNAL_H
#define SCOPES_READING_INTERNAL_H

#include "scopes/reading/event_table.h"

/* --- source.c --- */

eventspace_run *scopes_source_run(const scopes_source *source);
/* Nobody writes any more as far as is known, and there is no archive to be
 * unpacked: walking it twice gives the same, and costs little. */
bool scopes_source_at_rest(const scopes_source *source);

/* --- event_table.c --- */

/* An event table from tuples in memory; for tests and for windows that were
 * gathered. They are copied. `ledger` may be NULL: nothing was lost. */
int scopes_event_table_create(scopes_event_table **out, const paths_map *map,
                              const eventspace_trace *events, size_t count,
                              const scopes_ledger *ledger);
/* For an event table of a window of time: counts the tuples before it, so that
 * those in it have the numbers that they have in the whole run. Walks all of
 * them. `from_ticks`: as those that the event table was loaded with. Errors:
 * PASTSET_ENOMEM. */
int scopes_event_table_number(scopes_event_table *event_table,
                              scopes_source *source,
                              const uint64_t *from_ticks);

#endif
