/* many_processes.h - the processes of a map for benches: the first is this one,
 * the others are started by it. */
#ifndef TESTS_BENCH_MANY_PROCESSES_H
#define TESTS_BENCH_MANY_PROCESSES_H

#include "paths/map/map.h"
#include "paths/paths.h"

/* Runs `program` on all threads of the map. Gives the processes addresses. */
void many_processes_run(paths_map *map, paths_main *program, void *argument);

/* The map of `threads` threads t0 ... on `processes` processes, all of which
 * use each of the elements (ended by NULL) by `use`. To be destroyed. */
paths_map *many_processes_map(unsigned threads, unsigned processes,
                              const char *use, const char *type,
                              const char *const *elements);

#endif
