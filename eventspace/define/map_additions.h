/* map_additions.h - what processes add to the map of their run while they run:
 * definitions in their own spaces, of the kinds thread, wrapper, collector,
 * element and edge.
 *
 * Who defines these does not know what other processes define. So they differ
 * from those of the whole map (map_definitions.h):
 *
 *   id       the process's own, from 0 and ascending over all its kinds
 *   parent   of an edge the id of where it leaves from; else none
 *   to       attribute of an edge: the id of where it goes
 *   key      attribute of a wrapper or element that several processes define:
 *            it is one node, and what the first of them says of it counts
 *   process  attribute of a wrapper or element: the name of the process that it
 *            is in; left out: of the one that defines it
 *   id       attribute of a collector: as ids of regions (definition.h)
 *   number   attribute of a thread: of the n-th of the process with rank r
 *            among p, n * p + r, behind those of the map as it was
 *
 * Nodes of one name get a number behind it. Where other processes have no n-th
 * thread, a thread without paths stands in the map, for the sake of numbers:
 * its attribute `absent` is "true".
 *
 * Threads: one. */
#ifndef EVENTSPACE_MAP_ADDITIONS_H
#define EVENTSPACE_MAP_ADDITIONS_H

#include <stdbool.h>

#include "eventspace/define/definition.h"
#include "paths/map/map.h"

/* Whether a definition is of one of these kinds. */
bool eventspace_is_addition(uint32_t kind);

/* How many ids the collectors of a map can have: as many as it has nodes, or
 * what its attribute `collector_ids` says, which is set where processes have
 * added some, as theirs are not without a gap. */
uint32_t eventspace_map_ids(const paths_map *map);

typedef struct eventspace_map_additions eventspace_map_additions;

/* Adds to `map`. Errors: PASTSET_ENOMEM. */
int eventspace_map_additions_begin(eventspace_map_additions **out,
                                   paths_map *map);
/* What follows is defined by the process with that rank
 * (paths_map_rank_processes). Each of them is named once at most. */
void eventspace_map_additions_by(eventspace_map_additions *additions,
                                 uint32_t rank);
/* Adds one. Errors: PASTSET_EFORMAT (it is left out, and why), PASTSET_ENOMEM.
 */
int eventspace_map_additions_take(eventspace_map_additions *additions,
                                  const eventspace_definition *definition);
/* Fills in what numbers need. `ids`: how many collectors have. Errors:
 * PASTSET_ENOMEM. */
int eventspace_map_additions_end(eventspace_map_additions *additions,
                                 uint32_t ids);
/* NULL is allowed. */
void eventspace_map_additions_destroy(eventspace_map_additions *additions);

#endif
