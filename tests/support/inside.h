/* inside.h - the processes of a map as threads of the program itself, for
 * programs that ThreadSanitizer watches: it does not see what several processes
 * share. They talk over loopback, as real processes do. */
#ifndef TESTS_SUPPORT_INSIDE_H
#define TESTS_SUPPORT_INSIDE_H

#include "paths/engine/process.h"

/* The map that `paths_generate` makes of an application mapping and a cluster
 * mapping. What does not work ends the program, which says why. */
paths_map *inside_map(const char *application, const char *cluster);

/* Listens at any free port, which becomes the process's address in the map. */
int inside_listen(paths_map_process *process);

/* Runs `program` in all threads of the map, and waits for all processes. Gives
 * 0 when all of them ended well; what the others say goes to standard error. */
int inside_run(paths_map *map, paths_main *program, void *argument);

#endif
