/* collective_tree_internal.h - collectives as the map has them: which nodes are
 * some, whose contributions come to them by which way. */
#ifndef PATHS_COLLECTIVE_TREE_INTERNAL_H
#define PATHS_COLLECTIVE_TREE_INTERNAL_H

#include "paths/map/map.h"
#include "pastset/type.h"

/* Where a thread's block stands: see collective_tree.c. */
typedef struct collective_leaves {
    uint32_t *numbers; /* of the threads, ascending */
    uint32_t count;
} collective_leaves;

/* What a read brings by a way that begins with a node: of a scatter, a block
 * of the element's tuple. Errors: PASTSET_ENOMEM. */
int paths__collective_read_bytes(const paths_map *map, uint32_t node,
                                 const pastset_type *type, uint32_t *out);
bool paths__joins(const paths_map_node *node);
/* Has a process a part in the tree of a collective? */
bool paths__collective_touches(const paths_map *map, uint32_t node,
                               uint32_t process);
bool paths__leads_to_collective(const paths_map *map, uint32_t node);
/* Does an element have one way that leads to it, from a collective on its
 * process that writes, with nothing between but what observes? Its
 * representatives follow one another. */
bool paths__collective_writes_alone(const paths_map *map, uint32_t element);
/* The last collective of the way down from a node; itself, if there is none or
 * it is the last. */
uint32_t paths__collective_root(const paths_map *map, uint32_t node);
/* The thread or collective whose operations come by an edge; PATHS_NONE when
 * several ways join before it. */
uint32_t paths__collective_source(const paths_map *map, uint32_t edge);
/* The element at the end of the way down, or PATHS_NONE. */
uint32_t paths__collective_element(const paths_map *map, uint32_t node);
/* The threads whose contributions come by a node or (source of an) edge.
 * Errors: PASTSET_ENOMEM, PASTSET_EMAP: no tree. */
int paths__collective_leaves(const paths_map *map, uint32_t node,
                             collective_leaves *out);
/* "thread t3", or "total.sum.h1 (threads 4 to 7, process h1)". */
void paths__collective_name(const paths_map *map, uint32_t node, uint32_t input,
                            char *out, size_t capacity);

#endif
