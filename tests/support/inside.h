/* inside.h - the hosts of a map as threads of one process, for programs that
 * ThreadSanitizer watches: it does not see what several processes share. They
 * talk over loopback, as processes do. */
#ifndef TESTS_SUPPORT_INSIDE_H
#define TESTS_SUPPORT_INSIDE_H

#include "paths/host.h"

/* The map that `paths_generate` makes of an application mapping on `hosts`
 * hosts h0, h1 ...; NULL, and says why on standard error, when it does not. */
paths_map *inside_map(const char *application, unsigned hosts);

/* Runs `program` in all threads of the map, and waits for all hosts. Gives 0
 * when all of them ended well; what the others say goes to standard error. */
int inside_run(paths_map *map, paths_main *program, void *argument);

#endif
