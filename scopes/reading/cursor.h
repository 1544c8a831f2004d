/* cursor.h - the trace tuples of a run, one batch after the other, for those
 * who ask for the next rather than being called with it.
 *
 * A cursor gives what scopes_source_each (source.h) gives, in the same batches:
 * the processes in the order of the map, and each of them stream by stream.
 * Several cursors on one source do not disturb each other. Tuples that are
 * written after the cursor has come to their stream are left out.
 *
 * Threads:   one thread per source, with all of its cursors.
 * Ownership: open gives, close takes back, before the source. */
#ifndef SCOPES_CURSOR_H
#define SCOPES_CURSOR_H

#include "scopes/reading/source.h"

typedef struct scopes_cursor scopes_cursor;

/* `filter` NULL: everything; else it is borrowed. Errors: PASTSET_ENOMEM. */
int scopes_cursor_open(scopes_cursor **out, scopes_source *source,
                       const scopes_filter *filter);
/* NULL is allowed. */
void scopes_cursor_close(scopes_cursor *cursor);

/* The next batch, which has tuples, and is valid until the next call.
 * Errors: PASTSET_EAGAIN (there are no more), PASTSET_ENOMEM. */
int scopes_cursor_next(scopes_cursor *cursor, scopes_batch *out);

/* Adds what became of the tuples that the cursor has passed: of all that was
 * asked for, when it is at the end. */
void scopes_cursor_ledger(const scopes_cursor *cursor, scopes_ledger *ledger);

#endif
