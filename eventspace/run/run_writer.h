/* run_writer.h - writing a run directory in which nobody ran: what was recorded
 * elsewhere, by another tool, becomes a run that every reader reads.
 *
 * The map comes first. Then one process after the other is begun and ended; its
 * elements are made in its space, and filled: with trace tuples
 * (collect/trace.h) those that collectors of the map name, and by
 * pastset_write() with definitions, the begins and ends of threads. A process
 * is whole when its meta file is written.
 *
 * Threads:   one.
 * Ownership: open gives, close takes back; the map is borrowed until then. */
#ifndef EVENTSPACE_RUN_WRITER_H
#define EVENTSPACE_RUN_WRITER_H

#include <stdbool.h>

#include "eventspace/collect/trace.h"
#include "eventspace/run/meta.h"
#include "paths/map/map.h"
#include "pastset/element.h"

typedef struct eventspace_run_writer eventspace_run_writer;

/* Makes the directory, which may be there if it is empty. `replace`: a run that
 * is in it is removed. Errors: PASTSET_EEXIST with what to do, PASTSET_ENOENT,
 * PASTSET_EIO, PASTSET_ENOSPC, PASTSET_ENOMEM. */
int eventspace_run_writer_open(eventspace_run_writer **out,
                               const char *directory, const paths_map *map,
                               bool replace);

/* Its space, of at most `max_bytes`: addresses, which whoever reads it needs,
 * too. Errors: PASTSET_EIO, PASTSET_ENOSPC, PASTSET_ENOMEM. */
int eventspace_run_writer_begin(eventspace_run_writer *writer, uint32_t process,
                                uint64_t max_bytes);
/* No more elements and tuples. Errors: those of pastset_space_settle. */
int eventspace_run_writer_end(eventspace_run_writer *writer);

/* An element of the process that was begun with room for `capacity` tuples of a
 * type; one writer. Errors: PASTSET_ENOSPC, PASTSET_EINVAL. */
int eventspace_run_writer_element(pastset_element **out,
                                  eventspace_run_writer *writer,
                                  const char *name, const char *type,
                                  uint64_t capacity);

/* Writes a trace tuple as collectors do: how long the longest took is said
 * before it. Errors: those of pastset_write(). */
int eventspace_run_writer_trace(pastset_element *element,
                                const eventspace_trace *event);

/* `process` of the meta is set. Errors: PASTSET_EIO, PASTSET_ENOSPC. */
int eventspace_run_writer_meta(eventspace_run_writer *writer, uint32_t process,
                               eventspace_meta *meta);

/* `keep` false: removes all that was written, and the directory if it was made
 * here. NULL is allowed. */
void eventspace_run_writer_close(eventspace_run_writer *writer, bool keep);

#endif
