/* tail_reader.h - the source of a scope: what collectors of some processes
 * write, as they write it.
 *
 * A tail reader reads the spaces of a run directory's processes, on their
 * machine, while they run. It shares their memory and takes no lock: all that
 * it costs them is memory bandwidth. It has a cursor of its own on each stream,
 * and counts exactly what was gone before it came.
 *
 * Threads:   one thread per tail reader.
 * Ownership: create gives, destroy takes back. The run is borrowed. */
#ifndef SCOPES_TAIL_READER_H
#define SCOPES_TAIL_READER_H

#include "scopes/reading/source.h"

/* How hard it works. */
typedef struct scopes_throttle {
    uint32_t interval_ms; /* between two pulls; 0: 100 */
    uint32_t batch;       /* most tuples of one pull; 0: 65,536 */
    double share;         /* most of one processor, 0 < share <= 1; 0: 1 */
    uint64_t lag;         /* most tuples of a stream that it may be behind: it
                             skips older ones, and counts them; 0: any */
} scopes_throttle;

typedef struct scopes_tail_reader scopes_tail_reader;

/* Of all processes, or (process != SIZE_MAX) of one. `throttle` NULL: the
 * defaults. Errors: PASTSET_ENOMEM, PASTSET_EINVAL. */
int scopes_tail_reader_create(scopes_tail_reader **out, eventspace_run *run,
                              size_t process, const scopes_throttle *throttle);
void scopes_tail_reader_destroy(scopes_tail_reader *tail);

/* Where a stream's cursor goes on: for who has saved what came before, which is
 * left out of the tail reader's ledger. It may be a stream that is not there
 * yet. Errors: PASTSET_ENOMEM, PASTSET_EINVAL (no such process, or not of this
 * tail reader).
 */
int scopes_tail_reader_seek(scopes_tail_reader *tail, size_t process,
                            const char *stream, uint64_t index);

/* Gives the tuples that have come since, stream by stream, at most `pace.batch`
 * of them; `*more` (may be NULL) when there are others already. The first of a
 * batch is at `index`, the others follow it without a gap; a gap to the batch
 * before it is a loss. It finds processes and streams that are new by itself.
 * When `each` fails, its batch comes again at the next pull.
 * Errors: those of `each`, PASTSET_ENOMEM; what is wrong with a process is its
 * `problem`. */
int scopes_tail_reader_pull(scopes_tail_reader *tail, scopes_each *each,
                            void *context, bool *more);

/* How long to wait before the next pull, in nanoseconds from now: the rest of
 * its interval, or longer to keep to its share. When the last pull left tuples
 * behind (`more`), or the pull is urgent, the interval is not waited for. */
int64_t scopes_tail_reader_pause_ns(const scopes_tail_reader *tail,
                                    bool urgent);

/* Its own ledger, by process or (SIZE_MAX) of all, as of now: recorded = read +
 * lost + unread. */
void scopes_tail_reader_ledger(const scopes_tail_reader *tail, size_t process,
                               scopes_ledger *out);

/* Takes in processes and streams that are new, as a pull does. Errors:
 * PASTSET_ENOMEM. */
int scopes_tail_reader_look(scopes_tail_reader *tail);
/* Calls `each` for the streams that it knows; not 0 ends it and is returned. */
int scopes_tail_reader_streams_each(scopes_tail_reader *tail,
                                    eventspace_stream_each *each,
                                    void *context);

/* What it has cost. */
typedef struct scopes_tail_reader_cost {
    uint64_t pulls, tuples, bytes;
    uint64_t processor_ns; /* of the thread that pulled, with `each` */
    uint64_t elapsed_ns;   /* since it was created */
} scopes_tail_reader_cost;
void scopes_tail_reader_cost_take(const scopes_tail_reader *tail,
                                  scopes_tail_reader_cost *out);

#endif
