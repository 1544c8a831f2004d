/* draw_internal.h - folding a map before it is drawn (draw_fold.c). */
#ifndef VIEWER_DRAW_INTERNAL_H
#define VIEWER_DRAW_INTERNAL_H

#include "paths/map/map.h"

/* Attributes of hosts, nodes and edges of a folded map: how many they stand
 * for, when that is more than one, and the name of the last of them. */
#define VIEWER__MEMBERS "members"
#define VIEWER__LAST "last"

/* How many nodes a map has, collectors not counted. */
uint32_t viewer__nodes(const paths_map *map);

/* Makes a folded copy. Hosts are folded too when it still has more than
 * `nodes_max` nodes, or many hosts, otherwise. Errors: PASTSET_ENOMEM. */
int viewer__fold(paths_map **out, const paths_map *map, uint32_t nodes_max);

#endif
