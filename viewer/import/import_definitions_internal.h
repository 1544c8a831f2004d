/* import_definitions_internal.h - what an imported process has defined: its
 * regions, and what its messages go by (eventspace/define/definition.h).
 *
 * Everything is defined when it is first asked for, before the tuple that uses
 * it. Processes are written one after the other; each defines for itself.
 *
 * Threads:   one.
 * Ownership: make gives, destroy takes back; trace, uses and map are borrowed.
 */
#ifndef VIEWER_IMPORT_DEFINITIONS_INTERNAL_H
#define VIEWER_IMPORT_DEFINITIONS_INTERNAL_H

#include "eventspace/run/run_writer.h"
#include "viewer/import/import_uses_internal.h"

typedef struct import_definitions import_definitions;

/* Errors: PASTSET_ENOMEM. */
int viewer__import_definitions_make(import_definitions **out,
                                    const otf2_trace *trace,
                                    const import_uses *uses,
                                    const paths_map *map);
void viewer__import_definitions_destroy(import_definitions *d);

/* Of the process that was begun in the writer. */
void viewer__import_definitions_begin(import_definitions *d,
                                      eventspace_run_writer *writer,
                                      uint32_t process);
/* Bytes that they take of its space, at most. */
uint64_t viewer__import_definitions_room(const import_definitions *d);

/* Errors: PASTSET_ELIMIT; those of pastset_write(). */
int viewer__import_define_region(import_definitions *d, uint32_t region,
                                 uint32_t *id);
/* A kind of call, by the region of MPI that it is; OTF2_NONE: `*id` is
 * UINT32_MAX. */
int viewer__import_define_operation(import_definitions *d, uint32_t region,
                                    uint32_t *id);
/* The channel that messages at a place go by, whatever their tag. */
int viewer__import_define_channel(import_definitions *d, uint32_t place,
                                  uint32_t *id);

#endif
