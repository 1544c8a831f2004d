/* source.h - the trace tuples of a run, wherever they are: in the spaces of
 * its processes, in what was drained from them, and in archives.
 *
 * A stream (see eventspace/run/run.h) numbers its tuples from 0 without a gap;
 * each index is read from the archive if it is there, else from what was
 * drained, else from the space. What is in none of them is lost, and counted.
 * It is the same for a run that goes on, for one that is over, and for one that
 * was killed; and with or without spaces, if there are archives.
 *
 * Threads:   one thread per source.
 * Ownership: open gives, close takes back. The run is borrowed. */
#ifndef SCOPES_SOURCE_H
#define SCOPES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "paths/map/number_list.h"
#include "eventspace/run/run.h"
#include "eventspace/collect/trace.h"

typedef struct scopes_source scopes_source;

/* Damaged archives are the run's problems (`problem` of the process), and what
 * can be read of them is read. Errors: PASTSET_ENOMEM, PASTSET_EIO. */
int scopes_source_open(scopes_source **out, eventspace_run *run);
void scopes_source_close(scopes_source *source);
/* Takes in what has come since, of a run that goes on. */
int scopes_source_refresh(scopes_source *source);

/* Exact, for what was asked for: recorded = read + lost + filtered + unread. */
typedef struct scopes_ledger {
    uint64_t recorded; /* by collectors */
    uint64_t read;     /* given to whoever asked */
    uint64_t lost;     /* overwritten before anybody saved or read them, refused
                          at the limit of a trace element, or in a part of a
                          file that is damaged */
    uint64_t filtered; /* of other times or collectors than asked for. When
                          whole blocks are passed over, all of theirs */
    uint64_t unread; /* there still when a reader that follows a run looked, or
                        was ended; of a source nothing is */
} scopes_ledger;

/* What is wanted. All zero: everything. */
typedef struct scopes_filter {
    /* By process, of the map: tuples whose [start, end] meets [from, to], in
     * the process's own ticks. NULL: from the first, to the last. */
    const uint64_t *from_ticks, *to_ticks;
    const bool *collectors;   /* by id; NULL: all, also definitions */
    uint32_t collector_count; /* entries in it; ids beyond are not wanted */
    const paths_number_list *threads; /* by number; NULL: all */
} scopes_filter;

/* Tuples of one stream, in the order in which they were written, which is that
 * of their ends. Valid during the call. */
typedef struct scopes_batch {
    size_t process;
    const char *stream;
    uint64_t index; /* of the first; the others may have gaps in between */
    const eventspace_trace *events;
    size_t count;
    /* Not NULL: they were borrowed from this stream, and are valid for as long
     * as that says. Only for who has asked for it. */
    const eventspace_stream *borrowed;
} scopes_batch;

/* A non-zero answer ends the walk and is returned. */
typedef int scopes_each(const scopes_batch *batch, void *context);

/* Walks one process, stream by stream. The number of tuples that come in one
 * batch is bounded, and so is the memory. Tuples that are written during the
 * walk are left for the next time. `filter` NULL: everything. Adds to
 * `*ledger`, which may be NULL; after a walk that was ended, what it came to.
 * Errors: PASTSET_EINVAL (no such process), PASTSET_ENOMEM. */
int scopes_source_each(scopes_source *source, size_t process,
                       const scopes_filter *filter, scopes_each *each,
                       void *context, scopes_ledger *ledger);

/* Counts the events of a process without giving them: `read` are those that can
 * be read. Errors: as above. */
int scopes_source_count(scopes_source *source, size_t process,
                        scopes_ledger *out);

#endif
