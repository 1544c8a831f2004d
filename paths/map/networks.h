/* networks.h - what a process says of the networks that it is in, by its
 * attribute `networks`: see docs/map.md. */
#ifndef PATHS_NETWORKS_H
#define PATHS_NETWORKS_H

#include <stdbool.h>

#include "paths/map/path_map.h"

/* Is it known by several addresses? Then it listens at all of its machine. */
bool paths_networks_several(const paths_attributes *process);

#endif
