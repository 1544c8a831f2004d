/* one_process.h - a process of a map, within this one, for benches of what
 * stays local. */
#ifndef TESTS_BENCH_ONE_PROCESS_H
#define TESTS_BENCH_ONE_PROCESS_H

#include "paths/paths.h"

/* Starts a process for the map in `text`, with its elements in memory or (not
 * NULL) in a file, runs `program` on its threads, and stops it. */
void one_process_run(const char *text, const char *space_file,
                     paths_main *program, void *argument);

#endif
