/* many_hosts.h - the hosts of a map for benches: the first in this process, the
 * others as processes of their own. */
#ifndef TESTS_BENCH_MANY_HOSTS_H
#define TESTS_BENCH_MANY_HOSTS_H

#include "paths/map/map.h"
#include "paths/paths.h"

/* Runs `program` on all threads of the map. Gives the hosts addresses. */
void many_hosts_run(paths_map *map, paths_main *program, void *argument);

/* The map of `threads` threads t0 ... on `hosts` hosts, all of which use each
 * of the elements (ended by NULL) by `use`. To be destroyed. */
paths_map *many_hosts_map(unsigned threads, unsigned hosts, const char *use,
                          const char *type, const char *const *elements);

#endif
