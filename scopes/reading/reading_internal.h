/* reading_internal.h - what the event table asks of its source, the source of
 * its cursor, and the snapshot of its event table. */
#ifndef SCOPES_READING_INTERNAL_H
#define SCOPES_READING_INTERNAL_H

#include <stdatomic.h>

#include "scopes/archive/archive.h"
#include "scopes/reading/cursor.h"
#include "scopes/reading/event_table.h"
#include "scopes/reading/messages.h"

/* --- source.c --- */

struct scopes_source {
    eventspace_run *run;
    scopes_archive **archives; /* by process; NULL: it has none */
    uint64_t *missing; /* by process: since which change of the run there is no
                          archive; 0: none was looked for */
    const void *
        *spaces; /* by process: which is watched (scopes/memory); NULL */
    _Atomic(eventspace_trace *) spare; /* a buffer for the next cursor; NULL */
};

eventspace_run *scopes_source_run(const scopes_source *source);
/* --- cursor.c --- */

/* A cursor over `count` processes from `process` on. Threads: one for each
 * process. Errors: as of scopes_cursor_open; PASTSET_EINVAL (no such process).
 */
int scopes__cursor_open(scopes_cursor **out, scopes_source *source,
                        const scopes_filter *filter, size_t process,
                        size_t count);
/* From now on batches may be borrowed (eventspace_stream_borrow), and these may
 * have any number of events: for who does not look at them at once. */
void scopes__cursor_borrow(scopes_cursor *cursor);

/* --- messages.c --- */

/* As scopes_messages_open, but ends that were only counted are as they are. */
int scopes__messages_make(scopes_messages **out, const eventspace_run *run,
                          const scopes_topology *topology);
/* As scopes_messages_next, but also what is hidden, and what has only begun;
 * there, `key.from` PATHS_NONE is anybody. */
bool scopes__messages_next(scopes_messages *messages, uint32_t thread,
                           scopes_message_end *out);
/* How many ends were left out so far. */
uint64_t scopes__messages_damaged(const scopes_messages *messages);

/* Whether a thread's process could not write down all of its ends, or some of
 * them were left out so far. */
bool scopes__messages_has_gaps(const scopes_messages *messages,
                               uint32_t thread);
/* Makes room for an ordinal for each end that was read, and says one. Errors:
 * PASTSET_ENOMEM. */
int scopes__messages_numbers_make(scopes_messages *messages);
void scopes__messages_number(scopes_messages *messages, uint32_t thread,
                             uint32_t index, uint32_t ordinal);
/* To the first end of each thread; those that were there when it was made are
 * given again. */
void scopes__messages_rewind(scopes_messages *messages);

/* --- event_table.c --- */

/* As scopes_event_table_load, by a map that the run had before: tuples of
 * collectors that were added to it since are left out. NULL: by the map as it
 * is. */
int scopes__event_table_load_by(scopes_event_table **out, scopes_source *source,
                                const scopes_filter *filter,
                                const paths_map *map);

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
