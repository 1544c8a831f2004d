/* map_definitions.h - a path map as definitions, and back.
 *
 * In this order, each kind with ascending ids:
 *
 *   map            name: the graph's; id: how many definitions follow;
 *                  attributes: the graph's
 *   node, edge     defaults for drawing, if there are any
 *   defaults
 *   process        name, attributes
 *   thread,        ids are shared by these four, so that edges can name them;
 *   wrapper,       parent: a process; name, attributes. The attribute `kind` of
 *   collector,     a wrapper is its type. What stands in `collector` of trace
 *   element        tuples is the attribute `id` of a collector, in `thread` the
 *                  attribute `number` of a thread
 *   edge           parent: where it leaves from, by id; name: of where it goes;
 *                  attributes. A path is what begins with an edge of a thread
 *
 * Threads: one. */
#ifndef EVENTSPACE_MAP_DEFINITIONS_H
#define EVENTSPACE_MAP_DEFINITIONS_H

#include "eventspace/define/definition.h"
#include "paths/map/map.h"

/* Calls `each` for every definition; what it is given is valid until it
 * returns. A non-zero answer ends it and is returned.
 * Errors: PASTSET_ENOMEM. */
typedef int eventspace_definition_each(const eventspace_definition *definition,
                                       void *context);
int eventspace_map_define(const paths_map *map,
                          eventspace_definition_each *each, void *context);

/* Builds a map of what is there. What a definition refers to may be damaged;
 * then it is left out as well, which is noted as damage of the reader. */
typedef struct eventspace_map_builder eventspace_map_builder;

/* `file`: where they are from, for texts. Errors: PASTSET_ENOMEM. */
int eventspace_map_builder_create(eventspace_map_builder **out,
                                  eventspace_definition_reader *reader,
                                  const char *file);
/* Errors: PASTSET_ENOMEM. */
int eventspace_map_builder_take(eventspace_map_builder *builder,
                                const eventspace_definition *definition);
/* Notes what is missing at the end. `*out` is yours. `*nodes` becomes how many
 * nodes the whole map had, at least. */
void eventspace_map_builder_finish(eventspace_map_builder *builder,
                                   paths_map **out, uint32_t *nodes);
void eventspace_map_builder_destroy(eventspace_map_builder *builder);

#endif
