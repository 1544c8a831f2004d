/* hand_run.h - large runs that are made by hand, for benchmarks: 32 threads in
 * 4 processes, each with a collector and a stream of its own, an operation each
 * 10 us.
 *
 * Threads: one. */
#ifndef TESTS_BENCH_HAND_RUN_H
#define TESTS_BENCH_HAND_RUN_H

#include <stdint.h>

/* What has the events. */
#define HAND_RUN_SPACE ".space"
#define HAND_RUN_ARCHIVE ".archive"

/* A folder for runs, which end removes, and the end of the program too. */
void hand_run_begin(void);
void hand_run_end(void);

/* Makes a run in it; gives its directory. */
const char *hand_run_make(const char *folder, const char *suffix,
                          uint64_t events);
/* How long it takes to read the bytes of its files from the page cache: of
 * those in `folder` and below whose names end in `suffix`. */
double hand_run_limit_ms(const char *folder, const char *suffix);
/* Where a folder is, that something else has made or is to make. */
const char *hand_run_path(const char *folder);

#endif
