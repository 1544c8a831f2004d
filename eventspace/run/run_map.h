/* run_map.h - the map of a run directory: RUN/definitions, by which everybody
 * reads the run, and RUN/pathmap.dot, the same for people and Graphviz.
 *
 * Threads: one. */
#ifndef EVENTSPACE_RUN_MAP_H
#define EVENTSPACE_RUN_MAP_H

#include "paths/map/map.h"

#define EVENTSPACE_RUN_MAP "pathmap.dot"
#define EVENTSPACE_RUN_DEFINITIONS "definitions"

/* Whether there is a run in a directory. */
int eventspace_run_is_there(const char *directory);

/* Writes both, the map last: each is there as a whole or not at all.
 * Errors: PASTSET_EIO, PASTSET_ENOSPC, PASTSET_ENOMEM. */
int eventspace_run_map_save(const char *directory, const paths_map *map);
/* Removes both, the map last. Errors: PASTSET_EIO. */
int eventspace_run_map_remove(const char *directory);

#define EVENTSPACE_RUN_PROBLEM 640 /* bytes that hold any */
/* Reads the map. `problem` becomes "", or what is wrong with the definitions:
 * then the map is that of pathmap.dot if this can be read, else what is there.
 * Runs of versions that wrote no definitions have the latter alone. `*nodes`:
 * how many nodes the whole map had, at least.
 * Errors: PASTSET_ENOENT (no run directory), PASTSET_EIO, PASTSET_EMAP,
 * PASTSET_EFORMAT, PASTSET_ENOMEM. */
int eventspace_run_map_read(paths_map **out, const char *directory,
                            char *problem, size_t problem_bytes,
                            uint32_t *nodes);

#endif
